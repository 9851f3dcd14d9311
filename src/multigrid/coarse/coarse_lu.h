/* The coarsest level of operators that are not symmetric: a dense factorization up to TESI_DENSE unknowns (on devices
 * with kernels the inverse, made by the host; a solve is one launch). Beyond that: sparse factors of discontinuous
 * elements on the host, or steps of the smoother. */
#ifndef TESI_COARSE_LU_H
#define TESI_COARSE_LU_H

#include "operator/operator.h"

typedef struct TesiCoarseLu TesiCoarseLu;
/* op: float64. On a device, solves are in `precision`. */
TesStatus tesi_coarse_lu_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                TesiCoarseLu **lu);
void tesi_coarse_lu_destroy(TesiCoarseLu **lu);
const char *tesi_coarse_lu_describe(const TesiCoarseLu *lu);
/* Arrays of the device. */
TesStatus tesi_coarse_lu_solve(TesiCoarseLu *lu, const void *b, void *x);

#endif
