/* iso.h by kernels (src/kernels/iso.cu). */
#ifndef TESI_ISO_DEVICE_H
#define TESI_ISO_DEVICE_H

#include "operator/iso/iso.h"

typedef struct TesiIsoDevice TesiIsoDevice;

TesStatus tesi_iso_device_create(const TesiIso *iso, TesiIsoDevice **device);
void tesi_iso_device_destroy(TesiIsoDevice **device);
TesStatus tesi_iso_device_momentum(TesiIsoDevice *device, const TesiIso *iso, const TesiIsoStep *step);
TesStatus tesi_iso_device_divergence(TesiIsoDevice *device, const TesiIso *iso, double scale,
                                     const TesVector *u, TesVector *b);
TesStatus tesi_iso_device_pressure(TesiIsoDevice *device, const TesiIso *iso, double rate, const TesVector *q,
                                   const TesVector *b, TesVector *p, TesVector *s);
TesStatus tesi_iso_device_embed(TesiIsoDevice *device, const TesVector *s, TesVector *w);

#endif
