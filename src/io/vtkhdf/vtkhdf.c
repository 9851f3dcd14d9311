/* See tessera/vtkhdf.h. The format: docs.vtk.org, "VTKHDF File Format", UnstructuredGrid. A mesh is stored as a part,
 * to which several steps may refer.
 *
 * A step exists when the attribute NSteps counts it. NSteps is written last, after everything else is in the file.
 * Until then no data of earlier steps change: chunks are new, rows of packed arrays begin at a chunk, and rewritten
 * objects (extents, indices, chunks of plain arrays) keep their old content. */
#include "tessera/vtkhdf.h"
#include <string.h>
#include "base/work.h"
#include "io/vtu/vtu.h"

#ifdef TESI_HDF5
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/vtkhdf/vtkhdf.h"
#include "mesh/mesh.h"
#include "parallel/comm.h"
#include "tessera/report.h"

/* ---- opening and closing --------------------------------------------------------------------------------------- */

void tes_vtkhdf_destroy(TesVtkhdf **file) {
  TesVtkhdf *f = file ? *file : NULL;
  if (!f) return;
  TesContext *ctx = f->owner;
  *file = NULL;
  tesi_vtkhdf_end_behind(f);
  tesi_vtkhdf_close(f);
  if (f->temporary) unlink(f->temporary);
  tes_mesh_destroy((TesMesh **)&f->mesh);
  tesi_slices_free(&f->parts_of);
  tesi_free(ctx, &f->path);
  tesi_free(ctx, &f->temporary);
  tesi_free(ctx, &f);
}

TesStatus tesi_vtkhdf_refuse(TesVtkhdf *f) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  f->failed = true;
  if (f->disk.error) TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(f->disk.error));
  TES_FAIL(TES_IO, "cannot write %s: HDF5 refuses it", f->path);
done:
  return status;
}

static TesStatus check_path(TesContext *ctx, const char *path) {
  TesStatus status = TES_OK;
  struct stat there;
  TES_CHECK(path && *path, "the name of the file to write is empty");
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
    TES_FAIL(TES_IO, "cannot write %s: it is %s", path,
             S_ISDIR(there.st_mode) ? "a folder" : "no ordinary file");
  if (!H5Zfilter_avail(H5Z_FILTER_DEFLATE))
    TES_FAIL(TES_MISSING, "this HDF5 has no zlib (filter deflate), which VTKHDF files are compressed by");
done:
  return status;
}

/* Whether threads can use HDF5 at the same time. */
static bool is_safe(void) {
  hbool_t safe = false;
  return H5is_library_threadsafe(&safe) >= 0 && safe;
}

TesStatus tes_vtkhdf_create(TesContext *context, const TesVtkhdfDesc *desc, TesVtkhdf **file) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesVtkhdf *f = NULL;
  TES_REFUSE_NULL(context, desc, file);
  *file = NULL;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are given here, not by HDF5 */
  const bool elsewhere = tesi_ranks(ctx) > 1 && tes_communicator_rank(tesi_context_communicator(ctx)) > 0;
  TES_TRY(tesi_file_agree(ctx, elsewhere ? TES_OK : check_path(ctx, desc->path)));
  TES_NEW(&f);
  *f = (TesVtkhdf){.owner = ctx, .ctx = ctx, .elsewhere = elsewhere, .steps = desc->steps, .last = desc->last};
  f->file = f->root = f->point_data = f->cell_data = f->list = f->count = -1;
  f->goes_on = desc->steps && desc->goes_on && access(desc->path, F_OK) == 0;
  f->path = tesi_strdup(ctx, desc->path);
  const size_t size = strlen(desc->path) + 48;
  TES_ALLOC(&f->temporary, size);
  if (!f->path) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the name of a file");
  snprintf(f->temporary, size, "%s.%ld.part", desc->path, (long)getpid());
  tesi_broadcast(ctx, 0, sizeof f->goes_on, &f->goes_on);
  if (f->goes_on || elsewhere) tesi_free(ctx, &f->temporary);
  if (!f->goes_on) TES_TRY(tes_file_check(ctx, desc->path));
  if (desc->behind && desc->steps && !elsewhere && is_safe())
    TES_TRY(tesi_context_create_alone(ctx, &f->behind.alone));
  *file = f;
  f = NULL;
