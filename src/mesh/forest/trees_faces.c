/* Faces that two trees share, by their vertices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "base/team.h"
#include "mesh/forest/tree_parts.h"

typedef struct Face {
  int32_t tree;
  int8_t face;
} Face;

static Face face_of(const TesiTrees *c, int32_t part) {
  return (Face){part / (2 * c->dim), (int8_t)(part % (2 * c->dim))};
}

/* Vertex numbers of the corners of a face, lexicographic in the face; 2D: two, then twice -1. */
static void corners(const TesiTrees *c, const Face *f, int32_t vertex[4]) {
  const TesiPartKind faces = tesi_tree_faces(c->dim);
  vertex[2] = vertex[3] = -1;
  for (int i = 0; i < faces.corners; i++)
    vertex[i] = c->vertices[((int64_t)f->tree << c->dim) + faces.corner[f->face * faces.corners + i]];
}

/* Opposite corners of a quadrilateral must be opposite for both trees, or the face would be twisted. */
static bool same_quadrilateral(const TesiTrees *c, const Face *f, const Face *g) {
  int32_t a[4] = {0}, b[4] = {0};
  if (c->dim == 2) return true;
  corners(c, f, a);
  corners(c, g, b);
  return (a[0] == b[0] && a[3] == b[3]) || (a[0] == b[3] && a[3] == b[0]) || (a[0] == b[1] && a[3] == b[2]) ||
         (a[0] == b[2] && a[3] == b[1]);
}

/* Corners round a face, counterclockwise as seen from outside of a right-handed tree; in 2D the two along it. */
static int turn(const TesiTrees *c, const Face *f, int32_t round[4]) {
  const int d = f->face / 2, n = c->dim == 2 ? 2 : 4;
  const bool forward = (c->dim == 2 ? d == 0 : d != 1) == (f->face & 1);
  int32_t v[4];
  corners(c, f, v);
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

/* Faces that trees share. The first group that is wrong, the first whose trees lie on one side: INT64_MAX if none. */
typedef struct Shared {
  TesiTrees *trees;
  TesiPartGroups groups;
  int64_t wrong, same_side;
} Shared;

static void join_faces(const void *data, TesiSpan span) {
  Shared *of = (Shared *)data;
  TesiTrees *c = of->trees;
  for (int64_t g = span.first; g < span.end; g++) {
    const int32_t first = of->groups.first[g], *member = of->groups.member + first;
    const Face a = face_of(c, member[0]), b = face_of(c, member[1]);
    if (of->groups.first[g + 1] - first > 2 || !same_quadrilateral(c, &a, &b)) tesi_team_least(&of->wrong, g);
    if (same_side(c, &a, &b)) tesi_team_least(&of->same_side, g);
    c->boundary[member[0]] = c->boundary[member[1]] = TESI_TREES_INSIDE;
  }
}

static TesStatus refuse_faces(const Shared *of, const TesiTreeLabel *label) {
  TesContext *ctx = of->trees->context;
  TesStatus status = TES_OK;
  const int32_t first = of->groups.first[of->wrong], count = of->groups.first[of->wrong + 1] - first;
  char name[3][48];
  for (int j = 0; j < count && j < 3; j++)
    tesi_trees_call(label, face_of(of->trees, of->groups.member[first + j]).tree, name[j]);
  TES_CHECK(count <= 2, "%s%s, %s and %s meet at one face; two can", before(label), name[0], name[1], name[2]);
  TES_FAIL(TES_INVALID_INPUT, "%sthe face between %s and %s has its vertices in another order for each",
           before(label), name[0], name[1]);
done:
  return status;
}

TesStatus tesi_trees_match_faces(TesContext *context, const TesiTreeLabel *label, TesiTrees *c) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  Shared of = {.trees = c, .wrong = INT64_MAX, .same_side = INT64_MAX};
  TES_TRY(check_vertices(ctx, c));
  TES_TRY(tesi_part_groups(ctx, c, tesi_tree_faces(c->dim), &of.groups));
  tesi_team_for(tesi_team_threads(ctx, 32 * (int64_t)of.groups.groups), of.groups.groups, join_faces, &of);
  if (of.wrong < INT64_MAX) TES_TRY(refuse_faces(&of, label));
  for (int i = 0; i < 2 && of.same_side < INT64_MAX; i++)
    c->same_side[i] = face_of(c, of.groups.member[of.groups.first[of.same_side] + i]).tree;
done:
  tesi_part_groups_free(ctx, &of.groups);
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
  return tesi_ascending_list(((const Bare *)a)->vertex, ((const Bare *)b)->vertex, 2);
}

/* Vertex or edge `number` of a tree; edges are numbered as by p4est: four per direction. */
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
  bool *has = NULL; /* of vertices */
  int64_t count = 0;
  TES_ALLOC(&bare, c->trees * (first < 0 ? 1 << c->dim : 12));
  TES_ALLOC(&has, c->vertex_count);
  for (int d = first; d < end; d++) count += list_bare(c, d, bare + count);
  for (int64_t i = 0; i < count; i++) has[bare[i].vertex[0]] = true;
  qsort(bare, (size_t)count, sizeof *bare, by_bare);
  for (int64_t i = 0; i < (c->trees << c->dim) * (end - first); i++) {
    const int64_t tree = i / (end - first) >> c->dim;
    const int v = (int)(i / (end - first)) & ((1 << c->dim) - 1), d = first + (int)(i % (end - first));
    if (d >= 0 && v >> d & 1) continue;
    const Bare key = make_bare(c, tree, v, d);
    const Bare *other = has[key.vertex[0]] ? bsearch(&key, bare, (size_t)count, sizeof key, by_bare) : NULL;
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
  tesi_free(ctx, &has);
  return status;
}

TesStatus tesi_trees_check_pinches(TesContext *ctx, const TesiTreeLabel *label, const TesiTrees *c) {
  const TesStatus status = check_bare(ctx, label, c, -1, 0);
  return status == TES_OK && c->dim == 3 ? check_bare(ctx, label, c, 0, 3) : status;
}
