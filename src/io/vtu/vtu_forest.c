/* Vectors and functions over a forest as fields of a VTU file. Each cell is written by itself, so that hanging faces need nothing special:
 * what the cell reads, interpolated from the coarse side, is what is shown. */
#include <string.h>
#include "io/vtu/vtu.h"
#include "device/vector.h"
#include "space/space.h"
#include "tessera/vtu.h"

enum { FIELDS = 16 };

typedef struct Field {
  const TesiCellView *space;
  const TesFunction *function;
  const TesFunction *const *material; /* [materials] or NULL */
  double *values, *work;              /* [length] or NULL; [5 nodes of a cell] */
} Field;

/* Positions of a cell's nodes, [3][n]. */
static void cell_coordinates(const Field *field, int64_t cell, double *x) {
  const TesiCellView *s = field->space;
  double at[3 * TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const int n = s->cell_nodes;
  tesi_hanging_positions(s->mesh, cell, s->mask[cell], s->n, s->node, s->halves, at);
  for (int i = 0; i < n; i++)
    for (int d = 0; d < 3; d++) x[d * n + i] = d < s->dim ? at[i * s->dim + d] : 0;
}

static TesStatus fill_coordinates(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  const int n = field->space->cell_nodes, dim = field->space->dim;
  for (int64_t c = 0; c < count; c++) {
    cell_coordinates(field, first + c, field->work);
    memcpy(values + c * n * dim, field->work, (size_t)(n * dim) * sizeof *values);
  }
  return TES_OK;
}

static const TesFunction *function_in(const Field *field, int64_t cell) {
  const int material = field->material ? tes_mesh_material(field->space->mesh, cell) : -1;
  return material >= 0 && field->material[material] ? field->material[material] : field->function;
}

static TesStatus fill_field(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  const int n = field->space->cell_nodes;
  double *x = field->work, *f = x + 3 * n;
  for (int64_t c = 0; c < count; c++) {
    double *out = values + c * n;
    if (field->values) tesi_cells_read(field->space, first + c, field->values, out);
    const TesFunction *function = function_in(field, first + c);
    if (!function) continue;
    cell_coordinates(field, first + c, x);
    tesi_vtu_function(function, n, x, f);
    for (int i = 0; i < n; i++) out[i] = field->values ? out[i] - f[i] : f[i];
  }
  return TES_OK;
}

static TesStatus fill_level(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  for (int64_t c = 0; c < count; c++) values[c] = field->space->mesh->leaves.level[first + c];
  return TES_OK;
}

static TesStatus fill_material(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  for (int64_t c = 0; c < count; c++) values[c] = tes_mesh_material(field->space->mesh, first + c);
  return TES_OK;
}

static TesStatus begin_field(const TesiCellView *space, const TesVtuField *field, double *work, Field *state,
                             TesVtuArray *array) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  *state = (Field){.space = space, .function = field->function, .material = field->material, .work = work};
  *array = (TesVtuArray){.name = field->name, .fill = fill_field, .user = state};
  TES_CHECK(field->vector || field->function, "field %s has neither a vector nor a function", field->name);
  if (!field->vector) return TES_OK;
  TES_CHECK(field->vector->length == space->length, "field %s has %lld values, the space has %lld nodes",
            field->name, (long long)field->vector->length, (long long)space->length);
  TES_ALLOC(&state->values, space->length);
  TES_TRY(tes_vector_get(field->vector, state->values));
done:
  return status;
}

TesStatus tes_vtu_write_forest(const TesSpace *of, int count, const TesVtuField *fields, int cell_count,
                               const TesVtuArray *cell_fields, const char *path) {
  const TesiCellView *space = of->view;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Field state[FIELDS] = {{0}}, geometry = {.space = space};
  TesVtuArray arrays[FIELDS] = {{0}}, cells[FIELDS + 2] = {{0}};
  double *work = NULL;
  int n = 0;
  TES_CHECK(count >= 0 && count <= FIELDS && cell_count >= 0 && cell_count <= FIELDS,
            "%d fields and %d of cells, expected 0..%d", count, cell_count, FIELDS);
  TES_ALLOC(&work, 4 * space->cell_nodes);
  geometry.work = work;
  for (int i = 0; i < count; i++) TES_TRY(begin_field(space, &fields[i], work, &state[i], &arrays[i]));
  cells[n++] = (TesVtuArray){.name = "level", .fill = fill_level, .user = &geometry};
  if (tes_mesh_materials(space->mesh))
    cells[n++] = (TesVtuArray){.name = "material", .fill = fill_material, .user = &geometry};
  for (int i = 0; i < cell_count; i++) cells[n++] = cell_fields[i];
  TES_TRY(tes_vtu_write(ctx,
                        &(TesVtuDesc){.dim = space->dim,
                                      .degree = space->degree,
                                      .cells = space->cells,
                                      .coordinates = {.fill = fill_coordinates, .user = &geometry},
                                      .point_fields = arrays,
                                      .point_field_count = count,
                                      .cell_fields = cells,
                                      .cell_field_count = n},
                        path));
done:
  for (int i = 0; i < FIELDS; i++) tesi_free(ctx, &state[i].values);
  tesi_free(ctx, &work);
  return status;
}
