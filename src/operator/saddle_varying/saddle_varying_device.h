/* The Stokes operator with a viscosity that varies as kernels (src/kernels/saddle_varying.cu). */
#ifndef TESI_SADDLE_VARYING_DEVICE_H
#define TESI_SADDLE_VARYING_DEVICE_H

#include "operator/saddle_varying/saddle_varying.h"

/* op has its viscosity. *device is NULL after a failure. */
TesStatus tesi_saddle_varying_device_create(const TesOperator *op, TesiSaddleVaryingDevice **device);
void tesi_saddle_varying_device_destroy(TesContext *ctx, TesiSaddleVaryingDevice **device);
/* y <- b + sign K x; b NULL: zero; y may be b, not x. Device addresses. */
TesStatus tesi_saddle_varying_device_add(const TesOperator *op, const void *b, double sign, const void *x,
                                         void *y);

#endif
