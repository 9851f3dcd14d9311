/* Where the nodes of a space over a forest are, and functions there. */
#include <math.h>
#include <string.h>
#include "space/forest_space.h"

TesStatus tes_forest_space_coordinates(const TesForestSpace *s, const TesGeometry *geometry, double *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int dim = s->dim, n = s->n;
  double *xi = NULL, *at = NULL;
  TES_CHECK(tes_geometry_dim(geometry) == dim && tes_geometry_cells(geometry) == s->cells,
            "the geometry has %lld cells, the space %lld", (long long)tes_geometry_cells(geometry),
            (long long)s->cells);
  TES_ALLOC(&xi, s->cell_nodes * dim);
  TES_ALLOC(&at, s->cell_nodes * dim);
  for (int64_t i = 0; i < s->length * dim; i++) x[i] = NAN;
  for (int p = 0; p < s->cell_nodes; p++)
    for (int d = 0; d < dim; d++) xi[p * dim + d] = s->node[(const int[3]){p % n, p / n % n, p / n / n}[d]];
  for (int64_t c = 0; c < s->cells; c++) {
    TES_TRY(tes_geometry_evaluate(geometry, c, s->cell_nodes, xi, at, NULL));
    for (int p = 0; p < s->cell_nodes; p++) {
      if (tesi_hanging_directions(dim, n, s->mask[c], (const int[3]){p % n, p / n % n, p / n / n})) continue;
      memcpy(x + tesi_forest_node(s->index[c * s->cell_nodes + p]) * (int64_t)dim, at + p * dim,
             (size_t)dim * sizeof *x);
    }
  }
  for (int64_t i = 0; i < s->length * dim; i++)
    if (isnan(x[i])) TES_FAIL(TES_INTERNAL, "node %lld belongs to no cell", (long long)(i / dim));
done:
  tesi_free(ctx, &xi);
  tesi_free(ctx, &at);
  return status;
}

TesStatus tes_forest_space_interpolate(const TesForestSpace *s, const TesGeometry *geometry,
                                       const TesFunction *function, double *u) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *x = NULL, *y = NULL;
  const int64_t n = s->length;
  TES_ALLOC(&x, n * s->dim);
  TES_ALLOC(&y, n * s->dim);
  TES_TRY(tes_forest_space_coordinates(s, geometry, x));
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < s->dim; d++) y[d * n + i] = x[i * s->dim + d];
  TES_TRY(tes_function_evaluate(function, n, y, y + n, s->dim == 3 ? y + 2 * n : NULL, 0, u));
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &y);
  return status;
}
