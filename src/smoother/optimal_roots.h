/* The polynomial q of degree m with q(0) = 1 that minimises max of sqrt(t) |q(t)| / sqrt(1 - q(t)^2) on [0, 1] (Lottes,
 * Optimal polynomial smoothers for multigrid V-cycles, 2023, section 4). */
#ifndef TESI_OPTIMAL_ROOTS_H
#define TESI_OPTIMAL_ROOTS_H

#include "base/base.h"

/* root[degree] <- its roots, increasing. */
TesStatus tesi_optimal_roots(TesContext *context, int degree, double *root);
/* Leja's order: each root is as far as possible from the roots before it, so that partial products stay small. */
void tesi_leja_order(int count, double *root);

#endif
