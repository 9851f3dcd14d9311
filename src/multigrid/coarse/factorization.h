/* Factors of sparse matrices: on an NVIDIA GPU by cuDSS where its library is found, unless the matrix is indefinite or
 * the context deterministic; by MUMPS on the host otherwise (mumps.h). A call of MUMPS cannot be interrupted; a
 * factorization takes about flops / 4e9 seconds (TesiFactorizationCost). */
#ifndef TESI_FACTORIZATION_H
#define TESI_FACTORIZATION_H

#include "operator/assembled/matrix.h"

typedef struct TesiFactorization TesiFactorization;

typedef enum TesiSymmetry {
  TESI_MATRIX_DEFINITE,  /* symmetric positive definite: no pivoting */
  TESI_MATRIX_SYMMETRIC, /* indefinite */
  TESI_MATRIX_GENERAL
} TesiSymmetry;

/* Predicted size of the factors. */
typedef struct TesiFactorizationCost {
  double flops,
      entries; /* of the factorization. cuDSS reports no flops: then flops of dense columns with as many entries */
  double bytes; /* peak memory during the factorization */
} TesiFactorizationCost;

/* Opens the library. NULL: this device can make factors. Else the reason: the build has no MUMPS, or this machine lacks
 * its library. */
const char *tesi_factorization_missing(const TesContext *ctx);

/* Orders the unknowns. A is copied; for symmetric kinds only its lower triangle is read. fixed[fixings]: rows and
 * columns that count as rows and columns of the identity. Errors: TES_MISSING, TES_OUT_OF_MEMORY, TES_INVALID_INPUT:
 * the matrix is too large. */
TesStatus tesi_factorization_create(TesContext *ctx, const TesiMatrix *A, TesiSymmetry kind, int fixings,
                                    const int64_t *fixed, TesiFactorization **factorization);
void tesi_factorization_destroy(TesiFactorization **factorization);
TesiFactorizationCost tesi_factorization_cost(const TesiFactorization *factorization);
/* Makes the factors. Errors: TES_OUT_OF_MEMORY, found before the factorization; TES_INVALID_INPUT: the matrix is
 * singular, or not definite. */
TesStatus tesi_factorization_compute(TesiFactorization *factorization);
/* x <- A^-1 x, host array. */
TesStatus tesi_factorization_solve(TesiFactorization *factorization, double *x);

#endif
