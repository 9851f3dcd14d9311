/* The Laplacian of the pressure, and what holds it at open boundaries.
 *
 * Velocities are free there. So the Schur complement of alpha M holds the pressure at 0, but no more than they can: the
 * bound is the inverse inequality of traces: (k + 1)^2 / h (p, q) on the boundary, k the degree of the velocity, h the
 * length of a cell along the normal. With 0 given these pressures would have nu M^-1 alone, alpha h^2 / nu times too
 * little of an inverse. With the penalty the eigenvalues of L^-1 S are at most 1.2, 1.4, 1.6 on squares for k = 2, 3,
 * 4, and no smaller than with walls all round. */
#ifndef TESI_STEADY_OPEN_H
#define TESI_STEADY_OPEN_H

#include "problem/problem.h"

/* The problem's Laplacian of the pressure becomes -div(a grad p), a NULL: 1, with the penalty at open boundaries. */
TesStatus tesi_steady_take_laplacian(TesProblem *problem, const TesFunction *a);

#endif
