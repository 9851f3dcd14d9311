/* The inverse of the mass of the pressures, as the preconditioner of steady flows has it. */
#ifndef TESI_STEADY_MASS_H
#define TESI_STEADY_MASS_H

#include "problem/problem.h"

typedef struct TesiSteadyMass TesiSteadyMass;

/* b, x: of the pressures, the mass's own meanwhile. edges: W^-1/2, or NULL; it stays the caller's. */
TesStatus tesi_steady_mass_create(const TesOperator *mass, const TesVector *edges, TesVector *b, TesVector *x,
                                  TesiSteadyMass **of);
void tesi_steady_mass_destroy(TesiSteadyMass **of);

/* z <- factor W^-1/2 p(M) W^-1/2 r, p the polynomial of Chebyshev that is M^-1 to a tenth: linear, without a sum. */
TesStatus tesi_steady_mass_invert(TesiSteadyMass *of, double factor, const TesVector *r, TesVector *z);

#endif
