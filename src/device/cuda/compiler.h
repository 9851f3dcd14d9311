/* Remembers, beside the compiled kernels, the run-time compiler and its target for a GPU. If all kernels are in the
 * cache, the compiler need not be opened, which takes 5 ms from memory and 0.2 s from a disk. */
#ifndef TESI_CUDA_COMPILER_H
#define TESI_CUDA_COMPILER_H

#include "device/kernel.h"

/* As tesi_nvrtc_open and tesi_nvrtc_target. */
TesStatus tesi_compiler_find(TesContext *ctx, int capability, int *version, char target[32]);

#endif
