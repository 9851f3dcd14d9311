#include "multigrid/coarse/coarse_saddle_box.h"
#include "device/kernel.h"
#include "device/upload.h"
#include "kernels/saddle_box_arguments.h"
#include "multigrid/coarse/coarse_saddle_device.h"
#include "space/rt_device.h"

enum {
  THREADS = 128, /* as in saddle_box.cu */
  ROWS = 2,
  S_ROWS = 16,
  PARTS = 16,
  MODES = 80,       /* of a direction: tables in shared memory */
  NUMBERS = 1 << 18 /* of S^+: a microsecond from L2, and some milliseconds to invert on the host */
};
enum { FORWARD, INVERSE, LINES, ACROSS, KERNELS };

/* What there is for vectors of one precision. */
typedef struct Tables {
  TesiKernel kernel[KERNELS];
  size_t shared[KERNELS];
  TeskSaddleBox arguments;
  void *numbers[2], *inverse, *work; /* device */
} Tables;

struct TesiCoarseSaddleBox {
  TesContext *context;
  TesiSaddleLocalAxis axis[3];
  TesiSaddleBlock block[8];
  int blocks;
  bool has[2];
  Tables tables[2]; /* by precision */
};

/* ---- whom it serves ------------------------------------------------------------------------------------ */

/* Whether a direction is its own mirror image, with nodes known at both ends. */
static bool is_mirrored(const TesiRtAxis *a) {
  bool same = !a->periodic && a->cells % 2 == 0 && a->normal[0] && a->normal[1] &&
              a->tangential[0] == a->tangential[1];
  for (int c = 0; c < a->cells && same; c++) same = a->h[c] == a->h[a->cells - 1 - c];
  return same;
}

bool tesi_coarse_saddle_box_serves(const TesiRt *rt) {
  double numbers = 1;
  if (rt->dim != 2 || rt->scalar) return false;
  for (int d = 0; d < 2; d++) {
    const double modes = rt->axis[d].modes;
    if (modes > MODES) return false;
    numbers *= modes * modes / (is_mirrored(&rt->axis[d]) ? 2 : 1);
  }
  return numbers <= NUMBERS;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static double *append(double *at, const double *from, int rows, int columns, double factor, bool turned) {
  for (int i = 0; i < rows * columns; i++)
    at[i] = factor * (turned ? from[i % rows * columns + i / rows] : from[i]);
  return at + rows * columns;
}

/* As TeskSaddleBox says. */
static TesStatus upload_axis(const TesiCoarseSaddleBox *box, double nu, int d, TesPrecision precision,
                             Tables *t) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiSaddleLocalAxis *l = &box->axis[d];
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
  at = append(at, l->lc, 1, M, nu, false);
  append(at, l->ld, 1, N, nu, false);
  TES_TRY(tesi_upload_numbers(ctx, numbers, count, precision, &t->numbers[d]));
  t->arguments.numbers[d] = t->numbers[d];
  t->arguments.nodes[d] = M;
  t->arguments.modes[d] = N;
  t->arguments.split[d] = l->symmetric;
done:
  tesi_free(ctx, &numbers);
  return status;
}

/* Device memory between the launches. */
static TesStatus allocate_work(TesContext *ctx, TesPrecision precision, Tables *t) {
  TesStatus status = TES_OK;
  TeskSaddleBox *s = &t->arguments;
  const size_t size = tesi_precision_size(precision), pressures = (size_t)(s->modes[0] * s->modes[1]);
  size_t lines[3] = {(size_t)(s->nodes[0] * s->modes[1]), (size_t)(s->nodes[1] * s->modes[0]), pressures};
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (2 * lines[0] + 2 * lines[1] + 5 * pressures) * size,
                                             &t->work));
  char *at = t->work;
  for (int i = 0; i < 3; i++) {
    s->q[i] = at, at += pressures * size;
    s->lines[i] = at, at += lines[i] * size;
    if (i < 2) s->F[i] = at, at += lines[i] * size;
  }
  s->p = at;
done:
  return status;
}

static TesStatus get_kernels(TesContext *ctx, TesPrecision precision, int block, Tables *t) {
  TesStatus status = TES_OK;
  static const char *const names[KERNELS] = {"tesk_saddle_box_forward", "tesk_saddle_box_inverse",
                                             "tesk_saddle_box_lines", "tesk_saddle_box_across"};
  const TesiProgramDesc desc = {.file = "saddle_box.cu",
                                .options = {precision == TES_SINGLE ? "real=float" : "real=double"}};
  const TeskSaddleBox *s = &t->arguments;
  const size_t size = tesi_precision_size(precision);
  TesiProgram *program;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  t->shared[INVERSE] = (size_t)(block + S_ROWS * PARTS) * size;
  for (int part = 0; part < 3; part++) {
    const int own = part == 1, N = s->modes[own], n = part < 2 ? s->nodes[own] : N,
              others = s->modes[1 - own], tables = n * n + (part < 2 ? n * N : 0),
              numbers[KERNELS] = {[FORWARD] = others * (n | 1) + tables + (others + 2 * n) * ROWS,
                                  [LINES] = tables + (N + n) * ROWS,
                                  [ACROSS] = others * (n + ROWS)};
    for (int k = 0; k < KERNELS; k++)
      if ((size_t)numbers[k] * size > t->shared[k]) t->shared[k] = (size_t)numbers[k] * size;
  }
  for (int k = 0; k < KERNELS; k++)
    TES_TRY(tesi_kernel_get(ctx, program, names[k], t->shared[k], &t->kernel[k]));
done:
  return status;
}

