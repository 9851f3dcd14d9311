/* The kernels of this folder, which the library does not contain. */
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

#include "device/kernel.h"

/* A program of the kernel file desc->file of this folder. */
TesStatus bench_program_get(TesContext *ctx, const TesiProgramDesc *desc, TesiProgram **program);

#endif
