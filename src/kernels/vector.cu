/* Vector operations, y in real_out, x in real. Floor: the bytes of the vectors. Macros: real, real_out. */
#include "kernel.h"

#define THREADS 256
#include "sums.h"
#define ranked 1
#include "owned.h"

TESK_KERNEL(tesk_fill, THREADS, 1, (long long)n, (double)a, (real_out *)y) {
  FOR_EACH(i, n) y[i] = (real_out)a;
}

TESK_KERNEL(tesk_copy, THREADS, 1, (long long)n, (double)a, (const real *)x, (real_out *)y) {
  FOR_EACH(i, n) y[i] = (real_out)(a * (double)x[i]);
}

TESK_KERNEL(tesk_axpy, THREADS, 1, (long long)n, (double)a, (const real *)x, (real_out *)y) {
  FOR_EACH(i, n) y[i] += (real_out)(a * (double)x[i]);
}

TESK_KERNEL(tesk_xpay, THREADS, 1, (long long)n, (const real *)x, (double)a, (real_out *)y) {
  FOR_EACH(i, n) y[i] = (real_out)(x[i] + (real)a * y[i]);
}

TESK_KERNEL(tesk_multiply_add, THREADS, 1, (long long)n, (double)a, (const real *)x, (const real *)d,
            (real_out *)y) {
  FOR_EACH(i, n) y[i] += (real_out)((real)a * x[i] * d[i]);
}

/* y may be x. */
TESK_KERNEL(tesk_multiply, THREADS, 1, (long long)n, (double)a, (const real *)x, (const real *)d,
            (real_out *)y) {
  FOR_EACH(i, n) y[i] = (real_out)((real)a * x[i] * d[i]);
}

/* For float32 numbers too the reciprocals are computed in float64, then rounded. */
TESK_KERNEL(tesk_invert, THREADS, 1, (long long)n, (real_out *)y) {
  FOR_EACH(i, n) y[i] = (real_out)(1 / (double)y[i]);
}

/* y <- the sum of a_i x_i; NULL ends the list. y may be one of the x_i. */
TESK_KERNEL(tesk_combine, THREADS, 1, (long long)n, (double *)y, (double)a0, (const double *)x0, (double)a1,
            (const double *)x1, (double)a2, (const double *)x2, (double)a3, (const double *)x3, (double)a4,
            (const double *)x4) {
  FOR_EACH(i, n) {
    double sum = a0 * x0[i];
    if (x1) sum += a1 * x1[i];
    if (x2) sum += a2 * x2[i];
    if (x3) sum += a3 * x3[i];
    if (x4) sum += a4 * x4[i];
    y[i] = sum;
  }
}

/* y <- the sum of a_i x_i, z <- the sum of b_i x_i; the first NULL ends the list. Float64. */
TESK_KERNEL(tesk_combine_pair, THREADS, 1, (long long)n, (double *TESK_RESTRICT)y, (double *TESK_RESTRICT)z,
            (const double *TESK_RESTRICT)x0, (double)a0, (double)b0, (const double *TESK_RESTRICT)x1,
            (double)a1, (double)b1, (const double *TESK_RESTRICT)x2, (double)a2, (double)b2) {
  FOR_EACH(i, n) {
    const double v0 = x0[i], v1 = x1 ? x1[i] : 0, v2 = x2 ? x2[i] : 0;
    y[i] = a0 * v0 + a1 * v1 + a2 * v2;
    z[i] = b0 * v0 + b1 * v1 + b2 * v2;
  }
}

/* TesiDiagonalStep of device.h; b NULL: no next, which may be r; p NULL: not kept. Bytes per entry: 8 numbers at most.
 */
