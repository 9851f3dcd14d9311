/** \file solver.h
 *  Iterative solution of A x = b: by multigrid alone, or by a Krylov method with multigrid as its preconditioner.
 *
 *  The outer iteration is in float64; the multigrid may be in float32 ("mixed precision"): the residual is then
 *  scaled by a power of two to entries of about 1 before it is rounded, so that nothing underflows. Every residual
 *  reported as final has been recomputed as |b - A x| / |b| in float64. If float64 cannot reach the tolerance, an
 *  iteration ends as converged when its residual no longer falls and is as small as rounding allows:
 *  TesSolveResult.floor.
 *  - vcycle: x <- x + MG (b - A x) from the given start. It needs 1 vector besides x and b, and 2 float32 vectors when
 *  mixed.
 *  - fmg: the same after a full multigrid start.
 *  - gmres: flexible, right-preconditioned, modified Gram-Schmidt with Givens rotations. It needs restart + 2 vectors,
 *  and as many in the cycle's precision, since results of the cycle are kept unchanged. The host allocates each vector
 *  when an iteration first needs it.
 *  - cg: conjugate gradients for symmetric cycles. Each new direction is made conjugate to the last direction
 *    explicitly, which tolerates the round-off of a float32 cycle. It needs 4 vectors. With `full_start` the
 *    iteration begins with the result of full multigrid (in the cycle's precision, without its last cycle), or with
 *    zero if that is not worse.
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
  /** for problems only, a V-cycle of one level: fast diagonalization over a whole box with constant coefficients, else
   *  sparse factors (TES_COARSE_SPARSE), whose solutions are refined with residuals of the operator */
  TES_METHOD_DIRECT
} TesMethod;

typedef struct TesSolverDesc {
  const TesOperator *op; /**< float64; must outlive the solver */
  TesMultigrid *multigrid; /**< float64 or float32; must outlive the solver. NULL: no preconditioner (gmres and cg) */
  TesMethod method;   /**< auto: fmg with a multigrid, cg without */
  double tolerance;   /**< on |b - A x| / |b|; 0 means 1e-9 */
  int max_iterations; /**< 0 means 100 */
  bool full_start;    /**< cg with a multigrid: full multigrid makes the start, x is only written */
  int start_cycles; /**< fmg: number of cycles on the finest level before the first residual is computed, 0 means 1;
                     *   each of the coarser levels does one cycle less than the finest, but at least one */
  int restart; /**< gmres; 0 means 20, or fewer (at least 5) if a GPU lacks the memory */
  /** gmres on devices with kernels around a float32 cycle: the basis is float32 too, which halves the time and memory
   * of its vectors. A restart cycle then reduces the residual by at most 1e-6, so smaller tolerances take another
   * restart cycle and some iterations more. No effect on other devices. */
  bool narrow_basis;
  /** gmres with a multigrid that does not smooth before its coarse correction: the first cycle smooths first if its
   *  residual is rough, for example random numbers. Later cycles begin with the result of a smoothed cycle, which is
   *  not rough. This costs one smoothing step and saves about half an iteration. */
  bool smooths_rough;
  /** Called with the residual before the first and after every iteration; may be NULL. */
  void (*monitor)(void *user, int iteration, double residual);
  void *monitor_user;
} TesSolverDesc;

typedef struct TesSolveResult {
  int iterations;
  /** iterations it would take to reach the tolerance exactly: n log(tolerance) / log(r_n / r_0); NaN for n = 0 */
  double fractional_iterations;
  int residual_count;      /**< iterations + 1; after a time step with several solves, of the last solve */
  const double *residuals; /**< [residual_count], relative to |b|, owned by the solver until its next solve */
  double seconds;
  /** 0 if the solve reached its tolerance. Else the relative residual that float64 allows, about eps (|A| |x| + |b|) /
   *  |b|: the solve ended as converged at up to five times this value */
  double floor;
} TesSolveResult;

/** Errors: TES_INVALID_INPUT (a method that needs a multigrid without one, or a symmetric multigrid with another one),
 *  TES_OUT_OF_MEMORY. */
TesStatus tes_solver_create(TesContext *context, const TesSolverDesc *desc, TesSolver **solver);
void tes_solver_destroy(TesSolver **solver);
/** Solves from the start x (fmg, full_start: x is only written). Returns TES_OK, TES_NOT_CONVERGED, TES_DIVERGED
 *  (residual above 1e6 times the first), TES_NAN or TES_INTERRUPTED with `result` filled and x the last iterate. b
 *  = 0 gives x = 0 after 0 iterations.
 *  For a singular operator b is first projected to mean zero, and the mean of the coefficients of x is zero. */
TesStatus tes_solver_solve(TesSolver *solver, const TesVector *b, TesVector *x, TesSolveResult *result);

#ifdef __cplusplus
}
#endif
#endif
