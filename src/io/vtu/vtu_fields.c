/* Vectors and functions over a box space, as the point fields of a VTU file. */
#include "io/vtu/vtu.h"
#include "device/vector.h"
#include "space/space.h"
#include "tessera/vtu.h"

enum { FIELDS = 16 };

typedef struct Field {
  const TesSpace *space;
  const TesFunction *function;
  double *values, *work; /* [nodes of the space] or NULL; [5 nodes of a cell] */
} Field;

/* Coordinates of the nodes of a cell, [3][n], lexicographic; returns n. */
static int cell_coordinates(const TesSpace *space, int64_t cell, double *x) {
  const TesiAxis *axis = space->axis;
  const int64_t at[3] = {cell % axis[0].cells, cell / axis[0].cells % axis[1].cells,
                         cell / axis[0].cells / axis[1].cells};
  const int p[3] = {axis[0].degree + 1, axis[1].degree + 1, axis[2].degree + 1}, n = p[0] * p[1] * p[2];
  for (int i = 0; i < n; i++) {
    const int node[3] = {i % p[0], i / p[0] % p[1], i / p[0] / p[1]};
    for (int d = 0; d < 3; d++)
      x[d * n + i] = axis[d].degree ? axis[d].x[at[d] * axis[d].degree + node[d]] : 0;
  }
  return n;
}

static TesStatus fill_coordinates(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  for (int64_t c = 0; c < count; c++) {
    const int n = cell_coordinates(field->space, first + c, field->work);
    for (int i = 0; i < field->space->dim * n; i++) *values++ = field->work[i];
  }
  return TES_OK;
}

static void gather(const TesSpace *space, int64_t cell, const double *vector, double *values) {
  const TesiAxis *axis = space->axis;
  const int64_t cx = cell % axis[0].cells, cy = cell / axis[0].cells % axis[1].cells,
                cz = cell / axis[0].cells / axis[1].cells;
  for (int z = 0; z <= axis[2].degree; z++)
    for (int y = 0; y <= axis[1].degree; y++) {
      const int64_t row = (cz * axis[2].degree + z) * axis[1].nodes + cy * axis[1].degree + y;
      for (int x = 0; x <= axis[0].degree; x++)
        *values++ = vector[row * axis[0].nodes + cx * axis[0].degree + x];
    }
}

static TesStatus fill_field(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  for (int64_t c = 0; c < count; c++) {
    const int n = cell_coordinates(field->space, first + c, field->work);
    double *x = field->work, *f = field->work + 3 * n, *out = values + c * n;
    if (field->values) gather(field->space, first + c, field->values, out);
    if (!field->function) continue;
    tesi_vtu_function(field->function, n, x, f);
    for (int i = 0; i < n; i++) out[i] = field->values ? out[i] - f[i] : f[i];
  }
  return TES_OK;
}

TesStatus tes_vtu_write_fields(const TesSpace *space, int count, const TesVtuField *fields,
                               const char *path) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Field state[FIELDS] = {{0}}, geometry = {.space = space};
  TesVtuArray arrays[FIELDS] = {{0}};
  double *work = NULL;
  int64_t nodes = 1;
  TES_CHECK(count >= 0 && count <= FIELDS, "%d fields, expected 0..%d", count, FIELDS);
  for (int d = 0; d < space->dim; d++) nodes *= space->degree + 1;
  TES_ALLOC(&work, 4 * nodes);
  geometry.work = work;
  for (int i = 0; i < count; i++) {
    state[i] = (Field){.space = space, .function = fields[i].function, .work = work};
    arrays[i] = (TesVtuArray){.name = fields[i].name, .fill = fill_field, .user = &state[i]};
    if (!fields[i].vector) continue;
    TES_CHECK(fields[i].vector->length == space->length, "field %s has %lld values, the space has %lld nodes",
              fields[i].name, (long long)fields[i].vector->length, (long long)space->length);
    TES_ALLOC(&state[i].values, space->length);
    TES_TRY(tes_vector_get(fields[i].vector, state[i].values));
  }
  TES_TRY(tes_vtu_write(ctx,
                        &(TesVtuDesc){.dim = space->dim,
                                      .degree = space->degree,
                                      .cells = tes_mesh_cells(space->mesh),
                                      .coordinates = {.fill = fill_coordinates, .user = &geometry},
                                      .point_fields = arrays,
                                      .point_field_count = count},
                        path));
done:
  for (int i = 0; i < FIELDS; i++) tesi_free(ctx, &state[i].values);
  tesi_free(ctx, &work);
  return status;
}
