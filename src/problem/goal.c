/* Goals of dual-weighted residuals: values of functions, and right-hand sides of dual problems. */
#include <math.h>
#include <string.h>
#include "problem/estimate.h"

/* Newton's method for F_K(xi) = x; whether xi ends in the cell. */
static bool find_in_cell(const TesGeometry *geometry, int dim, int64_t cell, const double *x, double *xi) {
  double at[3], J[9];
  for (int d = 0; d < dim; d++) xi[d] = 0.5;
  for (int step = 0; step < 20; step++) {
    double r[3], delta[3], size = 0;
    if (tesi_geometry_evaluate(geometry, cell, 1, xi, at, J) != TES_OK) return false;
    for (int d = 0; d < dim; d++) r[d] = x[d] - at[d];
    if (dim == 2) {
      const double det = J[0] * J[3] - J[1] * J[2];
      delta[0] = (J[3] * r[0] - J[1] * r[1]) / det;
      delta[1] = (-J[2] * r[0] + J[0] * r[1]) / det;
    } else {
      double rows[3][3], det = 0;
      for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) {
          const int d = (c + 1) % 3, e = (c + 2) % 3, k = (i + 1) % 3, l = (i + 2) % 3;
          rows[c][i] = J[k * 3 + d] * J[l * 3 + e] - J[l * 3 + d] * J[k * 3 + e];
        }
      for (int i = 0; i < 3; i++) det += J[i * 3] * rows[0][i];
      for (int c = 0; c < 3; c++)
        delta[c] = (rows[c][0] * r[0] + rows[c][1] * r[1] + rows[c][2] * r[2]) / det;
    }
    for (int d = 0; d < dim; d++) {
      xi[d] += delta[d];
      size = fmax(size, fabs(delta[d]));
      if (!(fabs(xi[d] - 0.5) < 4)) return false;
    }
    if (size < 1e-13) break;
  }
  bool inside = true;
  for (int d = 0; d < dim; d++) {
    inside = inside && xi[d] > -1e-9 && xi[d] < 1 + 1e-9;
    xi[d] = fmin(fmax(xi[d], 0), 1);
  }
  return inside;
}

static TesStatus find_point(const TesiCellView *space, const double *x, int64_t *cell, double *xi) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  for (*cell = 0; *cell < space->cells; ++*cell)
    if (find_in_cell(space->mesh->geometry, space->dim, *cell, x, xi)) return TES_OK;
  TES_FAIL(TES_INVALID_INPUT, "the goal's point (%g, %g, %g) lies in no cell", x[0], x[1], x[2]);
done:
  return status;
}

static TesStatus find_boundary(const TesiCellView *space, const TesGoal *goal, int *boundary) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_CHECK(goal->boundary, "the goal is a mean on a boundary: which one?");
  TES_TRY(tes_mesh_find_boundary(space->mesh, goal->boundary, boundary));
  TES_CHECK(tes_mesh_boundary_faces(space->mesh, *boundary) > 0,
            "the goal is the mean on %s, whose faces all lie between cells: choose one of the boundary",
            goal->boundary);
  TES_CHECK(!tesi_cells_given(space, *boundary),
            "the goal is the mean on %s, where the values are given: choose a boundary with a neumann or "
            "robin condition",
            goal->boundary);
done:
  return status;
}

/* int over the boundary of phi_i to b, and its area. */
static TesStatus boundary_load(const TesSpace *of, int boundary, double *b, double *area) {
  const TesiCellView *space = of->view;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(space->mesh);
  const TesFunction **g = NULL;
  TesFunction *one = NULL;
  TesiFaceRule rule;
  double x[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST];
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  TES_ALLOC(&g, names);
  g[boundary] = one;
  TES_TRY(tes_forest_load(&(TesForestLoadDesc){.space = of, .g = g}, b));
  tesi_face_rule(space->dim, space->degree, space->degree + 3, &rule);
  *area = 0;
  for (int64_t c = 0; c < space->cells; c++)
    for (int f = 0, name; f < 2 * space->dim; f++) {
      if (!tes_mesh_on_boundary(space->mesh, c, f, &name) || name != boundary) continue;
      TES_TRY(tesi_face_geometry(&rule, space->mesh->geometry, c, f, x, weight, NULL));
      for (int p = 0; p < rule.points; p++) *area += weight[p];
    }
done:
  tesi_free(ctx, &g);
  tes_function_destroy(&one);
  return status;
}

