/* Products with bands in one precision: band.h. Rows of the tensor that lie side by side are taken as vectors; along
 * x, lines are dot products. */
#include "tensor/band.h"
#include "tensor/simd_real.h"

#ifdef TESI_REAL_SINGLE
#define VALUES(band) ((band)->single)
#else
#define VALUES(band) ((band)->value)
#endif

/* One row of y, [begin, end): entries before the end of a periodic direction, then entries after it. */
static void row_of(const TesiBandProduct *p, int r, int64_t begin, int64_t end, const Real *x, Real *y) {
  const TesiBand *band = p->band;
  const Real *value = VALUES(band) + (int64_t)r * band->width, factor = (Real)p->factor;
  const int first = band->first[r], count = band->count[r],
            before = band->columns - first < count ? band->columns - first : count;
  const int64_t inner = p->inner;
  const Real *start = x + first * inner, *again = x - before * inner;
  int64_t i = begin;
  for (; i + 2 * LANES <= end; i += 2 * LANES) {
    V a = {0}, b = {0};
    for (int j = 0; j < before; j++) {
      a += value[j] * load(start + j * inner + i);
      b += value[j] * load(start + j * inner + i + LANES);
    }
    for (int j = before; j < count; j++) {
      a += value[j] * load(again + j * inner + i);
      b += value[j] * load(again + j * inner + i + LANES);
    }
    a *= factor, b *= factor;
    if (p->keep) a += load(y + i), b += load(y + i + LANES);
    store(y + i, a);
    store(y + i + LANES, b);
  }
  for (; i < end; i++) {
    Real a = 0;
    for (int j = 0; j < before; j++) a += value[j] * start[j * inner + i];
    for (int j = before; j < count; j++) a += value[j] * again[j * inner + i];
    y[i] = factor * a + (p->keep ? y[i] : 0);
  }
}

/* A whole line along x. */
static void line_of(const TesiBandProduct *p, const Real *x, Real *y) {
  const TesiBand *band = p->band;
  const Real *value = VALUES(band), factor = (Real)p->factor;
  for (int r = 0; r < band->rows; r++, value += band->width) {
    const int first = band->first[r], count = band->count[r],
              before = band->columns - first < count ? band->columns - first : count;
    const Real *start = x + first, *again = x - before;
    Real a = 0;
    for (int j = 0; j < before; j++) a += value[j] * start[j];
    for (int j = before; j < count; j++) a += value[j] * again[j];
    y[r] = factor * a + (p->keep ? y[r] : 0);
  }
}

void REAL_NAME(tesk_band)(const TesiBandProduct *p, const TesiBandTask *t, const Real *x, Real *y) {
  const TesiBand *band = p->band;
  for (int64_t o = t->from; o < t->to; o++) {
    const Real *from = x + o * band->columns * p->inner;
    Real *to = y + o * band->rows * p->inner;
    if (p->inner == 1) {
      line_of(p, from, to);
      continue;
    }
    for (int r = 0; r < band->rows; r++) row_of(p, r, t->begin, t->end, from, to + r * p->inner);
  }
}
