/* Faces that two trees share, by their vertices. */
#include <stdlib.h>
#include <string.h>
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

/* How many trees meet at the face that begins at face[i]. */
static int meeting(const Face *face, int64_t i, int64_t faces) {
  int n = 1;
  while (i + n < faces && same_vertices(face + i, face + i + n)) n++;
  return n;
}

TesStatus tesi_trees_match_faces(TesContext *context, TesiTrees *c) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int64_t faces = c->trees * 2 * c->dim;
  int64_t named_inside = 0;
  Face *face = NULL;
  TES_TRY(check_vertices(ctx, c));
  TES_ALLOC(&face, faces);
  for (int64_t i = 0; i < faces; i++) {
    face[i].tree = (int32_t)(i / (2 * c->dim));
    face[i].face = (int8_t)(i % (2 * c->dim));
    corners(c, face[i].tree, face[i].face, face[i].vertex);
    sort_vertices(face[i].vertex);
  }
  qsort(face, (size_t)faces, sizeof *face, by_vertices);
  for (int64_t i = 0, n; i < faces; i += n) {
    n = meeting(face, i, faces);
    TES_CHECK(n <= 2, "trees %d, %d and %d meet at one face; two can", face[i].tree, face[i + 1].tree,
              face[i + 2].tree);
    if (n == 1) continue;
    TES_CHECK(same_quadrilateral(c, face + i, face + i + 1),
              "the face between trees %d and %d has its vertices in another order for each", face[i].tree,
              face[i + 1].tree);
    for (int64_t j = i; j < i + 2; j++) {
      int32_t *boundary = c->boundary + 2 * c->dim * face[j].tree + face[j].face;
      named_inside += *boundary >= 0;
      *boundary = TESI_TREES_INSIDE;
    }
  }
  if (named_inside)
    tesi_log(ctx, TES_LOG_DETAIL, "mesh: %lld faces between cells have names, which mean nothing there",
             (long long)named_inside);
done:
  tesi_free(ctx, &face);
  return status;
}
