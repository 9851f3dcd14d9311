/* Vectors and functions over a space as fields of a VTU file. Each cell is written separately, so hanging faces need
 * no special treatment: the file shows the values that a cell uses, interpolated from the coarse side. Over a box the
 * axes give the places of nodes; no index is needed. */
#include <string.h>
#include "base/work.h"
#include "io/vtu/vtu.h"
#include "io/vtu/vtu_values.h"
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "device/vector.h"
#include "geometry/geometry.h"
#include "geometry/locate.h"
#include "mesh/mesh.h"
#include "problem/in_time.h"
#include "space/space.h"
#include "tensor/contract.h"
#include "tessera/vtu.h"

enum { FIELDS = 16, COMPONENTS = 3 };

/* The cells of the file. Their degree is the degree of the space, or of the geometry if that is larger: so the file
 * has the mapping of the cells and the functions over them exactly. Trees that stand for a grid have straight cells. */
typedef struct Cells {
  const TesSpace *space;
  const TesiAxis *axis;         /* NULL: no box */
  int degree, n;                /* nodes of a cell */
  const TesiGeometry *geometry; /* no box: */
  double *J;                    /* [dim][dim][n]: scratch */
  double *B, *G;                /* [degree + 1][degree of the geometry + 1]: its basis at the nodes */
  double *values;               /* [degree + 1][degree of the space + 1]: the basis of the space there */
} Cells;

typedef struct Field {
  const Cells *cells;
  const TesSpace *space;
  int components;
  const TesFunction *const *function; /* [components] */
  const TesFunction *const *material; /* [materials] or NULL */
  double *values, *work;              /* [length] or NULL; [4 nodes of a cell] */
} Field;

static TesStatus take_cells(const TesSpace *space, Cells *cells) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiGeometry *g = NULL;
  double node[TESI_MAX_POINTS], of_geometry[TESI_MAX_POINTS], of_space[TESI_MAX_POINTS];
  *cells = (Cells){.space = space, .axis = tesi_space_axes(space), .degree = space->degree, .n = 1};
  if (!cells->axis) {
    TES_TRY(tesi_mesh_geometry(space->mesh, &g));
    if (!space->mesh->as_grid) cells->degree = tesi_max(space->degree, g->degree);
  }
  const int m = cells->degree + 1;
  for (int d = 0; d < space->dim; d++) cells->n *= m;
  if (!g) return TES_OK;
  cells->geometry = g;
  TES_ALLOC(&cells->J, cells->n * space->dim * space->dim);
  TES_ALLOC(&cells->B, m * (g->degree + 1));
  TES_ALLOC(&cells->G, m * (g->degree + 1));
  TES_ALLOC(&cells->values, m * (space->degree + 1));
  tesi_gauss_lobatto(m, node, NULL);
  tesi_gauss_lobatto(g->degree + 1, of_geometry, NULL);
  tesi_gauss_lobatto(space->degree + 1, of_space, NULL);
  tesi_lagrange(g->degree + 1, of_geometry, m, node, cells->B, cells->G);
  tesi_lagrange(space->degree + 1, of_space, m, node, cells->values, NULL);
done:
  return status;
}

static void free_cells(TesContext *ctx, Cells *cells) {
  tesi_free(ctx, &cells->J);
  tesi_free(ctx, &cells->values);
  tesi_free(ctx, &cells->B);
  tesi_free(ctx, &cells->G);
}

/* First node of a cell of a box in each direction. */
static void first_node(const TesiAxis *axis, int64_t cell, int64_t at[3]) {
  at[0] = cell % axis[0].cells * axis[0].degree;
  at[1] = cell / axis[0].cells % axis[1].cells * axis[1].degree;
  at[2] = cell / axis[0].cells / axis[1].cells * axis[2].degree;
}

