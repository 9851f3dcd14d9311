#include "problem/adapt/face_pairs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/team.h"
#include "functional/batch_faces.h"

/* A face as seen from one of its cells; the names of nodes are the same on all ranks. */
typedef struct Side {
  uint64_t key, corner[4];
  int32_t rank, cell;
  uint16_t mask;
  int8_t face;
  bool hangs;
} Side;

/* A view, and on several ranks the global numbers of its nodes (NULL: the view's own numbers). */
typedef struct Nodes {
  const TesiCellView *view;
  double *number;
} Nodes;

static bool face_hangs(const TesiCellView *s, int64_t cell, int face) {
  const unsigned mask = s->mask[cell];
  return mask >> (3 + face / 2) & 1 && (mask >> (face / 2) & 1) == (unsigned)(face & 1);
}

static int corner_node(const TesiCellView *s, int face, int corner) {
  const int end = s->n - 1;
  return tesi_face_node(s->dim, s->n, face, (corner & 1) * end + (corner >> 1) * end * s->n);
}

/* A node's term in a hash sum; the upper part of numbers beyond 32 bits counts too. */
static uint64_t node_key(const Nodes *nodes, int64_t entry, double value) {
  const int32_t node = tesi_cells_node(nodes->view->index[entry]);
  const int64_t number = nodes->number ? (int64_t)nodes->number[node] : node;
  const int32_t low = (int32_t)(number & INT32_MAX);
  return tesi_cells_row_key(1, &low, &value) + (uint64_t)(number >> 31) * 0x9e3779b97f4a7c15u;
}

static uint64_t interpolated_key(const Nodes *nodes, int64_t cell, int p) {
  const TesiCellView *s = nodes->view;
  double row[TESI_CELL_MOST];
  uint64_t key = 0;
  memset(row, 0, (size_t)s->cell_nodes * sizeof *row);
  row[p] = 1;
  tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], row);
  for (int i = 0; i < s->cell_nodes; i++)
    if (fabs(row[i]) >= TESI_CELLS_SMALL) key += node_key(nodes, cell * s->cell_nodes + i, row[i]);
  return key;
}

/* The corner of the coarse face that a hanging face names. */
static uint64_t corner_key(const Nodes *nodes, int64_t cell, int face, int corner) {
  const TesiCellView *s = nodes->view;
  const int n = s->n, p = corner_node(s, face, corner);
  const bool names =
      !(s->mask[cell] >> 3) || face_hangs(s, cell, face) ||
      !tesi_hanging_directions(s->dim, n, s->mask[cell], (const int[3]){p % n, p / n % n, p / n / n});
  return names ? node_key(nodes, cell * s->cell_nodes + p, 1) : interpolated_key(nodes, cell, p);
}

/* A key from the corners and inner nodes in any order: these never hang on a face that does not hang. */
static Side make_side(const Nodes *nodes, int64_t cell, int face) {
  const TesiCellView *s = nodes->view;
  const int n = s->n;
  Side side = {.rank = tes_communicator_rank(tesi_context_communicator(s->context)),
               .cell = (int32_t)cell,
               .mask = s->mask[cell],
               .face = (int8_t)face,
               .hangs = face_hangs(s, cell, face)};
  for (int v = 0; v < 1 << (s->dim - 1); v++) side.key += side.corner[v] = corner_key(nodes, cell, face, v);
  for (int j = s->dim == 3 ? 1 : 0; j < (s->dim == 3 ? n - 1 : 1); j++)
    for (int i = 1; i < n - 1; i++)
      side.key += node_key(nodes, cell * s->cell_nodes + tesi_face_node(s->dim, n, face, j * n + i), 1);
  return side;
}

/* The coarse side comes last; cells of ranks are in the order of all cells. */
static int by_key(const void *a, const void *b) {
  const Side *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->hangs != y->hangs) return x->hangs ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return x->cell != y->cell ? (x->cell > y->cell) - (x->cell < y->cell) : x->face - y->face;
}

/* The corner (bits of face coordinates) of `other` that is corner v of `side`; -1: none. */
static int find_corner(int dim, const Side *side, const Side *other, int v) {
  for (int w = 0; w < 1 << (dim - 1); w++)
    if (other->corner[w] == side->corner[v]) return w;
  return -1;
}

