/* y[z][y][x] <- scale fx[x] fy[y] fz[z] + beta y: loads and solutions in product form. Macros: real. */
#include "kernel.h"

TESK_KERNEL(tesk_outer, 256, 1, (real *)y, (const double *)fx, (const double *)fy, (const double *)fz,
            (long long)nx, (long long)ny, (long long)nz, (double)scale, (double)beta) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < nx * ny * nz;
       i += (long long)gridDim.x * blockDim.x) {
    const double product = scale * fx[i % nx] * fy[i / nx % ny] * fz[i / nx / ny];
    y[i] = (real)(beta == 0 ? product : product + beta * (double)y[i]);
  }
}
