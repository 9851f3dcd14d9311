/* Dimensions of expressions in which numbers have units. */
#include <math.h>
#include <string.h>
#include "io/expression/units.h"

TesiDimension tesi_dimension_known(bool written, const int power[TESI_DIMENSIONS]) {
  TesiDimension known = {.is = TESI_DIMENSION_KNOWN, .written = written};
  memcpy(known.power, power, sizeof known.power);
  return known;
}

TesiDimension tesi_dimension_product(TesiDimension a, TesiDimension b, bool over) {
  TesiDimension product = {.is = a.is > b.is ? a.is : b.is, .written = a.written || b.written};
  const bool factor = a.is != b.is && !product.written; /* 2*x */
  if (factor || a.is == TESI_DIMENSION_ANY || b.is == TESI_DIMENSION_ANY) return (TesiDimension){0};
  for (int d = 0; d < TESI_DIMENSIONS; d++) product.power[d] = a.power[d] + (over ? -b.power[d] : b.power[d]);
  return product;
}

TesiDimension tesi_dimension_power(TesiDimension a, double n) {
  TesiDimension power = a;
  if (a.is != TESI_DIMENSION_KNOWN) return a;
  for (int d = 0; d < TESI_DIMENSIONS; d++) {
    const double p = a.power[d] * n;
    if (!(fabs(p) < 100 && fabs(p - round(p)) < 1e-9)) return (TesiDimension){0};
    power.power[d] = (int)round(p);
  }
  return power;
}

bool tesi_dimension_join(TesiDimension a, TesiDimension b, TesiDimension *joined) {
  const bool known = a.is == TESI_DIMENSION_KNOWN && b.is == TESI_DIMENSION_KNOWN,
             same = !memcmp(a.power, b.power, sizeof a.power);
  *joined = (TesiDimension){.is = a.is == b.is && same ? a.is : TESI_DIMENSION_ANY};
  if (a.written || b.written) *joined = a.written ? a : b;
  return !known || same || !(a.written || b.written);
}

bool tesi_dimension_may_be(TesiDimension a, const int power[TESI_DIMENSIONS]) {
  return !a.written || !memcmp(a.power, power, sizeof a.power);
}
