/* Vertex patches on several ranks, of boxes that they cut. Each rank sweeps over its layers and those beyond its cuts
 * that its own nodes depend on, and keeps what is its own: the step of one rank, with as many colours. In a cycle b and
 * x stand among the layers beyond; b gets these once, x before a step that reads it. Of the last direction, which is
 * the outermost, a sweep meets both colours once. A node at a cut is solved for by the patch around the cut, or by
 * those around the vertices before and behind, which read nodes that the patches beyond have changed: no more than two
 * layers away, or three (operator_wide.c). Of the direction before, a sweep meets both colours twice, of the first of
 * three directions four times: twice and four times the layers. Where the host carries messages a cycle is not
 * recorded, and sweeps over the wide box are.
 *
 * Patches of Stokes read the cells beside them too, and a sweep in 8 colours meets those of the direction that is cut
 * four times: all of it would reach 13 layers. So colours are done one by one, with x exchanged before each. A patch
 * that reaches over a cut reaches one layer beyond and reads the next. Red and black patches take turns every four
 * layers.
 *
 * Cells in the order of a velocity: within a rank; cells beyond a cut are read and not changed, as their order begins
 * far away. Between ranks that is block Jacobi. */
#include <string.h>
#include "device/links.h"
#include "device/recorded.h"
#include "operator/operator_wide.h"
#include "operator/transport/transport_operator.h"
#include "smoother/smoother.h"

enum { LAYERS = 2, LAYERS_HELD = 1 };

