/* The loop of bench_peak_flops for one SIMD width. The chains stay in registers only if both loops over them are
 * unrolled. */
#include "kernels/peak.h"
#include "tensor/simd.h"
#include <stdint.h>

enum { CHAINS = BENCH_PEAK_CHAINS(TESI_SIMD_BITS) };
typedef double VecDouble __attribute__((vector_size(TESI_SIMD_BITS / 8)));
typedef float VecFloat __attribute__((vector_size(TESI_SIMD_BITS / 8)));

#define DEFINE_LOOP(name, Vec, Real)                                                                         \
  Real TESI_SIMD(name)(int64_t rounds);                                                                      \
  Real TESI_SIMD(name)(int64_t rounds) {                                                                     \
    Vec sum[CHAINS], scale = {0}, offset = {0};                                                              \
    scale += (Real)0.9999;                                                                                   \
    offset += (Real)0.0001;                                                                                  \
    TESI_UNROLL for (int c = 0; c < CHAINS; c++) sum[c] = offset * (Real)c;                                  \
    for (int64_t round = 0; round < rounds; round++)                                                         \
      TESI_UNROLL for (int c = 0; c < CHAINS; c++) sum[c] = sum[c] * scale + offset;                         \
    TESI_UNROLL for (int c = 1; c < CHAINS; c++) sum[0] += sum[c];                                           \
    return sum[0][0];                                                                                        \
  }

DEFINE_LOOP(bench_peak_loop_double, VecDouble, double)
DEFINE_LOOP(bench_peak_loop_float, VecFloat, float)
