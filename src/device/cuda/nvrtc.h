/* NVIDIA's run-time compiler, opened at run time. It needs no GPU. */
#ifndef TESI_CUDA_NVRTC_H
#define TESI_CUDA_NVRTC_H

#include "device/kernel.h"

/* Opens the compiler (once per process): version = 1000 major + 10 minor. Errors: TES_MISSING with remedy. */
TesStatus tesi_nvrtc_open(TesContext *ctx, int *version);
/* The file of the opened compiler; false if it is not known. */
bool tesi_nvrtc_path(char *path, size_t size);
/* The target for a GPU of compute capability `capability` (90 for 9.0): machine code of this GPU if the compiler can
 * make it, else PTX of the newest older architecture. Errors: TES_MISSING if the compiler is too old or too new. */
TesStatus tesi_nvrtc_target(TesContext *ctx, int capability, char target[32]);
/* Compiles for a target such as "sm_90" (machine code) or "compute_90" (PTX). log: NULL, or receives the compiler's
 * report of registers, stack and spills of each kernel; to be freed with tesi_free. */
TesStatus tesi_nvrtc_compile(TesContext *ctx, const TesiCompilation *compilation, const char *target,
                             char **image, size_t *bytes, char **log);

#endif
