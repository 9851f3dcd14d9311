/* A step of any method: history, starts and guesses. */
#include "time/stepper.h"

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

TesStatus tesi_stepper_step(TesiStepper *stepper, double time, TesVector *u) {
  TesStatus status = keep(stepper, u);
  const TesiTimeMethod *method = tesi_time_method(stepper->method);
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
