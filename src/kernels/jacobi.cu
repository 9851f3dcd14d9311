/* Conjugate gradients with the diagonal without a scalar on the host: x <- about A^-1 r from x = 0, sums in float64.
 * Each kernel is a grid-stride loop over the entries, one thread an entry at a time; a sum leaves one part a block, and
 * whoever needs it adds the parts in their order. inverse: 1 / a_ii; z = inverse r is not stored.
 *   start       parts of r.r and r.z           begin, finish   scalars from these, and whether to go on
 *   direction   p <- z + (r.z / the one before) p               dot      parts of p.q, q = A p
 *   update      x <- x + alpha p, r <- r - alpha q, alpha = r.z / p.q (r = 0: 0), and the parts of the new r
 * Bytes an entry in float64: start 16, direction 32, dot 16, update 56. Shared: the tree of a sum. Macros: real. */
#include "kernel.h"
#include "krylov_arguments.h"

#define THREADS 256
#include "sums.h"

/* partial[2][TESK_PARTS] */
TESK_DEVICE void leave_parts(double square, double rz, double *partial, double *memory) {
  square = add_threads(square, memory);
  rz = add_threads(rz, memory);
  if (threadIdx.x) return;
  partial[blockIdx.x] = square;
  partial[TESK_PARTS + blockIdx.x] = rz;
}

TESK_KERNEL(tesk_jacobi_start, THREADS, 1, (long long)n, (const real *)r, (const real *)inverse,
            (double *)partial) {
  TESK_SHARED(memory);
  double square = 0, rz = 0;
  FOR_EACH(i, n) {
    const double value = (double)r[i];
    square += value * value;
    rz += value * value * (double)inverse[i];
  }
  leave_parts(square, rz, partial, (double *)memory);
}

/* One block, as finish. */
TESK_KERNEL(tesk_jacobi_begin, THREADS, 1, (int)parts, (const double *)partial, (double)target, (int)most,
            (TeskJacobi *)s) {
  TESK_SHARED(memory);
  const double square = add_parts(partial, parts, (double *)memory),
               rz = add_parts(partial + TESK_PARTS, parts, (double *)memory);
  if (threadIdx.x) return;
  s->old = 0;
  s->rz = rz;
  s->norm = sqrt(square);
  s->target = target;
  s->done = 0;
  s->most = most;
  s->go_on = s->norm > target && most > 0;
}

TESK_KERNEL(tesk_jacobi_finish, THREADS, 1, (int)parts, (const double *)partial, (TeskJacobi *)s) {
  TESK_SHARED(memory);
  const double square = add_parts(partial, parts, (double *)memory),
               rz = add_parts(partial + TESK_PARTS, parts, (double *)memory);
  if (threadIdx.x) return;
  s->old = s->rz;
  s->rz = rz;
  s->norm = sqrt(square);
  s->done++;
  s->go_on = s->norm > s->target && s->done < s->most;
}

TESK_KERNEL(tesk_jacobi_direction, THREADS, 1, (long long)n, (const real *)r, (const real *)inverse,
            (real *)p, (const TeskJacobi *)s) {
  const int follows = s->old != 0;
  const real beta = follows ? (real)(s->rz / s->old) : 0;
  FOR_EACH(i, n) p[i] = r[i] * inverse[i] + (follows ? beta * p[i] : 0);
}

TESK_KERNEL(tesk_jacobi_dot, THREADS, 1, (long long)n, (const real *)p, (const real *)q, (double *)partial) {
  TESK_SHARED(memory);
  double pq = 0;
  FOR_EACH(i, n) pq += (double)p[i] * (double)q[i];
  pq = add_threads(pq, (double *)memory);
  if (threadIdx.x == 0) partial[blockIdx.x] = pq;
}

/* products[parts]: those of p.q; partial: others. */
TESK_KERNEL(tesk_jacobi_update, THREADS, 1, (long long)n, (const real *)p, (const real *)q,
            (const real *)inverse, (real *)x, (real *)r, (const double *)products, (int)parts,
            (double *)partial, (const TeskJacobi *)s) {
  TESK_SHARED(memory);
  const double pq = add_parts(products, parts, (double *)memory), rz_now = s->rz;
  const real alpha = rz_now == 0 ? 0 : (real)(rz_now / pq);
  double square = 0, rz = 0;
  FOR_EACH(i, n) {
    const real value = r[i] - alpha * q[i];
    const double squared = (double)value * (double)value;
    x[i] += alpha * p[i];
    r[i] = value;
    square += squared;
    rz += squared * (double)inverse[i];
  }
  leave_parts(square, rz, partial, (double *)memory);
}
