/* Conjugate gradients and GMRES without a scalar on the host. Each vector kernel is a grid-stride loop over the
 * entries, one thread an entry at a time, no shared memory but the tree of a sum; a sum leaves one part a block,
 * and whoever needs it adds the parts in their order.
 * Bytes an entry: direction 28-32, dots 24, update 40; GMRES step j: take 12, dots 8 (1.5 (j + 1)), update 8 (j +
 * 3). 2 flops a product.
 * Macros: real (the cycle's precision), basis_real (of vectors of GMRES's basis). */
#include "kernel.h"
#include "krylov_arguments.h"

#define THREADS 256
#include "sums.h"

TESK_DEVICE double choose_factor(double norm, double root) {
  int exponent = 0;
  (void)frexp(norm / root, &exponent);
  exponent = exponent > 500 ? 500 : exponent < -500 ? -500 : exponent;
  return norm > 0 && norm - norm == 0 ? ldexp(1.0, -exponent) : 1.0;
}

/* An iteration is over. */
TESK_DEVICE void end_iteration(TeskKrylov *s, double relative) {
  const int done = s->done + 1;
  s->relative = relative;
  s->done = done;
  /* False for what is no number, or grows out of hand. */
  s->go_on = relative > s->tolerance && relative <= 1e6 && done < s->most;
  if (s->history) s->history[done] = relative;
}

/* out <- factor v, rounded: what a float32 cycle is given. */
TESK_KERNEL(tesk_krylov_round, THREADS, 1, (long long)n, (const double *)v, (real *)out,
            (const TeskKrylov *)s) {
  const double factor = s->factor;
  FOR_EACH(i, n) out[i] = (real)(factor * v[i]);
}

/* ---- one of two starts ---------------------------------------------------------------------------------- */

/* Parts of u.u, then of v.v */
TESK_KERNEL(tesk_start_squares, THREADS, 1, (long long)n, (const double *)u, (const double *)v,
            (double *)partial) {
  TESK_SHARED(memory);
  double uu = 0, vv = 0;
  FOR_EACH(i, n) {
    uu += u[i] * u[i];
    vv += v[i] * v[i];
  }
  uu = add_threads(uu, (double *)memory);
  vv = add_threads(vv, (double *)memory);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = uu;
    partial[TESK_PARTS + blockIdx.x] = vv;
  }
}

/* One block. The residual of one start has the squares uu, that of the other one, which tolerances are of, vv: which is
 * taken, and all scalars of the iteration to come. factor 0: that of its residual; g: of GMRES, or 0. */
TESK_KERNEL(tesk_start_choose, THREADS, 1, (int)parts, (const double *)partial, (int)either,
            (double)tolerance, (double)factor, (double)root, (double *)g, (int)most, (double *)history,
            (TeskKrylov *)s) {
  TESK_SHARED(memory);
  const double first = sqrt(add_parts(partial, parts, (double *)memory)),
               old = sqrt(add_parts(partial + TESK_PARTS, parts, (double *)memory));
  if (threadIdx.x) return;
  const int take = either && old < first;
  const double norm = take ? old : first, wanted = norm > 0 ? tolerance * old / norm : 1;
  s->old = take;
  s->b_norm = norm;
  s->relative = norm > 0 ? 1 : norm; /* not a number stays so */
  s->tolerance = wanted < 1e-14 ? 1e-14 : wanted > 0.5 ? 0.5 : wanted;
  s->inverse = norm > 0 ? 1 / norm : 0;
  s->factor = factor > 0 ? factor : choose_factor(norm, root);
  s->root = root;
  s->pq = 0;
  s->column = 0;
  s->done = 0;
  s->most = most;
  s->history = history;
  s->go_on = norm > 0;
  if (history) history[0] = s->relative;
  if (g) g[0] = 1;
}

/* x and r become those of the start that is taken; copy <- r; 0 in `old`, and in p and q where they are. Bytes an
 * entry: 24 to 56. */
TESK_KERNEL(tesk_start_take, THREADS, 1, (long long)n, (double *)old, (const double *)old_r, (double *)x,
            (double *)r, (double *)copy, (double *)p, (double *)q, (const TeskKrylov *)s) {
  const int take = s->old != 0;
  FOR_EACH(i, n) {
    const double value = take ? old_r[i] : r[i];
    if (take) {
      x[i] = old[i];
      r[i] = value;
    }
    copy[i] = value;
    old[i] = 0;
    if (p) p[i] = q[i] = 0;
  }
}

