/* The coarsest level's direct solver as kernels. */
#ifndef TESI_COARSE_CUDA_H
#define TESI_COARSE_CUDA_H

#include "multigrid/diagonalization.h"

typedef struct TesiCoarseDevice TesiCoarseDevice;

/* Copies the eigenbasis to the device. precision: of the vectors to come. */
TesStatus tesi_coarse_device_create(TesContext *ctx, const TesiDiagonalization *D, TesPrecision precision,
                                    TesiCoarseDevice **device);
void tesi_coarse_device_destroy(TesiCoarseDevice **device);
/* x <- A^-1 b, device arrays of all nodes; queued, nothing waits. */
TesStatus tesi_coarse_device_solve(TesiCoarseDevice *device, const void *b, void *x);

#endif
