/* Values of finite element functions: integrals and means over the domain or a boundary, and at a point. */
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "functional/batch_faces.h"
#include "functional/functional.h"

/* ---- integrals: u is multiplied with the load of 1 ------------------------------------------------------------------ */

static bool is_on_boundary(const TesValue *what) {
  return what->kind == TES_VALUE_BOUNDARY_INTEGRAL || what->kind == TES_VALUE_BOUNDARY_MEAN;
}

/* Integrals of the nodal basis along one direction: the Gauss-Lobatto weights, exact for degree k <= 2k - 1. */
static void set_axis(const TesiAxis *axis, double *w) {
  double nodes[TESI_MAX_POINTS], weights[TESI_MAX_POINTS];
  const int k = axis->degree;
  if (k == 0) {
    w[0] = 1;
    return;
  }
  tesi_gauss_lobatto(k + 1, nodes, weights);
  for (int c = 0; c < axis->cells; c++)
    for (int i = 0; i <= k; i++) w[c * k + i] += axis->h[c] * weights[i];
}

/* w <- int phi_i over a box, products of those along its directions. */
static TesStatus multiply_axes(const TesSpace *space, double *w) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = space->axis;
  double *line[3] = {NULL, NULL, NULL};
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&line[d], axis[d].nodes);
    set_axis(&axis[d], line[d]);
  }
#pragma omp parallel for num_threads(tes_context_threads(ctx)) schedule(static)
  for (int64_t row = 0; row < (int64_t)axis[1].nodes * axis[2].nodes; row++) {
    const double yz = line[1][row % axis[1].nodes] * line[2][row / axis[1].nodes];
    for (int x = 0; x < axis[0].nodes; x++) w[row * axis[0].nodes + x] = yz * line[0][x];
  }
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &line[d]);
  return status;
}

TesStatus tesi_functional_weights(const TesSpace *space, const TesValue *what, TesVector *w) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  TesFunction *one = NULL;
  const TesFunction **g = NULL;
  const int boundaries = tes_mesh_boundaries(space->mesh);
  const bool boundary = is_on_boundary(what);
  TES_CHECK(!boundary || (what->boundary >= 0 && what->boundary < boundaries), "boundary %d, the mesh has %d",
            what->boundary, boundaries);
  if (tesi_space_box(space) && !boundary && !tesi_has_kernels(ctx)) return multiply_axes(space, w->data);
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  TES_ALLOC(&g, boundaries + 1);
  if (boundary) g[what->boundary] = one;
  TES_TRY(tesi_functional_load(
      &(TesLoadDesc){.space = space, .f = boundary ? NULL : one, .g = boundary ? g : NULL}, true, w));
done:
  tes_function_destroy(&one);
  tesi_free(ctx, &g);
  return status;
}

/* sum <- w . u in float64, whatever precision u has; u NULL: 1. */
static TesStatus multiply(const TesVector *w, const TesVector *u, double *sum) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  TesVector *copy = NULL;
  if (u && u->precision == TES_DOUBLE) return tes_vector_dot(w, u, sum);
  TES_TRY(tes_vector_create(ctx, w->length, TES_DOUBLE, &copy));
  TES_TRY(u ? tes_vector_copy(u, 1, copy) : tes_vector_fill(copy, 1));
  TES_TRY(tes_vector_dot(w, copy, sum));
done:
  tes_vector_destroy(&copy);
  return status;
}

static TesStatus integral(const TesSpace *space, const TesVector *u, const TesValue *what, double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesVector *w = NULL;
  double size = 1;
  TES_TRY(tes_vector_create(ctx, space->length, TES_DOUBLE, &w));
  TES_TRY(tesi_functional_weights(space, what, w));
  TES_TRY(multiply(w, u, value));
  if (what->kind == TES_VALUE_MEAN || what->kind == TES_VALUE_BOUNDARY_MEAN) {
    TES_TRY(multiply(w, NULL, &size));
    TES_CHECK(size > 0, "the mean over boundary %d, which has no face", what->boundary);
  }
  *value /= size;
done:
  tes_vector_destroy(&w);
  return status;
}

/* ---- points -------------------------------------------------------------------------------------------------------- */

static int find_on_axis(const TesiAxis *axis, double x) {
  int low = 0, high = axis->cells - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (axis->x[middle * axis->degree] <= x)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static TesStatus find_in_box(const TesSpace *space, const double *x, int64_t *cell, double *xi) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  int64_t stride = 1;
  *cell = 0;
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *axis = &space->axis[d];
    TES_CHECK(x[d] >= axis->x[0] && x[d] <= axis->x[axis->nodes - 1],
              "the point (%g, %g, %g) lies outside the box", x[0], x[1], space->dim == 3 ? x[2] : 0);
    const int c = find_on_axis(axis, x[d]);
    xi[d] = (x[d] - axis->x[c * axis->degree]) / axis->h[c];
    *cell += c * stride;
    stride *= axis->cells;
  }
done:
  return status;
}

