/* Raviart-Thomas spaces as kernels see them. */
#ifndef TESI_RT_DEVICE_H
#define TESI_RT_DEVICE_H

#include "kernels/saddle_arguments.h"
#include "space/rt.h"

/* Refuses parts that 32 bits do not number. */
TesStatus tesi_rt_parts(TesContext *ctx, const TesiRt *rt, TeskParts *parts);
/* Entries of the largest part. */
int64_t tesi_rt_largest(const TesiRt *rt);

#endif
