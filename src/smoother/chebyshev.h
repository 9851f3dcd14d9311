/* Changes the polynomial of an existing smoother. */
#ifndef TESI_CHEBYSHEV_H
#define TESI_CHEBYSHEV_H

#include "smoother/smoother.h"

/* Whether it is a polynomial: kinds chebyshev, cell_patch and line_patch, which share one estimate of eigenvalues. */
bool tesi_is_chebyshev(const TesSmoother *smoother);
/* Sets another degree, and chooses the optimal polynomial or the polynomial of the fourth kind, for a smoother without
 * ratio. Recordings of its sweeps must then be made again. */
TesStatus tesi_chebyshev_change(TesSmoother *smoother, int degree, bool optimal);
/* The degree of the polynomial, the lowest degree of all parts if the smoother is by part; 0: none. */
int tesi_polynomial_degree(const TesSmoother *smoother);
/* tesi_chebyshev_change() of all parts; each of them is a polynomial. */
TesStatus tesi_polynomial_change(TesSmoother *smoother, int degree, bool optimal);

#endif
