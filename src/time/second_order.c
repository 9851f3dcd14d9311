/* Methods for M u'' + K u = F, with v = u' and a = u'': Newmark's family,
 *   u1 = u0 + dt v0 + dt^2 (older a0 + beta a1),   v1 = v0 + dt ((1 - gamma) a0 + gamma a1),
 * with the equation at a mean of both ends (Chung and Hulbert 1993):
 *   M ((1 - am) a1 + am a0) + K ((1 - af) u1 + af u0) = F(t + (1 - af) dt).
 * With a1 from the first row this is one solve with sigma M + K for u1, sigma = (1 - am) / ((1 - af) beta dt^2).
 *   newmark            am = af = 0, beta = 1/4, gamma = 1/2: the trapezoidal rule
 *   generalized_alpha  am = (2 rho - 1) / (rho + 1), af = rho / (rho + 1), gamma = 1/2 - am + af,
 *                      beta = (1 - am + af)^2 / 4: the highest frequencies are multiplied by rho each step
 *   backward_euler     v1 = (u1 - u0) / dt, a1 = (v1 - v0) / dt: beta = gamma = 1, older = 0; needs no a0 */
#include "time/stepper.h"

typedef struct Family {
  double am, af, beta, older, gamma;
} Family;

static Family family_of(TesTimeMethod method, double rho) {
  Family f = {.beta = 1, .gamma = 1};
  if ((int)method == TESI_TIME_SECOND_EULER) return f;
  if (method == TES_TIME_GENERALIZED_ALPHA) f.am = (2 * rho - 1) / (rho + 1), f.af = rho / (rho + 1);
  f.gamma = 0.5 - f.am + f.af;
  f.beta = (1 - f.am + f.af) * (1 - f.am + f.af) / 4;
  f.older = 0.5 - f.beta;
  return f;
}

bool tesi_time_is_second(TesTimeMethod method) {
  return method == TES_TIME_NEWMARK || method == TES_TIME_GENERALIZED_ALPHA ||
         (int)method == TESI_TIME_SECOND_EULER;
}

TesTimeMethod tesi_time_second(TesTimeMethod method) {
  return method == TES_TIME_AUTO             ? TES_TIME_GENERALIZED_ALPHA
         : method == TES_TIME_BACKWARD_EULER ? (TesTimeMethod)TESI_TIME_SECOND_EULER
                                             : method;
}

double tesi_time_second_sigma(TesTimeMethod method, double rho, double dt) {
  const Family f = family_of(method, rho);
  return (1 - f.am) / ((1 - f.af) * f.beta * dt * dt);
}

/* a is u_tt at t + (am - af) dt, so that u1 = u0 + dt v0 + dt^2/2 u_tt + dt^3 (beta + (am - af)/2) u_ttt. */
double tesi_time_second_error(TesTimeMethod method, double rho) {
  const Family f = family_of(method, rho);
  return f.beta + (f.am - f.af) / 2 - 1. / 6;
}

/* b <- (F - af K u0) / (1 - af), without the term sigma M u0, which is added through `y`. */
static TesStatus find_load(TesiStepper *s, const Family *f, double sigma, double time) {
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  TES_TRY(e->load(e->user, time + (1 - f->af) * s->dt, s->b));
  if (f->af > 0) {
    const double share = f->af / (1 - f->af);
    TES_TRY(tes_vector_copy(s->b, 1 / f->af, s->b));
    TES_TRY(e->subtract(e->user, sigma, time, s->old[0], s->b));
    TES_TRY(tes_vector_copy(s->b, share, s->b));
    TES_TRY(tes_vector_axpy(share * sigma, s->old[0], s->y));
  }
done:
  return status;
}

/* v and a become those of the end: a1 = (u1 - u0 - dt v0) / (beta dt^2) - older / beta a0. */
static TesStatus update(TesiStepper *s, const Family *f, const TesVector *u) {
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const double square = f->beta * s->dt * s->dt;
  if (s->before[0]) {
    TES_TRY(tes_vector_copy(s->rate, 1, s->before[0]));
    TES_TRY(tes_vector_copy(s->second, 1, s->before[1]));
    s->moved = true;
  }
  TES_TRY(tesi_vector_combine(
      4, (const double[]){1 / square, -1 / square, -1 / (f->beta * s->dt), -f->older / f->beta},
      (const TesVector *const[]){u, s->old[0], s->rate, s->second}, s->y));
  TES_TRY(tesi_vector_combine(3, (const double[]){1, s->dt * (1 - f->gamma), s->dt * f->gamma},
                              (const TesVector *const[]){s->rate, s->second, s->y}, s->rate));
  TES_TRY(tes_vector_copy(s->y, 1, s->second));
done:
  return status;
}

/* The part of a step before its iterations. */
typedef struct Begin {
  TesiStepper *s;
  Family f;
  double time, sigma;
  TesVector *u;
} Begin;

static TesStatus begin_second_order(void *data) {
  const Begin *begin = data;
  TesiStepper *s = begin->s;
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const Family *f = &begin->f;
  const double part = (1 - f->am) / (1 - f->af);
  TES_TRY(tesi_vector_combine(3,
                              (const double[]){part / (f->beta * s->dt * s->dt), part / (f->beta * s->dt),
                                               part * f->older / f->beta - f->am / (1 - f->af)},
                              (const TesVector *const[]){s->old[0], s->rate, s->second}, s->y));
  TES_TRY(find_load(s, f, begin->sigma, begin->time));
  TES_TRY(tesi_stepper_add_mass(s, 1, s->y));
  TES_TRY(tesi_stepper_guess(s, 1, begin->u));
  TES_TRY(tesi_stepper_start(s, begin->sigma, begin->time + s->dt, begin->u));
done:
  return status;
}

TesStatus tesi_second_order(TesiStepper *s, const TesiTimeMethod *method, double time, TesVector *u) {
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  const Family f = family_of(s->method, s->rho);
  const double sigma = tesi_time_second_sigma(s->method, s->rho, s->dt), then = time + s->dt;
  const double times[] = {then, time + (1 - f.af) * s->dt};
  Begin begin = {.s = s, .f = f, .time = time, .sigma = sigma, .u = u};
  (void)method;
  if (!s->started && (int)s->method != TESI_TIME_SECOND_EULER)
    TES_TRY(e->accelerate(e->user, sigma, time, s->old[0], s->second));
  s->started = true;
  TES_TRY(tesi_stepper_begin(s, 0, sigma, 2, times, begin_second_order, &begin));
  TES_TRY(e->solve(e->user, sigma, then, s->b, s->old[0], u));
  TES_TRY(update(s, &f, u));
done:
  return status;
}
