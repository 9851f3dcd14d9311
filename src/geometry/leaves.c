/* The leaves of a forest, or trees without refinement, as a geometry. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "basis/gauss.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "mesh/forest/leaf_numbering.h"

/* Trees without refinement know their shared vertices; nodes are numbered by these. */
static TesStatus take_vertices(TesContext *ctx, const TesMesh *mesh, TesiGeometry *g) {
  TesStatus status = TES_OK;
  TES_ALLOC(&g->vertices, g->cells << g->dim);
  memcpy(g->vertices, mesh->coarse->vertices, (size_t)(g->cells << g->dim) * sizeof *g->vertices);
done:
  return status;
}

/* Parts of multilinear trees are multilinear, so the vertices determine them. */
static int degree_of(const TesMesh *mesh) {
  if (!mesh->coarse->map && !mesh->coarse->deform[0] && mesh->coarse->degree == 1) return 1;
  return mesh->geometry_degree ? mesh->geometry_degree : 2;
}

typedef struct Leaves {
  const TesMesh *forest;
  const uint16_t *mask;
  int n, points;
  const double *node, *W;
  double *x; /* [cells][points][dim] */
} Leaves;

static void fill_nodes(const void *data, TesiSpan span) {
  const Leaves *l = data;
  for (int64_t c = span.first; c < span.end; c++)
    tesi_hanging_positions(l->forest, c, l->mask ? l->mask[c] : 0, l->n, l->node, l->W,
                           l->x + c * l->points * l->forest->dim);
}

/* Reports the place of a node at which the map is not finite. */
static TesStatus check_map(const TesMesh *mesh, const TesiGeometry *g, const double *node) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int dim = g->dim, n = g->degree + 1;
  const int64_t values = g->cell_nodes * dim;
  int64_t bad = 0;
  double xi[3], x[3] = {0};
  if (!mesh->coarse->deform[0]) return TES_OK;
  while (bad < g->cells * values && isfinite(g->nodes[bad])) bad++;
  if (bad == g->cells * values) return TES_OK;
  const int64_t c = bad / values;
  const int p = (int)(bad % values) / dim, at[3] = {p % n, p / n % n, p / n / n};
  const double scale = 1.0 / ((int64_t)1 << mesh->depth);
  const double size = scale * (double)((int64_t)1 << (mesh->depth - mesh->leaves.level[c]));
  for (int d = 0; d < dim; d++) xi[d] = scale * mesh->leaves.origin[3 * c + d] + size * node[at[d]];
  tesi_trees_evaluate_plain(mesh->coarse, mesh->leaves.tree[c], 1, xi, x);
  const TesFunction *map = mesh->coarse->deform[bad % dim];
  TES_FAIL(tesi_function_fault(map), "%s%s is not finite at (%.6g, %.6g, %.6g)", tesi_function_where(map),
           tes_function_text(map), x[0], x[1], x[2]);
done:
  return status;
}

TesStatus tesi_geometry_create_leaves(const TesMesh *forest, TesiGeometry **geometry) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  const int dim = forest->dim, m = degree_of(forest), n = m + 1, points = dim == 2 ? n * n : n * n * n;
  const int64_t cells = forest->leaves.cells;
  double node[TESI_HANGING_NODES], W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const uint16_t *mask;
  TesiGeometry *g = NULL, *whole;
  *geometry = NULL;
  TES_TRY(tesi_forest_afford(ctx, cells * points * dim * 16, "a geometry", cells));
  TES_TRY(tesi_forest_masks(forest, &mask));
  TES_NEW(&g);
  atomic_init(&g->references, 1);
  g->context = tesi_context_retain(ctx);
  g->dim = dim, g->cells = cells, g->degree = m, g->cell_nodes = points;
  TES_ALLOC(&g->nodes, cells * points * dim);
  tesi_gauss_lobatto(n, node, NULL);
  tesi_hanging_halves(n, W);
  TES_TRY(tesi_work_for(ctx, tesi_team_threads(ctx, cells * points * dim), cells, fill_nodes,
                        &(Leaves){forest, mask, n, points, node, W, g->nodes}));
  TES_TRY(check_map(forest, g, node));
  if (forest->kind == TES_MESH_CELLS) TES_TRY(take_vertices(ctx, forest, g));
  whole = g;
  g = NULL;
  TES_TRY(tesi_geometry_finish(ctx, whole, geometry));
done:
  tesi_geometry_destroy(&g);
  return status;
}
