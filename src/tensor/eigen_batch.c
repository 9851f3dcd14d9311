#include "tensor/eigen_batch.h"

bool tesi_eigen_batch_128(int n, double *K, double *M, double *S, double *lambda);
bool tesi_eigen_batch_256(int n, double *K, double *M, double *S, double *lambda);
bool tesi_eigen_batch_512(int n, double *K, double *M, double *S, double *lambda);

TesiEigenBatch tesi_eigen_batch(int bits) {
#if TESI_SIMD_WIDEST >= 512
  if (bits >= 512) return tesi_eigen_batch_512;
#endif
#if TESI_SIMD_WIDEST >= 256
  if (bits >= 256) return tesi_eigen_batch_256;
#endif
  (void)bits;
  return tesi_eigen_batch_128;
}
