/* Patches of one kind, one patch per lane. Two forms give the same iterate:
 *   x <- x + K_patch^+ r, from a residual;
 *   x_patch <- K_patch^+ (b - K x_outside), the mean of the pressure kept: the local solves are exact, so that the
 *   old values inside are not needed. The outside consists of the nodes at the ends of component i, and the modes of
 *   the cells that share a face with the patch.
 * Of component i, W = (Ld in the directions across) u of what is outside, on all nodes 0 .. 2 n along i; then F = b -
 * nu Mc W - nu Lc u_ends, and the ends enter the divergence.
 *
 * Flops: cost in stokes_patch.c. Bytes: b and the velocity of the patch and its neighbours read, all of the patch
 * written. */
#include "smoother/stokes_patch/stokes_patch_solve.h"

/* W <- W + Ld u for the cell beyond a face: side 0 or 1 of direction a. */
TESI_INLINE void add_neighbour(const Patch *p, int i, int a, int side, int dim, int n, const Real *x) {
  const int N = 2 * n;
  const Real *const C = p->numbers[a] + p->t[a]->outer[side];
  Box box = {{0}, {1, 1, 1}};
  int extent[3] = {1, 1, 1};
  for (int d = 0; d < dim; d++) box.extent[d] = extent[d] = d == i ? N + 1 : N;
  box.first[a] = side ? N : -n;
  box.extent[a] = n;
  gather(&p->lines[i], &box, x, p->U);
  const Along all = along(a, extent);
  for (int o = 0; o < all.outer; o++)
    for (int j = 0; j < all.inner; j++) {
      const V *const u = p->U + o * n * all.inner + j;
      V *const w = p->W + (o * N + side * n) * all.inner + j, in[MOST], out[MOST];
      for (int q = 0; q < n; q++) in[q] = u[q * all.inner];
      multiply(C, n, n, in, out);
      for (int q = 0; q < n; q++) w[q * all.inner] += out[q];
    }
}

/* The nodes at an end: their contributions to W, to F and to the divergence. At the lower end they are copied to the
 * new vector, if it is another vector. */
TESI_INLINE void add_end(const Patch *p, int i, int side, int dim, int n, const TesiStokesPatchJob *job) {
  const TesiStokesPatchTable *const t = p->t[i];
  const int N = 2 * n, M = t->nodes;
  const Real ratio = (Real)(p->plan->stokes->alpha / p->plan->stokes->nu);
  Box box = {{0}, {1, 1, 1}};
  int extent[3];
  for (int d = 0; d < dim; d++) box.extent[d] = d == i ? 1 : N;
  for (int d = 0; d < 3; d++) extent[d] = box.extent[d];
  box.first[i] = side ? N : 0;
  V *const end = p->U, *const Lu = p->spare;
  const int all = extent[0] * extent[1] * extent[2];
  gather(&p->lines[i], &box, (const Real *)job->x + p->plan->space->first[i], end);
  if (side == 0 && job->x_new != job->x)
    scatter(&p->lines[i], &box, false, end, (Real *)job->x_new + p->plan->space->first[i]);
  for (int j = 0; j < all; j++) Lu[j] = ratio * end[j];
  for (int d = 0; d < dim; d++) {
    if (d == i) continue;
    const Along a = along(d, extent);
    for (int o = 0; o < a.outer; o++)
      for (int j = 0; j < a.inner; j++) {
        const int first = o * N * a.inner + j;
        V line[MOST], out[MOST];
        for (int q = 0; q < N; q++) line[q] = end[first + q * a.inner];
        multiply_any(p->numbers[d] + p->t[d]->penalty, N, N, line, out);
        for (int q = 0; q < N; q++) Lu[first + q * a.inner] += out[q];
      }
  }
  const Real *const L = p->numbers[i] + t->stiffness + side, *const D = p->numbers[i] + t->derivative + side;
  extent[i] = N + 1;
  const Along to_W = along(i, extent);
  for (int o = 0; o < to_W.outer; o++)
    for (int j = 0; j < to_W.inner; j++) {
      const V u = end[o * to_W.inner + j];
      V *const f = p->F[i] + o * M * to_W.inner + j, *const g = p->schur + o * N * to_W.inner + j;
      p->W[(o * (N + 1) + (side ? N : 0)) * to_W.inner + j] += Lu[o * to_W.inner + j];
      for (int m = 0; m < M; m++) f[m * to_W.inner] -= L[2 * m] * u;
      for (int q = 0; q < N; q++) g[q * to_W.inner] -= D[2 * q] * u;
    }
}

