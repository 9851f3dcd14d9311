/* Navier-Stokes in time by pressure correction, with velocities of Q_k and pressures of Q_(k-1) on meshes of any kind:
 *
 *   (a0 u - a1 u^n + a2 u^(n-1)) / dt - nu Lap u + grad p* + e0 N(u^n) - e1 N(u^(n-1)) = f(t_(n+1)),  u = g
 *   (grad phi, grad psi) = -(div u, psi)
 *   p^(n+1) = p^n + a0 / dt phi - nu P div u
 *
 * BDF2, convection N(u) = (u . grad u, v) extrapolated, rotational incremental pressure correction (Guermond and Shen
 * 2004; in the form that adaptive-multigrid-liebchen recommends). phi is the potential for which u - grad phi is
 * free of divergence. So defined, old phi do not depend on the length of the step that made them:
 *
 *   p* = p^n + (a1 phi^n - a2 phi^(n-1)) / dt
 *
 * With w = dt / (length of the step before): a0 = (1 + 2 w) / (1 + w), a1 = 1 + w, a2 = w^2 / (1 + w), e0 = 1 + w,
 * e1 = w. The first step is made of four BDF1 steps of dt / 4 (a0, a1, a2, e0, e1 = 1, 1, 0, 1, 0); after it u^0
 * and u^1 are one dt apart.
 *
 * Velocities are found by conjugate gradients with the diagonal, phi by the multigrid of a Poisson problem with
 * phi = 0 on open boundaries. Guesses are extrapolated in time. On open boundaries nu du/dn - p n = g - P n +
 * 1/2 min(u.n, 0) u. If a given pressure P changes there, p^n is first raised everywhere by the change of the mean of
 * P (split_openings.c), and phi takes the rest as its boundary value.
 *
 * Vectors of velocities hold one component after the other, boundary values included. On devices with kernels
 * vectors stay on the device. The host computes boundary values, stresses and pressures of open boundaries, and
 * sends them if they change in time. It computes inverse diagonals when the length of the step changes, and forces
 * on boundaries on request. Otherwise only sums and maxima come to the host. */
#ifndef TESI_SPLIT_H
#define TESI_SPLIT_H

#include "device/kernel.h"
#include "krylov/refined_cg.h"
#include "operator/taylor_hood/taylor_hood.h"
#include "problem/in_time.h"

enum { TESI_SPLIT_OLD = 2, TESI_SPLIT_GUESSES = 4 };

/* Nodes of a boundary with given values. */
typedef struct TesiWallNodes {
  int64_t count;
  int64_t *slot;  /* [dim][count] index in TesiWalls.entry; -1: this component is free */
  double *x;      /* [3][count] */
  double *normal; /* [3][count]; NULL: no value needs it */
} TesiWallNodes;

/* Given values of the velocity. At nodes of several boundaries the value of the highest priority holds; among equal
 * priorities the value of the smallest Euclidean length holds, so walls at rest win over a lid. */
typedef struct TesiWalls {
  int boundaries;
  TesiWallNodes *wall;
  const TesSpace *space; /* the problem's velocity space, for its slip */
  int64_t count;
  int64_t *entry; /* [count] entries of velocity vectors */
  double *value;  /* [count] at the time `at` */
  double *length; /* [count] scratch */
  int *priority;  /* the same */
  double at;      /* the time of the values; NaN: none */
  bool timed, any_open;
  TesiKernel put; /* with kernels: then entries and values are on the device too */
  void *device_entry, *device_value;
} TesiWalls;

/* Coefficients of a step, as in the head of this file. */
typedef struct TesiFormula {
  double dt, a0, a1, a2, e0, e1;
} TesiFormula;

/* A uniform force per direction, which keeps the mean velocity in it (split_drive.c). */
typedef struct TesiDrive {
  unsigned components;                         /* bit c: direction c has a force */
  double mean[3], force[3], before[3], volume; /* before: force of the last state */
  double sigma, gain[3];                       /* of the responses */
  TesVector *weights, *response[3];            /* velocities; NULL: not needed */
} TesiDrive;

