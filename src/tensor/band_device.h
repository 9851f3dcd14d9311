/* Banded matrices in device memory, for kernels. */
#ifndef TESI_BAND_DEVICE_H
#define TESI_BAND_DEVICE_H

#include "device/device.h"
#include "kernels/band_arguments.h"
#include "tensor/band.h"

/* band: after tesi_band_finish(). The arrays lie in one block of device memory, *memory, which is freed by the
 * device's table. */
TesStatus tesi_band_upload(TesContext *ctx, const TesiBand *band, TesPrecision precision, TeskBand *on_device,
                           void **memory);

#endif
