/* A start of least residual (krylov/least.h) without a number on the host: x <- base + sum c_i (v_i - v_(i+1))
 * and r <- of_base - sum c_i a_i. Vector kernels are grid-stride loops, one thread per entry at a time.
 *   products      parts of all a_i . a_j and a_i . r; partial[TESK_LEAST * TESK_LEAST_ROW][TESK_PARTS]
 *   coefficients  one block: adds the parts in their order, solves for c
 *   combine       x and r
 * Bytes per entry with k directions: products 8 k + 8, combine 16 k + 40. Flops per entry: k (k + 3), 4 k. Shared
 * memory: the tree of a sum. */
#include "kernel.h"
#include "krylov_arguments.h"
#include "least_arguments.h"

#define THREADS 256
#include "sums.h"

TESK_KERNEL(tesk_least_products, THREADS, 1, (long long)n, (TeskLeast)least, (const double *)r,
            (double *)partial) {
  TESK_SHARED(memory);
  double sum[TESK_LEAST * TESK_LEAST_ROW] = {0};
  FOR_EACH(i, n) {
    double a[TESK_LEAST];
    const double residual = r[i];
    TESK_UNROLL
    for (int k = 0; k < TESK_LEAST; k++) a[k] = k < least.count ? least.image[k][i] : 0;
    TESK_UNROLL
    for (int k = 0; k < TESK_LEAST; k++) {
      TESK_UNROLL
      for (int j = 0; j <= k; j++) sum[TESK_LEAST_ROW * k + j] += a[k] * a[j];
      sum[TESK_LEAST_ROW * k + TESK_LEAST] += a[k] * residual;
    }
  }
  TESK_UNROLL
  for (int k = 0; k < TESK_LEAST * TESK_LEAST_ROW; k++) {
    if (k / TESK_LEAST_ROW >= least.count) break; /* the whole block */
    const double total = add_threads(sum[k], (double *)memory);
    if (threadIdx.x == 0) partial[k * TESK_PARTS + blockIdx.x] = total;
  }
}

TESK_KERNEL(tesk_least_coefficients, THREADS, 1, (int)parts, (int)count, (const double *)partial, (double *)c) {
  TESK_SHARED(memory);
  double product[TESK_LEAST * TESK_LEAST_ROW];
  for (int k = 0; k < count * TESK_LEAST_ROW; k++)
    product[k] = add_parts(partial + k * TESK_PARTS, parts, (double *)memory);
  if (threadIdx.x == 0) least_coefficients(count, product, c);
}

TESK_KERNEL(tesk_least_combine, THREADS, 1, (long long)n, (TeskLeast)least, (const double *)c,
            (const double *)base, (const double *)of_base, (double *)x, (double *)r) {
  double factor[TESK_LEAST];
  TESK_UNROLL
  for (int k = 0; k < TESK_LEAST; k++) factor[k] = k < least.count ? c[k] : 0;
  FOR_EACH(i, n) {
    double to = base[i], residual = of_base[i], newer = least.solution[0][i];
    TESK_UNROLL
    for (int k = 0; k < TESK_LEAST; k++) {
      if (k >= least.count) break;
      const double older = least.solution[k + 1][i];
      to += factor[k] * (newer - older);
      residual -= factor[k] * least.image[k][i];
      newer = older;
    }
    x[i] = to;
    r[i] = residual;
  }
}
