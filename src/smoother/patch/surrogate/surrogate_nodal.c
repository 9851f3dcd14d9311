/* Patch smoothers for varying coefficients by nodal scaling: with the constant-coefficient operator A_0 of the same
 * space,
 *   x <- x + omega D^-1/2 P D^-1/2 (b - A x),   D = diag(A) / diag(A_0),
 * where P is one whole sweep of the separable smoother for A_0 from a zero guess: one residual and one fast sweep.
 *
 * Reason: for a = s^2, -div(a grad u) = s (-Lap + Lap(s)/s) (s u) (Liouville's transformation), so that A and
 * D^1/2 A_0 D^1/2 differ by a term of lower order, which vanishes with the patch size; as do the reaction terms
 * when A_0 has the mean of c/a. s must be smooth on the scale of cells: not for jumps of a. */
#include <math.h>
#include <stdio.h>
#include "smoother/patch/surrogate/surrogate.h"

typedef struct Plan {
  TesOperator *constant; /* A_0 */
  TesSmoother *inner;    /* P */
  void *scale, *r, *e;   /* D^-1/2 and work */
  double variation;      /* largest ratio of D between nodes of one cell */
} Plan;

/* e <- P D^-1/2 r. */
static TesStatus scaled_sweep(const TesSmoother *smoother, const void *r, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  TES_TRY(tesi_device_multiply(ctx, op->precision, op->space->length, 1, r, plan->scale, plan->r));
  TES_TRY(plan->inner->table->apply(plan->inner, plan->r, plan->e, sweep, true));
done:
  return status;
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const int64_t n = op->space->length;
  if (zero_guess) {
    TES_TRY(scaled_sweep(smoother, b, sweep));
    TES_TRY(tesi_device_multiply(ctx, op->precision, n, smoother->omega, plan->e, plan->scale, x));
  } else {
    TES_TRY(op->table->residual(op, b, x, plan->r));
    TES_TRY(scaled_sweep(smoother, plan->r, sweep));
    TES_TRY(tesi_context_device(ctx)->multiply_add(ctx, op->precision, n, smoother->omega, plan->e,
                                                   plan->scale, x));
  }
done:
  return status;
}

/* The same with the plain operators, diagonals and sweep. */
static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const int64_t n = op->space->length;
  double *r = NULL, *e = NULL, *d = NULL, *d0 = NULL;
  TES_ALLOC(&r, n);
  TES_ALLOC(&e, n); /* zeros */
  TES_ALLOC(&d, n);
  TES_ALLOC(&d0, n);
  TES_TRY(tesi_diffusion_diagonal_ref(op, d));
  TES_TRY(tesi_diffusion_diagonal_ref(plan->constant, d0));
  TES_TRY(op->table->apply_ref(op, x, r));
  for (int64_t i = 0; i < n; i++) r[i] = (b[i] - r[i]) * sqrt(d0[i] / d[i]);
  TES_TRY(plan->inner->table->apply_ref(plan->inner, r, e, sweep));
  for (int64_t i = 0; i < n; i++) x[i] += smoother->omega * sqrt(d0[i] / d[i]) * e[i];
done:
  tesi_free(ctx, &r);
  tesi_free(ctx, &e);
  tesi_free(ctx, &d);
  tesi_free(ctx, &d0);
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const double n = (double)op->space->length;
  const TesCost residual = op->table->cost(op), sweep = plan->inner->table->cost(plan->inner);
  return (TesCost){.flops = residual.flops + sweep.flops + 4 * n,
                   .bytes = residual.bytes + sweep.bytes + 7 * n * (double)tesi_precision_size(op->precision)};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *plan = smoother->plan;
  if (plan) {
    tes_smoother_destroy(&plan->inner);
    tes_operator_destroy(&plan->constant);
    tesi_context_device(ctx)->release(ctx, &plan->scale);
    tesi_context_device(ctx)->release(ctx, &plan->r);
    tesi_context_device(ctx)->release(ctx, &plan->e);
  }
  tesi_free(ctx, &plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

/* A_0: -Lap + mean(c/a), with Robin terms mean(alpha/a). */
static TesStatus create_constant(const TesOperator *op, TesOperator **constant) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDiffusion *d = tesi_diffusion_of(op);
  double mean, alpha[6] = {0};
  for (int face = 0; face < 6; face++)
    TES_TRY(tesi_coefficient_ratio(op, d->alpha_function[face], face, &alpha[face]));
  TES_TRY(tesi_coefficient_ratio(op, d->c_function, -1, &mean));
  TES_TRY(tesi_operator_create_constant(op->space, op->precision, 1, mean, alpha, constant));
done:
  return status;
}

