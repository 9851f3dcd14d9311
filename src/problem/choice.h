/* Choices by kind of mesh. */
#ifndef TESI_CHOICE_H
#define TESI_CHOICE_H

#include "tessera/problem.h"

/* How cells are stretched: cells of boxes at least 1.5 times, cells of other meshes at least 3 times. */
typedef enum TesiStretch {
  TESI_EVEN,
  TESI_STRETCHED,        /* in any way: cells of a box; or bars in 3D, which are short in two directions */
  TESI_STRETCHED_ONE_WAY /* other meshes: short in one direction only, so that lines of cells serve */
} TesiStretch;

/* The input of a choice. */
typedef struct TesiSituation {
  TesMeshKind mesh;
  bool constant; /* coefficients: the operator is separable */
  TesiStretch stretch;
  bool guess;               /* the iteration has a start */
  TesSmootherKind smoother; /* asked for */
  TesMethod method;
} TesiSituation;

typedef struct TesiChoice {
  TesSmootherKind smoother; /* auto: every level chooses its smoother by trial */
  TesMethod method;         /* never auto */
  bool full_start;          /* full multigrid makes the initial guess of cg */
} TesiChoice;

TesiChoice tesi_choose(const TesiSituation *situation);

/* Fills in method, its words, tolerance, floor and precision of a problem whose finest operator exists; *smoother <-
 * the smoother to be used. Warns if no choice is suitable. */
TesStatus tesi_problem_choose(TesProblem *problem, TesSmootherKind *smoother);
/* Warns of options that the solver of the problem, which exists, does not use. */
void tesi_problem_tell_unused(const TesProblem *problem);
/* Adjusts cycle and method to the measured convergence of a cycle of the multigrid, which must exist (tune.c). */
TesStatus tesi_problem_tune(TesProblem *problem);
/* problem->cycle: the requested precision, if float32 can represent the lengths of the cells and the coefficients of
 * the operator (or of the form, before the operator is made; choose_precision.c). The space is enough to check
 * lengths. */
TesStatus tesi_problem_choose_precision(TesProblem *problem);
/* Chooses float64 if the rounding of a float32 cycle would dominate for the chosen method. */
TesStatus tesi_problem_doubt_precision(TesProblem *problem);

#endif
