/* Conjugate gradients with the diagonal without a scalar on the host: x <- about A^-1 r from x = 0, sums in float64.
 * Each kernel is a grid-stride loop over the entries; a thread loads AT_ONCE entries together. For a sum each block
 * writes one part, and the kernels that need the sum add the parts in their order. inverse: 1 / a_ii; z = inverse r
 * is not stored.
 *   start       parts of r.r and r.z               begin, finish   scalars from these, and whether to go on
 *   direction   p <- z + (r.z / the last r.z) p    dot             parts of p.q, q = A p
 *   update      x <- x + alpha p, r <- r - alpha q, alpha = r.z / p.q (r = 0: 0), and the parts of the new r; the
 *               first iteration does not read x and p
 * On several ranks products are over owned entries; the parts are then replaced by one part per rank. Bytes per entry
 * in float64: start 16, direction 32, dot 16, update 56. Shared: the tree of a sum. Macros: real, and ranked on
 * several ranks. */
#include "kernel.h"
#include "krylov_arguments.h"

#define THREADS 256
#include "sums.h"

#define AT_ONCE 4

#define FOR_GROUPS(i, n)                                                                                     \
  const long long step = (long long)gridDim.x * THREADS;                                                     \
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < (n); i += AT_ONCE * step)
/* v[AT_ONCE] <- from[i + m step], 0 beyond the end */
#define READ_GROUP(from, i, n, v)                                                                            \
  real v[AT_ONCE];                                                                                           \
  TESK_UNROLL                                                                                                \
  for (int m = 0; m < AT_ONCE; m++) v[m] = i + m * step < (n) ? (from)[i + m * step] : 0;

/* partial[2][TESK_PARTS] */
TESK_DEVICE void leave_parts(double square, double rz, double *partial, double *memory) {
  square = add_threads(square, memory);
  rz = add_threads(rz, memory);
  if (threadIdx.x) return;
  partial[blockIdx.x] = square;
  partial[TESK_PARTS + blockIdx.x] = rz;
}

TESK_KERNEL(tesk_jacobi_start, THREADS, 1, (long long)n, (const real *TESK_RESTRICT)r,
            (const real *TESK_RESTRICT)inverse, (TeskOwned)own, (double *)partial) {
  TESK_SHARED(memory);
  double square = 0, rz = 0;
  FOR_GROUPS(i, n) {
    READ_GROUP(r, i, n, value)
    READ_GROUP(inverse, i, n, d)
    TESK_UNROLL
    for (int m = 0; m < AT_ONCE; m++) {
      const double squared = (double)value[m] * (double)value[m] * owns(&own, i + m * step);
      square += squared;
      rz += squared * (double)d[m];
    }
  }
  leave_parts(square, rz, partial, (double *)memory);
}

/* One block, like `finish`. share: the target is a share of |r|. */
TESK_KERNEL(tesk_jacobi_begin, THREADS, 1, (int)parts, (const double *)partial, (double)target, (int)share,
            (int)most, (TeskJacobi *)s) {
  TESK_SHARED(memory);
  const double square = add_parts(partial, parts, (double *)memory),
               rz = add_parts(partial + TESK_PARTS, parts, (double *)memory);
  if (threadIdx.x) return;
  s->old = 0;
  s->rz = rz;
  s->norm = sqrt(square);
  s->target = share ? target * s->norm : target;
  s->done = 0;
  s->most = most;
  s->go_on = most > 0;
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

TESK_KERNEL(tesk_jacobi_direction, THREADS, 1, (long long)n, (const real *TESK_RESTRICT)r,
            (const real *TESK_RESTRICT)inverse, (real * TESK_RESTRICT) p, (const TeskJacobi *)s) {
  const int follows = s->done > 0;
  const real beta = follows && s->old != 0 ? (real)(s->rz / s->old) : 0;
  FOR_GROUPS(i, n) {
    READ_GROUP(r, i, n, value)
    READ_GROUP(inverse, i, n, d)
    READ_GROUP(p, i, follows ? n : 0, before)
    TESK_UNROLL
    for (int m = 0; m < AT_ONCE; m++)
      if (i + m * step < n) p[i + m * step] = value[m] * d[m] + beta * before[m];
  }
}

TESK_KERNEL(tesk_jacobi_dot, THREADS, 1, (long long)n, (const real *TESK_RESTRICT)p,
            (const real *TESK_RESTRICT)q, (TeskOwned)own, (double *)partial) {
  TESK_SHARED(memory);
  double pq = 0;
  FOR_GROUPS(i, n) {
    READ_GROUP(p, i, n, left)
    READ_GROUP(q, i, n, right)
    TESK_UNROLL
    for (int m = 0; m < AT_ONCE; m++) pq += (double)left[m] * (double)right[m] * owns(&own, i + m * step);
  }
  pq = add_threads(pq, (double *)memory);
  if (threadIdx.x == 0) partial[blockIdx.x] = pq;
}

/* products[parts]: parts of p.q; partial: parts of the other products. */
TESK_KERNEL(tesk_jacobi_update, THREADS, 1, (long long)n, (const real *TESK_RESTRICT)p,
            (const real *TESK_RESTRICT)q, (const real *TESK_RESTRICT)inverse, (real * TESK_RESTRICT) x,
            (real * TESK_RESTRICT) r, (const double *)products, (int)parts, (TeskOwned)own, (double *)partial,
            (const TeskJacobi *)s) {
  TESK_SHARED(memory);
  const double pq = add_parts(products, parts, (double *)memory), rz_now = s->rz;
  const real alpha = rz_now == 0 ? 0 : (real)(rz_now / pq);
  const long long old = s->done > 0 ? n : 0;
  double square = 0, rz = 0;
  FOR_GROUPS(i, n) {
    READ_GROUP(r, i, n, value)
    READ_GROUP(q, i, n, image)
    READ_GROUP(p, i, n, along)
    READ_GROUP(x, i, old, sum)
    READ_GROUP(inverse, i, n, d)
    TESK_UNROLL
    for (int m = 0; m < AT_ONCE; m++) {
      value[m] -= alpha * image[m];
      const double squared = (double)value[m] * (double)value[m] * owns(&own, i + m * step);
      square += squared;
      rz += squared * (double)d[m];
      if (i + m * step >= n) continue;
      x[i + m * step] = sum[m] + alpha * along[m];
      r[i + m * step] = value[m];
    }
  }
  leave_parts(square, rz, partial, (double *)memory);
}
