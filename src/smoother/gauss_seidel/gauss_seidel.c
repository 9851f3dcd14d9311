/* Point Gauss-Seidel, sequential, in float64 on the host: for comparisons with the patch smoother. */
#include <stdio.h>
#include "smoother/gauss_seidel/gauss_seidel.h"

typedef struct Plan {
  TesiRows rows;
  int64_t *order;
  double *b, *x;
} Plan;

static void sweep_over(const Plan *plan, int64_t count, TesSweep sweep) {
  for (int64_t s = 0; s < count; s++) {
    const int64_t i = plan->order[sweep == TES_FORWARD ? s : count - 1 - s];
    double diagonal = 1;
    const double sum = tesi_rows_product(&plan->rows, i, plan->x, &diagonal);
    plan->x[i] = (plan->b[i] - sum) / diagonal;
  }
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const int64_t n = op->space->length;
  TesVector bv = {.context = ctx, .length = n, .precision = op->precision, .data = (void *)b},
            xv = {.context = ctx, .length = n, .precision = op->precision, .data = x};
  TES_TRY(tes_vector_get(&bv, plan->b));
  if (!zero_guess) TES_TRY(tes_vector_get(&xv, plan->x));
  for (int64_t i = 0; zero_guess && i < op->space->length; i++) plan->x[i] = 0;
  sweep_over(plan, op->space->dofs, sweep);
  TES_TRY(tes_vector_set(&xv, plan->x));
done:
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  const TesSpace *space = smoother->op->space;
  const double n = (double)space->dofs;
  double entries = 1; /* entries per row on average: (degree + 2) per direction */
  for (int d = 0; d < space->dim; d++) entries *= space->degree + 2;
  return (TesCost){.flops = n * entries * (plan->rows.values ? 2 : 6),
                   .bytes = n * (3 + (plan->rows.values ? entries : 0)) * sizeof(double)};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *plan = smoother->plan;
  if (plan) {
    tesi_rows_destroy(ctx, &plan->rows);
    tesi_free(ctx, &plan->order);
    tesi_free(ctx, &plan->b);
    tesi_free(ctx, &plan->x);
  }
  tesi_free(ctx, &plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_gauss_seidel_apply_ref, .cost = cost, .destroy = destroy};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  const bool morton = smoother->kind == TES_SMOOTHER_GAUSS_SEIDEL_MORTON;
  Plan *plan;
  smoother->table = &table;
  TES_NEW(&plan);
  smoother->plan = plan;
  TES_CHECK(smoother->omega == 0 || smoother->omega == 1, "omega is %g: point Gauss-Seidel is not damped",
            smoother->omega);
  TES_TRY(tesi_rows_create(smoother->op, &plan->rows));
  TES_ALLOC(&plan->order, space->dofs);
  TES_ALLOC(&plan->b, space->length);
  TES_ALLOC(&plan->x, space->length);
  if (morton)
    tesi_morton_order(space, plan->order);
  else
    tesi_lexicographic_order(space, plan->order);
  smoother->omega = 1;
  smoother->symmetric = true;
  snprintf(smoother->description, sizeof smoother->description, "point Gauss-Seidel, %s, %s, sequential",
           morton ? "cells in Morton order" : "lexicographic",
           plan->rows.values ? "matrix stored" : "rows computed");
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const TesOperator *op = smoother->op;
  return op->local ? "it goes from node to node, and so is for one rank; use patch, chebyshev or jacobi"
                   : tesi_smoother_wants_open_box(op);
}

const TesiSmootherKind tesi_smoother_gauss_seidel = {
    TESI_SMOOTHES(TES_SMOOTHER_GAUSS_SEIDEL) | TESI_SMOOTHES(TES_SMOOTHER_GAUSS_SEIDEL_MORTON), refuses, init};
