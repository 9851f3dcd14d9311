/* v <- 0 at known nodes of a Raviart-Thomas space: `count` runs of `length` entries, `stride` apart
 * (space/rt_device.h). One thread per entry; no shared memory. Bytes per entry: one number written. Macros: real. */
#include "kernel.h"

TESK_KERNEL(tesk_rt_clear, 256, 1, (real *)v, (long long)count, (long long)length, (long long)stride) {
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < count * length;
       i += (long long)gridDim.x * 256)
    v[i / length * stride + i % length] = 0;
}
