/* Vertex patches on several ranks, of boxes that are cut into layers. Each rank sweeps over its layers and those beyond
 * its cuts that its own nodes depend on, and keeps what is its own: the step of one rank, with as many colours. In a
 * cycle b and x stand among the layers beyond; b gets these once, x before a step that reads it. Of the direction that
 * is cut, which is the outermost, a sweep meets both colours once. A node at a cut is solved for by the patch around
 * the cut, or by those around the vertices before and behind, which read nodes that the patches beyond have changed: no
 * more than two layers away, or three (operator_wide.c). Where the host carries messages a cycle is not recorded, and
 * sweeps over the wide box are. */
#include <string.h>
#include "device/links.h"
#include "device/recorded.h"
#include "operator/operator_wide.h"
#include "smoother/smoother.h"

enum { LAYERS = 2, LAYERS_OF_KERNELS = 3 };

typedef struct Plan {
  TesiWide *wide;
  TesSmoother *inner;        /* of the wide operator */
  void *b, *x;               /* as long as that, in the operator's precision */
  TesiRecorded sweeps[2][2]; /* by direction, and from zero */
} Plan;

typedef struct Sweep {
  const Plan *plan;
  TesSweep sweep;
  bool zero_guess;
} Sweep;

static TesStatus run(void *user) {
  const Sweep *s = user;
  const TesSmoother *inner = s->plan->inner;
  return inner->table->apply(inner, s->plan->b, s->plan->x, s->sweep, s->zero_guess);
}

/* Vectors at home are not copied. */
static void home(const TesSmoother *smoother, void **b, void **x) {
  const Plan *plan = smoother->plan;
  *b = tesi_wide_own(plan->wide, smoother->op->precision, plan->b);
  *x = tesi_wide_own(plan->wide, smoother->op->precision, plan->x);
}

static TesStatus apply_within(const TesSmoother *smoother, const void *b, void *x, const TesiStep *step) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  Plan *plan = smoother->plan;
  const TesPrecision precision = smoother->op->precision;
  Sweep inner = {plan, step->sweep, step->zero_guess};
  void *home_b, *home_x;
  home(smoother, &home_b, &home_x);
  if (!step->same) TES_TRY(tesi_wide_fill(plan->wide, precision, b, plan->b));
  if (!step->zero_guess) TES_TRY(tesi_wide_fill(plan->wide, precision, x, plan->x));
  TES_TRY(tesi_wide_report(plan->wide, tesi_links_peer(ctx)
                                           ? run(&inner)
                                           : tesi_recorded_run(plan->inner->context,
                                                               &plan->sweeps[step->sweep][step->zero_guess],
                                                               run, &inner)));
  if (step->agree || x != home_x) TES_TRY(tesi_wide_take(plan->wide, precision, plan->x, x));
done:
  return status;
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  return apply_within(smoother, b, x, &(TesiStep){.sweep = sweep, .zero_guess = zero_guess, .agree = true});
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const int64_t length = tesi_wide_operator(plan->wide)->length;
  double *wide_b = NULL, *wide_x = NULL;
  TES_ALLOC(&wide_b, length);
  TES_ALLOC(&wide_x, length);
  tesi_wide_fill_host(plan->wide, TES_DOUBLE, b, wide_b);
  tesi_wide_fill_host(plan->wide, TES_DOUBLE, x, wide_x);
  TES_TRY(tesi_wide_report(plan->wide, plan->inner->table->apply_ref(plan->inner, wide_b, wide_x, sweep)));
  tesi_wide_take_host(plan->wide, TES_DOUBLE, wide_x, x);
done:
  tesi_free(ctx, &wide_b);
  tesi_free(ctx, &wide_x);
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  return plan->inner->table->cost(plan->inner);
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *plan = smoother->plan;
  if (!plan) return;
  for (int i = 0; i < 4; i++)
    if (plan->inner) tesi_recorded_release(plan->inner->context, &plan->sweeps[i / 2][i % 2]);
  tes_smoother_destroy(&plan->inner);
  tesi_wide_destroy(&plan->wide);
  tesi_context_device(ctx)->release(ctx, &plan->b);
  tesi_context_device(ctx)->release(ctx, &plan->x);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {.apply = apply,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy,
                                        .home = home,
                                        .apply_within = apply_within};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(smoother->op->precision);
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan;
  TES_NEW(&plan);
  smoother->plan = plan;
  smoother->table = &table;
  TES_TRY(tesi_wide_create(smoother->op, tesi_has_kernels(ctx) ? LAYERS_OF_KERNELS : LAYERS, &plan->wide));
  const TesOperator *op = tesi_wide_operator(plan->wide);
  const TesSmootherDesc desc = {
      .op = op, .kind = smoother->kind, .local = smoother->local, .omega = smoother->omega};
  TES_TRY(tesi_wide_report(plan->wide, tes_smoother_create(op->context, &desc, &plan->inner)));
  double least = -plan->inner->omega; /* damping by an eigenvalue, which ranks find of their own boxes */
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &least);
  smoother->omega = plan->inner->omega = -least;
  smoother->symmetric = plan->inner->symmetric;
  TES_TRY(device->allocate(ctx, (size_t)op->length * size, &plan->b));
  TES_TRY(device->allocate(ctx, (size_t)op->length * size, &plan->x));
  memcpy(smoother->description, plan->inner->description, sizeof smoother->description);
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const char *reason = tesi_smoother_wants_patches(smoother);
  return reason ? reason : smoother->op->local ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_ranks = {
    TESI_SMOOTHES(TES_SMOOTHER_PATCH) | TESI_SMOOTHES(TES_SMOOTHER_PATCH_ADDITIVE), refuses, init};