/* delta <- J^-1 r */
static void solve(int dim, const double *J, const double *r, double *delta) {
  if (dim == 2) {
    const double det = J[0] * J[3] - J[1] * J[2];
    delta[0] = (J[3] * r[0] - J[1] * r[1]) / det;
    delta[1] = (-J[2] * r[0] + J[0] * r[1]) / det;
    return;
  }
  double rows[3][3], det = 0;
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < 3; i++) {
      const int d = (c + 1) % 3, e = (c + 2) % 3, k = (i + 1) % 3, l = (i + 2) % 3;
      rows[c][i] = J[k * 3 + d] * J[l * 3 + e] - J[l * 3 + d] * J[k * 3 + e];
    }
  for (int i = 0; i < 3; i++) det += J[i * 3] * rows[0][i];
  for (int c = 0; c < 3; c++) delta[c] = (rows[c][0] * r[0] + rows[c][1] * r[1] + rows[c][2] * r[2]) / det;
}

/* Whether x is near a cell: within the box of its nodes, twice as large. An analytic map may lead anywhere. */
static bool is_near(const TesGeometry *g, int64_t cell, const double *x) {
  const double *node = g->nodes + cell * g->cell_nodes * g->dim;
  for (int d = 0; d < g->dim && !g->map[0]; d++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t p = 0; p < g->cell_nodes; p++) {
      low = fmin(low, node[p * g->dim + d]);
      high = fmax(high, node[p * g->dim + d]);
    }
    if (!(fabs(x[d] - (low + high) / 2) <= high - low)) return false;
  }
  return true;
}

/* Newton's method for F_K(xi) = x; whether xi ends in the cell. */
static bool find_in_cell(const TesGeometry *geometry, int dim, int64_t cell, const double *x, double *xi) {
  double at[3], J[9];
  bool inside = true;
  for (int d = 0; d < dim; d++) xi[d] = 0.5;
  for (int step = 0; step < 20; step++) {
    double r[3], delta[3], size = 0;
    if (tesi_geometry_evaluate(geometry, cell, 1, xi, at, J) != TES_OK) return false;
    for (int d = 0; d < dim; d++) r[d] = x[d] - at[d];
    solve(dim, J, r, delta);
    for (int d = 0; d < dim; d++) {
      xi[d] += delta[d];
      size = fmax(size, fabs(delta[d]));
      if (!(fabs(xi[d] - 0.5) < 4)) return false;
    }
    if (size < 1e-13) break;
  }
  for (int d = 0; d < dim; d++) {
    inside = inside && xi[d] > -1e-9 && xi[d] < 1 + 1e-9;
    xi[d] = fmin(fmax(xi[d], 0), 1);
  }
  return inside;
}

TesStatus tesi_functional_locate(const TesSpace *space, const double *x, int64_t *cell, double *xi) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesGeometry *g;
  if (tesi_space_box(space)) return find_in_box(space, x, cell, xi);
  TES_TRY(tesi_mesh_geometry(space->mesh, &g));
  for (*cell = 0; *cell < g->cells; ++*cell)
    if (is_near(g, *cell, x) && find_in_cell(g, g->dim, *cell, x, xi)) return TES_OK;
  TES_FAIL(TES_INVALID_INPUT, "the point (%g, %g, %g) lies in no cell", x[0], x[1], g->dim == 3 ? x[2] : 0);
done:
  return status;
}

static TesStatus value_at(const TesSpace *space, const TesVector *u, const double *x, double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int n = space->degree + 1;
  double nodes[TESI_MAX_POINTS], B[3][TESI_MAX_POINTS] = {{1}, {1}, {1}}, xi[3], sum = 0;
  double *values = NULL, *lanes = NULL;
  int64_t cell;
  TesiBatches *b = NULL;
  TES_TRY(tesi_functional_locate(space, x, &cell, xi));
  TES_TRY(tesi_batches_create(space, n, &b));
  TES_ALLOC(&values, b->length);
  TES_ALLOC(&lanes, b->nodes * TESI_BATCH);
  TES_TRY(tes_vector_get(u, values));
  tesi_gauss_lobatto(n, nodes, NULL);
  for (int d = 0; d < b->dim; d++) tesi_lagrange(n, nodes, 1, &xi[d], B[d], NULL);
  const TesiBatch batch = tesi_batches_at(b, cell);
  b->kind->read(b, &batch, values, lanes);
  for (int64_t p = 0; p < b->nodes; p++)
    sum += B[0][p % n] * B[1][p / n % n] * B[2][p / n / n] * lanes[p * TESI_BATCH + cell - batch.first];
  *value = sum;
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &lanes);
  tesi_batches_destroy(&b);
  return status;
}

TesStatus tes_functional_value(const TesSpace *space, const TesVector *u, const TesValue *what,
                               double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_CHECK(!u || u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  if (what->kind != TES_VALUE_POINT)
    TES_TRY(integral(space, u, what, value));
  else if (u)
    TES_TRY(value_at(space, u, what->point, value));
  else
    *value = 1;
done:
  return status;
}
