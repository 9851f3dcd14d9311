/* Navier-Stokes in time with Raviart-Thomas elements over boxes, exactly divergence-free:
 *
 *   (sigma u - sum over j of back_j u^(n-j)) - nu Lap u + grad p + sum over j of weight_j N(u^(n-j)) = f,   div u = 0
 *
 * at the new time t: sigma and back_j differentiate the polynomial through the new velocity and the 2 or 3 old ones
 * (BDF2, BDF3), weight_j extrapolate convection N (operator/rt_convection) from these; times need not be equally far
 * apart. One solve of the generalised Stokes problem (problem/equation/stokes.c) a step: no splitting, no boundary
 * condition for the pressure. The first step of BDF2, the first two of BDF3, are steps of backward Euler with explicit
 * convection, extrapolated (Aitken and Neville): of 1 and 2 parts, 2 E_2 - E_1; of 1, 2 and 3,
 * (E_1 - 8 E_2 + 9 E_3) / 2.
 *
 * A solve is that of a correction of a guess extrapolated from the last velocities and pressures, so that its tolerance
 * is that of a small right-hand side. What a float32 cycle leaves in the divergence is taken away by another cycle.
 *
 * sigma is a mass term of the operator: the systems of the last SYSTEMS numbers sigma are kept, with their multigrid.
 *
 * A mean velocity in a periodic direction is kept by a uniform force (coupled_drive.c).
 *
 * On devices with kernels vectors stay there. Loads and boundary values are found by the host, once where they do not
 * depend on t, and sent. */
#ifndef TESI_COUPLED_H
#define TESI_COUPLED_H

#include "operator/rt_convection/rt_convection.h"
#include "problem/flow/flow_steps.h"

enum { TESI_COUPLED_SYSTEMS = 4, TESI_COUPLED_OLD = 3, TESI_COUPLED_TIMES = TESI_COUPLED_OLD + 1 };

typedef struct TesiCoupledSystem {
  double sigma;
  TesOperator *op;
  TesMultigrid *multigrid;
  TesSolver *solver;
  TesVector *response[3]; /* to a uniform force in this direction, and its integral: coupled_drive.c; NULL: not known */
  double gain[3];
} TesiCoupledSystem;

/* Of the directions c that are bits of `components`, where F_c keeps the mean U_c. */
typedef struct TesiCoupledDrive {
  unsigned components;
  double mean[3], force[3], before[3], volume; /* before: force of the last state */
  TesVector *uniform[3], *weights[3];          /* e_c, M e_c */
} TesiCoupledDrive;

typedef struct TesiCoupled {
  int order; /* 2, 3 */
  TesiRtConvection *convection;
  TesiCoupledSystem system[TESI_COUPLED_SYSTEMS]; /* the last one used first; op NULL: none */
  /* The state: solutions before that of now, their times (that of now first), N of now and before. */
  TesVector *old[TESI_COUPLED_OLD], *carried[TESI_COUPLED_OLD];
  double when[TESI_COUPLED_TIMES];
  double largest[TESI_COUPLED_TIMES]; /* velocity of the solution of now and of those before; NaN: not known */
  double largest_next;                /* the same of the step under way */
  int known;                          /* old solutions that are there */
  int guess;                          /* old values that guesses take */
  bool is_carried;                    /* carried[0] is that of now */
  double rate;                        /* cells that it crosses a unit of time */
  bool timed;                         /* velocities on the boundary are */
  bool checked;                       /* their flux */
  bool gives;                         /* they let something through: `given` is the lifting */
  TesiCoupledDrive drive;
  TesVector *load;                    /* F where it is the same at all times; NULL: not, or not known */
  TesVector *given, *cycle[2];        /* known nodes; work of the cycle's precision */
  TesVector *b, *r, *d, *x, *w, *sum; /* work */
} TesiCoupled;

static inline TesiCoupled *tesi_coupled_of(const TesProblem *problem) {
  return problem->own;
}

extern const TesiOwn tesi_coupled_own;
extern const TesiScheme tesi_coupled_scheme;
/* TesiFlowEquation.check */
TesStatus tesi_coupled_check(TesProblem *problem, const TesProblemDesc *desc);

/* Distances of neighbouring nodes that the flow crosses a unit of time. */
double tesi_coupled_crossed(const TesProblem *problem);
/* The state was changed: what was known of it beside is not. */
void tesi_coupled_forget(TesiCoupled *flow);
/* carried[0] and rate of the solution. */
TesStatus tesi_coupled_carry(TesProblem *problem);
/* The problem's operator, multigrid and solver become those of sigma, its numbers those of a time. */
TesStatus tesi_coupled_use(TesProblem *problem, double time, double sigma);
void tesi_coupled_drop(TesiCoupledSystem *system);
/* x <- x with known nodes and the free constant of the pressure as they must be, divergence-free, of the problem's
 * numbers. */
TesStatus tesi_coupled_clean(TesProblem *problem, TesVector *x);
/* x <- x with the values of the time on the boundary. Errors: TES_INVALID_INPUT where they let more in than out. */
TesStatus tesi_coupled_give(TesProblem *problem, TesVector *x);
/* x <- x + the solution of K d = b - K x, to the problem's tolerance of `reference`. b, which is divided by the
 * pressure's unit (stokes.h), has no pressures; those of x are in that unit before, and in the data's after. */
TesStatus tesi_coupled_solve(TesProblem *problem, double reference, TesVector *x, TesSolveResult *result);
/* Refuses directions in which the box is not periodic. */
TesStatus tesi_coupled_drive_check(const TesProblem *problem, const TesProblemDesc *desc);
/* Of the description, once there is an operator. */
TesStatus tesi_coupled_drive_create(TesProblem *problem, const TesProblemDesc *desc);
void tesi_coupled_drive_free(TesiCoupledDrive *drive);
/* v <- v + factor times the uniform force, as a velocity. */
TesStatus tesi_coupled_drive_add(const TesProblem *problem, double factor, TesVector *v);
/* x <- x with the mean that is to be, of the system that stands, and the force that makes it. b is lost. */
TesStatus tesi_coupled_drive_keep(TesProblem *problem, TesVector *x);
/* TesiEquation.force: by the residual of the equation, u_t that of the last step's formula. */
TesStatus tesi_coupled_force(const TesProblem *problem, int boundary, int direction, double *force);

#endif
