#include "multigrid/multigrid.h"
#include "base/afford.h"
#include "device/recorded.h"
#include "device/kernel.h"
#include "multigrid/coarse/coarse.h"
#include "multigrid/coarse/coarse_dg.h"
#include "multigrid/coarse/coarse_stokes_box.h"
#include "operator/dg/dg.h"
#include "operator/elasticity/elasticity_motions.h"
#include "operator/operator_by_part.h"
#include "operator/transport/transport_operator.h"
#include "smoother/chebyshev.h"
#include "smoother/smoother.h"
#include "parallel/comm.h"
#include "smoother/spectrum.h"
#include "space/slip.h"
#include "transfer/transfer.h"

typedef struct Level {
  TesSpace *space;
  TesOperator *op;
  TesSmoother *smoother; /* NULL on level 0 */
  TesTransfer *transfer; /* from the level below; NULL on level 0 */
  TesVector *r;     /* residual; NULL on level 0, and without smoothing before until a cycle has a guess */
  TesVector *b, *x; /* NULL on the finest level: the caller's */
} Level;

enum { MAX_LEVELS = TESI_MULTIGRID_LEVELS, MAX_GRAPHS = 6 };

/* A cycle for given vectors. */
typedef struct Recorded {
  const void *b;
  void *x;
  /* Cycles from zero by their kind, the usual one from a guess, the start of full multigrid, or a cycle on a divergence
   * alone. */
  enum { FROM_ZERO, GUESS = FROM_ZERO + TESI_CYCLE_FULL + 1, START, START_BELOW, DIVERGENCE } what;
  TesiRecorded work;
} Recorded;

struct TesMultigrid {
  TesContext *context;
  int levels, pre, post, post_below, full_steps;
  bool symmetric;
  TesSmootherDesc smoother; /* without an operator */
  Level level[MAX_LEVELS];
  TesSpace *part; /* levels.c */
  TesiCoarse *coarse;
  TesMultigridTimes times;
  Recorded recorded[MAX_GRAPHS];
  int recorded_count;
};

/* Whether a direct solver takes a level, so that the levels below are not needed. Elasticity: the lowest levels of a
 * bar have long cells, on which one smoother for all components does little. Stokes and discontinuous elements, by
 * kernels: a colour of a small level takes as long as a colour of a large level. */
static bool is_direct(const TesMultigridDesc *desc, const TesSpace *space) {
  enum { SMALL = 800 };
  if (tesi_is_elasticity(desc->op))
    return space->layout->global <= (desc->coarse_dofs > SMALL ? desc->coarse_dofs : SMALL);
  if (!tesi_has_kernels(space->context) || desc->coarse_dofs || space == desc->op->space) return false;
  if (desc->op->kind == &tesi_operator_stokes) return tesi_coarse_stokes_box_serves(space);
  return tesi_is_dg(desc->op) && tesi_coarse_dg_serves(space);
}

static void drop_small(const TesMultigridDesc *desc, TesSpace **space, int *levels) {
  int drop = 0;
  while (drop + 1 < *levels && is_direct(desc, space[drop + 1])) drop++;
  for (int l = 0; l < drop; l++) tes_space_destroy(&space[l]);
  for (int l = drop; l < *levels && drop; l++) space[l - drop] = space[l], space[l] = NULL;
  *levels -= drop;
}

static TesStatus create_spaces(TesMultigrid *mg, const TesMultigridDesc *desc) {
  TesSpace *space[MAX_LEVELS] = {NULL};
  TesStatus status = tesi_multigrid_spaces(desc, space, &mg->levels, &mg->part);
  drop_small(desc, space, &mg->levels);
  for (int l = 0; l < mg->levels; l++) mg->level[l].space = space[l];
  return status;
}

/* Of a level above the coarsest. */
static TesStatus create_smoother(const TesMultigrid *mg, Level *level) {
  TesSmootherDesc desc = mg->smoother;
  desc.op = level->op;
  return tesi_smoother_create_above(level->op->context, &desc, level[-1].smoother, &level->smoother);
}

