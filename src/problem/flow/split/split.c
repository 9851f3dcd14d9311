/* Steps: see split.h. */
#include "problem/flow/split/split.h"
#include <math.h>
#include <string.h>
#include "functional/device_text.h"
#include "functional/functional.h"
#include "functional/load_plan.h"
#include "operator/operator.h"
#include "problem/flow/flow_steps.h"

/* ---- data at a time ------------------------------------------------------------------------------------ */

TesStatus tesi_split_check_flux(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  double net, through, total;
  if (pr->walls.any_open || tesi_problem_given_everywhere(p)) return TES_OK;
  TES_TRY(tesi_taylor_hood_flux(pr->taylor_hood, &pr->closed, p->numbered.given, &net, &through, &total));
  /* Along walls the flux is the rounding of the flow there. */
  TES_TRY(tesi_flow_check_defect(ctx, net, through, fabs(net) <= 1e-8 * total, &pr->defect_told));
done:
  return status;
}

static bool load_is_timed(const TesProblem *p) {
  const TesiNumbered *n = &p->in_time->numbers;
  bool timed = p->in_time->add_load || tesi_numbered_timed(p->mesh, n, false);
  for (int c = 0; c < TESI_AXES; c++) timed = timed || tesi_function_timed(n->data.f[c]);
  return timed;
}

/* b <- the force at the time, by plans that were made once. *done: false if the host must do it, and on several
 * ranks. */
static TesStatus load_by_plans(TesProblem *p, TesVector *b, bool *done) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesFunction *const *f = p->in_time->numbers.data.f;
  const bool begins = !pr->load.clock;
  bool refused = false;
  if (tesi_ranks(ctx) > 1) return TES_OK;
  if (begins) TES_TRY(tesi_clock_create(ctx, 0, &pr->load.clock));
  TES_TRY(tesi_clock_set(ctx, pr->load.clock, tesi_device_time(p->mesh->dim, p->numbered.data.f)));
  *done = true;
  for (int c = 0; c < p->mesh->dim && *done; c++) {
    TesVector part = tesi_space_range(pr->full, b, c);
    const TesiLoad desc = {.space = pr->full->part[c], .f = f[c]};
    if (begins && f[c]) TES_TRY(tesi_load_plan_create(&desc, true, &pr->load.plan[c]));
    *done = !f[c] || pr->load.plan[c];
    if (pr->load.plan[c]) TES_TRY(tesi_load_plan_run(pr->load.plan[c], pr->load.clock, &part));
    if (!f[c]) TES_TRY(tes_vector_fill(&part, 0));
  }
  TES_TRY(tesi_clock_refused(ctx, pr->load.clock, &refused));
  *done = *done && !refused;
done:
  return status;
}

