/* The coarsest level of the operator kind saddle_varying. */
#ifndef TESI_COARSE_SADDLE_VARYING_H
#define TESI_COARSE_SADDLE_VARYING_H

#include "operator/operator.h"

typedef struct TesiCoarseSaddleVarying TesiCoarseSaddleVarying;
TesStatus tesi_coarse_saddle_varying_create(TesContext *ctx, const TesOperator *op,
                                            TesiCoarseSaddleVarying **coarse);
void tesi_coarse_saddle_varying_destroy(TesiCoarseSaddleVarying **coarse);
/* Host arrays of the operator's length; x at known nodes is left alone. */
void tesi_coarse_saddle_varying_solve(const TesiCoarseSaddleVarying *coarse, const double *b, double *x);

#endif
