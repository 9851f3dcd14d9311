#include "problem/in_time.h"
#include <math.h>
#include <stdio.h>
#include "functional/functional.h"
#include "krylov/solver.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include "parallel/comm.h"
#include "problem/balance.h"
#include "problem/modal.h"
#include "problem/step_control.h"
#include "problem/support.h"

/* ---- data at a time ------------------------------------------------------------------------------------ */

static TesStatus set_numbers(TesProblem *p, double time, double sigma) {
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiNumbered now = {0};
  if (it->at == time && it->sigma == sigma) return TES_OK;
  TES_TRY(tesi_numbered_copy(p->mesh, &it->numbers, &now));
  TES_TRY(p->equation->second_order ? tesi_numbered_at(p->mesh, time, sigma, 0, &now)
                                    : tesi_numbered_at(p->mesh, time, 1, sigma, &now));
  tesi_numbered_free(p->mesh, &p->numbered);
  p->numbered = now, now = (TesiNumbered){0};
  for (int c = 0; c <= TESI_AXES; c++) {
    tes_function_destroy(&p->exact[c]);
    if (it->exact[c]) TES_TRY(tesi_function_at(it->exact[c], time, &p->exact[c]));
  }
  it->at = time, it->sigma = sigma;
done:
  tesi_numbered_free(p->mesh, &now);
  return status;
}

TesStatus tesi_in_time_at(TesProblem *p, double time) {
  return set_numbers(p, time, p->in_time->sigma);
}

TesStatus tesi_in_time_shift(TesProblem *p, double time, double sigma) {
  return set_numbers(p, time, sigma);
}

const TesiTimeMethod *tesi_in_time_method(const TesProblem *p) {
  return p->equation->method ? p->equation->method : tesi_time_method(p->in_time->march.desc.method);
}

/* Whether right-hand sides depend on time. */
static bool load_is_timed(const TesProblem *p) {
  const TesiNumbered *n = &p->in_time->numbers;
  bool timed = p->in_time->add_load || tesi_function_timed(n->data.expansion) ||
               tesi_numbered_timed(p->mesh, n, false);
  for (int i = 0; i < tes_mesh_materials(p->mesh); i++) timed = timed || tesi_function_timed(n->expansion[i]);
  for (int c = 0; c < TESI_AXES; c++) {
    timed = timed || tesi_function_timed(n->data.f[c]);
    for (int i = 0; i < tes_mesh_materials(p->mesh); i++) timed = timed || tesi_function_timed(n->f[c][i]);
  }
  return timed;
}

static TesStatus refuse_timed(TesContext *ctx, const char *what, const TesFunction *f) {
  TesStatus status = TES_OK;
  TES_CHECK(
      !tesi_function_timed(f) || !tesi_function_has_text(f),
      "%s%s is \"%.200s\": it cannot depend on t; f, boundary values, fluxes, the exact solution and, of "
      "transport, a, b and c can",
      tesi_function_where(f), what, tes_function_text(f));
done:
  return status;
}

/* Which coefficients of the operator depend on time. */
static TesStatus find_timed_coefficients(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  const TesiNumbered *n = &p->numbered;
  it->changes = tesi_function_timed(n->data.a) || tesi_function_timed(n->data.c);
  for (int i = 0; i < TESI_AXES; i++) it->moves = it->moves || tesi_function_timed(n->data.b[i]);
  for (int i = 0; i < tes_mesh_materials(p->mesh); i++)
    it->changes = it->changes || tesi_function_timed(n->a[i]) || tesi_function_timed(n->c[i]);
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    TES_TRY(refuse_timed(ctx, "alpha", n->given[i].alpha));
  if (p->equation->own) TES_TRY(refuse_timed(ctx, "nu", n->data.a));
  for (int i = -1; p->equation->couples && i < tes_mesh_materials(p->mesh); i++) {
    TES_TRY(refuse_timed(ctx, "lambda", i < 0 ? n->data.lambda : n->lambda[i]));
    TES_TRY(refuse_timed(ctx, "mu", i < 0 ? n->data.a : n->a[i]));
    TES_TRY(refuse_timed(ctx, "density", i < 0 ? n->data.c : n->c[i]));
  }
  p->variant.balanced = p->variant.balanced && !it->moves && !it->changes && !p->equation->react;
done:
  return status;
}

