/* The order of numbers by their keys, in threads. */
#ifndef TESI_KEY_ORDER_H
#define TESI_KEY_ORDER_H

#include "base/base.h"

/* order[count] <- 0 .. count - 1 by ascending key[..]; equal keys stay in order. A pass over all numbers for every
 * byte in which keys differ. */
TesStatus tesi_order_by_key(TesContext *ctx, int64_t count, const uint64_t *key, int32_t *order);

#endif
