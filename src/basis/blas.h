/* What OpenBLAS, where that is the library behind LAPACK, is asked before it is called. */
#ifndef TESI_BLAS_H
#define TESI_BLAS_H

#include "base/base.h"

/* Before a call of LAPACK with matrices of n rows. OpenBLAS spreads even tiny ones over all processors, where its
 * threads and the waiting ones of OpenMP take turns: 0.15 s of set-up on 16 processors. And it takes a buffer of
 * 128 MiB for each thread that calls it, which it keeps; where there is no room it asks for ever: TES_OUT_OF_MEMORY. */
TesStatus tesi_blas_begin(TesContext *ctx, int n);

#endif
