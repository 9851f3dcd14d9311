/* The start of full multigrid around a float32 cycle, its iterates in float64: on each level cycles reduce a residual
 * that was computed in float64. (With float32 iterates the round-off of the start, times |A|, would be far above the
 * discretisation error of the finest level, and from degree 5 on one more cycle would be needed.) */
#ifndef TESI_FULL_H
#define TESI_FULL_H

#include "multigrid/multigrid.h"

typedef struct TesiFull TesiFull;

/* op: the float64 operator of the finest level; cycles: number of cycles, of this kind, on each level below. */
TesStatus tesi_full_create(TesMultigrid *multigrid, const TesOperator *op, int cycles, TesiCycleKind kind,
                           TesiFull **full);
void tesi_full_destroy(TesiFull **full);
/* x <- the prolongated solution of the level below the finest (with one level, the solution itself). Residuals are
 * multiplied by `factor` before they are rounded. b, x: float64. below: the right-hand sides of the levels below the
 * finest, and then the prolongation is added to x; NULL: b is restricted, and x is overwritten. */
TesStatus tesi_full_start(TesiFull *full, const TesVector *b, TesVector *const *below, double factor,
                          TesVector *x);

#endif
