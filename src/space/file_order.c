#include "space/file_order.h"
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

/* Boxes of several ranks have the numbers of one rank, with owned nodes in one block. */
TesStatus tesi_file_order_create(const TesSpace *space, TesiFileOrder *o) {
  const TesiLayout *layout = space->layout;
  *o = (TesiFileOrder){.context = space->context, .all = layout->global, .own = layout->owned};
  if (tesi_ranks(space->context) == 1) return TES_OK;
  if (space->mesh->kind != TES_MESH_BOX) return number_forest(space->view, o);
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
