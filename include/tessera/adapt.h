/** \file adapt.h
 *  Adaptive solution: solve, estimate the error of each cell, mark, refine, and again, the solution carried from
 *  mesh to mesh.
 *
 *  Residual estimator (for the energy norm; Kelly-type jumps with the residual inside; Verfuerth: A Posteriori
 *  Error Estimation Techniques, section 1.4; degrees as Melenk, Wohlmuth: Adv. Comput. Math. 15, 2001):
 *      eta_K^2 = s { h_K^2 / (k^2 a) |f + div(a grad u) - c u|_K^2 + sum over faces h_F / (k a) [1/2 inside]
 *      |j|_F^2 },   s = 1/8,
 *      j = [a du/dn] inside, g - alpha u - a du/dn on Neumann and Robin boundaries, 0 on Dirichlet boundaries;
 *  h: diameter by volume. Hanging faces count from their fine side, where both gradients are smooth. Elasticity has
 *  f + div sigma, sigma n for a du/dn and mu for a, component by component; the norm is that of the energy of the
 *  error, (int sigma(e) : eps(e))^1/2.
 *
 *  With a velocity, and in time, the same residual estimates the error in the L2 norm:
 *      eta_K^2 = tau_K^2 { |r|_K^2 + sum over faces h_F k / h_K^2 [1/2 inside] |j|_F^2 },
 *      r = f + div(a grad u) - b . grad u - c u - u_t,   tau_K = h_K / (k |b| + 2 k^2 a / h_K),
 *  |b| the largest one in the cell, u_t the derivative of the polynomial through the last three solutions; the
 *  conservative form has div(b u), and a boundary with a flux j = g - a du/dn + (b.n) u.
 *
 *  Flows with continuous elements have dim components and the residual of momentum, with |div u| beside it:
 *      r = f - u_t - (u . grad) u + nu div(grad u) - grad p,
 *      j = [nu du/dn] inside, g - P n + 1/2 min(u.n, 0) u - nu du/dn + p n where the boundary is open,
 *  in time as above with |u| for |b| and + h_K^2 / k^2 |div u|_K^2; steady Stokes flow without the terms of time in the
 *  energy norm, + nu |div u|_K^2, for (nu |grad e_u|^2 + |e_p|^2 / nu)^1/2.
 *
 *  Dual-weighted residuals (Becker, Rannacher: Acta Numerica 10, 2001) for a goal J(u): the dual solution z of
 *  degree k + 1 weighs the residual,
 *      eta_K = (f + div(a grad u) - c u, w)_K - sum over faces ([1/2 inside] j', w)_F,   w = z - I_k z,
 *  and the sum over cells is the estimate of J(exact) - J(u), with its sign. It does not see errors of boundary
 *  values that the elements cannot represent. The sum passes through zero where parts of the error cancel by chance.
 *  The sum of the absolute indicators does not; it is `upper`, by which the loop ends. A velocity turns round in the
 *  dual problem, and its two forms change places; with streamlines eta_K has - tau (r, b . grad I_k z)_K too, what
 *  these leave of the residual in I_k z. Where layers of z are thinner than cells, as with small a at boundaries
 *  with values, the estimate is none before they are refined. For a force z has the value -1 on the support and no
 *  load.
 */
#ifndef TESSERA_ADAPT_H
#define TESSERA_ADAPT_H

#include <stdbool.h>
#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TesEstimator { TES_ESTIMATE_RESIDUAL, TES_ESTIMATE_DWR } TesEstimator;
/** J(u) = u(point); the mean or the integral of u over the domain, a material or a boundary that is not Dirichlet; of
 *  elasticity the force of a support on the body. */
typedef enum TesGoalKind { TES_GOAL_POINT, TES_GOAL_MEAN, TES_GOAL_INTEGRAL, TES_GOAL_FORCE } TesGoalKind;
typedef struct TesGoal {
  TesGoalKind kind;
  double point[3];
  const char *where; /**< a boundary, else a material; NULL or "domain": the domain. Force: a boundary with values */
  /** Elasticity: the component u (NULL), v or w; of a force x (NULL), y or z. Of a point also an expression that is
   *  linear in the solution and its derivatives, as ux or sxx: then the mean over the cells that have the point. */
  const char *of;
} TesGoal;

