#include "device/blocks.h"
#include <string.h>
#include "base/grow.h"
#include "base/memory_mark.h"

/* The first block that does not lie below the address. */
static size_t place_of(const TesiBlocks *b, const void *address) {
  size_t low = 0, high = b->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if ((uintptr_t)b->block[middle].address < (uintptr_t)address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

TesStatus tesi_blocks_add(TesContext *ctx, TesiBlocks *b, void *address, size_t bytes) {
  TesStatus status = TES_OK;
  const size_t at = place_of(b, address);
  TES_GROW(&b->block, (int64_t)b->count, (int64_t)b->count + 1, &b->room);
  memmove(b->block + at + 1, b->block + at, (b->count - at) * sizeof *b->block);
  b->block[at] = (TesiBlock){address, bytes};
  b->count++;
  b->held += bytes;
  if (b->held > b->high) b->high = b->held;
done:
  return status;
}

void tesi_blocks_remove(TesiBlocks *b, const void *address) {
  const size_t at = place_of(b, address);
  if (at == b->count || b->block[at].address != address) return;
  b->held -= b->block[at].bytes;
  b->count--;
  memmove(b->block + at, b->block + at + 1, (b->count - at) * sizeof *b->block);
}

void tesi_blocks_free(TesContext *ctx, TesiBlocks *b) {
  tesi_free(ctx, &b->block);
  *b = (TesiBlocks){0};
}

static TesiBlocks *blocks_of(const TesContext *ctx) {
  TesiKernelState *state = tesi_has_kernels(ctx) ? tesi_context_device_state(ctx) : NULL;
  return state ? &state->blocks : NULL;
}

void tesi_usage_mark(TesContext *ctx) {
  TesiBlocks *b = blocks_of(ctx);
  tesi_memory_mark(ctx);
  if (b) b->high = b->held;
}

TesiUsage tesi_usage_host(TesContext *ctx) {
  return (TesiUsage){tes_context_memory(ctx), tesi_memory_high(ctx), tes_memory_available()};
}

TesiUsage tesi_usage_device(TesContext *ctx) {
  const TesiBlocks *b = blocks_of(ctx);
  if (!b) return (TesiUsage){0};
  return (TesiUsage){b->held, b->high, tesi_context_device(ctx)->available(ctx)};
}
