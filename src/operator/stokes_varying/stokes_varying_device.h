/* Kernels of the Stokes operator with a varying viscosity (src/kernels/stokes_varying.cu). */
#ifndef TESI_STOKES_VARYING_DEVICE_H
#define TESI_STOKES_VARYING_DEVICE_H

#include "operator/stokes_varying/stokes_varying.h"

/* op must have its viscosity already. *device is NULL after a failure. */
TesStatus tesi_stokes_varying_device_create(const TesOperator *op, TesiStokesVaryingDevice **device);
void tesi_stokes_varying_device_destroy(TesContext *ctx, TesiStokesVaryingDevice **device);
/* y <- b + sign K x; b NULL: zero. y may be b but not x. Device addresses. */
TesStatus tesi_stokes_varying_device_add(const TesOperator *op, const void *b, double sign, const void *x,
                                         void *y);

#endif