/* F_i <- F_i - nu Mc W; rows of Mc of inner nodes of a cell know its own nodes alone. */
TESI_INLINE void subtract_mass(const Patch *p, int i, int dim, int n) {
  const TesiStokesPatchTable *const t = p->t[i];
  const int N = 2 * n, M = t->nodes;
  const Real *const Mc = p->numbers[i] + t->mass;
  int extent[3];
  for (int d = 0; d < 3; d++) extent[d] = d >= dim ? 1 : d == i ? N + 1 : N;
  const Along a = along(i, extent);
  for (int o = 0; o < a.outer; o++)
    for (int j = 0; j < a.inner; j++) {
      const V *const w = p->W + o * (N + 1) * a.inner + j;
      V line[MOST], *const f = p->F[i] + o * M * a.inner + j;
      TESI_UNROLL for (int m = 0; m <= N; m++) line[m] = w[m * a.inner];
      for (int m = 0; m < M; m++) {
        const Real *const row = Mc + m * (N + 1);
        const int at = t->first + m, from = at > n ? n : 0, to = at < n ? n : N;
        V sum = row[from] * line[from];
        for (int c = from + 1; c <= to; c++) sum += row[c] * line[c];
        f[m * a.inner] -= sum;
      }
    }
}

/* F <- b - K x_outside, schur <- -(b - K x_outside) of the pressure. */
TESI_INLINE void load_outside(const Patch *p, const TesiStokesPatchJob *job, int dim, int n) {
  const TesSpace *space = p->plan->space;
  const int N = 2 * n;
  for (int i = 0; i < dim; i++) {
    int all = 1;
    for (int d = 0; d < dim; d++) all *= d == i ? N + 1 : N;
    for (int j = 0; j < all; j++) p->W[j] = (V){0};
    for (int a = 0; a < dim; a++)
      for (int side = 0; side < 2; side++)
        if (a != i && p->t[a]->neighbour[side])
          add_neighbour(p, i, a, side, dim, n, (const Real *)job->x + space->first[i]);
    for (int side = 0; side < 2; side++)
      if (p->t[i]->end[side]) add_end(p, i, side, dim, n, job);
    subtract_mass(p, i, dim, n);
  }
}

/* The component of the old pressure along the constant, which the solution does not have. */
TESI_INLINE void keep_mean(const Patch *p, const Real *x, int dim, int n) {
  const int N = 2 * n, cells = 1 << dim;
  V mean = {0}, value;
  Real e[8];
  for (int c = 0; c < cells; c++) {
    Box box = {{0}, {1, 1, 1}};
    e[c] = 1;
    for (int d = 0; d < dim; d++) {
      e[c] *= p->numbers[d][p->t[d]->constant + (c >> d & 1)];
      box.first[d] = (c >> d & 1) * n;
    }
    gather(&p->lines[dim], &box, x, &value);
    mean += e[c] * value;
  }
  for (int c = 0; c < cells; c++)
    p->pressure[n * ((c & 1) + N * ((c >> 1 & 1) + N * (c >> 2)))] += e[c] * mean;
}

