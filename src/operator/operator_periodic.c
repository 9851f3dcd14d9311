#include "operator/operator_periodic.h"
#include <stdio.h>
#include "operator/form.h"
#include "space/periodic.h"

typedef struct Plan {
  TesOperator *open;
  TesiPeriodic periodic;
  void *x, *y; /* of the open box */
} Plan;

static TesStatus apply_open(const TesOperator *op, const void *x) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Plan *plan = op->plan;
  TES_TRY(tesi_periodic_spread(&plan->periodic, x, false, plan->x));
  TES_TRY(plan->open->table->apply(plan->open, plan->x, plan->y));
done:
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  const Plan *plan = op->plan;
  const TesStatus status = apply_open(op, x);
  return status == TES_OK ? tesi_periodic_collect(&plan->periodic, plan->y, NULL, 1, y) : status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  const Plan *plan = op->plan;
  const TesStatus status = apply_open(op, x);
  return status == TES_OK ? tesi_periodic_collect(&plan->periodic, plan->y, b, -1, r) : status;
}

static TesStatus subtract(const TesOperator *op, const void *x, void *r) {
  return residual(op, r, x, r);
}

/* x <- x + scale e; r <- factor (b - A x), pass by pass. */
static TesStatus correct_residual(const TesOperator *op, const TesiCorrection *job, double *norm) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  double *r = NULL;
  TES_ALLOC(&r, op->length);
  if (job->e) TES_TRY(device->axpy(ctx, op->length, job->scale, TES_SINGLE, job->e, TES_DOUBLE, job->x));
  TES_TRY(residual(op, job->b, job->x, r));
  TES_TRY(device->copy(ctx, op->length, job->factor, TES_DOUBLE, r, TES_SINGLE, job->r));
  const TesVector all = {.context = ctx, .length = op->length, .precision = TES_DOUBLE, .data = r};
  TES_TRY(tes_vector_norm(&all, norm));
done:
  tesi_free(ctx, &r);
  return status;
}

/* The sum over copies gives more than 1 at given nodes, which have ones in every copy; sets 1 again. */
static void put_ones(const TesOperator *op, double *d) {
  const TesiAxis *axis = op->space->axis;
  for (int64_t i = 0; i < op->length; i++) {
    const int64_t at[3] = {i % axis[0].nodes, i / axis[0].nodes % axis[1].nodes,
                           i / axis[0].nodes / axis[1].nodes};
    bool given = false;
    for (int e = 0; e < 3; e++)
      given = given || at[e] < tesi_axis_first(&axis[e]) || at[e] >= tesi_axis_end(&axis[e]);
    if (given) d[i] = 1;
  }
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Plan *plan = op->plan;
  double *values = NULL;
  TES_TRY(plan->open->table->diagonal(plan->open, plan->y));
  TES_TRY(tesi_periodic_collect(&plan->periodic, plan->y, NULL, 1, d));
  if (op->space->dofs == op->length) goto done;
  TES_ALLOC(&values, op->length);
  TES_TRY(tesi_operator_get(op, d, values));
  put_ones(op, values);
  TES_TRY(tesi_operator_set(op, values, d));
done:
  tesi_free(ctx, &values);
  return status;
}

static TesCost cost(const TesOperator *op) {
  const Plan *plan = op->plan;
  TesCost cost = plan->open->table->cost(plan->open);
  cost.bytes += 2 * (double)(op->length + plan->open->length) * (double)tesi_precision_size(op->precision);
  return cost;
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = op->plan;
  if (!plan) return;
  tes_operator_destroy(&plan->open);
  device->release(ctx, &plan->x);
  device->release(ctx, &plan->y);
  tesi_free(ctx, &op->plan);
}

#define TABLE(correct)                                                                                       \
  {                                                                                                          \
    .apply = apply, .residual = residual, .subtract = subtract, .correct_residual = correct,                 \
    .diagonal = diagonal, .lift = tesi_diffusion_lift, .apply_ref = tesi_diffusion_apply_ref, .cost = cost,  \
    .destroy = destroy                                                                                       \
  }
static const TesiOperatorTable on_host = TABLE(correct_residual),
                               on_device = TABLE(tesi_operator_correct_residual_device);
#undef TABLE

TesStatus tesi_operator_periodic_init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(op->precision);
  const TeskPeriodic box = tesi_periodic_cut(op->space->axis);
  TesOperatorDesc desc = op->desc;
  TesSpace *space = NULL;
  Plan *plan;
  op->table = tesi_has_kernels(ctx) ? &on_device : &on_host;
  TES_NEW(&plan);
  op->plan = plan;
  TES_TRY(tesi_space_create_open(op->space, &space));
  desc.space = space;
  desc.kind = op->kind->name;
  TES_TRY(tes_operator_create(ctx, &desc, &plan->open));
  TES_TRY(tesi_periodic_create(ctx, op->precision, &box, &plan->periodic));
  TES_TRY(device->allocate(ctx, (size_t)plan->open->length * size, &plan->x));
  TES_TRY(device->allocate(ctx, (size_t)plan->open->length * size, &plan->y));
  snprintf(op->description, sizeof op->description, "%.120s, periodic", plan->open->description);
done:
  tes_space_destroy(&space);
  return status;
}