/* b += the stress on open boundaries, integrated on the host. */
static TesStatus add_stress(TesProblem *p, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesiGiven *given = p->numbered.given;
  double *values = NULL;
  bool any = false;
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    for (int c = 0; c <= p->mesh->dim && tesi_given_open(&given[i], p->mesh->dim); c++)
      any = any || given[i].g[c];
  if (!any) return TES_OK;
  if (!tesi_has_kernels(ctx)) return tesi_taylor_hood_stress(pr->taylor_hood, &pr->open, given, b->data);
  TES_TRY(tesi_vector_read(b, &values));
  TES_TRY(tesi_taylor_hood_stress(pr->taylor_hood, &pr->open, given, values));
  TES_TRY(tes_vector_set(b, values));
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tesi_split_load(TesProblem *p, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesiNumbered *n = &p->numbered;
  bool done_by_plans = false;
  if (pr->load.constant) return tes_vector_copy(pr->load.constant, 1, b);
  if (pr->load.timed && tesi_sums_on_device(pr->full->part[0])) TES_TRY(load_by_plans(p, b, &done_by_plans));
  if (!done_by_plans)
    TES_TRY(tes_functional_load(
        &(TesLoadDesc){.space = pr->full,
                       .f = {n->data.f[0], n->data.f[1], p->mesh->dim == 3 ? n->data.f[2] : NULL}},
        b));
  TES_TRY(add_stress(p, b));
  if (p->in_time && p->in_time->add_load)
    TES_TRY(p->in_time->add_load(p->in_time->add_load_user, pr->full, b));
  if (pr->load.timed) goto done;
  TES_TRY(tesi_vector_create_on(b->layout, TES_DOUBLE, &pr->load.constant));
  TES_TRY(tes_vector_copy(b, 1, pr->load.constant));
done:
  return status;
}

/* ---- the terms of a step ------------------------------------------------------------------------------- */

TesStatus tesi_split_carry(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  if (pr->state.is_carried) return TES_OK;
  TES_TRY(tesi_taylor_hood_convection(pr->taylor_hood, &pr->u, pr->state.carried[0], &pr->speed.rate));
  TES_TRY(tesi_taylor_hood_backflow(pr->taylor_hood, &pr->open, &pr->u, pr->state.carried[0]));
  pr->state.is_carried = true;
done:
  return status;
}

TesiFormula tesi_split_formula(const TesiSplit *pr, double dt) {
  const double w = pr->state.known ? dt / pr->state.step[0] : 0;
  if (!pr->state.known) return (TesiFormula){dt, 1, 1, 0, 1, 0};
  return (TesiFormula){dt, (1 + 2 * w) / (1 + w), 1 + w, w * w / (1 + w), 1 + w, w};
}

static void swap(TesVector **a, TesVector **b) {
  TesVector *const other = *a;
  *a = *b, *b = other;
}

/* The weights of u, u^(n-1), u^(n-2) in the extrapolation; returns their number. */
static int extrapolate(const TesiSplit *pr, double dt, double weight[3]) {
  const int count = pr->guess.kept ? tesi_min(pr->state.known, 2) : 0;
  const double at[3] = {0, -pr->state.step[0], -pr->state.step[0] - pr->state.step[1]};
  for (int j = 0; j < 3; j++) {
    weight[j] = j <= count;
    for (int i = 0; i <= count && j <= count; i++)
      if (i != j) weight[j] *= (dt - at[i]) / (at[j] - at[i]);
  }
  return count + 1;
}

/* d <- (a1 u^n - a2 u^(n-1)) / dt, x <- the extrapolation of the old velocities. */
static TesStatus combine_old(TesiSplit *pr, const TesiFormula *f) {
  const TesVector *const value[] = {&pr->u, pr->state.old[0], pr->state.old[1]};
  const double by = 1 / f->dt, history[] = {by * f->a1, -by * f->a2, 0};
  double guess[3];
  const int count = tesi_max(extrapolate(pr, f->dt, guess), f->a2 != 0 ? 2 : 1);
  return tesi_vector_combine_pair(count, history, guess, value, pr->work.d, pr->work.x);
}

/* *load <- F and the driving force; in b if it is not the same at all times; NULL: there is none. */
static TesStatus find_load(TesProblem *p, const TesVector **load) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const bool had = pr->load.constant != NULL;
  double size = 1;
  if (!had || pr->drive.components) {
    TES_TRY(tesi_split_load(p, pr->work.b));
    if (!had && pr->load.constant) TES_TRY(tes_vector_maximum(pr->load.constant, &size));
    pr->load.is_zero = size == 0;
    TES_TRY(tesi_drive_load(pr, pr->work.b));
  }
  *load = pr->drive.components || !pr->load.constant ? pr->work.b
          : pr->load.is_zero                         ? NULL
                                                     : pr->load.constant;
done:
  return status;
}

