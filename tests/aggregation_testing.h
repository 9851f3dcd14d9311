/* What tests of smoothed aggregation share. */
#ifndef TESI_AGGREGATION_TESTING_H
#define TESI_AGGREGATION_TESTING_H

#include <stdio.h>
#include "elasticity_operator_testing.h"
#include "multigrid/coarse/aggregation/hierarchy.h"

static inline TesContext *make_context(int threads) {
  TesContext *ctx;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET, .threads = threads}, &ctx,
                         NULL, 0),
      TES_OK);
  return ctx;
}

static inline double *zeros(int64_t n) {
  return test_calloc((size_t)n, sizeof(double));
}

static inline double *random_numbers(int64_t n, uint64_t seed) {
  double *x = zeros(n);
  for (int64_t i = 0; i < n; i++) x[i] = test_random(&seed);
  return x;
}

static inline double inner(int64_t n, const double *x, const double *y) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

#endif
