/* The host device: loops of the team over plain memory. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "device/device.h"

enum { BLOCK = 4096, BLOCKS = 1024 };

/* The arguments of a vector operation, as device.h names them. In a step `a` is s, `x` is r and `y` is x of
 * device.h. */
typedef struct Job {
  double a, c, keep;
  const void *x, *d;
  void *y, *p;
  int64_t n, block; /* for reductions: sums[blocks] */
  double *sums;
} Job;

/* Reductions are sums over at most BLOCKS blocks, whose length depends on n alone: the same bits for any number of
 * threads. */
static int64_t block_length(int64_t n) {
  return n <= (int64_t)BLOCK * BLOCKS ? BLOCK : (n + BLOCKS - 1) / BLOCKS;
}

static int64_t length_of(const Job *job, int64_t block) {
  const int64_t left = job->n - block * job->block;
  return left < job->block ? left : job->block;
}

#define REAL double
#define HOST(name) name##_double
#include "device/host/host_impl.h"
#undef REAL
#undef HOST
#define REAL float
#define HOST(name) name##_float
#include "device/host/host_impl.h"
#undef REAL
#undef HOST

#define CONVERT(NAME, TX, TY, OP)                                                                            \
  static void NAME(const void *data, TesiSpan span) {                                                        \
    const Job *job = data;                                                                                   \
    const double a = job->a;                                                                                 \
    const TX *x = job->x;                                                                                    \
    TY *y = job->y;                                                                                          \
    _Pragma("omp simd") for (int64_t i = span.first; i < span.end; i++) y[i] OP(TY)(a * x[i]);               \
  }
CONVERT(copy_dd, double, double, =)
CONVERT(copy_df, double, float, =)
CONVERT(copy_fd, float, double, =)
CONVERT(copy_ff, float, float, =)
CONVERT(axpy_dd, double, double, +=)
CONVERT(axpy_df, double, float, +=)
CONVERT(axpy_fd, float, double, +=)
CONVERT(axpy_ff, float, float, +=)

static void touch(const void *data, TesiSpan span) {
  enum { PAGE = 4096 };
  const Job *job = data;
  for (int64_t i = span.first; i < span.end; i++)
    for (int64_t at = 0; at < length_of(job, i); at += PAGE)
      ((volatile char *)job->y)[i * job->block + at] = 0;
}

/* Zeros, written now by the threads that will use them: so a solve does not wait for pages of the system. */
static TesStatus allocate(TesContext *ctx, size_t bytes, void **address) {
  enum { PART = 1 << 18 };
  const TesStatus status = tesi_alloc(ctx, bytes, 1, address);
  if (status != TES_OK || bytes <= PART) return status;
  const Job job = {.y = *address, .n = (int64_t)bytes, .block = PART};
  tesi_team_for(tes_context_threads(ctx), (job.n + PART - 1) / PART, touch, &job);
  return status;
}

static void release(TesContext *ctx, void **address) {
  tesi_free(ctx, address);
}

static size_t available(TesContext *ctx) {
  (void)ctx;
  return tes_memory_available();
}

static TesStatus transfer(TesContext *ctx, void *to, const void *from, size_t bytes) {
  (void)ctx;
  memcpy(to, from, bytes);
  return TES_OK;
}

static TesStatus synchronize(TesContext *ctx) {
  (void)ctx;
  return TES_OK;
}

static TesStatus run(TesContext *ctx, int64_t n, TesiLoop *loop, Job job) {
  tesi_team_for(tesi_team_threads(ctx, n), n, loop, &job);
  return TES_OK;
}

static TesStatus fill(TesContext *ctx, TesPrecision precision, int64_t n, double a, void *y) {
  return run(ctx, n, precision == TES_DOUBLE ? fill_double : fill_float, (Job){.a = a, .y = y});
}

static TesStatus copy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x, TesPrecision py,
                      void *y) {
  static TesiLoop *const loop[2][2] = {[TES_DOUBLE] = {[TES_DOUBLE] = copy_dd, [TES_SINGLE] = copy_df},
                                       [TES_SINGLE] = {[TES_DOUBLE] = copy_fd, [TES_SINGLE] = copy_ff}};
  return run(ctx, n, loop[px][py], (Job){.a = a, .x = x, .y = y});
}

static TesStatus axpy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x, TesPrecision py,
                      void *y) {
  static TesiLoop *const loop[2][2] = {[TES_DOUBLE] = {[TES_DOUBLE] = axpy_dd, [TES_SINGLE] = axpy_df},
                                       [TES_SINGLE] = {[TES_DOUBLE] = axpy_fd, [TES_SINGLE] = axpy_ff}};
  return run(ctx, n, loop[px][py], (Job){.a = a, .x = x, .y = y});
}

