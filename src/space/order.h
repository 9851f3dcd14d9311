/* Orders in which a device may hold the entries of a vector, beside the order of all vectors. A smoother keeps its
 * iterate in an order of its own, and a transfer that knows the order writes there, which spares a pass over the
 * vector. Everybody else hands the order on without looking inside. */
#ifndef TESI_ORDER_H
#define TESI_ORDER_H

#include "base/base.h"

/* PARITY: cells by the parity of their numbers in each direction, the order of kernels/stokes_lanes.cu; `numbers` is
 * its TeskLanes. */
typedef enum TesiEntryOrderKind { TESI_ORDER_USUAL, TESI_ORDER_PARITY } TesiEntryOrderKind;

typedef struct TesiEntryOrder {
  TesiEntryOrderKind kind;
  const void *numbers; /* where entries stand, by kind; NULL: the kind needs none */
  void *values;        /* device memory for one vector in this order, the smoother's */
} TesiEntryOrder;

#endif
