/* The coarsest level by smoothed aggregation (hierarchy.h): a fixed number of V-cycles, accelerated by Chebyshev
 * polynomials of the first kind, so that the solver is a symmetric linear map and conjugate gradients outside stay
 * valid.
 *
 * The matrix is the operator's matrix, with a block of all components per pair of nodes. Near-null vectors: constants,
 * or the rigid motions of elasticity. The spectrum of cycle times matrix, from a few iterations of conjugate gradients
 * at set-up, gives the interval of the polynomial and the number of cycles: the smallest number that reduces an error
 * to a tenth, but at most 12. Everything is float64: on slender bodies the digits of float32 are used up by rigid
 * motions.
 *
 * Set-up is by the host's threads. Cycles run on the host too, or on a device by kernels without synchronisation
 * (cycle_device.c), recorded with the multigrid cycle around them. Both give the same bits for every number of
 * threads. */
#ifndef TESI_AGGREGATION_H
#define TESI_AGGREGATION_H

#include "operator/operator.h"

typedef struct TesiAggregation TesiAggregation;

/* The reason why the solver does not take an operator; NULL: it takes it. */
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