/* The largest ratio of values between nodes of one cell that are unknowns. */
static double largest_ratio(const TesSpace *space, const double *values) {
  const TesiAxis *axis = space->axis;
  double ratio = 1;
  int cell[3], i[3];
  for (cell[2] = 0; cell[2] < axis[2].cells; cell[2]++)
    for (cell[1] = 0; cell[1] < axis[1].cells; cell[1]++)
      for (cell[0] = 0; cell[0] < axis[0].cells; cell[0]++) {
        double smallest = INFINITY, largest = 0;
        int from[3], to[3];
        for (int d = 0; d < 3; d++) {
          from[d] = tesi_max(cell[d] * axis[d].degree, tesi_axis_first(&axis[d]));
          to[d] = tesi_min(cell[d] * axis[d].degree + axis[d].degree + 1, tesi_axis_end(&axis[d]));
        }
        for (i[2] = from[2]; i[2] < to[2]; i[2]++)
          for (i[1] = from[1]; i[1] < to[1]; i[1]++)
            for (i[0] = from[0]; i[0] < to[0]; i[0]++) {
              const double v = values[((int64_t)i[2] * axis[1].nodes + i[1]) * axis[0].nodes + i[0]];
              smallest = fmin(smallest, v), largest = fmax(largest, v);
            }
        if (largest > 0) ratio = fmax(ratio, largest / smallest);
      }
  return ratio;
}

double tesi_nodal_variation(const TesSmoother *smoother) {
  return ((const Plan *)smoother->plan)->variation;
}

/* scale <- sqrt(diag(A_0) / diag(A)). */
static TesStatus fill_scale(const TesOperator *op, Plan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *d = NULL, *d0 = NULL;
  TES_ALLOC(&d, op->length);
  TES_ALLOC(&d0, op->length);
  TES_TRY(op->table->diagonal(op, plan->scale));
  TES_TRY(tesi_operator_get(op, plan->scale, d));
  TES_TRY(plan->constant->table->diagonal(plan->constant, plan->scale));
  TES_TRY(tesi_operator_get(op, plan->scale, d0));
  for (int64_t i = 0; i < op->length; i++) d[i] = sqrt(d0[i] / d[i]);
  TES_TRY(tesi_operator_set(op, d, plan->scale));
  plan->variation = largest_ratio(op->space, d);
  plan->variation *= plan->variation;
done:
  tesi_free(ctx, &d);
  tesi_free(ctx, &d0);
  return status;
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  Plan *plan;
  smoother->table = &table;
  TES_NEW(&plan);
  smoother->plan = plan;
  TES_TRY(create_constant(op, &plan->constant));
  TES_TRY(tesi_operator_vector(op, &plan->scale));
  TES_TRY(tesi_operator_vector(op, &plan->r));
  TES_TRY(tesi_operator_vector(op, &plan->e));
  TES_TRY(fill_scale(op, plan));
  const TesSmootherDesc inner = {.op = plan->constant, .kind = smoother->kind, .omega = 1};
  TES_TRY(tes_smoother_create(ctx, &inner, &plan->inner));
  TES_TRY(tesi_patch_damping(smoother));
  smoother->symmetric = plan->inner->symmetric;
  snprintf(smoother->description, sizeof smoother->description, "nodal scaling, omega %.3g, of: %.100s",
           smoother->omega, plan->inner->description);
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const char *reason = tesi_smoother_wants_patches(smoother);
  return reason ? reason : smoother->local == TES_LOCAL_NODAL ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_nodal = {
    TESI_SMOOTHES(TES_SMOOTHER_PATCH) | TESI_SMOOTHES(TES_SMOOTHER_PATCH_ADDITIVE), refuses, init};
