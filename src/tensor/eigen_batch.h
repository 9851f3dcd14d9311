/* Many small generalized symmetric eigenproblems at once, one per SIMD lane. */
#ifndef TESI_EIGEN_BATCH_H
#define TESI_EIGEN_BATCH_H

#include <stdbool.h>

enum { TESI_EIGEN_LANES = 8 };

/* K S = M S diag(lambda), S' M S = I in every lane, modes in any order. Arrays aligned to 64 bytes:
 * K, M, S [n][n][TESI_EIGEN_LANES], lambda [n][TESI_EIGEN_LANES]; K and M are overwritten.
 * Cholesky factorization of M, cyclic Jacobi rotations of L^-1 K L^-T: about 6 n^3 multiply-adds per sweep, 6-9 sweeps.
 * False when M is not positive definite in some lane or the rotations do not converge (NaN). */
typedef bool (*TesiEigenBatch)(int n, double *K, double *M, double *S, double *lambda);

/* The build for SIMD vectors of this width in bits. */
TesiEigenBatch tesi_eigen_batch(int bits);

#endif