/* b and x of a level, where its smoother has them best. */
static TesStatus create_vectors(const Level *level, TesVector **b, TesVector **x) {
  const TesOperator *op = level->op;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesVector at_home[2];
  TesVector **vector[2] = {b, x};
  const bool home = level->smoother && level->smoother->table->home;
  for (int i = 0; i < 2; i++)
    at_home[i] = (TesVector){.context = ctx, .length = op->length, .precision = op->precision};
  if (home) level->smoother->table->home(level->smoother, &at_home[0].data, &at_home[1].data);
  for (int i = 0; i < 2; i++) {
    TES_TRY(home ? tesi_vector_view(&at_home[i], 0, op->length, vector[i])
                 : tesi_operator_new_vector(op, op->precision, vector[i]));
    if (home) (*vector[i])->layout = tesi_layout_retain(op->space->layout);
  }
done:
  return status;
}

TesStatus tesi_multigrid_new_vectors(const TesMultigrid *mg, TesVector **b, TesVector **x) {
  return create_vectors(&mg->level[mg->levels - 1], b, x);
}

/* What a level needs besides its operator and transfer. */
static TesStatus complete_level(TesMultigrid *mg, int l) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  Level *level = &mg->level[l];
  const TesPrecision precision = level->op->precision;
  if (l > 0) {
    TES_TRY(create_smoother(mg, level));
    if (mg->pre > 0 || mg->full_steps > 0) TES_TRY(tesi_operator_new_vector(level->op, precision, &level->r));
  }
  if (l + 1 < mg->levels) TES_TRY(create_vectors(level, &level->b, &level->x));
done:
  return status;
}

TesStatus tesi_multigrid_transfer(const TesMultigrid *mg, int l, TesPrecision precision,
                                  TesTransfer **transfer) {
  const TesSpace *coarse = mg->level[l - 1].space, *fine = mg->level[l].space;
  const bool meets = coarse->context != fine->context;
  const TesTransferDesc desc = {.coarse = meets ? mg->part : coarse, .fine = fine, .precision = precision};
  return meets ? tesi_transfer_create_whole(&desc, coarse, transfer)
               : tes_transfer_create(fine->context, &desc, transfer);
}

static TesStatus create_level(TesMultigrid *mg, const TesMultigridDesc *desc, int l) {
  Level *level = &mg->level[l];
  TesContext *ctx = level->space->context;
  TesStatus status = TES_OK;
  TesOperator *made = NULL;
  TES_TRY(tesi_work_on(mg->context, "level %d of %d, %lld unknowns", l + 1, mg->levels,
                       (long long)level->space->dofs));
  if (l == 0) {
    const TesOperator *exact = desc->op;
    if (exact->space != level->space || exact->precision != TES_DOUBLE) {
      TES_TRY(tesi_operator_on(desc->op, level->space, TES_DOUBLE, &made));
      exact = made;
    }
    TES_TRY(tesi_coarse_create(exact, desc->precision, desc->coarse, &mg->coarse));
  }
  TES_TRY(tesi_operator_below(desc->op, level->space, desc->precision, &level->op));
  if (l > 0) TES_TRY(tesi_multigrid_transfer(mg, l, desc->precision, &level->transfer));
  TES_TRY(complete_level(mg, l));
done:
  tes_operator_destroy(&made);
  if (status != TES_OK && ctx != mg->context)
    status = tesi_fail(mg->context, status, __FILE__, __LINE__, __func__, "%s", tes_context_message(ctx));
  return status;
}

/* Vectors of all levels and, in the quadrature form, one coefficient value a Gauss point. */
size_t tesi_multigrid_memory(const TesSpace *space, bool varies, TesPrecision precision,
                             TesSmootherKind smoother) {
  const double size = (double)tesi_precision_size(precision), k = space->degree;
  double points = 1, coarser = 1;
  for (int d = 0; d < space->dim; d++) points *= (k + 1) / k, coarser /= 2;
  const double levels = 1 / (1 - coarser);
  double vectors = 1 + 3 * (levels - 1);
  if (varies) vectors += levels * points * 2;
  if (smoother == TES_SMOOTHER_CHEBYSHEV) vectors += 3 * levels;
  return (size_t)(vectors * size * (double)space->length);
}

