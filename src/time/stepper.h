/* Steps in time of M u' + K u = F(t). A method is a row of a table (methods.c); it knows no equation and no device: a
 * step is made of vectors and of the calls of a TesiEvolution, which the problem hands over. */
#ifndef TESI_STEPPER_H
#define TESI_STEPPER_H

#include "device/recorded.h"
#include "device/vector.h"
#include "tessera/time.h"

enum { TESI_STEPPER_OLD = 4, TESI_STEPPER_STAGES = 3 };

/* Amounts Q with Q' = S(t), integrated by the method's own formula: fluxes through boundaries, and sources. S is a sum
 * of rows of M u' + K u = F, so that the amounts balance exactly with u. Without amounts the members are zero.
 *
 * exchange: rate += the contribution of u at a time. leak: rate += the contribution of rows with given values, from the
 * residual of (sigma M + K) x = b. */
typedef struct TesiAmounts {
  int count;
  double *rate, *now, *old; /* [count]; old[TESI_STEPPER_OLD][count]: at t, t - dt, .. */
  TesStatus (*exchange)(void *user, double time, const TesVector *u, double *rate);
  TesStatus (*leak)(void *user, double sigma, const TesVector *x, const TesVector *b, double *rate);
} TesiAmounts;

/* Vectors are float64 and include boundary values. */
typedef struct TesiEvolution {
  TesContext *context;
  int64_t length;
  void *user;
  TesStatus (*mass)(void *user, const TesVector *x,
                    TesVector *y); /* y <- M x, with M at the time of the last load */
  TesStatus (*load)(void *user, double time, TesVector *b); /* b <- F(time) */
  /* b <- b - (sigma M + K(time)) x, with the sigma of the solves */
  TesStatus (*subtract)(void *user, double sigma, double time, const TesVector *x, TesVector *b);
  /* x <- the solution of (sigma M + K) x = b with the boundary values of `time`; x is the guess before. old: the
   * solution at the beginning of the step, to which tolerances refer. */
  TesStatus (*solve)(void *user, double sigma, double time, const TesVector *b, const TesVector *old,
                     TesVector *x);
  bool (*starts)(void *user); /* whether the solve that follows makes its own guess; NULL: no solve does */
  TesStatus (*carry)(void *user, const TesVector *x,
                     TesVector *b); /* b <- b - C x, at the time of the last load */
  /* Explicit steps: x <- x + factor m^-1 b with the boundary values of `time`; m: the row sums of M. */
  TesStatus (*lumped)(void *user, double time, double factor, const TesVector *b, TesVector *x);
  const struct TesiTimeMethod *method; /* a row that is not in the list of methods; NULL: the method's row */
  /* Second order: a <- the solution of M a = F(time) - K u, with the second derivatives of boundary values. NULL: first
   * order. */
  TesStatus (*accelerate)(void *user, double sigma, double time, const TesVector *u, TesVector *a);
  TesiAmounts *amounts; /* NULL: none */
  /* at (NULL: none): comes before load and mass of a stage, with the sigma of its solve and the times of its loads,
   * first the time of its solution. same: the vectors, weights and dt are the same as in this stage of the step before.
   * begin and start: NULL, or the parts that devices record. begin: work(data), which makes the load, the guess and all
   * else before the solve. start: the last part of this, with the arguments of solve. */
  TesStatus (*at)(void *user, int stage, bool same, double sigma, int count, const double *times);
  TesStatus (*begin)(void *user, int stage, TesiWork work, void *data);
  TesStatus (*start)(void *user, double sigma, double time, const TesVector *b, const TesVector *old,
                     TesVector *x);
} TesiEvolution;

typedef struct TesiStepper TesiStepper;

/* One kind of formula; numbers that it does not need are 0. */
typedef struct TesiTimeMethod {
  const char *name;
  TesTimeMethod starter; /* the method of the first steps, until there are `old` values; auto: not needed */
  bool carries;          /* starts by itself, and takes transport, which is then not in K, from old values */
  int old;               /* number of values before the step in the formula, u(t) included */
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
  int guess, known, kept;           /* numbers of old values: for guesses, present, wanted */
  TesVector *old[TESI_STEPPER_OLD]; /* u(t), u(t - dt), .. */
  double when[TESI_STEPPER_OLD];    /* their times */
  TesVector *b, *y, *product;
  TesVector *rate, *second;          /* second order: u' and u'' at t; else NULL */
  double rho;                        /* of generalized_alpha */
  bool started;                      /* `second` is known */
  TesVector *before[2];              /* u' and u'' before the last step, for undoing it; else NULL */
  bool moved;                        /* whether the last step has changed u' and u'' */
  const struct TesiTimeMethod *last; /* for the last step, with its dt and its number of old values */
  double last_dt;
  int last_known;
  bool same;                             /* all of these are those of this step */
  TesVector *slope[TESI_STEPPER_STAGES]; /* Runge-Kutta; allocated at the first use */
};

