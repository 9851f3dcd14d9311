#include "device/blocks.h"
#include "base/grow.h"
#include "base/memory_mark.h"

TesStatus tesi_blocks_add(TesContext *ctx, TesiBlocks *b, void *address, size_t bytes) {
  TesStatus status = TES_OK;
  TES_GROW(&b->block, (int64_t)b->count, (int64_t)b->count + 1, &b->room);
  b->block[b->count++] = (TesiBlock){address, bytes};
  b->held += bytes;
  if (b->held > b->high) b->high = b->held;
done:
  return status;
}

/* The latest block is often the first to be released. */
void tesi_blocks_remove(TesiBlocks *b, const void *address) {
  for (size_t i = b->count; i-- > 0;)
    if (b->block[i].address == address) {
      b->held -= b->block[i].bytes;
      b->block[i] = b->block[--b->count];
      return;
    }
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
