/* The host device: OpenMP loops over plain memory. */
#include <math.h>
#include <string.h>
#include "device/device.h"

enum { BLOCK = 4096, BLOCKS = 1024, FEW = 16384 };

/* Reductions are sums over at most BLOCKS blocks, whose length depends on n alone: the same bits for any number of threads. */
static int64_t block_length(int64_t n) {
  return n <= (int64_t)BLOCK * BLOCKS ? BLOCK : (n + BLOCKS - 1) / BLOCKS;
}

/* Short vectors are done by one thread: waking the others takes longer. */
static int threads_for(const TesContext *ctx, int64_t n) {
  return n < FEW ? 1 : tes_context_threads(ctx);
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

/* Zeros, whose pages the threads touch that will work on them, and now: a solve does not wait for the system's memory. */
static TesStatus allocate(TesContext *ctx, size_t bytes, void **address) {
  enum { PART = 1 << 18 };
  const TesStatus status = tesi_alloc(ctx, bytes, 1, address);
  if (status != TES_OK || bytes <= PART) return status;
  char *const block = *address;
#pragma omp parallel for schedule(static) num_threads(tes_context_threads(ctx))
  for (size_t at = 0; at < bytes; at += PART) memset(block + at, 0, bytes - at < PART ? bytes - at : PART);
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

static TesStatus fill(TesContext *ctx, TesPrecision precision, int64_t n, double a, void *y) {
  if (precision == TES_DOUBLE)
    fill_double(threads_for(ctx, n), n, a, y);
  else
    fill_float(threads_for(ctx, n), n, (float)a, y);
  return TES_OK;
}

#define CONVERT(TX, TY, OP)                                                                                  \
  do {                                                                                                       \
    const TX *xs = x;                                                                                        \
    TY *ys = y;                                                                                              \
    _Pragma("omp parallel for simd num_threads(threads) schedule(static)") for (int64_t i = 0; i < n; i++)   \
        ys[i] OP(TY)(a * xs[i]);                                                                             \
  } while (0)

static TesStatus copy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x, TesPrecision py,
                      void *y) {
  const int threads = threads_for(ctx, n);
  if (px == TES_DOUBLE && py == TES_DOUBLE)
    CONVERT(double, double, =);
  else if (px == TES_DOUBLE)
    CONVERT(double, float, =);
  else if (py == TES_DOUBLE)
    CONVERT(float, double, =);
  else
    CONVERT(float, float, =);
  return TES_OK;
}

static TesStatus axpy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x, TesPrecision py,
                      void *y) {
  const int threads = threads_for(ctx, n);
  if (px == TES_DOUBLE && py == TES_DOUBLE)
    CONVERT(double, double, +=);
  else if (px == TES_DOUBLE)
    CONVERT(double, float, +=);
  else if (py == TES_DOUBLE)
    CONVERT(float, double, +=);
  else
    CONVERT(float, float, +=);
  return TES_OK;
}

static TesStatus xpay(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double a, void *y) {
  if (precision == TES_DOUBLE)
    xpay_double(threads_for(ctx, n), n, x, a, y);
  else
    xpay_float(threads_for(ctx, n), n, x, (float)a, y);
  return TES_OK;
}

static TesStatus multiply_add(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                              const void *d, void *y) {
  if (precision == TES_DOUBLE)
    multiply_add_double(threads_for(ctx, n), n, a, x, d, y);
  else
    multiply_add_float(threads_for(ctx, n), n, (float)a, x, d, y);
  return TES_OK;
}

static TesStatus multiply(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                          const void *d, void *y) {
  if (precision == TES_DOUBLE)
    multiply_double(threads_for(ctx, n), n, a, x, d, y);
  else
    multiply_float(threads_for(ctx, n), n, (float)a, x, d, y);
  return TES_OK;
}

static TesStatus diagonal_step(TesContext *ctx, TesPrecision precision, int64_t n, double s, const void *r,
                               const void *d, double c, void *p, double keep, void *x) {
  if (precision == TES_DOUBLE)
    diagonal_step_double(threads_for(ctx, n), n, s, r, d, c, p, keep, x);
  else
    diagonal_step_float(threads_for(ctx, n), n, (float)s, r, d, (float)c, p, (float)keep, x);
  return TES_OK;
}

static TesStatus dot(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, const void *y,
                     double *result) {
  double sums[BLOCKS];
  const int64_t block = block_length(n), blocks = (n + block - 1) / block;
  if (precision == TES_DOUBLE)
    dot_double(threads_for(ctx, n), n, x, y, sums);
  else
    dot_float(threads_for(ctx, n), n, x, y, sums);
  *result = 0;
  for (int64_t b = 0; b < blocks; b++) *result += sums[b];
  return TES_OK;
}

static TesStatus maximum(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double *result) {
  double sums[BLOCKS];
  const int64_t block = block_length(n), blocks = (n + block - 1) / block;
  if (precision == TES_DOUBLE)
    maximum_double(threads_for(ctx, n), n, x, sums);
  else
    maximum_float(threads_for(ctx, n), n, x, sums);
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
    .diagonal_step = diagonal_step,
};