static TesStatus check_memory(TesContext *ctx, const TesMultigridDesc *desc) {
  const size_t needed = tesi_multigrid_memory(desc->op->space, !tesi_operator_constant(desc->op),
                                              desc->precision, desc->smoother.kind);
  return tesi_afford(ctx, (double)needed, (double)tesi_context_device(ctx)->available(ctx),
                     "use a coarser mesh or a lower degree", "the multigrid needs");
}

static TesStatus set_steps(TesMultigrid *mg, const TesMultigridDesc *desc, bool symmetric) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  mg->pre = desc->pre ? tesi_max(desc->pre, 0) : 1;
  mg->post = desc->post ? tesi_max(desc->post, 0) : 1;
  mg->post_below = desc->post_below ? desc->post_below : mg->post;
  mg->full_steps = desc->full_steps;
  mg->symmetric = symmetric;
  TES_CHECK(desc->pre >= -1 && desc->pre <= TESI_MOST_STEPS && desc->post >= -1 &&
                desc->post <= TESI_MOST_STEPS,
            "pre and post are %d and %d, expected -1 (none) to %d", desc->pre, desc->post, TESI_MOST_STEPS);
  TES_CHECK(!symmetric || mg->post_below == mg->post, "post_below is for cycles that need not be symmetric");
  TES_CHECK(desc->post_below >= 0 && desc->full_steps >= 0,
            "post_below and full_steps are %d and %d, expected 0 or more", desc->post_below, desc->full_steps);
  TES_CHECK(mg->pre + mg->post > 0, "a cycle without any smoothing");
done:
  return status;
}

TesStatus tes_multigrid_create(TesContext *context, const TesMultigridDesc *desc, TesMultigrid **multigrid) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesMultigrid *mg = NULL;
  TES_REFUSE_NULL(context, desc, multigrid);
  *multigrid = NULL;
  TES_CHECK(desc->op && desc->op->space, "a multigrid needs an operator over a space");
  TES_CHECK(desc->op->context == ctx, "the operator belongs to another context than the multigrid");
  TES_CHECK(desc->precision == TES_DOUBLE || desc->precision == TES_SINGLE,
            "precision is %d, expected 0 or 1", (int)desc->precision);
  TES_CHECK(desc->coarse >= TES_COARSE_AUTO && desc->coarse <= TES_COARSE_AGGREGATION,
            "coarse is %d, expected 0..5", (int)desc->coarse);
  const bool box = desc->op->space->mesh->kind == TES_MESH_BOX;
  if (box) TES_TRY(check_memory(ctx, desc));
  TES_NEW(&mg);
  mg->context = tesi_context_retain(ctx);
  mg->smoother = desc->smoother;
  mg->smoother.op = NULL;
  TES_TRY(set_steps(mg, desc, desc->symmetric || !(box || tesi_transport_of(desc->op))));
  TES_TRY(create_spaces(mg, desc));
  for (int l = 0; l < mg->levels; l++) TES_TRY(create_level(mg, desc, l));
  *multigrid = mg;
  mg = NULL;
done:
  tes_multigrid_destroy(&mg);
  return status;
}

void tes_multigrid_destroy(TesMultigrid **multigrid) {
  if (!multigrid || !*multigrid) return;
  TesMultigrid *mg = *multigrid;
  TesContext *ctx = mg->context;
  *multigrid = NULL;
  for (int l = 0; l < MAX_LEVELS; l++) {
    Level *level = &mg->level[l];
    tes_smoother_destroy(&level->smoother);
    tes_transfer_destroy(&level->transfer);
    tes_operator_destroy(&level->op);
    tes_vector_destroy(&level->r);
    tes_vector_destroy(&level->b);
    tes_vector_destroy(&level->x);
    tes_space_destroy(&level->space);
  }
  tes_space_destroy(&mg->part);
  tesi_coarse_destroy(&mg->coarse);
  for (int i = 0; i < mg->recorded_count; i++) tesi_recorded_release(ctx, &mg->recorded[i].work);
  tesi_free(ctx, &mg);
  tes_context_destroy(&ctx);
}

