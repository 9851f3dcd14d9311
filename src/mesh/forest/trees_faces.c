/* Faces that two trees share, by their vertices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "base/grow.h"
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

/* Vertices (directions from -1 to 0, exclusive) or edges (0 to 3: an edge may have another direction in the next tree).
 * A vertex or an edge of a tree is bare if none of its faces is inside. */
typedef struct Pinches {
  const TesiTrees *trees;
  int first, end;
  bool *some; /* [trees]: a vertex or an edge of the tree is bare */
  Bare *bare; /* sorted */
  int64_t count;
  bool *has;      /* of vertices: the first of a bare one */
  int64_t *found; /* the smallest place that meets a bare one of another tree */
} Pinches;

/* Places are counted by tree, by number, by direction. */
static int64_t places(const Pinches *p) {
  return (p->trees->trees << p->trees->dim) * (p->end - p->first);
}

/* Whether a place is one: edges are counted from their lower end. */
static bool take_place(const Pinches *p, int64_t i, int64_t *tree, int *number, int *direction) {
  const int directions = p->end - p->first, dim = p->trees->dim;
  *tree = i / directions >> dim;
  *number = (int)(i / directions) & ((1 << dim) - 1);
  *direction = p->first + (int)(i % directions);
  return *direction < 0 || !(*number >> *direction & 1);
}

static void mark_span(const void *data, TesiSpan span) {
  const Pinches *p = data;
  const int64_t each = places(p) / p->trees->trees;
  int64_t tree;
  int number, direction;
  for (int64_t i = span.first * each; i < span.end * each; i++)
    if (take_place(p, i, &tree, &number, &direction) && is_bare(p->trees, tree, number, direction))
      p->some[tree] = true;
}

static TesStatus list_bare(TesContext *ctx, Pinches *p) {
  TesStatus status = TES_OK;
  const int64_t each = places(p) / p->trees->trees;
  int64_t tree, room = 0;
  int number, direction;
  for (int64_t t = 0; t < p->trees->trees; t++)
    for (int64_t i = t * each; i < (t + 1) * each && p->some[t]; i++) {
      if (!take_place(p, i, &tree, &number, &direction) || !is_bare(p->trees, tree, number, direction))
        continue;
      TES_GROW(&p->bare, p->count, p->count + 1, &room);
      p->bare[p->count] = make_bare(p->trees, tree, number, direction);
      p->has[p->bare[p->count++].vertex[0]] = true;
    }
  if (p->count) qsort(p->bare, (size_t)p->count, sizeof *p->bare, by_bare);
done:
  return status;
}

/* A bare place of another tree that has the vertices of place i; NULL: there is none. */
static const Bare *meet_bare(const Pinches *p, int64_t i, int64_t *tree) {
  int number, direction;
  if (!take_place(p, i, tree, &number, &direction)) return NULL;
  const Bare key = make_bare(p->trees, *tree, number, direction);
  const Bare *other =
      p->has[key.vertex[0]] ? bsearch(&key, p->bare, (size_t)p->count, sizeof key, by_bare) : NULL;
  return other && other->tree != *tree ? other : NULL;
}

static void meet_span(const void *data, TesiSpan span) {
  const Pinches *p = data;
  int64_t tree;
  for (int64_t i = span.first; i < span.end; i++)
    if (meet_bare(p, i, &tree)) {
      tesi_team_least(p->found, i);
      return;
    }
}

static TesStatus check_bare(TesContext *ctx, const TesiTreeLabel *label, const TesiTrees *c, int first,
                            int end) {
  TesStatus status = TES_OK;
  const char *what = first < 0 ? "a vertex" : "an edge";
  char name[2][48];
  int64_t found = INT64_MAX, tree;
  Pinches p = {.trees = c, .first = first, .end = end, .found = &found};
  const int threads = tesi_team_threads(ctx, places(&p));
  TES_ALLOC(&p.some, c->trees);
  TES_ALLOC(&p.has, c->vertex_count);
  tesi_team_for(threads, c->trees, mark_span, &p);
  TES_TRY(list_bare(ctx, &p));
  if (p.count) tesi_team_for(threads, places(&p), meet_span, &p);
  if (found == INT64_MAX) goto done;
  const Bare *other = meet_bare(&p, found, &tree);
  TES_FAIL(
      TES_INVALID_INPUT,
      "%s%s and %s meet at %s, round which the first shares no face with any: either a node lies in the "
      "middle "
      "of a side, or parts hang together by %s alone. Cells must share whole faces; parts may have nodes of "
      "their own",
      before(label), tesi_trees_call(label, other->tree, name[0]), tesi_trees_call(label, tree, name[1]),
      what, what);
done:
  tesi_free(ctx, &p.bare);
  tesi_free(ctx, &p.some);
  tesi_free(ctx, &p.has);
  return status;
}

TesStatus tesi_trees_check_pinches(TesContext *ctx, const TesiTreeLabel *label, const TesiTrees *c) {
  const TesStatus status = check_bare(ctx, label, c, -1, 0);
  return status == TES_OK && c->dim == 3 ? check_bare(ctx, label, c, 0, 3) : status;
}
