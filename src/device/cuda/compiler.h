/* Which run-time compiler there is and what it makes for a GPU, remembered beside the compiled kernels: a start
 * that finds all kernels in the cache need not open the compiler, which takes 5 ms from memory and 0.2 s from a
 * disk. */
#ifndef TESI_CUDA_COMPILER_H
#define TESI_CUDA_COMPILER_H

#include "device/kernel.h"

/* As tesi_nvrtc_open and tesi_nvrtc_target. */
TesStatus tesi_compiler_find(TesContext *ctx, int capability, int *version, char target[32]);

#endif