/* What was recorded is out of date. */
static void forget_recorded(TesMultigrid *mg) {
  for (int i = 0; i < mg->recorded_count; i++) tesi_recorded_release(mg->context, &mg->recorded[i].work);
  mg->recorded_count = 0;
}

TesStatus tesi_multigrid_assemble(TesMultigrid *mg) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  forget_recorded(mg);
  for (int l = 1; l < mg->levels; l++) {
    tes_smoother_destroy(&mg->level[l].smoother);
    TES_TRY(tesi_operator_become_assembled(&mg->level[l].op));
    TES_TRY(create_smoother(mg, &mg->level[l]));
  }
done:
  return status;
}

int tesi_multigrid_polynomial(const TesMultigrid *mg) {
  const TesSmoother *finest = mg->level[mg->levels - 1].smoother;
  return finest ? tesi_polynomial_degree(finest) : 0;
}

TesStatus tesi_multigrid_change(TesMultigrid *mg, int degree, bool optimal, bool after) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  forget_recorded(mg);
  for (int l = 1; l < mg->levels; l++)
    TES_TRY(tesi_polynomial_change(mg->level[l].smoother, degree, optimal));
  mg->pre = after ? 0 : 1, mg->post = mg->post_below = 1;
done:
  return status;
}

int tes_multigrid_levels(const TesMultigrid *multigrid) {
  return multigrid->levels;
}

TesMultigridLevel tes_multigrid_level(const TesMultigrid *multigrid, int level) {
  const Level *l = &multigrid->level[level];
  return (TesMultigridLevel){l->space, l->op, l->smoother};
}

bool tesi_multigrid_is_thorough(const TesMultigrid *multigrid) {
  return multigrid->full_steps > 0;
}

bool tesi_multigrid_symmetric(const TesMultigrid *multigrid) {
  return multigrid->symmetric;
}

TesMultigridTimes tes_multigrid_times(const TesMultigrid *multigrid) {
  return multigrid->times;
}

void tesi_multigrid_forget_times(TesMultigrid *multigrid) {
  multigrid->times = (TesMultigridTimes){0};
}

/* Adds the time since *start to *total and starts anew. */
static void lap(double *start, double *total) {
  const double now = tesi_now();
  *total += now - *start;
  *start = now;
}

/* The coarse x prolongated: into the smoother's order (*ordered) where transfer and smoother have one, else into x. */
static TesStatus prolongate(const Level *level, const TesVector *coarse, TesVector *x, bool *ordered) {
  const TesTransfer *t = level->transfer;
  const TesSmoother *smoother = level->smoother;
  TesiEntryOrder order;
  *ordered = smoother->table->order && smoother->table->order(smoother, &order) && t->table->writes &&
             t->table->writes(t, order.kind);
  return *ordered ? t->table->prolongate_ordered(t, coarse->data, &order)
                  : tes_transfer_prolongate(t, coarse, false, x);
}

/* A step of a cycle of level l. first: b is new; last: of the cycle. */
static TesStatus smooth(const TesMultigrid *mg, int l, TesSweep sweep, bool first, bool last,
                        const TesVector *b, TesVector *x, bool zero_guess) {
  const TesSmoother *smoother = mg->level[l].smoother;
  const TesiStep step = {sweep, zero_guess, !first, last && l + 1 == mg->levels};
  return smoother->table->apply_within ? smoother->table->apply_within(smoother, b->data, x->data, &step)
                                       : tes_smoother_apply(smoother, b, x, sweep, zero_guess);
}

static TesStatus smooth_after(const TesMultigrid *mg, int l, int steps, bool ordered, bool first,
                              const TesVector *b, TesVector *x) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  const TesSmoother *smoother = mg->level[l].smoother;
  const TesSweep sweep = mg->symmetric ? TES_BACKWARD : TES_FORWARD;
  if (ordered) return smoother->table->apply_ordered(smoother, b->data, x->data, sweep, steps);
  for (int s = 0; s < steps; s++) TES_TRY(smooth(mg, l, sweep, first && s == 0, s + 1 == steps, b, x, false));