static void box_coordinates(const Cells *cells, int64_t cell, double *x) {
  const TesiAxis *axis = cells->axis;
  const int p[2] = {axis[0].degree + 1, axis[1].degree + 1}, n = cells->n;
  int64_t at[3];
  first_node(axis, cell, at);
  for (int i = 0; i < n; i++) {
    const int node[3] = {i % p[0], i / p[0] % p[1], i / p[0] / p[1]};
    for (int d = 0; d < 3; d++) x[d * n + i] = axis[d].degree ? axis[d].x[at[d] + node[d]] : 0;
  }
}

/* Positions of a cell's nodes, [3][n], by the cell's mapping. */
static void coordinates(const Cells *cells, int64_t cell, double *x) {
  if (cells->axis)
    box_coordinates(cells, cell, x);
  else
    tesi_geometry_tensor(cells->geometry, cell, 1, cells->degree + 1, cells->B, cells->G, x, cells->J);
}

static TesStatus fill_coordinates(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  const int n = field->cells->n, dim = field->cells->space->dim;
  for (int64_t c = 0; c < count; c++) {
    coordinates(field->cells, first + c, field->work);
    memcpy(values + c * n * dim, field->work, (size_t)(n * dim) * sizeof *values);
  }
  return TES_OK;
}

static const TesFunction *function_in(const Field *field, int component, int64_t cell) {
  const int material = field->material ? tes_mesh_material(field->cells->space->mesh, cell) : -1;
  return material >= 0 && field->material[material] ? field->material[material] : field->function[component];
}

/* out[n] <- a component at the nodes. */
static void read_cell(const Field *field, int component, int64_t cell, double *out) {
  enum { MOST = TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES };
  const Cells *of = field->cells;
  const TesSpace *space = field->space->scalar[component];
  const double *values = field->values + field->space->first[component];
  const int n = space->degree + 1;
  double local[2][MOST], *from = local[0], *to = local[1];
  int extent[3] = {n, n, space->dim == 3 ? n : 1};
  const bool same = of->degree == space->degree;
  tesi_space_read_cell(space, cell, values, same ? out : from);
  for (int d = 0; d < space->dim && !same; d++) {
    tesi_contract(of->values, of->degree + 1, n, false, extent, d, from, d == space->dim - 1 ? out : to);
    double *const swap = from;
    from = to, to = swap;
  }
}

static void fill_component(const Field *field, int component, int64_t cell, double *out) {
  const int n = field->cells->n;
  double *x = field->work, *f = x + 3 * n;
  if (field->values) read_cell(field, component, cell, out);
  const TesFunction *function = function_in(field, component, cell);
  if (!function) return;
  coordinates(field->cells, cell, x);
  tesi_vtu_function(function, n, x, f);
  for (int i = 0; i < n; i++) out[i] = field->values ? out[i] - f[i] : f[i];
}

static TesStatus fill_field(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  for (int64_t i = 0; i < count * field->components; i++)
    fill_component(field, (int)(i % field->components), first + i / field->components,
                   values + i * field->cells->n);
  return TES_OK;
}

static TesStatus fill_level(void *user, int64_t first, int64_t count, double *values) {
  const TesMesh *mesh = user;
  for (int64_t c = 0; c < count; c++) values[c] = mesh->leaves.level[first + c];
  return TES_OK;
}

static TesStatus fill_material(void *user, int64_t first, int64_t count, double *values) {
  const TesMesh *mesh = user;
  for (int64_t c = 0; c < count; c++) values[c] = tes_mesh_material(mesh, first + c);
  return TES_OK;
}

/* The version with one more function; 0: a function changes. */
static uint64_t with(uint64_t version, const TesFunction *function) {
  const uint64_t number = function ? tesi_function_still(function) : 0;
  const uint64_t mixed = (version ^ number) * 0x9e3779b97f4a7c15u;
  return !version || (function && !number) ? 0 : (mixed ^ mixed >> 29) | 1;
}

/* A version (TesVtuArray) of the functions by component, and of the functions by material that replace them,
 * [materials] or NULL. */
static uint64_t version_of(int components, const TesFunction *const *function, int materials,
                           const TesFunction *const *material) {
  uint64_t version = 1;
  for (int i = 0; i < components; i++) version = with(version, function[i]);
  for (int i = 0; i < materials && material; i++) version = with(version, material[i]);
  return version;
}

