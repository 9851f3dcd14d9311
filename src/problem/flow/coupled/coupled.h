/* Navier-Stokes in time with Raviart-Thomas elements over boxes, exactly divergence-free:
 *
 *   (sigma u - sum over j of back_j u^(n-j)) - nu Lap u + grad p + sum over j of weight_j N(u^(n-j)) = f,   div u = 0
 *
 * at the new time t. sigma and back_j differentiate the polynomial through the new velocity and the 2 or 3 old
 * velocities (BDF2, BDF3). weight_j extrapolate the convection N (operator/rt_convection) of the old velocities.
 * Steps may have different lengths. Each step is one solve of the generalised Stokes problem
 * (problem/equation/stokes.c): there is no splitting and no boundary condition for the pressure. The first step of
 * BDF2 and the first two steps of BDF3 are extrapolated steps of backward Euler with explicit convection (Aitken and
 * Neville). With E_m the result of m substeps, they are 2 E_2 - E_1 and (E_1 - 8 E_2 + 9 E_3) / 2.
 *
 * The guess is extrapolated from the last velocities and pressures. Each solve computes a correction of the guess,
 * so its right-hand side is small. Another cycle removes the divergence that a float32 cycle leaves.
 *
 * sigma is a mass term of the operator. The systems for the last SYSTEMS values of sigma are kept, with their
 * multigrid.
 *
 * A mean velocity in a periodic direction is kept by a uniform force (coupled_drive.c).
 *
 * On devices with kernels vectors stay on the device. The host computes loads and boundary values and copies them;
 * if they do not depend on t, only once. */
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
  TesVector *response[3]; /* response to a uniform force in this direction, and its integral: coupled_drive.c; NULL: not
                           * yet computed */
  double gain[3];
} TesiCoupledSystem;

/* The directions c with bits in `components`, in which F_c keeps the mean U_c. */
typedef struct TesiCoupledDrive {
  unsigned components;
  double mean[3], force[3], before[3], volume; /* before: force in the last state */
  TesVector *uniform[3], *weights[3];          /* e_c, M e_c */
} TesiCoupledDrive;

typedef struct TesiCoupled {
  int order; /* 2, 3 */
  TesiRtConvection *convection;
  TesiCoupledSystem system[TESI_COUPLED_SYSTEMS]; /* the system used last comes first; op NULL: none */
  /* The state: earlier solutions, their times (the present time first), N of the present and earlier solutions. */
  TesVector *old[TESI_COUPLED_OLD], *carried[TESI_COUPLED_OLD];
  double when[TESI_COUPLED_TIMES];
  double largest[TESI_COUPLED_TIMES]; /* largest velocity of the present and earlier solutions; NaN: not known */
  double largest_next;                /* the same during the present step */
  int known;                          /* number of old solutions that are available */
  int guess;                          /* number of old values for guesses */
  bool is_carried;                    /* carried[0] belongs to the present solution */
  double rate;                        /* cells that the flow crosses per unit of time */
  bool timed;                         /* velocities on the boundary are */
  bool checked, defect_told;          /* their flux, and that it is not 0 */
  bool gives;                         /* the boundary lets flow through: `given` is the lifting */
  TesiCoupledDrive drive;
  TesVector *load;             /* F if it is the same at all times; NULL: it varies, or is not known yet */
  TesVector *uniform, *pushes; /* the pressure 1, and its forces in all systems; NULL: not needed yet */
  TesVector *given, *cycle[2]; /* known nodes; work of the cycle's precision */
  TesVector *b, *r, *d, *x, *w, *sum; /* work */
} TesiCoupled;

static inline TesiCoupled *tesi_coupled_of(const TesProblem *problem) {
  return problem->own;
}

extern const TesiOwn tesi_coupled_own;
extern const TesiScheme tesi_coupled_scheme;
/* TesiFlowEquation.check */
TesStatus tesi_coupled_check(TesProblem *problem, const TesProblemDesc *desc);

/* Node distances that the flow crosses per unit of time. */
double tesi_coupled_crossed(const TesProblem *problem);
/* The state was changed: quantities derived from it must be computed again. */
void tesi_coupled_forget(TesiCoupled *flow);
/* Computes carried[0] and rate of the solution. */
TesStatus tesi_coupled_carry(TesProblem *problem);
/* Sets operator, multigrid and solver of the problem for sigma, and the problem's numbers to a time. */
TesStatus tesi_coupled_use(TesProblem *problem, double time, double sigma);
void tesi_coupled_drop(TesiCoupledSystem *system);
/* x <- x made divergence-free, with the right values at known nodes and the right constant of the pressure, by the
 * problem's numbers. */
TesStatus tesi_coupled_clean(TesProblem *problem, TesVector *x);
/* x <- x with the boundary values of the time. Errors: TES_INVALID_INPUT if the net flux is not zero. */
TesStatus tesi_coupled_give(TesProblem *problem, TesVector *x);
/* x <- x + the solution of K d = b - K x, to the problem's tolerance relative to `reference`. b, which is divided by
 * the pressure's unit (stokes.h), has no pressures. The pressures of x are in this unit before, and in the data's unit
 * afterwards. */
TesStatus tesi_coupled_solve(TesProblem *problem, double reference, TesVector *x, TesSolveResult *result);
/* Refuses directions in which the box is not periodic. */
TesStatus tesi_coupled_drive_check(const TesProblem *problem, const TesProblemDesc *desc);
/* To be called with the description when there is an operator. */
TesStatus tesi_coupled_drive_create(TesProblem *problem, const TesProblemDesc *desc);
void tesi_coupled_drive_free(TesiCoupledDrive *drive);
/* v <- v + factor times the uniform force, as a velocity. */
TesStatus tesi_coupled_drive_add(const TesProblem *problem, double factor, TesVector *v);
/* x <- x with the prescribed mean, by the present system, and the force that causes it. b is overwritten. */
TesStatus tesi_coupled_drive_keep(TesProblem *problem, TesVector *x);
/* TesiEquation.force: from the residual of the equation, with u_t by the formula of the last step. */
TesStatus tesi_coupled_force(const TesProblem *problem, int boundary, int direction, double *force);

#endif
