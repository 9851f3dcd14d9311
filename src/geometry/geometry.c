/* Geometry: creation, choice of the kind, references. */
#include "base/integer.h"
#include "geometry/lanes.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"

TesiGeometry *tesi_geometry_retain(const TesiGeometry *geometry) {
  TesiGeometry *g = (TesiGeometry *)geometry;
  atomic_fetch_add(&g->references, 1);
  return g;
}

void tesi_geometry_destroy(TesiGeometry **geometry) {
  if (!geometry || !*geometry) return;
  TesiGeometry *g = *geometry;
  *geometry = NULL;
  if (atomic_fetch_sub(&g->references, 1) != 1) return;
  TesContext *ctx = g->context;
  for (int d = 0; d < 3; d++) {
    tes_function_destroy(&g->map[d]);
    for (int e = 0; e < 3; e++) tes_function_destroy(&g->gradient[d][e]);
  }
  tesi_free(ctx, &g->nodes);
  tesi_free(ctx, &g->vertices);
  tesi_free(ctx, &g->cell_of_box);
  tesi_free(ctx, &g);
  tes_context_destroy(&ctx);
}

/* Largest distances, in any coordinate, of the nodes from the trilinear map of their cell's vertices, and of the
 * vertices from the affine map of the first dim + 1 vertices; `size`: largest coordinate, as the scale of round-off. */
typedef struct Deviation {
  double trilinear, affine, size;
} Deviation;

/* fmax() without a call; `most` is a number. */
static double larger(double most, double value) {
  return value > most ? value : most;
}

static void cell_deviation(const TesiGeometry *g, const double *shape, const double *nodes,
                           bool vertices_only, Deviation *most) {
  const int dim = g->dim, corners = 1 << dim, m = g->degree;
  const int step[3] = {m, m * (m + 1), m * (m + 1) * (m + 1)};
  int corner[8];
  for (int v = 0; v < corners; v++)
    corner[v] = (v & 1) * step[0] + (v >> 1 & 1) * step[1] + (v >> 2) * step[2];
  for (int r = 0; r < dim; r++) {
    const double origin = nodes[r];
    for (int v = 0; v < corners; v++) {
      double sum = origin;
      for (int d = 0; d < dim; d++)
        if (v >> d & 1) sum += nodes[corner[1 << d] * dim + r] - origin;
      most->affine = larger(most->affine, fabs(nodes[corner[v] * dim + r] - sum));
      most->size = larger(most->size, fabs(nodes[corner[v] * dim + r]));
    }
    for (int p = 0; m > 1 && !vertices_only && p < g->cell_nodes; p++) {
      double sum = 0;
      for (int v = 0; v < corners; v++) sum += shape[p * corners + v] * nodes[corner[v] * dim + r];
      most->trilinear = larger(most->trilinear, fabs(nodes[p * dim + r] - sum));
    }
  }
}

typedef struct Deviations {
  const TesiGeometry *g;
  const double *shape;
  bool hasty;
  Deviation *most;
} Deviations;

static void deviate(const void *data, TesiSpan span) {
  const Deviations *s = data;
  const TesiGeometry *g = s->g;
  Deviation d = {0, 0, 0};
  for (int64_t c = span.first; c < span.end; c++)
    cell_deviation(g, s->shape, g->nodes + c * g->cell_nodes * g->dim,
                   s->hasty && d.trilinear > 1e-6 * d.size, &d);
#pragma omp critical(tesi_deviation)
  *s->most = (Deviation){fmax(s->most->trilinear, d.trilinear), fmax(s->most->affine, d.affine),
                         fmax(s->most->size, d.size)};
}

/* The distances over all cells; `hasty`: when a thread has seen a clearly curved cell, it looks at vertices only. */
static Deviation find_deviation(TesContext *ctx, const TesiGeometry *g, const double *shape, bool hasty) {
  Deviation most = {0, 0, 0};
  tesi_team_for(tesi_team_threads(ctx, g->cells * g->cell_nodes * g->dim), g->cells, deviate,
                &(Deviations){g, shape, hasty, &most});
  return most;
}

