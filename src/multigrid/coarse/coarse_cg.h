/* The coarsest level of a mesh of many trees on a device with kernels: conjugate gradients with the diagonal, in
 * float64. The device itself decides when to end, so that a cycle never waits for the host. */
#ifndef TESI_COARSE_CG_H
#define TESI_COARSE_CG_H

#include "operator/operator.h"

typedef struct TesiCoarseCg TesiCoarseCg;

/* op: float64, kept; it may be singular. */
TesStatus tesi_coarse_cg_create(const TesOperator *op, TesiCoarseCg **cg);
void tesi_coarse_cg_destroy(TesiCoarseCg **cg);
/* x <- about A^-1 b; vectors of any precision. For the tolerance see coarse_cg.c. */
TesStatus tesi_coarse_cg_solve(TesiCoarseCg *cg, const TesVector *b, TesVector *x);

#endif