/* ---- what a stepper calls ------------------------------------------------------------------------------ */

static TesStatus apply_mass(void *user, const TesVector *x, TesVector *y) {
  const TesiInTime *it = ((const TesProblem *)user)->in_time;
  const TesiTransport *transport = tesi_transport_of(it->whole);
  const TesStatus status = tes_operator_apply(it->mass, x, y);
  return status == TES_OK && transport ? tesi_transport_add_mass(it->whole, x, y) : status;
}

/* Another velocity. */
static TesStatus move(TesProblem *p, TesOperator *op) {
  const TesStatus status = tesi_transport_move(op, p->numbered.data.b);
  if (op == p->op && p->solver && tesi_transport_of(op)->renewed) tesi_solver_forget(p->solver);
  return status;
}

/* If only the velocity has changed, it is put into the existing operators. */
TesStatus tesi_in_time_use(TesProblem *p, double sigma, double time) {
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool same = it->sigma == sigma && it->whole, timed = it->moves || it->changes;
  if (same && (!timed || it->operated == time)) return TES_OK;
  TES_TRY(set_numbers(p, timed ? time : it->at, sigma));
  if (same && !it->changes) {
    if (!it->carrier) TES_TRY(move(p, p->op));
    TES_TRY(move(p, it->carrier ? it->carrier : it->whole));
  } else {
    tesi_in_time_forget(p);
    if (it->least) tesi_least_forget(it->least);
    tes_operator_destroy(&it->whole);
    if (p->variant.stabilization != TES_STREAMLINE_NONE) tes_vector_destroy(&it->load);
    if (it->made) TES_TRY(tesi_problem_create_solver(p));
    TES_TRY(tesi_operator_on(p->op, it->full, TES_DOUBLE, &it->whole));
    if (it->carrier && it->moves) TES_TRY(move(p, it->carrier));
  }
  it->operated = time, it->made = true;
done:
  return status;
}

/* Load, mass and operator of a stage have the same sigma and dt, on which streamline terms depend. */
static TesStatus at(void *user, int stage, bool same, double sigma, int count, const double *times) {
  (void)same, (void)count;
  const TesStatus status = tesi_in_time_use(user, sigma, times[0]);
  tesi_in_time_plan(user, stage);
  return status;
}

/* In the rows of all nodes; rows of given values matter only for the balance. */
static TesStatus find_load(TesProblem *p, double time, TesVector *b) {
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (it->moves || it->changes) TES_TRY(tesi_in_time_use(p, it->sigma, time));
  if (it->load) return tes_vector_copy(it->load, 1, b);
  TES_TRY(tesi_in_time_use(p, it->sigma, time));
  if (it->data.loads) return tesi_timed_data_load(p, time, b);
  TES_TRY(set_numbers(p, time, it->sigma));
  TES_TRY(p->equation->load_all(p, it->whole, b));
  if (it->add_load) TES_TRY(it->add_load(it->add_load_user, p->space, b));
  if (it->timed) goto done;
  TES_TRY(tes_vector_create(ctx, b->length, TES_DOUBLE, &it->load));
  TES_TRY(tes_vector_copy(b, 1, it->load));
done:
  return status;
}

static TesStatus make_load(void *user, double time, TesVector *b) {
  TesProblem *p = user;
  const double start = tesi_now();
  const TesStatus status = find_load(p, time, b);
  p->times.load += tesi_now() - start;
  return status == TES_OK && p->balance ? tesi_balance_loaded(p->balance, time, b) : status;
}

static TesStatus carry(void *user, const TesVector *x, TesVector *b) {
  const TesProblem *p = user;
  const TesOperator *carrier = p->in_time->carrier;
  TesStatus status = carrier ? tesi_transport_subtract(carrier, x, b) : TES_OK;
  if (status == TES_OK && carrier && p->balance) status = tesi_balance_carried(p->balance, x);
  return status == TES_OK && p->equation->react ? p->equation->react(p, x, b) : status;
}

static TesStatus subtract(void *user, double sigma, double time, const TesVector *x, TesVector *b) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_in_time_use(p, sigma, time));
  TES_TRY(tes_operator_residual(p->in_time->whole, b, x, p->in_time->r));
  TES_TRY(tes_vector_copy(p->in_time->r, 1, b));
