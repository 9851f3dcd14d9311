#include "smoother/stokes_patch/stokes_plane.h"
#include <limits.h>
#include <stdlib.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "device/vector.h"
#include "kernels/stokes_plane_arguments.h"
#include "space/rt_device.h"

enum { DEGREES = 8, FEW = 16 /* patches per colour up to which all colours are one launch */ };

/* Patches and threads of a block, by n: a line per thread; least blocks a multiprocessor. */
typedef struct Cut {
  int patches, threads, blocks;
} Cut;
static const Cut cuts[DEGREES + 2] = {{0},         {0},        {8, 128, 5}, {4, 96, 6},  {4, 128, 4},
                                      {4, 128, 3}, {2, 96, 3}, {2, 96, 3},  {2, 128, 2}, {2, 128, 2}};
/* Bytes of tables that blocks take into shared memory at most; blocks a multiprocessor that go round the patches. */
enum { TABLES = 48 * 1024, ROUND = 8, MULTIPROCESSORS = 132 };

struct TesiStokesPlane {
  TesPrecision precision;
  int n;
  bool open; /* nodes at ends of the box are unknowns */
  bool tables_shared;
  Cut cut;
  bool few; /* all colours in one launch */
  int colours;
  size_t shared;
  int64_t length;
  TesiKernel kernel;
  TeskPlane arguments;
  TeskPlaneColour *colour;
  void *tables[2], *inverses, *patches, *list, *rest; /* device */
  void *other;                                        /* device: a vector */
};

/* ---- whom it serves ------------------------------------------------------------------------------------ */

static bool splits(const TesiStokesPatchAxis a[3], int d, int kind) {
  return a[d].local[kind].symmetric;
}

/* Numbers of S^+ of all combinations of kinds. */
static double count_inverses(const TesiStokesPatchAxis a[3], int n) {
  double count = 0;
  for (int y = 0; y < a[1].types; y++)
    for (int x = 0; x < a[0].types; x++)
      count +=
          (double)tesi_plane_fill_inverse(n, (const bool[]){splits(a, 0, x), splits(a, 1, y)}, NULL, NULL);
  return count;
}

bool tesi_stokes_plane_serves(const TesOperator *op, const TesiStokesPatchAxis axis[3]) {
  const TesSpace *space = tesi_stokes_of(op)->space;
  const double room = (double)tesi_context_device(op->context)->available(op->context) / 2;
  bool serves = space->dim == 2 && space->degree <= DEGREES && !getenv("TESSERA_PATCH_GLOBAL"); /* for tests */
  for (int d = 0; d < 2 && serves; d++)
    serves = tesi_modal(space, d)->cells > (tesi_modal(space, d)->periodic ? 2 : 1) && axis[d].span == 2;
  return serves && 8 * count_inverses(axis, space->degree + 1) < room && space->length < INT_MAX;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static TesStatus make_tables(const TesOperator *op, const TesiStokesPatchAxis axis[3], TesiStokesPlane *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int size = tesi_plane_table_size(p->n, p->open);
  double *tables = NULL;
  for (int d = 0; d < 2; d++) {
    const TesiStokesPatchAxis *a = &axis[d];
    TES_ALLOC(&tables, (int64_t)a->types * size);
    for (int t = 0; t < a->types; t++)
      tesi_plane_fill_table(tesi_stokes_of(op)->nu, p->n, p->open, &a->outer[t], &a->local[t],
                            tables + (int64_t)t * size);
    TES_TRY(tesi_upload_numbers(ctx, tables, (int64_t)a->types * size, p->precision, &p->tables[d]));
    p->arguments.tables[d] = p->tables[d];
    tesi_free(ctx, &tables);
  }
done:
  tesi_free(ctx, &tables);
  return status;
}

/* The S^+ of all combinations, x fastest; patch[combination]: what patches of it have in common. */
static TesStatus make_inverses(const TesOperator *op, const TesiStokesPatchAxis a[3], TeskPlanePatch *patch,
                               TesiStokesPlane *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const int64_t pressures = 4 * p->n * p->n, all = (int64_t)count_inverses(a, p->n);
  const size_t size = tesi_precision_size(p->precision);
  double *S = NULL, *numbers = NULL;
  int64_t at = 0;
  TES_ALLOC(&S, pressures * pressures);
  TES_ALLOC(&numbers, all);
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)all * size, &p->inverses));
  for (int i = 0; i < a[0].types * a[1].types; i++) {
    const int kind[2] = {i % a[0].types, i / a[0].types};
    const bool split[2] = {splits(a, 0, kind[0]), splits(a, 1, kind[1])};
    TesiStokesLocal local = {.dim = 2, .axis = {[2] = &a[2].local[0]}, .nu = s->nu, .alpha = s->alpha};
    local.closed = true;
    for (int d = 0; d < 2; d++) {
      local.axis[d] = &a[d].local[kind[d]];
      local.closed = local.closed && local.axis[d]->nodes < local.axis[d]->modes;
    }
    TES_TRY(tesi_stokes_local_invert(ctx, &local, S));
    patch[i] =
        (TeskPlanePatch){.inverse = (char *)p->inverses + (size_t)at * size, .kind = {kind[0], kind[1]}};
    patch[i].flags = (local.closed ? TESK_PLANE_CLOSED : 0) | (split[0] ? TESK_PLANE_SPLIT_X : 0) |
                     (split[1] ? TESK_PLANE_SPLIT_Y : 0);
    at += tesi_plane_fill_inverse(p->n, split, S, numbers + at);
  }
  float *const single = (float *)numbers; /* from the front, behind what is read */
  for (int64_t i = 0; i < all && p->precision == TES_SINGLE; i++) single[i] = (float)numbers[i];
  TES_TRY(tesi_context_device(ctx)->to_device(ctx, p->inverses, numbers, (size_t)all * size));
