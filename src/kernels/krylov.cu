/* Conjugate gradients and GMRES without a scalar on the host. Each vector kernel is a grid-stride loop over the
 * entries, one thread per entry at a time, no shared memory but the tree of a sum; each block writes its part of a sum,
 * and the kernels that need the sum add the parts in their order.
 * Bytes per entry: direction 28-32, dots 24, update 40. GMRES step j, with float32 basis, cycle and products: dots
 * 4 + 4 (j + 1), update 20 + 4 (j + 1); with a float64 basis: 8 + 8 (j + 1), 36 + 8 (j + 1). 2 flops per product.
 * Macros: real (the cycle's precision), basis_real (of vectors of GMRES's basis), product_real (of the operator's), and
 * ranked on several ranks, where sums of GMRES are over owned entries. */
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

/* Ends an iteration. If the residual does not decrease any more, the host decides (krylov/floor.h). */
TESK_DEVICE void end_iteration(TeskKrylov *s, double relative) {
  const int done = s->done + 1, patience = 8;
  s->relative = relative;
  s->done = done;
  if (done == 1 || relative <= 0.7 * s->best) {
    s->best = relative;
    s->best_at = done;
  }
  /* Also false if `relative` is NaN or too large. */
  s->go_on = relative > s->tolerance && relative <= 1e6 && done < s->most && done - s->best_at < patience;
  if (s->history) s->history[done] = relative;
}

/* out <- factor v, rounded: the input of a float32 cycle. */
TESK_KERNEL(tesk_krylov_round, THREADS, 1, (long long)n, (const double *)v, (real *)out,
            (const TeskKrylov *)s) {
  const double factor = s->factor;
  FOR_EACH(i, n) out[i] = (real)(factor * v[i]);
}

/* ---- one of two starts ---------------------------------------------------------------------------------- */

/* The block's parts of two sums. */
TESK_DEVICE void leave_parts(double first, double second, double *memory, double *partial) {
  first = add_threads(first, memory);
  second = add_threads(second, memory);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = first;
    partial[TESK_PARTS + blockIdx.x] = second;
  }
}

/* Parts of u.u, then of v.v */
TESK_KERNEL(tesk_start_squares, THREADS, 1, (long long)n, (const double *)u, (const double *)v,
            (double *)partial) {
  TESK_SHARED(memory);
  double uu = 0, vv = 0;
  FOR_EACH(i, n) {
    uu += u[i] * u[i];
    vv += v[i] * v[i];
  }
  leave_parts(uu, vv, (double *)memory, partial);
}

/* One block. uu and vv are the squares of the residuals of two starts; tolerances refer to vv. Chooses the start, and
 * sets all scalars of the coming iteration. factor 0: it follows from the chosen residual. g: of GMRES, or 0. */