TESI_INLINE void run_patch(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,
                           const TesiStokesPatchJob *job, V *work, int dim, int n, int span) {
  const TesSpace *space = plan->space;
  const int N = span * n;
  const size_t most = plan->work_size / TESI_STOKES_PATCH_ARRAYS;
  const bool fused = span == 2 && job->b != NULL;
  const Real *const from = fused ? job->b : job->r;
  Patch p = {.plan = plan,
             .kind = plan->kind[task->kind],
             .kind_numbers = (Real *)((TesiStokesPatchKind *)plan->kind[task->kind] + 1)};
  Box box[TESI_RT_PARTS];
  for (int d = 0; d < 3; d++) {
    p.t[d] = plan->axis[d].table[task->type[d]];
    p.numbers[d] = (const Real *)(p.t[d] + 1);
    p.F[d] = work + (size_t)d * most;
  }
  p.schur = work + 3 * most, p.pressure = work + 4 * most, p.W = work + 5 * most, p.U = work + 6 * most,
  p.spare = work + 7 * most, p.step = work + 8 * most;
  for (int part = 0; part <= dim; part++) {
    find_lines(plan, task, part, &p.lines[part]);
    for (int d = 0; d < 3; d++) {
      box[part].first[d] = d == part ? p.t[d]->first : 0;
      box[part].extent[d] = d >= dim ? 1 : d == part ? p.t[d]->nodes : N;
    }
  }
  gather(&p.lines[dim], &box[dim], from + space->first[dim], p.schur);
  for (int j = 0; j < plan->pressures; j++) p.schur[j] = -p.schur[j];
  for (int i = 0; i < dim; i++) gather(&p.lines[i], &box[i], from + space->first[i], p.F[i]);
  if (fused) load_outside(&p, job, dim, n);
  solve(&p, dim, n, N);
  if (fused && p.kind->closed) keep_mean(&p, (const Real *)job->x + space->first[dim], dim, n);
  for (int i = 0; i < dim; i++)
    scatter(&p.lines[i], &box[i], !fused, p.F[i], (Real *)job->x_new + space->first[i]);
  scatter(&p.lines[dim], &box[dim], !fused, p.pressure, (Real *)job->x_new + space->first[dim]);
}

/* Degrees with specialised loops. These take the longest of all files to compile, so quick builds have them for two
 * degrees only. */
#if TESI_DEGREES > 4
#define EACH_2D TESI_EACH_DEGREE_8
#define EACH_3D TESI_EACH_DEGREE_4
#elif TESI_DEGREES > 2
#define EACH_2D TESI_EACH_2
#define EACH_3D TESI_EACH_2
#else
#define EACH_2D TESI_EACH_0
#define EACH_3D TESI_EACH_0
#endif
#define IN_2D(k)                                                                                             \
  TESI_APART void plane_##k(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,                \
                            const TesiStokesPatchJob *job, V *work) {                                        \
    run_patch(plan, task, job, work, 2, k + 1, 2);                                                           \
  }
#define IN_3D(k)                                                                                             \
  TESI_APART void solid_##k(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,                \
                            const TesiStokesPatchJob *job, V *work) {                                        \
    run_patch(plan, task, job, work, 3, k + 1, 2);                                                           \
  }
EACH_2D(IN_2D)
EACH_3D(IN_3D)

TESI_APART void general(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,
                        const TesiStokesPatchJob *job, V *work) {
  run_patch(plan, task, job, work, plan->space->dim, plan->space->degree + 1, plan->axis[0].span);
}

/* Closed cells: the degrees for which they are efficient. */
#if TESI_DEGREES > 4
#define CELL(name, dim, k)                                                                                   \
  TESI_APART void name(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,                     \
                       const TesiStokesPatchJob *job, V *work) {                                             \
    run_patch(plan, task, job, work, dim, k + 1, 1);                                                         \
  }
CELL(square_1, 2, 1)
CELL(square_2, 2, 2)
CELL(cube_1, 3, 1)
CELL(cube_2, 3, 2)

static void run_cells(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,
                      const TesiStokesPatchJob *job, V *work) {
  const int dim = plan->space->dim, degree = plan->space->degree;
  if (degree > 2)
    general(plan, task, job, work);
  else if (dim == 2)
    (degree == 1 ? square_1 : square_2)(plan, task, job, work);
  else
    (degree == 1 ? cube_1 : cube_2)(plan, task, job, work);
}
#else
#define run_cells general
#endif

void REAL_NAME(tesk_stokes_patch)(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,
                                  const TesiStokesPatchJob *job, void *work) {
  if (plan->axis[0].span == 1) {
    run_cells(plan, task, job, work);
    return;
  }
#define TAKE_2D(k)                                                                                           \
  if (plan->space->dim == 2 && plan->space->degree == k) {                                                   \
    plane_##k(plan, task, job, work);                                                                        \
    return;                                                                                                  \
  }
#define TAKE_3D(k)                                                                                           \
  if (plan->space->dim == 3 && plan->space->degree == k) {                                                   \
    solid_##k(plan, task, job, work);                                                                        \
    return;                                                                                                  \
  }
  EACH_2D(TAKE_2D)
  EACH_3D(TAKE_3D)
  general(plan, task, job, work);
}
