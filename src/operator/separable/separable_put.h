/* Memory operations of the separable operator beside its contractions, for the *_simd.c files: results are written,
 * residuals are rounded to float32 and their squares summed, a correction is added to x while x is read. */
#ifndef TESI_SEPARABLE_PUT_H
#define TESI_SEPARABLE_PUT_H

#include "operator/separable/separable.h"
#include "tensor/simd_real.h"
#include "tensor/stream.h"

/* y <- values, or b - values; past the caches when streaming. */
static void put(const Real *values, const Real *b, Real *y, int count, bool stream) {
  int i = 0;
  if (stream)
    for (; i < count && (uintptr_t)(y + i) % sizeof(V) != 0; i++) y[i] = b ? b[i] - values[i] : values[i];
  for (; i + LANES <= count; i += LANES) {
    V v = load(values + i);
    if (b) v = load(b + i) - v;
    if (stream)
      tesi_stream(y + i, &v);
    else
      store(y + i, v);
  }
  for (; i < count; i++) y[i] = b ? b[i] - values[i] : values[i];
}

/* r <- factor (b - values) in float32 (NULL: in Real); *sum += (b - values)^2, lane by lane. */
static void put_rounded(const Real *values, const Real *b, float *r, Real factor, int count, V *sum) {
  typedef float Low __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
  V total = *sum;
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
    const V v = load(b + i) - load(values + i);
    total += v * v;
    *(Low *)(r + i) = __builtin_convertvector(factor * v, Low);
  }
  for (; i < count; i++) {
    const Real v = b[i] - values[i];
    total[i % LANES] += v * v;
    r[i] = (float)(factor * v);
  }
  *sum = total;
}

/* out <- x + scale e for all, x <- out for the first `own`; e in float32. */
static void add_correction(Real *x, const float *e, Real scale, ptrdiff_t own, ptrdiff_t all, Real *out) {
  typedef float Low __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
  ptrdiff_t i = 0;
  for (; i + LANES <= own; i += LANES) {
    const V v = load(x + i) + scale * __builtin_convertvector(*(const Low *)(e + i), V);
    store(out + i, v);
    store(x + i, v);
  }
  for (; i < own; i++) x[i] = out[i] = x[i] + scale * e[i];
  for (; i + LANES <= all; i += LANES)
    store(out + i, load(x + i) + scale * __builtin_convertvector(*(const Low *)(e + i), V));
  for (; i < all; i++) out[i] = x[i] + scale * e[i];
}

#endif
