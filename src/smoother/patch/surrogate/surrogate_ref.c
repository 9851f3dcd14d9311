/* Plain version of surrogate patches: a at the points of the patch, factors by loops over all points, and a dense local
 * matrix that is solved by elimination. */
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "smoother/patch/surrogate/surrogate.h"
#include "smoother/solve_ref.h"

enum { P = TESI_FACTOR, N = 2 * TESI_MAX_DEGREE + 1 };

/* One direction of a patch: points x[n], weights w[n] (mean 1 in total), and with factor f the matrices of its m
 * nodes. */
typedef struct Line {
  int n, m, first, cells, cell;
  double x[P], w[P], f[P], K[N * N], M[N * N];
} Line;

typedef struct Patch {
  Line line[3];
  int64_t points, nodes;
  double *a, *A, *r;
} Patch;

static void make_points(const TesSpace *space, int d, const TesiPatchInterval *interval, Line *line) {
  const TesiAxis *axis = &space->axis[d];
  double points[TESI_MAX_POINTS], weights[TESI_MAX_POINTS], length = 0;
  *line = (Line){.n = 1, .m = interval->end - interval->first, .first = interval->first, .w = {1}};
  if (axis->degree == 0) return;
  line->cell = interval->first == 0 ? 0 : (interval->first - 1) / axis->degree;
  for (int c = line->cell; c < axis->cells && c * axis->degree < interval->end; c++) {
    length += axis->h[c];
    line->cells++;
  }
  line->n = 0;
  tesi_gauss(axis->degree + 1, points, weights);
  for (int c = line->cell; c < line->cell + line->cells; c++)
    for (int q = 0; q <= axis->degree; q++, line->n++) {
      line->x[line->n] = axis->x[c * axis->degree] + axis->h[c] * points[q];
      line->w[line->n] = weights[q] * axis->h[c] / length;
    }
}

static TesStatus evaluate(const TesOperator *op, Patch *patch) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Line *X = &patch->line[0], *Y = &patch->line[1], *Z = &patch->line[2];
  int64_t i = 0;
  for (int z = 0; z < Z->n; z++)
    for (int y = 0; y < Y->n; y++)
      for (int x = 0; x < X->n; x++, i++) {
        patch->a[i] = 1;
        if (tesi_diffusion_of(op)->a_function)
          TES_TRY(tes_function_evaluate(tesi_diffusion_of(op)->a_function, 1, &X->x[x], &Y->x[y], &Z->x[z], 0,
                                        &patch->a[i]));
      }
done:
  return status;
}

/* Position of point i in direction d. */
static int position(const Patch *patch, int64_t i, int d) {
  for (int e = 0; e < d; e++) i /= patch->line[e].n;
  return (int)(i % patch->line[d].n);
}

static double weight(const Patch *patch, int64_t i, int without) {
  double w = 1;
  for (int d = 0; d < 3; d++)
    if (d != without) w *= patch->line[d].w[position(patch, i, d)];
  return w;
}

static double product(const Patch *patch, int64_t i) {
  double f = 1;
  for (int d = 0; d < 3; d++) f *= patch->line[d].f[position(patch, i, d)];
  return f;
}

static void fit(Patch *patch, TesLocalSolver local) {
  double mean = 0, mean_log = 0, largest = 0;
  for (int64_t i = 0; i < patch->points; i++) {
    mean += weight(patch, i, -1) * patch->a[i];
    mean_log += weight(patch, i, -1) * log(patch->a[i]);
    largest = fmax(largest, patch->a[i]);
  }
  for (int d = 0; d < 3; d++)
    for (int q = 0; q < patch->line[d].n; q++) patch->line[d].f[q] = 1;
  for (int q = 0; q < patch->line[0].n && local != TES_LOCAL_RANK1; q++)
    patch->line[0].f[q] = local == TES_LOCAL_MEAN ? mean : fmax(mean, 0.6 * largest);
  if (local != TES_LOCAL_RANK1) return;
  for (int d = 0; d < 3; d++)
    for (int q = 0; q < patch->line[d].n; q++) {
      double sum = d == 0 ? 0 : -mean_log;
      for (int64_t i = 0; i < patch->points; i++)
        if (position(patch, i, d) == q) sum += weight(patch, i, d) * log(patch->a[i]);
      patch->line[d].f[q] = exp(sum);
    }
  for (int d = 0; d < 3; d++)
    for (int q = 0; q < patch->line[d].n; q++) {
      double lift = 1;
      for (int64_t i = 0; i < patch->points; i++)
        if (position(patch, i, d) == q) lift = fmax(lift, 0.6 * patch->a[i] / product(patch, i));
      patch->line[d].f[q] *= lift;
    }
}

/* K and M of one direction with the weight f. */
static void make_matrices(const TesiSurrogateData *data, int d, Line *line) {
  const TesiAxis *axis = &data->space->axis[d];
  const int k = axis->degree;
  if (k == 0) {
    line->M[0] = 1;
    return;
  }
  for (int i = 0; i < line->m; i++)
    for (int j = 0; j < line->m; j++) {
      double *K = &line->K[i * line->m + j], *M = &line->M[i * line->m + j];
      const int row = line->first + i, column = line->first + j;
      for (int p = 0; p < line->n; p++) { /* point p lies in cell c */
        const int c = line->cell + p / (k + 1), q = p % (k + 1), li = row - c * k, lj = column - c * k;
        if (li < 0 || li > k || lj < 0 || lj > k) continue;
        const double h = axis->h[c], w = data->weights[q] * line->f[p];
        *M += w * h * data->B[q * (k + 1) + li] * data->B[q * (k + 1) + lj];
        *K += w / h * data->G[q * (k + 1) + li] * data->G[q * (k + 1) + lj];
      }
      if (d == 0) *K += data->reaction * *M;
      if (row == 0 && column == 0) *K += data->robin[2 * d] * line->f[0];
      if (row == axis->nodes - 1 && column == row) *K += data->robin[2 * d + 1] * line->f[line->n - 1];
    }
}

