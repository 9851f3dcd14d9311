/* Steps of a VTKHDF file that a thread writes while their caller goes on: the caller copies the arrays that a step
 * needs, the thread compresses and writes the copies. There is at most one such step. The thread has a context of its
 * own, whose message the caller takes over. Requests to stop do not reach this context: each step that was begun is
 * completed.
 *
 * Copies are numbers as the file has them. Where the caller has a single thread, copies are values at nodes, and the
 * thread brings them into the form of the file too. */
#ifdef TESI_HDF5
#include <signal.h>
#include <string.h>
#include "base/work.h"
#include "io/vtkhdf/vtkhdf.h"
#include "parallel/comm.h"

enum { COORDINATES, CONNECTIVITY, POINT_FIELDS };

static TesiVtkhdfKept *kept_of(TesVtkhdf *f, const TesVtuDesc *d, const TesiVtuItem *item) {
  TesiVtkhdfKept *kept = f->behind.kept;
  if (item->kind == TESI_VTU_CONNECTIVITY) return kept + CONNECTIVITY;
  if (item->array == &d->coordinates) return kept + COORDINATES;
  if (item->kind == TESI_VTU_POINTS) return kept + POINT_FIELDS + (item->array - d->point_fields);
  return kept + POINT_FIELDS + d->point_field_count + (item->array - d->cell_fields);
}

static bool keeps_nodes(const TesVtkhdf *f) {
  return tesi_ranks(f->owner) == 1 && tes_context_threads(f->owner) == 1;
}

TesStatus tesi_vtkhdf_pass(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtuItem *item, TesiVtuTake take,
                           void *user) {
  if (f->ctx == f->owner || keeps_nodes(f))
    return tesi_vtu_item_gather(cells, &f->parts_of, item, take, user);
  const TesiVtkhdfKept *kept = kept_of(f, cells->desc, item);
  return take(user, kept->data, kept->bytes);
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

static TesStatus append(void *user, const void *data, size_t bytes) {
  TesiVtkhdfKept *kept = user;
  memcpy(kept->data + kept->bytes, data, bytes);
  kept->bytes += bytes;
  return TES_OK;
}

static TesStatus make_room(TesContext *ctx, TesiVtkhdfKept *kept, size_t bytes) {
  TesStatus status = TES_OK;
  kept->bytes = 0;
  if (kept->room >= bytes) return TES_OK;
  tesi_free(ctx, &kept->data);
  kept->room = 0;
  TES_ALLOC(&kept->data, bytes);
  kept->room = bytes;
done:
  return status;
}

static TesStatus keep_nodes(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtuItem *item) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  TesiVtkhdfKept *kept = kept_of(f, cells->desc, item);
  const TesVtuArray *a = item->array;
  const int64_t all = cells->desc->cells, piece = tesi_vtu_item_piece(cells, item, all),
                numbers = (item->kind == TESI_VTU_POINTS ? cells->nodes : 1) * (int64_t)item->components;
  if (!a) return TES_OK;
  TES_TRY(make_room(ctx, kept, (size_t)(all * numbers) * sizeof(double)));
  double *values = (double *)(void *)kept->data;
  if (a->values) memcpy(values, a->values, (size_t)(all * numbers) * sizeof *values);
  for (int64_t c = 0; c < all && !a->values; c += piece)
    TES_TRY(a->fill(a->user, c, all - c < piece ? all - c : piece, values + c * numbers));
done:
  return status;
}

static TesStatus keep(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtuItem *item) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  TesiVtkhdfKept *kept = kept_of(f, cells->desc, item);
  if (keeps_nodes(f)) return keep_nodes(f, cells, item);
  TES_TRY(make_room(ctx, kept, (size_t)f->parts_of.all * item->bytes));
  TES_TRY(tesi_vtu_item_gather(cells, &f->parts_of, item, append, kept));
done:
  return status;
}

static TesStatus keep_fields(TesVtkhdf *f, const TesiVtuCells *cells, bool new_mesh, TesiVtuKind kind,
                             int count, const TesVtuArray *of, const TesiVtkhdfField *field) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  for (int i = 0; i < count; i++) {
    const TesiVtuItem item = tesi_vtu_item(cells, kind, &of[i], of[i].components ? of[i].components : 1);
    if (new_mesh || !tesi_vtkhdf_is_known(&field[i], &of[i])) TES_TRY(keep(f, cells, &item));
  }
