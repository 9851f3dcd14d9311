/* Steady Stokes flow by sparse factors of the whole system (A, -s B'; -s B, 0), s the unit of the pressure
 * (pressure_unit.h). Factors replace cycles. */
#ifndef TESI_STEADY_DIRECT_H
#define TESI_STEADY_DIRECT_H

#include "problem/problem.h"

typedef struct TesiSteadyDirect TesiSteadyDirect;
/* For a steady flow whose operators exist. NULL: it would take more flops than `most`. Of the problem's scratch it
 * overwrites d and pb alone. Errors: those of the factorization. */
TesStatus tesi_steady_direct_create(const TesProblem *problem, double most, TesiSteadyDirect **direct);
void tesi_steady_direct_destroy(TesiSteadyDirect **direct);
/* z <- K^-1 r; if no boundary is open, the pressure is 0 at one node. */
TesStatus tesi_steady_direct_solve(TesiSteadyDirect *direct, const TesVector *r, TesVector *z);

#endif
