/* kernel.h for the emulator: the declarations of src/device/emulator/fiber.c for kernels compiled as C. */
#ifndef TESK_EMULATOR_H
#define TESK_EMULATOR_H

typedef struct TeskDim {
  unsigned x, y, z;
} TeskDim;

typedef struct TeskKernel {
  const char *name;
  void (*thunk)(void **arguments);
  int max_threads, count;
  const unsigned *sizes; /* [count] of the arguments, in bytes */
} TeskKernel;

typedef struct TeskEmulator {
  TeskDim thread, block, block_size, grid_size; /* of the running thread, rewritten at each switch */
  void *shared; /* the block's memory, filled with NaN before the block starts */
  void (*barrier)(const char *file, int line);
} TeskEmulator;

#ifndef TESK_EMULATOR_HOST
#include <math.h>  /* expressions of the user's */
#include <sched.h> /* TESK_YIELD */
#define TESK_EXPORT __attribute__((visibility("default")))
static TeskEmulator *tesk_emulator;
TESK_EXPORT void tesk_bind(TeskEmulator *emulator) {
  tesk_emulator = emulator;
}
#define threadIdx (tesk_emulator->thread)
#define blockIdx (tesk_emulator->block)
#define blockDim (tesk_emulator->block_size)
#define gridDim (tesk_emulator->grid_size)
#define __syncthreads() tesk_emulator->barrier(__FILE__, __LINE__)
#endif

#endif
