/* Orders in which a device may hold the entries of a vector, beside the order of all vectors. A smoother keeps its
 * iterate in its own order. A transfer that knows this order writes in it, which saves a pass over the vector. All
 * other code passes the order on without reading it. */
#ifndef TESI_ORDER_H
#define TESI_ORDER_H

#include "base/base.h"

/* PARITY: cells by the parity of their numbers in each direction, the order of kernels/stokes_lanes.cu; `numbers` is
 * its TeskLanes. */
typedef enum TesiEntryOrderKind { TESI_ORDER_USUAL, TESI_ORDER_PARITY } TesiEntryOrderKind;

typedef struct TesiEntryOrder {
  TesiEntryOrderKind kind;
  const void *numbers; /* the place of each entry, by kind; NULL: the kind needs none */
  void *values;        /* device memory for one vector in this order, the smoother's */
} TesiEntryOrder;

#endif
