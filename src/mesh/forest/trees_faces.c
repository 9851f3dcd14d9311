/* Faces that two trees share, by their vertices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/team.h"
#include "mesh/forest/trees.h"

typedef struct Face {
  int32_t vertex[4]; /* ascending */
  int32_t tree;
  int8_t face;
} Face;

static int by_vertices(const void *a, const void *b) {
  const Face *f = a, *g = b;
  for (int i = 0; i < 4; i++)
    if (f->vertex[i] != g->vertex[i]) return f->vertex[i] < g->vertex[i] ? -1 : 1;
  return f->tree != g->tree ? (f->tree < g->tree ? -1 : 1) : f->face - g->face;
}

static bool same_vertices(const Face *f, const Face *g) {
  return !memcmp(f->vertex, g->vertex, sizeof f->vertex);
}

/* Vertex numbers of the corners of a face, lexicographic in the face; 2D: two, then twice -1. */
static void corners(const TesiTrees *c, int64_t tree, int face, int32_t vertex[4]) {
  const int d = face / 2, side = face & 1;
  int n = 0;
  vertex[2] = vertex[3] = -1;
  for (int v = 0; v < 1 << c->dim; v++)
    if ((v >> d & 1) == side) vertex[n++] = c->vertices[(tree << c->dim) + v];
}

static void sort_vertices(int32_t v[4]) {
  for (int i = 1; i < 4; i++)
    for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
      const int32_t swap = v[j];
      v[j] = v[j - 1];
      v[j - 1] = swap;
    }
}

/* Opposite corners of a quadrilateral must be opposite for both trees, or the face would be twisted. */
static bool same_quadrilateral(const TesiTrees *c, const Face *f, const Face *g) {
  int32_t a[4] = {0}, b[4] = {0};
  if (c->dim == 2) return true;
  corners(c, f->tree, f->face, a);
  corners(c, g->tree, g->face, b);
  return (a[0] == b[0] && a[3] == b[3]) || (a[0] == b[3] && a[3] == b[0]) || (a[0] == b[1] && a[3] == b[2]) ||
         (a[0] == b[2] && a[3] == b[1]);
}

/* Corners round a face, counterclockwise as seen from outside of a right-handed tree; in 2D the two along it. */
static int turn(const TesiTrees *c, const Face *f, int32_t round[4]) {
  const int d = f->face / 2, n = c->dim == 2 ? 2 : 4;
  const bool forward = (c->dim == 2 ? d == 0 : d != 1) == (f->face & 1);
  int32_t v[4];
  corners(c, f->tree, f->face, v);
  if (n == 4) {
    const int32_t swap = v[2];
    v[2] = v[3];
    v[3] = swap;
  }
  for (int i = 0; i < n; i++) round[i] = v[forward ? i : n - 1 - i];
  return n;
}

/* Trees on both sides of a face see its corners in opposite order. */
static bool same_side(const TesiTrees *c, const Face *f, const Face *g) {
  int32_t a[4], b[4];
  const int n = turn(c, f, a);
  turn(c, g, b);
  int at = 0;
  while (at < n - 1 && b[at] != a[0]) at++;
  return n == 2 ? a[0] == b[0] : b[(at + 1) % n] == a[1];
}

const char *tesi_trees_call(const TesiTreeLabel *label, int64_t tree, char text[48]) {
  if (label)
    label->write(label->user, tree, text, 48);
  else
    snprintf(text, 48, "tree %lld", (long long)tree);
  return text;
}

static const char *before(const TesiTreeLabel *label) {
  return label ? label->file : "";
}

static TesStatus check_vertices(TesContext *ctx, const TesiTrees *c) {
  TesStatus status = TES_OK;
  for (int64_t t = 0; t < c->trees; t++)
    for (int v = 0; v < 1 << c->dim; v++)
      for (int w = 0; w < v; w++)
        TES_CHECK(c->vertices[(t << c->dim) + v] != c->vertices[(t << c->dim) + w],
                  "tree %lld is degenerate: its vertices %d and %d are one", (long long)t, w, v);
done:
  return status;
}

