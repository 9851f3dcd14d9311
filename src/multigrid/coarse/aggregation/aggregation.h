/* The coarsest level by smoothed aggregation (hierarchy.h): a fixed number of V-cycles, accelerated by Chebyshev
 * polynomials of the first kind, so that the solver is a symmetric linear map and conjugate gradients outside stay
 * valid.
 *
 * The matrix is that of the operator, in blocks of the components. Near-null vectors: constants, or the rigid motions
 * of elasticity. The spectrum of cycle times matrix, from a few iterations of conjugate gradients at set-up, gives the
 * interval of the polynomial and the number of cycles: the least that leaves at most a tenth of an error, 12 at most.
 * Everything is float64: on slender bodies float32 has no digit left beside a rigid motion.
 *
 * Set-up is by the host's threads. Cycles run there, or on a device by kernels that wait for nobody (cycle_device.c),
 * in the recording of the cycle around them. Both give the same bits for every number of threads. */
#ifndef TESI_AGGREGATION_H
#define TESI_AGGREGATION_H

#include "operator/operator.h"

typedef struct TesiAggregation TesiAggregation;

/* Why it does not serve an operator; NULL: it does. */
const char *tesi_aggregation_refuses(const TesOperator *op);
/* op: float64; it may be singular. */
TesStatus tesi_aggregation_create(const TesOperator *op, TesiAggregation **aggregation);
void tesi_aggregation_destroy(TesiAggregation **aggregation);
/* "2 cycles of smoothed aggregation" */
const char *tesi_aggregation_describe(const TesiAggregation *aggregation);
int tesi_aggregation_cycles(const TesiAggregation *aggregation);

/* x <- about A^-1 b, host arrays; on contexts without kernels. */
TesStatus tesi_aggregation_solve(TesiAggregation *aggregation, const double *b, double *x);
/* The same for device arrays, where the context has kernels; queued. */
TesStatus tesi_aggregation_queue(TesiAggregation *aggregation, TesPrecision precision, const void *b, void *x);

#endif
