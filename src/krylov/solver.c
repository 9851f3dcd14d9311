#include "krylov/solver.h"
#include <limits.h>
#include <math.h>
#include <string.h>
#include "krylov/explain.h"
#include "krylov/krylov_device.h"
#include "multigrid/multigrid.h"
#include "parallel/comm.h"

/* Right-hand sides in this range have squares, and residuals have squares, that are far from the ends of float64. */
#define LEAST_NORM 1e-100
#define MOST_NORM 1e100

enum { MOST_RESTART = 10000 };

static bool is_single(const TesMultigrid *multigrid) {
  return tes_multigrid_level(multigrid, 0).op->precision == TES_SINGLE;
}

bool tesi_solver_rounds(const TesSolver *s) {
  return (s->desc.method == TES_METHOD_FMG || s->desc.method == TES_METHOD_VCYCLE) &&
         is_single(s->desc.multigrid) && s->desc.op->table->correct_residual;
}

int tesi_solver_cycles_below(const TesSolver *s) {
  return tesi_max(1, s->desc.start_cycles - 1);
}

TesiCycleKind tesi_solver_start_kind(const TesSolver *s) {
  return tesi_multigrid_is_thorough(s->desc.multigrid) ? TESI_CYCLE_FULL : TESI_CYCLE_USUAL;
}

/* Whether residuals lose their part along op->null, which A x has none of, in the place of b: b stays, and needs no
 * copy without it. */
static bool projects_residual(const TesSolver *s) {
  return s->desc.op->singular && s->desc.op->null && s->desc.method == TES_METHOD_GMRES;
}

static TesStatus remove_mean_of(const TesVector *one, TesVector *v) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  double sum;
  TES_TRY(tes_vector_dot(v, one, &sum));
  TES_TRY(tes_vector_axpy(-sum / (double)tesi_vector_global(v), one, v));
done:
  return status;
}

/* v <- v without what the operator says, or v - mean of its coefficients, over all nodes of the components that are
 * determined up to a constant: all their nodes are unknowns. */
static TesStatus remove_null(const TesSolver *s, TesVector *v) {
  const TesOperator *op = s->desc.op;
  const TesSpace *space = op->space;
  TesStatus status = TES_OK;
  if (op->null) return tesi_operator_remove_null(op, v);
  if (!space) return remove_mean_of(s->ones, v);
  for (int i = 0; i < tes_space_components(space) && status == TES_OK; i++) {
    const TesVector one = tesi_space_scalar_range(space, s->ones, i);
    TesVector of_v = tesi_space_scalar_range(space, v, i);
    if (op->singular >> i & 1) status = remove_mean_of(&one, &of_v);
  }
  return status;
}

/* Whether the iteration runs as kernels. On several ranks: where ranks write into each other's memory, and own a block
 * of entries (gmres: a few); else the host adds up the sums of all. */
static bool is_queued(const TesSolver *s) {
  const TesSpace *space = s->desc.op->space;
  if (tesi_ranks(s->context) == 1) return tesi_has_kernels(s->context);
  const int blocks = s->desc.method == TES_METHOD_CG      ? 1
                     : s->desc.method == TES_METHOD_GMRES ? TESK_OWNED
                                                          : 0;
  return tesi_links_queued(s->context) && space && space->layout->blocks <= blocks &&
         (s->desc.method != TES_METHOD_CG || tesi_layout_runs(space->layout) == 1);
}

/* Not the emulator, whose kernels are there when they are compiled. */
static bool is_gpu(const TesContext *ctx) {
  return strcmp(tesi_context_device(ctx)->kind, "cuda") == 0;
}

/* The vectors of GMRES on a device are there before the solve, which allocates nothing; on the host when an
 * iteration first needs them. */
static TesStatus create_basis(TesSolver *s, TesPrecision precision) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_ALLOC(&s->basis, s->desc.restart + 1);
  TES_ALLOC(&s->images, s->desc.restart);
  if (!is_queued(s)) return TES_OK;
  const TesPrecision basis = s->desc.narrow_basis ? TES_SINGLE : TES_DOUBLE;
  if (precision == TES_SINGLE && s->desc.op->table->ready_single)
    TES_TRY(s->desc.op->table->ready_single(s->desc.op, basis, &s->takes_single));
  if (!s->takes_single) TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->q));
  for (int i = 0; i < s->desc.restart + (basis != precision); i++)
    TES_TRY(tesi_operator_new_vector(s->desc.op, basis, &s->basis[i]));
  for (int i = 0; i < s->desc.restart; i++)
    TES_TRY(tesi_operator_new_vector(s->desc.op, precision, &s->images[i]));
