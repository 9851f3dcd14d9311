/* The inverse of the pressure's mass, as a part of the preconditioner of steady flows. */
#ifndef TESI_STEADY_MASS_H
#define TESI_STEADY_MASS_H

#include "problem/problem.h"

typedef struct TesiSteadyMass TesiSteadyMass;

/* b, x: pressures, scratch of the mass until it is destroyed. edges: W^-1/2, or NULL; the caller keeps it. */
TesStatus tesi_steady_mass_create(const TesOperator *mass, const TesVector *edges, TesVector *b, TesVector *x,
                                  TesiSteadyMass **of);
void tesi_steady_mass_destroy(TesiSteadyMass **of);

/* z <- factor W^-1/2 p(M) W^-1/2 r, p the Chebyshev polynomial that approximates M^-1 to a tenth, or better: linear,
 * without scalar products. */
TesStatus tesi_steady_mass_invert(TesiSteadyMass *of, double factor, const TesVector *r, TesVector *z);

#endif
