/* Why an iteration did not end at its tolerance, and what helps: only what the residuals, the method and the problem
 * speak for. */
#ifndef TESI_EXPLAIN_H
#define TESI_EXPLAIN_H

#include "tessera/solver.h"

typedef struct TesiUnsolved {
  TesMethod method;
  const double *residuals; /* [iterations + 1], relative */
  int iterations;
  double tolerance;
  bool single;        /* cycles are in float32 */
  const char *advice; /* what helps by the problem, which knows more; NULL: nothing */
} TesiUnsolved;

/* Iterations in all to the tolerance, by how residuals fell in the later half, with some to spare; 0: they do not fall,
 * or too slowly for it. */
int tesi_iterations_needed(const TesiUnsolved *unsolved);
/* Fails with the outcome, TES_OK: nothing. */
TesStatus tesi_explain_unsolved(TesContext *ctx, const TesiUnsolved *unsolved, TesStatus outcome);

#endif
