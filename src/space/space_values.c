/* Where the nodes of a space are, and functions there. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "space/coordinates.h"

/* Nodes of cells, all or picked ones: node i has place i, or its number among the picked ones. */
typedef struct Places {
  const TesiCellView *view;
  const TesiGeometry *geometry;
  const TesiPicked *picked;
  const double *B;
  _Atomic int32_t *last; /* [places] the last cell that has it and where it does not hang, and 1 */
  double *memory;        /* [threads][nodes of a cell][dim] */
  double *x;
} Places;

/* -1: not picked */
static int64_t place_of(const Places *p, int64_t node) {
  if (!p->picked) return node;
  return p->picked->mark[node] ? tesi_picked_before(p->picked, node) : -1;
}

static bool hangs(const TesiCellView *v, int64_t cell, int i) {
  const int at[3] = {i % v->n, i / v->n % v->n, i / v->n / v->n};
  return tesi_hanging_directions(v->dim, v->n, v->mask[cell], at);
}

static void find_last(const void *data, TesiSpan span) {
  const Places *p = data;
  const TesiCellView *v = p->view;
  for (int64_t c = span.first; c < span.end; c++)
    for (int i = 0; i < v->cell_nodes; i++) {
      const int64_t at = place_of(p, tesi_cells_node(v->index[c * v->cell_nodes + i]));
      if (at < 0 || hangs(v, c, i)) continue;
      int32_t now = atomic_load_explicit(&p->last[at], memory_order_relaxed);
      while (now <= c && !atomic_compare_exchange_weak_explicit(&p->last[at], &now, (int32_t)c + 1,
                                                                memory_order_relaxed, memory_order_relaxed)) {
      }
    }
}

static void put_nodes(const Places *p, int64_t cell, double *at) {
  const TesiCellView *v = p->view;
  bool known = false;
  for (int i = 0; i < v->cell_nodes; i++) {
    const int64_t place = place_of(p, tesi_cells_node(v->index[cell * v->cell_nodes + i]));
    if (place < 0 || p->last[place] != cell + 1 || hangs(v, cell, i)) continue;
    if (!known) tesi_geometry_grid(p->geometry, cell, v->n, p->B, at);
    known = true;
    memcpy(p->x + place * v->dim, at + i * v->dim, (size_t)v->dim * sizeof *at);
  }
}

static void put_cells(const void *data, TesiSpan span) {
  const Places *p = data;
  double *const at = p->memory + span.thread * p->view->cell_nodes * p->view->dim;
  for (int64_t c = span.first; c < span.end; c++) put_nodes(p, c, at);
}

/* Nodes that hang in all cells of this rank are placed by others. */
static TesStatus share_coordinates(const Places *p) {
  const TesiCellView *s = p->view;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *known = NULL, *along = NULL;
  if (!s->layout->shared) return TES_OK;
  TES_ALLOC(&known, s->length);
  TES_ALLOC(&along, s->length);
  for (int d = 0; d < s->dim; d++) {
    for (int64_t i = 0; i < s->length; i++) {
      const int64_t at = place_of(p, i);
      along[i] = at < 0 ? NAN : p->x[at * s->dim + d], known[i] = isnan(along[i]) ? 0 : 1;
    }
    tesi_exchange_mean(s->layout->shared, known, along);
    for (int64_t i = 0; i < s->length; i++) {
      const int64_t at = place_of(p, i);
      if (at >= 0 && isnan(p->x[at * s->dim + d])) p->x[at * s->dim + d] = along[i];
    }
  }
done:
  tesi_free(ctx, &known);
  tesi_free(ctx, &along);
  return status;
}

/* A node is where the last of its cells says. */
TesStatus tesi_cells_coordinates_of(const TesiCellView *s, const TesiPicked *picked, double *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int64_t places = picked ? picked->count : s->length;
  const int threads = tesi_team_threads(ctx, s->cells * s->cell_nodes);
  Places p = {.view = s, .picked = picked, .x = x};
  double *B = NULL;
  TES_TRY(tesi_mesh_geometry(s->mesh, &p.geometry));
  TES_ALLOC(&B, s->n * (p.geometry->degree + 1));
  TES_ALLOC(&p.last, places);
  TES_ALLOC(&p.memory, threads * s->cell_nodes * s->dim);
  tesi_geometry_tables(p.geometry, s->n, s->node, B, NULL);
  p.B = B;
  tesi_team_for(threads, s->cells, find_last, &p);
  for (int64_t i = 0; i < places; i++)
    for (int d = 0; d < s->dim && !p.last[i]; d++) x[i * s->dim + d] = NAN;
  tesi_team_for(threads, s->cells, put_cells, &p);
  TES_TRY(share_coordinates(&p));
  for (int64_t i = 0; i < places * s->dim; i++)
    if (isnan(x[i])) TES_FAIL(TES_INTERNAL, "a node belongs to no cell");
done:
  tesi_free(ctx, &B);
  tesi_free(ctx, &p.last);
  tesi_free(ctx, &p.memory);
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
