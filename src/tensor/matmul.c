#include "tensor/matmul.h"

#define DECLARE(bits)                                                                                        \
  void tesi_matmul_##bits(int m, int n, int k, const double *A, ptrdiff_t lda, const double *B,              \
                          ptrdiff_t ldb, double *C, ptrdiff_t ldc);
DECLARE(128)
#if TESI_SIMD_WIDEST >= 256
DECLARE(256)
#endif
#if TESI_SIMD_WIDEST >= 512
DECLARE(512)
#endif

TesiMatmul tesi_matmul(int bits) {
#if TESI_SIMD_WIDEST >= 512
  if (bits >= 512) return tesi_matmul_512;
#endif
#if TESI_SIMD_WIDEST >= 256
  if (bits >= 256) return tesi_matmul_256;
#endif
  (void)bits;
  return tesi_matmul_128;
}
