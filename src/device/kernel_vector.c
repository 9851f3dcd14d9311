/* Vector operations by kernels (src/kernels/vector.cu). Reductions: up to 1024 blocks leave partial sums, one block
 * adds them; the order of the additions depends on n alone. */
#include "device/kernel.h"

enum { THREADS = 256, BLOCKS = 1024 };

typedef enum Operation {
  FILL,
  COPY,
  AXPY,
  XPAY,
  MULTIPLY_ADD,
  MULTIPLY,
  COMBINE,
  STEP,
  DOT,
  SUM,
  MAXIMUM,
  LARGEST,
  COMBINE_PAIR,
  DIFFERENCE,
  SPLIT_SUMS,
  INVERT,
  DOT_OWNED,
  OPERATIONS
} Operation;
static const char *const names[OPERATIONS] = {
    "tesk_fill",     "tesk_copy",     "tesk_axpy",         "tesk_xpay",       "tesk_multiply_add",
    "tesk_multiply", "tesk_combine",  "tesk_step",         "tesk_dot",        "tesk_sum",
    "tesk_maximum",  "tesk_largest",  "tesk_combine_pair", "tesk_difference", "tesk_split_sums",
    "tesk_invert",   "tesk_dot_owned"};

static TesStatus get(TesContext *ctx, TesPrecision px, TesPrecision py, Operation operation,
                     TesiKernel **kernel) {
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  TesiProgram *program;
  *kernel = &state->vector[px][py][operation];
  if ((*kernel)->entry) goto done;
  const TesiProgramDesc desc = {
      .file = "vector.cu", .real = px, .types = {py == TES_DOUBLE ? "real_out=double" : "real_out=float"}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, names[operation], THREADS * sizeof(double), *kernel));
done:
  return status;
}

static TesStatus run(TesContext *ctx, TesPrecision px, TesPrecision py, Operation operation, int64_t n,
                     void **arguments) {
  TesStatus status = TES_OK;
  TesiKernel *kernel;
  TES_TRY(get(ctx, px, py, operation, &kernel));
  TES_TRY(tesi_kernel_launch(ctx, kernel, tesi_grid_most(n, THREADS, 8 * BLOCKS), THREADS, 0, arguments));
done:
  return status;
}

TesStatus tesi_kernel_fill(TesContext *ctx, TesPrecision precision, int64_t n, double a, void *y) {
  long long count = n;
  void *arguments[] = {&count, &a, &y};
  return run(ctx, precision, precision, FILL, n, arguments);
}

TesStatus tesi_kernel_copy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x,
                           TesPrecision py, void *y) {
  long long count = n;
  void *arguments[] = {&count, &a, &x, &y};
  return run(ctx, px, py, COPY, n, arguments);
}

TesStatus tesi_kernel_axpy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x,
                           TesPrecision py, void *y) {
  long long count = n;
  void *arguments[] = {&count, &a, &x, &y};
  return run(ctx, px, py, AXPY, n, arguments);
}

TesStatus tesi_kernel_xpay(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double a,
                           void *y) {
  long long count = n;
  void *arguments[] = {&count, &x, &a, &y};
  return run(ctx, precision, precision, XPAY, n, arguments);
}

TesStatus tesi_kernel_multiply_add(TesContext *ctx, TesPrecision precision, int64_t n, double a,
                                   const void *x, const void *d, void *y) {
  long long count = n;
  void *arguments[] = {&count, &a, &x, &d, &y};
  return run(ctx, precision, precision, MULTIPLY_ADD, n, arguments);
}

TesStatus tesi_kernel_combine(TesContext *ctx, int64_t n, int count, const double *a, const void *const *x,
                              void *y) {
  long long entries = n;
  double factor[TESI_COMBINED] = {0};
  const void *from[TESI_COMBINED] = {NULL};
  void *arguments[2 + 2 * TESI_COMBINED] = {&entries, &y};
  for (int i = 0; i < TESI_COMBINED; i++) {
    if (i < count) factor[i] = a[i], from[i] = x[i];
    arguments[2 + 2 * i] = &factor[i];
    arguments[3 + 2 * i] = &from[i];
  }
  return run(ctx, TES_DOUBLE, TES_DOUBLE, COMBINE, n, arguments);
}

TesStatus tesi_kernel_combine_pair(TesContext *ctx, int64_t n, int count, const double *a, const double *b,
                                   const void *const *x, void *y, void *z) {
  long long entries = n;
  double factor[2 * TESI_PAIRED] = {0};
  const void *from[TESI_PAIRED] = {NULL};
  void *arguments[3 + 3 * TESI_PAIRED] = {&entries, &y, &z};
  for (int i = 0; i < TESI_PAIRED; i++) {
    if (i < count) factor[2 * i] = a[i], factor[2 * i + 1] = b[i], from[i] = x[i];
    arguments[3 + 3 * i] = &from[i];
    arguments[4 + 3 * i] = &factor[2 * i];
    arguments[5 + 3 * i] = &factor[2 * i + 1];
  }
  return run(ctx, TES_DOUBLE, TES_DOUBLE, COMBINE_PAIR, n, arguments);
}

/* Partial sums of a reduction, or of two at once, then the results. */
TesStatus tesi_kernel_reserve(TesContext *ctx) {
  TesiKernelState *state = tesi_context_device_state(ctx);
  if (state->partial) return TES_OK;
  return tesi_context_device(ctx)->allocate(ctx, 2 * (BLOCKS + 1) * sizeof(double), &state->partial);
}

