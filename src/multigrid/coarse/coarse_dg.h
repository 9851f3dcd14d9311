/* The coarsest level of the operator kind dg. */
#ifndef TESI_COARSE_DG_H
#define TESI_COARSE_DG_H

#include "operator/operator.h"

typedef struct TesiCoarseDg TesiCoarseDg;
TesStatus tesi_coarse_dg_create(TesContext *ctx, const TesOperator *op, TesiCoarseDg **coarse);
void tesi_coarse_dg_destroy(TesiCoarseDg **coarse);
/* Host arrays of the operator's length. */
void tesi_coarse_dg_solve(TesiCoarseDg *coarse, const double *b, double *x);

#endif