/* Number of trees that meet at the face that begins at face[i]. */
static int meeting(const Face *face, int64_t i, int64_t faces) {
  int n = 1;
  while (i + n < faces && same_vertices(face + i, face + i + n)) n++;
  return n;
}

/* Faces from begin[v] to begin[v + 1] - 1 have v as their smallest vertex, which few faces share. */
typedef struct Buckets {
  int64_t *begin; /* [vertices + 1] */
  Face *face;
} Buckets;

static void sort_buckets(const void *data, TesiSpan span) {
  const Buckets *of = data;
  for (int64_t v = span.first; v < span.end; v++) {
    Face *const face = of->face + of->begin[v];
    const int64_t count = of->begin[v + 1] - of->begin[v];
    if (count > 32) qsort(face, (size_t)count, sizeof *face, by_vertices);
    for (int64_t i = 1; count <= 32 && i < count; i++) {
      const Face moved = face[i];
      int64_t at = i;
      for (; at > 0 && by_vertices(&face[at - 1], &moved) > 0; at--) face[at] = face[at - 1];
      face[at] = moved;
    }
  }
}

/* All faces, sorted by their vertices: first by the smallest vertex, then within such a bucket. */
static TesStatus sort_faces(const TesiTrees *c, Face *face) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const int64_t faces = c->trees * 2 * c->dim;
  const int first = c->dim == 2 ? 2 : 0; /* the first two of an edge are -1 */
  int64_t *begin = NULL;
  TES_ALLOC(&begin, c->vertex_count + 2);
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < faces; i++) {
      Face f = {.tree = (int32_t)(i / (2 * c->dim)), .face = (int8_t)(i % (2 * c->dim))};
      corners(c, f.tree, f.face, f.vertex);
      sort_vertices(f.vertex);
      if (pass == 0)
        begin[f.vertex[first] + 2]++;
      else
        face[begin[f.vertex[first] + 1]++] = f;
    }
    for (int64_t v = 0; v < c->vertex_count && pass == 0; v++) begin[v + 2] += begin[v + 1];
  }
  tesi_team_share(tesi_team_threads(ctx, 16 * faces), c->vertex_count, 4096, sort_buckets,
                  &(Buckets){begin, face});
done:
  tesi_free(ctx, &begin);
  return status;
}

TesStatus tesi_trees_match_faces(TesContext *context, const TesiTreeLabel *label, TesiTrees *c) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int64_t faces = c->trees * 2 * c->dim;
  Face *face = NULL;
  char name[3][48];
  TES_TRY(check_vertices(ctx, c));
  TES_ALLOC(&face, faces);
  TES_TRY(sort_faces(c, face));
  for (int64_t i = 0, n; i < faces; i += n) {
    n = meeting(face, i, faces);
    if (n == 1) continue;
    for (int j = 0; j < n && j < 3 && (n > 2 || !same_quadrilateral(c, face + i, face + i + 1)); j++)
      tesi_trees_call(label, face[i + j].tree, name[j]);
    TES_CHECK(n <= 2, "%s%s, %s and %s meet at one face; two can", before(label), name[0], name[1], name[2]);
    TES_CHECK(same_quadrilateral(c, face + i, face + i + 1),
              "%sthe face between %s and %s has its vertices in another order for each", before(label),
              name[0], name[1]);
    if (c->same_side[0] == c->same_side[1] && same_side(c, face + i, face + i + 1))
      c->same_side[0] = face[i].tree, c->same_side[1] = face[i + 1].tree;
    for (int64_t j = i; j < i + 2; j++)
      c->boundary[2 * c->dim * face[j].tree + face[j].face] = TESI_TREES_INSIDE;
  }
done:
  tesi_free(ctx, &face);
  return status;
}

TesStatus tesi_trees_check_sides(TesContext *context, const TesiTreeLabel *label, const TesiTrees *c) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  char name[2][48];
  if (c->same_side[0] == c->same_side[1]) return TES_OK;
  TES_FAIL(TES_INVALID_INPUT,
           "%s%s and %s lie on one side of the face that they share: one lies on the other", before(label),
           tesi_trees_call(label, c->same_side[0], name[0]), tesi_trees_call(label, c->same_side[1], name[1]));