/** Bulk: the fewest cells whose squared indicators (residual) or absolute ones (DWR) make up `fraction` of all
 *  (Doerfler 1996). Fraction: that part of the cells, largest indicators first. */
typedef enum TesMarking { TES_MARK_BULK, TES_MARK_FRACTION } TesMarking;

/** eta2[cells] of the residual estimator for the solution of a problem on a mesh with trees: of poisson, transport,
 *  elasticity at rest, or a flow with element q. */
TesStatus tes_estimate_residual(const TesProblem *problem, double *eta2);
/** What the residual says of a whole flow: estimates of the L2 norms of both errors, and the norms of the solution, so
 *  that they can be compared (the pressure's without its mean). */
typedef struct TesFlowEstimate {
  double velocity, pressure, velocity_norm, pressure_norm; /**< NaN: none is known */
  /** The velocity's without the twentieth of the cells with the largest indicators: of flows with singular corners, as
   *  under a lid, what the rest of the mesh leaves. */
  double velocity_rest;
} TesFlowEstimate;
/** Of a flow with element q on a mesh of any kind, steady or in time; others have none. The velocity's is the sum of
 *  eta_K^2 in time as above, without u for steady Stokes flow; the pressure's
 *      sum of h_K^2 / (8 k^2) |r|_K^2 + h_F / (8 k) |j|_F^2 + nu^2 |div u|_K^2,
 *  as pressures balance residuals. Both are of the order of the errors in smooth flows, and mostly some times larger.
 *  Cost: one pass over cells and faces on the host. */
TesStatus tes_estimate_flow(const TesProblem *problem, TesFlowEstimate *estimate);
/** eta[cells] of dual-weighted residuals, signed; steady problems. Solves the dual problem, degree + 1 <= 8, to 1e-6.
 *  Errors: TES_INVALID_INPUT (the point lies in no cell; no such boundary or material; values given where a mean is
 *  taken, or none where a force is; no such component). */
TesStatus tes_estimate_dwr(const TesProblem *problem, const TesGoal *goal, double *eta);
/** mark[cells] <- 1 for the cells to be refined, 0 otherwise; returns how many. indicators are not negative.
 *  Cells whose indicators differ by less than a millionth are marked together: the mesh of symmetric data stays
 *  symmetric, and rounding does not choose. All ranks call it, each with its own cells; it tells how many of these. */
int64_t tes_mark_cells(TesContext *context, TesMarking marking, double fraction, int64_t cells,
                       const double *indicator, int8_t *mark);
/** One step of the loop; pointers are valid during the call. */
typedef struct TesAdaptStep {
  int step; /**< from 0 */
  int64_t cells, dofs, hanging;
  int iterations;
  double estimate; /**< of the energy norm, or of J(exact) - J(u) */
  /** the figure that a tolerance is held against: the estimate of the energy norm, or sum |eta_K| >=
   *  |estimate| */
  double upper;
  double goal;        /**< J(u); NaN without goal */
  double error;       /**< true error in that sense; NaN where no exact solution is given */
  double effectivity; /**< estimate / error */
  double error_l2, error_h1;
  double setup_seconds, solve_seconds, estimate_seconds; /**< set-up: with the refinement that made the mesh */
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
  int steps;        /**< solves at most; 0 means 10 */
  double tolerance; /**< stop when the upper figure is not above; 0: never */
  int64_t max_dofs; /**< no mesh beyond so many unknowns is solved; 0: no limit */
  /** In time: the mesh is looked at after so many steps; 0: when the flow has crossed two cells. */
  int every;
  int max_level;        /**< in time: refinements above the first mesh; 0: no limit but max_dofs */
  const TesMesh *first; /**< in time: nothing is coarsened beyond it; NULL: the problem's own mesh */
  /** Called after each step; anything but TES_OK ends the loop with that status. May be NULL. */
  TesStatus (*report)(void *user, const TesAdaptStep *step);
  void *report_user;
  /** *keep <- the problem of the last step with its solution, which the caller destroys, also after a loop that failed
   *  on the way; NULL inside: there is none. NULL: the loop destroys it. */
  TesProblem **keep;
} TesAdaptDesc;

