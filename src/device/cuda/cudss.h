/* Factors of sparse matrices on an NVIDIA GPU by NVIDIA's library cuDSS (version 0.7 and newer). It is opened if it is
 * found, and is never part of a build. TESSERA_LIBCUDSS names the file. */
#ifndef TESI_CUDSS_H
#define TESI_CUDSS_H

#include "base/base.h"

typedef struct TesiCudss TesiCudss;

/* Whether the library can be opened, and is new enough. */
bool tesi_cudss_available(void);

/* Compressed rows, host arrays: first [n + 1], column and value [first[n]]; copied. Definite: symmetric, only entries
 * on and below the diagonal. */
typedef struct TesiCudssDesc {
  int64_t n;
  bool definite;
  const int32_t *first, *column;
  const double *value;
} TesiCudssDesc;
/* Orders the unknowns. Errors: TES_MISSING, TES_OUT_OF_MEMORY. */
TesStatus tesi_cudss_create(TesContext *ctx, const TesiCudssDesc *desc, TesiCudss **cudss);
void tesi_cudss_destroy(TesContext *ctx, TesiCudss **cudss);
/* Number of entries of the factors, and peak bytes of device memory. */
void tesi_cudss_cost(const TesiCudss *cudss, double *entries, double *bytes);
/* Makes the factors. *pivots: number of pivots that were replaced, because they vanished or, in definite matrices, were
 * not positive. */
TesStatus tesi_cudss_compute(TesContext *ctx, TesiCudss *cudss, int *pivots);
/* x <- A^-1 x, host array. */
TesStatus tesi_cudss_solve(TesContext *ctx, TesiCudss *cudss, double *x);

#endif
