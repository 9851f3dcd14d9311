/* Products of a vector with columns of a basis, and removal of the columns from the vector: four columns per pass,
 * float64. A thread has one entry at a time. Bytes per entry for four columns: products 48, removal 48; these are the
 * floor. Shared memory: one number per thread, for the tree of a sum. */
#include "kernel.h"

#define THREADS 256
#include "sums.h"

/* Parts of x_k . w and x_k . v, k < 4: partial[2 k], [2 k + 1] of [blocks] each. A column that is missing is x0. */
TESK_KERNEL(tesk_columns_products, THREADS, 1, (long long)n, (const double *TESK_RESTRICT)w,
            (const double *TESK_RESTRICT)v, (const double *TESK_RESTRICT)x0, (const double *TESK_RESTRICT)x1,
            (const double *TESK_RESTRICT)x2, (const double *TESK_RESTRICT)x3, (int)count, (double *)partial) {
  TESK_SHARED(memory);
  double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  FOR_EACH(i, n) {
    const double of_w = w[i], of_v = v[i], of_0 = x0[i], of_1 = x1[i], of_2 = x2[i], of_3 = x3[i];
    sum[0] += of_0 * of_w;
    sum[1] += of_0 * of_v;
    sum[2] += of_1 * of_w;
    sum[3] += of_1 * of_v;
    sum[4] += of_2 * of_w;
    sum[5] += of_2 * of_v;
    sum[6] += of_3 * of_w;
    sum[7] += of_3 * of_v;
  }
  TESK_UNROLL
  for (int m = 0; m < 8; m++) {
    if (m >= 2 * count) break; /* the whole block */
    const double total = add_threads(sum[m], (double *)memory);
    if (threadIdx.x == 0) partial[(long long)m * gridDim.x + blockIdx.x] = total;
  }
}

/* y <- y - sum of a_k x_k; partial (unless NULL): parts of its square. */
TESK_KERNEL(tesk_columns_subtract, THREADS, 1, (long long)n, (double *TESK_RESTRICT)y, (double)a0,
            (const double *TESK_RESTRICT)x0, (double)a1, (const double *TESK_RESTRICT)x1, (double)a2,
            (const double *TESK_RESTRICT)x2, (double)a3, (const double *TESK_RESTRICT)x3, (double *)partial) {
  TESK_SHARED(memory);
  double square = 0;
  FOR_EACH(i, n) {
    double value = y[i] - a0 * x0[i];
    if (x1) value -= a1 * x1[i];
    if (x2) value -= a2 * x2[i];
    if (x3) value -= a3 * x3[i];
    y[i] = value;
    square += value * value;
  }
  if (!partial) return;
  square = add_threads(square, (double *)memory);
  if (threadIdx.x == 0) partial[blockIdx.x] = square;
}

/* A block a sum: result[block] <- the sum of its parts. */
TESK_KERNEL(tesk_columns_sums, THREADS, 1, (int)parts, (const double *)partial, (double *)result) {
  TESK_SHARED(memory);
  const double sum = add_parts(partial + (long long)blockIdx.x * parts, parts, (double *)memory);
  if (threadIdx.x == 0) result[blockIdx.x] = sum;
}
