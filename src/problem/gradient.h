/* What cases take of gradients beside the public calls. */
#ifndef TESI_GRADIENT_H
#define TESI_GRADIENT_H

#include "problem/problem.h"

/* The derivative of a value's own expression, for the solution as it is, by the constant of the case that the words of
 * the context have slopes of. */
TesStatus tesi_problem_value_slope(const TesProblem *problem, const TesValue *what, double *slope);

#endif
