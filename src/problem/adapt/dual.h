/* Dual problems: the transposed problem; all its data are 0 except the coefficients. */
#ifndef TESI_DUAL_H
#define TESI_DUAL_H

#include "problem/problem.h"

typedef struct TesiDual {
  int degree;
  double tolerance;
  TesStreamline stabilization;
  int boundary, component; /* the boundary on which the dual solution is -1; -1: there is none */
  TesLoadCallback add_load;
  void *user;
} TesiDual;

/* *dual <- the solved dual problem. Its forms are the transposed forms of the problem. The transposition is exact,
 * quadrature included, if the degree is the same and there are no streamline terms. */
TesStatus tesi_dual_solve(const TesProblem *problem, const TesiDual *how, TesProblem **dual);

#endif
