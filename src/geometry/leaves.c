/* The leaves of a forest, or trees by themselves, as a geometry. */
#include <string.h>
#include "basis/gauss.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"

/* Masks of the cells: any degree's numbering has them. */
static TesStatus find_masks(TesContext *context, const TesMesh *f, uint16_t **mask) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  int32_t *index = NULL;
  int64_t nodes;
  TES_ALLOC(mask, f->leaves.cells);
  if (f->max_level == 0) return TES_OK;
  TES_ALLOC(&index, f->leaves.cells << f->dim);
  f->p4est->number(f->forest, 1, index, *mask, &nodes);
done:
  tesi_free(ctx, &index);
  return status;
}

/* Trees by themselves know which vertices they share: their numbers of nodes come from these. */
static TesStatus take_vertices(TesContext *ctx, const TesMesh *mesh, TesGeometry *g) {
  TesStatus status = TES_OK;
  TES_ALLOC(&g->vertices, g->cells << g->dim);
  memcpy(g->vertices, mesh->coarse->vertices, (size_t)(g->cells << g->dim) * sizeof *g->vertices);
done:
  return status;
}

TesStatus tesi_geometry_create_leaves(const TesMesh *forest, TesGeometry **geometry) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  const int dim = forest->dim, m = forest->geometry_degree ? forest->geometry_degree : 2, n = m + 1,
            points = dim == 2 ? n * n : n * n * n;
  const int64_t cells = forest->leaves.cells;
  double node[TESI_HANGING_NODES], W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  uint16_t *mask = NULL;
  TesGeometry *g = NULL, *whole;
  *geometry = NULL;
  TES_TRY(tesi_forest_afford(ctx, cells * points * dim * 16, "a geometry", cells));
  TES_TRY(find_masks(ctx, forest, &mask));
  TES_NEW(&g);
  atomic_init(&g->references, 1);
  g->context = tesi_context_retain(ctx);
  g->dim = dim, g->cells = cells, g->degree = m, g->cell_nodes = points;
  TES_ALLOC(&g->nodes, cells * points * dim);
  tesi_gauss_lobatto(n, node, NULL);
  tesi_hanging_halves(n, W);
#pragma omp parallel for schedule(static) num_threads(tes_context_threads(ctx))
  for (int64_t c = 0; c < cells; c++)
    tesi_hanging_positions(forest, c, mask[c], n, node, W, g->nodes + c * points * dim);
  if (forest->kind == TES_MESH_CELLS) TES_TRY(take_vertices(ctx, forest, g));
  whole = g;
  g = NULL;
  TES_TRY(tesi_geometry_finish(ctx, whole, geometry));
done:
  tesi_geometry_destroy(&g);
  tesi_free(ctx, &mask);
  return status;
}