done:
  return status;
}

static TesStatus create_work(TesSolver *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesMethod method = s->desc.method;
  const TesPrecision precision =
      s->desc.multigrid ? tes_operator_info(tes_multigrid_level(s->desc.multigrid, 0).op).precision
                        : TES_DOUBLE;
  const bool rounds = tesi_solver_rounds(s), krylov = method == TES_METHOD_CG || method == TES_METHOD_GMRES;
  if (!rounds) TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->r));
  if (s->desc.op->singular && !s->desc.op->null) {
    TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->ones));
    TES_TRY(tes_vector_fill(s->ones, 1));
  }
  if (s->desc.op->singular && !projects_residual(s))
    TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->projected));
  if (method == TES_METHOD_FMG && precision == TES_SINGLE)
    TES_TRY(tesi_full_create(s->desc.multigrid, s->desc.op, tesi_solver_cycles_below(s),
                             tesi_solver_start_kind(s), &s->full));
  if (precision == TES_SINGLE) {
    TES_TRY(tesi_multigrid_new_vectors(s->desc.multigrid, &s->mg_b, &s->mg_x));
    if (method == TES_METHOD_GMRES && !is_queued(s)) tes_vector_destroy(&s->mg_x);
  }
  if (method == TES_METHOD_CG) {
    TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->p));
    TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->q));
  }
  if (precision == TES_DOUBLE || (method == TES_METHOD_CG && tesi_has_kernels(ctx) && !is_queued(s)))
    TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->z));
  if (s->desc.smooths_rough) TES_TRY(tesi_multigrid_reserve_rough(s->desc.multigrid));
  if (method == TES_METHOD_GMRES) TES_TRY(create_basis(s, precision));
  if (!tesi_has_kernels(ctx)) return TES_OK;
  TES_TRY(tesi_kernel_reserve(ctx));
  if (rounds) TES_TRY(tesi_operator_reserve(s->desc.op));
  if (krylov && is_queued(s)) TES_TRY(tesi_krylov_device_create(s, &s->device));
  if (s->device && (tesi_ranks(ctx) > 1 || is_gpu(ctx))) TES_TRY(tesi_krylov_device_prepare(s));
done:
  return status;
}

/* 20 columns of GMRES, or fewer where a device has no room for them beside all else. */
static void choose_restart(TesSolver *s) {
  enum { USUAL = 20, LEAST = 5 };
  const size_t size = s->desc.narrow_basis ? sizeof(float) : sizeof(double),
               column = (size_t)s->desc.op->length * 2 * size;
  s->desc.restart = USUAL;
  if (!is_queued(s) || s->desc.method != TES_METHOD_GMRES) return;
  double few = -(double)tesi_context_device(s->context)->available(s->context) / 2 / ((double)column + 1);
  tesi_reduce(s->context, TESI_MAXIMUM, 1, &few); /* the rank with the least room decides */
  s->desc.restart = (int)fmax(LEAST, fmin(USUAL, -few));
  s->spare = (size_t)(s->desc.restart - LEAST) * column;
}

void tesi_solver_set_below(TesSolver *solver, TesVector *const *below) {
  solver->below = below;
}

void tesi_solver_set_tolerance(TesSolver *solver, double tolerance) {
  solver->desc.tolerance = tolerance;
}

void tesi_solver_advise(TesSolver *solver, const char *advice) {
  solver->advice = advice;
}

void tesi_solver_keep_null(TesSolver *solver) {
  solver->keeps_null = true;
}

TesVector *tesi_solver_last_residual(const TesSolver *s) {
  return s->told ? s->r : NULL;
}

void tesi_solver_lend(const TesSolver *s, TesVector *work[2]) {
  const bool both = s->mg_b && s->mg_x;
  work[0] = both ? s->mg_b : NULL;
  work[1] = both ? s->mg_x : NULL;
}

void tesi_solver_forget(TesSolver *solver) {
  if (solver->device) tesi_krylov_device_forget(solver->device);
}

size_t tesi_solver_spare(const TesSolver *s) {
  return s->spare;
}

