/* The operator of discontinuous elements as a kernel (src/kernels/dg.cu). */
#ifndef TESI_DG_DEVICE_H
#define TESI_DG_DEVICE_H

#include "operator/dg/dg.h"

/* Whether there is a velocity, which must be constant, and the form of its term. */
typedef enum TesiDgVelocity { TESI_DG_STILL, TESI_DG_CONVECTIVE, TESI_DG_CONSERVATIVE } TesiDgVelocity;

/* op must have its axes already. *device is NULL after a failure. With a velocity, tesi_dg_device_velocity() must be
 * called next. */
TesStatus tesi_dg_device_create(const TesOperator *op, TesiDgVelocity velocity, TesiDgDevice **device);
void tesi_dg_device_destroy(TesContext *ctx, TesiDgDevice **device);
/* numbers[dim]: [TESK_DG_VELOCITY][cells] of each direction (kernels/dg_arguments.h). They replace earlier
 * numbers. */
TesStatus tesi_dg_device_velocity(TesContext *ctx, const TesSpace *space, TesiDgDevice *device,
                                  const double *const *numbers);
/* y <- b + sign A x; b NULL: zero; y may be b. */
TesStatus tesi_dg_device_add(TesContext *ctx, TesiDgDevice *device, const void *b, double sign, const void *x,
                             void *y);

#endif