/* gamma_K (div u, div v)_K (split_grad_div.c); NULL: there is no such term. */
typedef struct TesiGradDiv {
  TesVector *gamma; /* [cells], of the step */
  TesVector *term;  /* scratch, a velocity */
} TesiGradDiv;

/* Pressures at old times, each divided by its dt / a0, from which the next pressure is extrapolated. */
typedef struct TesiPast {
  TesVector *value[TESI_SPLIT_GUESSES];
  double at[TESI_SPLIT_GUESSES];
  int count;
} TesiPast;

/* Parts of old solutions that are kept for guesses. */
typedef struct TesiGuesses {
  TesiPast phi;
  TesiPast spread; /* old P div u; empty if runs must have the same bits after a restart */
  int kept;        /* at most so many of phi and of spread */
} TesiGuesses;

/* The preconditioner of conjugate gradients with an operator. */
typedef struct TesiDiagonal {
  TesVector *inverse;
  struct TesiJacobiDevice *jacobi; /* with kernels */
  TesiRefined refined;             /* float32 solver; empty: all in float64 */
} TesiDiagonal;

/* The state beside the solution, for the next steps: old velocities u(t - dt_1), u(t - dt_1 - dt_2); N(u) and phi at
 * the present time and one step before. */
typedef struct TesiSplitState {
  TesVector *old[TESI_SPLIT_OLD], *carried[2], *phi[2];
  double step[TESI_SPLIT_OLD]; /* dt_1, dt_2 */
  int known;                   /* number of old velocities */
  bool starts;                 /* the present step is the first */
  bool is_carried;             /* carried[0] is N of the present u */
} TesiSplitState;

/* The system A u = b that was solved for the present u. */
typedef struct TesiLastSystem {
  TesVector *b;
  double sigma;  /* of its operator A; NaN: u is not the solution of a system */
  bool is_under; /* A is the operator of the present step */
} TesiLastSystem;

/* Cells that the velocity crosses per unit of time. */
typedef struct TesiSpeeds {
  double rate;    /* of now */
  double largest; /* so far */
  double most;    /* largest velocity; NaN: not known */
} TesiSpeeds;

typedef struct TesiSplitLoad {
  TesVector *constant; /* F if it is the same at all times; NULL: it is not, or not known yet */
  bool is_zero;        /* the constant one */
  bool timed;
  struct TesiLoadPlan *plan[TESI_AXES]; /* with kernels, for forces that depend on time */
  void *clock;                          /* of the plans; NULL: there are no plans */
} TesiSplitLoad;

/* The solver of steady flows. */
typedef struct TesiSteady {
  double alpha, unit;           /* unit: of the pressure (pressure_unit.h) */
  double level;                 /* a pressure, uniform, that right-hand sides do not have */
  TesVector *cycle_b, *cycle_x; /* of the cycle's precision */
  double cycle_norm;            /* norm of the first right-hand side of a cycle in a solve; 0: not known */
  double *residuals;
  struct TesiLaps *laps;           /* of the present solve; NULL: none */
  struct TesiSteadyDirect *direct; /* NULL: cycles */
  struct TesiSteadySchur *schur;   /* NULL: none */
  double resistance;               /* of the Laplacian: alpha, or beta of steady_mobility.h */
  int helped;                      /* the iteration before which a solve was helped; -1: looks are over */
  int applied;                     /* preconditioners of the solve under way */
  struct TesiSteadyMass *mass;     /* NULL: direct */
  struct TesiColumns *columns;     /* of the method; NULL: it takes vectors one by one */
  TesVector *edges;                /* NULL: all 1 */
  int motions;                     /* rigid motions that nothing holds */
  TesVector *motion[6];            /* orthonormal */
  char motion_text[400];           /* in words */
} TesiSteady;

/* Pressures P of open boundaries (split_openings.c). */
typedef struct TesiOpenings {
  TesVector *given, *nodes; /* P at their nodes, NULL: 0; 1 at their nodes, NULL: not needed yet */
  double rise;              /* of their mean P in the present step */
} TesiOpenings;