static TesStatus begin_field(const TesSpace *space, const Cells *cells, const TesVtuField *field,
                             double *work, Field *state, TesVtuArray *array) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  int components = field->vector ? space->scalars : 1;
  while (!field->vector && components < COMPONENTS && field->function[components]) components++;
  *state = (Field){.cells = cells,
                   .space = space,
                   .components = components,
                   .function = field->function,
                   .material = field->material,
                   .work = work};
  *array = (TesVtuArray){.name = field->name, .components = components, .fill = fill_field, .user = state};
  TES_CHECK(field->vector || field->function[0], "field %s has neither a vector nor a function", field->name);
  if (!field->vector)
    array->version = version_of(components, field->function, tes_mesh_materials(space->mesh), field->material);
  if (!field->vector) return TES_OK;
  TES_CHECK(field->vector->length == space->length, "field %s has %lld values, the space has %lld nodes",
            field->name, (long long)field->vector->length, (long long)space->length);
  TES_TRY(tesi_vector_read(field->vector, &state->values));
done:
  return status;
}

int tesi_vtu_mesh_fields(const TesMesh *mesh, TesVtuArray cells[TESI_VTU_OF_MESH]) {
  int n = 0;
  if (mesh->kind == TES_MESH_FOREST && !mesh->as_grid)
    cells[n++] = (TesVtuArray){.name = "level", .fill = fill_level, .user = (void *)mesh, .version = 1};
  if (tes_mesh_materials(mesh))
    cells[n++] = (TesVtuArray){.name = "material", .fill = fill_material, .user = (void *)mesh, .version = 1};
  return n;
}

static TesStatus check_components(const TesSpace *space) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_CHECK(space->scalars <= COMPONENTS, "fields of %d components, expected 1..%d", space->scalars,
            COMPONENTS);
  for (int i = 0; i < space->scalars; i++)
    TES_CHECK(space->scalar[i]->degree == space->degree, "fields of parts of degrees %d and %d",
              space->degree, space->scalar[i]->degree);
done:
  return status;
}

static TesStatus write_fields(const TesSpace *space, int count, const TesVtuField *fields,
                              TesiVtuValues *derived, int cell_count, const TesVtuArray *cell_fields,
                              TesiVtuSink sink, void *user) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Cells of = {.n = 0};
  Field state[FIELDS] = {{0}}, geometry = {.cells = &of};
  TesVtuArray arrays[FIELDS] = {{0}}, cells[FIELDS + TESI_VTU_OF_MESH] = {{0}};
  double *work = NULL;
  const int derived_count = derived ? derived->arrays : 0;
  TES_CHECK(count >= 0 && count + derived_count <= FIELDS && cell_count >= 0 && cell_count <= FIELDS,
            "%d fields and %d of cells, expected 0..%d", count, cell_count, FIELDS);
  TES_CHECK(tesi_space_axes(space->scalar[0]) || space->degree < TESI_HANGING_NODES,
            "fields over meshes that are no box are written to degree %d, the space has %d",
            TESI_HANGING_NODES - 1, space->degree);
  TES_TRY(check_components(space));
  TES_TRY(take_cells(space->scalar[0], &of));
  TES_ALLOC(&work, 4 * of.n);
  geometry.work = work;
  for (int i = 0; i < count; i++) TES_TRY(begin_field(space, &of, &fields[i], work, &state[i], &arrays[i]));
  if (derived) TES_TRY(tesi_vtu_values_begin(derived, space->scalar[0], of.degree, arrays + count));
  int n = tesi_vtu_mesh_fields(space->mesh, cells);
  for (int i = 0; i < cell_count; i++) cells[n++] = cell_fields[i];
  TES_TRY(sink(user, ctx,
               &(TesVtuDesc){.dim = space->dim,
                             .degree = of.degree,
                             .cells = space->mesh->cells,
                             .coordinates = {.fill = fill_coordinates, .user = &geometry},
                             .point_fields = arrays,
                             .point_field_count = count + derived_count,
                             .cell_fields = cells,
                             .cell_field_count = n}));
