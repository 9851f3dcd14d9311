/* The transport term on devices with kernels (src/kernels/transport.cu). */
#ifndef TESI_TRANSPORT_DEVICE_H
#define TESI_TRANSPORT_DEVICE_H

#include "operator/operator.h"

struct TesiTransport;
typedef struct TesiTransportDevice TesiTransportDevice;

/* To be called when the numbers at the points are filled. Degrees up to 8: else TES_MISSING. */
TesStatus tesi_transport_device_create(const TesOperator *op, struct TesiTransport *transport,
                                       TesiTransportDevice **device);
void tesi_transport_device_destroy(TesContext *ctx, TesiTransportDevice **device);
/* Replaces the numbers; their arrays have the same shape. */
TesStatus tesi_transport_device_fill(TesContext *ctx, struct TesiTransport *transport,
                                     TesiTransportDevice *device);
/* y += sign T x on device arrays of the operator's precision. mass: T is what streamline terms add to a mass.
 * every: values at given nodes count too. */
TesStatus tesi_transport_device_add(TesContext *ctx, const TesiTransportDevice *device, bool mass, bool every,
                                    double sign, const void *x, void *y);

#endif