/** Runs the loop from the mesh and the guess of the problem, a mesh of kind forest. `last` (may be NULL) is filled
 *  with the last complete step, but for its pointers, whatever is returned. Errors: those of its parts, a solve
 *  that does not converge among them; TES_ABOVE_TOLERANCE where a tolerance is given and the upper figure is still
 *  above it when `steps` or `max_dofs` ends the loop; TES_OUT_OF_MEMORY before a mesh is set up for which host or
 *  device have no room, predicted from what the step before took; TES_INVALID_INPUT for a first mesh beyond
 *  max_dofs. */
TesStatus tes_adapt_run(TesContext *context, const TesProblemDesc *problem, const TesAdaptDesc *desc,
                        TesAdaptStep *last);

/** Refuses all that tes_adapt_run() refuses before it solves: it makes the first problem. Errors as above. */
TesStatus tes_adapt_check(TesContext *context, const TesProblemDesc *problem, const TesAdaptDesc *desc);

/** What tes_problem_remesh() has done. */
typedef struct TesRemesh {
  bool looked;         /**< it was time to */
  bool changed;        /**< the problem has another mesh */
  int64_t cells, dofs; /**< of the mesh that it has now */
  double estimate;     /**< sqrt of the sum of all indicators, before; NaN: none */
  double seconds;      /**< of all of it */
  double estimate_seconds, setup_seconds,
      move_seconds;          /**< indicators; spaces, operators, levels; projections */
  double divergence_removed; /**< of flows: the L2 norm of what was taken from div u; NaN: nothing was */
} TesRemesh;

/** Between two steps of a problem in time, and before the first one: fits its mesh to the solution, where that is
 *  due.
 *
 *  Refined are the cells that desc->marking and desc->fraction choose by the estimate (none where that is not
 *  above desc->tolerance), with one layer of cells around them; coarsened are families not refined, whose squared
 *  indicators have a sum below 5 % of what a family has in the mean. A cell changes by one level at most. Before the
 *  first step the indicator is the error in L2 of the interpolated initial function, and up to desc->max_level
 *  (without it 10) rounds follow each other, each with new values of that function. Where the mesh would pass
 *  desc->max_dofs the fraction is halved until it does not, and then nothing is refined.
 *
 *  The solution and the old values of the method go to the new mesh by L2 projection over all nodes, exact where
 *  cells are refined; so int u changes by round-off. Solved to 1e-10 by conjugate gradients, what that has left of
 *  the mean is added as a constant. Older values, which start guesses alone, are interpolated. Steps go on as if
 *  nothing had happened, also those of a restart. Of elasticity u_t and u_tt are projected too.
 *
 *  Of flows (navier_stokes with element q) velocities keep their boundary values, and lose the divergence that the
 *  projection has added: u -= D^-1 B' s with B D^-1 B' s = B u + K phi, D the mass by row sums, B the divergence, K phi
 *  what the scheme itself had left of it. Without this the next pressure would be wrong by O(1/dt) after an
 *  interpolation, so it does not jump. The pressure is projected, the last corrections phi are interpolated.
 *
 *  The problem stays the same object, but its space, operators, multigrid and solution are others, and those of
 *  before are gone. Cost: an estimate, the set-up of a problem, two or three solves with a mass matrix. Of the
 *  description every, max_level, first, marking, fraction, tolerance and max_dofs are obeyed.
 *  Errors: TES_INVALID_INPUT (none of transport, elasticity and flows with element q, steady, a mesh that is no
 *  forest, another first mesh, neither max_level nor max_dofs, no velocity and no `every`, dual-weighted residuals),
 *  those of tes_problem_create(): the problem is then as it was. */
TesStatus tes_problem_remesh(TesProblem *problem, const TesAdaptDesc *desc, TesRemesh *remesh);

#ifdef __cplusplus
}
#endif
#endif
