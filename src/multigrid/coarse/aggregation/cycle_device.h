/* The cycles of a hierarchy by the kernels of aggregation.cu, and the inverse of its last level by contract.cu. With L
 * levels and k cycles: k (9 L - 6) + 1 launches. Bytes: those of the matrices A eight times, P and R once a cycle. */
#ifndef TESI_CYCLE_DEVICE_H
#define TESI_CYCLE_DEVICE_H

#include "multigrid/coarse/aggregation/hierarchy.h"

typedef struct TesiAggregationDevice TesiAggregationDevice;
typedef struct TesiAggregationDeviceDesc {
  const TesiHierarchy *hierarchy; /* copied */
  int block;                      /* components of vectors outside, which have them one by one */
  int cycles;                     /* with p <- c p + s z, x <- x + p after each */
  const double *s, *c;
} TesiAggregationDeviceDesc;

TesStatus tesi_aggregation_device_create(TesContext *ctx, const TesiAggregationDeviceDesc *desc,
                                         TesiAggregationDevice **device);
void tesi_aggregation_device_destroy(TesContext *ctx, TesiAggregationDevice **device);
/* x <- the cycles for b, arrays of the device; queued, nothing waits. */
TesStatus tesi_aggregation_device_solve(TesiAggregationDevice *device, TesPrecision precision, const void *b,
                                        void *x);

#endif
