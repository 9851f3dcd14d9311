/* The start of full multigrid around a float32 cycle, its iterates in float64: on each level cycles correct a
 * residual that was computed in float64. (Iterates in float32 would leave the finest level a start whose round-off,
 * times |A|, is far above the error of its discretisation, and cost a cycle more from degree 5 on.) */
#ifndef TESI_FULL_H
#define TESI_FULL_H

#include "multigrid/multigrid.h"

typedef struct TesiFull TesiFull;

/* op: the float64 operator of the finest level; cycles: on each level below it, of a kind. */
TesStatus tesi_full_create(TesMultigrid *multigrid, const TesOperator *op, int cycles, TesiCycleKind kind,
                           TesiFull **full);
void tesi_full_destroy(TesiFull **full);
/* x <- the prolongated solution of the level below the finest (of the problem itself where there is only one
 * level). Residuals are multiplied by `factor` before they are rounded. b, x: float64. below: the right-hand sides of
 * the levels below the finest, and the prolongation is added to x; NULL: b restricted. */
TesStatus tesi_full_start(TesiFull *full, const TesVector *b, TesVector *const *below, double factor,
                          TesVector *x);

#endif
