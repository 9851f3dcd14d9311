/* Factors of sparse matrices: on an NVIDIA GPU by cuDSS where its library is found, unless the matrix is indefinite or
 * the context deterministic; by MUMPS on the host elsewhere (mumps.h), where nothing interrupts a call: it takes about
 * flops / 4e9 seconds to factorize (TesiFactorizationCost). */
#ifndef TESI_FACTORIZATION_H
#define TESI_FACTORIZATION_H

#include "operator/assembled/matrix.h"

typedef struct TesiFactorization TesiFactorization;

typedef enum TesiSymmetry {
  TESI_MATRIX_DEFINITE,  /* symmetric positive definite: no pivots are looked for */
  TESI_MATRIX_SYMMETRIC, /* indefinite */
  TESI_MATRIX_GENERAL
} TesiSymmetry;

/* What the factors will be, before they are made. */
typedef struct TesiFactorizationCost {
  double flops,
      entries;  /* of the factors; cuDSS does not tell flops: what dense columns of as many entries take */
  double bytes; /* of all that is held while they are made */
} TesiFactorizationCost;

/* NULL: there are factors on this device. Else why not: the build has no MUMPS, or this machine lacks its library.
 * Opens it. */
const char *tesi_factorization_missing(const TesContext *ctx);

/* Orders the unknowns. A: entries below the diagonal are read alone where the kind is symmetric; copied.
 * fixed[fixings]: rows and columns that count as rows and columns of the identity. Errors: TES_MISSING,
 * TES_OUT_OF_MEMORY, TES_INVALID_INPUT: the matrix is too large. */
TesStatus tesi_factorization_create(TesContext *ctx, const TesiMatrix *A, TesiSymmetry kind, int fixings,
                                    const int64_t *fixed, TesiFactorization **factorization);
void tesi_factorization_destroy(TesiFactorization **factorization);
TesiFactorizationCost tesi_factorization_cost(const TesiFactorization *factorization);
/* The factors themselves. Errors: TES_OUT_OF_MEMORY, said before they are begun; TES_INVALID_INPUT: the matrix has no
 * inverse, or is not definite. */
TesStatus tesi_factorization_compute(TesiFactorization *factorization);
/* x <- A^-1 x, host array. */
TesStatus tesi_factorization_solve(TesiFactorization *factorization, double *x);

#endif
