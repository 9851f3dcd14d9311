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
  const uint64_t key = value == 1 ? tesi_cells_node_key(low) : tesi_cells_row_key(1, &low, &value);
  return key + (uint64_t)(number >> 31) * 0x9e3779b97f4a7c15u;
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

/* A side without its key. */
static Side make_side(const Nodes *nodes, int64_t cell, int face) {
  const TesiCellView *s = nodes->view;
  Side side = {.rank = tes_communicator_rank(tesi_context_communicator(s->context)),
               .cell = (int32_t)cell,
               .mask = s->mask[cell],
               .face = (int8_t)face,
               .hangs = face_hangs(s, cell, face)};
  for (int v = 0; v < 1 << (s->dim - 1); v++) side.corner[v] = corner_key(nodes, cell, face, v);
  return side;
}

/* From the corners and inner nodes in any order: these never hang on a face that does not hang. */
static uint64_t side_key(const Nodes *nodes, int64_t cell, int face) {
  const TesiCellView *s = nodes->view;
  const int n = s->n;
  uint64_t key = 0;
  for (int v = 0; v < 1 << (s->dim - 1); v++) key += corner_key(nodes, cell, face, v);
  for (int j = s->dim == 3 ? 1 : 0; j < (s->dim == 3 ? n - 1 : 1); j++)
    for (int i = 1; i < n - 1; i++)
      key += node_key(nodes, cell * s->cell_nodes + tesi_face_node(s->dim, n, face, j * n + i), 1);
  return key;
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
  for (int e = 0, own = 0; e < directions; e++, own++) {
    const int at = find_corner(dim, side, other, 1 << e);
    if (zero < 0 || at < 0 || ((at ^ zero) != 1 && (at ^ zero) != 2)) return false;
    const int d = (at ^ zero) == 1 ? 0 : 1;
    const bool backwards = zero >> d & 1;
    own += own == side->face / 2; /* the direction of the cell that is direction e of its face */
    pair->number[d] = (int8_t)(backwards ? 3 : 0);
    if (side->hangs) pair->number[d] += (int8_t)(1 + ((side->mask >> own & 1) != (backwards ? 1 : 0)));
    pair->swapped = d != e;
  }
  return true;
}

enum { BUCKETS = 1024, SHIFT = 54, RUN = 5 }; /* RUN: sides of one face at most */

typedef struct Entry {
  uint64_t key;
  int32_t side; /* 2 dim cell + face; behind them the sides of other ranks */
} Entry;

/* other[side]: on the other side of the face of this side; ALONE: there is none; DONE: the face is another side's. */
enum { ALONE = -1, DONE = -2 };
typedef struct Sides {
  const Nodes *nodes;
  int dim, rank;
  int64_t own, sides; /* of this rank; all */
  const Side *seen;   /* of other ranks: their cells have the numbers after this rank's cells */
  Entry *entry, *sorted;
  int64_t first[BUCKETS + 1]; /* of a bucket */
  int64_t (*place)[BUCKETS];  /* [threads] of the next side of a thread's part in a bucket */
  int32_t *other;
  int64_t *wrong;
} Sides;

static Side side_of(const Sides *s, int64_t i) {
  if (i >= s->own) return s->seen[i - s->own];
  return make_side(s->nodes, i / (2 * s->dim), (int)(i % (2 * s->dim)));
}

/* What orders the sides of one face. */
typedef struct Place {
  int32_t side, rank, cell;
  int8_t face;
  bool hangs;
} Place;

static Place place_of(const Sides *s, int32_t i) {
  if (i >= s->own) {
    const Side *seen = &s->seen[i - s->own];
    return (Place){i, seen->rank, seen->cell, seen->face, seen->hangs};
  }
  const int32_t cell = i / (2 * s->dim);
  const int face = i % (2 * s->dim);
  return (Place){i, s->rank, cell, (int8_t)face, face_hangs(s->nodes->view, cell, face)};
}

/* The coarse side comes last; cells of ranks are in the order of all cells. */
static bool is_before(const Place *x, const Place *y) {
  if (x->hangs != y->hangs) return x->hangs;
  if (x->rank != y->rank) return x->rank < y->rank;
  return x->cell != y->cell ? x->cell < y->cell : x->face < y->face;
}

static void list_entries(const Sides *s, TesiSpan span) {
  for (int64_t i = span.first; i < span.end; i++) {
    const bool own = i < s->own;
    const uint64_t key =
        own ? side_key(s->nodes, i / (2 * s->dim), (int)(i % (2 * s->dim))) : s->seen[i - s->own].key;
    s->entry[i] = (Entry){key, (int32_t)i};
  }
}

