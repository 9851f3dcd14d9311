#include "base/colours.h"
#include <string.h>

/* 64 colours more. */
static TesStatus add_plane(TesiColouring *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  uint64_t **mask = NULL, *taken = NULL;
  TES_ALLOC(&mask, c->planes + 1);
  TES_ALLOC(&taken, c->planes + 1);
  TES_ALLOC(&mask[c->planes], c->nodes);
  if (c->planes) {
    memcpy(mask, c->mask, (size_t)c->planes * sizeof *mask);
    memcpy(taken, c->taken, (size_t)c->planes * sizeof *taken);
  }
  tesi_free(ctx, &c->mask);
  tesi_free(ctx, &c->taken);
  c->mask = mask, c->taken = taken;
  c->planes++;
  mask = NULL, taken = NULL;
done:
  tesi_free(ctx, &mask);
  tesi_free(ctx, &taken);
  return status;
}

TesStatus tesi_colouring_begin(TesContext *ctx, int64_t nodes, TesiColouring *c) {
  *c = (TesiColouring){.context = ctx, .nodes = nodes};
  return add_plane(c);
}

void tesi_colouring_end(TesiColouring *c) {
  TesContext *ctx = c->context;
  if (!ctx) return;
  for (int p = 0; p < c->planes; p++) tesi_free(ctx, &c->mask[p]);
  tesi_free(ctx, &c->mask);
  tesi_free(ctx, &c->taken);
}

TesStatus tesi_colouring_choose(TesiColouring *c, int32_t *colour) {
  TesStatus status = TES_OK;
  int p = 0, bit = 0;
  while (p < c->planes && c->taken[p] == UINT64_MAX) p++;
  if (p == c->planes) status = add_plane(c);
  if (status != TES_OK) return status;
  while (c->taken[p] >> bit & 1) bit++;
  *colour = 64 * p + bit;
  c->colours = tesi_max(c->colours, *colour + 1);
  memset(c->taken, 0, (size_t)c->planes * sizeof *c->taken);
  return TES_OK;
}

TesStatus tesi_colours_sort(TesContext *ctx, int64_t count, int colours, const int32_t *colour,
                            int64_t **first, int32_t **order) {
  TesStatus status = TES_OK;
  TES_ALLOC(first, colours + 2);
  TES_ALLOC(order, count);
  for (int64_t i = 0; i < count; i++) (*first)[colour[i] + 2]++;
  for (int k = 0; k < colours; k++) (*first)[k + 2] += (*first)[k + 1];
  for (int64_t i = 0; i < count; i++) (*order)[(*first)[colour[i] + 1]++] = (int32_t)i;
done:
  return status;
}
