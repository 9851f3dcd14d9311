/* Checks of the mesh in a Gmsh file as a whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/integer.h"
#include "mesh/forest/gmsh_build.h"
#include "mesh/forest/gmsh_places.h"

static uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

/* The smallest power of two from 64 on that is at least twice the number of entries. */
static int64_t table_size(int64_t entries) {
  int64_t size = 64;
  while (size < 2 * entries) size *= 2;
  return size;
}

static uint64_t hash_point(const double x[3]) {
  uint64_t h = 1, bits;
  for (int d = 0; d < 3; d++) {
    const double value = x[d] == 0 ? 0 : x[d]; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    h = mix(h, bits);
  }
  return h;
}

static TesStatus tell_duplicates(const TesiGmshBuilder *b, int32_t first, int32_t second) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const double *x = b->mesh->node[first];
  const int32_t low = tesi_min(first, second), high = tesi_max(first, second);
  TES_FAIL(TES_INVALID_INPUT,
           "%s: nodes %lld and %lld are at one point, (%g, %g, %g); join them (Coherence Mesh)", b->mesh->file,
           (long long)b->mesh->node_number[low], (long long)b->mesh->node_number[high], x[0], x[1], x[2]);
done:
  return status;
}

/* Two vertices at one point make an invisible crack. They are compared to the last digit, as Gmsh writes them. */
TesStatus tesi_gmsh_check_duplicates(const TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int64_t size = table_size(b->mesh->nodes);
  int32_t *at = NULL;
  bool *seen = NULL;
  TES_ALLOC(&at, size);
  TES_ALLOC(&seen, b->mesh->nodes);
  for (int64_t i = 0; i < size; i++) at[i] = -1;
  for (int64_t i = 0; i < b->trees << b->dim; i++) {
    const int32_t v = b->vertices[i];
    const double *x = b->mesh->node[v];
    if (seen[v]) continue;
    seen[v] = true;
    uint64_t place = hash_point(x);
    for (; at[place & (uint64_t)(size - 1)] >= 0; place++) {
      const int32_t other = at[place & (uint64_t)(size - 1)];
      const double *y = b->mesh->node[other];
      if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) TES_TRY(tell_duplicates(b, other, v));
    }
    at[place & (uint64_t)(size - 1)] = v;
  }
done:
  tesi_free(ctx, &at);
  tesi_free(ctx, &seen);
  return status;
}

TesStatus tesi_gmsh_tell_parts(const TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int32_t *parent = NULL;
  char *seen = NULL;
  int parts = 0;
  TES_ALLOC(&parent, b->mesh->nodes);
  TES_ALLOC(&seen, b->mesh->nodes);
  for (int64_t i = 0; i < b->mesh->nodes; i++) parent[i] = (int32_t)i;
  for (int64_t i = 0; i < b->trees << b->dim; i++)
    parent[tesi_root_of(parent, b->vertices[i])] = tesi_root_of(parent, b->vertices[i >> b->dim << b->dim]);
  for (int64_t i = 0; i < b->trees << b->dim; i++) {
    const int32_t root = tesi_root_of(parent, b->vertices[i]);
    parts += !seen[root];
    seen[root] = 1;
  }
  if (parts > 1)
    tesi_log(ctx, TES_LOG_WARNING, "%s: the mesh consists of %d parts that share no vertex", b->mesh->file,
             parts);
done:
  tesi_free(ctx, &parent);
  tesi_free(ctx, &seen);
  return status;
}

/* A mesh in the plane has one value of z, also at nodes on edges. */
TesStatus tesi_gmsh_check_plane(const TesiGmshBuilder *b) {
  double size = 0;
  const double z = b->mesh->node[b->vertices[0]][2];
  for (int64_t i = 0; i < b->trees << 2; i++)
    for (int d = 0; d < 2; d++) size = fmax(size, fabs(b->mesh->node[b->vertices[i]][d]));
  for (int64_t t = 0; t < b->trees; t++)
    for (int i = 0; i < b->mesh->element[b->cell[t]].type->nodes; i++)
      if (fabs(b->mesh->node[tesi_gmsh_node_of(b, b->cell[t], i)][2] - z) > 1e-9 * size)
        return tesi_gmsh_refuse(
            b, b->cell[t], "it does not lie in the plane z = %g: quadrilaterals make a mesh of the plane", z);
  return TES_OK;
}

/* A hash that does not depend on the order of the vertices. */
static uint64_t hash_cell(int corners, const int32_t *v) {
  uint64_t h = 0;
  for (int i = 0; i < corners; i++) h += mix(7, (uint64_t)v[i]);
  return mix(3, h);
}

static bool same_cell(int corners, const int32_t *v, const int32_t *w) {
  int met = 0;
  for (int i = 0; i < corners; i++)
    for (int j = 0; j < corners; j++) met += v[i] == w[j];
  return met == corners;
}