/* Scratch: velocities, then pressures. Of a steady flow x is u_D, the values on boundaries, throughout a solve. */
typedef struct TesiSplitWork {
  TesVector *b, *r, *x, *d, *z, *q, *s;
  TesVector *pb, *pr, *pd, *pz, *pq, *pn, *ps;
} TesiSplitWork;

/* Means of pressures. */
typedef struct TesiPressureMean {
  TesVector *ones, *weights; /* a pressure of 1; weights of its integral; NULL: no mean is needed */
  double volume;
} TesiPressureMean;

typedef struct TesiSplit {
  TesiGradDiv grad_div;
  double nu;
  TesiDrive drive;
  TesSpace *full;     /* velocities without given values */
  TesSpace *velocity; /* the problem's velocities: part 0 of its space */
  TesiTaylorHood *taylor_hood;
  TesiWalls walls;
  TesiTaylorHoodFaces open, closed;
  bool defect_told; /* the user has been warned of a small net flux of the boundary values */
  bool warned_of_cells;
  TesProblem *poisson; /* problem for phi; of steady flows NULL if alpha is 0 */
  /* mass; sigma M + nu K over the unknowns, and over all nodes; mass of the pressure */
  TesOperator *mass, *op, *whole, *pressure_mass;
  double sigma;
  TesiDiagonal diagonal, pressure_diagonal; /* of op, of pressure_mass */
  TesVector u, p;                           /* parts of the problem's solution */
  TesiSplitState state;
  TesVector *balance; /* residual of the momentum equation, for forces; NULL: no forces are needed */
  bool is_balanced;   /* balance belongs to the present state */
  TesiSpeeds speed;
  TesiGuesses guess;
  TesiSplitLoad load;
  TesiSteady steady;
  TesiOpenings openings;
  struct TesiExplicitFlow *explicit_flow; /* the steps of element iso; most members above are NULL then */
  TesiSplitWork work;
  TesiLastSystem last;
  TesiPressureMean mean;
} TesiSplit;

static inline TesiSplit *tesi_split_of(const TesProblem *problem) {
  return problem->own;
}

extern const TesiOwn tesi_split_own, tesi_steady_own, tesi_explicit_own;
extern const struct TesiForces tesi_split_forces;
extern const struct TesiAdjointOf tesi_steady_adjoint;
extern const TesiScheme tesi_split_scheme;
/* Element iso: to be called after the problem's time and the flow's u, p and q were replaced. */
TesStatus tesi_explicit_resume(TesProblem *problem);
/* r <- M u_t + N(u) + nu K u - B' p - F over all nodes, u_t by the last step; 0 at the start. */
TesStatus tesi_explicit_residual(const TesProblem *problem, TesVector *r);
/* |u| in L2, and the L2 norm of the change of u in the last step. */
TesStatus tesi_explicit_change(const TesProblem *problem, double *size, double *change);

/* ---- given values (split_walls.c) ---- */

/* Changes the problem's numbers by the normals of its boundaries. Slip along axes becomes given components and
 * fluxes; open components become fluxes if the boundary has no normal along any of them. Slip on curved faces makes
 * the form symmetric. */
TesStatus tesi_walls_classify(TesProblem *problem, TesiWalls *walls);
/* Whether some velocity along a normal is free, which determines the constant of the pressure. */
bool tesi_wall_open(const TesProblem *problem, int boundary);
/* Finds the entries of given values, and the boundaries that may give each; the velocity space must exist. */
TesStatus tesi_walls_create(const TesProblem *problem, const TesSpace *velocity,
                            const TesiTaylorHood *taylor_hood, TesiWalls *walls);
void tesi_walls_free(TesContext *ctx, TesiWalls *walls);
/* walls->value <- the values of the problem's numbers at a time. */
TesStatus tesi_walls_update(const TesProblem *problem, double time, TesiWalls *walls);
/* walls->value <- directions of these values, at each node of the boundary whose value holds there; until the next
 * update. */