/* ---- a cycle as the iteration itself ------------------------------------------------------------------- */

/* x <- x + z / factor */
TESK_KERNEL(tesk_cycle_add, THREADS, 1, (long long)n, (const real *)z, (double *)x, (int)scaled,
            (const TeskKrylov *)s) {
  const double scale = scaled ? 1 / s->factor : 1;
  FOR_EACH(i, n) x[i] += scale * (double)z[i];
}

/* Parts of r.r */
TESK_KERNEL(tesk_cycle_square, THREADS, 1, (long long)n, (const double *)r, (double *)squares) {
  TESK_SHARED(memory);
  double sum = 0;
  FOR_EACH(i, n) sum += r[i] * r[i];
  sum = add_threads(sum, (double *)memory);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

TESK_KERNEL(tesk_cycle_finish, THREADS, 1, (int)parts, (const double *)squares, (TeskKrylov *)s) {
  TESK_SHARED(memory);
  const double norm = sqrt(add_parts(squares, parts, (double *)memory));
  if (threadIdx.x) return;
  s->factor = choose_factor(norm, s->root);
  end_iteration(s, s->b_norm > 0 ? norm / s->b_norm : norm);
}

/* ---- conjugate gradients ------------------------------------------------------------------------------- */

/* Parts of z.q */
TESK_KERNEL(tesk_cg_dot, THREADS, 1, (long long)n, (const real *)z, (const double *)q, (double *)partial) {
  TESK_SHARED(memory);
  double sum = 0;
  FOR_EACH(i, n) sum += (double)z[i] * q[i];
  sum = add_threads(sum, (double *)memory);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/* p <- z - (z.q / p.q) p with z = MG(factor r) / factor; p = 0 and p.q = 0 before the first direction. */
TESK_KERNEL(tesk_cg_direction, THREADS, 1, (long long)n, (const real *)z, (double *)p,
            (const double *)partial, (int)parts, (int)scaled, (const TeskKrylov *)s) {
  TESK_SHARED(memory);
  const double zq = add_parts(partial, parts, (double *)memory), scale = scaled ? 1 / s->factor : 1,
               beta = s->pq > 0 ? -scale * zq / s->pq : 0;
  FOR_EACH(i, n) p[i] = scale * (double)z[i] + beta * p[i];
}

/* Parts of p.q, then of p.r */
TESK_KERNEL(tesk_cg_dots, THREADS, 1, (long long)n, (const double *)p, (const double *)q, (const double *)r,
            (double *)partial) {
  TESK_SHARED(memory);
  double pq = 0, pr = 0;
  FOR_EACH(i, n) {
    pq += p[i] * q[i];
    pr += p[i] * r[i];
  }
  pq = add_threads(pq, (double *)memory);
  pr = add_threads(pr, (double *)memory);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = pq;
    partial[TESK_PARTS + blockIdx.x] = pr;
  }
}

/* alpha = p.r / p.q;  x <- x + alpha p,  r <- r - alpha q, parts of r.r; nothing moves where p.q is not positive. */
TESK_KERNEL(tesk_cg_update, THREADS, 1, (long long)n, (const double *)p, (const double *)q, (double *)x,
            (double *)r, (const double *)partial, (int)parts, (double *)squares, (TeskKrylov *)s) {
  TESK_SHARED(memory);
  const double pq = add_parts(partial, parts, (double *)memory),
               pr = add_parts(partial + TESK_PARTS, parts, (double *)memory), alpha = pq > 0 ? pr / pq : 0;
  double sum = 0;
  FOR_EACH(i, n) {
    x[i] += alpha * p[i];
    const double value = r[i] - alpha * q[i];
    r[i] = value;
    sum += value * value;
  }
  sum = add_threads(sum, (double *)memory);
  if (threadIdx.x) return;
  squares[blockIdx.x] = sum;
  if (blockIdx.x == 0) s->pq = pq;
}

TESK_KERNEL(tesk_cg_finish, THREADS, 1, (int)parts, (const double *)squares, (TeskKrylov *)s) {
  TESK_SHARED(memory);
  const double norm = sqrt(add_parts(squares, parts, (double *)memory));
  if (threadIdx.x) return;
  s->factor = choose_factor(norm, s->root);
  end_iteration(s, s->pq > 0 ? norm / s->b_norm : s->pq - s->pq == 0 ? -1 : s->pq - s->pq);
}

/* ---- GMRES: one Arnoldi step, j = scalars->column ------------------------------------------------------ */

/* scale_j <- 1 / |basis j|;  out <- factor v_j */
TESK_KERNEL(tesk_gmres_take, THREADS, 1, (long long)n, (real *)out, (TeskArnoldi)a) {
  const long long j = a.scalars->column;
  const basis_real *v = (const basis_real *)a.basis[j];
  const double inverse = a.scalars->inverse, factor = a.scalars->factor * inverse;
  if (blockIdx.x == 0 && threadIdx.x == 0) a.scale[j] = inverse;
  FOR_EACH(i, n) out[i] = (real)(factor * (double)v[i]);
}

/* image_j <- e / factor, and the same in float64 for the operator; z may be e. */
TESK_KERNEL(tesk_gmres_put, THREADS, 1, (long long)n, (const real *)e, (double *)z, (TeskArnoldi)a) {
  real *image = (real *)a.image[a.scalars->column];
  const double scale = 1 / a.scalars->factor;
  FOR_EACH(i, n) {
    const real value = (real)(scale * (double)e[i]);
    image[i] = value;
    z[i] = (double)value;
  }
}

/* Parts of v_i . w and v_i . v_j, all but w unscaled, for i <= j; a block takes four i, the second index of the grid.
 * partial: [2 n][TESK_PARTS] */
TESK_KERNEL(tesk_gmres_dots, THREADS, 1, (long long)n, (const double *)w, (double *)partial, (TeskArnoldi)a) {
  TESK_SHARED(memory);
  const int j = (int)a.scalars->column, first = 4 * (int)blockIdx.y;
  if (first > j) return; /* the whole block */
  const basis_real *v = (const basis_real *)a.basis[j], *u0 = (const basis_real *)a.basis[first],
                   *u1 = (const basis_real *)a.basis[first + 1 <= j ? first + 1 : j],
                   *u2 = (const basis_real *)a.basis[first + 2 <= j ? first + 2 : j],
                   *u3 = (const basis_real *)a.basis[first + 3 <= j ? first + 3 : j];
  double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  FOR_EACH(i, n) {
    const double value = w[i], last = (double)v[i], x0 = (double)u0[i], x1 = (double)u1[i],
                 x2 = (double)u2[i], x3 = (double)u3[i];
    sum[0] += x0 * value;
    sum[1] += x0 * last;
    sum[2] += x1 * value;
    sum[3] += x1 * last;
    sum[4] += x2 * value;
    sum[5] += x2 * last;
    sum[6] += x3 * value;
    sum[7] += x3 * last;
  }
  TESK_UNROLL
  for (int m = 0; m < 8; m++) {
    if (first + m / 2 > j) break; /* the whole block */
    const double total = add_threads(sum[m], (double *)memory);
    if (threadIdx.x == 0) partial[(2ll * first + m) * TESK_PARTS + blockIdx.x] = total;
  }
}

/* One block. Modified Gram-Schmidt in one pass over the vectors: h_i = v_i . (w - sum_{k<i} h_k v_k) is the lower
 * triangular system h_i = v_i.w - sum_{k<i} (v_i.v_k) h_k (Swirydowicz et al. 2020, "Low synchronization
 * Gram-Schmidt and GMRES", inverse compact WY).
 * A group of 32 threads adds the parts of one sum. */
TESK_KERNEL(tesk_gmres_project, THREADS, 1, (const double *)partial, (TeskArnoldi)a) {
  TESK_SHARED(memory);
  double *sums = (double *)memory;
  const int j = (int)a.scalars->column, group = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  double *h = a.H + (long long)j * (a.n + 1), *L = a.L + (long long)j * a.n;
  for (int begin = 0; begin < 2 * (j + 1); begin += THREADS / 32) {
    const int m = begin + group;
    double sum = 0;
    if (m < 2 * (j + 1))
      for (int i = lane; i < a.parts; i += 32) sum += partial[(long long)m * TESK_PARTS + i];
    sums[threadIdx.x] = sum;
    for (int half = 16; half > 0; half /= 2) {
      __syncthreads();
      if (lane < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (lane == 0 && m < 2 * (j + 1)) {
      if (m % 2)
        L[m / 2] = a.scale[m / 2] * a.scale[j] * sums[threadIdx.x];
      else
        h[m / 2] = a.scale[m / 2] * sums[threadIdx.x];
    }
    __syncthreads();
  }
  if (threadIdx.x) return;
  for (int i = 1; i <= j; i++) {
    double sum = h[i];
    for (int k = 0; k < i; k++) sum -= a.L[(long long)i * a.n + k] * h[k];
    h[i] = sum;
  }
}

/* basis j + 1 <- w - sum_i h_i v_i, rounded where it is float32, four entries a thread under way; parts of its square.
 * Shared memory: the tree of the sum, then h [n]. */
TESK_KERNEL(tesk_gmres_update, THREADS, 1, (long long)n, (const double *)w, (double *)squares,
            (TeskArnoldi)a) {
  TESK_SHARED(memory);
  double *h = (double *)memory + THREADS, sum = 0;
  const int j = (int)a.scalars->column;
  basis_real *next = (basis_real *)a.basis[j + 1];
  for (int i = (int)threadIdx.x; i <= j; i += THREADS) h[i] = a.H[(long long)j * (a.n + 1) + i] * a.scale[i];
  __syncthreads();
  const long long step = (long long)gridDim.x * THREADS;
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += 4 * step) {
    double value[4];
    TESK_UNROLL
    for (int m = 0; m < 4; m++) value[m] = i + m * step < n ? w[i + m * step] : 0;
    for (int k = 0; k <= j; k++) {
      const basis_real *v = (const basis_real *)a.basis[k];
      const double factor = h[k];
      TESK_UNROLL
      for (int m = 0; m < 4; m++)
        if (i + m * step < n) value[m] -= factor * (double)v[i + m * step];
    }
    TESK_UNROLL
    for (int m = 0; m < 4; m++) {
      const basis_real kept = (basis_real)value[m];
      if (i + m * step < n) next[i + m * step] = kept;
      sum += (double)kept * (double)kept;
    }
  }
  sum = add_threads(sum, (double *)memory);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

/* One block: the norm, Givens rotations of column j and of the right-hand side; the residual's estimate is
 * |g_{j+1}|. */
TESK_KERNEL(tesk_gmres_finish, THREADS, 1, (const double *)squares, (TeskArnoldi)a) {
  TESK_SHARED(memory);
  const double norm = sqrt(add_parts(squares, a.parts, (double *)memory));
  const int j = (int)a.scalars->column;
  double *h = a.H + (long long)j * (a.n + 1);
  if (threadIdx.x) return;
  for (int i = 0; i < j; i++) {
    const double upper = h[i], lower = h[i + 1];
    h[i] = a.cosine[i] * upper + a.sine[i] * lower;
    h[i + 1] = -a.sine[i] * upper + a.cosine[i] * lower;
  }
  const double length = hypot(h[j], norm);
  a.cosine[j] = length > 0 ? h[j] / length : 1;
  a.sine[j] = length > 0 ? norm / length : 0;
  h[j] = length;
  h[j + 1] = 0;
  a.g[j + 1] = -a.sine[j] * a.g[j];
  a.g[j] *= a.cosine[j];
  a.scalars->inverse = norm > 0 ? 1 / norm : 1;
  a.scalars->column = j + 1;
  end_iteration(a.scalars, a.g[j + 1] < 0 ? -a.g[j + 1] : a.g[j + 1]);
}

/* One thread: y solves the rotated system of the columns there are. */
TESK_KERNEL(tesk_gmres_solve, 32, 1, (TeskArnoldi)a) {
  const int columns = (int)a.scalars->column;
  if (threadIdx.x) return;
  for (int i = columns - 1; i >= 0; i--) {
    double sum = a.g[i];
    for (int j = i + 1; j < columns; j++) sum -= a.H[(long long)j * (a.n + 1) + i] * a.y[j];
    const double pivot = a.H[(long long)i * (a.n + 1) + i];
    a.y[i] = pivot != 0 ? sum / pivot : 0;
  }
}

/* x <- x + |b| sum_j y_j image_j */
TESK_KERNEL(tesk_gmres_correct, THREADS, 1, (long long)n, (double *)x, (TeskArnoldi)a) {
  const int columns = (int)a.scalars->column;
  const double b_norm = a.scalars->b_norm;
  FOR_EACH(i, n) {
    double sum = 0;
    for (int j = 0; j < columns; j++) sum += a.y[j] * (double)((const real *)a.image[j])[i];
    x[i] += b_norm * sum;
  }
}
