#include "kernels/peak.h"
#include <math.h>
#include "base/simd_builds.h"
#include "base/team.h"

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

typedef struct Flops {
  int bits;
  TesPrecision precision;
  int64_t rounds;
  double *result; /* [threads] */
} Flops;

static void run_loops(const void *data, TesiSpan span) {
  const Flops *f = data;
  for (int64_t i = span.first; i < span.end; i++) f->result[i] = run(f->bits, f->precision, f->rounds);
}

TesStatus bench_peak_flops(TesContext *ctx, TesPrecision precision, double *flops_per_second) {
  const int threads = tes_context_threads(ctx), bits = tes_context_simd_bits(ctx);
  TesStatus status = TES_OK;
  const int64_t rounds = 400000;
  double best = 0, *result = NULL;
  *flops_per_second = 0;
  TES_ALLOC(&result, threads);
  for (int repeat = 0; repeat < 8; repeat++) {
    const double start = tesi_now();
    tesi_team_for(threads, threads, run_loops, &(Flops){bits, precision, rounds, result});
    const double lanes = bits / (precision == TES_DOUBLE ? 64.0 : 32.0);
    best = fmax(best, 2 * BENCH_PEAK_CHAINS(bits) * lanes * (double)rounds * threads / (tesi_now() - start));
  }
  if (isfinite(result[0])) *flops_per_second = best;
done:
  tesi_free(ctx, &result);
  return status;
}

typedef struct Stream {
  const double *x;
  double *y;
} Stream;

static void stream(const void *data, TesiSpan span) {
  const double *x = ((const Stream *)data)->x;
  double *y = ((const Stream *)data)->y;
#pragma omp simd
  for (int64_t i = span.first; i < span.end; i++) y[i] = x[i] + 0.5 * y[i];
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
    tesi_team_for(threads, n, stream, &(Stream){x, y});
    *bytes_per_second = fmax(*bytes_per_second, 3.0 * 8 * (double)n / (tesi_now() - start));
  }
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &y);
  return status;
}
