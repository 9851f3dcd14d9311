/* The cycles of a hierarchy by the kernels of aggregation.cu, and the inverse of its last level by contract.cu. A
 * cycle has 9 launches on each smoothed level (11 where a level makes several cycles), and 1 on the last level.
 * Bytes: A six times, P and R once. */
#ifndef TESI_CYCLE_DEVICE_H
#define TESI_CYCLE_DEVICE_H

#include "multigrid/coarse/aggregation/hierarchy.h"

typedef struct TesiAggregationDevice TesiAggregationDevice;
/* hierarchy: copied, with its numbers of cycles. block: number of components; outer vectors are ordered component by
 * component. Several cycles on the finest level: _accelerate() after tesi_hierarchy_accelerate(). */
TesStatus tesi_aggregation_device_create(TesContext *ctx, const TesiHierarchy *hierarchy, int block,
                                         TesiAggregationDevice **device);
void tesi_aggregation_device_destroy(TesContext *ctx, TesiAggregationDevice **device);
TesStatus tesi_aggregation_device_accelerate(TesiAggregationDevice *device, const TesiHierarchy *hierarchy);
/* One cycle from zero, and the finest matrix: user is the device's hierarchy (TesiCycleOf). */
TesStatus tesi_aggregation_device_cycle(void *user, const TesVector *b, TesVector *x);
TesStatus tesi_aggregation_device_multiply(void *user, const TesVector *x, TesVector *y);
/* x <- the result of the cycles for b, arrays of the device; queued without waiting. */
TesStatus tesi_aggregation_device_solve(TesiAggregationDevice *device, TesPrecision precision, const void *b,
                                        void *x);

#endif
