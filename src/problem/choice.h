/* What is chosen by kind of mesh. */
#ifndef TESI_CHOICE_H
#define TESI_CHOICE_H

#include "tessera/problem.h"

/* How cells are stretched; of boxes 1.5 times, of other meshes 3 times at least. */
typedef enum TesiStretch {
  TESI_EVEN,
  TESI_STRETCHED,        /* in some way: cells of a box, or bars in 3D, which are short in two directions */
  TESI_STRETCHED_ONE_WAY /* other meshes: short in one direction only, so that lines of cells serve */
} TesiStretch;

/* What a choice depends on. */
typedef struct TesiSituation {
  TesMeshKind mesh;
  bool constant; /* coefficients: the operator is separable */
  TesiStretch stretch;
  bool guess;               /* the iteration has a start */
  TesSmootherKind smoother; /* asked for */
  TesMethod method;
} TesiSituation;

typedef struct TesiChoice {
  TesSmootherKind smoother; /* auto: every level tries which one serves it */
  TesMethod method;         /* never auto */
  bool full_start;          /* full multigrid makes the start of cg */
} TesiChoice;

TesiChoice tesi_choose(const TesiSituation *situation);

/* Fills in method, its words, tolerance, floor and precision of a problem whose finest operator exists; *smoother
 * is the one to use. Warns of what no choice serves. */
TesStatus tesi_problem_choose(TesProblem *problem, TesSmootherKind *smoother);
/* Fits cycle and method to what a cycle of the multigrid, which is there, is measured to reach (tune.c). */
TesStatus tesi_problem_tune(TesProblem *problem);
/* problem->cycle: what is asked for, where float32 holds lengths of the size of the cells, and coefficients of its
 * operator, or of its form while there is none (choose_precision.c). The space is enough for lengths alone. */
TesStatus tesi_problem_choose_precision(TesProblem *problem);
/* float64 where rounding of a float32 cycle would be all that the method, which is chosen, sees. */
TesStatus tesi_problem_doubt_precision(TesProblem *problem);

#endif