done:
  return status;
}

static TesStatus cycle(TesMultigrid *mg, int l, const TesVector *b, TesVector *x, bool zero_guess);

/* On level l. */
static TesStatus cycle_as(TesMultigrid *mg, int l, TesiCycleKind kind, const TesVector *b, TesVector *x,
                          bool zero_guess) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  Level *level = &mg->level[l], *below = l > 0 ? level - 1 : NULL;
  const int usual = l + 1 < mg->levels ? mg->post_below : mg->post,
            post = kind == TESI_CYCLE_FULL ? mg->full_steps : usual,
            pre = tesi_max(mg->pre, kind == TESI_CYCLE_FULL ? mg->full_steps : kind == TESI_CYCLE_ROUGH);
  const bool known = pre == 0 && zero_guess; /* the residual is b */
  bool ordered = false;
  double start = tesi_now();
  if (l == 0) {
    TES_TRY(tesi_coarse_solve(mg->coarse, b, x));
    /* Cycles of algebra know no normals; alone they must answer to what has a part along them by rounding. */
    if (mg->levels > 1) TES_TRY(tesi_space_project(level->space, x->precision, x->data));
    lap(&start, &mg->times.coarse);
    return TES_OK;
  }
  for (int s = 0; s < pre; s++)
    TES_TRY(smooth(mg, l, TES_FORWARD, s == 0, post == 0 && s + 1 == pre, b, x, zero_guess && s == 0));
  lap(&start, &mg->times.smooth);
  if (!known && !level->r) TES_TRY(tesi_operator_new_vector(level->op, level->op->precision, &level->r));
  if (!known && tesi_transfer_takes_parts(level->transfer, level->op)) {
    TES_TRY(tesi_transfer_restrict_residual(level->transfer, level->op, b, x, level->r, below->b));
    lap(&start, &mg->times.residual);
  } else {
    if (!known) TES_TRY(tes_operator_residual(level->op, b, x, level->r));
    lap(&start, &mg->times.residual);
    TES_TRY(tes_transfer_restrict(level->transfer, known ? b : level->r, below->b));
    lap(&start, &mg->times.transfer);
  }
  TES_TRY(cycle(mg, l - 1, below->b, below->x, true));
  if (kind == TESI_CYCLE_FULL && l > 1) TES_TRY(cycle(mg, l - 1, below->b, below->x, false));
  start = tesi_now();
  if (known && post > 0)
    TES_TRY(prolongate(level, below->x, x, &ordered));
  else
    TES_TRY(tes_transfer_prolongate(level->transfer, below->x, !known, x));
  lap(&start, &mg->times.transfer);
  TES_TRY(smooth_after(mg, l, post, ordered, pre == 0, b, x));
  lap(&start, &mg->times.smooth);
done:
  return status;
}

static TesStatus cycle(TesMultigrid *mg, int l, const TesVector *b, TesVector *x, bool zero_guess) {
  return cycle_as(mg, l, TESI_CYCLE_USUAL, b, x, zero_guess);
}

typedef struct Reduced {
  TesMultigrid *multigrid;
  int level;
} Reduced;

static TesStatus reduce_by_cycle(void *user, const void *r, void *z) {
  const Reduced *of = user;
  const TesOperator *op = of->multigrid->level[of->level].op;
  const TesVector b = {
      .context = op->context, .length = op->length, .precision = op->precision, .data = (void *)r};
  TesVector x = b;
  x.data = z;
  return cycle(of->multigrid, of->level, &b, &x, true);
}

TesStatus tesi_multigrid_reduction(TesMultigrid *mg, int steps, double *factor) {
  Reduced of = {mg, tesi_max(mg->levels - 2, 1)};
  *factor = 1;
  if (mg->levels == 1) return TES_OK;
  const TesOperator *op = mg->level[of.level].op;
  const TesStatus status = tesi_reduction(op, reduce_by_cycle, &of, steps, factor);
  if (op->context != mg->context)
    tesi_broadcast(mg->context, 0, sizeof *factor, factor); /* rounding of one rank */
  return status;
}

