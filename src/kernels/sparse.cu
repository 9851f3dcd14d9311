/* y = A x for a matrix in compressed rows. LANES threads share a row, each with every LANES-th entry; a block has 128
 * / LANES rows. The sums of the threads are added in shared memory. Shared: 128 numbers. Flops: 2 per entry. Bytes: 4
 * + sizeof(real) per entry, 4 per row, the vectors. Macros: real, LANES (a power of two up to 32). */
#include "kernel.h"

#define THREADS 128
#define ROWS (THREADS / LANES)

TESK_KERNEL(tesk_sparse, THREADS, 1, (int)rows, (const int *TESK_RESTRICT)row,
            (const int *TESK_RESTRICT)column, (const real *TESK_RESTRICT)value, (const real *TESK_RESTRICT)x,
            (real *)y) {
  TESK_SHARED(sums);
  const int t = (int)threadIdx.x, lane = t % LANES;
  const long long i = (long long)blockIdx.x * ROWS + t / LANES;
  real sum = 0;
  if (i < rows) {
    const int end = row[i + 1];
    for (int e = row[i] + lane; e < end; e += LANES) sum += value[e] * x[column[e]];
  }
  sums[t] = sum;
  for (int step = LANES / 2; step > 0; step /= 2) {
    __syncthreads();
    if (lane < step) sums[t] += sums[t + step];
  }
  if (lane == 0 && i < rows) y[i] = sums[t];
}
