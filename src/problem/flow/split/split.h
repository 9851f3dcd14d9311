/* Navier-Stokes in time by pressure correction, with velocities of Q_k and pressures of Q_(k-1) on meshes of any kind:
 *
 *   (a0 u - a1 u^n + a2 u^(n-1)) / dt - nu Lap u + grad p* + e0 N(u^n) - e1 N(u^(n-1)) = f(t_(n+1)),  u = g
 *   (grad phi, grad psi) = -(div u, psi)
 *   p^(n+1) = p^n + a0 / dt phi - nu P div u
 *
 * BDF2, convection N(u) = (u . grad u, v) extrapolated, rotational incremental pressure correction (Guermond and Shen
 * 2004; adaptive-multigrid-liebchen as recommended). phi is that of the gradient which makes u - grad phi free of
 * divergence, so that histories do not know which step made them:
 *
 *   p* = p^n + (a1 phi^n - a2 phi^(n-1)) / dt
 *
 * With w = dt / (the step before): a0 = (1 + 2 w) / (1 + w), a1 = 1 + w, a2 = w^2 / (1 + w), e0 = 1 + w, e1 = w. The
 * first step is four of a quarter by BDF1 (1, 1, 0, 1, 0), after which u^0 and u^1 are a step apart.
 *
 * Velocities are solved for by conjugate gradients with the diagonal; phi by the multigrid of a Poisson problem with
 * phi = 0 on open boundaries, from values extrapolated in time. On open boundaries nu du/dn - p n = g - P n +
 * 1/2 min(u.n, 0) u. Where a pressure P changes there, phi takes its change.
 *
 * Vectors of velocities hold all components behind each other, boundary values included. On devices with kernels they
 * stay there. On the host: boundary values, stresses and pressures of open ends, sent where they change in time;
 * inverse diagonals, when the step's length changes; forces on boundaries, when they are asked for. Else sums and
 * maxima alone come to the host. */
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
  int64_t *slot;  /* [dim][count] place in TesiWalls.entry, -1: this component is free */
  double *x;      /* [3][count] */
  double *normal; /* the same; NULL: no value asks for it */
} TesiWallNodes;

/* Given values of the velocity. Where boundaries meet the value of the largest priority holds, and among these that of
 * the smallest Euclidean length: walls at rest win over a lid. */
typedef struct TesiWalls {
  int boundaries;
  TesiWallNodes *wall;
  const TesSpace *space; /* of the velocity, for its slip; the problem's */
  int64_t count;
  int64_t *entry; /* [count] entries of velocity vectors */
  double *value;  /* [count] at the time */
  double *length; /* [count] scratch */
  int *priority;  /* the same */
  double at;      /* the time of the values; NaN: none */
  bool timed, any_open;
  TesiKernel put; /* with kernels; then entries and values on the device too */
  void *device_entry, *device_value;
} TesiWalls;

/* A step's numbers, as above. */
typedef struct TesiFormula {
  double dt, a0, a1, a2, e0, e1;
} TesiFormula;

/* A uniform force a direction, which keeps the mean velocity there (split_drive.c). */
typedef struct TesiDrive {
  unsigned components;                         /* bit c: direction c has one */
  double mean[3], force[3], before[3], volume; /* before: force of the last state */
  double sigma, gain[3];                       /* of the responses */
  TesVector *weights, *response[3];            /* velocities; NULL: not needed */
} TesiDrive;

/* gamma_K (div u, div v)_K (split_grad_div.c); NULL: there is no such term. */
typedef struct TesiGradDiv {
  TesVector *gamma; /* [cells], of the step */
  TesVector *term;  /* scratch, a velocity */
} TesiGradDiv;

/* A pressure of old times, over dt / a0 of each, from which the next one is extrapolated. */
typedef struct TesiPast {
  TesVector *value[TESI_SPLIT_GUESSES];
  double at[TESI_SPLIT_GUESSES];
  int count;
} TesiPast;

/* What is kept of solutions, as guesses. */
typedef struct TesiGuesses {
  TesiPast phi;
  TesiPast spread; /* of P div u; where runs are to be the same bit for bit after restarts there is none */
  int kept;        /* of either, at most */
} TesiGuesses;

