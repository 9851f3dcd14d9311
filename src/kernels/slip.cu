/* y <- P y + scale (x - w) at listed nodes of vectors of DIM components, or y <- P y where scale is NULL. One thread
 * per node; each node has its own matrix P. Bytes per node: DIM^2 + 2 DIM numbers and one index, with scale 2 DIM + 1
 * numbers more. Vectors are gathered, so that they cost more than their bytes. Flops per node: 2 DIM^2, with scale
 * 3 DIM more. No shared memory; 2 DIM numbers in registers. Macros: real, DIM. */
#include "kernel.h"

TESK_KERNEL(tesk_slip, 256, 1, (real *)y, (const int *TESK_RESTRICT)node, (const real *TESK_RESTRICT)P,
            (const double *TESK_RESTRICT)scale, (const real *TESK_RESTRICT)x, (const real *TESK_RESTRICT)w,
            (long long)count, (long long)length) {
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < count; i += (long long)gridDim.x * 256) {
    real old[DIM];
    for (int c = 0; c < DIM; c++) old[c] = y[c * length + node[i]];
    for (int r = 0; r < DIM; r++) {
      const long long at = r * length + node[i];
      real sum = scale ? (real)scale[i] * (x[at] - w[at]) : 0;
      for (int c = 0; c < DIM; c++) sum += P[(r * DIM + c) * count + i] * old[c];
      y[at] = sum;
    }
  }
}
