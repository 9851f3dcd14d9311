/* The plain vertex-patch sweep: for each colour, x fastest, for each of its patches,
 *   x_I <- x_I + A_II^-1 (b - A x)_I,   A_II = sum_d K_d (x) M_others on the patch,
 * with A_II^-1 by full 1D eigenvectors: patch-smoothers-cui-2024, section 3. Directions have two colours, a periodic
 * direction with an odd number of vertices a third one for vertex 0. Patches with third colours come last: first the
 * eight colours of patches without a third colour, then eight of patches with a third colour in x, then in y, in both,
 * and so on. */
#include <string.h>
#include "basis/eigen.h"
#include "smoother/patch/patch.h"

typedef struct Axis {
  int nodes, count;
  bool periodic;
  double *K, *M; /* [nodes][nodes] */
  TesiPatchInterval *intervals;
  double **S, **lambda; /* of each interval: [m][m], [m] */
} Axis;

typedef struct Plan {
  Axis axis[3];
  double *work[4]; /* [closed patch] each */
} Plan;

static TesStatus fill_eigen(TesContext *ctx, Axis *axis, int p) {
  TesStatus status = TES_OK;
  const int first = axis->intervals[p].first, m = axis->intervals[p].end - first;
  double *K = NULL, *M = NULL;
  TES_ALLOC(&K, m * m);
  TES_ALLOC(&M, m * m);
  TES_ALLOC(&axis->S[p], m * m);
  TES_ALLOC(&axis->lambda[p], m);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      const int at = (first + i) % axis->nodes * axis->nodes + (first + j) % axis->nodes;
      K[i * m + j] = axis->K[at];
      M[i * m + j] = axis->M[at];
    }
  TES_TRY(tesi_eigen(ctx, m, K, M, axis->S[p], axis->lambda[p]));
done:
  tesi_free(ctx, &K);
  tesi_free(ctx, &M);
  return status;
}

static TesStatus fill_axis(const TesOperator *op, int d, Axis *axis) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  axis->nodes = op->space->axis[d].nodes;
  axis->periodic = op->space->axis[d].periodic;
  TES_ALLOC(&axis->K, axis->nodes * axis->nodes);
  TES_ALLOC(&axis->M, axis->nodes * axis->nodes);
  TES_ALLOC(&axis->intervals, op->space->axis[d].cells + 1);
  axis->count = tesi_patch_intervals(&op->space->axis[d], axis->intervals);
  TES_ALLOC(&axis->S, axis->count);
  TES_ALLOC(&axis->lambda, axis->count);
  if (d < op->space->dim)
    TES_TRY(tesi_operator_axis_matrices(op, d, axis->K, axis->M));
  else
    axis->M[0] = 1;
  for (int p = 0; p < axis->count; p++) TES_TRY(fill_eigen(ctx, axis, p));
done:
  return status;
}

static void free_plan(TesContext *ctx, Plan *plan) {
  for (int d = 0; d < 3; d++) {
    Axis *axis = &plan->axis[d];
    for (int p = 0; p < axis->count; p++) {
      if (axis->S) tesi_free(ctx, &axis->S[p]);
      if (axis->lambda) tesi_free(ctx, &axis->lambda[p]);
    }
    tesi_free(ctx, &axis->K);
    tesi_free(ctx, &axis->M);
    tesi_free(ctx, &axis->intervals);
    tesi_free(ctx, &axis->S);
    tesi_free(ctx, &axis->lambda);
  }
  for (int i = 0; i < 4; i++) tesi_free(ctx, &plan->work[i]);
}

static TesStatus fill_plan(const TesOperator *op, Plan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  int closed = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(fill_axis(op, d, &plan->axis[d]));
    closed *= 2 * op->space->axis[d].degree + 1;
  }
  for (int i = 0; i < 4; i++) TES_ALLOC(&plan->work[i], closed);
done:
  return status;
}

/* out[a][i][b] = sum_j T[i * row + j * column] in[a][j][b] for i < rows, j < columns. */
static void contract(int before, int rows, int columns, int after, const double *T, int row, int column,
                     const double *in, double *out) {
  for (int a = 0; a < before; a++)
    for (int i = 0; i < rows; i++)
      for (int b = 0; b < after; b++) {
        double sum = 0;
        for (int j = 0; j < columns; j++) sum += T[i * row + j * column] * in[(a * columns + j) * after + b];
        out[(a * rows + i) * after + b] = sum;
      }
}

enum { CLOSED = 2 * TESI_MAX_DEGREE + 1 };

/* One patch: m is its interior size, c its closed size. Each direction has the closed nodes, whose interior begins at
 * number `inner`, and the interior rows and closed columns of K and M. */
typedef struct Patch {
  const Axis *axis[3];
  int p[3], m[3], c[3], inner[3], node[3][CLOSED];
  double K[3][CLOSED * CLOSED], M[3][CLOSED * CLOSED];
} Patch;