static void make_dense(Patch *patch) {
  const Line *L = patch->line;
  const int64_t n = patch->nodes;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      double K[3], M[3];
      int64_t row = i, column = j;
      for (int d = 0; d < 3; d++) {
        const int64_t entry = row % L[d].m * L[d].m + column % L[d].m;
        K[d] = L[d].K[entry], M[d] = L[d].M[entry];
        row /= L[d].m, column /= L[d].m;
      }
      patch->A[i * n + j] = K[0] * M[1] * M[2] + M[0] * K[1] * M[2] + M[0] * M[1] * K[2];
    }
}

static int64_t node_of(const TesSpace *space, const Patch *patch, int64_t i) {
  int64_t node = 0, stride = 1;
  for (int d = 0; d < 3; d++) {
    node += (patch->line[d].first + i % patch->line[d].m) * stride;
    i /= patch->line[d].m;
    stride *= space->axis[d].nodes;
  }
  return node;
}

static TesStatus update_patch(const TesSmoother *smoother, const TesiSurrogateData *data,
                              const TesiPatchInterval *const interval[3], const double *r, double *x) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  Patch *patch = NULL;
  TES_NEW(&patch);
  patch->points = patch->nodes = 1;
  for (int d = 0; d < 3; d++) {
    make_points(space, d, interval[d], &patch->line[d]);
    patch->points *= patch->line[d].n;
    patch->nodes *= patch->line[d].m;
  }
  TES_ALLOC(&patch->a, patch->points);
  TES_ALLOC(&patch->A, patch->nodes * patch->nodes);
  TES_ALLOC(&patch->r, patch->nodes);
  TES_TRY(evaluate(smoother->op, patch));
  fit(patch, smoother->local);
  for (int d = 0; d < 3; d++) make_matrices(data, d, &patch->line[d]);
  make_dense(patch);
  for (int64_t i = 0; i < patch->nodes; i++) patch->r[i] = r[node_of(space, patch, i)];
  tesi_solve_ref(patch->nodes, patch->A, patch->r);
  for (int64_t i = 0; i < patch->nodes; i++) x[node_of(space, patch, i)] += smoother->omega * patch->r[i];
done:
  if (patch) {
    tesi_free(ctx, &patch->a);
    tesi_free(ctx, &patch->A);
    tesi_free(ctx, &patch->r);
  }
  tesi_free(ctx, &patch);
  return status;
}

static TesStatus update_colour(const TesSmoother *smoother, const TesiSurrogateData *data,
                               TesiPatchInterval *const intervals[3], const int count[3], int colour,
                               const double *r, double *x) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  int p[3];
  for (p[2] = 0; p[2] < count[2]; p[2]++)
    for (p[1] = 0; p[1] < count[1]; p[1]++)
      for (p[0] = 0; p[0] < count[0]; p[0]++) {
        const TesiPatchInterval *const interval[3] = {&intervals[0][p[0]], &intervals[1][p[1]],
                                                      &intervals[2][p[2]]};
        if (interval[0]->colour + 2 * interval[1]->colour + 4 * interval[2]->colour == colour)
          TES_TRY(update_patch(smoother, data, interval, r, x));
      }
done:
  return status;
}

TesStatus tesi_surrogate_apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const int64_t n = op->space->length;
  TesiSurrogateData data = {.space = op->space, .points = op->space->degree + 1};
  TesiPatchInterval *intervals[3] = {NULL, NULL, NULL};
  double *r = NULL, points[TESI_MAX_POINTS], nodes[TESI_MAX_POINTS];
  int count[3];
  tesi_gauss(data.points, points, data.weights);
  tesi_gauss_lobatto(data.points, nodes, NULL);
  tesi_lagrange(data.points, nodes, data.points, points, data.B, data.G);
  TES_TRY(tesi_coefficient_ratio(op, tesi_diffusion_of(op)->c_function, -1, &data.reaction));
  for (int f = 0; f < 6; f++)
    TES_TRY(tesi_coefficient_ratio(op, tesi_diffusion_of(op)->alpha_function[f], f, &data.robin[f]));
  TES_ALLOC(&r, n);
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&intervals[d], op->space->axis[d].cells + 1);
    count[d] = tesi_patch_intervals(&op->space->axis[d], intervals[d]);
  }
  for (int i = 0; i < 8; i++) {
    if (i == 0 || smoother->kind != TES_SMOOTHER_PATCH_ADDITIVE) {
      TES_TRY(op->table->apply_ref(op, x, r));
      for (int64_t j = 0; j < n; j++) r[j] = b[j] - r[j];
    }
    TES_TRY(update_colour(smoother, &data, intervals, count, sweep == TES_FORWARD ? i : 7 - i, r, x));
  }
done:
  tesi_free(ctx, &r);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &intervals[d]);
  return status;
}
