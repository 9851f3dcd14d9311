/* Left-preconditioned GMRES, with which stokes-multigrid-cui-2025 counts iterations: its residual is the residual of
 * M A x = M b, not |b - A x|. It is only for comparing counts; tes_solver_solve() is for solutions. */
#ifndef BENCH_LEFT_GMRES_H
#define BENCH_LEFT_GMRES_H

#include "tessera/multigrid.h"

enum { LEFT_GMRES_MOST = 40 };

/* op and cycle in float64. Iterates from zero until the preconditioned residual is at most `tolerance` times the
 * first one. residual[0 .. iterations]: relative to the first. Memory: iterations + 3 vectors. Errors:
 * TES_NOT_CONVERGED after LEFT_GMRES_MOST iterations, TES_OUT_OF_MEMORY. */
TesStatus left_gmres(TesContext *ctx, const TesOperator *op, TesMultigrid *cycle, const TesVector *b,
                     double tolerance, double residual[LEFT_GMRES_MOST + 1], int *iterations);
/* The paper's fractional number of iterations, n log(tolerance) / log(r_n / r_0); for 1e-8 its nu = -8 / log10(mean
 * reduction). */
double left_gmres_count(const double *residual, int iterations, double tolerance);

#endif
