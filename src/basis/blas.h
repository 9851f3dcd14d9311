/* A check of memory that OpenBLAS needs before a call, if OpenBLAS is the library behind LAPACK. */
#ifndef TESI_BLAS_H
#define TESI_BLAS_H

#include "base/base.h"

/* To be called before LAPACK with matrices of n rows. OpenBLAS distributes even tiny matrices over all processors,
 * where its threads compete with waiting threads of OpenMP: 0.15 s of set-up on 16 processors. It also takes, and
 * keeps, a buffer of 128 MiB for each calling thread. Without memory for the buffer OpenBLAS would try for ever; this
 * function returns TES_OUT_OF_MEMORY instead. */
TesStatus tesi_blas_begin(TesContext *ctx, int n);

#endif
