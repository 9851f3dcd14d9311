/* The coarsest level of a Stokes problem as one patch, by one block of a kernel, in the precision of its vectors. */
#ifndef TESI_COARSE_STOKES_DEVICE_H
#define TESI_COARSE_STOKES_DEVICE_H

#include "multigrid/coarse/coarse.h"
#include "operator/stokes/stokes_local.h"

typedef struct TesiCoarseStokesDevice TesiCoarseStokesDevice;
/* Whether the context has kernels and the level is small enough for one block. */
bool tesi_coarse_stokes_on_device(const TesOperator *op);
TesStatus tesi_coarse_stokes_device_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                           TesiCoarseStokesDevice **coarse);
void tesi_coarse_stokes_device_destroy(TesiCoarseStokesDevice **coarse);
TesStatus tesi_coarse_stokes_device_solve(TesiCoarseStokesDevice *coarse, const void *b, void *x);

/* coarse_stokes.c: direction d of the whole box; its unknown nodes are *first and those after. */
TesStatus tesi_coarse_stokes_axis(TesContext *ctx, const TesiStokes *s, int d, int *first,
                                  TesiStokesLocalAxis *local);

#endif