static TesStatus xpay(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double a, void *y) {
  return run(ctx, n, precision == TES_DOUBLE ? xpay_double : xpay_float, (Job){.a = a, .x = x, .y = y});
}

static TesStatus multiply_add(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                              const void *d, void *y) {
  return run(ctx, n, precision == TES_DOUBLE ? multiply_add_double : multiply_add_float,
             (Job){.a = a, .x = x, .d = d, .y = y});
}

static TesStatus multiply(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                          const void *d, void *y) {
  return run(ctx, n, precision == TES_DOUBLE ? multiply_double : multiply_float,
             (Job){.a = a, .x = x, .d = d, .y = y});
}

typedef struct Combination {
  int count;
  const double *a;
  const void *const *x;
  double *y;
} Combination;

/* Piece by piece, so that the data stay in the nearest cache. */
static void combine_span(const void *data, TesiSpan span) {
  enum { PIECE = 512 };
  const Combination *c = data;
  double sum[PIECE];
  for (int64_t first = span.first; first < span.end; first += PIECE) {
    const int64_t n = first + PIECE < span.end ? PIECE : span.end - first;
    for (int k = 0; k < c->count; k++) {
      const double a = c->a[k], *x = (const double *)c->x[k] + first;
      if (k == 0)
        for (int64_t i = 0; i < n; i++) sum[i] = a * x[i];
      else
        for (int64_t i = 0; i < n; i++) sum[i] += a * x[i];
    }
    for (int64_t i = 0; i < n; i++) c->y[first + i] = sum[i];
  }
}

static TesStatus combine(TesContext *ctx, int64_t n, int count, const double *a, const void *const *x,
                         void *y) {
  tesi_team_for(tesi_team_threads(ctx, n), n, combine_span, &(Combination){count, a, x, y});
  return TES_OK;
}

static TesStatus diagonal_step(TesContext *ctx, TesPrecision precision, int64_t n,
                               const TesiDiagonalStep *step) {
  const TesiDiagonalStep *t = step;
  const TesStatus status =
      run(ctx, n, precision == TES_DOUBLE ? diagonal_step_double : diagonal_step_float,
          (Job){.a = t->s, .c = t->c, .keep = t->keep, .x = t->r, .d = t->d, .p = t->p, .y = t->x});
  return t->b && status == TES_OK ? copy(ctx, n, 1, precision, t->b, precision, t->next) : status;
}

/* job.sums[blocks]; returns how many. */
static int64_t reduce(TesContext *ctx, TesiLoop *loop, Job job) {
  job.block = block_length(job.n);
  const int64_t blocks = (job.n + job.block - 1) / job.block;
  tesi_team_for(tesi_team_threads(ctx, job.n), blocks, loop, &job);
  return blocks;
}

static double add_sums(int64_t blocks, const double *sums) {
  double sum = 0;
  for (int64_t b = 0; b < blocks; b++) sum += sums[b];
  return sum;
}

static TesStatus dot(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, const void *y,
                     double *result) {
  double sums[BLOCKS];
  const Job job = {.x = x, .y = (void *)y, .n = n, .sums = sums};
  *result = add_sums(reduce(ctx, precision == TES_DOUBLE ? dot_double : dot_float, job), sums);
  return TES_OK;
}

static TesStatus diagonal_residual(TesContext *ctx, TesPrecision precision, int64_t n, double a,
                                   const void *q, const void *d, void *r, void *z, double *rz) {
  double sums[BLOCKS];
  const Job job = {.a = a, .x = q, .d = d, .y = r, .p = z, .n = n, .sums = sums};
  *rz = add_sums(
      reduce(ctx, precision == TES_DOUBLE ? diagonal_residual_double : diagonal_residual_float, job), sums);
  return TES_OK;
}

static TesStatus maximum(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double *result) {
  double sums[BLOCKS];
  const int64_t blocks = reduce(ctx, precision == TES_DOUBLE ? maximum_double : maximum_float,
                                (Job){.x = x, .n = n, .sums = sums});
  *result = 0;
  for (int64_t b = 0; b < blocks; b++)
    if (!(sums[b] <= *result) && *result == *result) *result = sums[b]; /* a NaN stays */
  return TES_OK;
}

const TesiDevice tesi_device_host = {
    .kind = "cpu",
    .allocate = allocate,
    .release = release,
    .available = available,
    .to_device = transfer,
    .to_host = transfer,
    .synchronize = synchronize,
    .fill = fill,
    .copy = copy,
    .axpy = axpy,
    .xpay = xpay,
    .dot = dot,
    .maximum = maximum,
    .multiply_add = multiply_add,
    .multiply = multiply,
    .combine = combine,
    .diagonal_step = diagonal_step,
    .diagonal_residual = diagonal_residual,
};
