/** \file solver.h
 *  Iterative solution of A x = b: multigrid as an iteration of its own, or inside a Krylov method.
 *
 *  The outer iteration is in float64; the multigrid may be in float32 ("mixed precision"): the residual is then
 *  scaled by a power of two to entries of about 1 before it is rounded, so that nothing underflows. Every residual
 *  reported as final has been recomputed as |b - A x| / |b| in float64. If float64 cannot reach the tolerance, an
 *  iteration ends as converged when its residual no longer falls and is as small as rounding allows:
 *  TesSolveResult.floor.
 *  - vcycle: x <- x + MG (b - A x) from the given start. Vectors besides x and b: 1 (and 2 float32 when mixed).
 *  - fmg: the same after a full multigrid start.
 *  - gmres: flexible, right-preconditioned, modified Gram-Schmidt with Givens rotations. Vectors: restart + 2, and as
 *    many in the cycle's precision, since results of the cycle are kept unchanged. On the host each is made when an
 *    iteration first needs it.
 *  - cg: conjugate gradients for symmetric cycles. A new direction is made conjugate to the last one explicitly, which
 *    tolerates the round-off of a float32 cycle. Vectors: 4. With `full_start` the iteration begins with the result of
 *    full multigrid (in the cycle's precision, without its last cycle), or with zero if that is not worse.
 *
 *  On devices with kernels an iteration of cg or gmres, its cycle included, is one recorded graph. Its scalars stay
 *  on the device; the host gets one number per iteration, the residual, and one more for each residual that is
 *  recomputed (at the end, and at restarts). A solve allocates nothing; GMRES there orthogonalises all directions in
 *  one pass, with the coefficients of the modified Gram-Schmidt process.
 */
#ifndef TESSERA_SOLVER_H
#define TESSERA_SOLVER_H

#include "multigrid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesSolver TesSolver;

typedef enum TesMethod {
  TES_METHOD_AUTO,
  TES_METHOD_VCYCLE,
  TES_METHOD_FMG,
  TES_METHOD_GMRES,
  TES_METHOD_CG,
  /** of problems alone, a V-cycle of one level: fast diagonalization of a whole box with constant coefficients, else
   *  sparse factors (TES_COARSE_SPARSE), whose solutions are refined by residuals of the operator */
  TES_METHOD_DIRECT
} TesMethod;

typedef struct TesSolverDesc {
  const TesOperator *op; /**< float64; must outlive the solver */
  TesMultigrid *multigrid; /**< float64 or float32; must outlive the solver. NULL: no preconditioner (gmres and cg) */
  TesMethod method;   /**< auto: fmg with a multigrid, cg without */
  double tolerance;   /**< on |b - A x| / |b|; 0 means 1e-9 */
  int max_iterations; /**< 0 means 100 */
  bool full_start;    /**< cg with a multigrid: full multigrid makes the start, x is only written */
  int start_cycles; /**< fmg: cycles on the finest level before the residual is looked at, 0 means 1; on each level
                           below one less, but one at least */
  int restart;      /**< gmres; 0 means 20, or fewer (at least 5) where a GPU lacks the memory */
  /** gmres on devices with kernels around a float32 cycle: the basis is float32 too, which takes half of the time and
   * memory of its vectors. The residual a restart cycle ends with is at most 1e-6 times smaller than that at its
   * beginning, so tolerances below take another one, and some iterations more. Elsewhere without effect. */
  bool narrow_basis;
  /** gmres with a multigrid that does not smooth before its coarse correction: the first cycle does, where the residual
   *  that it is given is rough, as random numbers are. What the cycle has smoothed is not rough: later ones begin with
   *  that. One step of smoothing more, and about half an iteration less. */
  bool smooths_rough;
  /** Called with the residual before the first and after every iteration; may be NULL. */
  void (*monitor)(void *user, int iteration, double residual);
  void *monitor_user;
} TesSolverDesc;

typedef struct TesSolveResult {
  int iterations;
  /** iterations it would take to reach the tolerance exactly: n log(tolerance) / log(r_n / r_0); NaN for n = 0 */
  double fractional_iterations;
  int residual_count;      /**< iterations + 1; after a step in time with several solves, of the last solve */
  const double *residuals; /**< [residual_count], relative to |b|, owned by the solver until its next solve */
  double seconds;
  /** 0, or the relative residual that float64 allows, about eps (|A| |x| + |b|) / |b|: of a solve that ended there,
   *  converged, at up to five times as much and above its tolerance */
  double floor;
} TesSolveResult;

/** Errors: TES_INVALID_INPUT (a method that needs a multigrid, or a symmetric one, without it), TES_OUT_OF_MEMORY. */
TesStatus tes_solver_create(TesContext *context, const TesSolverDesc *desc, TesSolver **solver);
void tes_solver_destroy(TesSolver **solver);
/** Solves from the start x (fmg, full_start: x is only written). Returns TES_OK, TES_NOT_CONVERGED, TES_DIVERGED
 *  (residual above 1e6 times the first), TES_NAN or TES_INTERRUPTED with `result` filled and x the last iterate. b
 *  = 0 gives x = 0 after 0 iterations.
 *  For a singular operator b is projected to mean zero first and x has mean zero (of its coefficients). */
TesStatus tes_solver_solve(TesSolver *solver, const TesVector *b, TesVector *x, TesSolveResult *result);

#ifdef __cplusplus
}
#endif
#endif