done:
  tes_vtkhdf_destroy(&f);
  return status;
}

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

/* The destination of the chunks of an array. */
typedef struct Chunks {
  TesVtkhdf *f;
  TesiHdfSet *set;
  hsize_t row;
} Chunks;

static TesStatus put_chunk(void *user, const void *packed, size_t size) {
  Chunks *c = user;
  const hsize_t at[2] = {c->row, 0};
  c->row += c->set->rows;
  if (H5Dwrite_chunk(c->set->set, H5P_DEFAULT, 0, at, size, packed) < 0) c->f->failed = true;
  return c->f->failed || c->f->disk.error ? tesi_vtkhdf_refuse(c->f) : TES_OK;
}

/* Passes numbers to a stream, if there is one. */
typedef struct Numbers {
  TesiVtuStream *stream;
  uint64_t digest;
} Numbers;

static TesStatus take_numbers(void *user, const void *data, size_t bytes) {
  Numbers *n = user;
  const char *from = data;
  uint64_t digest = n->digest, word;
  for (size_t i = 0; i < bytes; i += sizeof word) {
    memcpy(&word, from + i, sizeof word);
    digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
    digest ^= digest >> 29;
  }
  n->digest = digest;
  return n->stream ? tesi_vtu_stream_write(n->stream, data, bytes) : TES_OK;
}

/* Writes rows of a packed array, from the next chunk on: *first. *digest: of the numbers. */
static TesStatus put_packed(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtuItem *item,
                            int64_t per_cell, TesiHdfSet *set, int64_t *first, uint64_t *digest) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  Numbers numbers = {NULL, 1};
  const hsize_t rows = (hsize_t)(f->parts_of.all * per_cell),
                columns = (hsize_t)(set->components ? set->components : 1),
                begin = (set->end + set->rows - 1) / set->rows * set->rows, all[2] = {begin + rows, columns};
  Chunks chunks = {f, set, begin};
  const TesiVtuStreamDesc desc = {.bytes = f->parts_of.all * (int64_t)item->bytes,
                                  .block = set->rows * columns * 8,
                                  .level = cells->desc->compression ? cells->desc->compression : 1,
                                  .shuffle = 8,
                                  .whole = true,
                                  .awaited = f->ctx == f->owner ? NULL : &f->behind.awaited,
                                  .put = put_chunk,
                                  .user = &chunks};
  if (H5Dset_extent(set->set, all) < 0) TES_TRY(tesi_vtkhdf_refuse(f));
  set->end = begin + rows;
  TES_TRY(tesi_vtu_stream_begin(ctx, &desc, &numbers.stream));
  TES_TRY(tesi_vtkhdf_pass(f, cells, item, take_numbers, &numbers));
  TES_TRY(tesi_vtu_stream_end(&numbers.stream));
  *first = (int64_t)begin;
  *digest = numbers.digest;
done:
  tesi_vtu_stream_discard(&numbers.stream);
  return status;
}

/* Offsets of all cells, including the end of the last one, and types. */
static TesStatus put_topology(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtkhdfPart *part) {
  enum { AT_ONCE = 1024 };
  TesStatus status = TES_OK;
  const int64_t n = f->parts_of.all;
  int64_t offsets[AT_ONCE];
  unsigned char types[AT_ONCE];
  bool well = true;
  memset(types, tesi_vtu_type(cells->desc->dim), sizeof types);
  for (int64_t c = 0; c <= n && well; c += AT_ONCE) {
    const int64_t some = n + 1 - c < AT_ONCE ? n + 1 - c : AT_ONCE, typed = n - c < AT_ONCE ? n - c : AT_ONCE;
    for (int64_t i = 0; i < some; i++) offsets[i] = (c + i) * cells->nodes;
    well = tesi_hdf_put(&f->offsets, (hsize_t)(part->cells + part->part + c), (hsize_t)some, H5T_NATIVE_INT64,
                        offsets) &&
           (!typed ||
            tesi_hdf_put(&f->types, (hsize_t)(part->cells + c), (hsize_t)typed, H5T_NATIVE_UCHAR, types));
  }
  return well ? status : tesi_vtkhdf_refuse(f);
}

