/* Batches of cells: which cells share a vector, and how their nodes lie in memory. */
#include <stdlib.h>
#include <string.h>
#include "base/integer.h"
#include "base/work.h"
#include "basis/entity_nodes.h"
#include "operator/mapped/host/mapped_host.h"
#include "tessera/space.h"

enum { STRETCH = 16 }; /* batches */

typedef struct Group {
  uint64_t key;  /* on the curve */
  int32_t first; /* in `list` */
  int32_t count;
  bool joined;
} Group;

typedef struct Batching {
  TesiMappedHost *plan;
  const TesiMapped *m;
  uint64_t *keys;
  int32_t *list; /* [cells] cells, group after group */
  Group *group;  /* [batches] */
  int64_t used;  /* cells in the list */
} Batching;

static int32_t decode(int32_t index) {
  return index < 0 ? ~index : index;
}

/* Rows of `cell` go up by one from node to node. */
static bool has_runs(const TesiMapped *m, int64_t cell) {
  const int32_t *index = m->index + cell * m->cell_nodes;
  for (int64_t row = 0; row < m->cell_nodes; row += m->n)
    for (int i = 1; i < m->n; i++)
      if (decode(index[row + i]) != decode(index[row]) + i) return false;
  return true;
}

/* The rows of cell + 1 begin where the rows of cell end. */
static bool follows(const TesiMapped *m, int64_t cell) {
  const int32_t *index = m->index + cell * m->cell_nodes;
  for (int64_t row = 0; row < m->cell_nodes; row += m->n)
    if (decode(index[m->cell_nodes + row]) != decode(index[row + m->degree])) return false;
  return true;
}

static void add_group(Batching *s, const int32_t *cells, int count, bool joined) {
  Group *g = &s->group[s->plan->batches++];
  *g = (Group){.key = s->keys[cells[0]], .first = (int32_t)s->used, .count = count, .joined = joined};
  memcpy(s->list + s->used, cells, (size_t)count * sizeof *cells);
  s->used += count;
}

/* Full batches of cells whose rows join; rest[] gets the other cells. Returns the number of the others. */
static int64_t join_cells(Batching *s, int32_t *rest) {
  const TesiMapped *m = s->m;
  const int lanes = s->plan->kernels.lanes;
  int64_t left = 0;
  for (int64_t c = 0; c < m->cells;) {
    int64_t end = c + 1;
    const bool runs = !tesi_mapped_hangs(m, c) && has_runs(m, c);
    while (runs && end < m->cells && end - c < lanes && !tesi_mapped_hangs(m, end) && has_runs(m, end) &&
           follows(m, end - 1))
      end++;
    if (end - c < lanes) {
      rest[left++] = (int32_t)c++;
      continue;
    }
    int32_t cells[TESI_MAPPED_LANES];
    for (int l = 0; l < lanes; l++) cells[l] = (int32_t)(c + l);
    add_group(s, cells, lanes, true);
    c = end;
  }
  return left;
}

typedef struct Keyed {
  uint64_t key;
  int32_t cell, kind; /* how nodes of a cell hang, and how they can be read */
} Keyed;

static int by_key(const void *a, const void *b) {
  const Keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->cell > y->cell) - (x->cell < y->cell);
}

