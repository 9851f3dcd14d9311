/* Chunks of batches: what a thread takes at a time. */
#include <string.h>
#include "operator/op_mapped_host.h"

enum { NODES_A_CHUNK = 1 << 15, FEWEST = 32, MOST_COLOURS = 64 };

/* colour[chunk]: the lowest that no chunk with a common node has. Each node remembers the colours at it. */
static TesStatus colour_chunks(TesContext *ctx, TesiMappedHost *plan, int64_t size, unsigned char *colour) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  const int lanes = plan->kernels.lanes;
  uint64_t *mask = NULL;
  TES_ALLOC(&mask, m->nodes);
  for (int64_t k = 0; k < plan->chunks; k++) {
    const int64_t first = k * size * lanes, end = tesi_min64((k + 1) * size, plan->batches) * lanes;
    uint64_t used = 0;
    int own = 0;
    for (int pass = 0; pass < 2; pass++) {
      for (int64_t c = first; c < end; c++)
        for (int64_t p = 0; p < m->cell_nodes; p++) {
          const int32_t i = m->index[plan->cell[c] * m->cell_nodes + p];
          uint64_t *at = &mask[i < 0 ? ~i : i];
          if (pass == 0)
            used |= *at;
          else
            *at |= (uint64_t)1 << own;
        }
      while (pass == 0 && own < MOST_COLOURS && used >> own & 1) own++;
      TES_CHECK(own < MOST_COLOURS, "the cells need more than %d colours: too many share a node",
                MOST_COLOURS);
    }
    colour[k] = (unsigned char)own;
    plan->colours = tesi_max(plan->colours, own + 1);
  }
done:
  tesi_free(ctx, &mask);
  return status;
}

static void order_chunks(TesiMappedHost *plan, int64_t size, const unsigned char *colour) {
  int64_t at = 0;
  for (int c = 0; c < plan->colours; c++) {
    plan->first_of_colour[c] = at;
    for (int64_t k = 0; k < plan->chunks; k++)
      if (colour[k] == c)
        plan->chunk[at++] =
            (TesiMappedChunk){.first = k * size, .end = tesi_min64((k + 1) * size, plan->batches)};
  }
  plan->first_of_colour[plan->colours] = at;
}

/* owner[node]: the first chunk that has it; -1: none has, the last chunk sets it. Then ranges of nodes with one owner. */
static TesStatus find_zeros(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  const int lanes = plan->kernels.lanes;
  int32_t *owner = NULL;
  TES_ALLOC(&owner, m->nodes);
  memset(owner, -1, (size_t)m->nodes * sizeof *owner);
  for (int64_t k = 0; k < plan->chunks; k++)
    for (int64_t c = plan->chunk[k].first * lanes; c < plan->chunk[k].end * lanes; c++)
      for (int64_t p = 0; p < m->cell_nodes; p++) {
        const int32_t i = m->index[plan->cell[c] * m->cell_nodes + p];
        if (owner[i < 0 ? ~i : i] < 0) owner[i < 0 ? ~i : i] = (int32_t)k;
      }
  int64_t ranges = 0;
  for (int64_t i = 0; i < m->nodes; i++) {
    if (owner[i] < 0) owner[i] = (int32_t)plan->chunks - 1;
    if (i && owner[i] == owner[i - 1]) continue;
    plan->chunk[owner[i]].zero_end++;
    ranges++;
  }
  TES_ALLOC(&plan->zero, ranges);
  for (int64_t k = 0, at = 0; k < plan->chunks; k++) {
    at += plan->chunk[k].zero_end;
    plan->chunk[k].zero = plan->chunk[k].zero_end = at - plan->chunk[k].zero_end;
  }
  for (int64_t i = 0; i < m->nodes;) {
    int64_t end = i + 1;
    while (end < m->nodes && owner[end] == owner[i]) end++;
    int32_t *range = plan->zero[plan->chunk[owner[i]].zero_end++];
    range[0] = (int32_t)i, range[1] = (int32_t)end;
    i = end;
  }
done:
  tesi_free(ctx, &owner);
  return status;
}

/* Batches a chunk: nodes that stay in the caches, and enough chunks for many threads. */
static int64_t chunk_size(const TesiMappedHost *plan) {
  const int64_t lanes = plan->kernels.lanes, inner = plan->m->global ? plan->m->degree : plan->n;
  const int64_t nodes = inner * inner * (plan->dim == 3 ? inner : 1) * lanes * plan->components;
  const int64_t size = tesi_min64(NODES_A_CHUNK / nodes, plan->batches / FEWEST);
  return size < 1 ? 1 : size;
}

TesStatus tesi_mapped_make_chunks(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  unsigned char *colour = NULL;
  const int64_t size = chunk_size(plan);
  plan->chunks = (plan->batches + size - 1) / size;
  TES_ALLOC(&plan->chunk, plan->chunks);
  TES_ALLOC(&colour, plan->chunks);
  plan->colours = 1;
  if (plan->m->global) TES_TRY(colour_chunks(ctx, plan, size, colour));
  order_chunks(plan, size, colour);
  if (plan->m->global) TES_TRY(find_zeros(ctx, plan));
done:
  tesi_free(ctx, &colour);
  return status;
}