/* Values of the vertex functions at the nodes: shape[nodes][2^dim]. */
static void vertex_shapes(const TesiGeometry *g, double *shape) {
  double at[TESI_GEOMETRY_DEGREE + 1];
  const int n = g->degree + 1;
  tesi_gauss_lobatto(n, at, NULL);
  for (int p = 0; p < g->cell_nodes; p++)
    for (int v = 0; v < 1 << g->dim; v++) {
      const int i[3] = {p % n, p / n % n, p / n / n};
      double value = 1;
      for (int d = 0; d < g->dim; d++) value *= v >> d & 1 ? at[i[d]] : 1 - at[i[d]];
      shape[p * (1 << g->dim) + v] = value;
    }
}

static TesStatus keep_vertices_only(TesContext *ctx, TesiGeometry *g) {
  TesStatus status = TES_OK;
  const int dim = g->dim, corners = 1 << dim, m = g->degree;
  double *vertices = NULL;
  TES_ALLOC(&vertices, g->cells * corners * dim);
  for (int64_t c = 0; c < g->cells; c++)
    for (int v = 0; v < corners; v++) {
      const int at = m * ((v & 1) + (m + 1) * ((v >> 1 & 1) + (m + 1) * (v >> 2)));
      memcpy(vertices + (c * corners + v) * dim, g->nodes + (c * g->cell_nodes + at) * dim,
             (size_t)dim * sizeof(double));
    }
  tesi_free(ctx, &g->nodes);
  g->nodes = vertices;
  g->degree = 1;
  g->cell_nodes = corners;
done:
  return status;
}

/* The cheapest kind that reproduces the nodes up to round-off. */
static TesStatus find_kind(TesContext *ctx, TesiGeometry *g) {
  TesStatus status = TES_OK;
  double *shape = NULL;
  if (g->map[0]) {
    g->kind = TES_GEOMETRY_ANALYTIC;
    return TES_OK;
  }
  TES_ALLOC(&shape, g->cell_nodes << g->dim);
  vertex_shapes(g, shape);
  Deviation most = find_deviation(ctx, g, shape, true);
  if (most.trilinear <= 16 * DBL_EPSILON * most.size) most = find_deviation(ctx, g, shape, false);
  const double round_off = 16 * DBL_EPSILON * most.size;
  g->kind = most.trilinear > round_off ? TES_GEOMETRY_CURVED
            : most.affine > round_off  ? TES_GEOMETRY_TRILINEAR
                                       : TES_GEOMETRY_AFFINE;
  if (g->kind != TES_GEOMETRY_CURVED && g->degree > 1) TES_TRY(keep_vertices_only(ctx, g));
done:
  tesi_free(ctx, &shape);
  return status;
}

/* Gradients of the map. When all are constants the map is affine and moves the vertices instead. */
static TesStatus take_map(TesContext *ctx, TesiGeometry *g) {
  TesStatus status = TES_OK;
  bool affine = true;
  double value;
  if (!g->map[0]) return TES_OK;
  for (int r = 0; r < g->dim; r++)
    for (int c = 0; c < g->dim; c++) {
      TES_TRY(tes_function_create_derivative(g->map[r], c, &g->gradient[r][c]));
      affine = affine && tes_function_constant(g->gradient[r][c], &value);
    }
  if (!affine) return TES_OK;
  for (int64_t p = 0; p < g->cells * g->cell_nodes; p++) {
    double at[3] = {0}, to[3];
    memcpy(at, g->nodes + p * g->dim, (size_t)g->dim * sizeof *at);
    for (int r = 0; r < g->dim; r++) tesi_function_values(g->map[r], 1, &at[0], &at[1], &at[2], 0, &to[r]);
    memcpy(g->nodes + p * g->dim, to, (size_t)g->dim * sizeof *at);
  }
  for (int r = 0; r < 3; r++) tes_function_destroy(&g->map[r]);
done:
  return status;
}