done:
  return status;
}

/* ---- vertices and edges without a face ----------------------------------------------------------------- */

/* A vertex (second: -1) or an edge of a tree whose faces there are all on the boundary. */
typedef struct Bare {
  int32_t vertex[2]; /* ascending */
  int32_t tree;
} Bare;

static int by_bare(const void *a, const void *b) {
  const Bare *f = a, *g = b;
  for (int i = 0; i < 2; i++)
    if (f->vertex[i] != g->vertex[i]) return f->vertex[i] < g->vertex[i] ? -1 : 1;
  return 0;
}

/* Vertex or edge `number` of a tree; edges are numbered as by p4est: four a direction. */
static Bare make_bare(const TesiTrees *c, int64_t tree, int number, int edge_direction) {
  const int32_t *v = c->vertices + (tree << c->dim);
  Bare b = {.vertex = {v[number], -1}, .tree = (int32_t)tree};
  if (edge_direction < 0) return b;
  const int32_t w = v[number | 1 << edge_direction];
  b.vertex[0] = tesi_min(v[number], w);
  b.vertex[1] = v[number] + w - b.vertex[0];
  return b;
}

static bool is_bare(const TesiTrees *c, int64_t tree, int number, int edge_direction) {
  for (int d = 0; d < c->dim; d++)
    if (d != edge_direction && c->boundary[tree * 2 * c->dim + 2 * d + (number >> d & 1)] == TESI_TREES_INSIDE)
      return false;
  return true;
}

/* The vertices (direction -1) or edges of a direction that have no face inside, sorted; returns their number. */
static int64_t list_bare(const TesiTrees *c, int direction, Bare *bare) {
  int64_t count = 0;
  for (int64_t t = 0; t < c->trees; t++)
    for (int v = 0; v < 1 << c->dim; v++)
      if ((direction < 0 || !(v >> direction & 1)) && is_bare(c, t, v, direction))
        bare[count++] = make_bare(c, t, v, direction);
  return count;
}

/* Vertices (directions from -1 to 0, exclusive) or edges (0 to 3, since the direction of an edge may differ in the next
 * tree). */
static TesStatus check_bare(TesContext *ctx, const TesiTreeLabel *label, const TesiTrees *c, int first,
                            int end) {
  TesStatus status = TES_OK;
  const char *what = first < 0 ? "a vertex" : "an edge";
  char name[2][48];
  Bare *bare = NULL;
  int64_t count = 0;
  TES_ALLOC(&bare, c->trees * (first < 0 ? 1 << c->dim : 12));
  for (int d = first; d < end; d++) count += list_bare(c, d, bare + count);
  qsort(bare, (size_t)count, sizeof *bare, by_bare);
  for (int64_t i = 0; i < (c->trees << c->dim) * (end - first); i++) {
    const int64_t tree = i / (end - first) >> c->dim;
    const int v = (int)(i / (end - first)) & ((1 << c->dim) - 1), d = first + (int)(i % (end - first));
    if (d >= 0 && v >> d & 1) continue;
    const Bare key = make_bare(c, tree, v, d);
    const Bare *other = count ? bsearch(&key, bare, (size_t)count, sizeof key, by_bare) : NULL;
    if (other && other->tree != tree)
      TES_FAIL(
          TES_INVALID_INPUT,
          "%s%s and %s meet at %s, round which the first shares no face with any: either a node lies in the "
          "middle of a side, or parts hang together by %s alone. Cells must share whole faces; parts may "
          "have nodes of their own",
          before(label), tesi_trees_call(label, other->tree, name[0]), tesi_trees_call(label, tree, name[1]),
          what, what);
  }
done:
  tesi_free(ctx, &bare);
  return status;
}

TesStatus tesi_trees_check_pinches(TesContext *ctx, const TesiTreeLabel *label, const TesiTrees *c) {
  const TesStatus status = check_bare(ctx, label, c, -1, 0);
  return status == TES_OK && c->dim == 3 ? check_bare(ctx, label, c, 0, 3) : status;
}