/* b <- the right-hand side of the momentum equation, 0 at given values; x <- a guess. */
static TesStatus gather(TesProblem *p, const TesiFormula *f) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  pr->last.is_under = pr->last.sigma == pr->sigma;
  pr->last.sigma = NAN;
  swap(&pr->work.b, &pr->last.b);
  const double by = 1 / f->dt;
  const TesVector *load, *const pressure[] = {&pr->p, pr->state.phi[0], pr->state.phi[1]};
  TES_TRY(find_load(p, &load));
  TES_TRY(combine_old(pr, f));
  TES_TRY(tes_operator_apply(pr->mass, pr->work.d, pr->work.r));
  TES_TRY(
      tesi_vector_combine(f->a2 != 0 ? 3 : 2, (double[]){1, by * f->a1, -by * f->a2}, pressure, pr->work.pn));
  if (pr->openings.rise != 0) TES_TRY(tes_vector_axpy(pr->openings.rise, pr->mean.ones, pr->work.pn));
  TES_TRY(tesi_taylor_hood_add_gradient(pr->taylor_hood, pr->work.pn, pr->work.r));
  double factor[4] = {1, -f->e0};
  const TesVector *all[4] = {pr->work.r, pr->state.carried[0]};
  int count = 2;
  if (f->e1 != 0) factor[count] = f->e1, all[count++] = pr->state.carried[1];
  if (load) factor[count] = 1, all[count++] = load;
  TES_TRY(tesi_vector_combine(count, factor, all, pr->work.b));
  TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.b));
done:
  return status;
}

/* The factor of the gradient of phi in the viscous stress: nu Lap grad phi = grad nu Lap phi; with 2 nu eps(u) twice
 * as much. */
static double rotational(const TesProblem *p) {
  return (p->variant.flow == TES_FLOW_SYMMETRIC ? 2 : 1) * tesi_split_of(p)->nu;
}

/* pn <- the new pressure, ps <- the new phi, from the velocity x. */
static TesStatus correct(TesProblem *p, double time, const TesiFormula *f, TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const double factor = f->dt / f->a0;
  const bool given = tesi_split_openings_timed(p);
  TES_TRY(tesi_taylor_hood_divergence(pr->taylor_hood, pr->work.x, pr->work.pb));
  TES_TRY(tes_vector_copy(pr->work.pb, -1, pr->work.pz));
  TES_TRY(tes_vector_fill(pr->work.pn, 0));
  if (given) TES_TRY(tesi_split_change_pressure(p, factor));
  if (given) TES_TRY(tes_operator_lift(pr->poisson->op, pr->work.pn, pr->work.pz));
  TES_TRY(tesi_split_potential(p, time, factor, pr->work.pz, pr->work.ps, result));
  if (given) TES_TRY(tes_vector_axpy(1, pr->work.pn, pr->work.ps));
  TES_TRY(tesi_split_spread(p, time, factor, pr->work.pb, pr->work.pn));
  TES_TRY(tesi_vector_combine(4, (double[]){-rotational(p), 1, 1 / factor, pr->openings.rise},
                              (const TesVector *const[]){pr->work.pn, &pr->p, pr->work.ps, pr->mean.ones},
                              pr->work.pn));
  if (!pr->walls.any_open) TES_TRY(tesi_split_remove_mean(p, pr->work.pn));
done:
  return status;
}

/* Whether u solves its system and the next system has the same boundary values. False if runs must have the same bits
 * after a restart. */
static bool solves_alone(const TesiSplit *pr) {
  return !pr->walls.timed && !pr->drive.components && !pr->grad_div.gamma &&
         !tesi_context_deterministic(pr->work.b->context);
}

