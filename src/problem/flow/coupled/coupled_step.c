/* Steps: see coupled.h. */
#include <math.h>
#include <string.h>
#include "basis/gauss.h"
#include "operator/stokes/stokes_operator.h"
#include "problem/flow/coupled/coupled.h"
#include "problem/equation/stokes.h"

/* ---- formulas ------------------------------------------------------------------------------------------ */

/* The formula of a step to a time from `count` old values: derivative sigma u - sum back_j u_j, extrapolation sum
 * weight_j u_j. */
typedef struct Formula {
  int count;
  double sigma, back[TESI_COUPLED_TIMES], weight[TESI_COUPLED_TIMES];
} Formula;

/* Whether steps are equal up to round-off. If so, all of them use the same coefficients, to the last bit. */
static bool are_equal(double time, const double *when, int count) {
  const double dt = time - when[0];
  for (int j = 1; j < count; j++)
    if (fabs(when[0] - when[j] - j * dt) > 1e-9 * dt) return false;
  return true;
}

static Formula find_formula(double time, const double *when, int count, double dt) {
  Formula f = {.count = count};
  double at[TESI_COUPLED_TIMES];
  const bool equal = are_equal(time, when, count);
  for (int j = 0; j < count; j++) at[j] = equal ? -(j + 1) * dt : when[j] - time;
  for (int j = 0; j < count; j++) {
    f.weight[j] = 1;
    for (int i = 0; i < count; i++)
      if (i != j) f.weight[j] *= at[i] / (at[i] - at[j]);
    f.sigma -= 1 / at[j];
    f.back[j] = -f.weight[j] / at[j];
  }
  return f;
}

/* ---- the terms of a step ------------------------------------------------------------------------------- */

/* The shortest distance of Gauss-Lobatto nodes on a cell [0, 1]. */
static double node_distance(const TesProblem *p) {
  double node[TESI_MAX_POINTS];
  tesi_gauss_lobatto(p->space->degree + 2, node, NULL);
  return node[1] - node[0];
}

double tesi_coupled_crossed(const TesProblem *p) {
  return tesi_coupled_of(p)->rate / node_distance(p);
}

/* to <- N(u) with the boundary values at a time. */
static TesStatus convect(TesProblem *p, double time, const TesVector *u, TesVector *to, double *rate) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_in_time_at(p, time));
  TES_TRY(tesi_rt_convection_give(tesi_coupled_of(p)->convection, p->numbered.given));
  TES_TRY(tesi_rt_convection_apply(tesi_coupled_of(p)->convection, u, to, rate));
  TES_TRY(tesi_problem_clear(p, to));
done:
  return status;
}

void tesi_coupled_forget(TesiCoupled *flow) {
  flow->is_carried = false;
  for (int i = 0; i < TESI_COUPLED_TIMES; i++) flow->largest[i] = NAN;
}

TesStatus tesi_coupled_carry(TesProblem *p) {
  TesiCoupled *flow = tesi_coupled_of(p);
  if (flow->is_carried) return TES_OK;
  const TesStatus status = convect(p, p->in_time->march.time, p->u, flow->carried[0], &flow->rate);
  flow->is_carried = status == TES_OK;
  return status;
}

static bool load_is_timed(const TesProblem *p) {
  return p->in_time->timed || tesi_coupled_of(p)->timed;
}

/* b <- forces and given boundary values, at the time of the problem's numbers. */
static TesStatus find_load(TesProblem *p, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  double nu = 1;
  if (flow->load) return tes_vector_copy(flow->load, 1, b);
  const double start = tesi_now();
  if (p->numbered.data.a) tes_function_constant(p->numbered.data.a, &nu);
  TES_TRY(tesi_rt_load(p->space, p->numbered.data.f, nu, p->numbered.given, tesi_stokes_penalty(p), b));
  if (p->in_time->add_load) {
    TES_TRY(p->in_time->add_load(p->in_time->add_load_user, p->space, b));
    TES_TRY(tesi_problem_clear(p, b));
  }
  p->times.load += tesi_now() - start;
  if (load_is_timed(p)) goto done;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &flow->load));
  TES_TRY(tes_vector_copy(b, 1, flow->load));
