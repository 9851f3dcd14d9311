/* Errors and integrals over forests, cell by cell. */
#include <math.h>
#include <omp.h>
#include "operator/forest/forest_cells.h"
#include "tessera/forest_operator.h"

typedef struct Errors {
  const TesiCellRule *rule;
  const double *u;
  const TesFunction *exact;
  TesFunction *gradient[3];
} Errors;

static double square_of_values(const Errors *s, const TesiCellPoints *at, const double *local) {
  double value[TESI_CELL_POINTS], exact[TESI_CELL_POINTS], sum = 0;
  const int64_t n = s->rule->points;
  tesi_cell_evaluate(s->rule, -1, local, value);
  if (s->exact) tesi_function_values(s->exact, n, at->x, at->x + n, at->x + 2 * n, 0, exact);
  for (int64_t p = 0; p < n; p++) {
    const double e = value[p] - (s->exact ? exact[p] : 0);
    sum += at->weight[p] * e * e;
  }
  return sum;
}

static double square_of_gradients(const Errors *s, const TesiCellPoints *at, const double *local) {
  double gradient[3 * TESI_CELL_POINTS], exact[TESI_CELL_POINTS], sum = 0;
  const int64_t n = s->rule->points;
  for (int d = 0; d < s->rule->dim; d++) tesi_cell_evaluate(s->rule, d, local, gradient + d * n);
  tesi_cell_gradient(s->rule, at, gradient, gradient);
  for (int d = 0; d < s->rule->dim; d++) {
    if (s->exact) tesi_function_values(s->gradient[d], n, at->x, at->x + n, at->x + 2 * n, 0, exact);
    for (int64_t p = 0; p < n; p++) {
      const double e = gradient[d * n + p] - (s->exact ? exact[p] : 0);
      sum += at->weight[p] * e * e;
    }
  }
  return sum;
}

TesStatus tes_forest_cell_errors(const TesSpace *space, const double *u, const TesFunction *exact, double *l2,
                                 double *h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesGeometry *geometry;
  TesiCellRule *rule = NULL;
  TesiCellPoints *points = NULL;
  Errors s = {.u = u, .exact = exact};
  const int threads = tes_context_threads(ctx);
  TES_TRY(tesi_mesh_geometry(space->mesh, &geometry));
  TES_NEW(&rule);
  TES_ALLOC(&points, threads);
  tesi_cell_rule(space->view, space->degree + 3, rule);
  s.rule = rule;
  for (int d = 0; h1 && exact && d < space->dim; d++)
    TES_TRY(tes_function_create_derivative(exact, d, &s.gradient[d]));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t c = 0; c < space->mesh->cells; c++) {
    TesiCellPoints *at = &points[omp_get_thread_num()];
    double local[TESI_CELL_MOST];
    tesi_cell_points(rule, c, at);
    tesi_cells_read(space->view, c, u, local);
    if (l2) l2[c] = square_of_values(&s, at, local);
    if (h1) h1[c] = square_of_gradients(&s, at, local);
  }
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&s.gradient[d]);
  tesi_free(ctx, &rule);
  tesi_free(ctx, &points);
  return status;
}

static TesStatus root_of_sum(TesContext *ctx, int64_t n, const double *values, double *root) {
  TesStatus status = TES_OK;
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += values[i];
  if (!isfinite(sum))
    TES_FAIL(TES_NAN, "the error is not a number: the exact solution is not finite at a point");
  *root = sqrt(sum);
done:
  return status;
}

TesStatus tes_forest_errors(const TesSpace *space, const double *u, const TesFunction *exact, double *l2,
                            double *h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL, *gradients = NULL;
  TES_ALLOC(&values, space->mesh->cells);
  if (h1) TES_ALLOC(&gradients, space->mesh->cells);
  TES_TRY(tes_forest_cell_errors(space, u, exact, values, gradients));
  TES_TRY(root_of_sum(ctx, space->mesh->cells, values, l2));
  if (h1) TES_TRY(root_of_sum(ctx, space->mesh->cells, gradients, h1));
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &gradients);
  return status;
}

TesStatus tes_forest_integral(const TesSpace *space, const double *u, double *integral, double *volume) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesGeometry *geometry;
  TesiCellRule *rule = NULL;
  TesiCellPoints *at = NULL;
  double local[TESI_CELL_MOST], value[TESI_CELL_POINTS];
  TES_TRY(tesi_mesh_geometry(space->mesh, &geometry));
  TES_NEW(&rule);
  TES_NEW(&at);
  tesi_cell_rule(space->view, space->degree + 2, rule);
  *integral = *volume = 0;
  for (int64_t c = 0; c < space->mesh->cells; c++) {
    tesi_cell_points(rule, c, at);
    tesi_cells_read(space->view, c, u, local);
    tesi_cell_evaluate(rule, -1, local, value);
    for (int64_t p = 0; p < rule->points; p++)
      *integral += at->weight[p] * value[p], *volume += at->weight[p];
  }
done:
  tesi_free(ctx, &rule);
  tesi_free(ctx, &at);
  return status;
}
