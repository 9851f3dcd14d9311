#include "multigrid/coarse/coarse_stokes_box.h"
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "kernels/stokes_box_arguments.h"
#include "multigrid/coarse/coarse_device.h"
#include "multigrid/coarse/coarse_stokes_device.h"
#include "space/rt_device.h"

/* Numbers of S^+: some milliseconds to invert on a GPU; in 2D where a solve takes a microsecond to read them. */
enum { NUMBERS_2D = 3 << 19, NUMBERS_3D = 3 << 22 };
enum { SHARED = 160 << 10 /* bytes of a block at most */, LEAST = 128 /* threads of a block of lines */ };
enum { FORWARD, INVERSE, LINES, ACROSS, KERNELS };

/* What there is for vectors of one precision. */
typedef struct Tables {
  TesiKernel kernel[KERNELS];
  size_t shared[KERNELS];
  TeskStokesBox arguments;
  void *numbers[3], *inverse, *work; /* device */
} Tables;

struct TesiCoarseStokesBox {
  TesContext *context;
  TesiStokesLocalAxis axis[3];
  TesiStokesLocal local; /* of these; equal directions have one of them */
  int threads, rows;     /* of a block of lines; of S^+ that a block has */
  Tables tables[2];      /* by precision */
};

/* ---- parity blocks ------------------------------------------------------------------------------------- */

/* What tells directions apart: their first equal one, their modes, and whether these are even or odd. */
typedef struct Shape {
  int dim, same[3], modes[3];
  bool split[3];
} Shape;

static int bit(int block, int d) {
  return block >> d & 1;
}

/* The block that `block` is with its equal directions permuted, odd ones first; role[d]: what direction d is there. */
static int block_like(const Shape *s, int block, int role[3]) {
  int like = 0;
  for (int d = 0; d < 3; d++) {
    int rank = 0, to = 0;
    for (int e = 0; e < 3; e++)
      if (s->same[e] == s->same[d])
        rank += bit(block, e) > bit(block, d) || (bit(block, e) == bit(block, d) && e < d);
    while (s->same[to] != s->same[d] || rank-- > 0) to++;
    role[d] = to;
    like |= bit(block, d) << to;
  }
  return like;
}

static bool exists(const Shape *s, int block) {
  return (s->split[0] || !bit(block, 0)) && (s->split[1] || !bit(block, 1)) && (s->split[2] || !bit(block, 2));
}

/* Extents, matrices and vectors of the parity blocks. */
static void set_blocks(const Shape *s, TeskStokesBox *box) {
  int role[3], vectors = 0;
  box->size = 1, box->matrices = 0;
  for (int d = 0; d < 3; d++) {
    box->extent[d] = s->split[d] ? s->modes[d] / 2 : s->modes[d];
    box->size *= box->extent[d];
  }
  const int stride[3] = {1, box->extent[0], box->extent[0] * box->extent[1]};
  for (int like = 0; like < 8; like++) {
    if (!exists(s, like) || block_like(s, like, role) != like) continue;
    box->block[box->matrices] = like;
    box->vector[box->matrices++] = vectors;
    for (int b = 0; b < 8; b++) {
      if (!exists(s, b) || block_like(s, b, role) != like) continue;
      for (int d = 0; d < 3; d++) box->stride[b][d] = stride[role[d]];
      box->base[b] = vectors++ * box->size;
    }
  }
  box->vector[box->matrices] = vectors;
}

static int most_vectors(const TeskStokesBox *box) {
  int most = 0;
  for (int m = 0; m < box->matrices; m++) most = tesi_max(most, box->vector[m + 1] - box->vector[m]);
  return most;
}

/* ---- shared memory --------------------------------------------------------------------------------------- */

/* Directions of part `part`, as in stokes_box.cu. */
static int inner_of(int dim, int own) {
  return dim == 2 ? 2 : own == 0;
}
static int outer_of(int dim, int own) {
  return dim == 2 ? 1 - own : own == 2 ? 1 : 2;
}

/* Numbers of a part, lines of x padded. */
static int part_size(const int extent[3]) {
  return (extent[0] | 1) * extent[1] * extent[2];
}