/* The new state replaces the old state. `remember`: u becomes an old velocity; false: the state becomes a start. */
static TesStatus commit(TesiSplit *pr, const TesiFormula *f, bool remember) {
  TesContext *ctx = pr->work.b->context;
  TesStatus status = TES_OK;
  swap(&pr->state.phi[0], &pr->state.phi[1]);
  swap(&pr->work.ps, &pr->state.phi[0]);
  if (!remember) pr->speed.most = NAN;
  if (remember) {
    swap(&pr->state.old[0], &pr->state.old[1]);
    TES_TRY(tes_vector_copy(&pr->u, 1, pr->state.old[0]));
    swap(&pr->state.carried[0], &pr->state.carried[1]);
    pr->state.step[1] = pr->state.step[0], pr->state.step[0] = f->dt;
    pr->state.known = tesi_min(pr->state.known + 1, TESI_SPLIT_OLD);
  }
  TES_TRY(tes_vector_copy(pr->work.x, 1, &pr->u));
  TES_TRY(tes_vector_copy(pr->work.pn, 1, &pr->p));
  pr->state.is_carried = pr->is_balanced = false;
  if (solves_alone(pr)) pr->last.sigma = pr->sigma;
done:
  return status;
}

/* x <- the velocity at a time. */
static TesStatus find_velocity(TesProblem *p, double time, const TesiFormula *f) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TES_TRY(tesi_split_carry(p));
  TES_TRY(tesi_split_use_sigma(p, f->a0 / f->dt));
  TES_TRY(tesi_grad_div_update(pr, &pr->u));
  TES_TRY(tesi_in_time_at(p, time));
  TES_TRY(tesi_walls_update(p, time, &pr->walls));
  if (pr->walls.timed) TES_TRY(tesi_split_check_flux(p));
  TES_TRY(tesi_split_find_rise(p));
  TES_TRY(gather(p, f));
  TES_TRY(tesi_split_velocity(p, pr->work.b, &pr->u, pr->work.x));
  TES_TRY(tesi_drive_keep(pr, pr->work.x));
done:
  return status;
}

/* x, pn and ps <- the state at a time. */
static TesStatus advance(TesProblem *p, double time, const TesiFormula *f, TesSolveResult *result) {
  const TesStatus status = find_velocity(p, time, f);
  return status == TES_OK ? correct(p, time, f, result) : status;
}

/* ---- the first step ------------------------------------------------------------------------------------ */

/* Four steps of dt / 4; then the values at the start become old and carried, one dt before. */
static TesStatus start(TesProblem *p, double time, double dt, TesSolveResult *result) {
  enum { QUARTERS = 4 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiFormula f = tesi_split_formula(pr, dt / QUARTERS);
  const TesiFormula whole = {.dt = dt};
  TES_TRY(tesi_split_carry(p));
  TES_TRY(tes_vector_copy(&pr->u, 1, pr->state.old[0]));
  TES_TRY(tes_vector_copy(pr->state.carried[0], 1, pr->state.carried[1]));
  for (int i = 1; i <= QUARTERS; i++) {
    TES_TRY(advance(p, i == QUARTERS ? time + dt : time + i * f.dt, &f, result));
    TES_TRY(commit(pr, &f, false));
  }
  TES_TRY(tes_vector_fill(pr->state.phi[1], 0));
  pr->guess.phi.count = pr->guess.spread.count = 0;
  pr->state.step[0] = whole.dt, pr->state.known = 1;
done:
  return status;
}

/* ---- how long ------------------------------------------------------------------------------------------ */

/* The shortest distance of Gauss-Lobatto nodes on a cell [0, 1]. */
static double node_distance(const TesProblem *p) {
  double node[TESI_MAX_POINTS];
  tesi_gauss_lobatto(tesi_split_of(p)->full->degree + 1, node, NULL);
  return node[1] - node[0];
}

/* Node distances that the flow crosses per unit of time. */
static double crossed(const TesProblem *p) {
  return tesi_split_of(p)->speed.rate / node_distance(p);
}

TesStatus tesi_split_begin_steps(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiMarch *march = &p->in_time->march;
  pr->load.timed = load_is_timed(p);
  if (p->before) return TES_OK; /* the steps go on */
  TES_TRY(tesi_split_carry(p));
  if (!march->varies) goto done;
  tesi_march_choose(march, &tesi_split_scheme, &(TesiLimits){.crossed = crossed(p), .longest = INFINITY});
  tesi_march_count(march);
done:
  return status;
}

/* ---- a step -------------------------------------------------------------------------------------------- */

/* Checked after 1, 2, 4, .. steps. */
static TesStatus watch_cells(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const int step = p->in_time->march.step;
  const double limit = 1e3;
  double reach;
  if (pr->warned_of_cells || (step & (step - 1))) return TES_OK;
  TES_TRY(tesi_taylor_hood_reach(pr->taylor_hood, &pr->u, &reach, NULL));
  if (!(reach > limit * pr->nu)) goto done;
  pr->warned_of_cells = true;
  tesi_log(
      ctx, TES_LOG_WARNING,
      "warning: the Reynolds number of cells, |u| h / nu, is up to %.2g at t = %.6g: above %g cells do not "
      "resolve the flow, and its smallest waves are those of the mesh; refine it",
      reach / pr->nu, p->in_time->march.time, limit);
done:
  return status;
}

/* |v| in L2; r is overwritten. */
static TesStatus find_size(TesiSplit *pr, const TesVector *v, double *size) {
  double square = 0;
  TesStatus status = tes_operator_apply(pr->mass, v, pr->work.r);
  if (status == TES_OK) status = tes_vector_dot(v, pr->work.r, &square);
  *size = sqrt(fmax(square, 0));
  return status;
}

static TesStatus change(void *user, double *size, double *change) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TES_TRY(find_size(pr, &pr->u, size));
  TES_TRY(tes_vector_copy(&pr->u, 1, pr->work.d));
  TES_TRY(tes_vector_axpy(-1, pr->state.old[0], pr->work.d));
  TES_TRY(find_size(pr, pr->work.d, change));
done:
  return status;
}

