#include "tensor/matmul.h"
#include "base/simd_builds.h"

#define DECLARE(bits)                                                                                        \
  void tesi_matmul_##bits(int m, int n, int k, const double *A, ptrdiff_t lda, const double *B,              \
                          ptrdiff_t ldb, double *C, ptrdiff_t ldc);
DECLARE(128)
DECLARE(256)
DECLARE(512)

TesiMatmul tesi_matmul(int bits) {
  return TESI_SIMD_PICK(bits, tesi_matmul);
}
