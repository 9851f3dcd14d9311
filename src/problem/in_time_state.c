/* What the steps of a problem depend on, as a list: of all problems, and of the methods of time/stepper.h. */
#include <limits.h>
#include <math.h>
#include "problem/balance.h"
#include "problem/in_time.h"

static void list_amounts(TesProblem *p, TesiState *state) {
  const TesiAmounts *a = p->balance ? &p->balance->amounts : NULL;
  p->in_time->unbalanced = NAN;
  tesi_state_add_real(state, "mass", 1, a ? &p->balance->start : &p->in_time->unbalanced);
  if (!a) return;
  tesi_state_add_real(state, "entered", a->count, a->now);
  tesi_state_add_real(state, "entered-before", TESI_STEPPER_OLD * a->count, a->old);
}

/* Old values that the formula takes after the next step are projected; those of guesses alone are interpolated. */
static void list_stepper(TesProblem *p, TesiState *state) {
  TesiInTime *it = p->in_time;
  TesiStepper *s = it->stepper;
  const int needed = tesi_time_method(s->method)->old - 1;
  state->space = p->space, state->accuracy = 1e-10;
  tesi_state_add_fixed(state, "kept", s->kept);
  tesi_state_add_whole(state, "known", s->kept, &s->known);
  tesi_state_add_real(state, "when", TESI_STEPPER_OLD, s->when);
  tesi_state_add_real(state, "squares", 1, &it->squares);
  list_amounts(p, state);
  tesi_state_add(state, "u", 0, it->full, p->u, TESI_STATE_PROJECTED);
  for (int i = 0; i < s->known; i++)
    tesi_state_add(state, "u", i + 1, it->full, s->old[i],
                   i < needed ? TESI_STATE_PROJECTED : TESI_STATE_INTERPOLATED);
  if (!s->rate) return;
  tesi_state_add(state, "u_t", 0, it->full, s->rate, TESI_STATE_PROJECTED);
  tesi_state_add(state, "u_tt", 0, it->full, s->second, TESI_STATE_PROJECTED);
}

void tesi_problem_state(TesProblem *p, TesiState *state) {
  TesiInTime *it = p->in_time;
  *state = (TesiState){.vectors = 0};
  tesi_state_add_fixed(state, "method", tesi_time_named(it->desc.method));
  tesi_state_add_fixed(state, "chosen", it->desc.cfl > 0 ? it->desc.cfl : it->desc.tolerance);
  tesi_state_add_fixed(state, "start", it->desc.start);
  tesi_state_add_real(state, "dt", 1, &it->dt);
  tesi_state_add_whole(state, "since", INT_MAX, &it->since);
  tesi_state_add_real(state, "largest", 1, &it->largest);
  tesi_state_add_real(state, "before", 1, &it->before);
  tesi_state_add_real(state, "crossed", 1, &it->crossed);
  if (p->equation->march)
    p->equation->march->list(p, state);
  else
    list_stepper(p, state);
}

void tesi_in_time_count(TesProblem *p) {
  TesiInTime *it = p->in_time;
  const double left = it->desc.end - it->time;
  if (!it->varies) return;
  it->steps = it->step + (left > 0 ? (int)fmin(1e8, ceil(left / it->dt * (1 - 1e-9))) : 0);
  it->all_steps = it->steps;
}

TesStatus tesi_in_time_resume(TesProblem *p, double time, int step) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  it->time = time, it->step = step;
  TES_TRY(tesi_in_time_at(p, time));
  if (it->stepper) it->stepper->started = true;
  if (p->equation->march) TES_TRY(p->equation->march->resume(p));
  tesi_in_time_count(p);
done:
  return status;
}