/* The local error of the velocity x after a step dt: compared with the extrapolation of the last three velocities (as
 * the error of bdf2 in stepper.h). */
static TesStatus judge(void *user, double dt, double *size, double *error) {
  const TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesVector *const value[] = {pr->work.x, &pr->u, pr->state.old[0], pr->state.old[1]};
  const double at[3] = {0, -pr->state.step[0], -pr->state.step[0] - pr->state.step[1]};
  double weight[4] = {1, -1, -1, -1};
  if (pr->state.known < 2) return TES_OK;
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++)
      if (i != j) weight[1 + j] *= (dt - at[i]) / (at[j] - at[i]);
  TES_TRY(find_size(pr, &pr->u, size));
  TES_TRY(tesi_vector_combine(4, weight, value, pr->work.d));
  TES_TRY(find_size(pr, pr->work.d, error));
  *error *= tesi_step_error_share(dt, pr->state.step[0], pr->state.step[1]);
done:
  return status;
}

static TesStatus begin(void *user, TesiLimits *limits) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiDrive *drive = &tesi_split_of(p)->drive;
  TES_TRY(tesi_split_carry(p));
  TES_TRY(watch_cells(p));
  limits->crossed = crossed(p);
  memcpy(drive->before, drive->force, sizeof drive->force);
done:
  return status;
}

static TesStatus undo(void *user) {
  TesiDrive *drive = &tesi_split_of(user)->drive;
  memcpy(drive->force, drive->before, sizeof drive->force);
  return TES_OK;
}

/* x <- the velocity after a step. The first step is completed here, in place. */
static TesStatus try_step(void *user, double dt, TesSolveResult *result) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const double time = p->in_time->march.time;
  const TesiFormula f = tesi_split_formula(pr, dt);
  pr->state.starts = pr->state.known == 0;
  if (pr->state.starts) TES_TRY(tesi_march_leave(&p->in_time->march, dt));
  status = pr->state.starts ? start(p, time, dt, result) : find_velocity(p, time + dt, &f);
  TES_TRY(tesi_flow_steps_tell(p, dt, status));
done:
  return status;
}

