#include "problem/adapt/face_pairs.h"
#include <stdlib.h>
#include <string.h>
#include "base/team.h"
#include "functional/batch_faces.h"

typedef struct Side {
  uint64_t key;
  int32_t cell;
  int8_t face;
  bool hangs;
} Side;

static bool face_hangs(const TesiCellView *s, int64_t cell, int face) {
  const unsigned mask = s->mask[cell];
  return mask >> (3 + face / 2) & 1 && (mask >> (face / 2) & 1) == (unsigned)(face & 1);
}

static int corner_node(const TesiCellView *s, int face, int corner) {
  const int end = s->n - 1;
  return tesi_face_node(s->dim, s->n, face, (corner & 1) * end + (corner >> 1) * end * s->n);
}

static uint64_t interpolated_key(const TesiCellView *s, int64_t cell, int p) {
  double row[TESI_CELL_MOST];
  memset(row, 0, (size_t)s->cell_nodes * sizeof *row);
  row[p] = 1;
  tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], row);
  return tesi_cells_row_key(s->cell_nodes, s->index + cell * s->cell_nodes, row);
}

/* Of a hanging face: the corner of the coarse face that it names. */
static uint64_t corner_key(const TesiCellView *s, int64_t cell, int face, int corner) {
  const int n = s->n, p = corner_node(s, face, corner);
  const bool names =
      !(s->mask[cell] >> 3) || face_hangs(s, cell, face) ||
      !tesi_hanging_directions(s->dim, n, s->mask[cell], (const int[3]){p % n, p / n % n, p / n / n});
  return names ? tesi_cells_node_key(s->index[cell * s->cell_nodes + p]) : interpolated_key(s, cell, p);
}

/* Of the corners and the nodes inside, in any order: these never hang on a face that does not. */
static uint64_t face_key(const TesiCellView *s, int64_t cell, int face) {
  const int n = s->n;
  uint64_t key = 0;
  for (int v = 0; v < 1 << (s->dim - 1); v++) key += corner_key(s, cell, face, v);
  for (int j = s->dim == 3 ? 1 : 0; j < (s->dim == 3 ? n - 1 : 1); j++)
    for (int i = 1; i < n - 1; i++)
      key += tesi_cells_node_key(s->index[cell * s->cell_nodes + tesi_face_node(s->dim, n, face, j * n + i)]);
  return key;
}

/* The coarse side comes last. */
static int by_key(const void *a, const void *b) {
  const Side *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->hangs != y->hangs) return x->hangs ? -1 : 1;
  return x->cell != y->cell ? (x->cell > y->cell) - (x->cell < y->cell) : x->face - y->face;
}

/* Which corner (bits of face coordinates) of `other` is corner v of `side`; -1: none. */
static int find_corner(const TesiCellView *s, const Side *side, const Side *other, int v) {
  const uint64_t key = corner_key(s, side->cell, side->face, v);
  for (int w = 0; w < 1 << (s->dim - 1); w++)
    if (corner_key(s, other->cell, other->face, w) == key) return w;
  return -1;
}

/* Whether the corners match; fills the rest of the pair. */
static bool match(const TesiCellView *s, const Side *side, const Side *other, TesiFacePair *pair) {
  const int directions = s->dim - 1, zero = find_corner(s, side, other, 0);
  for (int e = 0; e < directions; e++) {
    const int at = find_corner(s, side, other, 1 << e);
    if (zero < 0 || at < 0) return false;
    for (int d = 0; d < directions; d++) {
      pair->origin[d] = zero >> d & 1;
      pair->axis[e][d] = (at >> d & 1) - (zero >> d & 1);
    }
  }
  for (int e = 0, d = 0; side->hangs && d < s->dim; d++) { /* half of the coarse face: s -> (child + s) / 2 */
    if (d == side->face / 2) continue;
    const double low = 0.5 * (s->mask[side->cell] >> d & 1);
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
  const TesiCellView *s;
  Side *side, *sorted;
  int64_t first[BUCKETS + 2]; /* of a bucket */
} Sides;

static void list_sides(const void *data, TesiSpan span) {
  const Sides *of = data;
  const TesiCellView *s = of->s;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t cell = i / (2 * s->dim);
    const int face = (int)(i % (2 * s->dim));
    of->side[i] = (Side){face_key(s, cell, face), (int32_t)cell, (int8_t)face, face_hangs(s, cell, face)};
  }
}

static void sort_buckets(const void *data, TesiSpan span) {
  const Sides *of = data;
  for (int64_t b = span.first; b < span.end; b++)
    qsort(of->sorted + of->first[b], (size_t)(of->first[b + 1] - of->first[b]), sizeof *of->sorted, by_key);
}

/* sorted[sides] <- all sides by key: in buckets by the first bits of their keys, each sorted by itself. */
static TesStatus sort_sides(const TesiCellView *s, int64_t sides, Side *sorted) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 16 * sides);
  Sides of = {.s = s, .sorted = sorted};
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

/* Pairs without their geometry; of[i]: places among the sorted sides of its own and of the one across (-1: none).
 * Returns how many. */
static int64_t find_pairs(const Side *sorted, int64_t sides, TesiFacePair *pair, int64_t (*of)[2]) {
  int64_t count = 0;
  for (int64_t i = 0; i < sides;) {
    int64_t end = i + 1;
    while (end < sides && sorted[end].key == sorted[i].key) end++;
    for (int64_t k = i; k < end - 1 || k == i; k++) {
      const bool alone = end == i + 1;
      pair[count] = (TesiFacePair){.cell = sorted[k].cell, .face = sorted[k].face, .other = -1};
      if (!alone) pair[count].other = sorted[end - 1].cell, pair[count].other_face = sorted[end - 1].face;
      of[count][0] = k, of[count++][1] = alone ? -1 : end - 1;
    }
    i = end;
  }
  return count;
}

typedef struct Pairs {
  const TesiCellView *s;
  const Side *sorted;
  int64_t (*of)[2];
  TesiFacePair *pair;
  int64_t *wrong;
} Pairs;

static void match_pairs(const void *data, TesiSpan span) {
  const Pairs *p = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t *of = p->of[i];
    if (of[1] >= 0 && !match(p->s, &p->sorted[of[0]], &p->sorted[of[1]], &p->pair[i]))
      tesi_team_least(p->wrong, i);
  }
}

TesStatus tesi_face_pairs(const TesiCellView *space, TesiFacePair **pair, int64_t *count) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int64_t sides = space->cells * 2 * space->dim;
  Side *sorted = NULL;
  int64_t(*of)[2] = NULL, wrong = INT64_MAX;
  *count = 0;
  TES_ALLOC(&sorted, sides);
  TES_ALLOC(&of, sides);
  TES_ALLOC(pair, sides);
  TES_TRY(sort_sides(space, sides, sorted));
  *count = find_pairs(sorted, sides, *pair, of);
  tesi_team_for(tesi_team_threads(ctx, 16 * *count), *count, match_pairs,
                &(Pairs){space, sorted, of, *pair, &wrong});
  if (wrong < INT64_MAX)
    TES_FAIL(TES_INTERNAL, "faces of cells %d and %d do not match", (*pair)[wrong].cell, (*pair)[wrong].other);
done:
  tesi_free(ctx, &sorted);
  tesi_free(ctx, &of);
  if (status != TES_OK) tesi_free(ctx, pair);
  return status;
}
