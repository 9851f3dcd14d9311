/* The cells of a box mesh as a geometry: vertices moved at random, mapped, and in any order. */
#include <math.h>
#include <string.h>
#include "base/random.h"
#include "base/team.h"
#include "basis/gauss.h"
#include "geometry/geometry.h"

/* Largest displacement: a fraction of the smallest edge. */
static double amplitude(const TesMesh *mesh, double fraction) {
  double smallest = INFINITY;
  for (int d = 0; d < mesh->dim; d++)
    for (int i = 0; i < mesh->box[d]; i++)
      smallest = fmin(smallest, mesh->coordinates[d][i + 1] - mesh->coordinates[d][i]);
  return fraction * smallest;
}

/* Vertex i of the box. An inner vertex is moved in each direction by a random number that depends only on the vertex
 * and the seed. */
static void vertex(const TesMesh *mesh, const int i[3], double size, uint64_t seed, double *x) {
  bool inside = true;
  uint64_t number = 0;
  for (int d = mesh->dim - 1; d >= 0; d--) {
    inside = inside && i[d] > 0 && i[d] < mesh->box[d];
    number = number * (uint64_t)(mesh->box[d] + 1) + (uint64_t)i[d];
  }
  for (int d = 0; d < mesh->dim; d++) {
    const double unit = tesi_random_unit(seed ^ tesi_random_hash(3 * number + (uint64_t)d));
    x[d] = mesh->coordinates[d][i[d]] + (inside ? size * (2 * unit - 1) : 0);
  }
}

/* Vertices of the cell at `box`, lexicographic: numbers and coordinates. */
static void fill_cell(const TesMesh *mesh, int64_t box, double size, uint64_t seed, int32_t *numbers,
                      double *x) {
  const int dim = mesh->dim;
  const int64_t nx = mesh->box[0], ny = mesh->box[1];
  for (int v = 0; v < 1 << dim; v++) {
    const int i[3] = {(int)(box % nx) + (v & 1), (int)(box / nx % ny) + (v >> 1 & 1),
                      (int)(box / nx / ny) + (v >> 2)};
    numbers[v] = (int32_t)(i[0] + (nx + 1) * (i[1] + (ny + 1) * (int64_t)i[2]));
    vertex(mesh, i, size, seed, x + v * dim);
  }
}

/* order[cells] at random, by swaps from the end. */
static TesStatus shuffle_cells(TesContext *ctx, TesiGeometry *g, uint64_t seed) {
  TesStatus status = TES_OK;
  TES_ALLOC(&g->cell_of_box, g->cells);
  for (int64_t c = 0; c < g->cells; c++) g->cell_of_box[c] = (int32_t)c;
  tesi_random_shuffle(seed, g->cells, g->cell_of_box);
done:
  return status;
}

/* Values of the map at the Gauss-Lobatto points of degree m of each (trilinear) cell: the Q_m geometry. */
static TesStatus interpolate_map(TesContext *ctx, TesiGeometry *g, int m) {
  TesStatus status = TES_OK;
  enum { N = TESI_GEOMETRY_DEGREE + 1 };
  const int dim = g->dim, n = m + 1;
  const int64_t points = dim == 3 ? n * n * n : n * n;
  double at[N], B[2 * N], G[2 * N], *nodes = NULL, *x = NULL, *to = NULL;
  TES_ALLOC(&nodes, g->cells * points * dim);
  TES_ALLOC(&x, points * (3 + dim * dim));
  TES_ALLOC(&to, points);
  tesi_gauss_lobatto(n, at, NULL);
  tesi_geometry_tables(g, n, at, B, G);
  TesFunction *map[3];
  memcpy(map, g->map, sizeof map);
  memset(g->map, 0, sizeof g->map);
  for (int64_t c = 0; c < g->cells; c++) {
    tesi_geometry_tensor(g, c, 1, n, B, G, x, x + 3 * points);
    for (int r = 0; r < dim; r++) {
      tesi_function_values(map[r], points, x, x + points, x + 2 * points, 0, to);
      for (int64_t p = 0; p < points; p++) nodes[(c * points + p) * dim + r] = to[p];
    }
  }
  for (int r = 0; r < 3; r++) tes_function_destroy(&map[r]);
  tesi_free(ctx, &g->nodes);
  g->nodes = nodes;
  nodes = NULL;
  g->degree = m;
  g->cell_nodes = points;
done:
  tesi_free(ctx, &nodes);
  tesi_free(ctx, &x);
  tesi_free(ctx, &to);
  return status;
}