/* Writes a mesh that the file does not have. Data that a killed process left after the last step are skipped. */
static TesStatus put_mesh(TesVtkhdf *f, const TesiVtuCells *cells) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = cells->desc;
  const int64_t n = f->parts_of.all, points = n * cells->nodes;
  const TesiVtuItem at = tesi_vtu_item(cells, TESI_VTU_POINTS, &d->coordinates, d->dim),
                    ids = tesi_vtu_item(cells, TESI_VTU_CONNECTIVITY, NULL, 0);
  hsize_t part = f->of_points.end, first = f->types.end;
  uint64_t digest;
  if (part < f->of_cells.end) part = f->of_cells.end;
  if (part < f->of_ids.end) part = f->of_ids.end;
  if (f->offsets.end > part && first < f->offsets.end - part) first = f->offsets.end - part;
  TesiVtkhdfPart new = {.part = (int64_t)part, .cells = (int64_t)first};
  TES_TRY(put_packed(f, cells, &at, cells->nodes, &f->points, &new.points, &digest));
  TES_TRY(put_packed(f, cells, &ids, cells->nodes, &f->ids, &new.ids, &digest));
  TES_TRY(put_topology(f, cells, &new));
  if (!tesi_hdf_put_integer(&f->of_points, part, points) || !tesi_hdf_put_integer(&f->of_cells, part, n) ||
      !tesi_hdf_put_integer(&f->of_ids, part, points))
    TES_TRY(tesi_vtkhdf_refuse(f));
  f->part = new;
  for (int i = 0; i < TESI_VTKHDF_FIELDS; i++) f->field[i].known = false;
done:
  return status;
}

bool tesi_vtkhdf_is_known(const TesiVtkhdfField *field, const TesVtuArray *array) {
  return field->known && array->version && array->version == field->version;
}

/* Whether a field equals the field of the previous step, over the same mesh: then its rows serve this step too. */
static TesStatus stays(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtuItem *item,
                       TesiVtkhdfField *field, bool *same) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  Numbers numbers = {NULL, 1};
  *same = tesi_vtkhdf_is_known(field, item->array);
  field->version = item->array->version;
  if (*same || !field->known || field->changes) return TES_OK;
  TES_TRY(tesi_vtkhdf_pass(f, cells, item, take_numbers, &numbers));
  *same = numbers.digest == field->digest;
  field->changes = !*same;
done:
  return status;
}

static TesStatus put_fields(TesVtkhdf *f, const TesiVtuCells *cells, TesiVtuKind kind, int count,
                            const TesVtuArray *of, TesiVtkhdfField *field) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const int per_cell = kind == TESI_VTU_POINTS ? cells->nodes : 1;
  for (int i = 0; i < count; i++) {
    const TesiVtuItem item = tesi_vtu_item(cells, kind, &of[i], of[i].components ? of[i].components : 1);
    bool same;
    TES_TRY(stays(f, cells, &item, &field[i], &same));
    if (!same)
      TES_TRY(put_packed(f, cells, &item, per_cell, &field[i].values, &field[i].first, &field[i].digest));
    field[i].known = true;
    if (f->steps && !tesi_hdf_put_integer(&field[i].offsets, (hsize_t)f->step, field[i].first))
      TES_TRY(tesi_vtkhdf_refuse(f));
  }
done:
  return status;
}

/* ---- what the last step of a continued file has ---------------------------------------------------------------- */

/* *digest <- of rows of float64; false: they cannot be read. */
static bool digest_of(const TesVtkhdf *f, const TesiHdfSet *set, int64_t first, int64_t count,
                      uint64_t *digest) {
  const int64_t some = (int64_t)set->rows, columns = set->components ? set->components : 1;
  Numbers numbers = {NULL, 1};
  double *rows = NULL;
  bool well = first >= 0 && tesi_alloc(f->owner, (size_t)(some * columns), sizeof *rows, &rows) == TES_OK;
  for (int64_t i = 0; i < count && well; i += some) {
    const int64_t n = count - i < some ? count - i : some;
    well = tesi_hdf_get(set, (hsize_t)(first + i), (hsize_t)n, H5T_NATIVE_DOUBLE, rows);
    if (well) (void)take_numbers(&numbers, rows, (size_t)(n * columns) * sizeof *rows);
  }
  tesi_free(f->owner, &rows);
  *digest = numbers.digest;
  return well;
}

