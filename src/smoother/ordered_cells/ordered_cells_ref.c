/* Incomplete factors with dense matrices: the pattern from the cells, the entries from the plain operator. */
#include <string.h>
#include "parallel/comm.h"
#include "smoother/ordered_cells/ordered_cells.h"

/* pattern[n][n] <- whether two unknowns are in one cell; rows and columns of given values have the diagonal alone. */
static TesStatus take_pattern(const TesOperator *op, uint8_t *pattern) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiCellView *v;
  const int64_t n = op->length;
  TES_TRY(tesi_space_cells(op->space->scalar[0], &v));
  for (int64_t e = 0; e < v->cells * v->cell_nodes; e++)
    for (int64_t f = e / v->cell_nodes * v->cell_nodes; f < (e / v->cell_nodes + 1) * v->cell_nodes; f++)
      if (v->index[e] >= 0 && v->index[f] >= 0) pattern[v->index[e] * n + v->index[f]] = 1;
  for (int64_t k = 0; k < v->length - v->dofs; k++)
    for (int64_t i = 0; i < n; i++)
      pattern[v->constrained[k] * n + i] = pattern[i * n + v->constrained[k]] = i == v->constrained[k];
done:
  return status;
}

/* A <- the columns of the plain operator; the identity at given values. */
static TesStatus take_columns(const TesOperator *op, double *unit, double *image, double *A) {
  TesStatus status = TES_OK;
  const int64_t n = op->length;
  for (int64_t j = 0; j < n && status == TES_OK; j++) {
    memset(unit, 0, (size_t)n * sizeof *unit);
    unit[j] = 1;
    status = op->table->apply_ref(op, unit, image);
    for (int64_t i = 0; i < n; i++) A[i * n + j] = image[i];
  }
  return status;
}

/* F <- the factors without fill of A, in the order of `order`, by the right-looking elimination. */
static void eliminate(int64_t n, const int32_t *order, const uint8_t *pattern, double *F) {
  for (int64_t s = 0; s < n; s++) {
    const int64_t k = order[s];
    if (F[k * n + k] == 0) F[k * n + k] = 1; /* a given value */
    for (int64_t t = s + 1; t < n; t++) {
      const int64_t i = order[t];
      if (!pattern[i * n + k]) continue;
      F[i * n + k] /= F[k * n + k];
      for (int64_t u = s + 1; u < n; u++) {
        const int64_t j = order[u];
        if (pattern[i * n + j] && pattern[k * n + j]) F[i * n + j] -= F[i * n + k] * F[k * n + j];
      }
    }
  }
}

static void solve(int64_t n, const int32_t *order, const double *F, const uint8_t *pattern, double *r) {
  for (int64_t s = 0; s < n; s++)
    for (int64_t t = 0; t < s; t++)
      if (pattern[order[s] * n + order[t]]) r[order[s]] -= F[order[s] * n + order[t]] * r[order[t]];
  for (int64_t s = n - 1; s >= 0; s--) {
    const int64_t i = order[s];
    for (int64_t t = s + 1; t < n; t++)
      if (pattern[i * n + order[t]]) r[i] -= F[i * n + order[t]] * r[order[t]];
    r[i] /= F[i * n + i];
  }
}

TesStatus tesi_ordered_cells_apply_ref(const TesSmoother *smoother, const double *b, double *x,
                                       TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const int64_t n = op->length;
  double *A = NULL, *unit = NULL, *image = NULL;
  uint8_t *pattern = NULL;
  int32_t *order = NULL;
  int64_t longest;
  (void)sweep;
  TES_TRY(tesi_one_rank(ctx, "a dense matrix of the plain operator"));
  TES_ALLOC(&A, n * n);
  TES_ALLOC(&unit, n);
  TES_ALLOC(&image, n);
  TES_ALLOC(&pattern, n * n);
  TES_ALLOC(&order, n);
  TES_TRY(tesi_ordered_cells_order(op, order, &longest, NULL));
  TES_TRY(take_pattern(op, pattern));
  TES_TRY(take_columns(op, unit, image, A));
  TES_TRY(op->table->apply_ref(op, x, image));
  for (int64_t i = 0; i < n; i++) image[i] = b[i] - image[i];
  eliminate(n, order, pattern, A);
  solve(n, order, A, pattern, image);
  for (int64_t i = 0; i < n; i++) x[i] += smoother->omega * image[i];
done:
  tesi_free(ctx, &A);
  tesi_free(ctx, &unit);
  tesi_free(ctx, &image);
  tesi_free(ctx, &pattern);
  tesi_free(ctx, &order);
  return status;
}