TesStatus tesi_gmsh_find_doubles(const TesiGmshBuilder *b, const int32_t *vertices, int64_t *first,
                                 int64_t *second) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int corners = 1 << b->dim;
  const int64_t size = table_size(b->trees);
  int32_t *at = NULL;
  *first = *second = -1;
  TES_ALLOC(&at, size);
  for (int64_t i = 0; i < size; i++) at[i] = -1;
  for (int64_t t = 0; t < b->trees && *first < 0; t++) {
    const int32_t *v = vertices + t * corners;
    uint64_t place = hash_cell(corners, v);
    for (; at[place & (uint64_t)(size - 1)] >= 0; place++) {
      const int64_t other = at[place & (uint64_t)(size - 1)];
      if (same_cell(corners, v, vertices + other * corners)) *first = other, *second = t;
    }
    at[place & (uint64_t)(size - 1)] = (int32_t)t;
  }
done:
  tesi_free(ctx, &at);
  return status;
}

/* Cells with the same vertices: format 2 writes a cell once for each of its physical groups. */
TesStatus tesi_gmsh_check_doubles(const TesiGmshBuilder *b) {
  int64_t first, second;
  const TesStatus status = tesi_gmsh_find_doubles(b, b->vertices, &first, &second);
  if (status != TES_OK || first < 0) return status;
  return tesi_gmsh_refuse(
      b, b->cell[second],
      "it has the vertices of element %lld, and lies on it: format 2 writes a cell once for each "
      "of its physical groups; give it one, or save format 4.1",
      (long long)b->mesh->element[b->cell[first]].number);
}

/* ---- nodes in the middle of sides ---------------------------------------------------------------------- */

/* Corners u and v of a face on the boundary, as numbers in the cell: the ends of an edge or of a diagonal of the
 * face. */
static TesStatus check_middle(const TesiGmshBuilder *b, int64_t tree, int u, int v, int64_t count,
                              const TesiGmshPlace *list) {
  const double *p = b->mesh->node[b->vertices[(tree << b->dim) + u]],
               *q = b->mesh->node[b->vertices[(tree << b->dim) + v]];
  double x[3], size = 0;
  for (int d = 0; d < 3; d++) {
    x[d] = (p[d] + q[d]) / 2;
    size = fmax(size, fabs(p[d] - q[d]));
  }
  const int32_t found = tesi_gmsh_node_at(b->mesh, count, list, x, 1e-9 * size);
  if (found < 0) return TES_OK;
  return tesi_gmsh_refuse(
      b, b->cell[tree],
      "node %lld lies in the middle of a side, at (%g, %g, %g): cells must share whole faces (in Gmsh: "
      "Coherence or BooleanFragments before the mesh is made)",
      (long long)b->mesh->node_number[found], x[0], x[1], x[2]);
}

static bool has_corner(int face, int corner) {
  return (corner >> (face / 2) & 1) == (face & 1);
}

/* list[..] <- the vertices of faces on the boundary, each once; returns their number. */
static int64_t list_vertices(const TesiGmshBuilder *b, const TesiTrees *trees, bool *seen,
                             TesiGmshPlace *list) {
  int64_t count = 0;
  for (int64_t f = 0; f < b->trees * 2 * b->dim; f++)
    for (int c = 0; trees->boundary[f] != TESI_TREES_INSIDE && c < 1 << b->dim; c++) {
      const int32_t v = b->vertices[(f / (2 * b->dim) << b->dim) + c];
      if (seen[v] || !has_corner((int)(f % (2 * b->dim)), c)) continue;
      seen[v] = true;
      if (list) list[count] = tesi_gmsh_place(b->mesh, v);
      count++;
    }
  return count;
}

TesStatus tesi_gmsh_check_middles(const TesiGmshBuilder *b, const TesiTrees *trees) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  bool *seen = NULL;
  TesiGmshPlace *list = NULL;
  TES_ALLOC(&seen, b->mesh->nodes);
  TES_ALLOC(&list, list_vertices(b, trees, seen, NULL));
  memset(seen, 0, (size_t)b->mesh->nodes * sizeof *seen);
  const int64_t count = list_vertices(b, trees, seen, list);
  tesi_gmsh_sort_places(count, list);
  for (int64_t f = 0; f < b->trees * 2 * b->dim; f++) {
    const int face = (int)(f % (2 * b->dim));
    if (trees->boundary[f] == TESI_TREES_INSIDE) continue;
    for (int u = 0; u < 1 << b->dim; u++)
      for (int v = u + 1; v < 1 << b->dim; v++)
        if (has_corner(face, u) && has_corner(face, v))
          TES_TRY(check_middle(b, f / (2 * b->dim), u, v, count, list));
  }
done:
  tesi_free(ctx, &seen);
  tesi_free(ctx, &list);
  return status;
}
