/* Smoothers of operators that do not couple the parts: one per part. Equal parts share a smoother. */
#include <limits.h>
#include <stdio.h>
#include "operator/operator_by_part.h"
#include "smoother/chebyshev.h"
#include "smoother/smoother.h"

typedef struct Plan {
  int count;
  TesSmoother *part[TESI_SCALARS]; /* NULL: the smoother of part same[] */
  int same[TESI_SCALARS];
} Plan;

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  const Plan *plan = smoother->plan;
  const int64_t *first = smoother->op->space->part_first;
  const size_t size = tesi_precision_size(smoother->op->precision);
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++) {
    const TesSmoother *part = plan->part[plan->same[p]];
    status = part->table->apply(part, (const char *)b + (size_t)first[p] * size,
                                (char *)x + (size_t)first[p] * size, sweep, zero_guess);
  }
  return status;
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const Plan *plan = smoother->plan;
  const int64_t *first = smoother->op->space->part_first;
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++) {
    const TesSmoother *part = plan->part[plan->same[p]];
    status = part->table->apply_ref(part, b + first[p], x + first[p], sweep);
  }
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  TesCost sum = {0};
  for (int p = 0; p < plan->count; p++) {
    const TesSmoother *part = plan->part[plan->same[p]];
    const TesCost one = part->table->cost(part);
    sum.flops += one.flops, sum.bytes += one.bytes;
  }
  return sum;
}

static void destroy(TesSmoother *smoother) {
  Plan *plan = smoother->plan;
  for (int p = 0; plan && p < TESI_SCALARS; p++) tes_smoother_destroy(&plan->part[p]);
  tesi_free(smoother->context, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiOperatorByPart *parts = tesi_operator_by_part_of(smoother->op);
  Plan *plan;
  TES_NEW(&plan);
  smoother->plan = plan;
  smoother->table = &table;
  smoother->symmetric = true;
  for (; plan->count < parts->count; plan->count++) {
    const int p = plan->count;
    int same = 0;
    while (parts->part[same] != parts->part[p]) same++;
    plan->same[p] = same;
    if (same < p) continue;
    const TesSmootherDesc desc = {.op = parts->part[p],
                                  .kind = smoother->kind,
                                  .local = smoother->local,
                                  .omega = smoother->omega,
                                  .degree = smoother->degree,
                                  .ratio = smoother->ratio};
    TES_TRY(tes_smoother_create(ctx, &desc, &plan->part[p]));
    smoother->symmetric = smoother->symmetric && plan->part[p]->symmetric;
  }
  snprintf(smoother->description, sizeof smoother->description, "%s", plan->part[0]->description);
done:
  return status;
}

int tesi_polynomial_degree(const TesSmoother *smoother) {
  if (smoother->table != &table) return tesi_is_chebyshev(smoother) ? smoother->degree : 0;
  const Plan *plan = smoother->plan;
  int degree = INT_MAX;
  for (int p = 0; p < plan->count; p++)
    degree = tesi_min(degree, tesi_polynomial_degree(plan->part[plan->same[p]]));
  return degree;
}

TesStatus tesi_polynomial_change(TesSmoother *smoother, int degree, bool optimal) {
  TesStatus status = TES_OK;
  if (smoother->table != &table) return tesi_chebyshev_change(smoother, degree, optimal);
  const Plan *plan = smoother->plan;
  for (int p = 0; p < plan->count && status == TES_OK; p++)
    if (plan->part[p]) status = tesi_polynomial_change(plan->part[p], degree, optimal);
  snprintf(smoother->description, sizeof smoother->description, "%s", plan->part[0]->description);
  return status;
}

/* Jacobi and Chebyshev need only residuals and the diagonal, for any space. */
static const char *refuses(const TesSmoother *smoother) {
  if (smoother->op->space && smoother->op->space->slip) return TESI_ELSEWHERE; /* which couples them */
  const bool box = smoother->op->space && smoother->op->space->mesh->kind == TES_MESH_BOX;
  return tesi_operator_by_part_of(smoother->op) && (smoother->kind != TES_SMOOTHER_AUTO || box)
             ? NULL
             : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_by_part = {
    ~(TESI_SMOOTHES(TES_SMOOTHER_JACOBI) | TESI_SMOOTHES(TES_SMOOTHER_CHEBYSHEV)), refuses, init};
