/* See step_control.h. The scheme of the methods of time/stepper.h. */
#include "problem/step_control.h"
#include <math.h>
#include "basis/gauss.h"
#include "functional/functional.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include "problem/balance.h"
#include "problem/modal.h"

TesStatus tesi_steps_create(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  const TesTimeDesc *t = &it->march.desc;
  const TesiLimits none = {.longest = INFINITY};
  if (!it->march.varies) goto done;
  TES_CHECK(t->cfl == 0 || tesi_problem_transports(p),
            "time.cfl is of a velocity, and there is none: take time.step "
            "or time.tolerance");
  if (t->tolerance > 0)
    tesi_march_choose(&it->march, &tesi_stepper_scheme, &none);
  else
    it->march.dt = it->march.base;
done:
  return status;
}

/* ---- by the velocity ----------------------------------------------------------------------------------- */

double tesi_steps_crossed(const TesProblem *p) {
  const TesiTransport *transport = tesi_transport_of(p->in_time->carrier ? p->in_time->carrier : p->op);
  return transport ? transport->rate : 0;
}

double tesi_steps_rate_of(const TesProblem *p, double crossed) {
  double node[TESI_MAX_POINTS];
  tesi_gauss_lobatto(p->space->degree + 1, node, NULL);
  return crossed / (node[1] - node[0]);
}

double tesi_steps_rate(const TesProblem *p) {
  return tesi_steps_rate_of(p, tesi_steps_crossed(p));
}

/* ---- state --------------------------------------------------------------------------------------------- */

static void list_amounts(TesProblem *p, TesiState *state) {
  const TesiAmounts *a = p->balance ? &p->balance->amounts : NULL;
  p->in_time->unbalanced = NAN;
  tesi_state_add_real(state, "mass", 1, a ? &p->balance->start : &p->in_time->unbalanced);
  if (!a) return;
  tesi_state_add_real(state, "entered", a->count, a->now);
  tesi_state_add_real(state, "entered-before", TESI_STEPPER_OLD * a->count, a->old);
}

/* Old values that the formula uses after the next step are projected. Old values that only guesses use are
 * interpolated. */
static void list(void *user, TesiState *state) {
  TesProblem *p = user;
  TesiInTime *it = p->in_time;
  TesiStepper *s = it->stepper;
  const int needed = s->row->old - 1;
  state->space = p->space, state->accuracy = 1e-10;
  tesi_state_add_fixed(state, "kept", s->kept);
  tesi_state_add_whole(state, "known", s->kept, &s->known);
  tesi_state_add_real(state, "when", TESI_STEPPER_OLD, s->when);
  tesi_state_add_real(state, "squares", 1, &it->error.squares);
  list_amounts(p, state);
  tesi_state_add(state, "u", 0, it->full, p->u, TESI_STATE_PROJECTED);
  for (int i = 0; i < s->known; i++)
    tesi_state_add(state, "u", i + 1, it->full, s->old[i],
                   i < needed ? TESI_STATE_PROJECTED : TESI_STATE_INTERPOLATED);
  if (!s->rate) return;
  tesi_state_add(state, "u_t", 0, it->full, s->rate, TESI_STATE_PROJECTED);
  tesi_state_add(state, "u_tt", 0, it->full, s->second, TESI_STATE_PROJECTED);
}

/* The first step finds u_tt of the start. */
static TesStatus resume(void *user) {
  TesiInTime *it = ((TesProblem *)user)->in_time;
  it->stepper->started = it->march.step > 0;
  return TES_OK;
}

static int older(const void *user, int most, const TesVector **old, double *time) {
  const TesiStepper *s = ((const TesProblem *)user)->in_time->stepper;
  const int count = tesi_min(s->known, most);
  for (int i = 0; i < count; i++) old[i] = s->old[i], time[i] = s->when[i];
  return count;
}

/* ---- local errors -------------------------------------------------------------------------------------- */

/* |v| in L2. If its square over- or underflows, the largest entry instead: ratios of norms change little by that.
 * it->d is overwritten. */
static TesStatus find_size(TesProblem *p, const TesVector *v, double *size) {
  TesiInTime *it = p->in_time;
  double square = 0;
  TesStatus status = tes_operator_apply(it->mass, v, it->d);
  if (status == TES_OK) status = tes_vector_dot(v, it->d, &square);
  *size = sqrt(fmax(square, 0));
  if (status == TES_OK && (square == 0 || !isfinite(square))) status = tes_vector_maximum(v, size);
  return status;
}

static TesStatus judge(void *user, double dt, double *size, double *error) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  (void)dt;
  TES_TRY(find_size(p, p->u, size));
  if (it->stepper->known < 3) goto done;
  TES_TRY(tesi_stepper_difference(it->stepper, p->u, it->r));
  TES_TRY(find_size(p, it->r, error));
  *error *= tesi_stepper_error_share(it->stepper);
done:
  return status;
}

static TesStatus change(void *user, double *size, double *change) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  TES_TRY(find_size(p, p->u, size));
  TES_TRY(tes_vector_copy(p->u, 1, it->r));
  TES_TRY(tes_vector_axpy(-1, it->stepper->old[0], it->r));
  TES_TRY(find_size(p, it->r, change));
done:
  return status;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static TesStatus begin(void *user, TesiLimits *limits) {
  const TesProblem *p = user;
  if (p->in_time->march.desc.cfl > 0) limits->crossed = tesi_steps_rate(p);
  return TES_OK;
}

static TesStatus advance(void *user, double dt, TesSolveResult *result) {
  TesProblem *p = user;
  TesiInTime *it = p->in_time;
  it->stepper->dt = dt;
  const TesStatus status = tesi_stepper_step(it->stepper, it->march.time, p->u);
  *result = it->sum;
  return status;
}

/* Images of a start may not have been made. */
static TesStatus undo(void *user) {
  TesProblem *p = user;
  if (p->in_time->least) tesi_least_forget(p->in_time->least);
  const TesStatus status = tesi_stepper_undo(p->in_time->stepper, p->u);
  return status == TES_OK ? tesi_in_time_at(p, p->in_time->march.time) : status;
}

/* The error against the exact solution, in space and time. */
static TesStatus add_error(TesProblem *p) {
  double l2 = 0, h1;
  const TesFunction *const *exact = (const TesFunction *const *)p->exact;
  const TesStatus status = !p->exact[0] ? TES_OK
                           : p->equation->flow
                               ? tesi_rt_scalar_errors(p->space, p->u, exact[0], &l2, &h1)
                               : tes_functional_error(p->space, p->u, exact, &l2, NULL, NULL, NULL);
  p->in_time->error.squares += p->in_time->march.last * l2 * l2;
  return status;
}

static TesStatus arrive(void *user) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiMarch *march = &p->in_time->march;
  TES_TRY(tesi_in_time_at(p, march->time));
  march->crossed += march->last * tesi_steps_crossed(p);
  const double begin = tesi_now();
  TES_TRY(add_error(p));
  p->in_time->error.seconds = tesi_now() - begin;
done:
  return status;
}

#define STEPPER                                                                                              \
  .name = "stepper", .order = 2, .list = list, .older = older, .begin = begin, .advance = advance,           \
  .judge = judge, .undo = undo, .arrive = arrive, .change = change, .resume = resume
const TesiScheme tesi_stepper_scheme = {STEPPER};
/* u_ttt of an oscillation is small twice per period. */
const TesiScheme tesi_second_order_scheme = {STEPPER, .patient = true};
