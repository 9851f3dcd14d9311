/* What every test includes: cmocka, and comparisons of floating-point numbers that fail on NaN. */
#ifndef TESI_TESTING_H
#define TESI_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tessera/context.h"

/* |actual - expected| <= tolerance, written so that NaN fails. */
#define assert_near(actual, expected, tolerance)                                                             \
  do {                                                                                                       \
    const double a_ = (actual), e_ = (expected), t_ = (tolerance);                                           \
    if (!(fabs(a_ - e_) <= t_)) fail_msg("%s = %.17g, expected %.17g +- %.3g", #actual, a_, e_, t_);         \
  } while (0)

/* The larger of both, NaN once either was: the largest error of many, of which a NaN in the middle must not be
 * forgotten. */
static inline double test_larger(double largest, double value) {
  return isnan(largest) || value <= largest ? largest : value;
}

/* A call that must succeed; its message is shown when it does not. */
#define assert_ok(ctx, call)                                                                                 \
  do {                                                                                                       \
    if ((call) != TES_OK) fail_msg("%s: %s\n%s", #call, tes_context_message(ctx), tes_context_trace(ctx));   \
  } while (0)

/* A small reproducible generator: uniform in [-1, 1). */
static inline double test_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int32_t)(*state >> 32) / 2147483648.0;
}

/* Whether both processor and build have SIMD vectors of that width. Contexts that ask for none take TESSERA_SIMD,
 * or the widest. */
static inline bool test_has_simd(int bits) {
  TesContext *ctx;
  const TesContextDesc desc = {.device = "cpu", .simd_bits = bits, .verbosity = TES_QUIET};
  if (tes_context_create(&desc, &ctx, NULL, 0) != TES_OK) return false;
  tes_context_destroy(&ctx);
  return true;
}

/* The narrowest that both have: 128, but in builds for one processor. */
static inline int test_narrow_simd(void) {
  int bits = 128;
  while (bits < 512 && !test_has_simd(bits)) bits *= 2;
  return bits;
}

/* 1 in a build with the thread sanitizer: it knows no threads after fork(), and has nothing to find in the emulator,
 * whose kernels are one thread, ten times slower. */
#if defined(__SANITIZE_THREAD__)
#define TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define TEST_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define TEST_THREAD_SANITIZER 0
#endif

/* Whether TESSERA_TEST_BRIEF asks for few cases, one of each kind: for tools that follow every access to memory.
 * What "few" is, each test says. */
static inline bool test_brief(void) {
  const char *brief = getenv("TESSERA_TEST_BRIEF");
  return brief && *brief && strcmp(brief, "0");
}

/* Whether TESSERA_TEST_DEGREES ("1,4,7-9"; not set: all) names this degree: for runs in parts, and tools that slow
 * everything down. */
static inline bool test_degree(int degree) {
  const char *only = getenv("TESSERA_TEST_DEGREES");
  if (!only || !*only) return true;
  for (const char *at = only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    char *end;
    const long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, NULL, 10) : first;
    if (first <= degree && degree <= last) return true;
  }
  return false;
}

#endif
