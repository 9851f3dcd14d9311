/* What is wrong with a Gmsh file as a whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/gmsh_build.h"

static const double (*compared)[3]; /* qsort has no argument for it */

static int by_position(const void *a, const void *b) {
  const double *x = compared[*(const int32_t *)a], *y = compared[*(const int32_t *)b];
  for (int d = 0; d < 3; d++)
    if (x[d] != y[d]) return x[d] < y[d] ? -1 : 1;
  return 0;
}

/* Two vertices at one point are a crack nobody sees. Equal to the last digit, as Gmsh writes them. */
TesStatus tesi_gmsh_check_duplicates(const TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int64_t corners = b->trees << b->dim;
  int32_t *vertex = NULL;
  TES_ALLOC(&vertex, corners);
  memcpy(vertex, b->vertices, (size_t)corners * sizeof *vertex);
#pragma omp critical(tesi_gmsh)
  {
    compared = (const double(*)[3])b->mesh->node;
    qsort(vertex, (size_t)corners, sizeof *vertex, by_position);
  }
  for (int64_t i = 1; i < corners; i++)
    if (vertex[i] != vertex[i - 1] &&
        !memcmp(b->mesh->node[vertex[i]], b->mesh->node[vertex[i - 1]], sizeof *b->mesh->node))
      TES_FAIL(TES_INVALID_INPUT,
               "%s: nodes %lld and %lld are at one point, (%g, %g, %g); join them (Coherence Mesh)",
               b->mesh->file, (long long)b->mesh->node_number[vertex[i - 1]],
               (long long)b->mesh->node_number[vertex[i]], b->mesh->node[vertex[i]][0],
               b->mesh->node[vertex[i]][1], b->mesh->node[vertex[i]][2]);
done:
  tesi_free(ctx, &vertex);
  return status;
}

static int32_t find_root(int32_t *parent, int32_t v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
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
    parent[find_root(parent, b->vertices[i])] = find_root(parent, b->vertices[i >> b->dim << b->dim]);
  for (int64_t i = 0; i < b->trees << b->dim; i++) {
    const int32_t root = find_root(parent, b->vertices[i]);
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

/* A mesh in the plane has one z, nodes on edges included. */
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

typedef struct Twin {
  int32_t vertex[8], tree; /* ascending; 2D: the last four are -1 */
} Twin;

static int by_twins(const void *a, const void *b) {
  const Twin *f = a, *g = b;
  for (int i = 0; i < 8; i++)
    if (f->vertex[i] != g->vertex[i]) return f->vertex[i] < g->vertex[i] ? -1 : 1;
  return f->tree - g->tree;
}

static int by_number(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Two cells of the same vertices, -1: there are none. */
static TesStatus find_twins(const TesiGmshBuilder *b, int64_t *first, int64_t *second) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int corners = 1 << b->dim;
  Twin *twin = NULL;
  *first = *second = -1;
  TES_ALLOC(&twin, b->trees);
  for (int64_t t = 0; t < b->trees; t++) {
    twin[t].tree = (int32_t)t;
    for (int v = 0; v < 8; v++) twin[t].vertex[v] = v < corners ? b->vertices[t * corners + v] : -1;
    qsort(twin[t].vertex, (size_t)corners, sizeof *twin[t].vertex, by_number);
  }
  qsort(twin, (size_t)b->trees, sizeof *twin, by_twins);
  for (int64_t i = 1; i < b->trees && *first < 0; i++)
    if (!memcmp(twin[i].vertex, twin[i - 1].vertex, sizeof twin[i].vertex))
      *first = twin[i - 1].tree, *second = twin[i].tree;
done:
  tesi_free(ctx, &twin);
  return status;
}

/* They lie on one another: format 2 writes a cell once for each of its physical groups. */
TesStatus tesi_gmsh_check_twins(const TesiGmshBuilder *b) {
  int64_t first, second;
  const TesStatus status = find_twins(b, &first, &second);
  if (status != TES_OK || first < 0) return status;
  return tesi_gmsh_refuse(
      b, b->cell[second],
      "it has the vertices of element %lld, and lies on it: format 2 writes a cell once for each "
      "of its physical groups; give it one, or save format 4.1",
      (long long)b->mesh->element[b->cell[first]].number);
}

/* ---- nodes that are one -------------------------------------------------------------------------------- */

static int by_node_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

TesStatus tesi_gmsh_periodic_roots(const TesiGmsh *mesh, int32_t *parent) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  for (int64_t i = 0; i < mesh->nodes; i++) parent[i] = (int32_t)i;
  for (int64_t i = 0; i < mesh->pairs; i++) {
    int32_t at[2] = {0};
    for (int s = 0; s < 2; s++) {
      const int64_t *found = bsearch(&mesh->pair[i][s], mesh->node_number, (size_t)mesh->nodes,
                                     sizeof *mesh->node_number, by_node_number);
      TES_CHECK(found, "%s: $Periodic names node %lld, which does not exist", mesh->file,
                (long long)mesh->pair[i][s]);
      at[s] = (int32_t)(found - mesh->node_number);
    }
    parent[find_root(parent, at[0])] = find_root(parent, at[1]);
  }
  for (int64_t i = 0; i < mesh->nodes; i++) parent[i] = find_root(parent, (int32_t)i);
done:
  return status;
}

TesStatus tesi_gmsh_join_periodic(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  static const char narrow[] = "$Periodic joins vertices of %s: a periodic direction needs 3 cells at least";
  int32_t *root = NULL;
  int64_t first, second;
  TES_ALLOC(&root, b->mesh->nodes);
  TES_TRY(tesi_gmsh_periodic_roots(b->mesh, root));
  for (int64_t t = 0; t < b->trees; t++) {
    int32_t *v = b->vertices + (t << b->dim);
    for (int i = 0; i < 1 << b->dim; i++) v[i] = root[v[i]];
    for (int i = 0; i < 1 << b->dim; i++)
      for (int j = 0; j < i; j++)
        if (v[i] == v[j]) TES_TRY(tesi_gmsh_refuse(b, b->cell[t], narrow, "this cell"));
  }
  TES_TRY(find_twins(b, &first, &second));
  if (first >= 0) TES_TRY(tesi_gmsh_refuse(b, b->cell[second], narrow, "two cells"));
done:
  tesi_free(ctx, &root);
  return status;
}