done:
  return status;
}

/* b <- the right-hand side of a step from old solutions and their convection, in units of the pressure. */
static TesStatus gather(TesProblem *p, const Formula *f, const TesVector *const *old,
                        TesVector *const *carried) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  double factor[TESI_COUPLED_TIMES + 1] = {1 / p->unit};
  const TesVector *sum[TESI_COUPLED_TIMES + 1] = {flow->b};
  TES_TRY(find_load(p, flow->b));
  for (int j = 0; j < f->count; j++) factor[j + 1] = -f->weight[j] / p->unit, sum[j + 1] = carried[j];
  TES_TRY(tesi_vector_combine(f->count + 1, factor, sum, flow->b));
  TES_TRY(tesi_vector_combine(f->count, f->back, old, flow->r));
  TES_TRY(tesi_coupled_drive_add(p, 1, flow->r));
  TES_TRY(tesi_stokes_add_mass(p->op, 1 / p->unit, flow->r, flow->b));
done:
  return status;
}

/* flow->r <- the residual of x, after x has got the uniform pressure that leaves the least: it moves nothing, and a
 * tolerance relative to what a pressure of all openings changes would leave the velocity wrong. */
static TesStatus find_residual(TesProblem *p, TesVector *x, double *norm) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  double size, part;
  TES_TRY(tes_operator_residual(p->op, flow->b, x, flow->r));
  if (!p->op->null) {
    if (!flow->uniform) TES_TRY(tesi_stokes_uniform(p, &flow->uniform, &flow->pushes));
    TES_TRY(tes_vector_dot(flow->pushes, flow->pushes, &size));
    TES_TRY(tes_vector_dot(flow->pushes, flow->r, &part));
    TES_TRY(tes_vector_axpy(part / size, flow->uniform, x));
    TES_TRY(tes_vector_axpy(-part / size, flow->pushes, flow->r));
  }
  TES_TRY(tes_vector_norm(flow->r, norm));
done:
  return status;
}

/* Chooses the guess x, with the boundary values of the time and its pressures in the system's unit. It is at least as
 * good as the last solution with these boundary values. Tolerances are relative to the residual of that last
 * solution, or to the right-hand side. */
static TesStatus choose_start(TesProblem *p, const TesVector *last, TesVector *x, double *reference) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  double of_guess, of_last;
  TES_TRY(tesi_coupled_give(p, x));
  TES_TRY(tes_vector_copy(last, 1, flow->d));
  TES_TRY(tesi_coupled_give(p, flow->d));
  TES_TRY(tesi_stokes_scale_pressure(p, 1 / p->unit, x));
  TES_TRY(tesi_stokes_scale_pressure(p, 1 / p->unit, flow->d));
  TES_TRY(find_residual(p, flow->d, &of_last));
  TES_TRY(find_residual(p, x, &of_guess));
  if (!isfinite(of_guess) || !isfinite(of_last)) return TES_NAN;
  if (of_last < of_guess && p->options.guess >= 0) TES_TRY(tes_vector_copy(flow->d, 1, x));
  *reference = of_last;
  if (p->options.tolerance_of == TES_TOLERANCE_LOAD) {
    TES_TRY(tes_vector_fill(flow->d, 0));
    TES_TRY(find_residual(p, flow->d, reference));
  }
done:
  return status;
}

/* x, on entry a guess, becomes the solution at a time. */
static TesStatus advance(TesProblem *p, double time, const Formula *f, const TesVector *const *old,
                         TesVector *const *carried, TesVector *x, TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double reference;
  TES_TRY(tesi_coupled_use(p, time, f->sigma));
  TES_TRY(gather(p, f, old, carried));
  TES_TRY(choose_start(p, old[0], x, &reference));
  TES_TRY(tesi_coupled_solve(p, reference, x, result));
  TES_TRY(tesi_coupled_drive_keep(p, x));
done:
  return status;
}

