/** \file adapt.h
 *  Adaptive solution: the loop solves, estimates the error of each cell, marks cells, refines them, moves the solution
 *  to the new mesh and solves again.
 *
 *  Residual estimator (for the energy norm; Kelly-type jumps with the residual inside; Verfuerth: A Posteriori
 *  Error Estimation Techniques, section 1.4; degrees as Melenk, Wohlmuth: Adv. Comput. Math. 15, 2001):
 *      eta_K^2 = s { h_K^2 / (k^2 a) |f + div(a grad u) - c u|_K^2 + sum over faces h_F / (k a) [1/2 inside]
 *      |j|_F^2 },   s = 1/8,
 *      j = [a du/dn] inside, g - alpha u - a du/dn on Neumann and Robin boundaries, 0 on Dirichlet boundaries;
 *  h: diameter by volume. Hanging faces count from their fine side, where both gradients are smooth. For elasticity the
 *  residual is f + div sigma, sigma n replaces a du/dn, and mu replaces a, component by component. The norm is the
 *  energy norm of the error, (int sigma(e) : eps(e))^1/2.
 *
 *  With a velocity, and in time, the same residual estimates the error in the L2 norm:
 *      eta_K^2 = tau_K^2 { |r|_K^2 + sum over faces h_F k / h_K^2 [1/2 inside] |j|_F^2 },
 *      r = f + div(a grad u) - b . grad u - c u - u_t,   tau_K = h_K / (k |b| + 2 k^2 a / h_K),
 *  where |b| is the largest velocity in the cell and u_t is the derivative of the polynomial through the last three
 *  solutions. The conservative form has div(b u). A boundary with a given flux has j = g - a du/dn + (b.n) u.
 *
 *  Flows with continuous elements have dim components. The estimate takes the residual of momentum and |div u|:
 *      r = f - u_t - (u . grad) u + nu div(grad u) - grad p,
 *      j = [nu du/dn] inside, g - P n + 1/2 min(u.n, 0) u - nu du/dn + p n where the boundary is open,
 *  In time the formula is the L2 estimate above with |u| in the place of |b|, plus h_K^2 / k^2 |div u|_K^2. For steady
 *  Stokes flow it is the estimate of the energy norm, without the terms of time, plus nu |div u|_K^2; the norm is (nu
 *  |grad e_u|^2 + |e_p|^2 / nu)^1/2.
 *
 *  Dual-weighted residuals (Becker, Rannacher: Acta Numerica 10, 2001) for a goal J(u): the dual solution z of
 *  degree k + 1 weighs the residual,
 *      eta_K = (f + div(a grad u) - c u, w)_K - sum over faces ([1/2 inside] j', w)_F,   w = z - I_k z,
 *  and the sum over cells is the estimate of J(exact) - J(u), with its sign. It does not see errors of boundary
 *  values that the elements cannot represent. The sum passes through zero where parts of the error cancel by chance.
 *  The sum of the absolute indicators does not; it is `upper`, by which the loop ends. The dual problem has the
 *  opposite velocity, and the conservative form and the other form change places. Streamline terms give eta_K the
 *  further term - tau (r, b . grad I_k z)_K. Where z has layers that are thinner than the cells (small a, boundaries
 *  with given values), the estimate is useless until the layers are refined. If the goal is a force, z has the value -1
 *  on the support and no load.
 */
#ifndef TESSERA_ADAPT_H
#define TESSERA_ADAPT_H

#include <stdbool.h>
#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TesEstimator { TES_ESTIMATE_RESIDUAL, TES_ESTIMATE_DWR } TesEstimator;
/** The goal J(u): u(point); the mean or the integral of u over the domain, a material or a boundary that is not
 *  Dirichlet; for elasticity also the force of a support on the body. */
typedef enum TesGoalKind { TES_GOAL_POINT, TES_GOAL_MEAN, TES_GOAL_INTEGRAL, TES_GOAL_FORCE } TesGoalKind;
typedef struct TesGoal {
  TesGoalKind kind;
  double point[3];
  const char *where; /**< a boundary, else a material; NULL or "domain": the domain. Force: a boundary with values */
  /** Elasticity: the component u (NULL), v or w; of a force x (NULL), y or z. The value at a point may also be an
   *  expression that is linear in the solution and its derivatives, such as ux or sxx. It is then the mean over the
   *  cells that have the point. */
  const char *of;
} TesGoal;