/* Numbers that blocks of lines need. all: entries of the own direction. */
static void count_lines(int dim, const int nodes[3], const int all[3], const int modes[3],
                        int numbers[KERNELS]) {
  for (int part = 0; part <= dim; part++) {
    const bool velocity = part < dim;
    const int own = velocity ? part : 0, N = modes[own], n = velocity ? nodes[own] : N,
              beside = modes[inner_of(dim, own)], others = modes[outer_of(dim, own)];
    const int outer = TESK_BOX_OUTER(dim), rows = outer * beside;
    int extent[3];
    for (int d = 0; d < 3; d++) extent[d] = velocity && d == own ? all[d] : modes[d];
    const int tables = n * n + (velocity ? n * N : 0), across = others * outer + beside * beside,
              values = n + beside + outer;
    numbers[FORWARD] =
        tesi_max(numbers[FORWARD], part_size(extent) + tables + across + values + 2 * rows * (n | 1));
    numbers[LINES] = tesi_max(numbers[LINES], tables + values + rows * (n + N));
    numbers[ACROSS] = tesi_max(numbers[ACROSS], others * beside * n + across + rows * n);
  }
}

static int count_inverse(const TeskStokesBox *box, int rows) {
  const int step = TESK_BOX_AHEAD * TESK_BOX_PARTS, padded = (box->size + step - 1) / step * step;
  return most_vectors(box) * (padded + rows * TESK_BOX_PARTS);
}

/* Rows of S^+ of a block: more of many, so that few blocks read all of q. */
static int rows_of(int size) {
  return size > 512 ? 32 : 16;
}

/* ---- whom it serves ------------------------------------------------------------------------------------ */

/* Whether a direction is its own mirror image, with nodes known at both ends. */
static bool is_mirrored(const TesSpace *space, int d) {
  const TesiAxis *a = tesi_nodal(space, d), *across = tesi_modal(space, d);
  bool same = a->cells % 2 == 0 && a->end[0] == TESI_STRONG && a->end[1] == TESI_STRONG &&
              across->end[0] == across->end[1];
  for (int c = 0; c < a->cells && same; c++) same = a->h[c] == a->h[a->cells - 1 - c];
  return same;
}

static bool is_equal(const TesSpace *space, int d, int other) {
  const TesiAxis *a = tesi_nodal(space, d), *b = tesi_nodal(space, other), *across = tesi_modal(space, d);
  bool same = a->cells == b->cells && a->periodic == b->periodic;
  for (int e = 0; e < 2; e++)
    same = same && a->end[e] == b->end[e] && across->end[e] == tesi_modal(space, other)->end[e];
  for (int c = 0; c < a->cells && same; c++) same = a->h[c] == b->h[c];
  return same;
}

/* Numbers of S^+ at most; the variable is for measurements and tests. */
static double most_numbers(int dim) {
  const char *given = getenv("TESSERA_BOX_NUMBERS");
  return given ? atof(given) : dim == 2 ? NUMBERS_2D : NUMBERS_3D;
}

static bool serves(const TesSpace *space) {
  Shape shape = {.dim = space->dim, .same = {0, 1, 2}, .modes = {1, 1, 1}};
  TeskStokesBox box = {.matrices = 0};
  int nodes[3] = {1, 1, 1}, all[3] = {1, 1, 1};
  int numbers[KERNELS] = {0}, most = 0;
  if (!space->element->with_pressure) return false;
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *a = tesi_nodal(space, d);
    shape.modes[d] = tesi_modal(space, d)->nodes;
    shape.split[d] = is_mirrored(space, d);
    for (int e = d - 1; e >= 0; e--)
      if (is_equal(space, d, e)) shape.same[d] = e;
    nodes[d] = tesi_axis_end(a) - tesi_axis_first(a);
    all[d] = a->nodes;
  }
  if (space->scalar[space->dim]->length * (double)sizeof(double) > SHARED) return false;
  set_blocks(&shape, &box);
  count_lines(space->dim, nodes, all, shape.modes, numbers);
  numbers[INVERSE] = count_inverse(&box, rows_of(box.size));
  for (int k = 0; k < KERNELS; k++) most = tesi_max(most, numbers[k]);
  return (double)box.matrices * box.size * box.size <= most_numbers(space->dim) &&
         most * (int)sizeof(double) <= SHARED;
}

bool tesi_coarse_stokes_box_serves(const TesSpace *space) {
  TesContext *ctx = space->context, *alone = NULL;
  TesMesh *mesh = NULL;
  TesSpace *whole = NULL;
  if (tesi_ranks(ctx) == 1) return serves(space);
  const bool made = tesi_context_create_alone(ctx, &alone) == TES_OK &&
                    tesi_mesh_gather(space->mesh, alone, &mesh) == TES_OK &&
                    tesi_space_create_on(space, mesh, space->degree, &whole) == TES_OK,
             does = made && serves(whole);
  tes_space_destroy(&whole);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&alone);
  return !tesi_reduce_any(ctx, !does);
}

