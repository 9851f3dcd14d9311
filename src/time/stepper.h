/* Steps in time of M u' + K u = F(t). A method is a row of a table (methods.c); it knows no equation and no device: a
 * step is made of vectors and of the calls of a TesiEvolution, which the problem hands over. */
#ifndef TESI_STEPPER_H
#define TESI_STEPPER_H

#include "device/recorded.h"
#include "device/vector.h"
#include "tessera/time.h"

enum { TESI_STEPPER_OLD = 4, TESI_STEPPER_STAGES = 3 };

/* Amounts Q with Q' = S(t), by the method's own formula: what went through boundaries, and sources. As sums of rows
 * of M u' + K u = F they then fit to those of u exactly. No amounts: zeros.
 *
 * exchange: rate += what u itself makes at a time; leak: rate += what rows of given values add, in the residual of
 * (sigma M + K) x = b. */
typedef struct TesiAmounts {
  int count;
  double *rate, *now, *old; /* [count]; old[TESI_STEPPER_OLD][count]: at t, t - dt, .. */
  TesStatus (*exchange)(void *user, double time, const TesVector *u, double *rate);
  TesStatus (*leak)(void *user, double sigma, const TesVector *x, const TesVector *b, double *rate);
} TesiAmounts;

/* Vectors are float64 and hold boundary values too. */
typedef struct TesiEvolution {
  TesContext *context;
  int64_t length;
  void *user;
  TesStatus (*mass)(void *user, const TesVector *x, TesVector *y); /* y <- M x, that of the last load's time */
  TesStatus (*load)(void *user, double time, TesVector *b);        /* b <- F(time) */
  /* b <- b - (sigma M + K(time)) x, for the sigma of the solves. */
  TesStatus (*subtract)(void *user, double sigma, double time, const TesVector *x, TesVector *b);
  /* x <- the solution of (sigma M + K) x = b with the boundary values of `time`; before: a guess. old: the solution
   * at the beginning of the step, with which tolerances are measured. */
  TesStatus (*solve)(void *user, double sigma, double time, const TesVector *b, const TesVector *old,
                     TesVector *x);
  TesStatus (*carry)(void *user, const TesVector *x, TesVector *b); /* b <- b - C x, at the last load's time */
  /* Of explicit steps: x <- x + factor m^-1 b with the boundary values of `time`; m: the sums of rows of M. */
  TesStatus (*lumped)(void *user, double time, double factor, const TesVector *b, TesVector *x);
  const struct TesiTimeMethod *method; /* a row that is not in the list of methods; NULL: the method's row */
  /* Of second order: a <- the solution of M a = F(time) - K u, with what boundary values have. NULL: of first order. */
  TesStatus (*accelerate)(void *user, double sigma, double time, const TesVector *u, TesVector *a);
  TesiAmounts *amounts; /* NULL: none */
  /* All NULL, or what devices replay. at: the times of the loads that a stage is made of come, the first one is that
   * of its solution; same: vectors, weights and dt are those of this stage a step ago. begin: work(data), which makes
   * the load, the guess and all that the solve begins with. start: the last of that, with the arguments of solve. */
  TesStatus (*at)(void *user, int stage, bool same, double sigma, int count, const double *times);
  TesStatus (*begin)(void *user, int stage, TesiWork work, void *data);
  TesStatus (*start)(void *user, double sigma, double time, const TesVector *b, const TesVector *old,
                     TesVector *x);
} TesiEvolution;

typedef struct TesiStepper TesiStepper;

/* One kind of formula; numbers that it does not need are 0. */
typedef struct TesiTimeMethod {
  const char *name;
  TesTimeMethod starter; /* what makes the steps until there are `old` values; auto: none is needed */
  bool carries;          /* it starts by itself, and takes transport from old values; not in K then */
  int old;               /* values before the step, u(t) among them, that it is made of */
  TesStatus (*step)(TesiStepper *stepper, const struct TesiTimeMethod *method, double time, TesVector *u);
  double sigma; /* times 1 / dt */
  /* multistep: u' = (sigma u1 - sum back[j] u(t - j dt)) / dt */
  double back[TESI_STEPPER_OLD];
  /* Runge-Kutta, singly diagonally implicit and stiffly accurate: sigma = 1 / a[i][i], the last stage is u1 */
  int stages;
  double a[TESI_STEPPER_STAGES][TESI_STEPPER_STAGES], c[TESI_STEPPER_STAGES];
} TesiTimeMethod;

struct TesiStepper {
  TesiEvolution evolution;
  TesTimeMethod method;
  const struct TesiTimeMethod *row; /* of the method */
  double dt;
  int guess, known, kept;           /* old values: that guesses take, that are there, that are wanted */
  TesVector *old[TESI_STEPPER_OLD]; /* u(t), u(t - dt), .. */
  double when[TESI_STEPPER_OLD];    /* their times */
  TesVector *b, *y, *product;
  TesVector *rate, *second;          /* of second order: u' and u'' at t; else NULL */
  double rho;                        /* of generalized_alpha */
  bool started;                      /* `second` is known */
  TesVector *before[2];              /* u' and u'' before the last step, where steps are undone; else NULL */
  bool moved;                        /* the last step has changed u' and u'' */
  const struct TesiTimeMethod *last; /* of the last step, with its dt and old values that were known */
  double last_dt;
  int last_known;
  bool same;                             /* all of these are those of this step */
  TesVector *slope[TESI_STEPPER_STAGES]; /* Runge-Kutta; made when first needed */
};