/** Bulk: the fewest cells whose squared indicators (residual) or absolute ones (DWR) make up `fraction` of all
 *  (Doerfler 1996). Fraction: that part of the cells, largest indicators first. */
typedef enum TesMarking { TES_MARK_BULK, TES_MARK_FRACTION } TesMarking;

/** eta2[cells] of the residual estimator for the solution of a problem on a mesh with trees: of poisson, transport,
 *  elasticity at rest, or a flow with element q. */
TesStatus tes_estimate_residual(const TesProblem *problem, double *eta2);
/** Estimates of the L2 errors of velocity and pressure, and the L2 norms of both, to compare the errors with. The norm
 *  of the pressure is taken without its mean. */
typedef struct TesFlowEstimate {
  double velocity, pressure, velocity_norm, pressure_norm; /**< NaN: none is known */
  /** The estimate of the velocity without the twentieth of the cells that has the largest indicators. For flows with
   *  singular corners, as under a lid, it is the error in the rest of the mesh. */
  double velocity_rest;
} TesFlowEstimate;
/** For a flow with element q on a mesh of any kind, steady or in time. The velocity's squared estimate is the sum of
 *  eta_K^2 of the formula in time above, without its terms in u for steady Stokes flow. The pressure's squared estimate
 *  is the
 *      sum of h_K^2 / (8 k^2) |r|_K^2 + h_F / (8 k) |j|_F^2 + nu^2 |div u|_K^2,
 *  since pressures balance residuals. In smooth flows both have the order of the errors and are mostly a few times
 *  larger. Cost: one pass over cells and faces on the host. */
TesStatus tes_estimate_flow(const TesProblem *problem, TesFlowEstimate *estimate);
/** eta[cells] <- the signed indicators of dual-weighted residuals of a steady problem. The dual problem has a degree
 *  higher by one, at most 8, and is solved to 1e-6. Errors: TES_INVALID_INPUT (a point outside; an unknown boundary,
 *  material or component; a mean where values are given, a force where none are given). */
TesStatus tes_estimate_dwr(const TesProblem *problem, const TesGoal *goal, double *eta);
/** mark[cells] <- 1 for the cells to be refined, 0 otherwise; returns how many. indicators are not negative.
 *  Cells whose indicators differ by less than a millionth are marked together: the mesh of symmetric data stays
 *  symmetric, and rounding does not choose. All ranks call it, each with its own cells; it returns how many of its own
 *  cells are marked. */
int64_t tes_mark_cells(TesContext *context, TesMarking marking, double fraction, int64_t cells,
                       const double *indicator, int8_t *mark);
/** One step of the loop; pointers are valid during the call. */
typedef struct TesAdaptStep {
  int step; /**< from 0 */
  int64_t cells, dofs, hanging;
  int iterations;
  double estimate; /**< estimate of the error in the energy norm, or of J(exact) - J(u) */
  /** the number that is compared with the tolerance: the estimate in the energy norm, or sum |eta_K| >= |estimate| */
  double upper;
  double goal;        /**< J(u); NaN without goal */
  double error;       /**< true error in the energy norm or in J; NaN without an exact solution */
  double effectivity; /**< estimate / error */
  double error_l2, error_h1;
  double setup_seconds, solve_seconds,
      estimate_seconds; /**< set-up includes the refinement that made the mesh */
  TesSolveResult result;
  const TesMesh *mesh;
  const TesProblem *problem;
  const double *indicator; /**< [cells]: eta_K, not negative */
} TesAdaptStep;

typedef struct TesAdaptDesc {
  TesEstimator estimator;
  TesGoal goal; /**< DWR */
  TesMarking marking;
  double fraction;  /**< 0 means 0.5 (bulk), 0.2 (fraction) */
  int steps;        /**< largest number of solves; 0 means 10 */
  double tolerance; /**< the loop ends when `upper` is not above it; 0: never */
  int64_t max_dofs; /**< the loop ends before a mesh with more unknowns; 0: no limit */
  /** In time: the error is estimated every so many steps; 0: each time that the flow has crossed two cells. */
  int every;
  int max_level;        /**< in time: refinements above the first mesh; 0: no limit but max_dofs */
  const TesMesh *first; /**< in time: no cell becomes coarser than in this mesh; NULL: the problem's own mesh */
  /** Called after each step; anything but TES_OK ends the loop with that status. May be NULL. */
  TesStatus (*report)(void *user, const TesAdaptStep *step);
  void *report_user;
  /** *keep <- the problem of the last step with its solution, also after a loop that failed on the way; the caller
   *  destroys it. *keep is NULL if there is no such problem. NULL: the loop destroys the problem. */
  TesProblem **keep;
} TesAdaptDesc;