done:
  return status;
}

/* Boundary values are taken at a time. */
static TesStatus take_values(TesProblem *p, double time) {
  return p->in_time->data.gives ? tesi_timed_data_at(p, 0, time) : tesi_problem_lift(p);
}

TesStatus tesi_in_time_give(const TesProblem *p, TesVector *x) {
  if (p->in_time->data.gives) return tesi_timed_data_give(p, x);
  const TesStatus status = p->lifting.some_given ? tesi_problem_clear(p, x) : TES_OK;
  return status == TES_OK && p->lifting.lifted ? tes_vector_axpy(1, p->lifting.shift, x) : status;
}

/* ---- explicit steps ------------------------------------------------------------------------------------ */

static TesStatus find_lumped(TesiInTime *it) {
  TesContext *ctx = it->mass->context;
  TesStatus status = TES_OK;
  if (it->lumped) return TES_OK;
  TES_TRY(tesi_vector_create_on(it->mass->space->layout, TES_DOUBLE, &it->lumped));
  TES_TRY(tes_vector_fill(it->d, 1));
  TES_TRY(tes_operator_apply(it->mass, it->d, it->lumped));
  TES_TRY(tesi_vector_invert(it->lumped));
done:
  return status;
}

static TesStatus add_lumped(void *user, double time, double factor, const TesVector *b, TesVector *x) {
  TesProblem *p = user;
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(find_lumped(it));
  TES_TRY(tesi_context_device(ctx)->multiply_add(ctx, TES_DOUBLE, x->length, factor, b->data,
                                                 it->lumped->data, x->data));
  TES_TRY(set_numbers(p, time, it->sigma));
  TES_TRY(take_values(p, time));
  TES_TRY(tesi_in_time_give(p, x));
done:
  return status;
}

/* The factor by which |r| is to be reduced: the target is the problem's tolerance times the residual of the old
 * solution, or times the load. If the guess is worse than the old solution, the old solution replaces it. p->b <- r. */
static TesStatus find_start(TesProblem *p, const TesVector *b, const TesVector *old, TesVector *x,
                            double *tolerance) {
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double of_start, reference;
  TES_TRY(tesi_in_time_start(p, b, old, x, false));
  TES_TRY(tes_vector_norm(it->r, &reference));
  TES_TRY(tes_vector_norm(p->b, &of_start));
  if (tesi_in_time_either(p) && reference < of_start) {
    TES_TRY(tes_vector_copy(it->d, 1, x));
    TES_TRY(tes_vector_copy(it->r, 1, p->b));
    of_start = reference;
  }
  *tolerance = of_start > 0 ? p->chosen.tolerance * reference / of_start : 1;
done:
  return status;
}

/* The correction d of the start: (sigma M + K) d = r, from zero, so that no tolerance is below round-off. There is at
 * least one iteration unless r is 0. */
static TesStatus find_correction(TesProblem *p, double sigma, double time, const TesVector *b,
                                 const TesVector *old, TesVector *x, TesSolveResult *result) {
  enum { ONE_CYCLE = 2 };
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double tolerance;
  TES_TRY(tesi_in_time_use(p, sigma, time));
  TES_TRY(set_numbers(p, time, sigma));
  TES_TRY(take_values(p, time));
  TES_TRY(find_start(p, b, old, x, &tolerance));
  tesi_solver_set_tolerance(p->solver, fmin(fmax(tolerance, 1e-14), 1. / ONE_CYCLE));
  TES_TRY(tesi_solver_solve_from_zero(p->solver, p->b, it->d, result));
done:
  return status;
}

static TesStatus solve(void *user, double sigma, double time, const TesVector *b, const TesVector *old,
                       TesVector *x) {
  TesProblem *p = user;
  TesiInTime *it = p->in_time;
  TesSolveResult result = {0};
  const bool begun = it->begun;
  TesStatus status =
      begun ? tesi_in_time_finish(p, &result) : find_correction(p, sigma, time, b, old, x, &result);
  const int iterations = it->sum.iterations + result.iterations;
  tesi_problem_take_floor(p, &result);
  it->sum = result;
  it->sum.iterations = iterations;
  it->sum.fractional_iterations = NAN;
  const TesStatus added = tes_vector_axpy(1, it->d, x);
  if (status == TES_OK) status = added;
  return tesi_timed_data_explain(p, time, status);
}