/* rate <- u_t, from the polynomial in time through the solutions that a step uses. */
static TesStatus find_rate(const TesProblem *p, TesVector *rate) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiCoupled *flow = tesi_coupled_of(p);
  const double now = p->in_time->march.time;
  TES_TRY(tes_vector_fill(rate, 0));
  if (flow->known == 0) goto done;
  const int count = tesi_min(flow->known, flow->order);
  const Formula f = find_formula(now, flow->when + 1, count, now - flow->when[1]);
  TES_TRY(tes_vector_axpy(f.sigma, p->u, rate));
  for (int j = 0; j < count; j++) TES_TRY(tes_vector_axpy(-f.back[j], flow->old[j], rate));
done:
  return status;
}

TesStatus tesi_coupled_force(const TesProblem *p, int boundary, int direction, double *force) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  double rate;
  TES_CHECK(!p->mesh->box_periodic[boundary / 2], "there is no force on %s: the box is periodic there",
            tes_mesh_boundary_name(p->mesh, boundary));
  TES_TRY(tesi_rt_convection_give(flow->convection, p->numbered.given));
  TES_TRY(tesi_rt_convection_apply(flow->convection, p->u, flow->w, &rate));
  TES_TRY(find_rate(p, flow->d));
  TES_TRY(tesi_coupled_drive_add(p, -1, flow->d)); /* a force beside f */
  const TesiRtStress stress = {.nu = p->numbered.data.a,
                               .f = p->numbered.data.f,
                               .given = p->numbered.given,
                               .penalty = tesi_stokes_penalty(p),
                               .rate = flow->d,
                               .carried = flow->w};
  TES_TRY(tesi_rt_force(p->space, p->u, &stress, boundary, direction, force));
done:
  return status;
}

/* ---- the first steps ----------------------------------------------------------------------------------- */

/* x <- `parts` steps of backward Euler over dt. carried: scratch of N. */
static TesStatus make_euler(TesProblem *p, double dt, int parts, TesVector *carried, TesVector *before,
                            TesVector *x, TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double start = p->in_time->march.time, h = dt / parts;
  const Formula f = {.count = 1, .sigma = parts / dt, .back = {parts / dt}, .weight = {1}};
  double rate;
  TES_TRY(tes_vector_copy(p->u, 1, x));
  TES_TRY(tes_vector_copy(tesi_coupled_of(p)->carried[0], 1, carried));
  for (int i = 1; i <= parts; i++) {
    if (i > 1) TES_TRY(convect(p, start + (i - 1) * h, x, carried, &rate));
    TES_TRY(tes_vector_copy(x, 1, before));
    TES_TRY(advance(p, i == parts ? start + dt : start + i * h, &f, (const TesVector *const[]){before},
                    &carried, x, result));
  }
done:
  return status;
}

/* x <- the extrapolated end of a step. */
static TesStatus start(TesProblem *p, double dt, TesSolveResult *result) {
  static const double share[2][3] = {{-1, 2}, {0.5, -4, 4.5}};
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  TesVector *carried = NULL, *before = NULL;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &carried));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &before));
  TES_TRY(tes_vector_fill(flow->sum, 0));
  for (int parts = 1; parts <= flow->order; parts++) {
    TES_TRY(make_euler(p, dt, parts, carried, before, flow->x, result));
    TES_TRY(tes_vector_axpy(share[flow->order - 2][parts - 1], flow->x, flow->sum));
  }
  TES_TRY(tes_vector_copy(flow->sum, 1, flow->x));
  TES_TRY(tesi_coupled_clean(p, flow->x));
done:
  tes_vector_destroy(&carried);
  tes_vector_destroy(&before);
  return status;
}

/* ---- a step -------------------------------------------------------------------------------------------- */