static int blocks_of(int64_t n) {
  const int64_t wanted = (n + THREADS - 1) / THREADS;
  return wanted < 1 ? 1 : wanted < BLOCKS ? (int)wanted : BLOCKS;
}

/* first: `results` values per block into state->partial, one behind the values of the other blocks; second: a block
 * each reduces these to result[results]. arguments: of the first. */
static TesStatus reduce(TesContext *ctx, TesPrecision precision, Operation first, Operation second,
                        int blocks, void **arguments, int results, double *result) {
  TesStatus status = TES_OK;
  const TesiKernelState *state = tesi_context_device_state(ctx);
  const TesiDevice *device = tesi_context_device(ctx);
  TesiKernel *kernel;
  const size_t shared = THREADS * sizeof(double);
  double *partial = state->partial, *sums = partial + 2 * BLOCKS;
  void *final_arguments[] = {&blocks, &partial, &sums};
  TES_TRY(get(ctx, precision, precision, first, &kernel));
  TES_TRY(tesi_kernel_launch(ctx, kernel, (TesiGrid){(unsigned)blocks, 1, 1}, THREADS, shared, arguments));
  TES_TRY(get(ctx, precision, precision, second, &kernel));
  TES_TRY(
      tesi_kernel_launch(ctx, kernel, (TesiGrid){(unsigned)results, 1, 1}, THREADS, shared, final_arguments));
  TES_TRY(device->to_host(ctx, result, sums, (size_t)results * sizeof *result));
done:
  return status;
}

/* One result of two vectors. r: NULL, or what is written besides. */
static TesStatus reduce_pair(TesContext *ctx, TesPrecision precision, Operation first, Operation second,
                             int64_t n, const void *x, const void *y, void *r, double *result) {
  TesStatus status = TES_OK;
  const TesiKernelState *state = tesi_context_device_state(ctx);
  long long count = n;
  TES_TRY(tesi_kernel_reserve(ctx));
  double *partial = state->partial;
  void *plain[] = {&count, &x, &y, &partial}, *writing[] = {&count, &x, &y, &r, &partial};
  TES_TRY(reduce(ctx, precision, first, second, blocks_of(n), r ? writing : plain, 1, result));
done:
  return status;
}

TesStatus tesi_kernel_dot(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, const void *y,
                          double *result) {
  return reduce_pair(ctx, precision, DOT, SUM, n, x, y, NULL, result);
}

TesStatus tesi_kernel_dot_owned(TesContext *ctx, TesPrecision precision, int64_t n, const TeskOwned *own,
                                const void *x, const void *y, double *result) {
  TesStatus status = TES_OK;
  const TesiKernelState *state = tesi_context_device_state(ctx);
  long long count = n;
  TeskOwned owned = *own;
  TES_TRY(tesi_kernel_reserve(ctx));
  double *partial = state->partial;
  void *arguments[] = {&count, &owned, &x, &y, &partial};
  TES_TRY(reduce(ctx, precision, DOT_OWNED, SUM, blocks_of(n), arguments, 1, result));
done:
  return status;
}

TesStatus tesi_kernel_maximum(TesContext *ctx, TesPrecision precision, int64_t n, const void *x,
                              double *result) {
  return reduce_pair(ctx, precision, MAXIMUM, LARGEST, n, x, x, NULL, result);
}

TesStatus tesi_kernel_difference(TesContext *ctx, int64_t n, const void *x, const void *y, void *r,
                                 double *square) {
  return reduce_pair(ctx, TES_DOUBLE, DIFFERENCE, SUM, n, x, y, r, square);
}

TesStatus tesi_kernel_split_sums(TesContext *ctx, int64_t n, int64_t split, const void *x, const void *b,
                                 const void *r, double sums[2]) {
  TesStatus status = TES_OK;
  const TesiKernelState *state = tesi_context_device_state(ctx);
  long long count = n, first = split;
  TES_TRY(tesi_kernel_reserve(ctx));
  double *partial = state->partial;
  void *arguments[] = {&count, &first, &x, &b, &r, &partial};
  TES_TRY(reduce(ctx, TES_DOUBLE, SPLIT_SUMS, SUM, blocks_of(n), arguments, 2, sums));
done:
  return status;
}

TesStatus tesi_kernel_multiply(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                               const void *d, void *y) {
  long long count = n;
  void *arguments[] = {&count, &a, &x, &d, &y};
  return run(ctx, precision, precision, MULTIPLY, n, arguments);
}

TesStatus tesi_kernel_invert(TesContext *ctx, TesPrecision precision, int64_t n, void *y) {
  long long count = n;
  return run(ctx, precision, precision, INVERT, n, (void *[]){&count, &y});
}

TesStatus tesi_kernel_diagonal_step(TesContext *ctx, TesPrecision precision, int64_t n,
                                    const TesiDiagonalStep *step) {
  long long count = n;
  TesiDiagonalStep t = *step;
  void *arguments[] = {&count, &t.s, &t.r, &t.q, &t.d, &t.c, &t.p, &t.keep, &t.x, &t.b, &t.next};
  return run(ctx, precision, precision, STEP, n, arguments);
}
