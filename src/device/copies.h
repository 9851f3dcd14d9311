/* The exchange of parallel/exchange.h where vectors live: in host memory, or in the memory of a device with kernels.
 * There kernels pack shared entries and add copies in the order of ranks. Both give the same bits. */
#ifndef TESI_COPIES_H
#define TESI_COPIES_H

#include "device/device.h"
#include "parallel/exchange.h"

/* Every copy of a shared entry of x becomes the sum of all copies. x stands in the memory of the context's device.
 * exchange NULL: nothing is shared. The first call allocates. All ranks call it. */
TesStatus tesi_sum_copies(TesContext *ctx, TesiExchange *exchange, TesPrecision precision, void *x);

/* What the first call of it allocates, before: all ranks call it. */
TesStatus tesi_prepare_copies(TesContext *ctx, TesiExchange *exchange);

#endif
