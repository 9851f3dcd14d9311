/* S p = r for the patches of all lanes by conjugate gradients: as in stokes-multigrid-cui-2025, section 3, or, for
 * graded cells, preconditioned with S^+ of a patch with nearly the same cells. Part of stokes_patch_solve.h. */
#ifndef TESI_STOKES_PATCH_ITERATE_H
#define TESI_STOKES_PATCH_ITERATE_H

enum { STEPS = 15 };
static const Real accuracy = (Real)1e-3;

static V inner_product(int n, const V *a, const V *b) {
  V sum = {0};
  for (int j = 0; j < n; j++) sum += a[j] * b[j];
  return sum;
}

/* x <- x - e e' x, e the constant. */
static void remove_constant(const Patch *p, int dim, int N, V *x) {
  const int size = p->plan->pressures;
  V sum = {0};
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < size; j++) {
      const int m[3] = {j % N, j / N % N, j / N / N};
      Real e = 1;
      for (int d = 0; d < dim; d++) e *= p->numbers[d][p->t[d]->constant_modes + m[d]];
      if (pass)
        x[j] -= e * sum;
      else
        sum += e * x[j];
    }
}

/* w <- S q, S = sum over i of G Lam_i^-1 G'. */
static void apply_schur(const Patch *p, int dim, int n, int N, const V *q, V *w) {
  const int size = p->plan->pressures;
  for (int j = 0; j < size; j++) w[j] = (V){0};
  for (int i = 0; i < dim; i++) {
    const TesiStokesPatchTable *const t = p->t[i];
    const Real *const reciprocal = p->kind_numbers + p->kind->reciprocal[i];
    const Along a = along(i, (const int[]){N, N, dim > 2 ? N : 1});
    for (int o = 0; o < a.outer; o++)
      for (int j = 0; j < a.inner; j++) {
        V line[MOST], u[MOST];
        for (int m = 0; m < N; m++) line[m] = q[(o * N + m) * a.inner + j];
        gradient(p->numbers[i] + t->G_transposed, t, n, N, line, u);
        for (int m = 0; m < t->nodes; m++) u[m] *= reciprocal[(o * t->nodes + m) * a.inner + j];
        subtract_divergence(p->numbers[i] + t->G, t, n, N, a.inner, u, w + o * N * a.inner + j);
      }
  }
  for (int j = 0; j < size; j++) w[j] = -w[j];
}

/* x <- A x in direction d, A [N][N]. */
static void multiply_along(const Real *A, int d, int dim, int N, V *x) {
  const Along a = along(d, (const int[]){N, N, dim > 2 ? N : 1});
  for (int o = 0; o < a.outer; o++)
    for (int i = 0; i < a.inner; i++) {
      V line[MOST], out[MOST], *const at = x + o * N * a.inner + i;
      for (int j = 0; j < N; j++) line[j] = at[j * a.inner];
      multiply_any(A, N, N, line, out);
      for (int j = 0; j < N; j++) at[j * a.inner] = out[j];
    }
}

/* z <- r, or S^+ r of the similar patch, in its eigenvectors. */
static void precondition(const Patch *p, int dim, int N, const V *r, V *z) {
  for (int j = 0; j < p->plan->pressures; j++) z[j] = r[j];
  if (p->kind->like < 0) return;
  for (int d = 0; d < dim; d++) multiply_along(p->numbers[d] + p->t[d]->to_like, d, dim, N, z);
  apply_inverse(p, p->plan->kind[p->kind->like], N, z, z);
  for (int d = 0; d < dim; d++) multiply_along(p->numbers[d] + p->t[d]->from_like, d, dim, N, z);
}

/* For each lane the step, or 0 if it has converged or the curvature is not positive. Returns whether any lane
 * continues. */
static bool find_step(const V *rho, const V *start, const V *curvature, V *step) {
  bool any = false;
  for (int l = 0; l < LANES; l++) {
    const Real r = ((const Real *)rho)[l], c = ((const Real *)curvature)[l];
    const bool goes = r > accuracy * accuracy * ((const Real *)start)[l] && c > 0;
    ((Real *)step)[l] = goes ? r / c : 0;
    any = any || goes;
  }
  return any;
}

/* next / rho, 0 if the residual is zero. */
static V find_ratio(const V *next, const V *rho) {
  V ratio;
  for (int l = 0; l < LANES; l++) {
    const Real old = ((const Real *)rho)[l];
    ((Real *)&ratio)[l] = old > 0 ? ((const Real *)next)[l] / old : 0;
  }
  return ratio;
}

/* pressure <- S^+ schur, to `accuracy`; schur is overwritten. */
TESI_APART void iterate_pressure(const Patch *p, int dim, int n, int N) {
  const int size = p->plan->pressures;
  V *const r = p->schur, *const x = p->pressure, *const q = p->W, *const w = p->step;
  V step = {0};
  if (p->kind->closed) remove_constant(p, dim, N, r);
  precondition(p, dim, N, r, q);
  for (int j = 0; j < size; j++) x[j] = (V){0};
  V rho = inner_product(size, r, q);
  const V start = rho;
  for (int i = 0; i < STEPS; i++) {
    apply_schur(p, dim, n, N, q, w);
    const V curvature = inner_product(size, q, w);
    if (!find_step(&rho, &start, &curvature, &step)) break;
    for (int j = 0; j < size; j++) x[j] += step * q[j], r[j] -= step * w[j];
    precondition(p, dim, N, r, w);
    const V next = inner_product(size, r, w), ratio = find_ratio(&next, &rho);
    rho = next;
    for (int j = 0; j < size; j++) q[j] = w[j] + ratio * q[j];
  }
  if (p->kind->closed) remove_constant(p, dim, N, x);
}

#endif
