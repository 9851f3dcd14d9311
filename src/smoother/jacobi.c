/* Damped Jacobi: x <- x + omega D^-1 (b - A x). Default omega = 4 / (3 lambda), lambda the largest eigenvalue of
 * D^-1 A:
 * the best damping of the upper half of the spectrum. Each step is one residual and one pass over three vectors. */
#include <stdio.h>
#include "smoother/spectrum.h"

typedef struct Plan {
  void *inverse_diagonal, *r;
} Plan;

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const int64_t n = op->length;
  (void)sweep;
  if (zero_guess) {
    TES_TRY(tesi_device_multiply(ctx, op->precision, n, smoother->omega, b, plan->inverse_diagonal, x));
  } else {
    TES_TRY(op->table->residual(op, b, x, plan->r));
    TES_TRY(tesi_context_device(ctx)->multiply_add(ctx, op->precision, n, smoother->omega, plan->r,
                                                   plan->inverse_diagonal, x));
  }
done:
  return status;
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int64_t n = smoother->op->length;
  double *Ax = NULL, *d = NULL;
  (void)sweep;
  TES_ALLOC(&Ax, n);
  TES_ALLOC(&d, n);
  TES_TRY(smoother->op->table->apply_ref(smoother->op, x, Ax));
  TES_TRY(tesi_diagonal_ref(smoother->op, d));
  for (int64_t i = 0; i < n; i++) x[i] += smoother->omega * (b[i] - Ax[i]) / d[i];
done:
  tesi_free(ctx, &Ax);
  tesi_free(ctx, &d);
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const TesOperator *op = smoother->op;
  const double n = (double)op->length;
  const TesCost residual = op->table->cost(op);
  return (TesCost){.flops = residual.flops + 4 * n,
                   .bytes = residual.bytes + 5 * n * (double)tesi_precision_size(op->precision)};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *plan = smoother->plan;
  if (plan) {
    tesi_context_device(ctx)->release(ctx, &plan->inverse_diagonal);
    tesi_context_device(ctx)->release(ctx, &plan->r);
  }
  tesi_free(ctx, &plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  Plan *plan;
  double lambda;
  smoother->table = &table;
  TES_NEW(&plan);
  smoother->plan = plan;
  TES_TRY(tesi_inverse_diagonal(smoother->op, &plan->inverse_diagonal));
  TES_TRY(tesi_operator_vector(smoother->op, &plan->r));
  if (smoother->omega == 0) {
    TES_TRY(tesi_largest_jacobi_eigenvalue(smoother->op, plan->inverse_diagonal, &lambda));
    smoother->omega = 4 / (3 * lambda);
  }
  smoother->symmetric = true;
  snprintf(smoother->description, sizeof smoother->description, "jacobi, omega %.3g", smoother->omega);
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  return tesi_smoother_wants_diagonal(smoother->op);
}

const TesiSmootherKind tesi_smoother_jacobi = {TESI_SMOOTHES(TES_SMOOTHER_JACOBI), refuses, init};
