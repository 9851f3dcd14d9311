/* Dual problems: the problem's own, transposed, with all data 0 but the coefficients. */
#ifndef TESI_DUAL_H
#define TESI_DUAL_H

#include "problem/problem.h"

typedef struct TesiDual {
  int degree;
  double tolerance;
  TesStreamline stabilization;
  int boundary, component; /* where the dual solution is -1; boundary -1: nowhere */
  TesLoadCallback add_load;
  void *user;
} TesiDual;

/* *dual, whose forms are those of the problem, transposed to the last point of their quadrature where the degree is the
 * same and there are no streamline terms; solved. */
TesStatus tesi_dual_solve(const TesProblem *problem, const TesiDual *how, TesProblem **dual);

#endif
