/* The blocks that a context holds on its device, in the order of their addresses. The devices' allocate and release
 * maintain the list; predictions of memory read it. */
#ifndef TESI_BLOCKS_H
#define TESI_BLOCKS_H

#include "device/kernel.h"

TesStatus tesi_blocks_add(TesContext *ctx, TesiBlocks *blocks, void *address, size_t bytes);
void tesi_blocks_remove(TesiBlocks *blocks, const void *address);
void tesi_blocks_free(TesContext *ctx, TesiBlocks *blocks);

/* Bytes held, their maximum since the mark, and bytes that could still be allocated: of host memory, or of device
 * memory on a device with kernels. */
typedef struct TesiUsage {
  size_t held, high, available;
} TesiUsage;
void tesi_usage_mark(TesContext *ctx);
TesiUsage tesi_usage_host(TesContext *ctx);
/* All zero on devices without kernels. */
TesiUsage tesi_usage_device(TesContext *ctx);

#endif
