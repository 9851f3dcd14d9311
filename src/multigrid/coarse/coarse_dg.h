/* The coarsest level of the operator kind dg. */
#ifndef TESI_COARSE_DG_H
#define TESI_COARSE_DG_H

#include "operator/operator.h"
#include "space/space.h"

typedef struct TesiCoarseDg TesiCoarseDg;
/* precision: of vectors that are not float64. */
TesStatus tesi_coarse_dg_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                TesiCoarseDg **coarse);
void tesi_coarse_dg_destroy(TesiCoarseDg **coarse);
/* Whether kernels can solve it: there are few modes in every direction. */
bool tesi_coarse_dg_serves(const TesSpace *space);
/* Whether they do. */
bool tesi_coarse_dg_on_device(const TesiCoarseDg *coarse);
TesStatus tesi_coarse_dg_solve_device(TesiCoarseDg *coarse, const TesVector *b, TesVector *x);
/* Without kernels: host arrays of the operator's length. */
void tesi_coarse_dg_solve(TesiCoarseDg *coarse, const double *b, double *x);

#endif
