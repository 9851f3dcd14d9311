/* A device without a GPU, "nvrtc:sm_XY": kernels are compiled for that target and reported (registers, stack,
 * spills), never run.
 * For CI, and to fill a cache for another machine. */
#ifndef TESI_CUDA_REHEARSAL_H
#define TESI_CUDA_REHEARSAL_H

#include "device/device.h"

TesStatus tesi_rehearsal_open(TesContext *ctx, const char *target);

#endif
