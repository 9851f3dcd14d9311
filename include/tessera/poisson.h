/** \file poisson.h
 *  The Poisson problem and its kin, from data to solution in three calls:
 *
 *      -div(a grad u) + c u = f                   in the box
 *      u = g  or  a du/dn = g  or  a du/dn + alpha u = g   on each face (n: outward normal)
 *
 *  discretised by continuous Q_k elements. The solution is written u = u_0 + u_D: u_D interpolates the Dirichlet values at
 *  boundary nodes and is zero inside; u_0 solves A u_0 = b - A u_D. When only Neumann faces are there and c = 0, u is unique up to a
 *  constant: the data must satisfy int f + int g = 0 (else TES_INVALID_INPUT tells by how much they miss it), and u gets mean zero
 *  (or the mean of the exact solution where that is given).
 */
#ifndef TESSERA_POISSON_H
#define TESSERA_POISSON_H

#include "solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesPoisson TesPoisson;

typedef enum TesCondition { TES_DIRICHLET, TES_NEUMANN, TES_ROBIN } TesCondition;

/** What holds on one face; zero is u = 0. */
typedef struct TesBoundary {
  TesCondition condition;
  const TesFunction *g;     /**< NULL: 0 */
  const TesFunction *alpha; /**< Robin only, not negative; NULL: 0 */
} TesBoundary;

/** Double: all in float64. Mixed (default): the cycle in float32 inside a float64 iteration. Single: the same, but only to float32
 *  accuracy: the tolerance is raised to 1e-6 at least. */
typedef enum TesSolvePrecision { TES_SOLVE_MIXED, TES_SOLVE_DOUBLE, TES_SOLVE_SINGLE } TesSolvePrecision;

typedef struct TesPoissonDesc {
  const TesMesh *mesh;
  int degree;                   /**< 0 means 4 */
  const TesFunction *a, *c, *f; /**< NULL: 1, 0, 1 */
  TesBoundary boundary[6];      /**< by TesFace */
  const TesFunction *exact;     /**< NULL: unknown */
  TesMethod method;             /**< auto: see tes_poisson_describe() */
  TesSmootherKind smoother;     /**< auto: see tes_poisson_describe() */
  TesLocalSolver local;         /**< of patch smoothers */
  TesSweep post_sweep;          /**< TES_BACKWARD: symmetric cycle */
  bool post_sweep_given;        /**< false: chosen with the method */
  int pre, post;                /**< smoothing steps; 0 means 1, -1 none */
  double tolerance;             /**< on the relative residual; 0 means 1e-9 */
  int max_iterations;           /**< 0 means 100 */
  TesSolvePrecision precision;
  void (*monitor)(void *user, int iteration, double residual);
  void *monitor_user;
} TesPoissonDesc;

/** Where set-up time went, in seconds. */
typedef struct TesPoissonTimes {
  double operators, right_hand_side, total;
} TesPoissonTimes;

/** Sets everything up: spaces, operators, multigrid, right-hand side. Functions and mesh are referenced as long as needed. */
TesStatus tes_poisson_create(TesContext *context, const TesPoissonDesc *desc, TesPoisson **poisson);
void tes_poisson_destroy(TesPoisson **poisson);
/** Solves; may be called again (it starts anew). Statuses as tes_solver_solve(); the last iterate is kept in any case. */
TesStatus tes_poisson_solve(TesPoisson *poisson, TesSolveResult *result);

/** The finest space, and the multigrid of the solver; owned by the problem. */
const TesSpace *tes_poisson_space(const TesPoisson *poisson);
const TesMultigrid *tes_poisson_multigrid(const TesPoisson *poisson);
/** The solution at all nodes, boundary values included; owned by the problem. */
const TesVector *tes_poisson_solution(const TesPoisson *poisson);
/** L2 norm and H1 seminorm of the error against `exact`; TES_INVALID_INPUT when there is none. */
TesStatus tes_poisson_errors(const TesPoisson *poisson, double *l2, double *h1);
TesPoissonTimes tes_poisson_times(const TesPoisson *poisson);
/** The tolerance in use, and the round-off floor of the relative residual below which it cannot be reached: about
 *  c_k eps n^2 for n cells a direction (c_k from 0.04 at degree 1 to 16 at degree 10; measured on cubes). */
double tes_poisson_tolerance(const TesPoisson *poisson);
double tes_poisson_floor(const TesPoisson *poisson);
/** What was chosen, a line each: operator, smoother, method, precision. */
typedef struct TesPoissonChoice {
  const char *op, *smoother, *method, *precision;
} TesPoissonChoice;
TesPoissonChoice tes_poisson_choice(const TesPoisson *poisson);

#ifdef __cplusplus
}
#endif
#endif
