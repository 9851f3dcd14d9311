/* How many threads OpenBLAS, where that is the library behind LAPACK, may take. */
#ifndef TESI_BLAS_H
#define TESI_BLAS_H

/* Before a call of LAPACK with matrices of n rows. OpenBLAS spreads even tiny ones over all processors, where its
 * threads and the waiting ones of OpenMP take turns: 0.15 s of set-up on 16 processors. */
void tesi_blas_size(int n);

#endif