/* Whether the corners match; fills the rest of the pair. */
static bool match(int dim, const Side *side, const Side *other, TesiFacePair *pair) {
  const int directions = dim - 1, zero = find_corner(dim, side, other, 0);
  for (int e = 0; e < directions; e++) {
    const int at = find_corner(dim, side, other, 1 << e);
    if (zero < 0 || at < 0) return false;
    for (int d = 0; d < directions; d++) {
      pair->origin[d] = zero >> d & 1;
      pair->axis[e][d] = (at >> d & 1) - (zero >> d & 1);
    }
  }
  for (int e = 0, d = 0; side->hangs && d < dim; d++) { /* half of the coarse face: s -> (child + s) / 2 */
    if (d == side->face / 2) continue;
    const double low = 0.5 * (side->mask >> d & 1);
    for (int t = 0; t < directions; t++) {
      pair->origin[t] += low * pair->axis[e][t];
      pair->axis[e][t] *= 0.5;
    }
    e++;
  }
  return true;
}

enum { BUCKETS = 1024, SHIFT = 54 };

typedef struct Sides {
  const Nodes *nodes;
  int dim;
  Side *side, *sorted;
  int64_t first[BUCKETS + 2]; /* of a bucket */
} Sides;

static void list_sides(const void *data, TesiSpan span) {
  const Sides *of = data;
  for (int64_t i = span.first; i < span.end; i++)
    of->side[i] = make_side(of->nodes, i / (2 * of->dim), (int)(i % (2 * of->dim)));
}

static void sort_buckets(const void *data, TesiSpan span) {
  const Sides *of = data;
  for (int64_t b = span.first; b < span.end; b++)
    qsort(of->sorted + of->first[b], (size_t)(of->first[b + 1] - of->first[b]), sizeof *of->sorted, by_key);
}

/* sorted[sides] <- all sides by key: distributed to buckets by the first bits of their keys, then sorted in each
 * bucket. */
static TesStatus sort_sides(const Nodes *nodes, int64_t sides, Side *sorted) {
  TesContext *ctx = nodes->view->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 16 * sides);
  Sides of = {.nodes = nodes, .dim = nodes->view->dim, .sorted = sorted};
  int64_t *first = of.first;
  TES_ALLOC(&of.side, sides);
  tesi_team_for(threads, sides, list_sides, &of);
  for (int64_t i = 0; i < sides; i++) first[(of.side[i].key >> SHIFT) + 2]++;
  for (int b = 0; b < BUCKETS; b++) first[b + 2] += first[b + 1];
  for (int64_t i = 0; i < sides; i++) sorted[first[(of.side[i].key >> SHIFT) + 1]++] = of.side[i];
  tesi_team_share(threads, BUCKETS, 8, sort_buckets, &of);
done:
  tesi_free(ctx, &of.side);
  return status;
}

/* ---- cuts between ranks -------------------------------------------------------------------------------- */

/* Whether the sides sorted[i] .. sorted[end - 1] of one face have their complete other side on this rank. */
static bool is_whole(int dim, const Side *sorted, int64_t i, int64_t end) {
  const bool coarse = !sorted[end - 1].hangs; /* the last one is a whole face */
  return coarse && (end - i == 1 + (sorted[i].hangs ? 1 << (dim - 1) : 1));
}

/* shown[..] <- the sides on this rank of inner faces whose other side, or part of it, is on another rank. */
static int64_t list_shown(const TesiCellView *s, const Side *sorted, int64_t sides, Side *shown) {
  int64_t count = 0;
  for (int64_t i = 0; i < sides;) {
    int64_t end = i + 1;
    int name;
    while (end < sides && sorted[end].key == sorted[i].key) end++;
    const bool cut = !is_whole(s->dim, sorted, i, end) &&
                     !tes_mesh_on_boundary(s->mesh, sorted[i].cell, sorted[i].face, &name);
    for (; i < end; i++)
      if (cut) shown[count++] = sorted[i];
  }
  return count;
}

/* Whether a side with this key is among the shown sides, which are sorted by their keys. */
static bool is_shown(const Side *shown, int64_t count, uint64_t key) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (shown[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && shown[low].key == key;
}

/* *sorted += the sides of other ranks that faces here need; their cells are numbered after the last cell. */
static TesStatus add_others(const TesiCellView *s, Side **sorted, int64_t *sides, TesiAcross *across) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  Side *shown = NULL, *seen = NULL, *all = NULL;
  TES_ALLOC(&shown, *sides);
  across->shown = list_shown(s, *sorted, *sides, shown);
  TES_ALLOC(&across->cell, across->shown);
  TES_ALLOC(&across->face, across->shown);
  for (int64_t i = 0; i < across->shown; i++)
    across->cell[i] = shown[i].cell, across->face[i] = shown[i].face;
  TES_TRY(tesi_exchange_records(ctx, s->layout->shared, across->shown, sizeof *shown, shown, &across->seen,
                                &seen));
  TES_ALLOC(&across->place, across->seen);
  TES_ALLOC(&all, *sides + across->seen);
  memcpy(all, *sorted, (size_t)*sides * sizeof *all);
  for (int64_t i = 0; i < across->seen; i++) {
    across->place[i] = -1;
    if (!is_shown(shown, across->shown, seen[i].key)) continue;
    across->place[i] = (int32_t)across->cells;
    seen[i].cell = (int32_t)(s->cells + across->cells++);
    all[(*sides)++] = seen[i];
  }
  qsort(all, (size_t)*sides, sizeof *all, by_key);
  tesi_free(ctx, sorted);
  *sorted = all, all = NULL;
done:
  tesi_free(ctx, &shown);
  tesi_free(ctx, &seen);
  tesi_free(ctx, &all);
  return status;
}

