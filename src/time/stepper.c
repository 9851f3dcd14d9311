/* A step of any method: history, starting steps and guesses. */
#include "time/stepper.h"
#include <string.h>

TesStatus tesi_stepper_create(const TesiEvolution *evolution, TesTimeMethod method, double dt, int guess,
                              int spare, TesiStepper **stepper) {
  TesContext *ctx = evolution->context;
  TesStatus status = TES_OK;
  TesiStepper *s = NULL;
  *stepper = NULL;
  TES_CHECK((int)method >= TES_TIME_AUTO && (int)method <= TESI_TIME_SECOND_EULER &&
                method != TES_TIME_EXPLICIT && method != TES_TIME_IMEX_BDF3,
            "the method in time is %d, expected 0..%d", (int)method, TES_TIME_GENERALIZED_ALPHA);
  TES_CHECK(guess >= 0 && guess <= TESI_STEPPER_OLD, "guesses from %d old values, expected 0..%d", guess,
            TESI_STEPPER_OLD);
  TES_NEW(&s);
  s->evolution = *evolution;
  s->method = method;
  s->row = evolution->method ? evolution->method : tesi_time_method(method);
  s->dt = dt;
  s->guess = guess;
  s->kept = tesi_min(tesi_max(guess, s->row->old) + spare, TESI_STEPPER_OLD);
  for (int i = 0; i < s->kept; i++)
    TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->old[i]));
  TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->b));
  TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->y));
  TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->product));
  if (evolution->accelerate) TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->rate));
  if (evolution->accelerate) TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->second));
  for (int i = 0; i < 2 && spare && evolution->accelerate; i++)
    TES_TRY(tes_vector_create(ctx, evolution->length, TES_DOUBLE, &s->before[i]));
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
  tes_vector_destroy(&s->rate);
  tes_vector_destroy(&s->second);
  for (int i = 0; i < 2; i++) tes_vector_destroy(&s->before[i]);
  tesi_free(ctx, stepper);
}

/* The same by copies, since recordings contain addresses. */
static TesStatus copy_on(TesiStepper *s, double time, const TesVector *u) {
  TesStatus status = TES_OK;
  s->known = tesi_min(s->known + 1, s->kept);
  for (int i = s->known - 1; i > 0 && status == TES_OK; i--) {
    s->when[i] = s->when[i - 1];
    status = tes_vector_copy(s->old[i - 1], 1, s->old[i]);
  }
  s->when[0] = time;
  return status == TES_OK ? tes_vector_copy(u, 1, s->old[0]) : status;
}

/* old <- u, and the older values move by one place. */
static TesStatus keep(TesiStepper *s, double time, const TesVector *u) {
  if (s->evolution.begin) return copy_on(s, time, u);
  TesVector *last = s->old[s->kept - 1];
  for (int i = s->kept - 1; i > 0; i--) s->old[i] = s->old[i - 1], s->when[i] = s->when[i - 1];
  s->old[0] = last, s->when[0] = time;
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
  TesStatus status = keep(stepper, time, u);
  stepper->moved = false;
  const TesiTimeMethod *method = stepper->row;
  if (stepper->evolution.amounts) keep_amounts(stepper->evolution.amounts);
  if (stepper->known < method->old && !method->carries) method = tesi_time_method(method->starter);
  stepper->same = stepper->last == method && stepper->last_dt == stepper->dt &&
                  stepper->last_known == stepper->known && tesi_stepper_equal(stepper, stepper->known);
  if (status == TES_OK) status = method->step(stepper, method, time, u);
  stepper->last = method, stepper->last_dt = stepper->dt, stepper->last_known = stepper->known;
  return status;
}

TesStatus tesi_stepper_begin(TesiStepper *s, int stage, double sigma, int count, const double *times,
                             TesiWork work, void *data) {
  const TesiEvolution *e = &s->evolution;
  const TesStatus status = e->at ? e->at(e->user, stage, s->same, sigma, count, times) : TES_OK;
  if (status != TES_OK) return status;
  return e->begin ? e->begin(e->user, stage, work, data) : work(data);
}

TesStatus tesi_stepper_start(TesiStepper *s, double sigma, double time, TesVector *x) {
  const TesiEvolution *e = &s->evolution;
  return e->start ? e->start(e->user, sigma, time, s->b, s->old[0], x) : TES_OK;
}

TesStatus tesi_stepper_combine(const TesiStepper *s, int count, const double *weight, TesVector *x) {
  return count ? tesi_vector_combine(count, weight, (const TesVector *const *)s->old, x)
               : tes_vector_fill(x, 0);
}

TesStatus tesi_stepper_guess(const TesiStepper *s, double at, TesVector *x) {
  double weight[TESI_STEPPER_OLD];
  const int count = tesi_min(s->guess, s->known);
  if (s->evolution.starts && s->evolution.starts(s->evolution.user)) return TES_OK;
  tesi_stepper_extrapolation(s, count, at, weight);
  return tesi_stepper_combine(s, count, weight, x);
}

TesStatus tesi_stepper_difference(const TesiStepper *s, const TesVector *u, TesVector *x) {
  enum { OLD = 3 };
  double weight[OLD + 1] = {0, 0, 0, -1};
  const TesVector *value[OLD + 1] = {s->old[0], s->old[1], s->old[2], u};
  tesi_stepper_extrapolation(s, OLD, 1, weight);
  for (int i = 0; i <= OLD; i++) weight[i] = -weight[i];
  return tesi_vector_combine(OLD + 1, weight, value, x);
}

TesStatus tesi_stepper_undo(TesiStepper *s, TesVector *u) {
  TesVector *first = s->old[0];
  TesiAmounts *a = s->evolution.amounts;
  TesStatus status = tes_vector_copy(first, 1, u);
  if (s->moved && status == TES_OK) status = tes_vector_copy(s->before[0], 1, s->rate);
  if (s->moved && status == TES_OK) status = tes_vector_copy(s->before[1], 1, s->second);
  s->moved = false;
  for (int i = 1; i < s->kept; i++) s->old[i - 1] = s->old[i], s->when[i - 1] = s->when[i];
  s->old[s->kept - 1] = first;
  s->known = tesi_min(s->known, s->kept) - 1;
  s->last = NULL; /* addresses have moved */
  for (int i = 0; a && i < a->count; i++) a->now[i] = a->old[i];
  if (a) memmove(a->old, a->old + a->count, (TESI_STEPPER_OLD - 1) * (size_t)a->count * sizeof *a->old);
  return status;
}

TesStatus tesi_stepper_add_mass(TesiStepper *s, double sigma, const TesVector *y) {
  const TesStatus status = s->evolution.mass(s->evolution.user, y, s->product);
  return status == TES_OK ? tes_vector_axpy(sigma, s->product, s->b) : status;
}