done:
  tesi_free(ctx, &S);
  tesi_free(ctx, &numbers);
  return status;
}

/* ---- colours ------------------------------------------------------------------------------------------- */

/* The cells of a direction that are in no interval of a colour; list NULL: they are only counted. */
static int list_rest(const TesiAxis *r, const TesiStokesPatchAxis *a, int colour, int *list) {
  int count = 0;
  for (int c = 0; c < r->cells; c++) {
    bool covered = false;
    for (int side = 0; side < 2; side++) {
      const int v = r->periodic ? (c - side + r->cells) % r->cells : c - side;
      covered = covered || (v >= 0 && v < a->vertices && a->colour[v] == colour);
    }
    if (covered) continue;
    if (list) list[count] = c;
    count++;
  }
  return count;
}

static int list_patches(const TesiStokesPatchAxis a[3], const int colour[2], const TeskPlanePatch *kinds,
                        TeskPlanePatch *list) {
  int count = 0;
  for (int y = 0; y < a[1].vertices; y++)
    for (int x = 0; x < a[0].vertices; x++) {
      if (a[0].colour[x] != colour[0] || a[1].colour[y] != colour[1]) continue;
      list[count] = kinds[a[0].type[x] + a[0].types * a[1].type[y]];
      list[count].vertex[0] = x;
      list[count++].vertex[1] = y;
    }
  return count;
}

/* Ranges of the lists; first, length: of the uncovered cells by direction and its colour. Returns the patches of the
 * largest colour. */
static int fill_colours(const TesiStokesPatchAxis a[3], const TeskPlanePatch *kinds, const int first[2][3],
                        const int length[2][3], TeskPlanePatch *list, TesiStokesPlane *p) {
  int count = 0, most = 0;
  for (int i = 0; i < p->colours; i++) {
    const int colour[2] = {i % a[0].colours, i / a[0].colours};
    TeskPlaneColour *c = &p->colour[i];
    c->first = count;
    c->patches = list_patches(a, colour, kinds, list + count);
    count += c->patches;
    most = tesi_max(most, c->patches);
    for (int d = 0; d < 2; d++) {
      c->rest[d] = first[d][colour[d]];
      c->rests[d] = length[d][colour[d]];
    }
  }
  return most;
}

