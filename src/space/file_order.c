#include "space/file_order.h"
#include <string.h>
#include "base/integer.h"
#include "basis/entity_nodes.h"
#include "parallel/rank_slices.h"

void tesi_file_order_free(TesiFileOrder *o) {
  if (!o->context) return;
  tesi_free(o->context, &o->entry);
  tesi_free(o->context, &o->number);
}

/* ---- forests of several ranks -------------------------------------------------------------------------- */

/* The nodes of the cells in the order in which cells meet them, corner by corner, edge by edge, face by face.
 * list[count] are the nodes with `wanted` (NULL: all), each once. met[length]: zeros. */
static int64_t list_as_met(const TesiCellView *s, const bool *wanted, bool *met, int32_t *list) {
  enum { PARTS = 27, MOST = TESI_MAX_POINTS * TESI_MAX_POINTS * TESI_MAX_POINTS };
  int16_t begin[PARTS + 1], node[MOST];
  int64_t count = 0;
  tesi_entity_nodes(s->dim, s->n, begin, node);
  for (int64_t c = 0; c < s->cells; c++)
    for (int p = 0; p < s->cell_nodes; p++) {
      const int32_t i = tesi_cells_node(s->index[c * s->cell_nodes + node[p]]);
      if (met[i]) continue;
      met[i] = true;
      if (!wanted || wanted[i]) list[count++] = i;
    }
  return count;
}

/* own[length] <- whether this rank is the first rank with a cell that has the node. work: [length] */
static void find_own(const TesiCellView *s, const bool *met, double *work, bool *own) {
  const TesCommunicator *communicator = tesi_context_communicator(s->context);
  const double here = tes_communicator_size(communicator) - tes_communicator_rank(communicator);
  for (int64_t i = 0; i < s->length; i++) work[i] = met[i] ? here : 0;
  tesi_exchange_begin(s->layout->shared, TES_DOUBLE, work);
  tesi_exchange_end(s->layout->shared, TESI_MAXIMUM, TES_DOUBLE, work);
  for (int64_t i = 0; i < s->length; i++) own[i] = met[i] && work[i] == here;
}

static TesStatus number_forest(const TesiCellView *s, TesiFileOrder *o) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiSlices parts = {0};
  bool *met = NULL, *own = NULL;
  double *work = NULL;
  status = tesi_alloc(ctx, (size_t)s->length + 1, sizeof *met, &met);
  if (status == TES_OK) status = tesi_alloc(ctx, (size_t)s->length + 1, sizeof *own, &own);
  if (status == TES_OK) status = tesi_alloc(ctx, (size_t)s->length + 1, sizeof *work, &work);
  if (status == TES_OK) status = tesi_alloc(ctx, (size_t)s->length + 1, sizeof *o->entry, &o->entry);
  if (status == TES_OK) status = tesi_alloc(ctx, (size_t)s->length + 1, sizeof *o->number, &o->number);
  TES_TRY(tesi_agree(ctx, status));
  list_as_met(s, NULL, met, o->entry);
  find_own(s, met, work, own);
  for (int64_t i = 0; i < s->length; i++) met[i] = false, work[i] = 0;
  o->own = list_as_met(s, own, met, o->entry);
  TES_TRY(tesi_slices_create(ctx, o->own, &parts));
  o->all = parts.all;
  for (int64_t i = 0; i < o->own; i++) work[o->entry[i]] = (double)(parts.first + i);
  tesi_exchange_sum(s->layout->shared, TES_DOUBLE, work);
  for (int64_t i = 0; i < s->length; i++) o->number[i] = (int64_t)work[i];
done:
  tesi_slices_free(&parts);
  tesi_free(ctx, &met);
  tesi_free(ctx, &own);
  tesi_free(ctx, &work);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

/* ---- boxes of several ranks ---------------------------------------------------------------------------- */

/* Each rank puts as many numbers into files as the others. */
static int64_t first_of_slab(const TesiFileOrder *o, int64_t rank) {
  return o->all / tesi_ranks(o->context) * rank + tesi_min64(rank, o->all % tesi_ranks(o->context));
}

static TesStatus number_grid(const TesSpace *s, TesiFileOrder *o) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiAxis *a = s->axis;
  const int rank = tesi_context_communicator(ctx)->rank;
  int64_t at[3], n = 0;
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)s->length + 1, sizeof *o->number, &o->number)));
  for (at[2] = 0; at[2] < a[2].nodes; at[2]++)
    for (at[1] = 0; at[1] < a[1].nodes; at[1]++)
      for (at[0] = 0; at[0] < a[0].nodes; at[0]++) o->number[n++] = tesi_space_number(s, at);
  o->grid = s->layout;
  o->start = first_of_slab(o, rank);
  o->own = first_of_slab(o, rank + 1) - o->start;
done:
  return status;
}