static TesStatus check_desc(const TesMesh *mesh, const TesMeshDesc *desc) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TES_CHECK(desc->perturbation >= 0 && desc->perturbation < 0.5, "the perturbation is %g, expected 0 .. 0.49",
            desc->perturbation);
  for (int d = 0; d < mesh->dim; d++)
    TES_CHECK(!desc->map[d] == !desc->map[0], "a map needs all %d functions", mesh->dim);
  double vertices = 1;
  for (int d = 0; d < mesh->dim; d++) vertices *= mesh->box[d] + 1;
  TES_CHECK(vertices <= INT32_MAX, "%.3g vertices, at most 2^31-1 are possible", vertices);
done:
  return status;
}

typedef struct Cells {
  const TesMesh *mesh;
  const TesiGeometry *g;
  double size; /* of displacements */
  uint64_t seed;
} Cells;

static void fill_cells(const void *data, TesiSpan span) {
  const Cells *s = data;
  const TesiGeometry *g = s->g;
  const int corners = 1 << g->dim;
  for (int64_t c = span.first; c < span.end; c++)
    fill_cell(s->mesh, g->cell_of_box ? g->cell_of_box[c] : c, s->size, s->seed, g->vertices + c * corners,
              g->nodes + c * corners * g->dim);
}

TesStatus tesi_geometry_create_box(const TesMesh *mesh, const TesMeshDesc *desc, TesiGeometry **geometry) {
  static const TesMeshDesc straight;
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiGeometry *g = NULL;
  const int corners = 1 << mesh->dim;
  *geometry = NULL;
  if (!desc) desc = &straight;
  TES_TRY(check_desc(mesh, desc));
  TES_NEW(&g);
  atomic_init(&g->references, 1);
  g->context = tesi_context_retain(ctx);
  g->dim = mesh->dim;
  g->cells = mesh->cells;
  g->degree = 1;
  g->cell_nodes = corners;
  for (int d = 0; d < 3; d++) g->box[d] = mesh->box[d];
  if (desc->shuffle) TES_TRY(shuffle_cells(ctx, g, desc->shuffle));
  TES_ALLOC(&g->nodes, g->cells * corners * g->dim);
  TES_ALLOC(&g->vertices, g->cells * corners);
  tesi_team_for(tesi_team_threads(ctx, g->cells * corners * g->dim), g->cells, fill_cells,
                &(Cells){mesh, g, amplitude(mesh, desc->perturbation), desc->seed});
  for (int d = 0; d < g->dim; d++) g->map[d] = desc->map[d] ? tesi_function_retain(desc->map[d]) : NULL;
  if (desc->map[0] && desc->geometry_degree) TES_TRY(interpolate_map(ctx, g, desc->geometry_degree));
  TesiGeometry *whole = g;
  g = NULL;
  TES_TRY(tesi_geometry_finish(ctx, whole, geometry));
done:
  tesi_geometry_destroy(&g);
  return status;
}

TesStatus tesi_mesh_deform(TesMesh *mesh, const TesMeshDesc *desc) {
  return tesi_geometry_create_box(mesh, desc, &mesh->geometry);
}

int64_t tesi_mesh_box_cell(const TesMesh *mesh, int64_t cell) {
  const int32_t *cell_of_box = mesh->geometry ? mesh->geometry->cell_of_box : NULL;
  return cell_of_box ? cell_of_box[cell] : cell;
}
