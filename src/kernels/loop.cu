/* Whether a loop of a recorded graph goes on: one thread, which hands an integer of device memory to the graph's
 * condition. Its program alone calls a function that the driver brings, and is compiled so that this may be missing. */
#include "kernel.h"

extern "C" __device__ void cudaGraphSetConditional(unsigned long long condition, unsigned value);

TESK_KERNEL(tesk_loop_test, 32, 1, (unsigned long long)condition, (const int *)go_on) {
  if (threadIdx.x == 0) cudaGraphSetConditional(condition, *go_on != 0);
}
