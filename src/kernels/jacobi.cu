/* Conjugate gradients with the diagonal without a scalar on the host, in float64: x <- about A^-1 r from x = 0. Each
 * kernel is a grid-stride loop over the entries, one thread an entry at a time; a sum leaves one part a block, and
 * whoever needs it adds the parts in their order. inverse: 1 / a_ii; z = inverse r is not stored.
 *   start       parts of r.r and r.z                            finish   scalars from these
 *   direction   p <- z + (r.z / the one before) p               dot      parts of p.q, q = A p
 *   update      x <- x + alpha p, r <- r - alpha q, alpha = r.z / p.q (r = 0: 0), and the parts of the new r
 * Bytes an entry: start 16, direction 32, dot 16, update 56. Shared: the tree of a sum. */
#include "kernel.h"
#include "krylov_arguments.h"

#define THREADS 256
#include "sums.h"

/* scalars */
#define NORM 0 /* |r| */
#define RZ 1
#define OLD 2 /* r.z before; 0 at the start */

/* partial[2][TESK_PARTS] */
TESK_DEVICE void leave_parts(double square, double rz, double *partial, double *memory) {
  square = add_threads(square, memory);
  rz = add_threads(rz, memory);
  if (threadIdx.x) return;
  partial[blockIdx.x] = square;
  partial[TESK_PARTS + blockIdx.x] = rz;
}

TESK_KERNEL(tesk_jacobi_start, THREADS, 1, (long long)n, (const double *)r, (const double *)inverse,
            (double *)partial) {
  TESK_SHARED(memory);
  double square = 0, rz = 0;
  FOR_EACH(i, n) {
    square += r[i] * r[i];
    rz += r[i] * r[i] * inverse[i];
  }
  leave_parts(square, rz, partial, (double *)memory);
}

TESK_KERNEL(tesk_jacobi_finish, THREADS, 1, (int)parts, (const double *)partial, (double *)scalars) {
  TESK_SHARED(memory);
  const double square = add_parts(partial, parts, (double *)memory),
               rz = add_parts(partial + TESK_PARTS, parts, (double *)memory);
  if (threadIdx.x) return;
  scalars[OLD] = scalars[RZ];
  scalars[RZ] = rz;
  scalars[NORM] = sqrt(square);
}

TESK_KERNEL(tesk_jacobi_direction, THREADS, 1, (long long)n, (const double *)r, (const double *)inverse,
            (double *)p, (const double *)scalars) {
  const int follows = scalars[OLD] != 0;
  const double beta = follows ? scalars[RZ] / scalars[OLD] : 0;
  FOR_EACH(i, n) p[i] = r[i] * inverse[i] + (follows ? beta * p[i] : 0);
}

TESK_KERNEL(tesk_jacobi_dot, THREADS, 1, (long long)n, (const double *)p, (const double *)q,
            (double *)partial) {
  TESK_SHARED(memory);
  double pq = 0;
  FOR_EACH(i, n) pq += p[i] * q[i];
  pq = add_threads(pq, (double *)memory);
  if (threadIdx.x == 0) partial[blockIdx.x] = pq;
}

/* products[parts]: those of p.q; partial: others. */
TESK_KERNEL(tesk_jacobi_update, THREADS, 1, (long long)n, (const double *)p, (const double *)q,
            (const double *)inverse, (double *)x, (double *)r, (const double *)products, (int)parts,
            (double *)partial, (const double *)scalars) {
  TESK_SHARED(memory);
  const double pq = add_parts(products, parts, (double *)memory), rz_now = scalars[RZ],
               alpha = rz_now == 0 ? 0 : rz_now / pq;
  double square = 0, rz = 0;
  FOR_EACH(i, n) {
    const double value = r[i] - alpha * q[i];
    x[i] += alpha * p[i];
    r[i] = value;
    square += value * value;
    rz += value * value * inverse[i];
  }
  leave_parts(square, rz, partial, (double *)memory);
}
