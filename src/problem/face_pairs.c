#include "problem/face_pairs.h"
#include <stdlib.h>
#include "operator/forest/forest_faces.h"

typedef struct Side {
  uint64_t key;
  int32_t cell;
  int8_t face;
  bool hangs;
} Side;

static int32_t node_of(const TesForestSpace *s, int64_t cell, int local) {
  const int32_t i = s->index[cell * s->cell_nodes + local];
  return i < 0 ? ~i : i;
}

/* Independent of the order of the nodes (splitmix64 of each, summed). */
static uint64_t face_key(const TesForestSpace *s, int64_t cell, int face) {
  const int nodes = s->dim == 3 ? s->n * s->n : s->n;
  uint64_t key = 0;
  for (int i = 0; i < nodes; i++) {
    uint64_t bits = (uint64_t)node_of(s, cell, tesi_face_node(s->dim, s->n, face, i)) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    key += bits ^ (bits >> 31);
  }
  return key;
}

static bool face_hangs(const TesForestSpace *s, int64_t cell, int face) {
  const unsigned mask = s->mask[cell];
  return mask >> (3 + face / 2) & 1 && (mask >> (face / 2) & 1) == (unsigned)(face & 1);
}

/* The coarse side comes last. */
static int by_key(const void *a, const void *b) {
  const Side *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->hangs != y->hangs) return x->hangs ? -1 : 1;
  return x->cell != y->cell ? (x->cell > y->cell) - (x->cell < y->cell) : x->face - y->face;
}

/* Which corner (bits of face coordinates) of `other` is node v of `side`; -1: none. */
static int find_corner(const TesForestSpace *s, const Side *side, const Side *other, int v) {
  const int n = s->n, corners = s->dim == 3 ? 4 : 2;
  const int32_t node = node_of(
      s, side->cell, tesi_face_node(s->dim, n, side->face, (v & 1) * (n - 1) + (v >> 1) * (n - 1) * n));
  for (int w = 0; w < corners; w++)
    if (node_of(s, other->cell,
                tesi_face_node(s->dim, n, other->face, (w & 1) * (n - 1) + (w >> 1) * (n - 1) * n)) == node)
      return w;
  return -1;
}

static TesStatus match(const TesForestSpace *s, const Side *side, const Side *other, TesiFacePair *pair) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int directions = s->dim - 1, zero = find_corner(s, side, other, 0);
  *pair =
      (TesiFacePair){.cell = side->cell, .face = side->face, .other = other->cell, .other_face = other->face};
  for (int e = 0; e < directions; e++) {
    const int at = find_corner(s, side, other, 1 << e);
    if (zero < 0 || at < 0)
      TES_FAIL(TES_INTERNAL, "faces of cells %d and %d do not match", side->cell, other->cell);
    for (int d = 0; d < directions; d++) {
      pair->origin[d] = zero >> d & 1;
      pair->axis[e][d] = (at >> d & 1) - (zero >> d & 1);
    }
  }
  if (!side->hangs) goto done;
  for (int e = 0, d = 0; d < s->dim; d++) { /* a half of the coarse face: s -> (child + s) / 2 */
    if (d == side->face / 2) continue;
    const double low = 0.5 * (s->mask[side->cell] >> d & 1);
    for (int t = 0; t < directions; t++) {
      pair->origin[t] += low * pair->axis[e][t];
      pair->axis[e][t] *= 0.5;
    }
    e++;
  }
done:
  return status;
}

TesStatus tesi_face_pairs(const TesForestSpace *space, TesiFacePair **pair, int64_t *count) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int64_t sides = space->cells * 2 * space->dim;
  Side *side = NULL;
  *count = 0;
  TES_ALLOC(&side, sides);
  TES_ALLOC(pair, sides);
  for (int64_t i = 0; i < sides; i++) {
    const int64_t cell = i / (2 * space->dim);
    const int face = (int)(i % (2 * space->dim));
    side[i] = (Side){face_key(space, cell, face), (int32_t)cell, (int8_t)face, face_hangs(space, cell, face)};
  }
  qsort(side, (size_t)sides, sizeof *side, by_key);
  for (int64_t i = 0; i < sides;) {
    int64_t end = i + 1;
    while (end < sides && side[end].key == side[i].key) end++;
    for (int64_t k = i; k < end - 1; k++)
      TES_TRY(match(space, &side[k], &side[end - 1], &(*pair)[(*count)++]));
    if (end == i + 1)
      (*pair)[(*count)++] = (TesiFacePair){.cell = side[i].cell, .face = side[i].face, .other = -1};
    i = end;
  }
done:
  tesi_free(ctx, &side);
  if (status != TES_OK) tesi_free(ctx, pair);
  return status;
}
