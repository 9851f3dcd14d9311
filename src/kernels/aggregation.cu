/* Cycles of smoothed aggregation: matrices of blocks HIGH x WIDE in compressed rows. The values of a scalar row are
 * contiguous (operator/assembled/block_matrix.h), so that its lanes read them together. They are float32 within cycles
 * and float64 between cycles; vectors and sums are float64.
 *
 * tesk_rows: LANES threads per scalar row, each taking every LANES-th entry; 128 / LANES rows per block of threads. The
 * sums of threads are added in shared memory, in one order. Rows of a block row are neighbours, which read the same
 * columns and entries of x from the L1 cache. `way` says how the product q of a row is used:
 *   0  y <- q      1  y <- b - q      2  y <- y + q      3  p <- c p + s d (b - q), y <- x + p
 * so that a smoothing step is one launch. Shared: 128 numbers. Flops: 2 per entry. Bytes: 4 (8) + 4 / (HIGH
 * WIDE) per entry, and the vectors that `way` needs. The other kernels: one thread per entry.
 * Macros: real (of values, and of the vectors outside), HIGH, WIDE, LANES (a power of two up to 32). */
#include "kernel.h"

#define THREADS 128
#define ROWS (THREADS / LANES)

TESK_KERNEL(tesk_rows, THREADS, 1, (int)rows, (const int *TESK_RESTRICT)row, (const int *TESK_RESTRICT)column,
            (const real *TESK_RESTRICT)value, (const double *)x, (int)way, (const double *)b,
            (const double *)d, (double)s, (double)c, (double *)p, (double *)y) {
  TESK_SHARED(memory);
  double *const sums = (double *)memory;
  const int t = (int)threadIdx.x, lane = t % LANES;
  const long long i = (long long)blockIdx.x * ROWS + t / LANES;
  double sum = 0;
  if (i < rows) {
    const int first = row[i / HIGH], length = (row[i / HIGH + 1] - first) * WIDE;
    const real *v = value + (long long)first * (HIGH * WIDE) + i % HIGH * (long long)length;
    for (int e = lane; e < length; e += LANES)
      sum += (double)v[e] * x[(long long)column[first + e / WIDE] * WIDE + e % WIDE];
  }
  sums[t] = sum;
  for (int step = LANES / 2; step > 0; step /= 2) {
    __syncthreads();
    if (lane < step) sums[t] += sums[t + step];
  }
  if (lane > 0 || i >= rows) return;
  const double q = sums[t];
  if (way == 0) y[i] = q;
  if (way == 1) y[i] = b[i] - q;
  if (way == 2) y[i] += q;
  if (way == 3) {
    const double next = (c != 0 ? c * p[i] : 0) + s * d[i] * (b[i] - q);
    p[i] = next;
    y[i] = x[i] + next;
  }
}

/* The first smoothing step from zero: x, p <- s d b. */
TESK_KERNEL(tesk_first, THREADS, 1, (int)n, (double)s, (const double *)d, (const double *)b, (double *)p,
            (double *)x) {
  const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (i < n) x[i] = p[i] = s * d[i] * b[i];
}

/* Between cycles: p <- c p + s z, x <- x + p; c = 0: p and x are 0. */
TESK_KERNEL(tesk_advance, THREADS, 1, (int)n, (double)s, (double)c, (const double *)z, (double *)p,
            (double *)x) {
  const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (i >= n) return;
  const double next = (c != 0 ? c * p[i] : 0) + s * z[i];
  p[i] = next;
  x[i] = (c != 0 ? x[i] : 0) + next;
}

/* Components one by one become nodes one by one, and back. */
TESK_KERNEL(tesk_take, THREADS, 1, (int)nodes, (const real *)from, (double *)to) {
  const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
  for (int c = 0; c < HIGH && i < nodes; c++)
    to[(long long)i * HIGH + c] = (double)from[c * (long long)nodes + i];
}

TESK_KERNEL(tesk_give, THREADS, 1, (int)nodes, (const double *)from, (real *)to) {
  const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
  for (int c = 0; c < HIGH && i < nodes; c++)
    to[c * (long long)nodes + i] = (real)from[(long long)i * HIGH + c];
}