static TesStatus make_lists(const TesOperator *op, const TesiStokesPatchAxis a[3],
                            const TeskPlanePatch *kinds, TesiStokesPlane *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = tesi_stokes_of(op)->space;
  const int64_t patches = (int64_t)a[0].vertices * a[1].vertices;
  TeskPlanePatch *list = NULL;
  int *rest = NULL, rests = 0, first[2][3], length[2][3];
  TES_ALLOC(&list, patches);
  TES_ALLOC(&rest, 3 * (tesi_modal(space, 0)->cells + tesi_modal(space, 1)->cells));
  TES_ALLOC(&p->colour, p->colours);
  for (int d = 0; d < 2; d++)
    for (int c = 0; c < a[d].colours; c++) {
      first[d][c] = rests;
      rests += length[d][c] = list_rest(tesi_modal(space, d), &a[d], c, rest + rests);
    }
  const int most = fill_colours(a, kinds, (const int(*)[3])first, (const int(*)[3])length, list, p);
  p->few = most <= FEW && !getenv("TESSERA_PATCH_MANY"); /* the variable is for tests */
  TES_TRY(tesi_upload(ctx, list, (size_t)patches * sizeof *list, &p->patches));
  TES_TRY(tesi_upload(ctx, p->colour, (size_t)p->colours * sizeof *p->colour, &p->list));
  TES_TRY(tesi_upload(ctx, rest, (size_t)tesi_max(rests, 1) * sizeof *rest, &p->rest));
done:
  tesi_free(ctx, &list);
  tesi_free(ctx, &rest);
  return status;
}

/* ---- kernel and memory --------------------------------------------------------------------------------- */

/* A block that does all colours takes as many patches as there are threads and registers for. */
static Cut cut_of(const TesiStokesPlane *p) {
  Cut cut = cuts[p->n];
  int most = 0;
  for (int i = 0; i < p->colours; i++) most = tesi_max(most, p->colour[i].patches);
  while (p->few && cut.patches < most && cut.threads <= (p->n < 6 ? 256 : 128))
    cut.patches *= 2, cut.threads *= 2;
  if (p->few) cut.blocks = 1;
  return cut;
}

