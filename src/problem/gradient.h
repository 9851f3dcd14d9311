/* Parts of gradients that cases need beside the public calls. */
#ifndef TESI_GRADIENT_H
#define TESI_GRADIENT_H

#include "problem/problem.h"

/* The derivative of a value's own expression at the present solution, by the constant of the case for which the words
 * of the context have slopes. */
TesStatus tesi_problem_value_slope(const TesProblem *problem, const TesValue *what, double *slope);

#endif