static TesStatus complete(void *user, double dt, TesSolveResult *result) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesiFormula f = tesi_split_formula(pr, dt);
  if (pr->state.starts) return TES_OK;
  TES_TRY(tesi_flow_steps_tell(p, dt, correct(p, p->in_time->march.time + dt, &f, result)));
  TES_TRY(tesi_flow_steps_check(p, dt, pr->work.x, pr->work.pn, &pr->u, &pr->speed.most));
done:
  return status;
}

static TesStatus take_step(void *user, double dt) {
  TesiSplit *pr = tesi_split_of(user);
  const TesiFormula f = {.dt = dt};
  return pr->state.starts ? TES_OK : commit(pr, &f, true);
}

static TesStatus arrive(void *user) {
  TesProblem *p = user;
  TesiMarch *march = &p->in_time->march;
  march->crossed += march->last * tesi_split_of(p)->speed.rate;
  return tesi_in_time_at(p, march->time);
}

/* ---- state --------------------------------------------------------------------------------------------- */

static void list(void *user, TesiState *state) {
  const TesProblem *p = user;
  TesiSplit *pr = tesi_split_of(p);
  const TesSpace *pressure = pr->taylor_hood->pressure;
  state->space = pr->velocity, state->accuracy = 1e-4; /* the rest of a divergence is removed too */
  tesi_state_add_fixed(state, "kept", pr->guess.kept);
  tesi_state_add_whole(state, "known", TESI_SPLIT_OLD, &pr->state.known);
  tesi_state_add_whole(state, "guesses", pr->guess.kept, &pr->guess.phi.count);
  tesi_state_add_real(state, "steps", TESI_SPLIT_OLD, pr->state.step);
  tesi_state_add_real(state, "guess-at", TESI_SPLIT_GUESSES, pr->guess.phi.at);
  tesi_state_add_real(state, "force", TESI_AXES, pr->drive.force);
  tesi_state_add(state, "u", 0, pr->full, &pr->u, TESI_STATE_PROJECTED);
  if (pr->state.known > 0) tesi_state_add(state, "u", 1, pr->full, pr->state.old[0], TESI_STATE_PROJECTED);
  if (pr->state.known > 1) tesi_state_add(state, "u", 2, pr->full, pr->state.old[1], TESI_STATE_INTERPOLATED);
  if (pr->state.known > 0)
    tesi_state_add(state, "carried", 1, pr->full, pr->state.carried[1], TESI_STATE_MADE);
  tesi_state_add(state, "pressure", 0, pressure, &pr->p, TESI_STATE_PROJECTED);
  for (int i = 0; i < 2; i++)
    tesi_state_add(state, "phi", i, pressure, pr->state.phi[i], TESI_STATE_INTERPOLATED);
  for (int i = 0; i < pr->guess.phi.count; i++)
    tesi_state_add(state, "guess", i + 1, pressure, pr->guess.phi.value[i], TESI_STATE_INTERPOLATED);
}

static int older(const void *user, int most, const TesVector **old, double *time) {
  const TesiSplit *pr = tesi_split_of(user);
  const int count = tesi_min(pr->state.known, most);
  double at = ((const TesProblem *)user)->in_time->march.time;
  for (int i = 0; i < count; i++) old[i] = pr->state.old[i], time[i] = at -= pr->state.step[i];
  return count;
}

static TesStatus resume(void *user) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  pr->state.is_carried = pr->is_balanced = false;
  pr->last.sigma = pr->speed.most = NAN;
  TES_TRY(tesi_walls_update(p, p->in_time->march.time, &pr->walls));
  if (pr->openings.given) TES_TRY(tesi_split_change_pressure(p, 0));
done:
  return status;
}

const TesiScheme tesi_split_scheme = {.name = "split",
                                      .order = 2,
                                      .stable = TESI_FLOW_STEPS_STABLE,
                                      .list = list,
                                      .older = older,
                                      .begin = begin,
                                      .advance = try_step,
                                      .judge = judge,
                                      .undo = undo,
                                      .complete = complete,
                                      .commit = take_step,
                                      .arrive = arrive,
                                      .change = change,
                                      .resume = resume};
