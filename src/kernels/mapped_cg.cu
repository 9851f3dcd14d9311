/* Conjugate gradients with a diagonal preconditioner, in three kernels per iteration, without a scalar on the host.
 * The operator (mapped.cu with DOT) computes q = A p and writes the parts of p.q; then follow
 *   tesk_cg_residual   alpha = rz / p.q;  r <- r - alpha q;  parts of rz' = r . D r           32 bytes per dof
 *   tesk_cg_direction  beta = rz' / rz;  x <- x + alpha p;  p <- D r + beta p;  q <- 0          56 bytes per dof
 * x is updated in the kernel that reads p anyway; q is zeroed here, so that the operator need not. Each block sums
 * all parts itself.
 * scalars: rz of even and of odd iterations, alpha. */
#include "kernel.h"

#define THREADS 256
#define PARTS 1024 /* of a sum; the grid of these kernels */

#include "sums.h"

/* p <- D r, q <- 0, parts of r . D r; x <- 0 */
TESK_KERNEL(tesk_cg_start, THREADS, 1, (long long)n, (const real *)d, (const real *)r, (real *)p, (real *)q,
            (real *)x, (double *)parts_rz, (double *)parts_pq) {
  TESK_SHARED(memory);
  double sum = 0;
  FOR_EACH(i, n) {
    const real z = d[i] * r[i];
    p[i] = z;
    q[i] = x[i] = 0;
    sum += (double)z * (double)r[i];
  }
  sum = add_threads(sum, (double *)memory);
  if (threadIdx.x == 0) {
    parts_rz[blockIdx.x] = sum;
    parts_pq[blockIdx.x] = 0;
  }
}

TESK_KERNEL(tesk_cg_first, THREADS, 1, (const double *)parts_rz, (double *)scalars) {
  TESK_SHARED(memory);
  const double sum = add_parts(parts_rz, PARTS, (double *)memory);
  if (threadIdx.x == 0) scalars[0] = sum;
}

TESK_KERNEL(tesk_cg_residual, THREADS, 4, (long long)n, (int)parity, (const real *TESK_RESTRICT)d,
            (const real *TESK_RESTRICT)q, (real * TESK_RESTRICT) r, (const double *)parts_pq,
            (double *)parts_rz, (double *)scalars) {
  TESK_SHARED(memory);
  const double pq = add_parts(parts_pq, PARTS, (double *)memory), alpha = pq != 0 ? scalars[parity] / pq : 0;
  double sum = 0;
  FOR_EACH(i, n) {
    const real value = r[i] - (real)alpha * q[i];
    r[i] = value;
    sum += (double)(d[i] * value) * (double)value;
  }
  sum = add_threads(sum, (double *)memory);
  if (threadIdx.x == 0) {
    parts_rz[blockIdx.x] = sum;
    if (blockIdx.x == 0) scalars[2] = alpha;
  }
}

TESK_KERNEL(tesk_cg_direction, THREADS, 4, (long long)n, (int)parity, (const real *TESK_RESTRICT)d,
            (const real *TESK_RESTRICT)r, (real * TESK_RESTRICT) p, (real * TESK_RESTRICT) q,
            (real * TESK_RESTRICT) x, (const double *)parts_rz, (double *)parts_pq, (double *)scalars) {
  TESK_SHARED(memory);
  const double rz = add_parts(parts_rz, PARTS, (double *)memory), before = scalars[parity],
               beta = before != 0 ? rz / before : 0, alpha = scalars[2];
  FOR_EACH(i, n) {
    const real direction = p[i];
    x[i] += (real)alpha * direction;
    p[i] = d[i] * r[i] + (real)beta * direction;
    q[i] = 0;
  }
  if (threadIdx.x == 0) {
    parts_pq[blockIdx.x] = 0;
    if (blockIdx.x == 0) scalars[1 - parity] = rz;
  }
}
