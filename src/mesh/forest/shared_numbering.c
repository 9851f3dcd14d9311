/* Masks and nodes of a forest of several ranks, by p4est's own numbering. */
#include "mesh/forest/hanging.h"
#include "mesh/forest/leaf_numbering.h"

enum { EDGES = 2 }; /* the smallest degree that has a node inside each edge */

/* Marks the nodes in the middle of the coarse edges of a cell that have hanging edges. */
static void mark_edges(unsigned mask, const int32_t *index, double *marked) {
  for (int p = 0; p < 27; p++) {
    const int at[3] = {p % 3, p / 3 % 3, p / 9};
    for (int d = 0; d < 3; d++)
      if (at[d] == 1 && at[(d + 1) % 3] != 1 && at[(d + 2) % 3] != 1 &&
          tesi_hanging_directions(3, 3, mask, at) >> d & 1)
        marked[index[p]] = 1;
  }
}

/* Of all ranks; in 3D an edge is seen by any number of cells. */
static TesStatus count_edges(const TesMesh *f, int64_t *edges) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  TesiForestNodes nodes = {0};
  TesiExchange *exchange = NULL;
  int32_t *index = NULL;
  uint16_t *mask = NULL;
  double *marked = NULL;
  *edges = 0;
  if (f->dim == 2) return TES_OK;
  TES_ALLOC(&index, 27 * f->cells);
  TES_ALLOC(&mask, f->cells);
  TES_TRY(f->p4est->number(ctx, f->forest, EDGES, index, mask, &nodes));
  TES_ALLOC(&marked, nodes.nodes);
  for (int64_t c = 0; c < f->cells; c++)
    if (mask[c] >> 3) mark_edges(mask[c], index + 27 * c, marked);
  TES_TRY(tesi_exchange_create(ctx, &nodes.sharers, NULL, &exchange));
  tesi_exchange_sum(exchange, TES_DOUBLE, marked);
  for (int64_t i = 0; i < nodes.owned; i++) *edges += marked[i] > 0;
  *edges = tesi_reduce_count(ctx, *edges);
done:
  tesi_exchange_destroy(&exchange);
  tesi_sharers_free(ctx, &nodes.sharers);
  tesi_free(ctx, &index);
  tesi_free(ctx, &mask);
  tesi_free(ctx, &marked);
  return status;
}

TesStatus tesi_shared_masks(const TesMesh *f, uint16_t *mask) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  TesiForestNodes nodes = {0};
  int32_t *index = NULL;
  TES_ALLOC(&index, (int64_t)(1 << f->dim) * f->cells);
  TES_TRY(f->p4est->number(ctx, f->forest, 1, index, mask, &nodes));
done:
  tesi_sharers_free(ctx, &nodes.sharers);
  tesi_free(ctx, &index);
  return status;
}

/* Coarse faces that hang are seen by 2^(dim-1) cells and have (2k-1)^(dim-1) fine nodes inside, coarse edges 2k-1. */
TesStatus tesi_shared_number(const TesMesh *f, int degree, int32_t *index, TesiForestNodes *nodes,
                             int64_t *hanging) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const int64_t fine = 2 * degree - 1;
  int64_t faces = 0, edges;
  uint16_t *mask = NULL;
  TES_ALLOC(&mask, f->cells);
  TES_TRY(f->p4est->number(ctx, f->forest, degree, index, mask, nodes));
  for (int64_t c = 0; c < f->cells; c++)
    for (int d = 0; d < f->dim; d++) faces += mask[c] >> (3 + d) & 1;
  faces = tesi_reduce_count(ctx, faces);
  TES_TRY(count_edges(f, &edges));
  *hanging = f->dim == 2 ? faces / 2 * fine : faces / 4 * fine * fine + edges * fine;
done:
  tesi_free(ctx, &mask);
  return status;
}