/* Reports where cell `bad` is inverted; work: of a group of cells. */
static TesStatus tell_inverted(TesContext *ctx, const TesiGeometry *g, int64_t bad, int q, const double *B,
                               const double *G, double *x) {
  TesStatus status = TES_OK;
  const int points = tesi_power(q, g->dim);
  double *J = x + 3 * points, *det = J + g->dim * g->dim * points;
  int p = 0;
  tesi_geometry_tensor(g, bad, 1, q, B, G, x, J);
  tesi_geometry_determinant(g->dim, points, J, det);
  while (p < points - 1 && det[p] > 0 && isfinite(det[p])) p++;
  const double z = g->dim == 3 ? x[2 * points + p] : 0;
  if (!isfinite(det[p]))
    TES_FAIL(TES_NAN, "cell %lld has no finite |J| near (%g, %g, %g)", (long long)bad, x[p], x[points + p], z);
  TES_FAIL(TES_INVALID_INPUT, "cell %lld is inverted or degenerate: |J| = %.3g at (%g, %g, %g)",
           (long long)bad, det[p], x[p], x[points + p], z);
done:
  return status;
}

/* Checks all cells at q points per direction. */
typedef struct Check {
  const TesiGeometry *g;
  const TesiLanes *lanes;
  int q, points;
  const double *B, *G;
  double *work; /* [threads][share] */
  int64_t share, *bad;
} Check;

/* Groups of TESI_LANES cells. */
static void check_groups(const void *data, TesiSpan span) {
  const Check *k = data;
  const TesiGeometry *g = k->g;
  const int dim = g->dim, points = k->points;
  double *own = k->work + span.thread * k->share, *x = own + TESI_LANES * g->cell_nodes * dim,
         *J = x + 3 * TESI_LANES * points, *det = J + dim * dim * TESI_LANES * points;
  for (int64_t group = span.first; group < span.end; group++) {
    const int64_t c = group * TESI_LANES;
    int32_t cell[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) cell[l] = (int32_t)(c + l < g->cells ? c + l : c);
    tesi_lanes_points(g, k->lanes, cell, k->q, k->B, k->G, own, x, J);
    k->lanes->determinant(dim, points, J, det);
    const unsigned faults = k->lanes->faulty(points, true, det);
    for (int l = 0; l < TESI_LANES; l++)
      if (faults >> l & 1) tesi_team_least(k->bad, cell[l]);
    if (faults) return;
  }
}

/* |J| > 0 at degree + 2 Gauss-Lobatto points per direction (corners and, for trilinear cells, middles). */
static TesStatus check_cells(TesContext *ctx, const TesiGeometry *g) {
  enum { Q = TESI_GEOMETRY_DEGREE + 2 };
  TesStatus status = TES_OK;
  const int dim = g->dim, q = g->kind == TES_GEOMETRY_AFFINE ? 2 : g->degree + 2, points = tesi_power(q, dim);
  const int threads = tesi_team_threads(ctx, g->cells * points * dim);
  const int64_t nodes = g->cell_nodes * dim, share = TESI_LANES * (nodes + points * (4 + dim * dim));
  const TesiLanes *lanes = tesi_lanes(tes_context_simd_bits(ctx));
  double at[Q], B[Q * Q], G[Q * Q], *work = NULL;
  int64_t bad = INT64_MAX;
  tesi_gauss_lobatto(q, at, NULL);
  tesi_geometry_tables(g, q, at, B, G);
  TES_ALLOC(&work, threads * share);
  TES_TRY(tesi_work_for(ctx, threads, (g->cells + TESI_LANES - 1) / TESI_LANES, check_groups,
                        &(Check){g, lanes, q, points, B, G, work, share, &bad}));
  if (bad < INT64_MAX) TES_TRY(tell_inverted(ctx, g, bad, q, B, G, work));
done:
  tesi_free(ctx, &work);
  return status;
}

