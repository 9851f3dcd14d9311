/* The Stokes operator as kernels (src/kernels/stokes_tiles.cu, stokes.cu). */
#ifndef TESI_STOKES_DEVICE_H
#define TESI_STOKES_DEVICE_H

#include "operator/stokes/stokes_operator.h"

/* Tables on the device; op has its axes. *device is NULL after a failure. */
TesStatus tesi_stokes_device_create(const TesOperator *op, TesiStokesDevice **device);
void tesi_stokes_device_destroy(TesContext *ctx, TesiStokesDevice **device);
/* y <- b + sign K x; b NULL: zero; y may be b. */
TesStatus tesi_stokes_device_add(const TesOperator *op, const void *b, double sign, const void *x, void *y);
/* y <- K x for a float32 x, in float64 arithmetic, y of precision of_y. The first function asks for the kernels.
 * Float64 operators only. */
TesStatus tesi_stokes_device_ready_single(const TesOperator *op, TesPrecision of_y);
TesStatus tesi_stokes_device_apply_single(const TesOperator *op, const float *x, TesPrecision of_y, void *y);

/* For flows in time: see stokes_operator.h; device addresses. The kernels are asked for on first use. */
TesStatus tesi_stokes_device_add_mass(const TesOperator *op, double factor, const void *x, void *y);
TesStatus tesi_stokes_device_divergence(const TesOperator *op, const void *u, void *to, double *stretching);

#endif