/* functional[length] of the mean. */
static TesStatus mean_load(const TesSpace *of, const TesGoal *goal, double *b) {
  const TesiCellView *space = of->view;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  int boundary;
  double area;
  TES_TRY(find_boundary(space, goal, &boundary));
  TES_TRY(boundary_load(of, boundary, b, &area));
  for (int64_t i = 0; i < space->length; i++) b[i] /= area;
done:
  return status;
}

/* Products of the 1D functions at xi. */
static void functions_at(const TesiCellView *space, const double *xi, double *local) {
  double unit[TESI_CELL_MOST];
  for (int p = 0; p < space->cell_nodes; p++) {
    memset(unit, 0, sizeof unit);
    unit[p] = 1;
    tesi_local_values(space->dim, space->degree, unit, 1, xi, &local[p], NULL);
  }
}

TesStatus tesi_goal_load(const TesSpace *of, const TesGoal *goal, double *b) {
  const TesiCellView *space = of->view;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double local[TESI_CELL_MOST], xi[3], *load = NULL;
  int64_t cell;
  if (goal->kind == TES_GOAL_POINT) {
    TES_TRY(find_point(space, goal->point, &cell, xi));
    functions_at(space, xi, local);
    tesi_cells_add(space, cell, local, b);
  } else {
    TES_ALLOC(&load, space->length);
    TES_TRY(mean_load(of, goal, load));
    for (int64_t i = 0; i < space->length; i++) b[i] += load[i];
  }
done:
  tesi_free(ctx, &load);
  return status;
}

/* The mean by quadrature on the faces, as Dirichlet values at the edges of the boundary count too. */
static TesStatus mean_value(const TesSpace *of, const TesGoal *goal, const double *u, double *value) {
  const TesiCellView *space = of->view;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiFaceRule rule;
  double x[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST], local[TESI_CELL_MOST], in[TESI_FACE_MOST],
      at[TESI_FACE_MOST], area = 0, sum = 0;
  int boundary;
  TES_TRY(find_boundary(space, goal, &boundary));
  tesi_face_rule(space->dim, space->degree, space->degree + 3, &rule);
  for (int64_t c = 0; c < space->cells; c++)
    for (int f = 0, name; f < 2 * space->dim; f++) {
      if (!tes_mesh_on_boundary(space->mesh, c, f, &name) || name != boundary) continue;
      TES_TRY(tesi_face_geometry(&rule, space->mesh->geometry, c, f, x, weight, NULL));
      tesi_cells_read(space, c, u, local);
      for (int i = 0; i < rule.nodes; i++) in[i] = local[tesi_face_node(rule.dim, rule.n, f, i)];
      tesi_face_interpolate(&rule, in, at);
      for (int p = 0; p < rule.points; p++) area += weight[p], sum += weight[p] * at[p];
    }
  *value = sum / area;
done:
  return status;
}

TesStatus tes_goal_value(const TesSpace *of, const TesGoal *goal, const double *u, double *value) {
  const TesiCellView *space = of->view;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double local[TESI_CELL_MOST], xi[3];
  int64_t cell;
  if (goal->kind == TES_GOAL_MEAN) return mean_value(of, goal, u, value);
  TES_TRY(find_point(space, goal->point, &cell, xi));
  tesi_cells_read(space, cell, u, local);
  tesi_local_values(space->dim, space->degree, local, 1, xi, value, NULL);
done:
  return status;
}
