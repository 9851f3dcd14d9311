/* A solve on a device with kernels that runs without the host. It takes the better of two starts, computes the
 * tolerance from their residuals, and iterates. The device decides whether another iteration is needed, and the host
 * reads count and residuals at the end. If the device cannot loop (tesi_recorded_can_loop()), only the first iteration
 * is queued with the start; then the host reads one number per iteration. */
#ifndef TESI_QUEUED_H
#define TESI_QUEUED_H

#include "krylov/solver.h"

typedef struct TesiStarts {
  TesVector *x, *r; /* a start and its residual; afterwards the start that is taken and its residual */
  TesVector *old,
      *old_r;  /* the other start. Both are workspace afterwards, and old holds the correction of x */
  bool either; /* whether the other start may be taken */
  double tolerance; /* relative to |old_r|: the target of |r|; at most half of the start's residual, at least 1e-14 of
                     * it */
} TesiStarts;

/* Whether a solver can be queued: gmres, cg and V-cycles, regular operators, one rank. Allocates what it needs. */
TesStatus tesi_solver_can_queue(TesSolver *solver, bool *can);
TesStatus tesi_solver_queue(TesSolver *solver, const TesiStarts *starts);
/* Iterations to the tolerance; the correction of x, which is not added to it. Errors: as tes_solver_solve(). */
TesStatus tesi_solver_finish(TesSolver *solver, const TesiStarts *starts, TesSolveResult *result);

#endif