/* |R b| / |b| on boxes in 3D: 0.47 for random numbers, the root of 2 for integrals of a smooth function with the basis
 * functions, degrees 1 to 4. */
#define ROUGH 0.8

TesStatus tesi_multigrid_reserve_rough(TesMultigrid *mg) {
  Level *level = &mg->level[mg->levels - 1];
  const bool needs = mg->levels > 1 && !level->r;
  return needs ? tesi_operator_new_vector(level->op, level->op->precision, &level->r) : TES_OK;
}

TesStatus tesi_multigrid_is_rough(TesMultigrid *mg, const TesVector *b, bool *rough) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  const int top = mg->levels - 1;
  double all, smooth;
  *rough = false;
  if (top == 0) return TES_OK;
  TES_TRY(tes_transfer_restrict(mg->level[top].transfer, b, mg->level[top - 1].b));
  TES_TRY(tes_vector_norm(b, &all));
  TES_TRY(tes_vector_norm(mg->level[top - 1].b, &smooth));
  *rough = smooth < ROUGH * all;
done:
  return status;
}

/* Whether, in each direction, `fine` has an even number of cells of all ranks, and `coarse` as many or half as many. */
static bool halves(const TesSpace *coarse, const TesSpace *fine) {
  bool all = true;
  for (int d = 0; d < fine->dim; d++) {
    const int cells = fine->mesh->window[d].cells, below = coarse->mesh->window[d].cells;
    all = all && cells % 2 == 0 && (cells == below || cells == 2 * below);
  }
  return all;
}

bool tesi_multigrid_serves_divergence(const TesMultigrid *mg) {
  bool all = true;
  for (int l = 1; l < mg->levels; l++)
    all = all && tesi_smoother_has_cells(mg->level[l].smoother) &&
          halves(mg->level[l - 1].space, mg->level[l].space);
  return all;
}

/* For a b that is zero but for the pressures. After the coarse correction the means over coarse cells are right; the
 * patches that are these cells make it right inside. */
static TesStatus correct_divergence(TesMultigrid *mg, int l, const TesVector *b, TesVector *x) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  const Level *level = &mg->level[l], *below = level - 1;
  bool ordered;
  if (l == 0) return tesi_coarse_solve(mg->coarse, b, x);
  const TesiSmootherTable *table = level->smoother->table;
  TES_TRY(tesi_transfer_restrict_pressures(level->transfer, b, below->b));
  TES_TRY(correct_divergence(mg, l - 1, below->b, below->x));
  TES_TRY(prolongate(level, below->x, x, &ordered));
  TES_TRY(table->solve_cells(level->smoother, b->data, ordered, x->data));
done:
  return status;
}

/* The entry of these arguments, or NULL when there are too many different ones, or where steps of the calling program
 * are among the work, which may do what cannot be recorded. */
static Recorded *find_recorded(TesMultigrid *mg, const TesVector *b, const TesVector *x, int what) {
  if (mg->smoother.own) return NULL;
  for (int i = 0; i < mg->recorded_count; i++) {
    Recorded *r = &mg->recorded[i];
    if (r->b == b->data && r->x == x->data && (int)r->what == what) return r;
  }
  if (mg->recorded_count == MAX_GRAPHS) return NULL;
  Recorded *r = &mg->recorded[mg->recorded_count++];
  *r = (Recorded){.b = b->data, .x = x->data, .what = what};
  return r;
}

/* Level 0 solved for the right-hand sides that the levels have; on each level but the finest a cycle from the
 * prolongated solution. */
