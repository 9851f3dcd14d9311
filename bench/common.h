/* What the benches share: ends on errors, and the comparison of results. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "tessera/tessera.h"

/* Ends the program with the message and exit status of a call that failed. */
static inline void bench_must(TesContext *ctx, TesStatus status) {
  if (status == TES_OK) return;
  fprintf(stderr, "%s\n%s", tes_context_message(ctx), tes_context_trace(ctx));
  exit(tes_status_exit(status));
}

/* max |a - b| / max |b|, NaN where there is one. */
static inline double bench_difference(TesContext *ctx, const TesVector *a, const TesVector *b) {
  const int64_t n = tes_vector_length(a);
  double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y), error = 0, largest = 0;
  bench_must(ctx, tes_vector_get(a, x));
  bench_must(ctx, tes_vector_get(b, y));
  for (int64_t i = 0; i < n && !isnan(error); i++) {
    if (!(fabs(x[i] - y[i]) <= error)) error = fabs(x[i] - y[i]);
    if (fabs(y[i]) > largest) largest = fabs(y[i]);
  }
  free(x);
  free(y);
  return error / largest;
}

#endif