static bool get_integer(const TesiHdfSet *set, int64_t row, int64_t *value) {
  return row >= 0 && tesi_hdf_get(set, (hsize_t)row, 1, H5T_NATIVE_INT64, value);
}

/* Its part; false: there is none with so many cells and points. */
static bool find_part(const TesVtkhdf *f, int64_t cells, int64_t points, TesiVtkhdfPart *part) {
  const int64_t row = f->step - 1;
  int64_t there[2];
  return get_integer(&f->first_part, row, &part->part) && get_integer(&f->first_point, row, &part->points) &&
         get_integer(&f->first_cell, row, &part->cells) && get_integer(&f->first_id, row, &part->ids) &&
         get_integer(&f->of_cells, part->part, &there[0]) &&
         get_integer(&f->of_points, part->part, &there[1]) && there[0] == cells && there[1] == points;
}

/* *same <- whether the mesh is the mesh of the last step. Then its part serves the next steps, and so do its fields
 * that stay. */
static TesStatus recall(TesVtkhdf *f, const TesiVtuCells *cells, bool *same) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = cells->desc;
  const TesiVtuItem at = tesi_vtu_item(cells, TESI_VTU_POINTS, &d->coordinates, d->dim);
  const int64_t n = f->parts_of.all, points = n * cells->nodes;
  Numbers numbers = {NULL, 1};
  TesiVtkhdfPart part;
  uint64_t digest;
  *same = false;
  if (!find_part(f, n, points, &part) || !digest_of(f, &f->points, part.points, points, &digest))
    return TES_OK;
  TES_TRY(tesi_vtkhdf_pass(f, cells, &at, take_numbers, &numbers));
  *same = numbers.digest == digest;
  if (*same) f->part = part;
  for (int i = 0; *same && i < f->point_fields + f->cell_fields; i++) {
    TesiVtkhdfField *field = &f->field[i];
    field->known =
        get_integer(&field->offsets, f->step - 1, &field->first) &&
        digest_of(f, &field->values, field->first, i < f->point_fields ? points : n, &field->digest);
  }
done:
  return status;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static bool put_step(TesVtkhdf *f, double time) {
  const hsize_t row = (hsize_t)f->step;
  return tesi_hdf_put_number(&f->values, row, time) && tesi_hdf_put_integer(&f->parts, row, 1) &&
         tesi_hdf_put_integer(&f->first_part, row, f->part.part) &&
         tesi_hdf_put_integer(&f->first_point, row, f->part.points) &&
         tesi_hdf_put_integer(&f->first_cell, row, f->part.cells) &&
         tesi_hdf_put_integer(&f->first_id, row, f->part.ids);
}

/* Writes all data of a step first, then counts the step. */
static TesStatus commit(TesVtkhdf *f, double time) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const int64_t steps = f->step + 1;
  bool well = !f->steps || put_step(f, time);
  well = well && H5Fflush(f->file, H5F_SCOPE_GLOBAL) >= 0 && !f->disk.error;
  if (well && f->steps)
    well = H5Awrite(f->count, H5T_NATIVE_INT64, &steps) >= 0 && H5Fflush(f->file, H5F_SCOPE_GLOBAL) >= 0;
  if (!well || f->disk.error) return tesi_vtkhdf_refuse(f);
  f->step = steps;
  if (f->temporary && rename(f->temporary, f->path) != 0)
    TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(errno));
  tesi_free(ctx, &f->temporary);
done:
  return status;
}

static TesStatus check_fields(const TesVtkhdf *f, const TesVtuDesc *d) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  TES_CHECK(d->precision == TES_DOUBLE, "VTKHDF files have numbers of float64");
  TES_CHECK(d->point_field_count + d->cell_field_count <= TESI_VTKHDF_FIELDS,
            "%d fields, at most %d fit a VTKHDF file", d->point_field_count + d->cell_field_count,
            TESI_VTKHDF_FIELDS);
  TES_CHECK(!f->step || f->steps, "%s is a file of one solution, which it has", f->path);
  TES_CHECK(f->file < 0 || (d->point_field_count == f->point_fields && d->cell_field_count == f->cell_fields),
            "%s has steps with %d fields of points and %d of cells, a new one has %d and %d", f->path,
            f->point_fields, f->cell_fields, d->point_field_count, d->cell_field_count);
done:
  return status;
}