TesStatus tesi_walls_vary(const TesProblem *problem, const TesiGiven *direction, TesiWalls *walls);
/* u <- u with the given values, or zeros (values false), at the entries, and without components along normals of
 * slip. */
TesStatus tesi_walls_put(const TesiWalls *walls, bool values, TesVector *u);

/* mark[length] <- whether a node is on the boundary; *count <- the number of these nodes. */
TesStatus tesi_walls_mark(const TesiTaylorHood *taylor_hood, int boundary, uint8_t *mark, int64_t *count);

/* ---- solves (split_solve.c) ---- */

/* d <- an approximation of A^-1 r for velocities, with A of the step and its grad-div term. norm: |r|. r becomes the
 * residual. z, q and s are overwritten. */
TesStatus tesi_split_cg(TesiSplit *projection, double norm, double target, TesVector *r, TesVector *d);
/* Makes sigma M + nu K for a sigma. */
TesStatus tesi_split_use_sigma(TesProblem *problem, double sigma);
/* x <- the solution with the given values of b. On entry x is a guess; old: the previous solution. */
TesStatus tesi_split_velocity(TesProblem *problem, const TesVector *b, const TesVector *old, TesVector *x);
/* phi <- the solution for b = -(div u, psi), from the guess at a time for a step with this dt / a0. */
TesStatus tesi_split_potential(TesProblem *problem, double time, double scale, TesVector *b, TesVector *phi,
                               TesSolveResult *result);
/* b <- b minus its mean, if the constant of the pressure is undetermined. */
TesStatus tesi_split_balance(TesiSplit *projection, TesVector *b);
/* x <- an approximation of M^-1 b for pressures, |b - M x| <= tolerance |b|; guess: starts from x. b is overwritten. */
TesStatus tesi_split_project(TesProblem *problem, TesVector *b, double tolerance, bool guess, TesVector *x);
/* The same at a time for a step with this dt / a0, from the guess extrapolated from earlier solutions. */
TesStatus tesi_split_spread(TesProblem *problem, double time, double factor, TesVector *b, TesVector *x);
/* v: integrals of a function times the pressure's basis functions. v <- the integrals for the function minus its
 * mean. */
TesStatus tesi_split_spread_flux(TesProblem *problem, TesVector *v);
/* v <- v without its mean. */
TesStatus tesi_split_remove_mean(TesProblem *problem, TesVector *v);

/* ---- mean velocities (split_drive.c) ---- */

/* Takes mean velocities from the description; spaces and masses must exist. Refuses directions in which the domain is
 * not periodic. */
TesStatus tesi_drive_create(TesProblem *problem, const TesProblemDesc *desc);
void tesi_drive_free(TesiDrive *drive);
/* b <- b + int F v. */
TesStatus tesi_drive_load(const TesiSplit *projection, TesVector *b);
/* x <- x with the prescribed mean, by the present operator, and the force that causes it. */
TesStatus tesi_drive_keep(TesiSplit *projection, TesVector *x);

/* ---- the grad-div term (split_grad_div.c) ---- */

TesStatus tesi_grad_div_create(TesProblem *problem, const TesProblemDesc *desc);
void tesi_grad_div_free(TesiGradDiv *grad_div);
/* gamma <- gamma_K of a velocity. */
TesStatus tesi_grad_div_update(TesiSplit *projection, const TesVector *u);
/* y += factor times the grad-div term of x. unknowns: entries with given values are left out. Does nothing if there
 * is no term. */
TesStatus tesi_grad_div_add(TesiSplit *projection, double factor, bool unknowns, const TesVector *x,
                            TesVector *y);

/* ---- creation (split_create.c) ---- */