const TesiTimeMethod *tesi_time_method(TesTimeMethod method);
/* The method that `auto` stands for, or the method itself. */
TesTimeMethod tesi_time_named(TesTimeMethod method);
const char *tesi_time_name(int method);
/* sigma of the first step. */
double tesi_time_first_sigma(TesTimeMethod method, double dt);

/* The method of second order, with its parameter; its sigma; whether a method has second order. */
enum { TESI_TIME_SECOND_EULER = TES_TIME_IMEX_BDF3 + 1 };
TesTimeMethod tesi_time_second(TesTimeMethod method);
double tesi_time_second_sigma(TesTimeMethod method, double rho, double dt);
bool tesi_time_is_second(TesTimeMethod method);

/* guess: number (0..4) of old values from which each solution is extrapolated; 0: the guess is zero. spare: number of
 * further old values that are kept, as far as there is room; one, if steps may be undone. stepper->dt may be changed
 * before a step. */
TesStatus tesi_stepper_create(const TesiEvolution *evolution, TesTimeMethod method, double dt, int guess,
                              int spare, TesiStepper **stepper);
void tesi_stepper_destroy(TesiStepper **stepper);
/* u and the history become those before the last step, except for the oldest value. */
TesStatus tesi_stepper_undo(TesiStepper *stepper, TesVector *u);
/* u(time) becomes u(time + dt). If a solve fails, u is its result, and the history has moved on: call undo. */
TesStatus tesi_stepper_step(TesiStepper *stepper, double time, TesVector *u);

/* ---- steps that differ ---- */

/* x <- u minus the extrapolation of the last three old values to its time; after a step, when three are known. */
TesStatus tesi_stepper_difference(const TesiStepper *stepper, const TesVector *u, TesVector *x);
/* The ratio of the local error of bdf2 to this difference: with h, h0, h1 the last step and those before, and
 * r = h / h0, errors are h^3 (1 + r)^2 / (6 r (1 + 2 r)) d of the formula and h (h + h0) (h + h0 + h1) / 6 d of
 * the extrapolation, d the third derivative; 2/11 where steps are equal. Of second order the first one is c h^3 d. */
double tesi_stepper_error_share(const TesiStepper *stepper);
/* Second order: c, if a step h has the error c h^3 u_ttt in u; 1/12 for newmark. */
double tesi_time_second_error(TesTimeMethod method, double rho);
double tesi_step_error_share(double h, double h0, double h1);
/* The longest base 2^(j/4), j <= 0, that is not above `step`. The length of the next step, if the local error was
 * `error` times the allowed error, for a scheme of this order: 0.5 to 2 times as long, on a rung, and longer only by a
 * whole rung or more. */
double tesi_step_rung(double base, double step);
double tesi_step_next(double base, double step, double error, int order);

/* ---- for the kinds of formulas ---- */

/* Whether so many old values are one step apart from each other. */
bool tesi_stepper_equal(const TesiStepper *stepper, int count);
/* weight[count] of the old values in Lagrange's polynomial at time t + at dt. */
void tesi_stepper_extrapolation(const TesiStepper *stepper, int count, double at, double *weight);
/* sigma and back[] of a multistep formula for the times of the old values: the derivative at t + dt of the polynomial
 * through them. */
void tesi_stepper_backward(const TesiStepper *stepper, const TesiTimeMethod *method, double *sigma,
                           double *back);

/* The part of a stage before its iterations: work(data), which makes the load of `times` (first the time of the
 * solution) and the guess, and ends with tesi_stepper_start(). Then the solve follows. */
TesStatus tesi_stepper_begin(TesiStepper *stepper, int stage, double sigma, int count, const double *times,
                             TesiWork work, void *data);
TesStatus tesi_stepper_start(TesiStepper *stepper, double sigma, double time, TesVector *x);
/* x <- the sum of weight[count] times the old values. */
TesStatus tesi_stepper_combine(const TesiStepper *stepper, int count, const double *weight, TesVector *x);
/* x <- the extrapolation of the old values to time t + s dt, unless the solve makes its own guess. */
TesStatus tesi_stepper_guess(const TesiStepper *stepper, double s, TesVector *x);
/* stepper->b <- stepper->b + sigma M y */
TesStatus tesi_stepper_add_mass(TesiStepper *stepper, double sigma, const TesVector *y);
/* Amounts. Rates of a solve of (sigma M + K) u = stepper->b at its time; now <- sum of back[j] old[j]; now <- now +
 * factor rates. */
TesStatus tesi_stepper_rates(TesiStepper *stepper, double sigma, double time, const TesVector *u);
void tesi_stepper_begin_amounts(TesiStepper *stepper, int count, const double *back);
void tesi_stepper_add_amounts(TesiStepper *stepper, double factor);
TesStatus tesi_multistep(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);
TesStatus tesi_trapezoid(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);
TesStatus tesi_second_order(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);
TesStatus tesi_runge_kutta(TesiStepper *stepper, const TesiTimeMethod *method, double time, TesVector *u);

#endif
