/* Loops in recorded graphs: while nodes, of drivers from CUDA 12.4 on. */
#ifndef TESI_CUDA_LOOP_H
#define TESI_CUDA_LOOP_H

#include "device/cuda/driver.h"
#include "device/kernel.h"

enum { TESI_CUDA_LOOPS = 2 /* deep */ };

/* Begins as {0}. */
typedef struct TesiCudaLoops {
  bool asked, there;
  TesiKernel test;                      /* loop.cu */
  int depth;                            /* number of loops that are being recorded */
  TesiCuStream stream[TESI_CUDA_LOOPS]; /* streams on which bodies are recorded */
  TesiCuStream outer[TESI_CUDA_LOOPS];
  unsigned long long condition[TESI_CUDA_LOOPS];
  const int *go_on[TESI_CUDA_LOOPS];
} TesiCudaLoops;

/* Whether the driver has loops; loads the kernel that they need. The first call must not be inside a recording. */
bool tesi_cuda_loops(TesContext *ctx, const TesiCuDriver *cu, TesiCudaLoops *loops);
/* A graph of the GPU's context is being recorded on *stream. Until the end of the loop *stream is the stream of the
 * loop's body. */
TesStatus tesi_cuda_loop_begin(TesContext *ctx, const TesiCuDriver *cu, TesiCudaLoops *loops,
                               TesiCuContext context, const int *go_on, TesiCuStream *stream);
TesStatus tesi_cuda_loop_end(TesContext *ctx, const TesiCuDriver *cu, TesiCudaLoops *loops,
                             TesiCuStream *stream);
void tesi_cuda_loops_destroy(const TesiCuDriver *cu, TesiCudaLoops *loops);

#endif
