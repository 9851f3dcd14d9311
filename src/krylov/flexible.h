/* Flexible GMRES for any operator and preconditioner, given as calls: of systems that no TesOperator describes. */
#ifndef TESI_FLEXIBLE_H
#define TESI_FLEXIBLE_H

#include "device/columns.h"
#include "device/laps.h"
#include "device/vector.h"
#include "space/space.h"
#include "tessera/solver.h"

enum { TESI_FLEXIBLE_RESTART = 50 };

typedef struct TesiFlexible {
  TesContext *context;
  int64_t length;
  void *user;
  TesStatus (*apply)(void *user, const TesVector *x, TesVector *y); /* y <- A x */
  TesStatus (*precondition)(void *user, const TesVector *r,
                            TesVector *z); /* z <- about A^-1 r, differs as it may */
  double tolerance;                        /* of |b - A x| / |b| */
  int max_iterations;
  void (*monitor)(void *user, int iteration, double residual);
  void *monitor_user;
  double *residuals; /* [max_iterations + 1] */
  TesiLaps *laps;    /* NULL: none; `own_lap`: the part that is the method's own work, on the basis */
  int own_lap;
  TesiColumns *columns;  /* of TESI_FLEXIBLE_RESTART columns; NULL: vector by vector */
  const TesSpace *space; /* whose parts have units of their own; NULL: none */
} TesiFlexible;

/* Begins with x. Right-preconditioned, modified Gram-Schmidt, restarted every TESI_FLEXIBLE_RESTART columns; two
 * vectors per column. result->residuals is the array of the description; the last residual is computed anew. Errors:
 * as tes_solver_solve(). */
TesStatus tesi_flexible_solve(const TesiFlexible *desc, const TesVector *b, TesVector *x,
                              TesSolveResult *result);

#endif
