#include "space/picked.h"
#include "base/team.h"

static int64_t blocks_of(int64_t length) {
  return (length + TESI_PICKED_BLOCK - 1) / TESI_PICKED_BLOCK;
}

TesStatus tesi_picked_begin(TesContext *ctx, int64_t length, TesiPicked *picked) {
  TesStatus status = TES_OK;
  *picked = (TesiPicked){.length = length};
  TES_ALLOC(&picked->mark, length + 1);
  TES_ALLOC(&picked->before, blocks_of(length) + 1);
done:
  return status;
}

static void count(const void *data, TesiSpan span) {
  const TesiPicked *c = data;
  for (int64_t block = span.first; block < span.end; block++) {
    const int64_t first = block * TESI_PICKED_BLOCK, after = first + TESI_PICKED_BLOCK;
    const int64_t end = after < c->length ? after : c->length;
    int64_t sum = 0;
    for (int64_t i = first; i < end; i++) sum += c->mark[i];
    c->before[block + 1] = sum;
  }
}

void tesi_picked_number(const TesContext *ctx, TesiPicked *picked) {
  const int64_t blocks = blocks_of(picked->length);
  tesi_team_for(tesi_team_threads(ctx, picked->length / 8), blocks, count, picked);
  for (int64_t block = 0; block < blocks; block++) picked->before[block + 1] += picked->before[block];
  picked->count = picked->before[blocks];
}

void tesi_picked_free(TesContext *ctx, TesiPicked *picked) {
  tesi_free(ctx, &picked->mark);
  tesi_free(ctx, &picked->before);
}