TesStatus tes_solver_create(TesContext *context, const TesSolverDesc *desc, TesSolver **solver) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesSolver *s = NULL;
  TES_REFUSE_NULL(context, desc, solver);
  *solver = NULL;
  TES_CHECK(desc->op && desc->op->precision == TES_DOUBLE, "the outer operator of a solver is in float64");
  TES_CHECK(desc->op->context == ctx, "the operator belongs to another context than the solver");
  TES_CHECK(desc->tolerance >= 0 && desc->tolerance < 1,
            "tolerance is %g, expected 0 (1e-9) or a number below 1", desc->tolerance);
  TES_CHECK(desc->method >= TES_METHOD_AUTO && desc->method <= TES_METHOD_CG, "method is %d, expected 0..4",
            (int)desc->method);
  TES_CHECK(desc->max_iterations >= 0 && desc->max_iterations < INT_MAX,
            "max_iterations is %d, expected 1 or more, or 0 for 100", desc->max_iterations);
  TES_CHECK(desc->restart >= 0 && desc->restart <= MOST_RESTART,
            "restart is %d, expected 1..%d, or 0 for 20 vectors", desc->restart, MOST_RESTART);
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->desc = *desc;
  if (s->desc.tolerance == 0) s->desc.tolerance = 1e-9;
  if (s->desc.max_iterations == 0) s->desc.max_iterations = 100;
  if (s->desc.method == TES_METHOD_AUTO) s->desc.method = s->desc.multigrid ? TES_METHOD_FMG : TES_METHOD_CG;
  if (s->desc.start_cycles == 0) s->desc.start_cycles = 1;
  s->desc.narrow_basis = desc->narrow_basis && is_queued(s) && desc->multigrid && is_single(desc->multigrid);
  if (s->desc.restart == 0) choose_restart(s);
  const int levels = desc->multigrid ? tes_multigrid_levels(desc->multigrid) : 0;
  TES_CHECK(!levels || tes_multigrid_level(desc->multigrid, levels - 1).op->context == ctx,
            "the multigrid belongs to another context than the solver");
  const bool stationary = s->desc.method == TES_METHOD_FMG || s->desc.method == TES_METHOD_VCYCLE;
  TES_CHECK(!stationary || s->desc.multigrid, "vcycle and fmg need a multigrid");
  TES_CHECK(s->desc.start_cycles > 0, "start_cycles is %d, expected 1 or more, or 0 for 1",
            s->desc.start_cycles);
  TES_CHECK(s->desc.method != TES_METHOD_CG || !s->desc.multigrid ||
                tesi_multigrid_symmetric(s->desc.multigrid),
            "cg needs a symmetric cycle (order of smoothing reversed after): ask for one, or for gmres");
  TES_CHECK(!s->desc.smooths_rough || (s->desc.method == TES_METHOD_GMRES && s->desc.multigrid),
            "smooths_rough is for gmres with a multigrid");
  TES_CHECK(!s->desc.full_start || (s->desc.method == TES_METHOD_CG && s->desc.multigrid),
            "full_start is for cg with a multigrid");
  TES_TRY(create_work(s));
  s->root = sqrt((double)(s->desc.op->space ? s->desc.op->space->layout->global
                                            : tesi_reduce_count(ctx, s->desc.op->length)));
  TES_ALLOC(&s->residuals, s->desc.max_iterations + 1);
  *solver = s;
  s = NULL;
done:
  tes_solver_destroy(&s);
  return status;
}