done:
  return status;
}

static TesStatus keep_step(TesVtkhdf *f, const TesiVtuCells *cells, bool new_mesh) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = cells->desc;
  const TesiVtuItem at = tesi_vtu_item(cells, TESI_VTU_POINTS, &d->coordinates, d->dim),
                    ids = tesi_vtu_item(cells, TESI_VTU_CONNECTIVITY, NULL, 0);
  if (new_mesh) TES_TRY(keep(f, cells, &at));
  if (new_mesh) TES_TRY(keep(f, cells, &ids));
  TES_TRY(keep_fields(f, cells, new_mesh, TESI_VTU_POINTS, d->point_field_count, d->point_fields, f->field));
  TES_TRY(keep_fields(f, cells, new_mesh, TESI_VTU_CELLS, d->cell_field_count, d->cell_fields,
                      f->field + f->point_fields));
done:
  return status;
}

/* What the thread reads of the description outlives the call. */
static TesStatus copy_description(TesVtkhdf *f, const TesVtuDesc *d) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  TesiVtkhdfBehind *b = &f->behind;
  const int fields = d->point_field_count + d->cell_field_count;
  b->desc = *d;
  for (int i = 0; i < fields; i++) {
    b->array[i] = i < d->point_field_count ? d->point_fields[i] : d->cell_fields[i - d->point_field_count];
    b->array[i].values = (const double *)(const void *)b->kept[POINT_FIELDS + i].data;
  }
  b->desc.coordinates.values = (const double *)(const void *)b->kept[COORDINATES].data;
  b->desc.point_fields = b->array;
  b->desc.cell_fields = b->array + d->point_field_count;
  tesi_vtu_cells_free(&b->cells);
  TES_TRY(tesi_vtu_cells_create(ctx, &b->desc, &b->cells));
  b->cells.ctx = b->alone;
  b->cells.wide = true;
done:
  return status;
}

/* ---- the thread ------------------------------------------------------------------------------------------------ */

static void *write_step(void *argument) {
  TesVtkhdf *f = argument;
  TesiVtkhdfBehind *b = &f->behind;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* each thread has this setting for itself */
  b->status = tesi_vtkhdf_put_step(f, &b->cells, b->time, b->new_mesh);
  return NULL;
}

/* Signals are handled by the threads of the user. */
static bool start(TesVtkhdf *f) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&f->behind.thread, NULL, write_step, f) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

/* The end of a step, in the thread of the caller. */
static TesStatus take_over(TesVtkhdf *f) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  f->ctx = ctx;
  if (f->behind.status == TES_OK) return TES_OK;
  tes_mesh_destroy((TesMesh **)&f->mesh);
  status = tesi_fail(ctx, f->behind.status, __FILE__, __LINE__, __func__, "%s",
                     tes_context_message(f->behind.alone));
  tes_context_clear(f->behind.alone);
  return status;
}

TesStatus tesi_vtkhdf_write_behind(TesVtkhdf *f, const TesiVtuCells *cells, double time, bool new_mesh) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  TesiVtkhdfBehind *b = &f->behind;
  TES_TRY(keep_step(f, cells, new_mesh));
  TES_TRY(copy_description(f, cells->desc));
  b->time = time, b->new_mesh = new_mesh;
  f->ctx = b->alone;
  b->runs = start(f);
  if (!b->runs) {
    write_step(f);
    TES_TRY(take_over(f));
  }
done:
  return status;
}

static bool join(TesiVtkhdfBehind *b) {
  if (!b->runs) return false;
  atomic_store(&b->awaited, true);
  pthread_join(b->thread, NULL);
  atomic_store(&b->awaited, false);
  b->runs = false;
  return true;
}

TesStatus tesi_vtkhdf_await(TesVtkhdf *f) {
  return join(&f->behind) ? take_over(f) : TES_OK;
}

void tesi_vtkhdf_end_behind(TesVtkhdf *f) {
  TesContext *ctx = f->owner;
  join(&f->behind);
  f->ctx = ctx;
  if (f->behind.alone) tesi_vtu_cells_free(&f->behind.cells);
  for (int i = 0; i < TESI_VTKHDF_FIELDS + 2; i++) tesi_free(ctx, &f->behind.kept[i].data);
  tes_context_destroy(&f->behind.alone);
}
#else
typedef int TesiNoVtkhdfBehind; /* a C file must not be empty */
#endif
