/* The coarsest level of the operator kind stokes_varying. */
#ifndef TESI_COARSE_STOKES_VARYING_H
#define TESI_COARSE_STOKES_VARYING_H

#include "operator/operator.h"

typedef struct TesiCoarseStokesVarying TesiCoarseStokesVarying;
TesStatus tesi_coarse_stokes_varying_create(TesContext *ctx, const TesOperator *op,
                                            TesiCoarseStokesVarying **coarse);
void tesi_coarse_stokes_varying_destroy(TesiCoarseStokesVarying **coarse);
/* Host arrays of the operator's length; x at known nodes is not changed. */
void tesi_coarse_stokes_varying_solve(const TesiCoarseStokesVarying *coarse, const double *b, double *x);

#endif
