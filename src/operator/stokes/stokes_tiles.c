#include "operator/stokes/stokes_tiles.h"
#include <string.h>
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "device/upload.h"
#include "operator/stokes/stokes_faces.h"
#include "space/rt_device.h"

enum { DEGREES = 4, MOST = DEGREES + 1, NODES = MOST + 1 };

/* The cut of the kernel, by precision and n: pairs of cells in the directions across, blocks per multiprocessor. */
typedef struct Cut {
  int across[2], blocks;
} Cut;
static const Cut cuts[2][MOST + 1] = {
    {{{0}, 0}, {{0}, 0}, {{4, 2}, 4}, {{4, 2}, 3}, {{4, 2}, 2}, {{4, 1}, 4}},
    {{{0}, 0}, {{0}, 0}, {{4, 2}, 4}, {{4, 2}, 4}, {{4, 2}, 4}, {{4, 2}, 2}}};

struct TesiStokesTiles {
  TesPrecision precision;
  TesiKernel kernel, single[2]; /* single: for a float32 x, by the precision of y */
  TeskStokesTiles arguments;
  double reference[2 * MOST + MOST * MOST + 2 * NODES * NODES + MOST * NODES]; /* numbers of the precision */
  void *numbers[3], *derivative;                                               /* device */
  unsigned threads;
  size_t shared;
};

bool tesi_stokes_tiles_serve(const TesOperator *op) {
  const TesSpace *space = tesi_stokes_of(op)->space;
  return space->dim == 3 && space->degree >= 1 && space->degree < MOST;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static TesStatus make_axis(const TesOperator *op, int d, TesiStokesTiles *tiles) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *a = &tesi_stokes_of(op)->axis[d].nodal;
  TeskStokesTiles *arguments = &tiles->arguments;
  TES_TRY(tesi_stokes_faces_upload(op, d, &tiles->numbers[d]));
  arguments->numbers[d] = tiles->numbers[d];
  arguments->cells[d] = a->cells;
  arguments->periodic[d] = a->periodic;
  arguments->known[d][0] = tesi_axis_first(a) > 0;
  arguments->known[d][1] = tesi_axis_end(a) < a->nodes;
done:
  return status;
}

/* In the order of `Reference` in the kernel's text. */
static TesStatus make_reference(const TesOperator *op, TesiStokesTiles *tiles) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int n = tesi_stokes_of(op)->space->degree + 1, p = n + 1;
  double nodes[NODES], points[NODES], weights[NODES], slopes[NODES * NODES], l[MOST];
  double *const mass = tiles->reference + tesi_stokes_faces_modes(n, tiles->reference),
                *const stiffness = mass + p * p, *const derivative = stiffness + p * p;
  const int size = 2 * n + n * n + 2 * p * p + n * p;
  tesi_cell_matrices(n, mass, stiffness);
  tesi_gauss_lobatto(p, nodes, NULL);
  tesi_gauss(p, points, weights);
  tesi_lagrange(p, nodes, p, points, NULL, slopes);
  for (int g = 0; g < p; g++) {
    tesi_rt_legendre(n, 1, points[g], l, NULL);
    for (int q = 0; q < n; q++)
      for (int j = 0; j < p; j++) derivative[q * p + j] += weights[g] * l[q] * slopes[g * p + j];
  }
  TES_TRY(tesi_upload_numbers(ctx, derivative, n * p, op->precision, &tiles->derivative));
  tiles->arguments.derivative = tiles->derivative;
  for (int i = 0; i < size && op->precision == TES_SINGLE; i++) {
    const float narrow = (float)tiles->reference[i];
    memcpy((float *)tiles->reference + i, &narrow, sizeof narrow);
  }
done:
  return status;
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* As many cells along the component as a line holds, tiles of nearly the same length. */
static void make_tiles(const Cut *cut, int n, TeskStokesTiles *s) {
  const int most = (TESK_TILES_LINE - 1) / n - 1;
  for (int i = 0; i < 3; i++) {
    int all = 1, across = 0;
    for (int d = 0; d < 3; d++) {
      const int parts = (s->cells[d] + most - 1) / most;
      s->span[i][d] = d == i ? (s->cells[d] + parts - 1) / parts : cut->across[across++];
      s->tiles[i][d] = (s->cells[d] + s->span[i][d] - 1) / s->span[i][d];
      all *= s->tiles[i][d];
    }
    if (all > s->most) s->most = all;
  }
}

