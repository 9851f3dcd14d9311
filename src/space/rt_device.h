/* Spaces of elements rt and dg as kernels see them, and vectors over them on all devices. */
#ifndef TESI_RT_DEVICE_H
#define TESI_RT_DEVICE_H

#include "kernels/stokes_arguments.h"
#include "space/space.h"

/* The unknown of element dg stands where the pressure does, behind components without entries. Refuses parts that 32
 * bits do not number. */
TesStatus tesi_rt_parts(TesContext *ctx, const TesSpace *space, TeskParts *parts);
/* Entries of the largest part. */
int64_t tesi_rt_largest(const TesSpace *space);

/* Entries of a vector over the space: `count` runs of `length`, the first one from `first` on, `stride` apart. */
typedef struct TesiRtRuns {
  int64_t first, count, length, stride;
} TesiRtRuns;
/* Known nodes: of a component those at one end of its direction. Returns for how many. */
int tesi_rt_known(const TesSpace *space, TesiRtRuns runs[6]);
/* v <- 0 at known nodes. v: device address, numbers of the precision. */
TesStatus tesi_rt_clear_on(TesContext *ctx, const TesSpace *space, TesPrecision precision, void *v);
/* p <- the constant pressure: 1 has the coefficient sqrt(volume of the cell) at the mode 0. p: device address of the
 * pressure, float64. *square: its square. */
TesStatus tesi_rt_constant_on(TesContext *ctx, const TesSpace *space, double *p, double *square);

#endif