TESK_KERNEL(tesk_step, THREADS, 1, (long long)n, (double)s, (const real *)r, (const real *)q, (const real *)d,
            (double)c, (real *)p, (double)keep, (real *)x, (const real *)b, (real *)next) {
  FOR_EACH(i, n) {
    const real add = (real)s * (q ? r[i] - q[i] : r[i]) * d[i], step = c == 0 ? add : (real)c * p[i] + add;
    if (p) p[i] = step;
    x[i] = keep == 0 ? step : (real)keep * x[i] + step;
    if (b) next[i] = b[i];
  }
}

/* The larger of a and b; NaN if a or b is NaN, so that tests of the maximum fail on NaN. */
TESK_DEVICE double larger(double a, double b) {
  return a >= b || a != a ? a : b;
}

/* sums[0] <- the largest of the threads' values, for the first thread. */
TESK_DEVICE void take_larger(double value, double *sums) {
  const int t = (int)threadIdx.x;
  sums[t] = value;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] = larger(sums[t], sums[t + half]);
  }
}

/* One sum per block; the order of additions does not depend on the schedule. */
TESK_KERNEL(tesk_dot, THREADS, 1, (long long)n, (const real *)x, (const real *)y, (double *)partial) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, sum = 0;
  FOR_EACH(i, n) sum += (double)x[i] * (double)y[i];
  add_to_first(sum, sums);
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

TESK_KERNEL(tesk_dot_owned, THREADS, 1, (long long)n, (TeskOwned)own, (const real *)x, (const real *)y,
            (double *)partial) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, sum = 0;
  FOR_EACH(i, n) if (owns(&own, i)) sum += (double)x[i] * (double)y[i];
  add_to_first(sum, sums);
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

/* r <- x - y, and one sum of squares per block, like tesk_dot; float64. */
TESK_KERNEL(tesk_difference, THREADS, 1, (long long)n, (const double *TESK_RESTRICT)x,
            (const double *TESK_RESTRICT)y, (double *TESK_RESTRICT)r, (double *)partial) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, sum = 0;
  FOR_EACH(i, n) {
    const double value = x[i] - y[i];
    r[i] = value;
    sum += value * value;
  }
  add_to_first(sum, sums);
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

/* partial[block]: x.(b - r) over i < split; behind all of these, r.r over the other i. 24 and 8 bytes per entry. */
TESK_KERNEL(tesk_split_sums, THREADS, 1, (long long)n, (long long)split, (const double *TESK_RESTRICT)x,
            (const double *TESK_RESTRICT)b, (const double *TESK_RESTRICT)r, (double *)partial) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, product = 0, square = 0;
  FOR_EACH(i, split) product += x[i] * (b[i] - r[i]);
  FOR_EACH(i, n - split) square += r[split + i] * r[split + i];
  product = add_threads(product, sums);
  square = add_threads(square, sums);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = product;
    partial[gridDim.x + blockIdx.x] = square;
  }
}

/* result[block]: the sum of the n numbers partial[block]. */
TESK_KERNEL(tesk_sum, THREADS, 1, (int)n, (const double *)partial, (double *)result) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, sum = 0;
  const int t = (int)threadIdx.x;
  for (int i = t; i < n; i += THREADS) sum += partial[blockIdx.x * n + i];
  add_to_first(sum, sums);
  if (t == 0) result[blockIdx.x] = sums[0];
}

/* NaN if a value is NaN or infinite, as on the host. */
TESK_KERNEL(tesk_maximum, THREADS, 1, (long long)n, (const real *)x, (const real *)unused, (double *)partial) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, largest = 0;
  (void)unused;
  FOR_EACH(i, n) {
    const double v = x[i] < 0 ? -(double)x[i] : (double)x[i];
    largest = larger(largest, v + 0 * v);
  }
  take_larger(largest, sums);
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

TESK_KERNEL(tesk_largest, THREADS, 1, (int)n, (const double *)partial, (double *)result) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, largest = 0;
  const int t = (int)threadIdx.x;
  for (int i = t; i < n; i += THREADS) largest = larger(largest, partial[i]);
  take_larger(largest, sums);
  if (t == 0) *result = sums[0];
}