/* How conjugate gradients with an operator precondition. */
typedef struct TesiDiagonal {
  TesVector *inverse;
  struct TesiJacobiDevice *jacobi; /* with kernels */
  TesiRefined refined;             /* none: in float64 alone */
} TesiDiagonal;

/* What the next steps depend on beside the solution: old velocities u(t - dt_1), u(t - dt_1 - dt_2), N(u) of now and
 * before, phi of now and before. */
typedef struct TesiSplitState {
  TesVector *old[TESI_SPLIT_OLD], *carried[2], *phi[2];
  double step[TESI_SPLIT_OLD]; /* dt_1, dt_2 */
  int known;                   /* old velocities that are there */
  bool starts;                 /* the step under way is the first one */
  bool is_carried;             /* carried[0] is that of u */
} TesiSplitState;

/* The system of the step before: A u = b. */
typedef struct TesiLastSystem {
  TesVector *b;
  double sigma;  /* of the operator A that stands behind u; NaN: that does not hold */
  bool is_under; /* A is that of the step under way */
} TesiLastSystem;

/* Cells that velocities cross a unit of time. */
typedef struct TesiSpeeds {
  double rate;    /* of now */
  double largest; /* so far */
  double most;    /* velocity; NaN: not known */
} TesiSpeeds;

typedef struct TesiSplitLoad {
  TesVector *constant; /* F where it is the same at all times; NULL: not, or not known */
  bool is_zero;        /* the constant one */
  bool timed;
  struct TesiLoadPlan *plan[TESI_AXES]; /* of forces that change in time, with kernels */
  void *clock;                          /* of the plans; NULL: none were asked for */
} TesiSplitLoad;

/* Of steady flows. */
typedef struct TesiSteady {
  double alpha, unit;           /* unit: of the pressure (pressure_unit.h) */
  TesVector *cycle_b, *cycle_x; /* of the cycle's precision */
  double cycle_norm;            /* of a solve's first right-hand side of a cycle; 0: not known */
  double *residuals;
  struct TesiLaps *laps;           /* of the solve under way, NULL: none */
  struct TesiSteadyDirect *direct; /* NULL: cycles */
  struct TesiSteadySchur *schur;   /* NULL: none */
  struct TesiSteadyMass *mass;     /* NULL: direct */
  struct TesiColumns *columns;     /* of the method; NULL: vector by vector */
  TesVector *edges;                /* NULL: all 1 */
  int motions;                     /* rigid motions that nothing holds */
  TesVector *motion[6];            /* orthonormal */
  char motion_text[400];           /* in words */
} TesiSteady;

/* Scratch: velocities, then pressures. */
typedef struct TesiSplitWork {
  TesVector *b, *r, *x, *d, *z, *q, *s;
  TesVector *pb, *pr, *pd, *pz, *pq, *pn, *ps;
} TesiSplitWork;

/* Means of pressures. */
typedef struct TesiPressureMean {
  TesVector *ones, *weights; /* a pressure of 1, and what integrates a pressure; NULL: no mean was asked for */
  double volume;
} TesiPressureMean;

typedef struct TesiSplit {
  TesiGradDiv grad_div;
  double nu;
  TesiDrive drive;
  TesSpace *full;     /* velocities without given values */
  TesSpace *velocity; /* those of the problem; its part 0 */
  TesiTaylorHood *taylor_hood;
  TesiWalls walls;
  TesiTaylorHoodFaces open, closed;
  bool defect_told; /* the user is warned of a small net flux of the boundary values */
  bool warned_of_cells;
  TesProblem *poisson; /* of phi; of steady flows NULL where alpha is 0 */
  /* mass, and sigma M + nu K over the unknowns and over all nodes; the pressure's mass */
  TesOperator *mass, *op, *whole, *pressure_mass;
  double sigma;
  TesiDiagonal diagonal, pressure_diagonal; /* of op, of pressure_mass */
  TesVector u, p;                           /* parts of the problem's solution */
  TesiSplitState state;
  TesVector *balance; /* residual of the momentum equation, from which forces are; NULL: none asked for */
  bool is_balanced;   /* balance is that of the state */
  TesiSpeeds speed;
  TesiGuesses guess;
  TesiSplitLoad load;
  TesiSteady steady;
  TesVector *given_pressure;              /* P at nodes of open boundaries; NULL: 0 */
  struct TesiExplicitFlow *explicit_flow; /* of element iso, whose steps it makes; most of the above is NULL then */
  TesiSplitWork work;
  TesiLastSystem last;
  TesiPressureMean mean;
} TesiSplit;