done:
  for (int i = 0; i < FIELDS; i++) tesi_free(ctx, &state[i].values);
  tesi_free(ctx, &work);
  free_cells(ctx, &of);
  return status;
}

/* A sink: `user` is the path. */
static TesStatus write_file(void *user, TesContext *ctx, const TesVtuDesc *desc) {
  return tes_vtu_write(ctx, desc, user);
}

TesStatus tes_vtu_write_fields(const TesSpace *space, int count, const TesVtuField *fields, int cell_count,
                               const TesVtuArray *cell_fields, const char *path) {
  return write_fields(space, count, fields, NULL, cell_count, cell_fields, write_file, (void *)path);
}

/* Adds the stress, and the quantities of field_rows.c that files have. They may jump between cells. */
static TesStatus derive(const TesProblem *p, TesiVtuValues *derived) {
  static const char *const names[] = {"sxx", "syy", "szz", "sxy", "syz", "sxz"}, *const flat[] = {
                                                                                     "sxx", "syy", "sxy"};
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  const bool solid = p->mesh->dim == 3;
  const int fields = tesi_problem_fields(p, field);
  if (p->equation->stressed)
    TES_TRY(
        tesi_vtu_values_add(derived, p->mesh, "stress", solid ? 6 : 3, solid ? names : flat, fields, field));
  for (int i = 0; i < fields && derived->arrays < FIELDS; i++)
    if (field[i].in_files)
      TES_TRY(tesi_vtu_values_add(derived, p->mesh, field[i].name, 1, &field[i].name, fields, field));
done:
  return status;
}

static TesStatus write_all(const TesProblem *p, int count, const TesVtuField *fields, int cell_count,
                           const TesVtuArray *cell_fields, TesiVtuSink sink, void *user) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiVtuValues *derived = NULL;
  TES_NEW(&derived);
  TES_TRY(derive(p, derived));
  TES_TRY(write_fields(p->space, count, fields, derived, cell_count, cell_fields, sink, user));
done:
  if (derived) tesi_vtu_values_free(derived);
  tesi_free(ctx, &derived);
  return status;
}

TesStatus tesi_vtu_problem(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                           TesiVtuSink sink, void *user) {
  if (problem->space->product || problem->equation->flow)
    return tesi_vtu_quantities(problem, cell_count, cell_fields, sink, user);
  TesVtuField fields[TESI_SHOWN + 6] = {{.name = "u", .vector = problem->u}};
  TesiShown shown[TESI_SHOWN];
  const int more = problem->equation->shown(problem, shown);
  int n = 1;
  for (int i = 0; i < more; i++)
    if (shown[i].function[0]) {
      const TesFunction *const *f = shown[i].function;
      fields[n++] = (TesVtuField){shown[i].name, NULL, {f[0], f[1], f[2]}, shown[i].material};
    }
  TesFunction *const *exact = problem->exact;
  if (exact[0]) fields[n++] = (TesVtuField){"error", problem->u, {exact[0], exact[1], exact[2]}, NULL};
  const TesiAverage *a = problem->in_time ? &problem->in_time->march.average : NULL;
  if (a && a->count) fields[n++] = (TesVtuField){.name = "mean", .vector = a->of[0].mean[0]};
  if (a && a->count) fields[n++] = (TesVtuField){.name = "mean_square", .vector = a->of[0].mean[1]};
  if (problem->names.name) fields[0].name = problem->names.name;
  if (problem->equation->stressed) fields[0].name = "displacement";
  if (problem->equation->stressed && problem->in_time)
    fields[n++] = (TesVtuField){.name = "velocity", .vector = problem->in_time->stepper->rate};
  return write_all(problem, n, fields, cell_count, cell_fields, sink, user);
}

TesStatus tes_vtu_write_problem(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                                const char *path) {
  tesi_work_begin_results(problem->context, problem->in_time != NULL, "writing %s", path);
  const TesStatus status = tesi_vtu_problem(problem, cell_count, cell_fields, write_file, (void *)path);
  tesi_work_end(problem->context);
  return status;
}
