/* The cycles of a hierarchy by the kernels of aggregation.cu, and the inverse of its last level by contract.cu. A cycle
 * has 9 launches on a level that is smoothed, of which a level with several cycles takes 11 a cycle, and 1 on the last.
 * Bytes: those of a matrix A six times, P and R once. */
#ifndef TESI_CYCLE_DEVICE_H
#define TESI_CYCLE_DEVICE_H

#include "multigrid/coarse/aggregation/hierarchy.h"

typedef struct TesiAggregationDevice TesiAggregationDevice;
/* hierarchy: copied, with its numbers of cycles. block: components of vectors outside, which have them one by one. */
TesStatus tesi_aggregation_device_create(TesContext *ctx, const TesiHierarchy *hierarchy, int block,
                                         TesiAggregationDevice **device);
void tesi_aggregation_device_destroy(TesContext *ctx, TesiAggregationDevice **device);
/* x <- the cycles for b, arrays of the device; queued, nothing waits. */
TesStatus tesi_aggregation_device_solve(TesiAggregationDevice *device, TesPrecision precision, const void *b,
                                        void *x);

#endif