/* Pieces of slabs, one after the other, are sums of what ranks own of them. */
TesStatus tesi_file_order_slab(const TesiFileOrder *o, const double *values, double *slab) {
  enum { PIECE = 1 << 20 };
  TesContext *ctx = o->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = o->grid;
  const int64_t runs = tesi_layout_runs(layout);
  double *piece = NULL;
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, PIECE, sizeof *piece, &piece)));
  for (int64_t first = 0; first < o->all; first += PIECE) {
    const int64_t count = tesi_min64(PIECE, o->all - first);
    memset(piece, 0, (size_t)count * sizeof *piece);
    for (int64_t r = 0; r < runs; r++) {
      const TesiOwned own = tesi_layout_run(layout, r);
      const int64_t begin = tesi_max64(own.first, first),
                    end = tesi_min64(own.first + own.owned, first + count);
      if (begin < end)
        memcpy(piece + begin - first, values + own.start + begin - own.first,
               (size_t)(end - begin) * sizeof *piece);
    }
    tesi_reduce(ctx, TESI_SUM, (int)count, piece);
    const int64_t begin = tesi_max64(o->start, first), end = tesi_min64(o->start + o->own, first + count);
    if (begin < end)
      memcpy(slab + begin - o->start, piece + begin - first, (size_t)(end - begin) * sizeof *slab);
  }
done:
  tesi_free(ctx, &piece);
  return status;
}

/* Boxes have the numbers of one rank; where the last direction alone is cut, owned nodes are in one block. */
TesStatus tesi_file_order_create(const TesSpace *space, TesiFileOrder *o) {
  const TesiLayout *layout = space->layout;
  *o = (TesiFileOrder){.context = space->context, .all = layout->global, .own = layout->owned};
  if (tesi_ranks(space->context) == 1) return TES_OK;
  if (space->mesh->kind != TES_MESH_BOX) return number_forest(space->view, o);
  if (tesi_mesh_gridded(space->mesh)) return number_grid(space, o);
  o->start = layout->block[0].start;
  o->shift = layout->block[0].first - o->start;
  return TES_OK;
}

bool tesi_mesh_box_of_trees(const TesMesh *mesh, int64_t cells[3]) {
  const TesiTrees *trees = mesh->coarse;
  if (mesh->kind != TES_MESH_FOREST || !trees->box[0]) return false;
  int64_t all = 1;
  for (int d = 0; d < 3; d++) {
    cells[d] = d < mesh->dim ? (int64_t)trees->box[d] << mesh->max_level : 1;
    all *= cells[d];
  }
  return all == mesh->p4est->all_cells(mesh->forest);
}

TesStatus tesi_file_order_create_box(const TesSpace *space, TesiFileOrder *o) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = space->mesh;
  const TesiCellView *s = space->view;
  int64_t cells[3], nodes[3] = {1, 1, 1};
  *o = (TesiFileOrder){.context = ctx, .all = 1};
  TES_CHECK(tesi_mesh_box_of_trees(mesh, cells), "the mesh is no box of equal cells");
  for (int d = 0; d < s->dim; d++) {
    nodes[d] = cells[d] * s->degree + !mesh->coarse->periodic[d];
    o->all *= nodes[d];
  }
  TES_ALLOC(&o->number, s->length);
  for (int64_t c = 0; c < s->cells; c++) {
    const int32_t tree = mesh->leaves.tree[c], *box = mesh->coarse->box;
    const int32_t at[3] = {tree % box[0], tree / box[0] % box[1], tree / box[0] / box[1]};
    for (int p = 0; p < s->cell_nodes; p++) {
      const int in_cell[3] = {p % s->n, p / s->n % s->n, p / s->n / s->n};
      int64_t number = 0;
      for (int d = s->dim - 1; d >= 0; d--) {
        const int64_t cell = ((int64_t)at[d] << mesh->max_level) +
                             (mesh->leaves.origin[3 * c + d] >> (mesh->depth - mesh->max_level));
        number = number * nodes[d] + (cell * s->degree + in_cell[d]) % nodes[d];
      }
      o->number[tesi_cells_node(s->index[c * s->cell_nodes + p])] = number;
    }
  }
done:
  return status;
}

/* ---- a hash -------------------------------------------------------------------------------------------- */

static uint64_t add(uint64_t hash, uint32_t number) { /* FNV-1a */
  return (hash ^ number) * 0x100000001b3u;
}

uint64_t tesi_file_order_hash(const TesiCellView *s, const TesiFileOrder *o) {
  const TesCommunicator *communicator = tesi_context_communicator(s->context);
  const int ranks = tesi_ranks(s->context), rank = ranks > 1 ? tes_communicator_rank(communicator) : 0;
  uint64_t hash = 0xcbf29ce484222325u;
  for (int r = 0; r < ranks; r++) {
    for (int64_t i = 0; r == rank && i < s->cells * s->cell_nodes; i++) {
      const int64_t number = tesi_file_number(o, tesi_cells_node(s->index[i]));
      hash = add(hash, (uint32_t)(s->index[i] < 0 ? -1 - number : number));
    }
    tesi_broadcast(s->context, r, sizeof hash, &hash);
  }
  for (int r = 0; r < ranks; r++) {
    for (int64_t c = 0; r == rank && c < s->cells; c++) hash = add(hash, s->mask[c]);
    tesi_broadcast(s->context, r, sizeof hash, &hash);
  }
  return hash;
}