TesStatus tesi_geometry_finish(TesContext *ctx, TesiGeometry *g, TesiGeometry **geometry) {
  TesStatus status = TES_OK;
  TES_TRY(take_map(ctx, g));
  TES_TRY(find_kind(ctx, g));
  TES_TRY(check_cells(ctx, g));
  *geometry = g;
  g = NULL;
done:
  tesi_geometry_destroy(&g);
  return status;
}

static TesStatus check_desc(TesContext *ctx, const TesiGeometryDesc *desc) {
  TesStatus status = TES_OK;
  TES_CHECK(desc->dim == 2 || desc->dim == 3, "dim is %d, expected 2 or 3", desc->dim);
  TES_CHECK(desc->cells >= 1 && desc->cells <= INT32_MAX, "%lld cells, expected 1..2^31-1",
            (long long)desc->cells);
  TES_CHECK(desc->degree >= 0 && desc->degree <= TESI_GEOMETRY_DEGREE,
            "the geometry's degree is %d, expected 1..%d", desc->degree, TESI_GEOMETRY_DEGREE);
  TES_CHECK(desc->nodes, "a geometry needs nodes");
  for (int64_t i = 0; desc->vertices && i < desc->cells << desc->dim; i++)
    TES_CHECK(desc->vertices[i] >= 0, "vertex %d of cell %lld has number %d", (int)(i % (1 << desc->dim)),
              (long long)(i >> desc->dim), desc->vertices[i]);
done:
  return status;
}

TesStatus tesi_geometry_create(TesContext *context, const TesiGeometryDesc *desc, TesiGeometry **geometry) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiGeometry *g = NULL;
  *geometry = NULL;
  TES_TRY(check_desc(ctx, desc));
  TES_NEW(&g);
  atomic_init(&g->references, 1);
  g->context = tesi_context_retain(ctx);
  g->dim = desc->dim;
  g->cells = desc->cells;
  g->degree = desc->degree ? desc->degree : 1;
  g->cell_nodes = tesi_power(g->degree + 1, g->dim);
  TES_ALLOC(&g->nodes, g->cells * g->cell_nodes * g->dim);
  memcpy(g->nodes, desc->nodes, (size_t)(g->cells * g->cell_nodes * g->dim) * sizeof *g->nodes);
  if (desc->vertices) {
    TES_ALLOC(&g->vertices, g->cells << g->dim);
    memcpy(g->vertices, desc->vertices, (size_t)(g->cells << g->dim) * sizeof *g->vertices);
  }
  for (int d = 0; d < g->dim; d++) g->map[d] = desc->map[d] ? tesi_function_retain(desc->map[d]) : NULL;
  TesiGeometry *whole = g;
  g = NULL;
  TES_TRY(tesi_geometry_finish(ctx, whole, geometry));
done:
  tesi_geometry_destroy(&g);
  return status;
}

/* Called under a lock: the first caller makes the geometry. */
static TesStatus make(TesMesh *mesh) {
  TesStatus status = TES_OK;
#pragma omp critical(tesi_mesh_geometry)
  if (!mesh->geometry)
    status = mesh->coarse ? tesi_geometry_create_leaves(mesh, &mesh->geometry)
                          : tesi_geometry_create_box(mesh, NULL, &mesh->geometry);
  return status;
}

TesStatus tesi_mesh_geometry(const TesMesh *mesh, const TesiGeometry **geometry) {
  const TesStatus status = make((TesMesh *)mesh);
  *geometry = mesh->geometry;
  return status;
}

TesStatus tes_mesh_evaluate(const TesMesh *mesh, int64_t cell, int n, const double *xi, double *x, double *J) {
  const TesiGeometry *g;
  const TesStatus status = tesi_mesh_geometry(mesh, &g);
  return status == TES_OK ? tesi_geometry_evaluate(g, cell, n, xi, x, J) : status;
}