static TesStatus climb(TesMultigrid *mg, int cycles, TesiCycleKind kind, bool add, TesVector *x) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  const int top = mg->levels - 1;
  for (int l = 0; l < top; l++) {
    Level *level = &mg->level[l];
    for (int c = 0; c < (l ? cycles : 1); c++) TES_TRY(cycle_as(mg, l, kind, level->b, level->x, false));
    TES_TRY(tes_transfer_prolongate(mg->level[l + 1].transfer, level->x, add && l + 1 == top,
                                    l + 1 == top ? x : mg->level[l + 1].x));
  }
done:
  return status;
}

/* The same for b restricted to all levels. */
static TesStatus start_levels(TesMultigrid *mg, const TesVector *b, int cycles, TesiCycleKind kind,
                              TesVector *x) {
  TesContext *ctx = mg->context;
  TesStatus status = TES_OK;
  const int top = mg->levels - 1;
  if (top == 0) TES_TRY(tes_vector_fill(x, 0));
  for (int l = top; l > 0; l--)
    TES_TRY(tes_transfer_restrict(mg->level[l].transfer, l == top ? b : mg->level[l].b, mg->level[l - 1].b));
  TES_TRY(climb(mg, cycles, kind, false, x));
done:
  return status;
}

typedef struct Run {
  TesMultigrid *multigrid;
  const TesVector *b;
  TesVector *x;
  int what, cycles; /* of the start, on each level, and their kind */
  TesiCycleKind kind;
} Run;

static TesStatus run(void *user) {
  const Run *r = user;
  TesMultigrid *mg = r->multigrid;
  if (r->what == START) return start_levels(mg, r->b, r->cycles, r->kind, r->x);
  if (r->what == START_BELOW) return climb(mg, r->cycles, r->kind, true, r->x);
  if (r->what == DIVERGENCE) return correct_divergence(mg, mg->levels - 1, r->b, r->x);
  return cycle_as(mg, mg->levels - 1, r->kind, r->b, r->x, r->what != GUESS);
}

static TesStatus run_recorded(TesMultigrid *mg, const TesVector *b, TesVector *x, int what, int cycles,
                              TesiCycleKind kind) {
  Recorded *recorded = find_recorded(mg, b, x, what);
  Run r = {mg, b, x, what, cycles, kind};
  return recorded ? tesi_recorded_run(mg->context, &recorded->work, run, &r) : run(&r);
}

TesStatus tes_multigrid_cycle(TesMultigrid *multigrid, const TesVector *b, TesVector *x, bool zero_guess) {
  return run_recorded(multigrid, b, x, zero_guess ? FROM_ZERO : GUESS, 0, TESI_CYCLE_USUAL);
}

TesStatus tesi_multigrid_cycle(TesMultigrid *multigrid, TesiCycleKind kind, const TesVector *b, TesVector *x) {
  return run_recorded(multigrid, b, x, FROM_ZERO + (int)kind, 0, kind);
}

TesStatus tesi_multigrid_divergence(TesMultigrid *multigrid, const TesVector *b, TesVector *x) {
  return run_recorded(multigrid, b, x, DIVERGENCE, 0, TESI_CYCLE_USUAL);
}

void tesi_multigrid_vectors(TesMultigrid *multigrid, int level, TesVector **b, TesVector **x) {
  *b = multigrid->level[level].b;
  *x = multigrid->level[level].x;
}

TesStatus tesi_multigrid_cycle_level(TesMultigrid *multigrid, int level, TesiCycleKind kind,
                                     const TesVector *b, TesVector *x) {
  return cycle_as(multigrid, level, kind, b, x, true);
}

TesiCoarse *tesi_multigrid_coarse(const TesMultigrid *multigrid) {
  return multigrid->coarse;
}

TesStatus tesi_multigrid_start(TesMultigrid *multigrid, const TesVector *b, TesVector *const *below,
                               int cycles, TesiCycleKind kind, TesVector *x) {
  TesStatus status = TES_OK;
  if (!below) return run_recorded(multigrid, b, x, START, cycles, kind);
  for (int l = 0; l + 1 < multigrid->levels && status == TES_OK; l++)
    status = tes_vector_copy(below[l], 1, multigrid->level[l].b);
  return status == TES_OK ? run_recorded(multigrid, b, x, START_BELOW, cycles, kind) : status;
}
