/* Patch smoothers with surrogate local solvers, in residual form:
 *   multiplicative: for each colour x_I <- x_I + omega A~_p^-1 (b - A x)_I, with the residual of the whole operator;
 *   additive: the same for all colours with one residual.
 * Local residuals would cost the same, since the patches of a colour tile the mesh. The true residual is needed: the
 * shortcut with the boundary values is an identity for exact local solves only. */
#include <stdio.h>
#include "base/team.h"
#include "device/kernel.h"
#include "smoother/patch/patch_device.h"
#include "smoother/patch/surrogate/surrogate.h"

typedef struct Plan {
  TesiSurrogate surrogate;
  const TesiSurrogateKernels *kernels;
  void *r;
  int threads;
  char *work; /* of threads */
  size_t work_bytes;
} Plan;

typedef struct Colour {
  const TesSmoother *smoother;
  int64_t first; /* group */
  const void *r;
  void *x;
} Colour;

static void solve_groups(const void *data, TesiSpan span) {
  const Colour *c = data;
  const Plan *plan = c->smoother->plan;
  const TesiSurrogate *s = &plan->surrogate;
  const TesiAxis *axis = c->smoother->op->space->axis;
  const int64_t stride_y = axis[0].nodes, stride_z = stride_y * axis[1].nodes;
  char *const work = plan->work + (size_t)span.thread * plan->work_bytes;
  for (int64_t g = c->first + span.first; g < c->first + span.end; g++)
    plan->kernels->solve(&s->group[g], s->tables, stride_y, stride_z, c->smoother->omega, c->r, c->x, work);
}

static TesStatus solve_colour(const TesSmoother *smoother, int colour, const void *r, void *x) {
  const Plan *plan = smoother->plan;
  const int64_t *first = plan->surrogate.first_of_colour + colour;
  tesi_team_for(plan->threads, first[1] - first[0], solve_groups, &(Colour){smoother, first[0], r, x});
  return TES_OK;
}

static bool is_empty(const TesSmoother *smoother, int colour) {
  const int64_t *first = ((const Plan *)smoother->plan)->surrogate.first_of_colour + colour;
  return first[0] == first[1];
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  static const TesiResidualSweep colours = {solve_colour, is_empty};
  const Plan *plan = smoother->plan;
  return tesi_sweep_residuals(smoother, &colours, plan->r, tesi_all_colours(8, sweep), b, x, zero_guess);
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  const TesiSurrogate *s = &plan->surrogate;
  const TesOperator *op = smoother->op;
  const TesCost residual = op->table->cost(op);
  const double size = (double)tesi_precision_size(op->precision);
  TesCost total = {0, 0};
  int residuals = 0;
  for (int c = 0; c < 8; c++) residuals += s->first_of_colour[c] < s->first_of_colour[c + 1];
  if (smoother->kind == TES_SMOOTHER_PATCH_ADDITIVE) residuals = 1;
  for (int64_t g = 0; g < s->groups; g++) {
    const int *m = s->group[g].m;
    const double nodes = (double)m[0] * m[1] * m[2], lanes = s->group[g].count;
    total.flops += lanes * nodes * (4.0 * (m[0] + m[1] + (op->space->dim > 2 ? m[2] : 0)) + 4);
    total.bytes += lanes * size * (3 * nodes + m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
  }
  total.flops += residuals * residual.flops;
  total.bytes += residuals * residual.bytes;
  return total;
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *plan = smoother->plan;
  if (plan) {
    tesi_surrogate_destroy(ctx, &plan->surrogate);
    tesi_context_device(ctx)->release(ctx, &plan->r);
    tesi_free(ctx, &plan->work);
  }
  tesi_free(ctx, &plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_surrogate_apply_ref, .cost = cost, .destroy = destroy};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  static const char *const names[] = {"auto", "exact", "mean", "scaled", "rank1", "nodal"};
  const bool additive = smoother->kind == TES_SMOOTHER_PATCH_ADDITIVE;
  const TesOperator *op = smoother->op;
  Plan *plan;
  if (tesi_has_kernels(ctx)) return tesi_smoother_patch_local_init(smoother);
  smoother->table = &table;
  TES_NEW(&plan);
  smoother->plan = plan;
  plan->kernels = tesi_surrogate_kernels(op);
  TES_TRY(tesi_surrogate_create(op, smoother->local, &plan->surrogate));
  TES_TRY(tesi_operator_vector(op, &plan->r));
  plan->work_bytes = 2 * 64;
  for (int d = 0; d < op->space->dim; d++) plan->work_bytes *= (size_t)(2 * op->space->degree);
  plan->threads = tesi_team_threads(ctx, op->length);
  TES_ALLOC(&plan->work, plan->work_bytes * (size_t)plan->threads);
  TES_TRY(tesi_patch_damping(smoother));
  smoother->symmetric = true;
  snprintf(smoother->description, sizeof smoother->description,
           "patch%s, %s local solves, omega %.3g, %d patches at a time", additive ? " additive" : "",
           names[smoother->local], smoother->omega, plan->surrogate.lanes);
done:
  return status;
}

const TesiSmootherKind tesi_smoother_surrogate = {TESI_SMOOTHES(TES_SMOOTHER_PATCH) |
                                                      TESI_SMOOTHES(TES_SMOOTHER_PATCH_ADDITIVE),
                                                  tesi_smoother_wants_patches, init};
