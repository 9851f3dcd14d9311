/* The energy of an error of elasticity, cell by cell: estimate.h. */
#include <string.h>
#include "base/work.h"
#include "problem/adapt/estimate.h"

typedef struct ElasticError {
  const TesiResidual *s;
  TesFunction *slope[3][3];
  TesiResidualAt *at; /* [threads] */
  double *error2;
} ElasticError;

/* int sigma : grad e of cells, where sigma is symmetric and grad e the gradient without the exact one. */
static void add_energies(const void *data, TesiSpan span) {
  const ElasticError *of = data;
  const int dim = of->s->rule.dim;
  TesiResidualAt *at = &of->at[span.thread];
  for (int64_t b = span.first; b < span.end; b++) {
    double sum[TESI_LANES] = {0}, *const exact = at->spare[3], *const copy = at->spare[4];
    tesi_residual_begin(at, b);
    tesi_residual_gradients(at);
    const int64_t n = at->n, all = dim * dim * n;
    for (int e = 0; e < dim * dim; e++) {
      tesi_residual_values(at, of->slope[e / dim][e % dim], 0, NULL, exact);
      for (int64_t i = 0; i < n; i++) at->G[e * n + i] -= exact[i];
    }
    memcpy(copy, at->G, (size_t)all * sizeof *copy);
    tesi_residual_flux(at, at->G);
    for (int64_t i = 0; i < all; i++) sum[i % TESI_LANES] += at->weight[i % n] * at->G[i] * copy[i];
    for (int l = 0; l < at->count; l++) of->error2[at->item[l]] = sum[l];
  }
}

TesStatus tesi_elastic_error(const TesProblem *problem, double *error2) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const int dim = problem->mesh->dim;
  TesiResidual *s = NULL;
  ElasticError of = {.error2 = error2};
  int threads = 0;
  for (int c = 0; c < dim; c++)
    for (int d = 0; d < dim; d++)
      TES_TRY(tes_function_create_derivative(problem->exact[c], d, &of.slope[c][d]));
  TES_TRY(tesi_residual_create(problem, &s));
  of.s = s;
  threads = tesi_team_threads(ctx, 16 * s->space->cells * s->space->cell_nodes);
  TES_TRY(tesi_residual_at_create(s, threads, &of.at));
  TES_TRY(tesi_work_share(ctx, threads, s->cells.batches, 8, add_energies, &of));
done:
  for (int i = 0; i < 9; i++) tes_function_destroy(&of.slope[i / 3][i % 3]);
  tesi_residual_at_free(ctx, threads, &of.at);
  tesi_residual_destroy(ctx, &s);
  return status;
}