/* In a periodic direction of two cells both bounding nodes are the same node, which counts once. */
static void select_direction(const Axis *axis, int p, int d, Patch *patch) {
  const TesiPatchInterval *interval = &axis->intervals[p];
  const int lower = axis->periodic || interval->first > 0,
            upper = axis->periodic ? interval->end - interval->first + 1 < axis->nodes
                                   : interval->end < axis->nodes;
  patch->axis[d] = axis;
  patch->p[d] = p;
  patch->m[d] = interval->end - interval->first;
  patch->c[d] = patch->m[d] + lower + upper;
  patch->inner[d] = lower;
  for (int i = 0; i < patch->c[d]; i++) patch->node[d][i] = (interval->first - lower + i) % axis->nodes;
  for (int i = 0; i < patch->m[d]; i++)
    for (int j = 0; j < patch->c[d]; j++) {
      const int at = patch->node[d][lower + i] * axis->nodes + patch->node[d][j];
      patch->K[d][i * patch->c[d] + j] = axis->K[at];
      patch->M[d][i * patch->c[d] + j] = axis->M[at];
    }
}

/* r <- r - (A x)_I; u closed values of x; s, t work. */
static void subtract_product(const Patch *patch, const double *u, double *s, double *t, double *r) {
  const int *m = patch->m, *c = patch->c;
  for (int term = 0; term < 3; term++) {
    const double *T[3];
    for (int d = 0; d < 3; d++) T[d] = term == d ? patch->K[d] : patch->M[d];
    contract(c[2] * c[1], m[0], c[0], 1, T[0], c[0], 1, u, s);
    contract(c[2], m[1], c[1], m[0], T[1], c[1], 1, s, t);
    contract(1, m[2], c[2], m[1] * m[0], T[2], c[2], 1, t, s);
    for (int i = 0; i < m[2] * m[1] * m[0]; i++) r[i] -= s[i];
  }
}

/* r <- A_II^-1 r; s work. */
static void solve_local(const Patch *patch, double *s, double *r) {
  const int *m = patch->m;
  const double *S[3], *lambda[3];
  for (int d = 0; d < 3; d++) {
    S[d] = patch->axis[d]->S[patch->p[d]];
    lambda[d] = patch->axis[d]->lambda[patch->p[d]];
  }
  contract(m[2] * m[1], m[0], m[0], 1, S[0], 1, m[0], r, s);
  contract(m[2], m[1], m[1], m[0], S[1], 1, m[1], s, r);
  contract(1, m[2], m[2], m[1] * m[0], S[2], 1, m[2], r, s);
  for (int z = 0, i = 0; z < m[2]; z++)
    for (int y = 0; y < m[1]; y++)
      for (int x = 0; x < m[0]; x++, i++) s[i] /= lambda[0][x] + lambda[1][y] + lambda[2][z];
  contract(1, m[2], m[2], m[1] * m[0], S[2], m[2], 1, s, r);
  contract(m[2], m[1], m[1], m[0], S[1], m[1], 1, r, s);
  contract(m[2] * m[1], m[0], m[0], 1, S[0], m[0], 1, s, r);
}

static void update_patch(const Plan *plan, const int p[3], Patch *patch, const double *b, double *x) {
  const int *m = patch->m, *c = patch->c, *in = patch->inner;
  double *r = plan->work[0], *u = plan->work[1];
  for (int d = 0; d < 3; d++) select_direction(&plan->axis[d], p[d], d, patch);
  const int64_t nx = plan->axis[0].nodes, ny = plan->axis[1].nodes;
#define AT(i, j, k) ((patch->node[2][k] * ny + patch->node[1][j]) * nx + patch->node[0][i])
  for (int k = 0, n = 0; k < c[2]; k++)
    for (int j = 0; j < c[1]; j++)
      for (int i = 0; i < c[0]; i++) u[n++] = x[AT(i, j, k)];
  for (int k = 0, n = 0; k < m[2]; k++)
    for (int j = 0; j < m[1]; j++)
      for (int i = 0; i < m[0]; i++) r[n++] = b[AT(in[0] + i, in[1] + j, in[2] + k)];
  subtract_product(patch, u, plan->work[2], plan->work[3], r);
  solve_local(patch, plan->work[2], r);
  for (int k = 0, n = 0; k < m[2]; k++)
    for (int j = 0; j < m[1]; j++)
      for (int i = 0; i < m[0]; i++) x[AT(in[0] + i, in[1] + j, in[2] + k)] += r[n++];
#undef AT
}

/* colour: bits 0..2 are the colours of the directions, bits 3..5 say which directions have the third colour. */
static void update_colour(const Plan *plan, int colour, Patch *patch, const double *b, double *x) {
  const Axis *axis = plan->axis;
  int p[3];
  for (p[2] = 0; p[2] < axis[2].count; p[2]++)
    for (p[1] = 0; p[1] < axis[1].count; p[1]++)
      for (p[0] = 0; p[0] < axis[0].count; p[0]++) {
        int of_patch = 0;
        for (int d = 0; d < 3; d++) {
          const int of_direction = axis[d].intervals[p[d]].colour;
          of_patch |= (of_direction & 1) << d | (of_direction >> 1) << (3 + d);
        }
        if (of_patch == colour) update_patch(plan, p, patch, b, x);
      }
}

TesStatus tesi_smoother_patch_apply_ref(const TesSmoother *smoother, const double *b, double *x,
                                        TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  enum { COLOURS = 64 };
  Plan plan = {0};
  Patch *patch = NULL;
  TES_NEW(&patch);
  TES_TRY(fill_plan(smoother->op, &plan));
  for (int i = 0; i < COLOURS; i++)
    update_colour(&plan, sweep == TES_FORWARD ? i : COLOURS - 1 - i, patch, b, x);
done:
  tesi_free(ctx, &patch);
  free_plan(ctx, &plan);
  return status;
}
