/* Polynomials that are changed after the smoother is made. */
#ifndef TESI_CHEBYSHEV_H
#define TESI_CHEBYSHEV_H

#include "smoother/smoother.h"

/* Whether it is a polynomial: kinds chebyshev, cell_patch and line_patch, which share one estimate of eigenvalues. */
bool tesi_is_chebyshev(const TesSmoother *smoother);
/* Another degree, and the optimal polynomial or the one of the fourth kind, of a smoother without ratio. Recordings of
 * its sweeps are then out of date. */
TesStatus tesi_chebyshev_change(TesSmoother *smoother, int degree, bool optimal);

#endif