/* ---- a problem ----------------------------------------------------------------------------------------- */

#define TIME_ROUNDING 1e-13 /* of a time: a shorter step would be wrong by a thousandth */
/* An equation with its own scheme may let the flow determine the lengths of steps; it does if nothing else is asked
 * for. */
static TesStatus check(TesContext *ctx, const TesiEquation *equation, TesTimeDesc *t) {
  TesStatus status = TES_OK;
  const double size = fmax(fabs(t->start), fabs(t->end));
  const bool by_flow = equation->support && !(t->step > 0) && !(t->tolerance > 0);
  if (by_flow && t->cfl == 0) t->cfl = equation->support->cfl;
  TES_CHECK(isfinite(t->start) && isfinite(t->end) && t->end > t->start,
            "the time ends at %g, expected above its start, %g", t->end, t->start);
  TES_CHECK(
      t->step >= 0 && isfinite(t->step) && t->cfl >= 0 && t->cfl <= 10 && t->tolerance >= 0 &&
          t->tolerance < 1 && (t->step > 0) + (t->cfl > 0) + (t->tolerance > 0) == 1,
      "time.step is %g, time.cfl %g and time.tolerance %g: expected one of them above 0, cfl at most 10, "
      "tolerance below 1",
      t->step, t->cfl, t->tolerance);
  TES_CHECK(!(t->max_step > 0) || t->min_step <= t->max_step,
            "time.min_step is %g, above time.max_step, which is %g", t->min_step, t->max_step);
  TES_CHECK(!(t->step > 0) || ((t->end - t->start) / t->step < 1e9 &&
                               fmin(t->step, t->end - t->start) > TIME_ROUNDING * size),
            "steps of %g from %g to %g are more than 1e9, or so short that these times lose them in rounding",
            t->step, t->start, t->end);
done:
  return status;
}

/* The steps of the previous problem continue; their means are part of its state. */
static void take_steps(const TesiInTime *from, TesiInTime *it) {
  it->march = from->march, it->march.average = (TesiAverage){.count = 0};
  it->notes = from->notes;
  it->error.squares = from->error.squares, it->remeshed = from->remeshed;
}

static double first_sigma(const TesProblem *p) {
  const TesiInTime *it = p->in_time;
  if (p->before) return p->before->in_time->sigma;
  if (p->equation->own) return 0;
  return p->equation->second_order
             ? tesi_time_second_sigma(it->march.desc.method, tesi_in_time_rho(&it->march.desc), it->march.dt)
         : p->equation->method ? p->equation->method->sigma / it->march.dt
                               : tesi_time_first_sigma(it->march.desc.method, it->march.dt);
}

TesStatus tesi_in_time_create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it;
  TesTimeDesc time = desc->time;
  TES_TRY(check(ctx, p->equation, &time));
  TES_NEW(&it);
  p->in_time = it;
  tesi_march_begin(&it->march, &time);
  if (p->equation->second_order) it->march.desc.method = tesi_time_second(time.method);
  if (!p->equation->own) TES_TRY(tesi_steps_create(p));
  it->remeshed = -1;
  if (p->before) take_steps(p->before->in_time, it);
  it->march.average.from = desc->average_from;
  it->first = tesi_mesh_retain(p->before ? p->before->in_time->first : p->mesh);
  it->add_load = desc->add_load, it->add_load_user = desc->add_load_user;
  TES_TRY(tesi_numbered_copy(p->mesh, &p->numbered, &it->numbers));
  for (int c = 0; c <= TESI_AXES; c++) it->exact[c] = tesi_function_retain(p->exact[c]);
  TES_TRY(find_timed_coefficients(p));
  it->timed = load_is_timed(p) || ((it->moves || it->changes) &&
                                   (p->equation->flow || p->variant.stabilization != TES_STREAMLINE_NONE));
  it->at = NAN;
  TES_TRY(set_numbers(p, it->march.time, first_sigma(p)));
done:
  return status;
}

/* Test functions that change during a step make its mean of first order only. */
static TesStatus refuse_moving_tests(const TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const TesiTransport *transport = tesi_transport_of(it->whole);
  TES_CHECK(it->march.desc.method != TES_TIME_CRANK_NICOLSON || !transport || !transport->streamline ||
                (!it->moves && !it->changes),
            "crank_nicolson with streamline terms is of coefficients that do not depend on t: take bdf2 or "
            "sdirk2, or "
            "stabilization none");
done:
  return status;
}

