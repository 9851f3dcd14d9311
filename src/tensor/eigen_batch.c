#include "tensor/eigen_batch.h"
#include "base/simd_builds.h"

bool tesi_eigen_batch_128(int n, double *K, double *M, double *S, double *lambda);
bool tesi_eigen_batch_256(int n, double *K, double *M, double *S, double *lambda);
bool tesi_eigen_batch_512(int n, double *K, double *M, double *S, double *lambda);

TesiEigenBatch tesi_eigen_batch(int bits) {
  return TESI_SIMD_PICK(bits, tesi_eigen_batch);
}
