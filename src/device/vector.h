/* Vectors as the other folders see them. */
#ifndef TESI_VECTOR_H
#define TESI_VECTOR_H

#include "device/device.h"
#include "tessera/vector.h"

struct TesVector {
  TesContext *context;
  int64_t length;
  TesPrecision precision;
  void *data; /* device address */
};

static inline size_t tesi_precision_size(TesPrecision precision) {
  return precision == TES_DOUBLE ? sizeof(double) : sizeof(float);
}

#endif
