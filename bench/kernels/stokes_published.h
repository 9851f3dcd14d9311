/* Tables 1 and 2 of stokes-multigrid-cui-2025. */
#ifndef BENCH_STOKES_PUBLISHED_H
#define BENCH_STOKES_PUBLISHED_H

#include <math.h>

/* Table 1: fractional iterations of GMRES to 1e-8 in 2D on 2^(level - 1) cells per direction, elements RT_3 to RT_8.
 * Local solves are by a pseudo-inverse ("direct") or by conjugate gradients on the Schur complement. */
enum { STOKES_FIRST_LEVEL = 3, STOKES_LEVELS = 7, STOKES_FIRST_DEGREE = 3, STOKES_DEGREES = 6 };
static const double stokes_direct[STOKES_LEVELS][STOKES_DEGREES] = {
    {2.8, 2.4, 2.1, 2.2, 1.9, 2.1}, {3.2, 2.4, 2.3, 2.2, 2.1, 2.0}, {3.2, 2.3, 2.3, 2.0, 2.0, 1.9},
    {3.0, 2.2, 2.2, 1.9, 1.9, 1.8}, {2.9, 1.9, 1.9, 1.8, 1.8, 1.7}, {2.8, 1.9, 1.8, 1.8, 1.8, 1.8},
    {2.7, 1.9, 1.9, 1.8, 1.8, 1.8}};
static const double stokes_schur[STOKES_LEVELS][STOKES_DEGREES] = {
    {2.6, 2.3, 2.0, 2.2, 2.0, 2.0}, {3.2, 2.5, 2.4, 2.3, 2.1, 2.2}, {3.3, 2.5, 2.5, 2.4, 2.0, 2.2},
    {3.3, 2.5, 2.5, 2.3, 1.9, 2.0}, {3.3, 2.5, 2.4, 2.3, 1.9, 2.0}, {3.0, 2.5, 2.4, 2.3, 1.9, 1.9},
    {2.9, 2.4, 2.4, 2.4, 1.9, 1.9}};

/* Table 2: nanoseconds per unknown on one A100, 32^3 cells, to 1e-6, with iterations of left-preconditioned GMRES;
 * smoothing: one step, operator: one product. */
typedef struct StokesTimes {
  int degree, iterations;
  double operator_ns, smoothing_ns, solution_ns;
} StokesTimes;
static const StokesTimes stokes_times[] = {{2, 3, 0.535, 7.576, 63.694}, {4, 3, 0.813, 10.582, 79.365}};

/* Section 4.1: the largest TFLOP/s of the operator's kernels in float64 on an A100: padded, basic, in shared memory
 * (not printed), and free of bank conflicts. */
static const double stokes_most_tflops[] = {2.88, 3.62, NAN, 3.95};

#endif