const TesiTimeMethod *tesi_time_method(TesTimeMethod method);
/* The method itself, where `auto` is asked for too. */
TesTimeMethod tesi_time_named(TesTimeMethod method);
const char *tesi_time_name(int method);
/* sigma of the first step. */
double tesi_time_first_sigma(TesTimeMethod method, double dt);

/* The method of second order, whose number it has inside; its sigma; whether it is one. */
enum { TESI_TIME_SECOND_EULER = TES_TIME_IMEX_BDF3 + 1 };
TesTimeMethod tesi_time_second(TesTimeMethod method);
double tesi_time_second_sigma(TesTimeMethod method, double rho, double dt);
bool tesi_time_is_second(TesTimeMethod method);

/* guess: 0..4 old values from which each solution is extrapolated; 0: from zero. spare: old values that are kept
 * beyond those, as far as there is room; one, where steps are undone. stepper->dt may be changed before a step. */
TesStatus tesi_stepper_create(const TesiEvolution *evolution, TesTimeMethod method, double dt, int guess,
                              int spare, TesiStepper **stepper);
void tesi_stepper_destroy(TesiStepper **stepper);
/* u and the history are those before the last step, but for its oldest value. */
TesStatus tesi_stepper_undo(TesiStepper *stepper, TesVector *u);
/* u(time) becomes u(time + dt). After a failure of a solve u is what that left, and the history has gone on: undo. */
TesStatus tesi_stepper_step(TesiStepper *stepper, double time, TesVector *u);

/* ---- steps that differ ---- */

/* x <- u - what the last three old values extrapolate to at its time; after a step, where three are known. */
TesStatus tesi_stepper_difference(const TesiStepper *stepper, const TesVector *u, TesVector *x);
/* The part of that difference that is the local error of bdf2: with h, h0, h1 the last step and those before, and
 * r = h / h0, errors are h^3 (1 + r)^2 / (6 r (1 + 2 r)) d of the formula and h (h + h0) (h + h0 + h1) / 6 d of
 * the extrapolation, d the third derivative; 2/11 where steps are equal. Of second order the first one is c h^3 d. */
double tesi_stepper_error_share(const TesiStepper *stepper);
/* Of second order: c where a step h leaves c h^3 u_ttt in u; 1/12 of newmark. */
double tesi_time_second_error(TesTimeMethod method, double rho);
double tesi_step_error_share(double h, double h0, double h1);
/* The longest base 2^(j/4), j <= 0, not above `step`; the next step after one whose local error was `error` times
 * what is allowed, of a scheme of that order: 0.5 to 2 times as long, on a rung, and no longer for a gain of less
 * than a rung. */
double tesi_step_rung(double base, double step);
double tesi_step_next(double base, double step, double error, int order);

/* ---- for the kinds of formulas ---- */

/* Whether this many old values are a step apart, each from the next. */
bool tesi_stepper_equal(const TesiStepper *stepper, int count);
/* weight[count] of old values at time t + at dt: Lagrange's polynomial. */
void tesi_stepper_extrapolation(const TesiStepper *stepper, int count, double at, double *weight);
/* sigma and back[] of a multistep formula for the times of the old values: the derivative at t + dt of the polynomial
 * through them. */
void tesi_stepper_backward(const TesiStepper *stepper, const TesiTimeMethod *method, double *sigma,
                           double *back);

/* What a stage does before its iterations: work(data), which makes the load of `times` (the first one is that of the
 * solution) and the guess, and ends with tesi_stepper_start(). Then the solve. */
TesStatus tesi_stepper_begin(TesiStepper *stepper, int stage, double sigma, int count, const double *times,
                             TesiWork work, void *data);
TesStatus tesi_stepper_start(TesiStepper *stepper, double sigma, double time, TesVector *x);
/* x <- what the old values extrapolate to at time t + s dt. */
TesStatus tesi_stepper_guess(const TesiStepper *stepper, double s, TesVector *x);
/* stepper->b <- stepper->b + sigma M y */
TesStatus tesi_stepper_add_mass(TesiStepper *stepper, double sigma, const TesVector *y);
/* Amounts. Rates of a solve of (sigma M + K) u = stepper->b at its time; now <- sum of back[j] old[j]; now <- now +
 * factor rates. */
TesStatus tesi_stepper_rates(TesiStepper *stepper, double sigma, double time, const TesVector *u);
void tesi_stepper_begin_amounts(TesiStepper *stepper, int count, const double *back);
void tesi_stepper_add_amounts(TesiStepper *stepper, double factor);
TesStatus tesi_multistep(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);
TesStatus tesi_carrying_multistep(TesiStepper *stepper, const TesiTimeMethod *method, double time,
                                  TesVector *u);
TesStatus tesi_trapezoid(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);
TesStatus tesi_second_order(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);
TesStatus tesi_runge_kutta(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);

#endif