/* Spaces of velocities and pressures with their given values. */
TesStatus tesi_split_create_both(TesProblem *problem, TesiSplit *split, int degree, int pressure_degree);
/* Spaces, faces, vectors and masses. */
TesStatus tesi_split_create_spaces(TesProblem *problem, int degree);
/* Makes projection->poisson, with a coefficient a (NULL: 1); the walls must have been classified. penalty: phi on open
 * boundaries is held by a flux of this times phi; NULL: it is 0 there. */
TesStatus tesi_split_create_poisson(TesProblem *problem, const TesFunction *a, const TesFunction *penalty);
void tesi_split_destroy(TesProblem *problem);
/* Means in time of velocity and pressure, if the description has them. */
TesStatus tesi_split_follow(TesProblem *problem, const TesProblemDesc *desc);
/* The solution at the start, from the initial functions, and the length of the first step. */
TesStatus tesi_split_begin(TesProblem *problem);
/* Keeps two data of the description in the flow: mean velocities and the grad-div term. */
void tesi_split_describe(const TesProblem *problem, TesProblemDesc *desc);
/* TesiOwn.solved: the problem for phi; TesiOwn.reaction. */
const TesProblem *tesi_split_solved(const TesProblem *problem);
double tesi_split_reaction(const TesProblem *problem);

/* ---- divergence (split_divergence.c) ---- */

/* u <- u - D^-1 B' s at the entries without given values, with D the row-sum mass of the velocities and B the
 * divergence. Then (div u, psi) = - (grad phi, grad psi) for all pressures psi that are 0 on open boundaries, to 1e-4
 * of the divergence to be removed. Means of u stay if no values are given. s: on entry a guess. *removed <- the L2
 * norm of the change of div u. The problem must be at the time of u. */
TesStatus tesi_split_remove_divergence(TesProblem *problem, const TesVector *phi, TesVector *s, TesVector *u,
                                       double *removed);

/* TesiOwn.settle (split_settle.c). */
TesStatus tesi_split_settle(const TesProblem *from, TesProblem *problem, double *removed);

/* ---- steps (split.c) ---- */

/* The length of the first step, and the number of steps; finds which loads depend on time. */
TesStatus tesi_split_begin_steps(TesProblem *problem);
/* Makes carried[0] and rate of the solution. */
TesStatus tesi_split_carry(TesProblem *problem);
/* b <- int f v + stress on open boundaries, by the problem's numbers. */
TesStatus tesi_split_load(TesProblem *problem, TesVector *b);
/* Whether pressures or stresses of open boundaries may depend on time. */
bool tesi_split_openings_timed(const TesProblem *problem);
/* work.pn <- the phi that changes the pressure of open boundaries to the P of the problem's numbers, with the factor
 * dt / a0 of the step. */
TesStatus tesi_split_change_pressure(TesProblem *problem, double factor);
/* A pressure of the start has any level and any values at open boundaries, and would push the fluid through them. A
 * harmonic function is added, so that p = P there. */
TesStatus tesi_split_begin_openings(TesProblem *problem);
/* openings.rise of a step to the time of the problem's numbers. */
TesStatus tesi_split_find_rise(TesProblem *problem);
/* Finds the faces of open and closed boundaries, from spaces and walls. */
TesStatus tesi_split_create_faces(TesProblem *problem, TesiSplit *projection);
/* v <- functions at a time, by component; NULL: 0. */
TesStatus tesi_split_interpolate(const TesSpace *space, const TesFunction *const *f, double time,
                                 TesVector *v);
/* Refuses flow that enters through closed boundaries and does not leave. */
TesStatus tesi_split_check_flux(TesProblem *problem);
/* Force of the fluid on a boundary: minus the residual of the momentum equation at its nodes. */
TesStatus tesi_split_force(const TesProblem *problem, int boundary, int direction, double *force);
/* The viscous stress (sigma n)_direction as an expression, with `nu` in the place of the viscosity. TESI_STRESS_TEXT
 * characters. */
void tesi_split_write_viscous(const TesProblem *problem, int direction, const char *nu, char *text);
/* The coefficients of a step dt after the known steps. */
TesiFormula tesi_split_formula(const TesiSplit *projection, double dt);

#endif
