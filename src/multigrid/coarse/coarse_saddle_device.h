/* The coarsest level of a Stokes problem as one patch, by one block of a kernel: in the precision of its vectors. */
#ifndef TESI_COARSE_SADDLE_DEVICE_H
#define TESI_COARSE_SADDLE_DEVICE_H

#include "multigrid/coarse/coarse.h"
#include "operator/saddle/saddle_local.h"

typedef struct TesiCoarseSaddleDevice TesiCoarseSaddleDevice;
/* Whether the context has kernels and the level is small enough for one block. */
bool tesi_coarse_saddle_on_device(const TesOperator *op);
TesStatus tesi_coarse_saddle_device_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                           TesiCoarseSaddleDevice **coarse);
void tesi_coarse_saddle_device_destroy(TesiCoarseSaddleDevice **coarse);
TesStatus tesi_coarse_saddle_device_solve(TesiCoarseSaddleDevice *coarse, const void *b, void *x);

/* coarse_saddle.c: direction d of the whole box; its unknown nodes are *first and those after. */
TesStatus tesi_coarse_saddle_axis(TesContext *ctx, const TesiSaddle *s, int d, int *first,
                                  TesiSaddleLocalAxis *local);

#endif
