/* Predictions for several ranks (docs/parallel.md). */
#ifndef CLI_SCALING_H
#define CLI_SCALING_H

#include "solve.h"

enum { CLI_SCALINGS = 24 };

/* Prints a row for each number of ranks, and the best number. Errors: those of tes_problem_scaling(). */
TesStatus cli_scaling_print(TesContext *context, const TesProblemDesc *desc, bool gpus, int count,
                            const double *ranks);
/* The number of GPUs, at most this many, that solves the case fastest. 1: the problem is for one rank only. All: the
 * case is on the standard input, which cannot be read twice. */
int cli_scaling_best(const SolveOptions *options, int most);

/* From how many unknowns on two GPUs solve Poisson of degree 4 on a box 1.5 times as fast as one, by prediction; 0: it
 * cannot be told. */
double cli_scaling_worth(TesContext *context);

#endif
