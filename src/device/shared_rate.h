/* The ceiling of the second roofline of tensor-product-bp-swirydowicz-2019. */
#ifndef TESI_SHARED_RATE_H
#define TESI_SHARED_RATE_H

#include "base/base.h"

/* Bytes a second that all multiprocessors together read from shared memory, measured; 0 on a device without kernels. */
TesStatus tesi_shared_rate(TesContext *ctx, double *bytes_per_second);

#endif
