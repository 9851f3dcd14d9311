/* The passes of taylor_hood.h on devices with kernels (src/kernels/taylor_hood.cu, convection.cu,
 * taylor_hood_faces.cu). */
#ifndef TESI_TAYLOR_HOOD_DEVICE_H
#define TESI_TAYLOR_HOOD_DEVICE_H

#include "operator/taylor_hood/taylor_hood.h"

/* Sets taylor_hood->device. Degrees 2 to 8 of the velocity: else TES_MISSING. */
TesStatus tesi_taylor_hood_device_create(TesiTaylorHood *taylor_hood);
void tesi_taylor_hood_device_destroy(TesContext *ctx, TesiTaylorHoodDevice **device);

TesStatus tesi_taylor_hood_device_divergence(const TesiTaylorHood *taylor_hood, const TesVector *u,
                                             TesVector *b);
TesStatus tesi_taylor_hood_device_gradient(const TesiTaylorHood *taylor_hood, const TesVector *p,
                                           TesVector *b);
TesStatus tesi_taylor_hood_device_add_gradient(const TesiTaylorHood *taylor_hood, const TesVector *p,
                                               TesVector *b);
/* b NULL: the reach of the mesh, and of_cell (may be NULL) the reach of each cell. One number is copied to the
 * host. */
TesStatus tesi_taylor_hood_device_convection(const TesiTaylorHood *taylor_hood, const TesVector *u,
                                             TesVector *b, TesVector *of_cell, double *most);
TesStatus tesi_taylor_hood_device_grad_div(const TesiTaylorHood *taylor_hood, const TesVector *gamma,
                                           const TesVector *u, TesVector *b);
/* Lists of faces in device memory, made on first use; freed with the faces. */
TesStatus tesi_taylor_hood_device_backflow(const TesiTaylorHood *taylor_hood, TesiTaylorHoodFaces *faces,
                                           const TesVector *u, TesVector *b);

#endif