static inline TesiSplit *tesi_split_of(const TesProblem *problem) {
  return problem->own;
}

extern const TesiOwn tesi_split_own, tesi_steady_own, tesi_explicit_own;
extern const TesiScheme tesi_split_scheme;
/* Of element iso: the problem's time and the flow's u, p and q are others now. */
TesStatus tesi_explicit_resume(TesProblem *problem);
/* r <- M u_t + N(u) + nu K u - B' p - F over all nodes, u_t by the last step; 0 at the start. */
TesStatus tesi_explicit_residual(const TesProblem *problem, TesVector *r);
/* |u| in L2, and that of what the last step changed. */
TesStatus tesi_explicit_change(const TesProblem *problem, double *size, double *change);

/* ---- given values (split_walls.c) ---- */

/* What the problem's numbers say by what normals the boundaries have: slip along axes becomes given components and
 * fluxes, and a free component that no normal has a flux. Curved faces with slip make the form symmetric. */
TesStatus tesi_walls_classify(TesProblem *problem, const TesiTaylorHood *taylor_hood, TesiWalls *walls);
/* Whether a velocity along the normals is free: the pressure is determined there. */
bool tesi_wall_open(const TesProblem *problem, int boundary);
/* Entries and candidates; the velocity space stands. */
TesStatus tesi_walls_create(const TesProblem *problem, const TesSpace *velocity,
                            const TesiTaylorHood *taylor_hood, TesiWalls *walls);
void tesi_walls_free(TesContext *ctx, TesiWalls *walls);
/* walls->value <- those of the problem's numbers at a time. */
TesStatus tesi_walls_update(const TesProblem *problem, double time, TesiWalls *walls);
/* u <- u with the values, or zeros (values false), at the entries, and without parts along normals of slip. */
TesStatus tesi_walls_put(const TesiWalls *walls, bool values, TesVector *u);

/* mark[length] <- whether a node is one of the boundary; *count <- how many are. */
TesStatus tesi_walls_mark(const TesiTaylorHood *taylor_hood, int boundary, uint8_t *mark, int64_t *count);

/* ---- solves (split_solve.c) ---- */

/* d <- about A^-1 r for velocities, A that of the step with its grad-div term; norm: |r|; r becomes the residual. z, q
 * and s are written over. */
TesStatus tesi_split_cg(TesiSplit *projection, double norm, double target, TesVector *r, TesVector *d);
/* sigma M + nu K for a sigma. */
TesStatus tesi_split_use_sigma(TesProblem *problem, double sigma);
/* x <- the solution with the given values of b; x: a guess, old: the solution before. */
TesStatus tesi_split_velocity(TesProblem *problem, const TesVector *b, const TesVector *old, TesVector *x);
/* phi <- that of b = -(div u, psi), from the guess at a time for a step dt / a0. */
TesStatus tesi_split_potential(TesProblem *problem, double time, double scale, TesVector *b, TesVector *phi,
                               TesSolveResult *result);
/* b <- b of mean zero where the pressure is undetermined. */
TesStatus tesi_split_balance(TesiSplit *projection, TesVector *b);
/* x <- about M^-1 b for pressures, |b - M x| <= tolerance |b|; guess: from x. b is lost. */
TesStatus tesi_split_project(TesProblem *problem, TesVector *b, double tolerance, bool guess, TesVector *x);
/* The same at a time for a step dt / a0, from the guess that the solutions before extrapolate to. */
TesStatus tesi_split_spread(TesProblem *problem, double time, double factor, TesVector *b, TesVector *x);
/* v, integrals of a function times those of the pressure, <- the same of the function less its mean. */
TesStatus tesi_split_spread_flux(TesProblem *problem, TesVector *v);
/* v <- v without its mean. */
TesStatus tesi_split_remove_mean(TesProblem *problem, TesVector *v);

/* ---- mean velocities (split_drive.c) ---- */

