/* Products of small dense matrices on one thread, for the coarsest level: the threads of a BLAS would compete with
 * the threads of OpenMP. */
#ifndef TESI_MATMUL_H
#define TESI_MATMUL_H

#include <stddef.h>

/* C[m][n] = A[m][k] B[k][n], row-major, lda, ldb, ldc numbers from row to row; C overlaps neither A nor B. */
typedef void (*TesiMatmul)(int m, int n, int k, const double *A, ptrdiff_t lda, const double *B,
                           ptrdiff_t ldb, double *C, ptrdiff_t ldc);

/* The build for SIMD vectors of this width in bits. */
TesiMatmul tesi_matmul(int bits);

#endif
