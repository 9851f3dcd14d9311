#include "kernels/peak.h"
#include <math.h>
#include "base/simd_builds.h"

#define DECLARE(bits)                                                                                        \
  double bench_peak_loop_double_##bits(int64_t rounds);                                                      \
  float bench_peak_loop_float_##bits(int64_t rounds);
DECLARE(128)
DECLARE(256)
DECLARE(512)

static double run(int bits, TesPrecision precision, int64_t rounds) {
  return precision == TES_DOUBLE ? TESI_SIMD_PICK(bits, bench_peak_loop_double)(rounds)
                                 : (double)TESI_SIMD_PICK(bits, bench_peak_loop_float)(rounds);
}

TesStatus bench_peak_flops(TesContext *ctx, TesPrecision precision, double *flops_per_second) {
  const int threads = tes_context_threads(ctx), bits = tes_context_simd_bits(ctx);
  const int64_t rounds = 400000;
  double best = 0, check = 0;
  for (int repeat = 0; repeat < 8; repeat++) {
    const double start = tesi_now();
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : check)
    for (int thread = 0; thread < threads; thread++) check += run(bits, precision, rounds);
    const double lanes = bits / (precision == TES_DOUBLE ? 64.0 : 32.0);
    best = fmax(best, 2 * BENCH_PEAK_CHAINS(bits) * lanes * (double)rounds * threads / (tesi_now() - start));
  }
  *flops_per_second = isfinite(check) ? best : 0;
  return TES_OK;
}

TesStatus bench_peak_bandwidth(TesContext *ctx, double *bytes_per_second) {
  TesStatus status = TES_OK;
  const int threads = tes_context_threads(ctx);
  const int64_t n = (256 << 20) / (int64_t)sizeof(double);
  double *x = NULL, *y = NULL;
  *bytes_per_second = 0;
  TES_ALLOC(&x, n);
  TES_ALLOC(&y, n);
  for (int repeat = 0; repeat < 8; repeat++) {
    const double start = tesi_now();
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + 0.5 * y[i];
    *bytes_per_second = fmax(*bytes_per_second, 3.0 * 8 * (double)n / (tesi_now() - start));
  }
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &y);
  return status;
}
