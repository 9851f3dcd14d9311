/* Formulas with one solve per step: backward differences, and the trapezoidal rule. */
#include "time/stepper.h"

/* The part of a step before its iterations. */
typedef struct Begin {
  TesiStepper *s;
  const TesiTimeMethod *method;
  double time, sigma, back[TESI_STEPPER_OLD], weight[TESI_STEPPER_OLD];
  int count; /* of old values */
  TesVector *u;
} Begin;

static TesStatus begin_multistep(void *data) {
  const Begin *begin = data;
  TesiStepper *s = begin->s;
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  TES_TRY(tesi_stepper_combine(s, begin->count, begin->back, s->y));
  TES_TRY(e->load(e->user, begin->time + s->dt, s->b));
  TES_TRY(tesi_stepper_add_mass(s, 1 / s->dt, s->y));
  if (begin->method->carries) {
    TES_TRY(tesi_stepper_combine(s, begin->count, begin->weight, s->y));
    TES_TRY(e->carry(e->user, s->y, s->b));
  }
  TES_TRY(tesi_stepper_guess(s, 1, begin->u));
  TES_TRY(tesi_stepper_start(s, begin->sigma / s->dt, begin->time + s->dt, begin->u));
done:
  return status;
}

/* sigma M u1 + K u1 = F1 + M sum back[j] u(t - j dt) / dt. Backward Euler is the formula with one old value. Where the
 * method carries, a part of K is applied to the extrapolation of the old values; with one old value it has order one.
 */
TesStatus tesi_multistep(TesiStepper *s, const TesiTimeMethod *method, double time, TesVector *u) {
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  const int count = method->carries ? tesi_min(s->known, method->old) : method->old;
  Begin begin = {.s = s, .method = method, .time = time, .count = count, .u = u};
  double *const back = begin.back;
  const bool starts = method->carries && count == 1;
  tesi_stepper_backward(s, starts ? tesi_time_method(method->starter) : method, &begin.sigma, back);
  if (method->carries) tesi_stepper_extrapolation(s, count, 1, begin.weight);
  const double sigma = begin.sigma, then = time + s->dt;
  TES_TRY(tesi_stepper_begin(s, 0, sigma / s->dt, 1, &then, begin_multistep, &begin));
  TES_TRY(e->solve(e->user, sigma / s->dt, then, s->b, s->old[0], u));
  TES_TRY(tesi_stepper_rates(s, sigma / s->dt, then, u));
  for (int j = 0; j < count; j++) back[j] /= sigma;
  tesi_stepper_begin_amounts(s, count, back);
  tesi_stepper_add_amounts(s, s->dt / sigma);
done:
  return status;
}

static TesStatus begin_trapezoid(void *data) {
  const Begin *begin = data;
  TesiStepper *s = begin->s;
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  TES_TRY(e->load(e->user, begin->time + s->dt, s->y));
  TES_TRY(e->load(e->user, begin->time, s->b));
  TES_TRY(tes_vector_axpy(1, s->y, s->b));
  TES_TRY(e->subtract(e->user, begin->sigma, begin->time, s->old[0], s->b));
  TES_TRY(tesi_stepper_add_mass(s, 2 * begin->sigma, s->old[0]));
  TES_TRY(tesi_stepper_guess(s, 1, begin->u));
  TES_TRY(tesi_stepper_start(s, begin->sigma, begin->time + s->dt, begin->u));
done:
  return status;
}

/* (sigma M + K) u1 = F1 + F0 + 2 sigma M u0 - (sigma M + K) u0, sigma = 2 / dt. */
TesStatus tesi_trapezoid(TesiStepper *s, const TesiTimeMethod *method, double time, TesVector *u) {
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  const double sigma = method->sigma / s->dt, one = 1, times[] = {time + s->dt, time};
  Begin begin = {.s = s, .method = method, .time = time, .sigma = sigma, .u = u};
  TES_TRY(tesi_stepper_begin(s, 0, sigma, 2, times, begin_trapezoid, &begin));
  TES_TRY(e->solve(e->user, sigma, time + s->dt, s->b, s->old[0], u));
  TES_TRY(tesi_stepper_rates(s, sigma, time + s->dt, u));
  if (e->amounts) TES_TRY(e->amounts->exchange(e->user, time, s->old[0], e->amounts->rate));
  tesi_stepper_begin_amounts(s, 1, &one);
  tesi_stepper_add_amounts(s, s->dt / 2);
done:
  return status;
}
