/* The passes of mixed.h on devices with kernels (src/kernels/mixed.cu, convection.cu, mixed_faces.cu). */
#ifndef TESI_MIXED_DEVICE_H
#define TESI_MIXED_DEVICE_H

#include "operator/mixed/mixed.h"

/* Sets mixed->device. Degrees 2 to 8 of the velocity: else TES_MISSING. */
TesStatus tesi_mixed_device_create(TesiMixed *mixed);
void tesi_mixed_device_destroy(TesContext *ctx, TesiMixedDevice **device);

TesStatus tesi_mixed_device_divergence(const TesiMixed *mixed, const TesVector *u, TesVector *b);
TesStatus tesi_mixed_device_gradient(const TesiMixed *mixed, const TesVector *p, TesVector *b);
TesStatus tesi_mixed_device_add_gradient(const TesiMixed *mixed, const TesVector *p, TesVector *b);
/* b NULL: the reach of the mesh, and of_cell (may be NULL) the reach of each cell. One number comes to the host. */
TesStatus tesi_mixed_device_convection(const TesiMixed *mixed, const TesVector *u, TesVector *b,
                                       TesVector *of_cell, double *most);
TesStatus tesi_mixed_device_grad_div(const TesiMixed *mixed, const TesVector *gamma, const TesVector *u,
                                     TesVector *b);
/* Lists of faces in device memory, made when first asked for; freed with the faces. */
TesStatus tesi_mixed_device_backflow(const TesiMixed *mixed, TesiMixedFaces *faces, const TesVector *u,
                                     TesVector *b);

#endif
