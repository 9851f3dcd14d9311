/* Elasticity on devices with kernels (src/kernels/elasticity.cu, elasticity_corners.cu,
 * elasticity_diagonal.cu). */
#ifndef TESI_ELASTICITY_DEVICE_H
#define TESI_ELASTICITY_DEVICE_H

#include "operator/operator.h"

typedef struct TesiElasticityDevice TesiElasticityDevice;

/* Makes the device's part of a plan whose entries are listed. g has the numbers, [cell][entry][point], or once per
 * cell. Degrees up to 8: else TES_MISSING. May be destroyed after failure too. */
TesStatus tesi_elasticity_device_create(const TesOperator *op, const void *g, TesiElasticityDevice **device);
void tesi_elasticity_device_destroy(TesContext *ctx, TesiElasticityDevice **device);
/* y += sign A x. Given entries of x count as 0, and their rows are rows of the identity; with `every`, no entry
 * counts as given. */
TesStatus tesi_elasticity_device_add(TesContext *ctx, const TesiElasticityDevice *device, bool every,
                                     double sign, const void *x, void *y);
/* The diagonal without springs; 1 at given entries. */
TesStatus tesi_elasticity_device_diagonal(TesContext *ctx, const TesiElasticityDevice *device, void *d);
/* Cells per block, and its threads. */
void tesi_elasticity_device_cut(const TesiElasticityDevice *device, int *cells, int *threads);

#endif