typedef struct Plan {
  TesiWide *wide;
  TesSmoother *inner;        /* of the wide operator */
  void *b, *x;               /* as long as that, in the operator's precision */
  bool ordered;              /* its sweeps hold x in an order of their own */
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

static TesStatus refresh_ordered(void *user, void *x) {
  const Plan *plan = user;
  return tesi_wide_refresh_ordered(plan->wide, plan->inner->op->precision, x);
}

/* Colour by colour, where they are told apart. x is exchanged before the first one. */
static TesStatus run_colours(const Plan *plan, const TesiStep *step) {
  const TesSmoother *inner = plan->inner;
  const TesiBetween between = {refresh_ordered, (void *)plan};
  if (plan->ordered)
    return inner->table->apply_between(inner, plan->b, plan->x, step->sweep, step->zero_guess, &between);
  const TesiColours all = tesi_all_colours(inner->table->colours(inner), step->sweep);
  TesStatus status = TES_OK;
  for (int i = 0; i < all.count && status == TES_OK; i++) {
    const TesiColours one = {all.first + i * all.step, all.step, 1};
    if (i > 0) status = tesi_wide_refresh(plan->wide, inner->op->precision, plan->x);
    if (status == TES_OK)
      status = inner->table->apply_colours(inner, plan->b, plan->x, one, i == 0 && step->zero_guess);
  }
  return status;
}

static TesStatus apply_within(const TesSmoother *smoother, const void *b, void *x, const TesiStep *step) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  Plan *plan = smoother->plan;
  const TesPrecision precision = smoother->op->precision;
  Sweep inner = {plan, step->sweep, step->zero_guess};
  void *home_b, *home_x = NULL;
  if (smoother->table->home) home(smoother, &home_b, &home_x);
  if (!step->same) TES_TRY(tesi_wide_fill(plan->wide, precision, b, plan->b));
  if (!step->zero_guess) TES_TRY(tesi_wide_fill(plan->wide, precision, x, plan->x));
  TES_TRY(tesi_wide_report(plan->wide, plan->inner->table->colours ? run_colours(plan, step)
                                       : tesi_links_queued(ctx)
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

static TesStatus create_inner(const TesSmoother *smoother, TesiWide *wide, TesSmoother **inner) {
  const TesOperator *op = tesi_wide_operator(wide);
  const TesSmoother *below = smoother->below;
  const Plan *plan_below = below && below->op->local ? below->plan : NULL;
  const TesSmootherDesc desc = {.op = op,
                                .kind = smoother->kind,
                                .local = smoother->local,
                                .omega = smoother->omega,
                                .colours = smoother->red_black       ? TES_COLOURS_RED_BLACK
                                           : smoother->lexicographic ? TES_COLOURS_LEXICOGRAPHIC
                                                                     : TES_COLOURS_PARQUET,
                                .unfused = smoother->unfused};
  return tesi_wide_report(
      wide, tesi_smoother_create_above(op->context, &desc, plan_below ? plan_below->inner : NULL, inner));
}

static TesStatus apply_inner_ref(const TesSmoother *smoother, TesiWide *wide, const TesSmoother *inner,
                                 const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  double *wide_b = NULL, *wide_x = NULL;
  const int64_t length = tesi_wide_operator(wide)->length;
  TES_ALLOC(&wide_b, length);
  TES_ALLOC(&wide_x, length);
  tesi_wide_fill_host(wide, TES_DOUBLE, b, wide_b);
  tesi_wide_fill_host(wide, TES_DOUBLE, x, wide_x);
  TES_TRY(tesi_wide_report(wide, inner->table->apply_ref(inner, wide_b, wide_x, sweep)));
  tesi_wide_take_host(wide, TES_DOUBLE, wide_x, x);
done:
  tesi_free(ctx, &wide_b);
  tesi_free(ctx, &wide_x);
  return status;
}

/* Of all of the box on every rank, or of the rank's own cells. */
static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  TesiWide *wide = NULL;
  TesSmoother *inner = NULL;
  if (plan->inner->table->hold) return apply_inner_ref(smoother, plan->wide, plan->inner, b, x, sweep);
  TES_TRY(tesi_wide_create(smoother->op, tesi_reach_all(), &wide));
  TES_TRY(create_inner(smoother, wide, &inner));
  TES_TRY(apply_inner_ref(smoother, wide, inner, b, x, sweep));
done:
  tes_smoother_destroy(&inner);
  tesi_wide_destroy(&wide);
  return status;
}

/* The cells of the mesh half as fine that lie across a cut are solved by both ranks. */
static TesStatus solve_cells(const TesSmoother *smoother, const void *b, bool ordered, void *x) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesSmoother *inner = plan->inner;
  const TesPrecision precision = smoother->op->precision;
  TES_TRY(tesi_wide_fill(plan->wide, precision, b, plan->b));
  TES_TRY(tesi_wide_fill(plan->wide, precision, x, plan->x));
  TES_TRY(tesi_wide_report(plan->wide, inner->table->solve_cells(inner, plan->b, ordered, plan->x)));
  TES_TRY(tesi_wide_take(plan->wide, precision, plan->x, x));
done:
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

/* Of spaces of several components, whose entries of this rank stand apart in a wide vector. */
static const TesiSmootherTable of_several = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy, .apply_within = apply_within};

/* The same where some patches are the cells of a mesh half as fine. */
static const TesiSmootherTable of_cells = {.apply = apply,
                                           .apply_ref = apply_ref,
                                           .cost = cost,
                                           .destroy = destroy,
                                           .apply_within = apply_within,
                                           .solve_cells = solve_cells};

/* Around a ring whose colours do not close every rank sweeps over all of it. Patches that exchange before each colour
 * reach equally far in all directions. */
static TesiReach reach_of(const TesSmoother *smoother) {
  const TesSpace *space = smoother->op->space;
  const TesMesh *mesh = space->mesh;
  const int step = smoother->red_black ? 4 : 2, ends = tesi_has_kernels(smoother->context);
  TesiReach reach = tesi_reach(LAYERS_HELD, step);
  if (tesi_is_upwind(smoother->op)) return reach;
  for (int d = 0; d < mesh->dim; d++) {
    const int times = space->element->nodal ? 1 << (mesh->dim - 1 - d) : 1;
    reach.layers[d] =
        tesi_mesh_ring(mesh, d) && mesh->window[d].cells % step ? TESI_REACH_ALL : LAYERS * times + ends;
  }
  return reach;
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(smoother->op->precision);
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan;
  TES_NEW(&plan);
  smoother->plan = plan;
  smoother->table = &table;
  TES_TRY(tesi_wide_create(smoother->op, reach_of(smoother), &plan->wide));
  const TesOperator *op = tesi_wide_operator(plan->wide);
  TES_TRY(create_inner(smoother, plan->wide, &plan->inner));
  const TesiSmootherTable *own = plan->inner->table;
  const TesiWideOrder order = {own->layer_blocks ? own->layer_blocks(plan->inner) : 0, own->layer_block,
                               plan->inner};
  plan->ordered = !tesi_reduce_any(ctx, order.blocks == 0);
  if (plan->ordered) TES_TRY(tesi_wide_set_order(plan->wide, &order));
  if (own->hold) {
    int first, end;
    tesi_wide_cells(plan->wide, &first, &end);
    TES_TRY(tesi_wide_report(plan->wide, own->hold(plan->inner, first, end)));
  }
  if (!tesi_wide_is_together(plan->wide))
    smoother->table = plan->inner->table->solve_cells ? &of_cells : &of_several;
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
  const bool cells = smoother->kind == TES_SMOOTHER_CELL_PATCH, flow = tesi_is_upwind(smoother->op);
  const char *reason = cells && flow ? NULL
                       : cells && smoother->op->kind != &tesi_operator_stokes
                           ? TESI_ELSEWHERE
                           : tesi_smoother_wants_patches(smoother);
  return reason ? reason : smoother->op->local ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_ranks = {TESI_SMOOTHES(TES_SMOOTHER_PATCH) |
                                                  TESI_SMOOTHES(TES_SMOOTHER_PATCH_ADDITIVE) |
                                                  TESI_SMOOTHES(TES_SMOOTHER_CELL_PATCH),
                                              refuses, init};
