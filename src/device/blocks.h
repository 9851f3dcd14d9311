/* What a context holds on its device: kept by the devices' allocate and release, asked for by predictions. */
#ifndef TESI_BLOCKS_H
#define TESI_BLOCKS_H

#include "device/kernel.h"

TesStatus tesi_blocks_add(TesContext *ctx, TesiBlocks *blocks, void *address, size_t bytes);
void tesi_blocks_remove(TesiBlocks *blocks, const void *address);
void tesi_blocks_free(TesContext *ctx, TesiBlocks *blocks);

/* Bytes that are held, the most that were held since the mark, and bytes that could still be allocated: of the
 * host's memory, or of the device's memory on a device with kernels. */
typedef struct TesiUsage {
  size_t held, high, available;
} TesiUsage;
void tesi_usage_mark(TesContext *ctx);
TesiUsage tesi_usage_host(TesContext *ctx);
/* All zero where there are no kernels. */
TesiUsage tesi_usage_device(TesContext *ctx);

#endif