/* Of the description, after spaces and masses. Refuses directions in which the domain is not periodic. */
TesStatus tesi_drive_create(TesProblem *problem, const TesProblemDesc *desc);
void tesi_drive_free(TesiDrive *drive);
/* b <- b + int F v. */
TesStatus tesi_drive_load(const TesiSplit *projection, TesVector *b);
/* x <- x with the mean that is to be, of the operator that stands, and the force that makes it. */
TesStatus tesi_drive_keep(TesiSplit *projection, TesVector *x);

/* ---- the grad-div term (split_grad_div.c) ---- */

TesStatus tesi_grad_div_create(TesProblem *problem, const TesProblemDesc *desc);
void tesi_grad_div_free(TesiGradDiv *grad_div);
/* gamma <- that of a velocity. */
TesStatus tesi_grad_div_update(TesiSplit *projection, const TesVector *u);
/* y += factor times the term of x; unknowns: not at entries with given values. Nothing where there is none. */
TesStatus tesi_grad_div_add(TesiSplit *projection, double factor, bool unknowns, const TesVector *x,
                            TesVector *y);

/* ---- creation (split_create.c) ---- */

/* Spaces of velocities and pressures, and what is given of them. */
TesStatus tesi_split_create_both(TesProblem *problem, TesiSplit *split, int degree, int pressure_degree);
/* Spaces, faces, vectors and masses. */
TesStatus tesi_split_create_spaces(TesProblem *problem, int degree);
/* projection->poisson; the walls are classified. */
TesStatus tesi_split_create_poisson(TesProblem *problem);
void tesi_split_destroy(TesProblem *problem);
/* Means in time of velocity and pressure, where they are asked for. */
TesStatus tesi_split_follow(TesProblem *problem, const TesProblemDesc *desc);
/* The solution at the start, of the initial functions, and the length of the first step. */
TesStatus tesi_split_begin(TesProblem *problem);
/* What of a description is kept in the flow: mean velocities and the grad-div term. */
void tesi_split_describe(const TesProblem *problem, TesProblemDesc *desc);
/* TesiOwn.solved: of phi; TesiOwn.reaction. */
const TesProblem *tesi_split_solved(const TesProblem *problem);
double tesi_split_reaction(const TesProblem *problem);

/* ---- divergence (split_divergence.c) ---- */

/* u <- u - D^-1 B' s, at the entries without given values, so that (div u, psi) = - (grad phi, grad psi) for all
 * pressures psi that are 0 on open boundaries, to 1e-4 of what is to be removed; D the mass of the velocities by row
 * sums, B the divergence. Means of u are those before where nothing is given. s: a guess before, s after. *removed <-
 * the L2 norm of what is taken from div u. The problem is at the time of u. */
TesStatus tesi_split_remove_divergence(TesProblem *problem, const TesVector *phi, TesVector *s, TesVector *u,
                                       double *removed);

/* TesiOwn.settle (split_settle.c). */
TesStatus tesi_split_settle(const TesProblem *from, TesProblem *problem, double *removed);

/* ---- steps (split.c) ---- */

/* The length of the first step, and how many there are; what of the load depends on time. */
TesStatus tesi_split_begin_steps(TesProblem *problem);
/* carried[0] and rate of the solution. */
TesStatus tesi_split_carry(TesProblem *problem);
/* b <- int f v + stress of open boundaries, of the problem's numbers. */
TesStatus tesi_split_load(TesProblem *problem, TesVector *b);
/* Where pressures are given: pn <- phi for the change to the numbers' P, `factor` dt / a0; NULL: the solution's own
 * pressure <- P there. */
TesStatus tesi_split_give_pressure(TesProblem *problem, const double *factor);
/* Faces of open and closed boundaries, from spaces and walls. */
TesStatus tesi_split_create_faces(TesProblem *problem, TesiSplit *projection);
/* v <- functions of a time, by component; NULL: 0. */
TesStatus tesi_split_interpolate(const TesSpace *space, const TesFunction *const *f, double time,
                                 TesVector *v);
/* Refuses what flows in through closed boundaries and not out. */
TesStatus tesi_split_check_flux(TesProblem *problem);
/* Force of the fluid on a boundary: - the residual of the momentum equation there. */
TesStatus tesi_split_force(const TesProblem *problem, int boundary, int direction, double *force);
/* The formula of a step dt after those that are known. */
TesiFormula tesi_split_formula(const TesiSplit *projection, double dt);

#endif