double tesi_coarse_stokes_box_bytes(const TesSpace *space) {
  const double matrices = space->dim == 2 ? 3 : 4;
  for (double halved = 2;; halved *= 2) {
    double numbers = matrices;
    for (int d = 0; d < space->dim; d++) numbers *= pow(tesi_modal(space, d)->nodes / halved / 2, 2);
    if (numbers <= most_numbers(space->dim) || halved > 1e6) return 12 * numbers;
  }
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static double *append(double *at, const double *from, int rows, int columns, double factor, bool turned) {
  for (int i = 0; i < rows * columns; i++)
    at[i] = factor * (turned ? from[i % rows * columns + i / rows] : from[i]);
  return at + rows * columns;
}

/* As TeskStokesBox says. */
static TesStatus upload_axis(const TesiCoarseStokesBox *box, int d, TesPrecision precision, Tables *t) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiStokesLocalAxis *l = box->local.axis[d];
  const int M = l->nodes, N = l->modes;
  const int64_t count = 2 * M * M + 2 * N * N + 2 * M * N + M + N;
  double *numbers = NULL;
  TES_ALLOC(&numbers, count);
  double *at = append(numbers, l->Zc, M, M, 1, false);
  at = append(at, l->Zc, M, M, 1, true);
  at = append(at, l->Zd, N, N, 1, false);
  at = append(at, l->Zd, N, N, 1, true);
  at = append(at, l->G, N, M, 1, true);
  at = append(at, l->G, N, M, 1, false);
  at = append(at, l->lc, 1, M, box->local.nu, false);
  append(at, l->ld, 1, N, box->local.nu, false);
  TES_TRY(tesi_upload_numbers(ctx, numbers, count, precision, &t->numbers[d]));
  t->arguments.numbers[d] = t->numbers[d];
done:
  tesi_free(ctx, &numbers);
  return status;
}

/* Device memory between the launches. */
static TesStatus allocate_work(TesContext *ctx, TesPrecision precision, Tables *t) {
  TesStatus status = TES_OK;
  TeskStokesBox *s = &t->arguments;
  const int dim = s->parts.dim;
  const size_t size = tesi_precision_size(precision),
               pressures = (size_t)s->modes[0] * (size_t)s->modes[1] * (size_t)s->modes[2];
  size_t lines[4], sum = 0;
  for (int i = 0; i <= dim; i++) {
    lines[i] = i < dim ? pressures / (size_t)s->modes[i] * (size_t)s->nodes[i] : pressures;
    sum += lines[i];
  }
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (2 * sum + (size_t)(dim + 1) * pressures) * size, &t->work));
  char *at = t->work;
  for (int i = 0; i <= dim; i++) {
    s->q[i] = at, at += pressures * size;
    s->lines[i] = at, at += lines[i] * size;
    if (i < dim) s->F[i] = at, at += lines[i] * size;
  }
  s->p = at;
done:
  return status;
}

static TesStatus get_kernels(const TesiCoarseStokesBox *box, TesPrecision precision, Tables *t) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  static const char *const names[KERNELS] = {"tesk_stokes_box_forward", "tesk_stokes_box_inverse",
                                             "tesk_stokes_box_lines", "tesk_stokes_box_across"};
  const TeskStokesBox *s = &t->arguments;
  const int dim = s->parts.dim;
  int numbers[KERNELS] = {0};
  int all[3] = {1, 1, 1};
  const TesiProgramDesc desc = {.file = "stokes_box.cu",
                                .real = precision,
                                .macros = {{"DIM", dim}, {"VECTORS", most_vectors(s)}, {"S_ROWS", box->rows}}};
  TesiProgram *program;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  for (int d = 0; d < dim; d++) all[d] = s->parts.extent[d][d];
  count_lines(dim, s->nodes, all, s->modes, numbers);
  numbers[INVERSE] = count_inverse(s, box->rows);
  for (int k = 0; k < KERNELS; k++) {
    t->shared[k] = (size_t)numbers[k] * tesi_precision_size(precision);
    TES_TRY(tesi_kernel_get(ctx, program, names[k], t->shared[k], &t->kernel[k]));
  }
done:
  return status;
}

/* All but S^+. */
static TesStatus create_tables(TesiCoarseStokesBox *box, const TeskStokesBox *arguments,
                               TesPrecision precision) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  Tables *t = &box->tables[precision];
  t->arguments = *arguments;
  for (int d = 0; d < 3; d++) TES_TRY(upload_axis(box, d, precision, t));
  TES_TRY(allocate_work(ctx, precision, t));
  TES_TRY(get_kernels(box, precision, t));
