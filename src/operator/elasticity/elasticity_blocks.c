#include "operator/elasticity/elasticity_blocks.h"
#include "device/device.h"
#include "device/upload.h"

enum { BLOCK = TESK_ELASTIC_BLOCK };

/* All arrays on the host. number[nodes]: 1 + number of a node in its block; seen[nodes]: 1 + the last block that has
 * the node. */
typedef struct Lists {
  int64_t cells;
  int corners, most;
  const int32_t *index;
  int32_t *first, *node, *number, *seen;
  uint16_t *corner, *place_first, *place;
} Lists;

static int32_t node_of(int32_t index) {
  return index < 0 ? ~index : index;
}

static int64_t cells_of(const Lists *l, int64_t block) {
  return l->cells - block * BLOCK < BLOCK ? l->cells - block * BLOCK : BLOCK;
}

/* node[], first[block + 1] and corner[] of a block. */
static void number_nodes(Lists *l, int64_t block) {
  const int64_t cells = cells_of(l, block);
  int32_t count = 0, *own = l->node + l->first[block];
  for (int64_t c = 0; c < cells; c++)
    for (int k = 0; k < l->corners; k++) {
      const int32_t index = l->index[(block * BLOCK + c) * l->corners + k], node = node_of(index);
      if (l->seen[node] != block + 1) {
        l->seen[node] = (int32_t)block + 1;
        l->number[node] = count;
        own[count++] = index;
      }
      l->corner[(block * l->corners + k) * BLOCK + c] = (uint16_t)l->number[node];
    }
  l->first[block + 1] = l->first[block] + count;
  l->most = tesi_max(l->most, count);
}

/* Counts first, then fills in the order of cells. */
static void list_places(Lists *l, int64_t block) {
  const int64_t cells = cells_of(l, block);
  const int32_t count = l->first[block + 1] - l->first[block];
  uint16_t at[BLOCK * 8 + 1] = {0}, *first = l->place_first + l->first[block] + block,
                          *place = l->place + block * l->corners * BLOCK;
  const uint16_t *corner = l->corner + block * l->corners * BLOCK;
  for (int k = 0; k < l->corners; k++)
    for (int64_t c = 0; c < cells; c++) at[corner[k * BLOCK + c] + 1]++;
  for (int32_t i = 0; i < count; i++) at[i + 1] = (uint16_t)(at[i + 1] + at[i]);
  for (int32_t i = 0; i <= count; i++) first[i] = at[i];
  for (int64_t c = 0; c < cells; c++)
    for (int k = 0; k < l->corners; k++) place[at[corner[k * BLOCK + c]]++] = (uint16_t)(k * BLOCK + c);
}

static TesStatus make_lists(TesContext *ctx, int64_t nodes, int64_t blocks, Lists *l) {
  TesStatus status = TES_OK;
  const int64_t entries = blocks * BLOCK * l->corners;
  TES_ALLOC(&l->first, blocks + 1);
  TES_ALLOC(&l->node, l->cells * l->corners);
  TES_ALLOC(&l->number, nodes);
  TES_ALLOC(&l->seen, nodes);
  TES_ALLOC(&l->corner, entries);
  TES_ALLOC(&l->place, entries);
  for (int64_t b = 0; b < blocks; b++) number_nodes(l, b);
  TES_ALLOC(&l->place_first, l->first[blocks] + blocks);
  for (int64_t b = 0; b < blocks; b++) list_places(l, b);
done:
  return status;
}

static void forget(TesContext *ctx, Lists *l) {
  tesi_free(ctx, &l->first);
  tesi_free(ctx, &l->node);
  tesi_free(ctx, &l->number);
  tesi_free(ctx, &l->seen);
  tesi_free(ctx, &l->corner);
  tesi_free(ctx, &l->place_first);
  tesi_free(ctx, &l->place);
}

TesStatus tesi_elasticity_blocks_create(TesContext *ctx, int64_t cells, int corners, const int32_t *index,
                                        int64_t nodes, TesiElasticityBlocks *blocks) {
  TesStatus status = TES_OK;
  TesiElasticityBlocks *b = blocks;
  Lists l = {.cells = cells, .corners = corners, .index = index};
  b->count = (cells + BLOCK - 1) / BLOCK;
  const size_t entries = (size_t)(b->count * BLOCK * corners) * sizeof *l.corner;
  TES_TRY(make_lists(ctx, nodes, b->count, &l));
  const size_t listed = (size_t)l.first[b->count];
  TES_TRY(tesi_upload(ctx, l.first, (size_t)(b->count + 1) * sizeof *l.first, &b->first));
  TES_TRY(tesi_upload(ctx, l.node, listed * sizeof *l.node, &b->node));
  TES_TRY(tesi_upload(ctx, l.corner, entries, &b->corner));
  TES_TRY(
      tesi_upload(ctx, l.place_first, (listed + (size_t)b->count) * sizeof *l.place_first, &b->place_first));
  TES_TRY(tesi_upload(ctx, l.place, entries, &b->place));
  b->arguments = (TeskElasticBlocks){.first = b->first,
                                     .node = b->node,
                                     .corner = b->corner,
                                     .place_first = b->place_first,
                                     .place = b->place,
                                     .most = l.most};
done:
  forget(ctx, &l);
  return status;
}

void tesi_elasticity_blocks_destroy(TesContext *ctx, TesiElasticityBlocks *blocks) {
  void **all[] = {&blocks->first, &blocks->node, &blocks->corner, &blocks->place_first, &blocks->place};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tesi_context_device(ctx)->release(ctx, all[i]);
}