void tes_solver_destroy(TesSolver **solver) {
  if (!solver || !*solver) return;
  TesSolver *s = *solver;
  TesContext *ctx = s->context;
  *solver = NULL;
  tesi_krylov_device_destroy(&s->device);
  TesVector **vectors[] = {&s->r, &s->p, &s->q, &s->z, &s->mg_b, &s->mg_x, &s->projected, &s->ones};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
  tesi_full_destroy(&s->full);
  for (int i = 0; s->basis && i <= s->desc.restart; i++) tes_vector_destroy(&s->basis[i]);
  for (int i = 0; s->images && i < s->desc.restart; i++) tes_vector_destroy(&s->images[i]);
  tesi_free(ctx, &s->basis);
  tesi_free(ctx, &s->images);
  tesi_free(ctx, &s->residuals);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

double tesi_solver_factor(const TesSolver *s, double norm) {
  int exponent;
  frexp(norm / s->root, &exponent);
  return norm > 0 && isfinite(norm) ? ldexp(1, -tesi_max(-500, tesi_min(exponent, 500))) : 1;
}

TesStatus tesi_solver_smooths_before(TesSolver *solver, const TesVector *b, bool *before) {
  const bool raw = solver->raw;
  *before = solver->raw = false;
  return raw ? tesi_multigrid_is_rough(solver->desc.multigrid, b, before) : TES_OK;
}

TesStatus tesi_solver_cycle(TesSolver *solver, const TesVector *b, TesVector *x) {
  bool before;
  const TesStatus status = tesi_solver_smooths_before(solver, b, &before);
  if (status != TES_OK) return status;
  return tesi_multigrid_cycle(solver->desc.multigrid, before ? TESI_CYCLE_ROUGH : TESI_CYCLE_USUAL, b, x);
}

TesStatus tesi_solver_precondition(TesSolver *solver, const TesVector *r, double norm, TesVector *z) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  if (!solver->desc.multigrid) return tes_vector_copy(r, 1, z);
  if (!solver->mg_b) return tesi_solver_cycle(solver, r, z);
  const double factor = tesi_solver_factor(solver, norm);
  TES_TRY(tes_vector_copy(r, factor, solver->mg_b));
  TesVector *x = solver->mg_x ? solver->mg_x : z;
  TES_TRY(tesi_solver_cycle(solver, solver->mg_b, x));
  TES_TRY(tes_vector_copy(x, 1 / factor, z));
done:
  return status;
}

TesStatus tesi_solver_residual(TesSolver *solver, const TesVector *b, const TesVector *x, double *relative) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  double norm;
  if (solver->zero) {
    solver->zero = false;
    *relative = 1;
    return projects_residual(solver) ? TES_OK : tes_vector_copy(b, 1, solver->r); /* measure() left it there */
  }
  TES_TRY(tes_operator_residual(solver->desc.op, b, x, solver->r));
  if (solver->desc.op->singular)
    TES_TRY(remove_null(solver, solver->r)); /* round-off, which directions enlarge */
  TES_TRY(tes_vector_norm(solver->r, &norm));
  *relative = norm / solver->b_norm;
done:
  return status;
}

/* x <- full multigrid of b but for its last cycle, which is the first of the iteration. */
static TesStatus full_start(TesSolver *s, const TesVector *b, TesVector *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double factor = tesi_solver_factor(s, s->b_norm);
  if (!s->mg_b) return tesi_multigrid_start(s->desc.multigrid, b, NULL, 1, TESI_CYCLE_USUAL, x);
  TES_TRY(tes_vector_copy(b, factor, s->mg_b));
  TES_TRY(tesi_multigrid_start(s->desc.multigrid, s->mg_b, NULL, 1, TESI_CYCLE_USUAL, s->mg_x));
  TES_TRY(tes_vector_copy(s->mg_x, 1 / factor, x));
done:
  return status;
}

TesStatus tesi_solver_begin(TesSolver *solver, const TesVector *b, TesVector *x, double *relative) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  if (solver->desc.full_start) {
    solver->zero = false;
    TES_TRY(full_start(solver, b, x));
  }
  TES_TRY(tesi_solver_residual(solver, b, x, relative));
  if (solver->desc.full_start && !(*relative < 1)) {
    TES_TRY(tes_vector_fill(x, 0));
    TES_TRY(tes_vector_copy(b, 1, solver->r));
    *relative = 1;
  }
done:
  return status;
}

/* What floor.h asks for. */
typedef struct TesiSolved {
  const TesSolver *solver;
  const TesVector *b;
} TesiSolved;

void tesi_solver_give_up_early(TesSolver *solver) {
  solver->gives_up = true;
}

/* By the rate of the last eight iterations, from the sixteenth on. */
static bool is_hopeless(const TesSolver *s, int iteration) {
  enum { FIRST = 16, WINDOW = 8 };
  const double much = 1.5;
  if (!s->gives_up || iteration < FIRST || iteration % WINDOW) return false;
  const double now = s->residuals[iteration], rate = log(now / s->residuals[iteration - WINDOW]) / WINDOW;
  return !(rate < 0 && iteration + log(s->desc.tolerance / now) / rate <= much * s->desc.max_iterations);
}

