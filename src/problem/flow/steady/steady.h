/* The solver of steady Stokes flow with continuous elements, which gradients use again. */
#ifndef TESI_STEADY_H
#define TESI_STEADY_H

#include "problem/problem.h"

/* x <- the solution of K x = b, pressures in units of the system, from x. told: the monitor of the options hears of
 * it. */
TesStatus tesi_steady_iterate(TesProblem *problem, bool told, const TesVector *b, TesVector *x,
                              TesSolveResult *result);

#endif
