/* A step of any method: history, starts and guesses. */
#include "time/stepper.h"
#include <string.h>

TesStatus tesi_stepper_create(const TesiEvolution *evolution, TesTimeMethod method, double dt, int guess,
                              TesiStepper **stepper) {
  TesContext *ctx = evolution->context;
  TesStatus status = TES_OK;
  TesiStepper *s = NULL;
  *stepper = NULL;
  TES_CHECK(method >= TES_TIME_AUTO && method <= TES_TIME_SDIRK3, "the method in time is %d, expected 0..%d",
            (int)method, TES_TIME_SDIRK3);
  TES_CHECK(guess >= 0 && guess <= TESI_STEPPER_OLD, "guesses from %d old values, expected 0..%d", guess,
            TESI_STEPPER_OLD);
  TES_NEW(&s);
  s->evolution = *evolution;
  s->method = method;
  s->dt = dt;
  s->guess = guess;
  s->kept = tesi_max(guess, tesi_time_method(method)->old);
  for (int i = 0; i < s->kept; i++)
    TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->old[i]));
  TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->b));
  TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->y));
  TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->product));
  *stepper = s;
  s = NULL;
done:
  tesi_stepper_destroy(&s);
  return status;
}

void tesi_stepper_destroy(TesiStepper **stepper) {
  TesiStepper *s = *stepper;
  if (!s) return;
  TesContext *ctx = s->evolution.context;
  for (int i = 0; i < TESI_STEPPER_OLD; i++) tes_vector_destroy(&s->old[i]);
  for (int i = 0; i < TESI_STEPPER_STAGES; i++) tes_vector_destroy(&s->slope[i]);
  tes_vector_destroy(&s->b);
  tes_vector_destroy(&s->y);
  tes_vector_destroy(&s->product);
  tesi_free(ctx, stepper);
}

/* old <- u, and those before move on. */
static TesStatus keep(TesiStepper *s, const TesVector *u) {
  TesVector *last = s->old[s->kept - 1];
  for (int i = s->kept - 1; i > 0; i--) s->old[i] = s->old[i - 1];
  s->old[0] = last;
  s->known = tesi_min(s->known + 1, s->kept);
  return tes_vector_copy(u, 1, last);
}

static void keep_amounts(TesiAmounts *a) {
  const size_t n = (size_t)a->count;
  memmove(a->old + n, a->old, (TESI_STEPPER_OLD - 1) * n * sizeof *a->old);
  memcpy(a->old, a->now, n * sizeof *a->old);
}

TesStatus tesi_stepper_rates(TesiStepper *s, double sigma, double time, const TesVector *u) {
  const TesiEvolution *e = &s->evolution;
  if (!e->amounts) return TES_OK;
  double *rate = e->amounts->rate;
  memset(rate, 0, (size_t)e->amounts->count * sizeof *rate);
  const TesStatus status = e->amounts->exchange(e->user, time, u, rate);
  return status == TES_OK ? e->amounts->leak(e->user, sigma, u, s->b, rate) : status;
}

void tesi_stepper_begin_amounts(TesiStepper *s, int count, const double *back) {
  TesiAmounts *a = s->evolution.amounts;
  for (int i = 0; a && i < a->count; i++) {
    a->now[i] = 0;
    for (int j = 0; j < count; j++) a->now[i] += back[j] * a->old[j * a->count + i];
  }
}

void tesi_stepper_add_amounts(TesiStepper *s, double factor) {
  TesiAmounts *a = s->evolution.amounts;
  for (int i = 0; a && i < a->count; i++) a->now[i] += factor * a->rate[i];
}

TesStatus tesi_stepper_step(TesiStepper *stepper, double time, TesVector *u) {
  TesStatus status = keep(stepper, u);
  const TesiTimeMethod *method = tesi_time_method(stepper->method);
  if (stepper->evolution.amounts) keep_amounts(stepper->evolution.amounts);
  if (stepper->known < method->old) method = tesi_time_method(method->starter);
  if (status == TES_OK) status = method->step(stepper, method, time, u);
  return status;
}

/* Lagrange's polynomial through the values at 0, -1, ..: exact for polynomials in time of degree `count` - 1. */
TesStatus tesi_stepper_guess(const TesiStepper *s, double at, TesVector *x) {
  const int count = tesi_min(s->guess, s->known);
  TesStatus status = count ? TES_OK : tes_vector_fill(x, 0);
  for (int j = 0; j < count && status == TES_OK; j++) {
    double weight = 1;
    for (int i = 0; i < count; i++)
      if (i != j) weight *= (at + i) / (i - j);
    status = j ? tes_vector_axpy(weight, s->old[j], x) : tes_vector_copy(s->old[j], weight, x);
  }
  return status;
}

TesStatus tesi_stepper_add_mass(TesiStepper *s, double sigma, const TesVector *y) {
  const TesStatus status = s->evolution.mass(s->evolution.user, y, s->product);
  return status == TES_OK ? tes_vector_axpy(sigma, s->product, s->b) : status;
}