/* Places of all parts: by bucket, then by thread. */
static void find_places(Sides *s, int threads) {
  int64_t sum = 0;
  for (int b = 0; b < BUCKETS; b++) {
    s->first[b] = sum;
    for (int t = 0; t < threads; t++) {
      const int64_t count = s->place[t][b];
      s->place[t][b] = sum;
      sum += count;
    }
  }
  s->first[BUCKETS] = sum;
}

/* Distributes all sides to buckets by the first bits of their keys. */
static void distribute(const void *data, const TesiTeamMember *me) {
  Sides *const s = *(Sides *const *)data;
  const TesiSpan span = tesi_team_part(me, 0, s->sides);
  int64_t *const place = s->place[me->thread];
  list_entries(s, span);
  for (int64_t i = span.first; i < span.end; i++) place[s->entry[i].key >> SHIFT]++;
  tesi_team_wait(me);
  if (me->thread == 0) find_places(s, me->threads);
  tesi_team_wait(me);
  for (int64_t i = span.first; i < span.end; i++) s->sorted[place[s->entry[i].key >> SHIFT]++] = s->entry[i];
}

static int by_entry(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->side > y->side) - (x->side < y->side);
}

/* run[..] <- the sides of the face of sorted[i], the coarse side last; how many, 0: more than RUN. */
static int take_run(const Sides *s, int64_t i, int64_t end, Place run[RUN]) {
  int count = 0;
  for (; i + count < end && s->sorted[i + count].key == s->sorted[i].key; count++) {
    if (count == RUN) return 0;
    const Place place = place_of(s, s->sorted[i + count].side);
    int at = count;
    for (; at > 0 && is_before(&place, &run[at - 1]); at--) run[at] = run[at - 1];
    run[at] = place;
  }
  return count;
}

static void pair_run(const Sides *s, int count, const Place *run) {
  const int64_t cells = s->nodes->view->cells;
  const Place *last = &run[count - 1];
  for (int k = 0; k < count - 1; k++)
    s->other[run[k].side] = run[k].cell >= cells && last->cell >= cells ? DONE : last->side;
  s->other[last->side] = count > 1 || last->cell >= cells ? DONE : ALONE;
}

static void sort_buckets(const void *data, TesiSpan span) {
  const Sides *s = data;
  for (int64_t b = span.first; b < span.end; b++) {
    qsort(s->sorted + s->first[b], (size_t)(s->first[b + 1] - s->first[b]), sizeof *s->sorted, by_entry);
    for (int64_t i = s->first[b], count; i < s->first[b + 1]; i += count) {
      Place run[RUN];
      count = take_run(s, i, s->first[b + 1], run);
      if (count == 0) tesi_team_least(s->wrong, s->sorted[i].side);
      if (count == 0) break;
      pair_run(s, (int)count, run);
    }
  }
}

/* Sorts all sides by key: distributes them to buckets, and sorts each bucket. Then finds the other side of each. */
static TesStatus sort_sides(Sides *s) {
  TesContext *ctx = s->nodes->view->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 16 * s->sides);
  int64_t wrong = INT64_MAX;
  tesi_free(ctx, &s->sorted);
  tesi_free(ctx, &s->other);
  TES_ALLOC(&s->entry, s->sides);
  TES_ALLOC(&s->sorted, s->sides);
  TES_ALLOC(&s->other, s->sides);
  TES_ALLOC(&s->place, threads);
  s->wrong = &wrong;
  tesi_team_run(threads, distribute, &s);
  tesi_team_share(threads, BUCKETS, 8, sort_buckets, s);
  if (wrong < INT64_MAX)
    TES_FAIL(TES_INTERNAL, "more than %d faces of cells are one face, among them face %d of cell %lld", RUN,
             (int)(wrong % (2 * s->dim)), (long long)(wrong / (2 * s->dim)));
done:
  tesi_free(ctx, &s->entry);
  tesi_free(ctx, &s->place);
  return status;
}

/* ---- cuts between ranks -------------------------------------------------------------------------------- */

