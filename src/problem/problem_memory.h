/* Predicts the memory of a solve from space, form and method. */
#ifndef TESI_PROBLEM_MEMORY_H
#define TESI_PROBLEM_MEMORY_H

#include "tessera/problem.h"

/* For a problem whose space and precision exist. */
TesProblemMemory tesi_problem_memory(const TesProblem *problem, int degree);
/* Reports the prediction, before anything large is allocated. */
TesStatus tesi_problem_check_memory(const TesProblem *problem);

/* Whether a coefficient of diffusion is not a number: then a box has operators over its cells. */
bool tesi_problem_box_varies(const TesProblem *problem);

/* tes_problem_scaling() of a problem whose space exists (problem_scaling.c). */
TesStatus tesi_problem_scale(const TesProblem *problem, const TesProblemDesc *desc, bool gpus, int count,
                             TesProblemScaling *scaling);

/* Whether GMRES may keep its basis in float32: one restart cycle must be enough, or float64 must leave it fewer
 * columns than usual. */
bool tesi_problem_has_narrow_basis(const TesProblem *problem);

#endif
