/* Where the nodes of a space are, and functions there. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "space/coordinates.h"

/* Nodes that hang in all cells of this rank are placed by others. */
static TesStatus share_coordinates(const TesiCellView *s, double *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *known = NULL, *along = NULL;
  if (!s->layout->shared) return TES_OK;
  TES_ALLOC(&known, s->length);
  TES_ALLOC(&along, s->length);
  for (int d = 0; d < s->dim; d++) {
    for (int64_t i = 0; i < s->length; i++) along[i] = x[i * s->dim + d], known[i] = isnan(along[i]) ? 0 : 1;
    tesi_exchange_mean(s->layout->shared, known, along);
    for (int64_t i = 0; i < s->length; i++)
      if (isnan(x[i * s->dim + d])) x[i * s->dim + d] = along[i];
  }
done:
  tesi_free(ctx, &known);
  tesi_free(ctx, &along);
  return status;
}

/* Cells that have a node that is wanted. */
typedef struct Search {
  const TesiCellView *view;
  const uint8_t *wanted;
  uint8_t *has; /* [cells] */
} Search;

static void search(const void *data, TesiSpan span) {
  const Search *s = data;
  const TesiCellView *v = s->view;
  for (int64_t c = span.first; c < span.end; c++)
    for (int p = 0; p < v->cell_nodes && !s->has[c]; p++)
      s->has[c] = s->wanted[tesi_cells_node(v->index[c * v->cell_nodes + p])];
}

/* A node is where the last of its cells says. */
TesStatus tesi_cells_coordinates_of(const TesiCellView *s, const uint8_t *wanted, double *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int dim = s->dim, n = s->n;
  const TesiGeometry *geometry;
  double *B = NULL, *at = NULL;
  uint8_t *has = NULL;
  TES_TRY(tesi_mesh_geometry(s->mesh, &geometry));
  TES_ALLOC(&B, n * (geometry->degree + 1));
  TES_ALLOC(&at, s->cell_nodes * dim);
  if (wanted) TES_ALLOC(&has, s->cells);
  if (wanted)
    tesi_team_for(tesi_team_threads(ctx, 27 * s->cells), s->cells, search, &(Search){s, wanted, has});
  for (int64_t i = 0; i < s->length; i++)
    for (int d = 0; d < dim && (!wanted || wanted[i]); d++) x[i * dim + d] = NAN;
  tesi_geometry_tables(geometry, n, s->node, B, NULL);
  for (int64_t c = 0; c < s->cells; c++) {
    if (has && !has[c]) continue;
    tesi_geometry_grid(geometry, c, n, B, at);
    for (int p = 0; p < s->cell_nodes; p++) {
      if (tesi_hanging_directions(dim, n, s->mask[c], (const int[3]){p % n, p / n % n, p / n / n})) continue;
      memcpy(x + tesi_cells_node(s->index[c * s->cell_nodes + p]) * (int64_t)dim, at + p * dim,
             (size_t)dim * sizeof *x);
    }
  }
  TES_TRY(share_coordinates(s, x));
  for (int64_t i = 0; i < s->length * dim; i++)
    if (isnan(x[i])) TES_FAIL(TES_INTERNAL, "node %lld belongs to no cell", (long long)(i / dim));
done:
  tesi_free(ctx, &B);
  tesi_free(ctx, &at);
  tesi_free(ctx, &has);
  return status;
}

TesStatus tesi_cells_coordinates(const TesiCellView *s, double *x) {
  return tesi_cells_coordinates_of(s, NULL, x);
}

typedef struct Grid {
  const TesSpace *s;
  double *x;
} Grid;

/* Over a box the axes tell. */
static void grid_coordinates(const void *data, TesiSpan span) {
  const TesSpace *s = ((const Grid *)data)->s;
  double *x = ((const Grid *)data)->x;
  const int64_t nx = s->axis[0].nodes, ny = s->axis[1].nodes;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t at[3] = {i % nx, i / nx % ny, i / nx / ny};
    for (int d = 0; d < s->dim; d++) x[i * s->dim + d] = s->axis[d].x[at[d]];
  }
}

static TesStatus scalar_coordinates(const TesSpace *space, double *x) {
  if (!tesi_space_axes(space)) return tesi_cells_coordinates(space->view, x);
  tesi_team_for(tesi_team_threads(space->context, space->length), space->length, grid_coordinates,
                &(Grid){space, x});
  return TES_OK;
}

TesStatus tes_space_coordinates(const TesSpace *space, double *x) {
  TesStatus status = TES_OK;
  for (int i = 0; i < space->scalars && status == TES_OK; i++)
    status = scalar_coordinates(space->scalar[i], x + space->first[i] * space->dim);
  return status;
}

static TesStatus interpolate(const TesSpace *s, const TesFunction *function, double *u) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *x = NULL, *y = NULL;
  const int64_t n = s->length;
  TES_ALLOC(&x, n * s->dim);
  TES_ALLOC(&y, n * s->dim);
  TES_TRY(tes_space_coordinates(s, x));
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < s->dim; d++) y[d * n + i] = x[i * s->dim + d];
  TES_TRY(tes_function_evaluate(function, n, y, y + n, s->dim == 3 ? y + 2 * n : NULL, 0, u));
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &y);
  return status;
}

TesStatus tes_space_interpolate(const TesSpace *space, const TesFunction *const *function, TesVector *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  TES_CHECK(u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  TES_ALLOC(&values, space->length);
  for (int i = 0; i < space->scalars; i++)
    if (function[i]) TES_TRY(interpolate(space->scalar[i], function[i], values + space->first[i]));
  TES_TRY(tes_vector_set(u, values));
done:
  tesi_free(ctx, &values);
  return status;
}
