/* The ceiling of the second roofline of tensor-product-bp-swirydowicz-2019. */
#ifndef BENCH_SHARED_RATE_H
#define BENCH_SHARED_RATE_H

#include "base/base.h"

/* Measured bytes per second that all multiprocessors together read from shared memory; 0 on a device without
 * kernels. */
TesStatus bench_shared_rate(TesContext *ctx, double *bytes_per_second);

#endif