static int by_group_key(const void *a, const void *b) {
  const Group *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

static bool row_is_run(const TesiMapped *m, const int32_t *row) {
  for (int i = 2; i < m->degree; i++)
    if (decode(row[i]) != decode(row[1]) + i - 1) return false;
  return true;
}

/* Runs are read four at a time: shorter runs need as many numbers after them. */
enum { RUN = 4 };

/* The inner nodes of all rows follow one another; used from 2 inner nodes on. */
static bool has_inner_runs(const TesiMapped *m, int64_t cell) {
  const int32_t *row = m->index + cell * m->cell_nodes, *end = row + m->cell_nodes;
  for (; row < end; row += m->n)
    if (!row_is_run(m, row) || decode(row[1]) + RUN > m->nodes) return false;
  return true;
}

/* The same for the nodes of all entities. */
static bool has_entities(const TesiMappedHost *plan, int64_t cell) {
  const TesiMapped *m = plan->m;
  const int32_t *index = m->index + cell * m->cell_nodes;
  const int16_t *begin = plan->entity, *node = begin + plan->patterns + 1;
  for (int p = 0; p < plan->patterns; p++) {
    const int32_t first = decode(index[node[begin[p]]]);
    for (int i = begin[p] + 1; i < begin[p + 1]; i++)
      if (decode(index[node[i]]) != first + i - begin[p]) return false;
    if (begin[p + 1] - begin[p] > 1 && first + RUN > m->nodes) return false;
  }
  return true;
}

/* How a cell that is not joined to others can be read; smaller is better. */
static TesiGather shape_of(const TesiMappedHost *plan, int64_t cell) {
  const TesiMapped *m = plan->m;
  return m->degree < 3 || m->components > 1 ? TESI_GATHER_ANY
         : has_entities(plan, cell)         ? TESI_GATHER_ENTITIES
         : has_inner_runs(m, cell)          ? TESI_GATHER_RUNS
                                            : TESI_GATHER_ANY;
}

static int32_t kind_of(const TesiMappedHost *plan, int64_t cell) {
  const int32_t mask = tesi_mapped_hangs(plan->m, cell) ? plan->m->mask[cell] : 0;
  return TESI_GATHER_ELEMENT * mask + (int32_t)shape_of(plan, cell);
}

static int by_kind(const void *a, const void *b) {
  const Keyed *x = a, *y = b;
  return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : by_key(a, b);
}

/* Sorts cells by keys. Cells that are already in this order, as in forests, stay. */
static void sort_keys(int64_t count, Keyed *keyed) {
  int64_t i = 1;
  while (i < count && by_key(&keyed[i - 1], &keyed[i]) < 0) i++;
  if (i < count) qsort(keyed, (size_t)count, sizeof *keyed, by_key);
}

/* Stretches of cells by their keys. */
typedef struct Stretches {
  const Batching *s;
  int64_t cells, length;
  Keyed *keyed;
  _Atomic int64_t *corners;
} Stretches;

static int64_t stretches(const Stretches *t) {
  return (t->cells + t->length - 1) / t->length;
}

static void group_stretches(const void *data, TesiSpan span) {
  const Stretches *t = data;
  for (int64_t i = span.first * t->length; i < tesi_min64(span.end * t->length, t->cells); i += t->length) {
    const int64_t count = tesi_min64(t->length, t->cells - i);
    for (int64_t k = i; k < i + count; k++) t->keyed[k].kind = kind_of(t->s->plan, t->keyed[k].cell);
    qsort(t->keyed + i, (size_t)count, sizeof *t->keyed, by_kind);
  }
}

/* The remaining cells along the curve: those without hanging nodes, or those with hanging nodes. The cells are taken
 * in stretches so short that their nodes stay in a cache. In a stretch cells of the same kind are put together: a
 * line that hangs in one lane is interpolated in all lanes, and one cell without runs prevents runs for all. */
static TesStatus group_rest(TesContext *ctx, Batching *s, int64_t left, const int32_t *rest, bool hanging) {
  TesStatus status = TES_OK;
  const int lanes = s->plan->kernels.lanes;
  Keyed *keyed = NULL;
  TES_ALLOC(&keyed, left);
  int64_t kept = 0;
  for (int64_t i = 0; i < left; i++)
    if (tesi_mapped_hangs(s->m, rest[i]) == hanging) keyed[kept++] = (Keyed){s->keys[rest[i]], rest[i], 0};
  sort_keys(kept, keyed);
  const Stretches t = {s, kept, STRETCH * lanes, keyed, NULL};
  tesi_team_for(s->plan->threads, stretches(&t), group_stretches, &t);
  for (int64_t i = 0; i < kept; i += lanes) {
    int32_t cells[TESI_MAPPED_LANES];
    const int count = kept - i < lanes ? (int)(kept - i) : lanes;
    for (int l = 0; l < count; l++) cells[l] = keyed[i + l].cell;
    add_group(s, cells, count, false);
  }
done:
  tesi_free(ctx, &keyed);
  return status;
}

/* Whether two lanes have the same number at node p. */
static bool lanes_meet(const TesiMappedHost *plan, const int32_t *cells, int64_t p) {
  const TesiMapped *m = plan->m;
  const int lanes = plan->kernels.lanes;
  int32_t first[TESI_MAPPED_LANES];
  int meet = 0;
  for (int l = 0; l < lanes; l++) first[l] = decode(m->index[cells[l] * m->cell_nodes + p]);
  for (int l = 1; l < lanes; l++)
    for (int o = 0; o < l; o++) meet |= first[o] == first[l];
  return meet;
}

/* Whether two lanes have the same run in one row, or as one entity (cells that are rotated against each other). */
static bool runs_meet(const TesiMappedHost *plan, const int32_t *cells) {
  for (int64_t row = 0; row < plan->nodes; row += plan->n)
    if (lanes_meet(plan, cells, row + 1)) return true;
  return false;
}

static bool entities_meet(const TesiMappedHost *plan, const int32_t *cells) {
  const int16_t *begin = plan->entity, *node = begin + plan->patterns + 1;
  for (int p = 0; p < plan->patterns; p++)
    if (begin[p + 1] - begin[p] > 1 && lanes_meet(plan, cells, node[begin[p]])) return true;
  return false;
}

/* The best kind that all lanes allow. Runs are added in all lanes at once, so no two lanes may have the same run. */
static TesiGather common_shape(const TesiMappedHost *plan, const int32_t *cells) {
  TesiGather shape = TESI_GATHER_ENTITIES;
  for (int l = 0; l < plan->kernels.lanes && shape < TESI_GATHER_ANY; l++)
    shape = tesi_max(shape, shape_of(plan, cells[l]));
  if (shape == TESI_GATHER_ENTITIES && entities_meet(plan, cells)) shape = TESI_GATHER_RUNS;
  if (shape == TESI_GATHER_RUNS && runs_meet(plan, cells)) shape = TESI_GATHER_ANY;
  return shape;
}

static int64_t index_size(const TesiMappedHost *plan, TesiGather kind) {
  const int64_t rows = plan->nodes / plan->n, lanes = plan->kernels.lanes;
  return kind == TESI_GATHER_JOINED     ? rows
         : kind == TESI_GATHER_ENTITIES ? plan->patterns * lanes
         : kind == TESI_GATHER_RUNS     ? 3 * rows * lanes
                                        : plan->nodes * lanes;
}

/* The numbers of one lane's cell, `step` apart. */
static void fill_lane(const TesiMappedHost *plan, TesiGather kind, const int32_t *index, int64_t step,
                      int32_t *to) {
  const int n = plan->n;
  const int16_t *begin = plan->entity, *node = begin + plan->patterns + 1;
  if (kind == TESI_GATHER_ANY)
    for (int64_t p = 0; p < plan->nodes; p++) to[p * step] = decode(index[p]);
  else if (kind == TESI_GATHER_ENTITIES)
    for (int p = 0; p < plan->patterns; p++) to[p * step] = decode(index[node[begin[p]]]);
  else if (kind == TESI_GATHER_RUNS)
    for (int64_t row = 0; row < plan->nodes; row += n, to += 3 * step) {
      to[0] = decode(index[row]), to[step] = decode(index[row + 1]);
      to[2 * step] = decode(index[row + n - 1]);
    }
  else
    for (int64_t row = 0; row < plan->nodes; row += n) *to++ = decode(index[row]);
}

static void fill_index(const TesiMappedHost *plan, const TesiMappedBatch *batch, const int32_t *cells) {
  const TesiMapped *m = plan->m;
  const int lanes = plan->kernels.lanes;
  for (int l = 0; l < (batch->kind == TESI_GATHER_JOINED ? 1 : lanes); l++)
    fill_lane(plan, batch->kind, m->index + cells[l] * m->cell_nodes, lanes, plan->index + batch->index + l);
}

/* Whether some lane does not count at some node. */
static bool has_masks(const TesiMappedHost *plan, const TesiMappedBatch *batch, const int32_t *cells) {
  const TesiMapped *m = plan->m;
  int32_t all = 0;
  for (int l = 0; l < batch->count; l++)
    for (int64_t p = 0; p < plan->nodes; p++) all |= m->index[cells[l] * m->cell_nodes + p];
  return batch->count < plan->kernels.lanes || all < 0;
}

/* Bits of the lanes that count, at each node. */
static void lane_masks(const TesiMappedHost *plan, const TesiMappedBatch *batch, const int32_t *cells,
                       uint16_t *mask) {
  const TesiMapped *m = plan->m;
  for (int64_t p = 0; p < plan->nodes; p++) mask[p] = 0;
  for (int l = 0; l < batch->count; l++)
    for (int64_t p = 0; p < plan->nodes; p++)
      mask[p] = (uint16_t)(mask[p] | (unsigned)(m->index[cells[l] * m->cell_nodes + p] >= 0) << l);
}

/* Lanes by child and by kind of line. */
static void fill_hanging(const TesiMappedHost *plan, const TesiMappedBatch *batch, const int32_t *cells,
                         TesiMappedHanging *h) {
  for (int l = 0; l < batch->count; l++) {
    const unsigned mask = plan->m->mask[cells[l]];
    for (int d = 0; d < plan->dim; d++) {
      const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
      const int side_e = mask >> e & 1 ? 2 : 0, side_f = mask >> f & 1 ? 2 : 0;
      h->upper[d] = (uint16_t)(h->upper[d] | (mask >> d & 1) << l);
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
          if (tes_mask_line(mask, d, a == side_e, plan->dim == 3 && b == side_f))
            h->line[d][a][b] = (uint16_t)(h->line[d][a][b] | 1u << l), h->directions |= (uint16_t)(1u << d);
    }
  }
}

/* The properties of a batch alone. The places and numbers of its masks and hanging lines follow later; here they are
 * 0 or -1. */
static void find_kind(const TesiMappedHost *plan, const Group *group, const int32_t *cells,
                      TesiMappedBatch *batch) {
  batch->count = group->count;
  batch->kind = group->joined && plan->components == 1 ? TESI_GATHER_JOINED : common_shape(plan, cells);
  batch->mask = has_masks(plan, batch, cells) ? 0 : -1;
  batch->hanging = tesi_mapped_hangs(plan->m, cells[0]) ? 0 : -1;
}

/* The plan, and the groups from which its batches are made. */
typedef struct Describe {
  const TesiMappedHost *plan;
  const Group *group;
} Describe;

static void find_kinds(const void *data, TesiSpan span) {
  const Describe *d = data;
  const TesiMappedHost *plan = d->plan;
  for (int64_t b = span.first; b < span.end; b++)
    find_kind(plan, &d->group[b], plan->cell + b * plan->kernels.lanes, &plan->batch[b]);
}

static void fill_batches(const void *data, TesiSpan span) {
  const TesiMappedHost *plan = ((const Describe *)data)->plan;
  for (int64_t b = span.first; b < span.end; b++) {
    const TesiMappedBatch *batch = &plan->batch[b];
    const int32_t *cells = plan->cell + b * plan->kernels.lanes;
    fill_index(plan, batch, cells);
    if (batch->hanging >= 0) fill_hanging(plan, batch, cells, &plan->hanging[batch->hanging]);
    if (batch->mask >= 0) lane_masks(plan, batch, cells, plan->masks + batch->mask);
  }
}

/* Kinds, sizes and places of all batches; then their numbers. */
static TesStatus describe_global(TesContext *ctx, TesiMappedHost *plan, const Batching *s) {
  TesStatus status = TES_OK;
  int64_t entries = 0, masks = 0, hanging = 0;
  const Describe describe = {plan, s->group};
  TES_TRY(tesi_work_for(ctx, plan->threads, plan->batches, find_kinds, &describe));
  for (int64_t b = 0; b < plan->batches; b++) {
    TesiMappedBatch *batch = &plan->batch[b];
    batch->index = entries;
    entries += index_size(plan, batch->kind);
    if (batch->mask >= 0) batch->mask = masks, masks += plan->nodes;
    if (batch->hanging >= 0) batch->hanging = hanging++;
  }
  TES_ALLOC(&plan->hanging, hanging);
  TES_ALLOC(&plan->index, entries);
  TES_ALLOC(&plan->masks, masks);
  TES_TRY(tesi_work_for(ctx, plan->threads, plan->batches, fill_batches, &describe));
done:
  return status;
}

static TesStatus list_cells(TesContext *ctx, TesiMappedHost *plan, const Batching *s) {
  TesStatus status = TES_OK;
  const int lanes = plan->kernels.lanes;
  TES_ALLOC(&plan->batch, plan->batches);
  TES_ALLOC(&plan->cell, plan->batches * lanes);
  for (int64_t b = 0; b < plan->batches; b++)
    for (int l = 0; l < lanes; l++)
      plan->cell[b * lanes + l] = s->list[s->group[b].first + (l < s->group[b].count ? l : 0)];
done:
  return status;
}

/* The number of different corners of some cells. */
static int64_t stretch_corners(const TesiMapped *m, int64_t count, const Keyed *keyed) {
  enum { SLOTS = 4096 }; /* an open hash table, at most half full */
  int32_t slot[SLOTS];
  int64_t different = 0;
  memset(slot, -1, sizeof slot);
  for (int64_t c = 0; c < count; c++)
    for (int v = 0; v < 1 << m->dim; v++) {
      const int64_t p = m->degree * ((v & 1) + m->n * ((v >> 1 & 1) + m->n * (v >> 2)));
      const int32_t node = decode(m->index[keyed[c].cell * m->cell_nodes + p]);
      uint32_t at = (uint32_t)node * 2654435769u >> 20;
      while (slot[at] >= 0 && slot[at] != node) at = (at + 1) % SLOTS;
      different += slot[at] < 0;
      slot[at] = node;
    }
  return different;
}

static void count_stretches(const void *data, TesiSpan span) {
  const Stretches *t = data;
  int64_t sum = 0;
  for (int64_t c = span.first * t->length; c < tesi_min64(span.end * t->length, t->cells); c += t->length)
    sum += stretch_corners(t->s->m, tesi_min64(t->length, t->cells - c), t->keyed + c);
  atomic_fetch_add(t->corners, sum);
}

/* The number of corners in stretches of cells in the order of their keys: the fewer, the less a stretch reads. */
static TesStatus count_corners(TesContext *ctx, const Batching *s, const uint64_t *keys, int64_t *corners) {
  TesStatus status = TES_OK;
  const TesiMapped *m = s->m;
  _Atomic int64_t sum = 0;
  Keyed *keyed = NULL;
  TES_ALLOC(&keyed, m->cells);
  for (int64_t c = 0; c < m->cells; c++) keyed[c] = (Keyed){keys[c], (int32_t)c, 0};
  sort_keys(m->cells, keyed);
  const Stretches t = {s, m->cells, STRETCH * s->plan->kernels.lanes, keyed, &sum};
  tesi_team_for(s->plan->threads, stretches(&t), count_stretches, &t);
  *corners = sum;
done:
  tesi_free(ctx, &keyed);
  return status;
}

/* In each tree leaves lie on a curve. This holds for so few trees that their ends do not matter. */
static bool lies_on_curve(const TesiMapped *m) {
  enum { LEAVES_A_TREE = 64 };
  const TesMesh *mesh = m->view ? m->view->mesh : NULL;
  return mesh && mesh->kind == TES_MESH_FOREST && mesh->coarse->trees * LEAVES_A_TREE <= m->cells;
}

/* Uses the order of cells as keys, which the numbers of nodes mostly follow. Hilbert's curve is used instead if few
 * rows join and stretches of cells have a tenth more corners than along that curve. */
static TesStatus make_keys(TesContext *ctx, Batching *s, int32_t *rest, int64_t *left) {
  TesStatus status = TES_OK;
  uint64_t *curve = NULL;
  int64_t own, others;
  TES_ALLOC(&s->keys, s->m->cells);
  for (int64_t c = 0; c < s->m->cells; c++) s->keys[c] = (uint64_t)c;
  *left = join_cells(s, rest);
  if (*left <= s->m->cells / 2 || lies_on_curve(s->m)) return TES_OK;
  TES_TRY(tesi_mapped_make_keys(s->m, &curve));
  TES_TRY(count_corners(ctx, s, s->keys, &own));
  TES_TRY(count_corners(ctx, s, curve, &others));
  if (10 * own <= 11 * others) goto done;
  tesi_free(ctx, &s->keys);
  s->keys = curve, curve = NULL;
  for (int64_t b = 0; b < s->plan->batches; b++) s->group[b].key = s->keys[s->list[s->group[b].first]];
done:
  tesi_free(ctx, &curve);
  return status;
}

static TesStatus make_global(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  Batching s = {.plan = plan, .m = m};
  int32_t *rest = NULL;
  int64_t left = 0;
  plan->patterns = m->dim == 3 ? 27 : 9;
  TES_ALLOC(&plan->entity, plan->patterns + 1 + plan->nodes);
  tesi_entity_nodes(m->dim, m->n, plan->entity, plan->entity + plan->patterns + 1);
  TES_ALLOC(&s.list, m->cells);
  TES_ALLOC(&s.group, m->cells);
  TES_ALLOC(&rest, m->cells);
  TES_TRY(make_keys(ctx, &s, rest, &left));
  TES_TRY(group_rest(ctx, &s, left, rest, false));
  if (m->mask) TES_TRY(group_rest(ctx, &s, left, rest, true));
  qsort(s.group, (size_t)plan->batches, sizeof *s.group, by_group_key);
  TES_TRY(list_cells(ctx, plan, &s));
  TES_TRY(describe_global(ctx, plan, &s));
done:
  tesi_free(ctx, &s.keys);
  tesi_free(ctx, &s.list);
  tesi_free(ctx, &s.group);
  tesi_free(ctx, &rest);
  return status;
}

/* Element vectors: cells in their order. */
static TesStatus make_element(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  const int lanes = plan->kernels.lanes;
  const int64_t cells = plan->m->cells;
  plan->batches = (cells + lanes - 1) / lanes;
  TES_ALLOC(&plan->batch, plan->batches);
  TES_ALLOC(&plan->cell, plan->batches * lanes);
  for (int64_t b = 0; b < plan->batches; b++) {
    const int64_t first = b * lanes;
    plan->batch[b] = (TesiMappedBatch){.index = first * plan->components * plan->nodes,
                                       .mask = -1,
                                       .hanging = -1,
                                       .kind = TESI_GATHER_ELEMENT,
                                       .count = cells - first < lanes ? (int)(cells - first) : lanes};
    for (int l = 0; l < lanes; l++) plan->cell[first + l] = (int32_t)(first + l < cells ? first + l : first);
  }
done:
  return status;
}

TesStatus tesi_mapped_make_batches(TesContext *ctx, TesiMappedHost *plan) {
  return plan->m->global ? make_global(ctx, plan) : make_element(ctx, plan);
}
