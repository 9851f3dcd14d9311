/* Whether a loop of a recorded graph goes on: one thread, which hands an integer of device memory to the graph's
 * condition. This is the only program that calls a function of the driver; it is compiled so that the function may be
 * missing. */
#include "kernel.h"

extern "C" __device__ void cudaGraphSetConditional(unsigned long long condition, unsigned value);

TESK_KERNEL(tesk_loop_test, 32, 1, (unsigned long long)condition, (const int *)go_on) {
  if (threadIdx.x == 0) cudaGraphSetConditional(condition, *go_on != 0);
}