/* The distance between modes in shared memory, chosen so that a warp uses all banks in any stage. */
static int mode_pitch(int n, int pairs) {
  return (pairs * TESK_TILES_PITCH / 8 + 1) * 8 + (n % 2 ? 4 : 2);
}

static const Cut *cut_of(const TesOperator *op) {
  return &cuts[op->precision][tesi_stokes_of(op)->space->degree + 1];
}

/* x and y: precisions of the two vectors. */
static TesStatus get_kernel(const TesOperator *op, const TesiStokesTiles *tiles, TesPrecision x,
                            TesPrecision y, TesiKernel *kernel) {
  static const char *const ins[] = {"in_real=double", "in_real=float"}, *const outs[] = {"out_real=double",
                                                                                         "out_real=float"};
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const Cut *cut = cut_of(op);
  const int n = tesi_stokes_of(op)->space->degree + 1;
  const TesiProgramDesc desc = {.file = "stokes_tiles.cu",
                                .real = op->precision,
                                .types = {ins[x], outs[y]},
                                .macros = {{"N", n},
                                           {"ACROSS_A", cut->across[0]},
                                           {"ACROSS_B", cut->across[1]},
                                           {"MIN_BLOCKS", cut->blocks},
                                           {"MODE", mode_pitch(n, cut->across[0] * cut->across[1])}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_tiles", tiles->shared, kernel));
done:
  return status;
}

TesStatus tesi_stokes_tiles_create(const TesOperator *op, TesiStokesTiles **result) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const Cut *cut = cut_of(op);
  const int n = s->space->degree + 1, pairs = cut->across[0] * cut->across[1];
  TesiStokesTiles *tiles = NULL;
  *result = NULL;
  TES_NEW(&tiles);
  tiles->precision = op->precision;
  tiles->arguments.alpha = s->alpha;
  TES_TRY(tesi_rt_parts(ctx, s->space, &tiles->arguments.parts));
  for (int d = 0; d < 3; d++) TES_TRY(make_axis(op, d, tiles));
  TES_TRY(make_reference(op, tiles));
  make_tiles(cut, n, &tiles->arguments);
  tiles->threads = (unsigned)(TESK_TILES_LINE * pairs);
  tiles->shared = (size_t)(2 * n * n * mode_pitch(n, pairs)) * tesi_precision_size(op->precision);
  TES_TRY(get_kernel(op, tiles, op->precision, op->precision, &tiles->kernel));
  *result = tiles;
  tiles = NULL;
done:
  tesi_stokes_tiles_destroy(ctx, &tiles);
  return status;
}

void tesi_stokes_tiles_destroy(TesContext *ctx, TesiStokesTiles **tiles) {
  TesiStokesTiles *t = *tiles;
  const TesiDevice *table = tesi_context_device(ctx);
  if (!t) return;
  for (int d = 0; d < 3; d++) table->release(ctx, &t->numbers[d]);
  table->release(ctx, &t->derivative);
  tesi_free(ctx, tiles);
}

static TesStatus launch(const TesOperator *op, TesiStokesTiles *t, const TesiKernel *kernel, const void *b,
                        double sign, const void *x, void *y) {
  int keep = b != NULL;
  float single = (float)sign;
  void *arguments[] = {&x,
                       &b,
                       &y,
                       &t->arguments,
                       t->reference,
                       &keep,
                       t->precision == TES_SINGLE ? (void *)&single : (void *)&sign};
  return tesi_kernel_launch(op->context, kernel, (TesiGrid){4 * (unsigned)t->arguments.most, 1, 1},
                            t->threads, t->shared, arguments);
}

TesStatus tesi_stokes_tiles_add(const TesOperator *op, TesiStokesTiles *t, const void *b, double sign,
                                const void *x, void *y) {
  return launch(op, t, &t->kernel, b, sign, x, y);
}

TesStatus tesi_stokes_tiles_ready_single(const TesOperator *op, TesiStokesTiles *t, TesPrecision of_y) {
  return get_kernel(op, t, TES_SINGLE, of_y, &t->single[of_y]);
}

TesStatus tesi_stokes_tiles_apply_single(const TesOperator *op, TesiStokesTiles *t, const float *x,
                                         TesPrecision of_y, void *y) {
  return launch(op, t, &t->single[of_y], NULL, 1, x, y);
}