static TesStatus create_operators(TesProblem *p) {
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesTermDesc mass = {.term = TES_TERM_MASS};
  if (p->equation->second_order) mass.a = (TesCoefficient){it->numbers.data.c, it->numbers.c};
  TES_TRY(tesi_problem_create_full(p, &it->full));
  TesOperatorDesc desc = {.space = it->full, .form = {1, &mass, 0}, .kind = tesi_operator_separable.name};
  if (tesi_operator_refuses(&tesi_operator_separable, &desc)) desc.kind = NULL;
  TES_TRY(tes_operator_create(ctx, &desc, &it->mass));
done:
  return status;
}

/* Transport that steps take from old values. */
static TesStatus create_carrier(TesProblem *p) {
  enum { NODES = 6 }; /* the node distances that steps may cross, in tenths */
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  TesTermDesc term[TESI_TERMS];
  if (!tesi_in_time_method(p)->carries || (p->equation->react && !tesi_problem_transports(p))) return TES_OK;
  TES_CHECK(tesi_problem_transports(p), "imex_bdf2 is of a velocity, and there is none: take bdf2");
  TES_CHECK(p->variant.stabilization != TES_STREAMLINE_ALWAYS,
            "imex_bdf2 has no streamline terms: take bdf2, or stabilization none");
  const int terms = tesi_transport_form(p, term);
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = it->full, .form = {terms, term, 0}},
                              &it->carrier));
  const double crossed = it->march.dt * tesi_steps_rate(p);
  if (it->march.desc.step > 0 && crossed > NODES / 10. && !p->before)
    tesi_log(
        ctx, TES_LOG_WARNING,
        "warning: the velocity crosses %.2g distances of nodes per step; steps of imex_bdf2 are stable up "
        "to about "
        "%.1g: take time.step %.2g or less, or time.cfl",
        crossed, NODES / 10., it->march.dt * NODES / 10 / crossed);
done:
  return status;
}

TesStatus tesi_in_time_interpolate(TesProblem *p) {
  TesFunction *const *initial = p->in_time->initial;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *now[TESI_AXES] = {NULL};
  for (int c = 0; c < TESI_AXES; c++)
    if (initial[c]) TES_TRY(tesi_function_at(initial[c], p->in_time->march.time, &now[c]));
  TES_TRY(!now[0] && !now[1] && !now[2] ? tes_vector_fill(p->u, 0)
          : p->equation->flow           ? tesi_modal_project(p->space, now[0], p->u)
                              : tes_space_interpolate(p->space, (const TesFunction *const *)now, p->u));
  TES_TRY(take_values(p, p->in_time->march.time));
  TES_TRY(tesi_in_time_give(p, p->u));
done:
  for (int c = 0; c < TESI_AXES; c++) tes_function_destroy(&now[c]);
  return status;
}

/* TesiAveraged.square: entries of elements with modes are not values, so they cannot be squared. */
static TesStatus square(void *user, const TesVector *value, TesVector *to) {
  return tesi_rt_square(((const TesProblem *)user)->space, value, to);
}