static TesStatus get_kernel(TesContext *ctx, TesiStokesPlane *p) {
  TesStatus status = TES_OK;
  const int L = 2 * p->n + 1;
  const size_t size = tesi_precision_size(p->precision),
               kinds = (size_t)(p->arguments.kinds[0] + p->arguments.kinds[1]),
               tables = kinds * (size_t)tesi_plane_table_size(p->n, p->open) * size;
  TesiProgram *program;
  p->cut = cut_of(p);
  p->tables_shared = tables <= TABLES;
  const int numbers = p->cut.patches * (4 * L * L + 2 * (L - 1) * L) + (p->cut.patches + 3) / 4 * 4;
  p->shared = (size_t)numbers * size + (size_t)p->cut.patches * sizeof(TeskPlanePatch) +
              (p->tables_shared ? tables : 0);
  const TesiProgramDesc desc = {.file = "stokes_plane.cu",
                                .real = p->precision,
                                .macros = {{"N1", p->n},
                                           {"PATCHES", p->cut.patches},
                                           {"THREADS", p->cut.threads},
                                           {"BLOCKS", p->cut.blocks},
                                           {"OPEN", p->open},
                                           {"TABLES", p->tables_shared}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_plane", p->shared, &p->kernel));
done:
  return status;
}

TesStatus tesi_stokes_plane_create(const TesOperator *op, TesPrecision precision,
                                   const TesiStokesPatchAxis axis[3], TesiStokesPlane **plane) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiStokesPlane *p = NULL;
  TeskPlanePatch *kinds = NULL;
  *plane = NULL;
  TES_NEW(&p);
  p->precision = precision;
  p->n = s->space->degree + 1;
  p->length = s->space->length;
  p->colours = axis[0].colours * axis[1].colours;
  for (int d = 0; d < 2; d++) {
    const TesiAxis *a = &s->axis[d].nodal;
    p->open = p->open || (!a->periodic && !(a->end[0] == TESI_STRONG && a->end[1] == TESI_STRONG));
    p->arguments.cells[d] = a->cells;
    p->arguments.periodic[d] = a->periodic;
    p->arguments.kinds[d] = axis[d].types;
  }
  p->arguments.alpha = s->alpha;
  TES_TRY(tesi_rt_parts(ctx, s->space, &p->arguments.parts));
  TES_ALLOC(&kinds, axis[0].types * axis[1].types);
  TES_TRY(make_tables(op, axis, p));
  TES_TRY(make_inverses(op, axis, kinds, p));
  TES_TRY(make_lists(op, axis, kinds, p));
  TES_TRY(get_kernel(ctx, p));
  TES_TRY(
      tesi_context_device(ctx)->allocate(ctx, (size_t)p->length * tesi_precision_size(precision), &p->other));
  *plane = p;
  p = NULL;
done:
  tesi_free(ctx, &kinds);
  tesi_stokes_plane_destroy(ctx, &p);
  return status;
}

void tesi_stokes_plane_destroy(TesContext *ctx, TesiStokesPlane **plane) {
  TesiStokesPlane *p = *plane;
  if (!p) return;
  void **const all[] = {&p->tables[0], &p->tables[1], &p->inverses, &p->patches,
                        &p->list,      &p->rest,      &p->other};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_free(ctx, &p->colour);
  tesi_free(ctx, plane);
}

void tesi_stokes_plane_describe(const TesiStokesPlane *p, int *patches, int *threads, int *launches) {
  *patches = p->cut.patches;
  *threads = p->cut.threads;
  *launches = p->few ? 1 : p->colours;
}

/* ---- a sweep ------------------------------------------------------------------------------------------- */

/* Blocks that copy the entries in no patch: a few entries per thread. */
static int copying_blocks(const TesiStokesPlane *p, const TeskPlaneColour *c) {
  double entries = 0;
  for (int d = 0; d < 2; d++)
    entries += 3.0 * c->rests[1 - d] * (p->n + 1) * (p->arguments.cells[d] * p->n + 1);
  return entries > 0 ? (int)(entries / (8.0 * p->cut.threads)) + 1 : 0;
}

/* y <- x with the patches of colours first, first + step, .. solved. */
static TesStatus launch(TesContext *ctx, TesiStokesPlane *p, int first, int step, int count, const void *x,
                        const void *b, void *y, void *other) {
  const TeskPlaneColour *c = &p->colour[first];
  TeskPlaneLists lists = {p->patches, p->list, p->rest, first, step, count, 1};
  int blocks = 1;
  if (!p->few) {
    lists.blocks = tesi_min((c->patches + p->cut.patches - 1) / p->cut.patches, ROUND * MULTIPROCESSORS);
    blocks = lists.blocks + copying_blocks(p, c);
  }
  void *arguments[] = {&p->arguments, &lists, &x, &b, &y, &other};
  return tesi_kernel_launch(ctx, &p->kernel, (TesiGrid){(unsigned)blocks, 1, 1}, (unsigned)p->cut.threads,
                            p->shared, arguments);
}

TesStatus tesi_stokes_plane_apply(TesContext *ctx, TesiStokesPlane *p, const void *b, void *x,
                                  TesiColours colours, bool zero_guess) {
  TesStatus status = TES_OK;
  const int begin = colours.first, step = colours.step;
  const bool odd = colours.count % 2;
  void *to[2] = {odd ? x : p->other, odd ? p->other : x}; /* the last colour writes to x */
  const void *from = zero_guess ? NULL : odd ? p->other : x;
  if (odd && !zero_guess)
    TES_TRY(tesi_context_device(ctx)->copy(ctx, p->length, 1, p->precision, x, p->precision, p->other));
  if (p->few) return launch(ctx, p, begin, step, colours.count, from, b, to[0], to[1]);
  for (int i = 0; i < colours.count; i++) {
    TES_TRY(launch(ctx, p, begin + i * step, step, 1, from, b, to[i % 2], to[1 - i % 2]));
    from = to[i % 2];
  }
done:
  return status;
}