TesStatus tesi_across_values(const TesiCellView *s, const TesiAcross *across, size_t size, const void *shown,
                             void *values) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  char *seen = NULL, **to = values;
  int64_t count;
  *to = NULL;
  TES_TRY(tesi_exchange_records(ctx, s->layout->shared, across->shown, size, shown, &count, &seen));
  TES_ALLOC(to, (size_t)across->cells * size);
  for (int64_t i = 0; i < count; i++)
    if (across->place[i] >= 0) memcpy(*to + (size_t)across->place[i] * size, seen + (size_t)i * size, size);
done:
  tesi_free(ctx, &seen);
  return status;
}

void tesi_across_free(TesContext *ctx, TesiAcross *across) {
  tesi_free(ctx, &across->cell);
  tesi_free(ctx, &across->face);
  tesi_free(ctx, &across->place);
}

/* ---- pairs --------------------------------------------------------------------------------------------- */

/* Pairs without their geometry; of[i]: indices in the sorted sides of the pair's own side and of the other side (-1:
 * none). Returns how many pairs; at least one side of each is one of the `own` cells. */
static int64_t find_pairs(const Side *sorted, int64_t sides, int64_t own, TesiFacePair *pair,
                          int64_t (*of)[2]) {
  int64_t count = 0;
  for (int64_t i = 0; i < sides;) {
    int64_t end = i + 1;
    while (end < sides && sorted[end].key == sorted[i].key) end++;
    for (int64_t k = i; k < end - 1 || k == i; k++) {
      const bool alone = end == i + 1;
      if (sorted[k].cell >= own && sorted[end - 1].cell >= own) continue;
      pair[count] = (TesiFacePair){.cell = sorted[k].cell, .face = sorted[k].face, .other = -1};
      if (!alone) pair[count].other = sorted[end - 1].cell, pair[count].other_face = sorted[end - 1].face;
      of[count][0] = k, of[count++][1] = alone ? -1 : end - 1;
    }
    i = end;
  }
  return count;
}

typedef struct Pairs {
  int dim;
  const Side *sorted;
  int64_t (*of)[2];
  TesiFacePair *pair;
  int64_t *wrong;
} Pairs;

static void match_pairs(const void *data, TesiSpan span) {
  const Pairs *p = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t *of = p->of[i];
    if (of[1] >= 0 && !match(p->dim, &p->sorted[of[0]], &p->sorted[of[1]], &p->pair[i]))
      tesi_team_least(p->wrong, i);
  }
}

TesStatus tesi_face_pairs(const TesiCellView *space, TesiAcross *across, TesiFacePair **pair, int64_t *count) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  int64_t sides = space->cells * 2 * space->dim;
  Nodes nodes = {space, NULL};
  Side *sorted = NULL;
  int64_t(*of)[2] = NULL, wrong = INT64_MAX;
  *count = 0;
  TES_ALLOC(&sorted, sides);
  if (tesi_ranks(ctx) > 1) TES_TRY(tesi_layout_numbers(space->layout, &nodes.number));
  TES_TRY(sort_sides(&nodes, sides, sorted));
  if (tesi_ranks(ctx) > 1) TES_TRY(add_others(space, &sorted, &sides, across));
  TES_ALLOC(&of, sides);
  TES_ALLOC(pair, sides);
  *count = find_pairs(sorted, sides, space->cells, *pair, of);
  tesi_team_for(tesi_team_threads(ctx, 16 * *count), *count, match_pairs,
                &(Pairs){space->dim, sorted, of, *pair, &wrong});
  if (wrong < INT64_MAX)
    TES_FAIL(TES_INTERNAL, "faces of cells %d and %d do not match", (*pair)[wrong].cell, (*pair)[wrong].other);
done:
  tesi_free(ctx, &nodes.number);
  tesi_free(ctx, &sorted);
  tesi_free(ctx, &of);
  if (status != TES_OK) tesi_free(ctx, pair);
  return status;
}
