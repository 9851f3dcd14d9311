/* The exchange of parallel/exchange.h where vectors are: in host memory, or in the memory of a device with kernels,
 * which pack shared entries and add copies in the order of ranks. Both give the same bits. */
#ifndef TESI_COPIES_H
#define TESI_COPIES_H

#include "device/device.h"
#include "parallel/exchange.h"

/* Every copy of a shared entry of x, where vectors of that context are, becomes the sum of all copies. NULL: nothing.
 * The first call allocates. */
TesStatus tesi_sum_copies(TesContext *ctx, TesiExchange *exchange, TesPrecision precision, void *x);

#endif
