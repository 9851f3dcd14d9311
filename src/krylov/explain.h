/* Why an iteration did not reach its tolerance, and what helps, as far as residuals, method and problem show it. */
#ifndef TESI_EXPLAIN_H
#define TESI_EXPLAIN_H

#include "tessera/solver.h"

typedef struct TesiUnsolved {
  TesMethod method;
  const double *residuals; /* [iterations + 1], relative */
  int iterations;
  double tolerance;
  bool single;        /* cycles are in float32 */
  const char *advice; /* advice from the problem; NULL: none */
} TesiUnsolved;

enum { TESI_ITERATIONS_TELL = 4 }; /* fewer do not tell how fast residuals fall */
/* Predicted number of iterations to the tolerance, with a margin, from the fall of residuals in the later half; 0: they
 * do not fall, fall too slowly, or are too few. */
int tesi_iterations_needed(const TesiUnsolved *unsolved);
/* Fails with the outcome; TES_OK: does nothing. */
TesStatus tesi_explain_unsolved(TesContext *ctx, const TesiUnsolved *unsolved, TesStatus outcome);

#endif
