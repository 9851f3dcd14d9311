/* The coarsest level of operators that are not symmetric: a dense factorization up to TESI_DENSE unknowns, beyond that
 * steps of their smoother. */
#ifndef TESI_COARSE_LU_H
#define TESI_COARSE_LU_H

#include "operator/operator.h"

typedef struct TesiCoarseLu TesiCoarseLu;
TesStatus tesi_coarse_lu_create(TesContext *ctx, const TesOperator *op, TesiCoarseLu **lu);
void tesi_coarse_lu_destroy(TesiCoarseLu **lu);
const char *tesi_coarse_lu_describe(const TesiCoarseLu *lu);
/* Host arrays. */
TesStatus tesi_coarse_lu_solve(TesiCoarseLu *lu, const double *b, double *x);

#endif