TesStatus tesi_solver_record(TesSolver *solver, int iteration, double relative, bool *stop) {
  solver->residuals[iteration] = relative;
  solver->iterations = iteration;
  *stop = true;
  if (solver->desc.monitor) solver->desc.monitor(solver->desc.monitor_user, iteration, relative);
  if (!isfinite(relative)) return TES_NAN;
  if (relative <= solver->desc.tolerance) return TES_OK;
  if (relative > 1e6 * fmax(solver->residuals[0], 1)) return TES_DIVERGED;
  if (tesi_any_interrupted(solver->context)) return TES_INTERRUPTED;
  solver->gave_up = is_hopeless(solver, iteration);
  if (iteration >= solver->desc.max_iterations || solver->gave_up) return TES_NOT_CONVERGED;
  *stop = false;
  return TES_OK;
}

/* r <- b - A x, without what is projected. */
static TesStatus residual_of(void *user, const TesVector *x, TesVector *r) {
  const TesiSolved *solved = user;
  const TesOperator *op = solved->solver->desc.op;
  const TesStatus status = tes_operator_residual(op, solved->b, x, r);
  return status == TES_OK && op->singular ? remove_null(solved->solver, r) : status;
}

TesStatus tesi_solver_settle(TesSolver *s, const TesVector *b, TesVector *x, double claimed, bool suspect,
                             TesiProgress *progress) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int n = s->iterations;
  const bool stalls = tesi_floor_stalls(&s->floor, n, s->residuals[n]), last = progress->stop;
  TesiSolved solved = {s, b};
  TesiFloorSystem system = {.residual = residual_of, .user = &solved, .b = b};
  TesiFloorState state;
  progress->again = false;
  if (last ? progress->outcome != TES_NOT_CONVERGED : !stalls && !suspect) return TES_OK;
  if (s->desc.op->singular) TES_TRY(remove_null(s, x));
  tesi_floor_groups(s->desc.op->space, &system);
  TES_TRY(tesi_floor_look(&s->floor, &system, x, n, claimed * s->b_norm, last, &state));
  progress->again = state == TESI_FLOOR_WATCHED;
  if (state != TESI_FLOOR_REACHED) return TES_OK;
  tesi_solver_correct(s, s->floor.reached / s->b_norm);
  s->allowed = s->floor.allowed / s->b_norm;
  progress->outcome = TES_OK;
  progress->stop = true;
done:
  return status;
}

/* Below which nothing is believed, whatever the tolerance. */
#define BELIEVED 1e-14

TesStatus tesi_solver_follow(TesSolver *s, const TesVector *b, TesVector *x, int iteration, double *relative,
                             TesiProgress *progress) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double claimed = *relative;
  const bool believed = claimed > s->desc.tolerance || !isfinite(claimed);
  if (!believed) TES_TRY(tesi_solver_residual(s, b, x, relative));
  progress->outcome = tesi_solver_record(s, iteration, *relative, &progress->stop);
  TES_TRY(tesi_solver_settle(s, b, x, claimed, !believed || claimed <= BELIEVED, progress));
  if (progress->again && believed) TES_TRY(tesi_solver_residual(s, b, x, relative));
done:
  return status;
}

void tesi_solver_correct(TesSolver *solver, double relative) {
  solver->residuals[solver->iterations] = relative;
}

TesStatus tesi_solver_tell(TesSolver *solver, const TesVector *b, const TesVector *x, TesStatus outcome) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  double relative;
  if (outcome != TES_OK && outcome != TES_NAN) {
    TES_TRY(tesi_solver_residual(solver, b, x, &relative));
    tesi_solver_correct(solver, relative);
  }
  status = outcome;
done:
  return status;
}

static TesStatus run(TesSolver *s, const TesVector *b, TesVector *x) {
  switch (s->desc.method) {
  case TES_METHOD_CG:
    return s->device ? tesi_solver_cg_device(s, b, x) : tesi_solver_cg(s, b, x);
  case TES_METHOD_GMRES:
    return s->device ? tesi_solver_gmres_device(s, b, x) : tesi_solver_gmres(s, b, x);
  default:
    return tesi_solver_stationary(s, b, x);
  }
}

static void fill_result(const TesSolver *s, double seconds, TesSolveResult *result) {
  const int n = s->iterations;
  const double reduction = s->residuals[n] / s->residuals[0];
  *result = (TesSolveResult){.iterations = n,
                             .residual_count = n + 1,
                             .residuals = s->residuals,
                             .seconds = seconds,
                             .floor = s->allowed};
  result->fractional_iterations = n > 0 ? n * log(s->desc.tolerance) / log(reduction) : NAN;
}