TesStatus tesi_in_time_begin(TesProblem *p, const TesProblemDesc *desc) {
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiEvolution evolution = {.context = ctx,
                             .length = p->space->length,
                             .user = p,
                             .at = at,
                             .mass = apply_mass,
                             .load = make_load,
                             .subtract = subtract,
                             .solve = solve,
                             .starts = tesi_in_time_starts,
                             .carry = carry,
                             .lumped = add_lumped,
                             .method = p->equation->method,
                             .accelerate = p->equation->second_order ? tesi_in_time_accelerate : NULL};
  TES_TRY(create_operators(p));
  TES_TRY(tesi_in_time_use(p, it->sigma, it->march.time));
  TES_TRY(refuse_moving_tests(p));
  TES_TRY(create_carrier(p));
  TES_TRY(tesi_timed_data_create(p));
  TES_TRY(tesi_least_create(ctx, p->space->layout, tesi_in_time_directions(p), &it->least));
  TES_TRY(tesi_in_time_evolve_on_device(p, &evolution));
  if (p->variant.balanced)
    TES_TRY(tesi_balance_create(p, it->whole, it->carrier, it->mass, it->sigma, &p->balance));
  if (p->variant.balanced) evolution.amounts = &p->balance->amounts;
  TES_TRY(tesi_stepper_create(&evolution, it->march.desc.method, it->march.dt, tesi_in_time_guess(p),
                              it->march.desc.tolerance > 0, &it->stepper));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &it->r));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &it->d));
  if (desc->average)
    TES_TRY(tesi_average_follow(&it->march.average, &(TesiAveraged){.name = "mean-u",
                                                                    .space = it->full,
                                                                    .value = p->u,
                                                                    .old = &it->stepper->old[0],
                                                                    .square = p->equation->flow ? square : NULL,
                                                                    .user = p}));
  if (p->before && p->equation->second_order) TES_TRY(tesi_in_time_begin_second(p, desc));
  if (p->before) goto done;
  const TesFunction *const *initial = desc->initial[0] || !desc->exact[0] ? desc->initial : desc->exact;
  for (int c = 0; c < TESI_AXES; c++) it->initial[c] = tesi_function_retain(initial[c]);
  TES_TRY(tesi_in_time_interpolate(p));
  if (p->variant.balanced) TES_TRY(tesi_balance_begin(p));
  if (p->equation->second_order) TES_TRY(tesi_in_time_begin_second(p, desc));
done:
  return status;
}

void tesi_in_time_destroy(TesProblem *p) {
  TesiInTime *it = p->in_time;
  if (!it) return;
  for (int c = 0; c < TESI_AXES; c++) tes_vector_destroy(&it->rate[c]);
  tesi_stepper_destroy(&it->stepper);
  tesi_in_time_forget(p);
  tesi_timed_data_destroy(p);
  tesi_average_free(&it->march.average);
  tes_operator_destroy(&it->mass);
  tes_operator_destroy(&it->whole);
  tes_operator_destroy(&it->carrier);
  tes_space_destroy(&it->full);
  tes_mesh_destroy(&it->first);
  tes_vector_destroy(&it->lumped);
  tes_vector_destroy(&it->r);
  tes_vector_destroy(&it->d);
  tesi_least_destroy(&it->least);
  tes_vector_destroy(&it->load);
  for (int c = 0; c <= TESI_AXES; c++) {
    tes_function_destroy(&it->exact[c]);
    tes_function_destroy(&it->initial[c]);
  }
  for (int c = 0; c < TESI_AXES; c++) tes_function_destroy(&it->initial_rate[c]);
  tesi_numbered_free(p->mesh, &it->numbers);
  tesi_free(p->context, &p->in_time);
}

/* ---- steps --------------------------------------------------------------------------------------------- */

const TesiScheme *tesi_in_time_scheme(const TesProblem *p) {
  return p->equation->own            ? p->equation->own->scheme
         : p->equation->second_order ? &tesi_second_order_scheme
                                     : &tesi_stepper_scheme;
}

void tesi_problem_state(TesProblem *p, TesiState *state) {
  tesi_march_list(&p->in_time->march, tesi_in_time_scheme(p), p, state);
  snprintf(p->in_time->of, sizeof p->in_time->of, TESI_STATE_OF "%s", p->equation->name);
  tesi_state_add_fixed(state, p->in_time->of, 1);
}

static TesStatus make_step(TesProblem *p, TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  const double start = tesi_now();
  *result = (TesSolveResult){.fractional_iterations = NAN};
  TES_CHECK(it, "%s has no steps in time: TesProblemDesc.time is not given", p->equation->name);
  TES_CHECK(it->march.step < it->march.steps, "the end of time, %g, is reached", it->march.desc.end);
  it->sum = *result;
  it->error.seconds = 0;
  status = tesi_march_step(ctx, &it->march, tesi_in_time_scheme(p), p, result);
  result->seconds = tesi_now() - start - it->error.seconds;
  TES_TRY(status);
  if (it->march.step == it->march.steps && p->equation->totals)
    TES_TRY(p->equation->totals(p, p->totals.load, p->totals.reaction));
done:
  return status;
}

TesStatus tes_problem_step(TesProblem *p, TesSolveResult *result) {
  return tesi_agree(p->context, make_step(p, result));
}