done:
  return status;
}

/* ---- S^+ ----------------------------------------------------------------------------------------------- */

typedef struct Schur {
  TesiKernel fill, shift;
  void *e; /* device [size]: the constant, in matrix 0; NULL: S is not singular */
  double scale;
} Schur;

static TesStatus start_schur(const TesiCoarseStokesBox *box, int size, Schur *s) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiProgramDesc desc = {.file = "stokes_schur.cu"};
  TesiProgram *program;
  TesiStokesBlock block[8];
  double *e = NULL;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_schur", 0, &s->fill));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_schur_shift", 0, &s->shift));
  if (!box->local.closed) return TES_OK;
  tesi_stokes_local_blocks(&box->local, block);
  TES_ALLOC(&e, size);
  s->scale = tesi_stokes_local_constant(&box->local, &block[0], e);
  TES_TRY(tesi_upload_numbers(ctx, e, size, TES_DOUBLE, &s->e));
done:
  tesi_free(ctx, &e);
  return status;
}

static TesStatus shift(TesContext *ctx, const Schur *s, int size, double factor, void *S) {
  TesStatus status = TES_OK;
  const unsigned groups = ((unsigned)size * (unsigned)size + TESK_SCHUR_THREADS - 1) / TESK_SCHUR_THREADS;
  void *arguments[] = {&S, (void *)&s->e, &factor, &size};
  if (s->e)
    TES_TRY(tesi_kernel_launch(ctx, &s->shift, (TesiGrid){groups, 1, 1}, TESK_SCHUR_THREADS, 0, arguments));
done:
  return status;
}

/* In float64, on the device. */
static TesStatus create_inverse(TesiCoarseStokesBox *box) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  Tables *t = &box->tables[TES_DOUBLE];
  const int size = t->arguments.size, matrices = t->arguments.matrices;
  const size_t square = (size_t)size * (size_t)size;
  const TesiGrid groups = {(unsigned)((square + TESK_SCHUR_THREADS - 1) / TESK_SCHUR_THREADS),
                           (unsigned)matrices, 1};
  Schur s = {.e = NULL};
  bool definite;
  TES_TRY(start_schur(box, size, &s));
  TES_TRY(device->allocate(ctx, (size_t)matrices * square * sizeof(double), &t->inverse));
  t->arguments.inverse = t->inverse;
  void *fill[] = {&t->arguments, &t->inverse};
  TES_TRY(tesi_kernel_launch(ctx, &s.fill, groups, TESK_SCHUR_THREADS, 0, fill));
  TES_TRY(shift(ctx, &s, size, s.scale, t->inverse));
  TES_TRY(tesi_coarse_invert(ctx, size, matrices, t->inverse, &definite));
  if (!definite) TES_FAIL(TES_INTERNAL, "a Schur complement of %d pressures is not positive definite", size);
  TES_TRY(shift(ctx, &s, size, -1 / s.scale, t->inverse));
done:
  device->release(ctx, &s.e);
  return status;
}

/* The same numbers in float32. */
static TesStatus convert_inverse(TesiCoarseStokesBox *box) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  Tables *t = &box->tables[TES_SINGLE];
  const int64_t size = t->arguments.size, numbers = t->arguments.matrices * size * size;
  TES_TRY(device->allocate(ctx, (size_t)numbers * sizeof(float), &t->inverse));
  TES_TRY(device->copy(ctx, numbers, 1, TES_DOUBLE, box->tables[TES_DOUBLE].inverse, TES_SINGLE, t->inverse));
  t->arguments.inverse = t->inverse;
done:
  return status;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

static TesStatus create_axes(TesiCoarseStokesBox *box, const TesOperator *op, Shape *shape) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  int first;
  box->local = (TesiStokesLocal){.dim = s->space->dim, .nu = s->nu, .alpha = s->alpha, .closed = op->singular};
  shape->dim = s->space->dim;
  for (int d = 0; d < 3; d++) {
    TES_TRY(tesi_coarse_stokes_axis(ctx, s, d, &first, &box->axis[d]));
    shape->same[d] = d;
    for (int e = d - 1; e >= 0 && d < shape->dim; e--)
      if (tesi_stokes_local_equal(&box->axis[e], &box->axis[d])) shape->same[d] = e;
    box->local.axis[d] = &box->axis[shape->same[d]];
    shape->modes[d] = box->axis[d].modes;
    shape->split[d] = box->local.axis[d]->symmetric;
  }
