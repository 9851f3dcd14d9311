/* Flows, and discontinuous unknowns, in a VTU file: expressions in the problem's fields, cell by cell, so that values
 * may jump between cells. */
#include <string.h>
#include "basis/gauss.h"
#include "geometry/geometry.h"
#include "io/vtu/vtu.h"
#include "io/vtu/vtu_values.h"
#include "problem/field_rows.h"
#include "problem/in_time.h"

enum { SHOWN = 8, ALWAYS = 4, SCALAR = 1, ARRAYS = SHOWN + TESI_OWN_FIELD_ROWS, MOST = 17 * 17 * 17 };

/* A field of the file and its components. */
typedef struct Shown {
  const char *name, *of[2][3]; /* in 2D and 3D */
} Shown;

static const Shown of_flows[SHOWN] = {
    {"velocity", {{"u", "v"}, {"u", "v", "w"}}},
    {"pressure", {{"p"}, {"p"}}},
    {"divergence", {{"ux + vy"}, {"ux + vy + wz"}}},
    {"vorticity", {{"vx - uy"}, {"wy - vz", "uz - wx", "vx - uy"}}},
    /* if means in time are taken */
    {"mean_velocity", {{"mean_u", "mean_v"}, {"mean_u", "mean_v", "mean_w"}}},
    {"mean_pressure", {{"mean_p"}, {"mean_p"}}},
    {"mean_velocity_squares", {{"mean_uu", "mean_vv"}, {"mean_uu", "mean_vv", "mean_ww"}}},
    {"mean_pressure_square", {{"mean_pp"}, {"mean_pp"}}}};
static const Shown of_scalars[3 * SCALAR] = {
    {"u", {{"u"}, {"u"}}}, {"mean", {{"mean_u"}, {"mean_u"}}}, {"mean_square", {{"mean_uu"}, {"mean_uu"}}}};

/* The nodes of a cell, and their coordinates in space. */
typedef struct Nodes {
  const TesMesh *mesh;
  int n;
  double xi[3 * MOST], x[3 * MOST];
} Nodes;

static TesStatus fill_coordinates(void *user, int64_t first, int64_t count, double *values) {
  Nodes *s = user;
  const int dim = s->mesh->dim;
  TesStatus status = TES_OK;
  for (int64_t c = 0; c < count && status == TES_OK; c++) {
    status = tesi_mesh_points(s->mesh, first + c, s->n, s->xi, s->x, NULL);
    for (int i = 0; i < s->n; i++)
      for (int d = 0; d < dim; d++) values[(c * dim + d) * s->n + i] = s->x[i * dim + d];
  }
  return status;
}

static void place_nodes(const TesMesh *mesh, int degree, Nodes *s) {
  double node[TESI_MAX_POINTS];
  const int q = degree + 1;
  tesi_gauss_lobatto(q, node, NULL);
  s->mesh = mesh;
  s->n = mesh->dim == 2 ? q * q : q * q * q;
  for (int i = 0; i < s->n; i++) {
    const int at[3] = {i % q, i / q % q, i / q / q};
    for (int d = 0; d < mesh->dim; d++) s->xi[i * mesh->dim + d] = node[at[d]];
  }
}

/* The fields of the file; returns their number. */
static int choose(const TesProblem *problem, Shown shown[ARRAYS]) {
  const TesiFlowEquation *flow = problem->equation->flow;
  const bool scalar = flow && flow->scalar,
             averaged = problem->in_time && problem->in_time->march.average.count;
  const int always = scalar ? SCALAR : ALWAYS, all = scalar ? 3 * SCALAR : SHOWN;
  int count = averaged ? all : always;
  TesiField field[TESI_FIELDS];
  const int fields = tesi_problem_fields(problem, field);
  memcpy(shown, scalar ? of_scalars : of_flows, (size_t)count * sizeof *shown);
  if (scalar && problem->names.name) shown[0].name = problem->names.name;
  for (int i = 0; i < fields && count < ARRAYS; i++)
    if (field[i].in_files) shown[count++] = (Shown){field[i].name, {{field[i].name}, {field[i].name}}};
  return count;
}

TesStatus tesi_vtu_quantities(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                              TesiVtuSink sink, void *user) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  Nodes *nodes = NULL;
  Shown shown[ARRAYS];
  TesiField field[TESI_FIELDS];
  TesiVtuValues *values = NULL;
  TesVtuArray arrays[ARRAYS], *cells = NULL;
  const TesiGeometry *geometry = NULL;
  const TesiFlowEquation *flow = problem->equation->flow;
  int degree = problem->space->degree + (flow && !flow->scalar);
  const int count = choose(problem, shown);
  if (problem->mesh->kind != TES_MESH_BOX) TES_TRY(tesi_mesh_geometry(problem->mesh, &geometry));
  if (geometry && !problem->mesh->as_grid)
    degree = tesi_max(degree, geometry->degree); /* the file has the cells' mapping exactly */
  TES_NEW(&nodes);
  place_nodes(problem->mesh, degree, nodes);
  const int fields = tesi_problem_fields(problem, field);
  TES_NEW(&values);
  for (int i = 0; i < count; i++) {
    const char *const *of = shown[i].of[problem->mesh->dim - 2];
    const int components = !of[1] ? 1 : !of[2] ? 2 : 3;
    TES_TRY(tesi_vtu_values_add(values, problem->mesh, shown[i].name, components, of, fields, field));
  }
  TES_TRY(tesi_vtu_values_begin(values, problem->space->scalar[0], degree, arrays));
  TES_ALLOC(&cells, cell_count + TESI_VTU_OF_MESH);
  int of_cells = tesi_vtu_mesh_fields(problem->mesh, cells);
  for (int i = 0; i < cell_count; i++) cells[of_cells++] = cell_fields[i];
  TES_TRY(sink(user, ctx,
               &(TesVtuDesc){.dim = problem->mesh->dim,
                             .degree = degree,
                             .cells = problem->mesh->cells,
                             .coordinates = {.fill = fill_coordinates, .user = nodes},
                             .point_fields = arrays,
                             .point_field_count = count,
                             .cell_fields = cells,
                             .cell_field_count = of_cells}));
done:
  if (values) tesi_vtu_values_free(values);
  tesi_free(ctx, &values);
  tesi_free(ctx, &cells);
  tesi_free(ctx, &nodes);
  return status;
}
