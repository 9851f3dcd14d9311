/* Generalized symmetric eigenproblems of 1D matrices, which fast diagonalization needs. */
#ifndef TESI_EIGEN_H
#define TESI_EIGEN_H

#include "base/base.h"

/* K S = M S diag(lambda), S' M S = I. K, M [n][n] symmetric, M positive definite; S[i][j]: component i of mode j,
 * ascending lambda.
 * Errors: TES_INTERNAL when M is not positive definite. Cost O(n^3) by LAPACK. */
TesStatus tesi_eigen(TesContext *ctx, int n, const double *K, const double *M, double *S, double *lambda);

/* The same for centrosymmetric K and M: modes are even or odd exactly. The first (n+1)/2 modes are even (ascending),
 * the other n/2 odd (ascending): S[n-1-i][j] = +-S[i][j] to the last bit. */
TesStatus tesi_eigen_symmetric(TesContext *ctx, int n, const double *K, const double *M, double *S,
                               double *lambda);

#endif