/* x <- the solution at a time, by BDF. */
static TesStatus go(TesProblem *p, double time, double dt, TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  const TesVector *const all[] = {p->u, flow->old[0], flow->old[1], flow->old[2]};
  const Formula f = find_formula(time, flow->when, flow->order, dt),
                guess =
                    find_formula(time, flow->when, tesi_min(tesi_max(flow->guess, 1), flow->known + 1), dt);
  TES_TRY(flow->guess > 0 ? tesi_vector_combine(guess.count, guess.weight, all, flow->x)
                          : tes_vector_fill(flow->x, 0));
  TES_TRY(advance(p, time, &f, all, flow->carried, flow->x, result));
done:
  return status;
}

/* v[0] <- v[count - 1]; the others move up by one. */
static void rotate(TesVector **v, int count) {
  TesVector *last = v[count - 1];
  for (int i = count - 1; i > 0; i--) v[i] = v[i - 1];
  v[0] = last;
}

static TesStatus commit(void *user, double dt) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  (void)dt;
  rotate(flow->old, TESI_COUPLED_OLD);
  rotate(flow->carried, TESI_COUPLED_OLD);
  TES_TRY(tes_vector_copy(p->u, 1, flow->old[0]));
  TES_TRY(tes_vector_copy(flow->x, 1, p->u));
  for (int i = TESI_COUPLED_TIMES - 1; i > 0; i--) {
    flow->when[i] = flow->when[i - 1];
    flow->largest[i] = flow->largest[i - 1];
  }
  flow->largest[0] = flow->largest_next;
  flow->known = tesi_min(flow->known + 1, TESI_COUPLED_OLD);
  flow->is_carried = false;
done:
  return status;
}

/* Relative to the largest old velocity, since a flow may pass through rest. *largest: the largest new velocity. */
static TesStatus check_state(TesProblem *p, double dt, double *largest) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  const TesSpace *space = p->space;
  const int64_t velocities = space->first[space->dim];
  const TesVector now = tesi_vector_range(flow->x, 0, velocities),
                  before = tesi_vector_range(p->u, 0, velocities),
                  pressure = tesi_space_range(space, flow->x, space->dim);
  *largest = 0;
  for (int i = 0; i <= flow->known; i++) {
    const TesVector old = tesi_vector_range(i ? flow->old[i - 1] : p->u, 0, velocities);
    if (isnan(flow->largest[i])) TES_TRY(tes_vector_maximum(&old, &flow->largest[i]));
    *largest = fmax(*largest, flow->largest[i]);
  }
  TES_TRY(tesi_flow_steps_check(p, dt, &now, &pressure, flow->known ? &before : NULL, largest));
done:
  return status;
}

/* |v| in L2 of the velocity part; r is overwritten. */
static TesStatus find_size(const TesProblem *p, const TesVector *v, double *size) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *const r = tesi_coupled_of(p)->r;
  double square = 0;
  TES_TRY(tes_vector_fill(r, 0));
  TES_TRY(tesi_stokes_add_mass(p->op, 1, v, r));
  TES_TRY(tes_vector_dot(v, r, &square));
  *size = sqrt(fmax(square, 0));
done:
  return status;
}

static TesStatus change(void *user, double *size, double *change) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  TES_TRY(find_size(p, p->u, size));
  TES_TRY(tes_vector_copy(p->u, 1, flow->d));
  TES_TRY(tes_vector_axpy(-1, flow->old[0], flow->d));
  TES_TRY(find_size(p, flow->d, change));
done:
  return status;
}

/* The local error of the velocity of x after a step dt: compared with the extrapolation of the last three velocities
 * (as the error of bdf2 in stepper.h). */
