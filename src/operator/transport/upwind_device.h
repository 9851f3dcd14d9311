/* Transport between discontinuous elements on devices with kernels (src/kernels/upwind.cu). */
#ifndef TESI_UPWIND_DEVICE_H
#define TESI_UPWIND_DEVICE_H

#include "operator/operator.h"

struct TesiTransport;
typedef struct TesiUpwindDevice TesiUpwindDevice;

/* To be called when the numbers at the points and the speeds at faces are filled. Degrees up to 8: else
 * TES_MISSING. */
TesStatus tesi_upwind_device_create(const TesOperator *op, struct TesiTransport *transport,
                                    TesiUpwindDevice **device);
void tesi_upwind_device_destroy(TesContext *ctx, TesiUpwindDevice **device);
/* The numbers of another velocity. */
TesStatus tesi_upwind_device_fill(TesContext *ctx, struct TesiTransport *transport, TesiUpwindDevice *device);
/* y += sign T x, device arrays of the operator's precision. */
TesStatus tesi_upwind_device_add(TesContext *ctx, const TesiUpwindDevice *device, double sign, const void *x,
                                 void *y);
/* (b.n) and weights at the faces of cells, of the operator's precision: [cells, or 1 (then *step is 0)][2 dim][points
 * of a face]. */
const void *tesi_upwind_device_speed(const TesiUpwindDevice *device, int64_t *step);

#endif
