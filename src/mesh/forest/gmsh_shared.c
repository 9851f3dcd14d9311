/* Curved cells that share an edge or a face must give it the same curve. Otherwise they overlap, or there is a gap
 * between them. */
#include <float.h>
#include <math.h>
#include "mesh/forest/gmsh_build.h"

/* An edge (one direction) or a face (two directions) of a tree, seen from its corner with the smallest vertex
 * number. */
typedef struct Shared {
  int32_t tree, far; /* far: the vertex at the other end of an edge, or opposite on a face */
  int8_t corner, direction[2], directions;
} Shared;

static int32_t vertex_of(const TesiGmshBuilder *b, int64_t tree, int corner) {
  return b->vertices[(tree << b->dim) + corner];
}

/* The first direction of a face goes towards the neighbour with the smaller vertex number. */
static Shared see(const TesiGmshBuilder *b, int64_t tree, int corner, int directions, const int direction[2]) {
  Shared s = {.tree = (int32_t)tree,
              .directions = (int8_t)directions,
              .direction = {(int8_t)direction[0], (int8_t)direction[1]}};
  const int first = 1 << direction[0], second = directions == 2 ? 1 << direction[1] : 0;
  const int corners[4] = {corner, corner ^ first, corner ^ second, corner ^ first ^ second};
  int least = corner;
  for (int i = 1; i < 4; i++)
    if (vertex_of(b, tree, corners[i]) < vertex_of(b, tree, least)) least = corners[i];
  s.corner = (int8_t)least;
  s.far = vertex_of(b, tree, least ^ first ^ second);
  if (directions == 2 && vertex_of(b, tree, least ^ second) < vertex_of(b, tree, least ^ first)) {
    s.direction[0] = (int8_t)direction[1];
    s.direction[1] = (int8_t)direction[0];
  }
  return s;
}

/* Node (i, j) of the edge or face, counted from its corner. */
static const double *node_of(const TesiGmshBuilder *b, const Shared *s, int i, int j) {
  const int m = b->degree, n = m + 1, points = b->dim == 2 ? n * n : n * n * n;
  int at[3];
  for (int d = 0; d < 3; d++) at[d] = d < b->dim && (s->corner >> d & 1) ? m : 0;
  for (int c = 0; c < s->directions; c++) {
    const int d = s->direction[c], step = c ? j : i;
    at[d] = at[d] ? m - step : step;
  }
  return b->nodes + (s->tree * (int64_t)points + at[0] + n * (at[1] + n * at[2])) * b->dim;
}

/* Whether two have the same vertices. Faces with the same diagonal but other order of vertices are refused
 * elsewhere. */
static bool same(const TesiGmshBuilder *b, const Shared *s, const Shared *t) {
  const int to_s = s->corner ^ 1 << s->direction[0], to_t = t->corner ^ 1 << t->direction[0];
  return s->far == t->far && vertex_of(b, s->tree, to_s) == vertex_of(b, t->tree, to_t);
}

/* Nodes are farther apart than rounding explains, so s is refused. */
static TesStatus compare(const TesiGmshBuilder *b, const Shared *s, const Shared *t) {
  const double *p = b->mesh->node[vertex_of(b, s->tree, s->corner)], *q = b->mesh->node[s->far];
  double size = 0, far = 0;
  for (int d = 0; d < b->dim; d++) {
    size = fmax(size, fabs(p[d] - q[d]));
    far = fmax(far, fmax(fabs(p[d]), fabs(q[d])));
  }
  const double near = 1e-9 * size + 1e3 * DBL_EPSILON * far;
  for (int j = s->directions == 2; j < (s->directions == 2 ? b->degree : 1); j++)
    for (int i = 1; i < b->degree; i++) {
      const double *x = node_of(b, s, i, j), *y = node_of(b, t, i, j);
      double apart = 0;
      for (int d = 0; d < b->dim; d++) apart = fmax(apart, fabs(x[d] - y[d]));
      if (apart <= near) continue;
      return tesi_gmsh_refuse(b, b->cell[s->tree],
                              "it shares %s with element %lld and bends it otherwise: at (%g, %g, %g), %g "
                              "from where that element has "
                              "it; cells must share the inner nodes too",
                              s->directions == 2 ? "a face" : "an edge",
                              (long long)b->mesh->element[b->cell[t->tree]].number, x[0], x[1],
                              b->dim == 3 ? x[2] : 0, apart);
    }
  return TES_OK;
}

/* list[begin[v]..begin[v + 1]) <- the edges or faces whose smallest vertex is v; `begin` has nodes + 1 zeros at
 * entry. */
static void list_by_vertex(const TesiGmshBuilder *b, int directions, int64_t *begin, Shared *list) {
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t tree = b->trees - 1; tree >= 0; tree--)
      for (int first = 0; first < b->dim; first++)
        for (int second = first + 1; second < (directions == 2 ? b->dim : first + 2); second++)
          for (int corner = 0; corner < 1 << b->dim; corner++) {
            if (corner >> first & 1 || (directions == 2 && corner >> second & 1)) continue;
            const Shared s = see(b, tree, corner, directions, (const int[]){first, second});
            const int32_t v = vertex_of(b, tree, s.corner);
            if (pass == 0)
              begin[v + 1]++;
            else
              list[--begin[v + 1]] = s;
          }
    for (int64_t v = 0; v < b->mesh->nodes && pass == 0; v++) begin[v + 1] += begin[v];
  }
}

static TesStatus check(const TesiGmshBuilder *b, int directions) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int64_t each = b->dim == 2 ? 4 : directions == 2 ? 6 : 12;
  int64_t *begin = NULL;
  Shared *list = NULL;
  TES_ALLOC(&begin, b->mesh->nodes + 1);
  TES_ALLOC(&list, each * b->trees);
  list_by_vertex(b, directions, begin, list);
  for (int64_t v = 0; v < b->mesh->nodes; v++) {
    const int64_t from = begin[v + 1], to = v + 1 < b->mesh->nodes ? begin[v + 2] : each * b->trees;
    for (int64_t i = from + 1; i < to; i++)
      for (int64_t j = i - 1; j >= from; j--) {
        if (!same(b, &list[i], &list[j])) continue;
        TES_TRY(compare(b, &list[i], &list[j]));
        break;
      }
  }
done:
  tesi_free(ctx, &begin);
  tesi_free(ctx, &list);
  return status;
}

TesStatus tesi_gmsh_check_shared(const TesiGmshBuilder *b) {
  if (b->degree == 1) return TES_OK;
  const TesStatus status = check(b, 1);
  return status == TES_OK && b->dim == 3 ? check(b, 2) : status;
}
