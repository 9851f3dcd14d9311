#include "basis/eigen.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "basis/blas.h"

TesStatus tesi_eigen(TesContext *ctx, int n, const double *K, const double *M, double *S, double *lambda) {
  enum { LARGE = 128 };
  TesStatus status = TES_OK;
  double *factor = NULL;
  TES_ALLOC(&factor, n * n);
  memcpy(S, K, sizeof *S * (size_t)(n * n));
  memcpy(factor, M, sizeof *M * (size_t)(n * n));
  /* LAPACK's row-major wrapper returns the vectors in the columns of S[i][j]. Divide and conquer is faster from some
   * hundred rows on. */
  TES_TRY(tesi_blas_begin(ctx, n));
  const int info = n < LARGE ? LAPACKE_dsygv(LAPACK_ROW_MAJOR, 1, 'V', 'U', n, S, n, factor, n, lambda)
                             : LAPACKE_dsygvd(LAPACK_ROW_MAJOR, 1, 'V', 'U', n, S, n, factor, n, lambda);
  if (info != 0) TES_FAIL(TES_INTERNAL, "the 1D eigenproblem of size %d failed (LAPACK dsygv: %d)", n, info);
  for (int j = 0; j < n; j++) { /* a sign that does not depend on the library */
    int largest = 0;
    for (int i = 1; i < n; i++)
      if (fabs(S[i * n + j]) > fabs(S[largest * n + j]) * (1 + 1e-8)) largest = i;
    if (S[largest * n + j] < 0)
      for (int i = 0; i < n; i++) S[i * n + j] = -S[i * n + j];
  }
done:
  tesi_free(ctx, &factor);
  return status;
}

/* Folds A[n][n] to the space of even (sign = 1) or odd (sign = -1) vectors, spanned by e_i + sign e_{n-1-i}. */
static void fold(int n, int half, int sign, const double *A, double *F) {
  for (int i = 0; i < half; i++)
    for (int j = 0; j < half; j++) {
      const int mi = n - 1 - i, mj = n - 1 - j;
      double sum = A[i * n + j];
      if (mj != j) sum += sign * A[i * n + mj];
      if (mi != i) sum += sign * A[mi * n + j] + (mj != j ? A[mi * n + mj] : 0);
      F[i * half + j] = sum;
    }
}

TesStatus tesi_eigen_symmetric(TesContext *ctx, int n, const double *K, const double *M, double *S,
                               double *lambda) {
  TesStatus status = TES_OK;
  double *K_half = NULL, *M_half = NULL, *S_half = NULL;
  const int even = (n + 1) / 2;
  TES_ALLOC(&K_half, even * even);
  TES_ALLOC(&M_half, even * even);
  TES_ALLOC(&S_half, even * even);
  for (int sign = 1, first = 0; sign >= -1; sign -= 2) {
    const int half = sign > 0 ? even : n / 2;
    if (half == 0) break;
    fold(n, half, sign, K, K_half);
    fold(n, half, sign, M, M_half);
    TES_TRY(tesi_eigen(ctx, half, K_half, M_half, S_half, lambda + first));
    for (int j = 0; j < half; j++) {
      if (sign < 0 && n % 2) S[n / 2 * n + first + j] = 0;
      for (int i = 0; i < half; i++) {
        S[(n - 1 - i) * n + first + j] = sign * S_half[i * half + j];
        S[i * n + first + j] = S_half[i * half + j];
      }
    }
    first = half;
  }
done:
  tesi_free(ctx, &K_half);
  tesi_free(ctx, &M_half);
  tesi_free(ctx, &S_half);
  return status;
}