static TesStatus judge(void *user, double dt, double *size, double *error) {
  enum { THREE = 3 };
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  const TesVector *const value[] = {flow->x, p->u, flow->old[0], flow->old[1]};
  const double *const when = flow->when;
  double factor[1 + THREE] = {1};
  if (flow->known < THREE - 1) return TES_OK;
  const Formula f = find_formula(p->in_time->march.time + dt, when, THREE, dt);
  for (int j = 0; j < THREE; j++) factor[1 + j] = -f.weight[j];
  TES_TRY(find_size(p, p->u, size));
  TES_TRY(tesi_vector_combine(1 + THREE, factor, value, flow->d));
  TES_TRY(find_size(p, flow->d, error));
  *error *= tesi_step_error_share(dt, when[0] - when[1], when[1] - when[2]);
done:
  return status;
}

static TesStatus begin_step(void *user, TesiLimits *limits) {
  TesProblem *p = user;
  TesiCoupled *flow = tesi_coupled_of(p);
  const TesStatus status = tesi_coupled_carry(p);
  limits->crossed = tesi_coupled_crossed(p);
  flow->when[0] = p->in_time->march.time;
  memcpy(flow->drive.before, flow->drive.force, sizeof flow->drive.force);
  return status;
}

/* Reports use the previous state. */
static TesStatus undo(void *user) {
  TesProblem *p = user;
  TesiCoupledDrive *drive = &tesi_coupled_of(p)->drive;
  memcpy(drive->force, drive->before, sizeof drive->force);
  return tesi_in_time_at(p, p->in_time->march.time);
}

/* x <- the solution after a step. */
static TesStatus try_step(void *user, double dt, TesSolveResult *result) {
  TesProblem *p = user;
  const TesiCoupled *flow = tesi_coupled_of(p);
  return tesi_flow_steps_tell(p, dt,
                              flow->known + 1 < flow->order ? start(p, dt, result)
                                                            : go(p, p->in_time->march.time + dt, dt, result));
}

static TesStatus complete(void *user, double dt, TesSolveResult *result) {
  TesProblem *p = user;
  (void)result;
  return check_state(p, dt, &tesi_coupled_of(p)->largest_next);
}

static TesStatus arrive(void *user) {
  return tesi_in_time_at(user, ((const TesProblem *)user)->in_time->march.time);
}

/* ---- state --------------------------------------------------------------------------------------------- */

static void list(void *user, TesiState *state) {
  const TesProblem *p = user;
  TesiCoupled *flow = tesi_coupled_of(p);
  state->space = p->space;
  tesi_state_add_fixed(state, "order", flow->order);
  tesi_state_add_whole(state, "known", TESI_COUPLED_OLD, &flow->known);
  tesi_state_add_real(state, "when", TESI_COUPLED_TIMES, flow->when);
  tesi_state_add_real(state, "force", TESI_AXES, flow->drive.force);
  tesi_state_add(state, "u", 0, p->space, p->u, TESI_STATE_MADE);
  for (int i = 0; i < flow->known; i++)
    tesi_state_add(state, "u", i + 1, p->space, flow->old[i], TESI_STATE_MADE);
  for (int i = 1; i < flow->order && i <= flow->known; i++)
    tesi_state_add(state, "carried", i, p->space, flow->carried[i], TESI_STATE_MADE);
}

static int older(const void *user, int most, const TesVector **old, double *time) {
  const TesiCoupled *flow = tesi_coupled_of(user);
  const int count = tesi_min(flow->known, most);
  for (int i = 0; i < count; i++) old[i] = flow->old[i], time[i] = flow->when[1 + i];
  return count;
}

static TesStatus resume(void *user) {
  tesi_coupled_forget(tesi_coupled_of(user));
  return TES_OK;
}

const TesiScheme tesi_coupled_scheme = {.name = "coupled",
                                        .order = 2,
                                        .stable = TESI_FLOW_STEPS_STABLE,
                                        .list = list,
                                        .older = older,
                                        .begin = begin_step,
                                        .advance = try_step,
                                        .judge = judge,
                                        .undo = undo,
                                        .complete = complete,
                                        .commit = commit,
                                        .arrive = arrive,
                                        .change = change,
                                        .resume = resume};