static TesStatus explain(const TesSolver *s, TesStatus outcome) {
  const TesiUnsolved unsolved = {.method = s->desc.method,
                                 .residuals = s->residuals,
                                 .iterations = s->iterations,
                                 .tolerance = s->desc.tolerance,
                                 .single = s->mg_b != NULL,
                                 .advice = s->advice};
  return tesi_explain_unsolved(s->context, &unsolved, outcome);
}

/* s->b_norm <- |b|; of a singular operator the norm of b without its part along op->null, which is left in r. */
static TesStatus measure(TesSolver *s, const TesVector *b) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  if (!projects_residual(s)) return tes_vector_norm(b, &s->b_norm);
  TES_TRY(tes_vector_copy(b, 1, s->r));
  TES_TRY(tesi_operator_remove_null(s->desc.op, s->r));
  TES_TRY(tes_vector_norm(s->r, &s->b_norm));
done:
  return status;
}

/* Where squares of b over- or underflow: solver->projected <- factor b, factor the power of two that makes its
 * largest entry about 1. */
static TesStatus bring_into_range(TesSolver *s, const TesVector *b, double *factor) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double largest;
  int exponent;
  *factor = 1;
  TES_TRY(tes_vector_maximum(b, &largest));
  if (largest == 0 || !isfinite(largest)) goto done;
  frexp(largest, &exponent);
  *factor = ldexp(1, -tesi_max(-1000, tesi_min(exponent, 1000)));
  if (!s->projected) TES_TRY(tesi_operator_new_vector(s->desc.op, TES_DOUBLE, &s->projected));
  TES_TRY(tes_vector_copy(b, *factor, s->projected));
  TES_TRY(measure(s, s->projected));
done:
  return status;
}

TesStatus tes_solver_solve(TesSolver *solver, const TesVector *b, TesVector *x, TesSolveResult *result) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  const double start = tesi_now();
  const int64_t length = solver->desc.op->length;
  TesVector *const *below = solver->below;
  double factor = 1;
  solver->iterations = 0;
  solver->told = solver->gave_up = false;
  solver->allowed = 0;
  tesi_floor_begin(&solver->floor);
  solver->raw = solver->desc.smooths_rough;
  solver->residuals[0] = NAN;
  TES_CHECK(b != x && b->data != x->data, "right-hand side and solution are the same vector");
  TES_CHECK(b->length == length && x->length == length, "vectors of length %lld and %lld, expected %lld",
            (long long)b->length, (long long)x->length, (long long)length);
  TES_CHECK(b->precision == TES_DOUBLE && x->precision == TES_DOUBLE,
            "right-hand side and solution are in float64");
  TES_CHECK(b->context == ctx && x->context == ctx, "a vector belongs to another context than the solver");
  if (solver->desc.op->singular && !projects_residual(solver)) {
    TES_TRY(tes_vector_copy(b, 1, solver->projected));
    TES_TRY(remove_null(solver, solver->projected));
    b = solver->projected;
  }
  TES_TRY(measure(solver, b));
  if (!(solver->b_norm > LEAST_NORM && solver->b_norm < MOST_NORM))
    TES_TRY(bring_into_range(solver, b, &factor));
  if (factor != 1) {
    b = solver->projected;
    solver->below = NULL; /* residuals of another b */
    TES_TRY(tes_vector_copy(x, factor, x));
  }
  if (solver->b_norm == 0) {
    TES_TRY(tes_vector_fill(x, 0));
    solver->residuals[0] = 0;
  } else {
    const TesStatus outcome = run(solver, b, x);
    solver->told = outcome == TES_OK && factor == 1 && solver->r && solver->desc.method != TES_METHOD_CG &&
                   !tesi_solver_rounds(solver);
    const bool keeps = solver->keeps_null && solver->desc.op->null;
    if (solver->desc.op->singular && !keeps) TES_TRY(remove_null(solver, x));
    if (factor != 1) TES_TRY(tes_vector_copy(x, 1 / factor, x));
    TES_TRY(explain(solver, outcome));
  }
done:
  tesi_floor_end(&solver->floor);
  solver->below = below;
  fill_result(solver, tesi_now() - start, result);
  return status;
}

TesStatus tesi_solver_solve_from_zero(TesSolver *solver, const TesVector *b, TesVector *x,
                                      TesSolveResult *result) {
  TesStatus status = tes_vector_fill(x, 0);
  solver->zero = true;
  if (status == TES_OK) status = tes_solver_solve(solver, b, x, result);
  solver->zero = false;
  return status;
}
