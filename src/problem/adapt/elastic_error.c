/* The energy of an error of elasticity, cell by cell: estimate.h. */
#include "problem/adapt/estimate.h"

/* G[dim][dim][points] <- minus the gradient of the exact solution. */
static void subtract_exact(const TesiResidual *s, TesFunction *slope[3][3], const TesiCellPoints *at,
                           double *G) {
  const int dim = s->rule.dim;
  const int64_t n = s->rule.points;
  double value[TESI_CELL_POINTS];
  for (int c = 0; c < dim; c++)
    for (int d = 0; d < dim; d++) {
      tesi_function_values(slope[c][d], n, at->x, at->x + n, at->x + 2 * n, 0, value);
      for (int64_t p = 0; p < n; p++) G[(c * dim + d) * n + p] -= value[p];
    }
}

/* int sigma : grad e, where sigma is symmetric. */
static double energy_of(const TesiResidual *s, TesFunction *slope[3][3], int64_t cell, TesiCellPoints *at) {
  const int dim = s->rule.dim;
  const int64_t n = s->rule.points;
  double G[9 * TESI_CELL_POINTS], F[9 * TESI_CELL_POINTS], sum = 0;
  tesi_cell_points(&s->rule, cell, at);
  tesi_residual_gradient(s, cell, at, G);
  subtract_exact(s, slope, at, G);
  for (int64_t i = 0; i < dim * dim * n; i++) F[i] = G[i];
  tesi_residual_flux(s, cell, n, at->x, F);
  for (int64_t i = 0; i < dim * dim * n; i++) sum += at->weight[i % n] * F[i] * G[i];
  return sum;
}

TesStatus tesi_elastic_error(const TesProblem *problem, double *error2) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const int dim = problem->mesh->dim;
  TesiResidual *s = NULL;
  TesiCellPoints *at = NULL;
  TesFunction *slope[3][3] = {{NULL}};
  for (int c = 0; c < dim; c++)
    for (int d = 0; d < dim; d++) TES_TRY(tes_function_create_derivative(problem->exact[c], d, &slope[c][d]));
  TES_TRY(tesi_residual_create(problem, &s));
  TES_NEW(&at);
  for (int64_t cell = 0; cell < s->space->cells; cell++) error2[cell] = energy_of(s, slope, cell, at);
done:
  for (int i = 0; i < 9; i++) tes_function_destroy(&slope[i / 3][i % 3]);
  tesi_residual_destroy(ctx, &s);
  tesi_free(ctx, &at);
  return status;
}
