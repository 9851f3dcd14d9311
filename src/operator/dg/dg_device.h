/* The operator of discontinuous elements as a kernel (src/kernels/dg.cu). */
#ifndef TESI_DG_DEVICE_H
#define TESI_DG_DEVICE_H

#include "operator/dg/dg.h"

/* op has its axes. *device is NULL after a failure. */
TesStatus tesi_dg_device_create(const TesOperator *op, TesiDgDevice **device);
void tesi_dg_device_destroy(TesContext *ctx, TesiDgDevice **device);
/* y <- b + sign A x; b NULL: zero; y may be b. */
TesStatus tesi_dg_device_add(const TesOperator *op, const void *b, double sign, const void *x, void *y);

#endif
