/* What tests on several devices share: contexts there, and vectors. */
#ifndef TESI_DEVICE_TESTING_H
#define TESI_DEVICE_TESTING_H

#include "tessera/tessera.h"
#include "testing.h"

/* NULL where this machine lacks the device desc->device; the processor and the emulator are never lacking.
 * TESSERA_TEST_DEVICE leaves the others out: for tools that slow everything down. */
static inline TesContext *test_context(const TesContextDesc *desc) {
  TesContext *ctx;
  char message[2048];
  const char *only = getenv("TESSERA_TEST_DEVICE");
  if (only && strcmp(only, desc->device)) return NULL;
  const TesStatus status = tes_context_create(desc, &ctx, message, sizeof message);
  if (status == TES_OK) return ctx;
  if (status != TES_MISSING || strncmp(desc->device, "cuda", 4) || strlen(message) < 20)
    fail_msg("%s: %s", desc->device, message);
  assert_null(ctx);
  return NULL;
}

static inline TesContext *test_device(const char *name) {
  return test_context(&(TesContextDesc){.device = name});
}

/* n random numbers that both precisions have; seed 0: NaN, for what is to be written. */
static inline TesVector *test_vector(TesContext *ctx, int64_t n, TesPrecision precision, uint64_t seed) {
  TesVector *v;
  double *values = test_malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = seed ? (double)(float)test_random(&seed) : NAN;
  assert_ok(ctx, tes_vector_create(ctx, n, precision, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  test_free(values);
  return v;
}

/* The same of an operator's length and precision. */
static inline TesVector *test_vector_of(TesContext *ctx, const TesOperator *op, uint64_t seed) {
  return test_vector(ctx, tes_operator_info(op).length, tes_operator_info(op).precision, seed);
}

#endif
