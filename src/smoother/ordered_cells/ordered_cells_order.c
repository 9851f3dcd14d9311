/* In which order unknowns are eliminated: see ordered_cells.h. */
#include <string.h>
#include "operator/transport/transport_operator.h"
#include "smoother/ordered_cells/ordered_cells.h"

typedef struct Cells {
  TesContext *context;
  const TesiCellView *view;
  int64_t nodes;    /* of a cell */
  double *velocity; /* [cells][3] widths of the cell a unit of time, along its directions */
  double *ahead;    /* [cells][nodes] how far a node lies downstream of the middle of the cell */
  int64_t *first;   /* [length + 1] entries of a node, numbers of ahead: entry[first[i]] .. */
  int64_t *entry;
  int64_t *behind; /* [cells + 1] cells that come before a cell: upstream[behind[c]] .. */
  int32_t *upstream;
  int32_t *shared; /* [cells] nodes that a neighbour shares, 0 between uses */
  double *weight;  /* [cells] */
  int32_t *list;   /* [cells] */
} Cells;

static int64_t node_of(const TesiCellView *view, int64_t entry) {
  const int32_t index = view->index[entry];
  return index < 0 ? -1 - index : index;
}

/* Mean velocity of each cell, in its own directions. */
static void take_velocities(const TesiTransport *t, double *velocity) {
  const TesiBatches *b = t->batches;
  const int64_t n = tesi_batches_array(b);
  for (int64_t number = 0; number < b->batches; number++) {
    const TesiBatch batch = b->kind->batch(b, number);
    const double *from = t->numbers + (t->uniform ? 0 : number) * t->arrays * n + n;
    for (int l = 0; l < batch.count; l++)
      for (int d = 0; d < b->dim; d++)
        for (int64_t p = 0; p < b->points; p++)
          velocity[(batch.first + l) * 3 + d] += from[d * n + p * TESI_BATCH + l] / (double)b->points;
  }
}

static void look_ahead(const Cells *c) {
  const TesiCellView *v = c->view;
  for (int64_t e = 0; e < v->cells * c->nodes; e++) {
    const double *velocity = c->velocity + e / c->nodes * 3;
    int64_t k = e % c->nodes;
    c->ahead[e] = 0;
    for (int d = 0; d < v->dim; d++, k /= v->n) c->ahead[e] += velocity[d] * (v->node[k % v->n] - 0.5);
  }
}

static void list_entries(const Cells *c) {
  const TesiCellView *v = c->view;
  const int64_t entries = v->cells * c->nodes;
  for (int64_t e = 0; e < entries; e++) c->first[node_of(v, e) + 2]++;
  for (int64_t i = 0; i < v->length; i++) c->first[i + 2] += c->first[i + 1];
  for (int64_t e = 0; e < entries; e++) c->entry[c->first[node_of(v, e) + 1]++] = e;
}

/* list <- the neighbours from which the velocity enters a cell. A neighbour shares a face with the cell, so more nodes
 * than an edge has. The velocity enters from it if the shared nodes lie further ahead in the neighbour than in the
 * cell. Returns how many. */
static int64_t list_upstream(const Cells *c, int64_t cell) {
  const TesiCellView *v = c->view;
  const int32_t edge = v->dim == 3 ? v->n : 1;
  int64_t count = 0, left = 0;
  for (int64_t e = cell * c->nodes; e < (cell + 1) * c->nodes; e++)
    for (int64_t i = c->first[node_of(v, e)]; i < c->first[node_of(v, e) + 1]; i++) {
      const int64_t other = c->entry[i] / c->nodes;
      if (other == cell) continue;
      if (c->shared[other]++ == 0) c->list[count++] = (int32_t)other, c->weight[other] = 0;
      c->weight[other] += c->ahead[c->entry[i]] - c->ahead[e];
    }
  for (int64_t i = 0; i < count; i++) {
    const int32_t other = c->list[i];
    if (c->shared[other] > edge && c->weight[other] > 0) c->list[left++] = other;
    c->shared[other] = 0;
  }
  return left;
}

static TesStatus find_upstream(Cells *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  for (int64_t cell = 0; cell < c->view->cells; cell++)
    c->behind[cell + 1] = c->behind[cell] + list_upstream(c, cell);
  TES_ALLOC(&c->upstream, c->behind[c->view->cells]);
  for (int64_t cell = 0; cell < c->view->cells; cell++) {
    const int64_t count = list_upstream(c, cell);
    memcpy(c->upstream + c->behind[cell], c->list, (size_t)count * sizeof *c->list);
  }
done:
  return status;
}

/* Arrays of the search, [cells] each. */
typedef struct Search {
  int64_t *next;         /* what to look at, in upstream; -1: the cell is new */
  int32_t *stack, *slot; /* slot: where a cell stands on the stack, -1: in the order */
  int64_t top, longest;  /* longest: cells of the longest closed path that was met */
} Search;

static void push(const Cells *c, int32_t cell, Search *s) {
  s->next[cell] = c->behind[cell];
  s->slot[cell] = (int32_t)s->top;
  s->stack[s->top++] = cell;
}

