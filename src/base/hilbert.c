#include "base/hilbert.h"
#include <math.h>

/* Position on the curve of 2^bits cells per direction (Skilling, AIP Conf. Proc. 707 (2004) 381). */
static uint64_t position(int dim, int bits, uint32_t x[3]) {
  for (int b = bits - 1; b > 0; b--)
    for (int i = 0; i < dim; i++) { /* without branches: no processor foresees these */
      const uint32_t low = (1u << b) - 1, set = 0 - (x[i] >> b & 1), t = (x[0] ^ x[i]) & low & ~set;
      x[0] ^= t | (low & set);
      x[i] ^= t;
    }
  for (int i = 1; i < dim; i++) x[i] ^= x[i - 1];
  uint32_t t = 0;
  for (int b = bits - 1; b > 0; b--) t ^= ((1u << b) - 1) & (0 - (x[dim - 1] >> b & 1));
  uint64_t key = 0;
  for (int b = bits - 1; b >= 0; b--)
    for (int i = 0; i < dim; i++) key = key << 1 | ((x[i] ^ t) >> b & 1);
  return key;
}

TesiHilbert tesi_hilbert_around(int dim, int64_t n, const double *x, int stride) {
  TesiHilbert curve = {.dim = dim};
  for (int d = 0; d < dim; d++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++) low = fmin(low, x[i * stride + d]), high = fmax(high, x[i * stride + d]);
    curve.low[d] = low;
    curve.size = fmax(curve.size, high - low);
  }
  return curve;
}

uint64_t tesi_hilbert_key(const TesiHilbert *curve, const double x[]) {
  uint32_t at[3] = {0};
  for (int d = 0; d < curve->dim && curve->size > 0; d++)
    at[d] = (uint32_t)((x[d] - curve->low[d]) / curve->size * ((1 << TESI_HILBERT_BITS) - 1));
  return position(curve->dim, TESI_HILBERT_BITS, at);
}
