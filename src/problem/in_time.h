/* A problem in time: the data of its steps. They are functions of time. The problem's own numbers (TesProblem.numbered,
 * exact) are these functions at one time, so that loads, liftings and errors need not handle time. The operator of a
 * step is sigma M + K: numbered.c is c + sigma. */
#ifndef TESI_IN_TIME_H
#define TESI_IN_TIME_H

#include "krylov/least.h"
#include "problem/in_time_data.h"
#include "problem/problem.h"
#include "time/march.h"
#include "time/stepper.h"

/* A number of the state has this name followed by the name of the equation. */
#define TESI_STATE_OF "of "

typedef struct TesiInTime {
  TesiMarch march;
  char of[TESI_STATE_NAME];
  double sigma;         /* sigma of the present operators */
  double at;            /* time of the problem's numbers */
  TesiNumbered numbers; /* functions of time */
  TesFunction *exact[TESI_AXES + 1],
      *initial[TESI_AXES + 1];          /* functions of time; flows: the pressure is the last */
  TesFunction *initial_rate[TESI_AXES]; /* second order: u_t at the start; NULL: 0 */
  TesSpace *full;                       /* no node has given values */
  TesOperator *mass, *whole;            /* over it: M, sigma M + K */
  TesVector *lumped;                    /* 1 / (row sum of mass); NULL: not needed so far */
  TesOperator *carrier; /* over the space `full`, with the transport term that `whole` lacks; NULL: whole has it, or
                         * there is none */
  TesiStepper *stepper;
  TesVector *rate[TESI_AXES]; /* of second order: views of u_t, by component */
  TesVector *r, *d;           /* residual and correction of a solve */
  TesiLeast *least;           /* starts from old solutions */
  TesVector *load;            /* F if it is the same at all times; NULL: it varies, or is not known yet */
  bool timed;                 /* F depends on time */
  TesiTimedData data;         /* on devices */
  bool begun;                 /* a replay on the device has begun the next solve already (in_time_device.c) */
  TesiRecorded recorded[TESI_STEPPER_STAGES];
  bool moves, changes; /* whether b depends on time; whether a or c does: then the operator is that of the time
                        * `operated` */
  double operated;
  bool made;         /* the present solver is for it->sigma */
  TesMesh *first;    /* mesh of the first problem, if the mesh changes */
  int remeshed;      /* the step after which the mesh was last checked; -1: never */
  double unbalanced; /* NaN: value in states without a balance */
  struct {
    double squares,
        seconds; /* the sum over steps of its square in L2; what it took of the present step, not the solver */
  } error;
  TesSolveResult sum; /* of the present step */
  TesLoadCallback add_load;
  void *add_load_user;
  struct {
    int64_t count;
    const double *value;
  } notes; /* from the caller, for checkpoints */
} TesiInTime;

/* For equations of second order (in_time_second.c). rho: from a description. begin_second: u_t at the start.
 * accelerate: a <- M^-1 (F - K u), for steppers. */
double tesi_in_time_rho(const TesTimeDesc *desc);
TesStatus tesi_in_time_begin_second(TesProblem *problem, const TesProblemDesc *desc);
/* u_t <- u_t at the start. */
TesStatus tesi_in_time_begin_rates(TesProblem *problem);
TesStatus tesi_in_time_accelerate(void *user, double sigma, double time, const TesVector *u, TesVector *a);
/* Checks the description; the numbers of the problem become those at the start, for the first step's operator. */
TesStatus tesi_in_time_create(TesProblem *problem, const TesProblemDesc *desc);
/* To be called after the operators: makes the solution at the start. */
TesStatus tesi_in_time_begin(TesProblem *problem, const TesProblemDesc *desc);
void tesi_in_time_destroy(TesProblem *problem);
/* The problem's numbers become those at a time. */
TesStatus tesi_in_time_at(TesProblem *problem, double time);
/* The same, and numbered.c becomes c + sigma. */
TesStatus tesi_in_time_shift(TesProblem *problem, double time, double sigma);
/* u <- the initial function over the problem's space, with the boundary values. */
TesStatus tesi_in_time_interpolate(TesProblem *problem);
/* The row of the problem's method. */
const TesiTimeMethod *tesi_in_time_method(const TesProblem *problem);
/* The state: all that steps depend on (in_time_state.c). */
void tesi_problem_state(TesProblem *problem, TesiState *state);
/* Its scheme. */
const TesiScheme *tesi_in_time_scheme(const TesProblem *problem);
extern const TesiScheme tesi_stepper_scheme, tesi_second_order_scheme;

/* ---- of a solve ---- */

/* Operators of sigma M + K at a time, and all objects that depend on them. */
TesStatus tesi_in_time_use(TesProblem *problem, double sigma, double time);
/* x <- x with the boundary values at the time for which they were made. */
TesStatus tesi_in_time_give(const TesProblem *problem, TesVector *x);
/* r <- b - (sigma M + K) x at the nodes without given values, 0 at the others. */
TesStatus tesi_in_time_residual(const TesProblem *problem, const TesVector *b, const TesVector *x,
                                TesVector *r);
/* The start of a solve (in_time_start.c). guess: the number of old solutions; directions: of their differences that
 * starts combine; 0: they extrapolate. plan: comes first; whether it is the same work as in the step
 * before. starts: whether `start` needs no guess. start: x <- the start, problem->b <- its residual, in_time->r <- the
 * residual to which tolerances refer; where starts extrapolate, x is the guess before, and in_time->d the other start.
 * recorded: by kernels alone. */
int tesi_in_time_guess(const TesProblem *problem);
int tesi_in_time_directions(const TesProblem *problem);
bool tesi_in_time_plan(const TesProblem *problem, int stage);
bool tesi_in_time_starts(void *problem);
/* Whether the better of both starts is to be taken. */
bool tesi_in_time_either(const TesProblem *problem);
TesStatus tesi_in_time_start(const TesProblem *problem, const TesVector *b, const TesVector *old,
                             TesVector *x, bool recorded);
/* Whether a device can begin a stage without the host: evolution->at, begin and start. If so, devices have their
 * kernels from then on. */
TesStatus tesi_in_time_evolve_on_device(TesProblem *problem, TesiEvolution *evolution);
/* The rest of a solve that began so. */
TesStatus tesi_in_time_finish(TesProblem *problem, TesSolveResult *result);
/* Drops all recordings. */
void tesi_in_time_forget(TesProblem *problem);

#endif