TesStatus tesi_vtkhdf_put_step(TesVtkhdf *f, const TesiVtuCells *cells, double time, bool new_mesh) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = cells->desc;
  if (new_mesh) TES_TRY(put_mesh(f, cells));
  TES_TRY(put_fields(f, cells, TESI_VTU_POINTS, d->point_field_count, d->point_fields, f->field));
  TES_TRY(
      put_fields(f, cells, TESI_VTU_CELLS, d->cell_field_count, d->cell_fields, f->field + f->point_fields));
  TES_TRY(commit(f, time));
done:
  return status;
}

/* On the rank that has the file. The first step is written by its call: so a file that cannot be written is told at
 * once, and the file exists when the call returns. */
static TesStatus write_here(TesVtkhdf *f, const TesiVtuCells *cells, double time, const TesMesh *mesh) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = cells->desc;
  const bool new = !mesh || mesh != f->mesh, behind = f->behind.alone && f->step, opened = f->file >= 0;
  bool same = false;
  if (!opened) TES_TRY(f->goes_on ? tesi_vtkhdf_continue(f, d) : tesi_vtkhdf_begin(f, d, cells->nodes));
  if (!opened && mesh && f->step) TES_TRY(recall(f, cells, &same));
  if (new) tes_mesh_destroy((TesMesh **)&f->mesh);
  const bool new_mesh = new && !same;
  TES_TRY(behind ? tesi_vtkhdf_write_behind(f, cells, time, new_mesh)
                 : tesi_vtkhdf_put_step(f, cells, time, new_mesh));
  if (new &&mesh) f->mesh = tesi_mesh_retain(mesh);
done:
  return status;
}

static TesStatus check_step(TesVtkhdf *f, const TesVtuDesc *d, TesiVtuCells *cells) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  TES_TRY(tesi_vtkhdf_await(f));
  if (f->failed) TES_FAIL(TES_IO, "%s could not be written before", f->path);
  TES_TRY(tesi_vtu_check(ctx, d));
  TES_TRY(check_fields(f, d));
  TES_TRY(tesi_vtu_cells_create(ctx, d, cells));
  cells->wide = true;
done:
  return status;
}

/* `mesh` may be NULL: a new one. */
static TesStatus write_step(TesVtkhdf *f, const TesVtuDesc *d, double time, const TesMesh *mesh) {
  TesContext *ctx = f->owner;
  TesStatus status = TES_OK;
  TesiVtuCells cells = {.ctx = ctx};
  TES_TRY(tesi_file_agree(ctx, check_step(f, d, &cells)));
  tesi_slices_free(&f->parts_of);
  TES_TRY(tesi_slices_create(ctx, d->cells, &f->parts_of));
  cells.first = f->parts_of.first;
  status = f->elsewhere ? tesi_vtu_item_follow(&cells) : write_here(f, &cells, time, mesh);
  if (!f->elsewhere) tesi_vtu_item_release(ctx);
  status = tesi_file_agree(ctx, status);
done:
  tesi_vtu_cells_free(&cells);
  return status;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

TesStatus tes_vtkhdf_write(TesVtkhdf *file, const TesVtuDesc *desc, double time) {
  if (!desc) return tesi_file_agree(file->owner, tesi_vtkhdf_await(file));
  tesi_work_begin_results(file->owner, false, "writing %s", file->path);
  const TesStatus status = write_step(file, desc, time, NULL);
  tesi_work_end(file->owner);
  return status;
}

typedef struct Step {
  TesVtkhdf *file;
  const TesMesh *mesh;
  double time;
} Step;

/* A sink of fields. */
static TesStatus write_fields(void *user, TesContext *ctx, const TesVtuDesc *desc) {
  const Step *step = user;
  (void)ctx;
  return write_step(step->file, desc, step->time, step->mesh);
}

TesStatus tes_vtkhdf_write_problem(TesVtkhdf *file, const TesProblem *problem, double time, int cell_count,
                                   const TesVtuArray *cell_fields) {
  Step step = {file, tes_space_mesh(tes_problem_space(problem)), time};
  tesi_work_begin_results(file->owner, file->steps, "writing %s", file->path);
  const TesStatus status = tesi_vtu_problem(problem, cell_count, cell_fields, write_fields, &step);
  tesi_work_end(file->owner);
  return status;
}
#endif