/* A search in depth against the flow, without recursion. A cell that the search meets again is in the order, or on the
 * stack: then the path is closed, and is cut here. */
static void order_cells(const Cells *c, Search *s, int32_t *order) {
  int64_t count = 0;
  for (int64_t cell = 0; cell < c->view->cells; cell++) s->next[cell] = -1;
  for (int64_t start = 0; start < c->view->cells; start++) {
    if (s->next[start] < 0) push(c, (int32_t)start, s);
    while (s->top > 0) {
      const int32_t cell = s->stack[s->top - 1];
      if (s->next[cell] == c->behind[cell + 1]) {
        order[count++] = cell, s->slot[cell] = -1, s->top--;
        continue;
      }
      const int32_t other = c->upstream[s->next[cell]++];
      if (s->next[other] < 0)
        push(c, other, s);
      else if (s->slot[other] >= 0)
        s->longest = tesi_max(s->longest, s->top - s->slot[other]);
    }
  }
}

/* Appends the nodes of a cell that are new, along the velocity. */
static int64_t number_nodes(const Cells *c, int64_t cell, uint8_t *known, double *key, int64_t count,
                            int32_t *order) {
  const int64_t first = count;
  for (int64_t e = cell * c->nodes; e < (cell + 1) * c->nodes; e++) {
    const int64_t node = node_of(c->view, e);
    int64_t at = count;
    if (known[node]) continue;
    known[node] = 1;
    for (; at > first && key[at - 1 - first] > c->ahead[e]; at--)
      order[at] = order[at - 1], key[at - first] = key[at - 1 - first];
    order[at] = (int32_t)node, key[at - first] = c->ahead[e];
    count++;
  }
  return count;
}

/* passed[node] <- how far the flow has come through cells of this rank where it is at the node. */
static void look_back(const Cells *c, double *passed) {
  for (int64_t e = 0; e < c->view->cells * c->nodes; e++)
    if (c->ahead[e] > 0) passed[node_of(c->view, e)] += c->ahead[e];
}

static TesStatus number_all(const Cells *c, int32_t *order, int64_t *longest) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const int64_t cells = c->view->cells;
  Search search = {.top = 0};
  int32_t *cell = NULL;
  int64_t count = 0;
  uint8_t *known = NULL;
  double *key = NULL;
  TES_ALLOC(&cell, cells);
  TES_ALLOC(&search.stack, cells);
  TES_ALLOC(&search.slot, cells);
  TES_ALLOC(&search.next, cells);
  TES_ALLOC(&known, c->view->length);
  TES_ALLOC(&key, c->nodes);
  order_cells(c, &search, cell);
  *longest = search.longest;
  for (int64_t i = 0; i < cells; i++) count = number_nodes(c, cell[i], known, key, count, order);
  for (int64_t i = 0; i < c->view->length; i++)
    if (!known[i]) order[count++] = (int32_t)i; /* nodes of no cell */
done:
  tesi_free(ctx, &cell);
  tesi_free(ctx, &search.stack);
  tesi_free(ctx, &search.slot);
  tesi_free(ctx, &search.next);
  tesi_free(ctx, &known);
  tesi_free(ctx, &key);
  return status;
}

static void free_cells(Cells *c) {
  TesContext *ctx = c->context;
  tesi_free(ctx, &c->velocity);
  tesi_free(ctx, &c->ahead);
  tesi_free(ctx, &c->first);
  tesi_free(ctx, &c->entry);
  tesi_free(ctx, &c->behind);
  tesi_free(ctx, &c->upstream);
  tesi_free(ctx, &c->shared);
  tesi_free(ctx, &c->weight);
  tesi_free(ctx, &c->list);
}

TesStatus tesi_ordered_cells_order(const TesOperator *op, int32_t *order, int64_t *longest, double *passed) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Cells c = {.context = ctx};
  TES_TRY(tesi_space_cells(op->space->scalar[0], &c.view));
  c.nodes = c.view->cell_nodes;
  TES_ALLOC(&c.velocity, 3 * c.view->cells);
  TES_ALLOC(&c.ahead, c.view->cells * c.nodes);
  TES_ALLOC(&c.first, c.view->length + 2);
  TES_ALLOC(&c.entry, c.view->cells * c.nodes);
  TES_ALLOC(&c.behind, c.view->cells + 1);
  TES_ALLOC(&c.shared, c.view->cells);
  TES_ALLOC(&c.weight, c.view->cells);
  TES_ALLOC(&c.list, c.view->cells);
  take_velocities(tesi_transport_of(op), c.velocity);
  look_ahead(&c);
  list_entries(&c);
  TES_TRY(find_upstream(&c));
  TES_TRY(number_all(&c, order, longest));
  if (passed) look_back(&c, passed);
done:
  free_cells(&c);
  return status;
}

TesStatus tesi_ordered_cells_closed(const TesOperator *op, int64_t *longest) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  int32_t *order = NULL;
  TES_ALLOC(&order, op->length);
  TES_TRY(tesi_ordered_cells_order(op, order, longest, NULL));
done:
  tesi_free(ctx, &order);
  return status;
}
