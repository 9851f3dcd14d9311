/* Numbers in float64 or float32, one by one: for set-up and plain versions; loops have one version per precision. */
#ifndef TESI_REAL_H
#define TESI_REAL_H

#include <stdint.h>
#include "tessera/context.h"

static inline double tesi_number_get(TesPrecision precision, const void *array, int64_t i) {
  return precision == TES_DOUBLE ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static inline void tesi_number_set(TesPrecision precision, void *array, int64_t i, double value) {
  if (precision == TES_DOUBLE)
    ((double *)array)[i] = value;
  else
    ((float *)array)[i] = (float)value;
}

static inline void tesi_number_add(TesPrecision precision, void *array, int64_t i, double value) {
  if (precision == TES_DOUBLE)
    ((double *)array)[i] += value;
  else
    ((float *)array)[i] += (float)value;
}

#endif
