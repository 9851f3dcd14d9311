/* A solve on a device with kernels that begins without the host: of two starts the better one is taken, the tolerance
 * is made of their residuals, and the iterations run, all of which can be recorded. The device decides whether another
 * one is needed, and the host reads count and residuals at the end. Where it cannot (tesi_recorded_can_loop()) the
 * first one alone is queued, and then one number an iteration tells the host. */
#ifndef TESI_QUEUED_H
#define TESI_QUEUED_H

#include "krylov/solver.h"

typedef struct TesiStarts {
  TesVector *x, *r;       /* a start and its residual; afterwards the start that is taken and its residual */
  TesVector *old, *old_r; /* the other one. They are work space then, and old holds the correction of x */
  bool either;            /* whether the other one may be taken */
  double tolerance; /* of |old_r|: what is to be left of |r|; at most half of the start's, at least 1e-14 of it */
} TesiStarts;

/* Whether it can: gmres, cg and V-cycles, regular operators, one rank; makes what it needs. */
TesStatus tesi_solver_can_queue(TesSolver *solver, bool *can);
TesStatus tesi_solver_queue(TesSolver *solver, const TesiStarts *starts);
/* Iterations to the tolerance; the correction of x, which is not added to it. Errors: as tes_solver_solve(). */
TesStatus tesi_solver_finish(TesSolver *solver, const TesiStarts *starts, TesSolveResult *result);

#endif
