/* The manufactured flow of stokes-multigrid-cui-2025, equations (11) to (13), and random right-hand sides: for benches
 * and tests.
 *   psi = phi(x) phi(y) (phi(z)),   phi(x) = x^2 (x - 1)^2 exp(-(x - 1/2)^2 / sigma^2) / sqrt(2 pi sigma^2)
 *   u = (psi_y, -psi_x) or (psi_y + psi_z, -psi_x - psi_z, -psi_x + psi_y),   p = product of cos(2 pi x) */
#ifndef BENCH_FLOW_SOLUTION_H
#define BENCH_FLOW_SOLUTION_H

#include "tessera/problem.h"

/* Sets exact and f of the description for nu = 1 and this alpha, on the unit square or cube. */
TesStatus flow_manufacture(TesContext *ctx, int dim, double sigma, double alpha, TesProblemDesc *desc);
/* Destroys these functions. */
void flow_forget(TesProblemDesc *desc);

/* A TesLoadCallback: entries of the velocity become normally distributed random numbers, which the seed determines
 * (user: uint64_t). */
TesStatus flow_random_load(void *user, const TesSpace *space, TesVector *b);

#endif