/* shown[..] <- the sides on this rank of inner faces whose other side, or part of it, is on another rank. */
static int64_t list_shown(const Sides *s, Side *shown) {
  const TesMesh *mesh = s->nodes->view->mesh;
  int64_t shows = 0;
  for (int64_t i = 0, count; i < s->sides; i += count) {
    Place run[RUN];
    int name;
    count = take_run(s, i, s->sides, run);
    const bool coarse = !run[count - 1].hangs, hangs = run[0].hangs,
               whole = coarse && count == 1 + (hangs ? 1 << (s->dim - 1) : 1);
    if (whole || tes_mesh_on_boundary(mesh, run[0].cell, run[0].face, &name)) continue;
    for (int k = 0; k < count; k++, shows++)
      shown[shows] = side_of(s, run[k].side), shown[shows].key = s->sorted[i].key;
  }
  return shows;
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

/* Adds the sides of other ranks that faces here need (*seen); their cells are numbered after the last cell. */
static TesStatus add_others(Sides *s, Side **seen, TesiAcross *across) {
  const TesiCellView *view = s->nodes->view;
  TesContext *ctx = view->context;
  TesStatus status = TES_OK;
  Side *shown = NULL;
  TES_ALLOC(&shown, s->sides);
  across->shown = list_shown(s, shown);
  TES_ALLOC(&across->cell, across->shown);
  TES_ALLOC(&across->face, across->shown);
  for (int64_t i = 0; i < across->shown; i++)
    across->cell[i] = shown[i].cell, across->face[i] = shown[i].face;
  TES_TRY(tesi_exchange_records(ctx, view->layout->shared, across->shown, sizeof *shown, shown, &across->seen,
                                seen));
  TES_ALLOC(&across->place, across->seen);
  for (int64_t i = 0; i < across->seen; i++) {
    across->place[i] = -1;
    if (!is_shown(shown, across->shown, (*seen)[i].key)) continue;
    across->place[i] = (int32_t)across->cells;
    (*seen)[across->cells] = (*seen)[i];
    (*seen)[across->cells].cell = (int32_t)(view->cells + across->cells);
    across->cells++;
  }
  s->seen = *seen;
  s->sides += across->cells;
  TES_TRY(sort_sides(s));
done:
  tesi_free(ctx, &shown);
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

typedef struct Pairs {
  const Sides *sides;
  const int32_t *side; /* [pairs] the own side */
  TesiFacePair *pair;
  int64_t *wrong;
} Pairs;

static void fill_pairs(const void *data, TesiSpan span) {
  const Pairs *p = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const Side side = side_of(p->sides, p->side[i]);
    const int32_t other = p->sides->other[p->side[i]];
    TesiFacePair *pair = &p->pair[i];
    *pair = (TesiFacePair){.cell = side.cell, .face = side.face, .other = -1};
    if (other == ALONE) continue;
    const Side to = side_of(p->sides, other);
    pair->other = to.cell, pair->other_face = to.face;
    if (!match(p->sides->dim, &side, &to, pair)) tesi_team_least(p->wrong, i);
  }
}

/* *side <- the sides, in their order, that faces are told by; *count of them. */
static TesStatus list_pairs(const Sides *s, int32_t **side, int64_t *count) {
  TesContext *ctx = s->nodes->view->context;
  TesStatus status = TES_OK;
  int64_t pairs = 0;
  for (int64_t i = 0; i < s->sides; i++) pairs += s->other[i] != DONE;
  TES_ALLOC(side, pairs);
  pairs = 0;
  for (int64_t i = 0; i < s->sides; i++)
    if (s->other[i] != DONE) (*side)[pairs++] = (int32_t)i;
  *count = pairs;
done:
  return status;
}

TesStatus tesi_face_pairs(const TesiCellView *space, TesiAcross *across, TesiFacePair **pair, int64_t *count) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Nodes nodes = {space, NULL};
  const int64_t own = space->cells * 2 * space->dim;
  Sides sides = {.nodes = &nodes,
                 .dim = space->dim,
                 .rank = tes_communicator_rank(tesi_context_communicator(ctx)),
                 .own = own,
                 .sides = own};
  Side *seen = NULL;
  int32_t *side = NULL;
  int64_t wrong = INT64_MAX;
  *count = 0;
  if (tesi_ranks(ctx) > 1) TES_TRY(tesi_layout_numbers(space->layout, &nodes.number));
  TES_TRY(sort_sides(&sides));
  if (tesi_ranks(ctx) > 1) TES_TRY(add_others(&sides, &seen, across));
  TES_TRY(list_pairs(&sides, &side, count));
  TES_ALLOC(pair, *count);
  tesi_team_for(tesi_team_threads(ctx, 16 * *count), *count, fill_pairs,
                &(Pairs){&sides, side, *pair, &wrong});
  if (wrong < INT64_MAX)
    TES_FAIL(TES_INTERNAL, "faces of cells %d and %d do not match", (*pair)[wrong].cell, (*pair)[wrong].other);
done:
  tesi_free(ctx, &nodes.number);
  tesi_free(ctx, &sides.sorted);
  tesi_free(ctx, &sides.other);
  tesi_free(ctx, &seen);
  tesi_free(ctx, &side);
  if (status != TES_OK) tesi_free(ctx, pair);
  return status;
}