TESK_KERNEL(tesk_start_choose, THREADS, 1, (int)parts, (const double *)partial, (int)either, (double)tolerance,
            (double)factor, (double)root, (double *)g, (int)most, (double *)history, (TeskKrylov *)s) {
  TESK_SHARED(memory);
  const double first = sqrt(add_parts(partial, parts, (double *)memory)),
               old = sqrt(add_parts(partial + TESK_PARTS, parts, (double *)memory));
  if (threadIdx.x) return;
  const int take = either && old < first;
  const double norm = take ? old : first, wanted = norm > 0 ? tolerance * old / norm : 1;
  s->old = take;
  s->b_norm = norm;
  s->relative = norm > 0 ? 1 : norm; /* NaN stays NaN */
  s->tolerance = wanted < 1e-14 ? 1e-14 : wanted > 0.5 ? 0.5 : wanted;
  s->inverse = norm > 0 ? 1 / (choose_factor(norm, root) * norm) : 0;
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

/* x and r become the x and r of the chosen start; copy <- r; old, p, q <- 0 (each unless it is NULL). For GMRES: last
 * <- r, scaled to entries of about 1, and `in` (unless NULL) the same, rounded. Bytes per entry: 24 to 56. */
TESK_KERNEL(tesk_start_take, THREADS, 1, (long long)n, (double *)old, (const double *)old_r, (double *)x,
            (double *)r, (double *)copy, (double *)p, (double *)q, (basis_real *)last, (real *)in,
            (const TeskKrylov *)s) {
  const int take = s->old != 0;
  const double scale = choose_factor(s->b_norm, s->root);
  FOR_EACH(i, n) {
    const double value = take ? old_r[i] : r[i];
    if (take) {
      x[i] = old[i];
      r[i] = value;
    }
    if (copy) copy[i] = value;
    if (last) last[i] = (basis_real)(scale * value);
    if (in) in[i] = (real)(scale * value);
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
  leave_parts(pq, pr, (double *)memory, partial);
}

/* alpha = p.r / p.q;  x <- x + alpha p,  r <- r - alpha q, parts of r.r over entries first .. end - 1. If p.q is not
 * positive, nothing changes. */
TESK_KERNEL(tesk_cg_update, THREADS, 1, (long long)n, (long long)first, (long long)end, (const double *)p,
            (const double *)q, (double *)x, (double *)r, (const double *)partial, (int)parts,
            (double *)squares, (TeskKrylov *)s) {
  TESK_SHARED(memory);
  const double pq = add_parts(partial, parts, (double *)memory),
               pr = add_parts(partial + TESK_PARTS, parts, (double *)memory), alpha = pq > 0 ? pr / pq : 0;
  double sum = 0;
  FOR_EACH(i, n) {
    x[i] += alpha * p[i];
    const double value = r[i] - alpha * q[i];
    r[i] = value;
    if (i >= first && i < end) sum += value * value;
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

/* u_0 <- scale r, and the same rounded for the cycle if the cycle has a separate vector. Bytes per entry: 12 to
 * 20. */
TESK_KERNEL(tesk_gmres_begin, THREADS, 1, (long long)n, (const double *)r, (double)scale, (TeskArnoldi)a) {
  basis_real *last = (basis_real *)a.last;
  real *in = (real *)a.in;
  FOR_EACH(i, n) {
    const double value = scale * r[i];
    last[i] = (basis_real)value;
    if (in) in[i] = (real)value;
  }
}

/* z <- e, for operators that take only float64. 12 bytes per entry. */
TESK_KERNEL(tesk_gmres_widen, THREADS, 1, (long long)n, (double *)z, (TeskArnoldi)a) {
  const real *e = (const real *)a.out;
  FOR_EACH(i, n) z[i] = (double)e[i];
}

/* u_i, i <= j */
TESK_DEVICE const basis_real *basis_of(const TeskArnoldi *a, int i, int j) {
  return (const basis_real *)(i < j ? a->basis[i] : a->last);
}

/* Parts of u_i . w and u_i . u_j for i <= j; a block takes four i, the second index of the grid.
 * partial: [2 n][TESK_PARTS] */
TESK_KERNEL(tesk_gmres_dots, THREADS, 1, (long long)n, (const product_real *)w, (double *)partial,
            (TeskArnoldi)a) {
  TESK_SHARED(memory);
  const int j = (int)a.scalars->column, first = 4 * (int)blockIdx.y;
  if (first > j) return; /* the whole block */
  const basis_real *v = basis_of(&a, j, j), *u0 = basis_of(&a, first, j), *u1 = basis_of(&a, first + 1, j),
                   *u2 = basis_of(&a, first + 2, j), *u3 = basis_of(&a, first + 3, j);
  double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  FOR_EACH(i, n) {
    if (!owns(&a.own, i)) continue;
    const double value = (double)w[i], last = (double)v[i], x0 = (double)u0[i], x1 = (double)u1[i],
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

/* One block. scale_j <- 1 / |u_j|. Modified Gram-Schmidt in one pass over the vectors: with A MG v_j = scale_j w,
 * h_i = v_i . (scale_j w - sum_{k<i} h_k v_k) is the lower triangular system
 * h_i = scale_j v_i.w - sum_{k<i} (v_i.v_k) h_k (Swirydowicz et al. 2020, "Low synchronization Gram-Schmidt and
 * GMRES", inverse compact WY).
 * A group of 32 threads adds the parts of one sum. */
TESK_KERNEL(tesk_gmres_project, THREADS, 1, (const double *)partial, (TeskArnoldi)a) {
  TESK_SHARED(memory);
  double *sums = (double *)memory;
  const int j = (int)a.scalars->column, group = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  double *h = a.H + (long long)j * (a.n + 1), *L = a.L + (long long)j * a.n;
  if (threadIdx.x == 0) a.scale[j] = a.scalars->inverse;
  __syncthreads();
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
      (m % 2 ? L : h)[m / 2] = a.scale[m / 2] * a.scale[j] * sums[threadIdx.x];
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

/* u_{j+1} <- factor (scale_j w - sum_i h_i v_i), rounded if it is float32, with four entries per thread under way;
 * parts of its square. If it overwrites u_j, u_j first moves to its own place, and so does the result of the cycle
 * for u_j. Bytes per entry in float32: 12 + 4 j, or 28 + 4 j with moves. Registers: 64 in float32. A float64 basis
 * needs more registers; three blocks per multiprocessor then have more bytes under way. Shared memory: the tree of
 * the sum, then factor h_i scale_i [n]. */
TESK_KERNEL(tesk_gmres_update, THREADS, sizeof(basis_real) == 4 ? 4 : 3, (long long)n,
            (const product_real *)w, (double *)squares, (TeskArnoldi)a) {
  TESK_SHARED(memory);
  double *h = (double *)memory + THREADS, sum = 0;
  const int j = (int)a.scalars->column;
  const double factor = a.scalars->factor, of_w = factor * a.scale[j];
  const int moves = a.next == a.last;
  const basis_real *last = (const basis_real *)a.last;
  basis_real *next = (basis_real *)a.next, *own = (basis_real *)a.basis[j];
  const real *e = (const real *)a.out;
  real *image = (real *)a.image[j], *in = (real *)a.in;
  for (int i = (int)threadIdx.x; i <= j; i += THREADS)
    h[i] = factor * a.H[(long long)j * (a.n + 1) + i] * a.scale[i];
  __syncthreads();
  const long long step = (long long)gridDim.x * THREADS;
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += 4 * step) {
    double value[4];
    basis_real old[4];
    real made[4]; /* read before `next` is written; without a cycle e is `next` */
    TESK_UNROLL
    for (int m = 0; m < 4; m++) {
      const int inside = i + m * step < n;
      old[m] = inside ? last[i + m * step] : 0;
      made[m] = inside && moves ? e[i + m * step] : 0;
      value[m] = inside ? of_w * (double)w[i + m * step] - h[j] * (double)old[m] : 0;
    }
    for (int k = 0; k < j; k++) {
      const basis_real *v = (const basis_real *)a.basis[k];
      const double part = h[k];
      TESK_UNROLL
      for (int m = 0; m < 4; m++)
        if (i + m * step < n) value[m] -= part * (double)v[i + m * step];
    }
    TESK_UNROLL
    for (int m = 0; m < 4; m++) {
      if (i + m * step >= n) continue;
      const basis_real kept = (basis_real)value[m];
      if (moves) image[i + m * step] = made[m], own[i + m * step] = old[m];
      next[i + m * step] = kept;
      if (in) in[i + m * step] = (real)kept;
      if (owns(&a.own, i + m * step)) sum += (double)kept * (double)kept;
    }
  }
  sum = add_threads(sum, (double *)memory);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

/* One block: the norm, Givens rotations of column j and of the right-hand side; the residual's estimate is
 * |g_{j+1}|. */
TESK_KERNEL(tesk_gmres_finish, THREADS, 1, (const double *)squares, (TeskArnoldi)a) {
  TESK_SHARED(memory);
  const double length_of_u = sqrt(add_parts(squares, a.parts, (double *)memory)),
               norm = length_of_u / a.scalars->factor;
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
  a.scalars->inverse = length_of_u > 0 ? 1 / length_of_u : 1;
  a.scalars->column = j + 1;
  end_iteration(a.scalars, a.g[j + 1] < 0 ? -a.g[j + 1] : a.g[j + 1]);
}

/* One thread: y solves the rotated system of the columns there are; then y_j <- scale_j y_j, for images of u_j. */
TESK_KERNEL(tesk_gmres_solve, 32, 1, (TeskArnoldi)a) {
  const int columns = (int)a.scalars->column;
  if (threadIdx.x) return;
  for (int i = columns - 1; i >= 0; i--) {
    double sum = a.g[i];
    for (int j = i + 1; j < columns; j++) sum -= a.H[(long long)j * (a.n + 1) + i] * a.y[j];
    const double pivot = a.H[(long long)i * (a.n + 1) + i];
    a.y[i] = pivot != 0 ? sum / pivot : 0;
  }
  for (int i = 0; i < columns; i++) a.y[i] *= a.scale[i];
}

/* x <- x + |b| sum_j y_j image_j, four entries per thread under way. Shared memory: |b| y_j [n] behind THREADS numbers.
 */
TESK_KERNEL(tesk_gmres_correct, THREADS, 1, (long long)n, (double *)x, (TeskArnoldi)a) {
  TESK_SHARED(memory);
  double *y = (double *)memory + THREADS;
  const int columns = (int)a.scalars->column;
  for (int j = (int)threadIdx.x; j < columns; j += THREADS) y[j] = a.scalars->b_norm * a.y[j];
  __syncthreads();
  const long long step = (long long)gridDim.x * THREADS;
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += 4 * step) {
    double value[4];
    TESK_UNROLL
    for (int m = 0; m < 4; m++) value[m] = i + m * step < n ? x[i + m * step] : 0;
    for (int j = 0; j < columns; j++) {
      const real *image = (const real *)a.image[j];
      const double part = y[j];
      TESK_UNROLL
      for (int m = 0; m < 4; m++)
        if (i + m * step < n) value[m] += part * (double)image[i + m * step];
    }
    TESK_UNROLL
    for (int m = 0; m < 4; m++)
      if (i + m * step < n) x[i + m * step] = value[m];
  }
}