done:
  return status;
}

/* What does not depend on the precision. */
static TesStatus set_arguments(TesiCoarseStokesBox *box, const TesSpace *space, const Shape *shape,
                               TeskStokesBox *s) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  *s = (TeskStokesBox){.alpha = box->local.alpha};
  TES_TRY(tesi_rt_parts(ctx, space, &s->parts));
  set_blocks(shape, s);
  box->rows = rows_of(s->size);
  box->threads = LEAST;
  for (int d = 0; d < 3; d++) {
    const bool is_there = d < space->dim;
    s->nodes[d] = box->axis[d].nodes;
    s->first[d] = is_there ? tesi_axis_first(tesi_nodal(space, d)) : 0;
    s->modes[d] = shape->modes[d];
    const int count[TESK_BOX_KINDS] = {s->nodes[d], s->modes[d],
                                       is_there ? space->scalar[d]->axis[d].nodes : 1};
    for (int k = 0; k < TESK_BOX_KINDS; k++) s->over[k][d] = (1ull << 32) / (unsigned)count[k] + 1;
  }
  for (int own = 0; own < space->dim; own++) {
    const int lines = TESK_BOX_OUTER(space->dim) * s->modes[inner_of(space->dim, own)] * s->modes[own];
    box->threads = tesi_max(box->threads, (lines + 31) / 32 * 32);
  }
  box->threads = tesi_min(box->threads, TESK_BOX_MOST);
done:
  return status;
}

TesStatus tesi_coarse_stokes_box_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                        TesiCoarseStokesBox **result) {
  TesStatus status = TES_OK;
  TesiCoarseStokesBox *box = NULL;
  TeskStokesBox arguments;
  Shape shape;
  *result = NULL;
  TES_NEW(&box);
  box->context = tesi_context_retain(ctx);
  TES_TRY(create_axes(box, op, &shape));
  TES_TRY(set_arguments(box, tesi_stokes_of(op)->space, &shape, &arguments));
  TES_TRY(create_tables(box, &arguments, TES_DOUBLE));
  if (precision == TES_SINGLE) TES_TRY(create_tables(box, &arguments, TES_SINGLE));
  TES_TRY(create_inverse(box));
  if (precision == TES_SINGLE) TES_TRY(convert_inverse(box));
  *result = box;
  box = NULL;
done:
  tesi_coarse_stokes_box_destroy(&box);
  return status;
}

void tesi_coarse_stokes_box_destroy(TesiCoarseStokesBox **box) {
  TesiCoarseStokesBox *b = *box;
  if (!b) return;
  TesContext *ctx = b->context;
  const TesiDevice *device = tesi_context_device(ctx);
  *box = NULL;
  for (int d = 0; d < 3; d++) tesi_stokes_local_free(ctx, &b->axis[d]);
  for (int p = 0; p < 2; p++) {
    Tables *t = &b->tables[p];
    void **const all[] = {&t->numbers[0], &t->numbers[1], &t->numbers[2], &t->inverse, &t->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  }
  tesi_free(ctx, &b);
  tes_context_destroy(&ctx);
}

/* ---- a solve ------------------------------------------------------------------------------------------- */

TesStatus tesi_coarse_stokes_box_solve(TesiCoarseStokesBox *box, TesPrecision precision, const void *b,
                                       void *x) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  Tables *t = &box->tables[precision];
  const TeskStokesBox *s = &t->arguments;
  const int dim = s->parts.dim, outer = TESK_BOX_OUTER(dim);
  int most = 0;
  for (int own = 0; own < dim; own++) most = tesi_max(most, s->modes[outer_of(dim, own)]);
  const TesiGrid parts = {(unsigned)((most + outer - 1) / outer), (unsigned)dim + 1, 1},
                 rows = {(unsigned)((s->size + box->rows - 1) / box->rows), (unsigned)s->matrices, 1};
  const unsigned threads = (unsigned)box->threads, of_rows = (unsigned)box->rows * TESK_BOX_PARTS;
  void *forward[] = {&t->arguments, &b}, *across[] = {&t->arguments, &x};
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[FORWARD], parts, threads, t->shared[FORWARD], forward));
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[INVERSE], rows, of_rows, t->shared[INVERSE], forward));
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[LINES], parts, threads, t->shared[LINES], forward));
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[ACROSS], parts, threads, t->shared[ACROSS], across));
done:
  return status;
}