/** Runs the loop from the problem's initial guess and mesh, which is of kind forest. Whatever is returned, `last` (may
 *  be NULL) is filled with the last complete step, except its pointers. Errors: the errors of estimate, solve and
 *  refinement (a solve may not converge); TES_ABOVE_TOLERANCE if `upper` is still above the given tolerance when
 *  `steps` or `max_dofs` ends the loop; TES_OUT_OF_MEMORY before the set-up on a mesh for which the host or the device
 *  has no room, predicted from the memory of the last step; TES_INVALID_INPUT for a first mesh beyond
 *  max_dofs. */
TesStatus tes_adapt_run(TesContext *context, const TesProblemDesc *problem, const TesAdaptDesc *desc,
                        TesAdaptStep *last);

/** Refuses all that tes_adapt_run() refuses before it solves, by making the first problem. Errors: as of
 *  tes_adapt_run(). */
TesStatus tes_adapt_check(TesContext *context, const TesProblemDesc *problem, const TesAdaptDesc *desc);

/** What tes_problem_remesh() has done. */
typedef struct TesRemesh {
  bool looked;         /**< it was time to estimate the error */
  bool changed;        /**< the problem has another mesh */
  int64_t cells, dofs; /**< of the problem's mesh after the call */
  double estimate;     /**< sqrt of the sum of all indicators, on the old mesh; NaN: not computed */
  double seconds;      /**< of the whole call */
  double estimate_seconds, setup_seconds,
      move_seconds;          /**< indicators; spaces, operators, levels; projections */
  double divergence_removed; /**< flows: L2 norm of the correction of div u; NaN: no correction */
} TesRemesh;

/** Fits the mesh of a problem in time to the solution, if it is time to do so. Called between two steps, and before the
 *  first step.
 *
 *  desc->marking and desc->fraction choose by the estimate the cells to be refined; one layer of cells around them is
 *  refined too. If the estimate is not above desc->tolerance, no cell is refined. A family that is not refined is
 *  coarsened if the sum of its squared indicators is below 5 % of the mean over all families. A cell changes by one
 *  level at most. Before the first step the indicator is the L2 error of the interpolated initial function; there are
 *  up to desc->max_level rounds (10 if it is not given), and each interpolates the initial function again. If the new
 *  mesh would have more than desc->max_dofs unknowns, the fraction is halved until it has not; in the end nothing is
 *  refined.
 *
 *  The solution and the old values of the method go to the new mesh by L2 projection over all nodes, exact where
 *  cells are refined; so int u changes by round-off. Conjugate gradients solve to 1e-10, and a constant corrects the
 *  error of the mean. Older values, which are used for initial guesses only, are interpolated. The next steps need no
 *  restart of the method. For elasticity u_t and u_tt are projected too.
 *
 *  Velocities of flows (navier_stokes with element q) keep their boundary values, and the divergence that the
 *  projection has added is removed: u -= D^-1 B' s with B D^-1 B' s = B u + K phi, where D is the mass lumped by row
 *  sums, B the divergence, and K phi the divergence that the scheme itself leaves. Without this correction the next
 *  pressure would jump by O(1/dt). The pressure is projected, and the last corrections phi are interpolated.
 *
 *  The problem stays the same object, but gets a new space and new operators, multigrid and solution; the old objects
 *  are destroyed. Cost: an estimate, the set-up of a problem, two or three solves with a mass matrix. The call reads
 *  the members every, max_level, first, marking, fraction, tolerance and max_dofs of the description.
 *  Errors: TES_INVALID_INPUT (an equation other than transport, elasticity and flows with element q; a steady problem;
 *  a mesh that is no forest; another first mesh; neither max_level nor max_dofs; neither a velocity nor `every`;
 *  dual-weighted residuals), and the errors of tes_problem_create(). After an error the problem is unchanged. */
TesStatus tes_problem_remesh(TesProblem *problem, const TesAdaptDesc *desc, TesRemesh *remesh);

#ifdef __cplusplus
}
#endif
#endif
