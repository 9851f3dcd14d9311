/* Listed entries of a vector, one thread per entry: y[entry[i]] <- value[i], or (value NULL) 0. Bytes per entry: 16,
 * and a scattered write of 8. No shared memory. Macros: real = double. */
#include "kernel.h"

TESK_KERNEL(tesk_put_entries, 256, 1, (real *)y, (const long long *TESK_RESTRICT)entry,
            (const real *TESK_RESTRICT)value, (long long)count) {
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < count; i += (long long)gridDim.x * 256)
    y[entry[i]] = value ? value[i] : 0;
}