/* S[numbers]: all blocks. */
static TesStatus create_tables(const TesOperator *op, TesPrecision precision, const double *S,
                               int64_t numbers, TesiCoarseSaddleBox *box) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSaddle *s = tesi_saddle_of(op);
  Tables *t = &box->tables[precision];
  box->has[precision] = true;
  TES_TRY(tesi_rt_parts(ctx, s->rt, &t->arguments.parts));
  t->arguments.alpha = s->alpha;
  for (int d = 0; d < 2; d++) {
    t->arguments.first[d] = tesi_rt_first(&s->rt->axis[d]);
    TES_TRY(upload_axis(box, s->nu, d, precision, t));
  }
  TES_TRY(tesi_upload_numbers(ctx, S, numbers, precision, &t->inverse));
  t->arguments.inverse = t->inverse;
  TES_TRY(allocate_work(ctx, precision, t));
  TES_TRY(get_kernels(ctx, precision, box->block[0].size, t));
done:
  return status;
}

TesStatus tesi_coarse_saddle_box_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                        TesiCoarseSaddleBox **result) {
  TesStatus status = TES_OK;
  const TesiSaddle *s = tesi_saddle_of(op);
  TesiCoarseSaddleBox *box = NULL;
  double *S = NULL;
  int first;
  *result = NULL;
  TES_NEW(&box);
  box->context = tesi_context_retain(ctx);
  for (int d = 0; d < 3; d++) TES_TRY(tesi_coarse_saddle_axis(ctx, s, d, &first, &box->axis[d]));
  const TesiSaddleLocal local = {.dim = 2,
                                 .axis = {&box->axis[0], &box->axis[1], &box->axis[2]},
                                 .nu = s->nu,
                                 .alpha = s->alpha,
                                 .closed = op->singular};
  box->blocks = tesi_saddle_local_blocks(&local, box->block);
  const int64_t size = (int64_t)box->block[0].size * box->block[0].size;
  TES_ALLOC(&S, box->blocks * size);
  TES_TRY(tesi_saddle_local_invert_blocks(ctx, &local, box->blocks, box->block, S));
  TES_TRY(create_tables(op, TES_DOUBLE, S, box->blocks * size, box));
  if (precision == TES_SINGLE) TES_TRY(create_tables(op, TES_SINGLE, S, box->blocks * size, box));
  *result = box;
  box = NULL;
done:
  tesi_free(ctx, &S);
  tesi_coarse_saddle_box_destroy(&box);
  return status;
}

void tesi_coarse_saddle_box_destroy(TesiCoarseSaddleBox **box) {
  TesiCoarseSaddleBox *b = *box;
  if (!b) return;
  TesContext *ctx = b->context;
  const TesiDevice *device = tesi_context_device(ctx);
  *box = NULL;
  for (int d = 0; d < 3; d++) tesi_saddle_local_free(ctx, &b->axis[d]);
  for (int p = 0; p < 2; p++) {
    Tables *t = &b->tables[p];
    void **const all[] = {&t->numbers[0], &t->numbers[1], &t->inverse, &t->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  }
  tesi_free(ctx, &b);
  tes_context_destroy(&ctx);
}

/* ---- a solve ------------------------------------------------------------------------------------------- */

TesStatus tesi_coarse_saddle_box_solve(TesiCoarseSaddleBox *box, TesPrecision precision, const void *b,
                                       void *x) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  Tables *t = &box->tables[precision];
  int size = box->block[0].size;
  const int most = tesi_max(t->arguments.modes[0], t->arguments.modes[1]);
  const TesiGrid parts = {(unsigned)(most + ROWS - 1) / ROWS, 3, 1},
                 rows = {(unsigned)(size + S_ROWS - 1) / S_ROWS, (unsigned)box->blocks, 1};
  void *forward[] = {&t->arguments, &b}, *inverse[] = {&t->arguments, &size}, *across[] = {&t->arguments, &x};
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[FORWARD], parts, THREADS, t->shared[FORWARD], forward));
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[INVERSE], rows, S_ROWS * PARTS, t->shared[INVERSE], inverse));
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[LINES], parts, THREADS, t->shared[LINES], forward));
  TES_TRY(tesi_kernel_launch(ctx, &t->kernel[ACROSS], parts, THREADS, t->shared[ACROSS], across));
done:
  return status;
}
