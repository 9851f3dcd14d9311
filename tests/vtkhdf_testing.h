/* VTKHDF files for tests: what is written into them, and reading them with HDF5 alone. */
#ifndef VTKHDF_TESTING_H
#define VTKHDF_TESTING_H

#include <hdf5.h>
#include <unistd.h>
#include "host_testing.h"
#include "tessera/tessera.h"

static char folder[] = "/tmp/tessera-t8-XXXXXX";

static int begin(void **state) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return set_up(state) || !mkdtemp(folder) || chdir(folder) != 0;
}

static int end(void **state) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return chdir("/") != 0 || system(command) != 0 || tear_down(state);
}

/* ---- what is written: functions of space and time over cells of a row of unequal boxes ------------------------- */

typedef struct Made {
  int dim, degree, n; /* nodes of a cell */
  int64_t cells;
  double time, node[8];
} Made;

static double f(const double x[3], double t) {
  return 1 + x[0] * x[0] * x[1] - 0.5 * x[2] + t * x[1];
}

static void place(const Made *m, int64_t cell, int i, double x[3]) {
  const int q = m->degree + 1, at[3] = {i % q, i / q % q, i / q / q};
  const double h = 0.5 + 0.25 * (double)(cell % 3);
  for (int d = 0; d < 3; d++) x[d] = d < m->dim ? h * m->node[at[d]] : 0;
  x[0] += (double)cell;
}

static TesStatus fill(void *user, int64_t first, int64_t count, double *values, int what) {
  const Made *m = user;
  const int columns = what == 0 ? m->dim : what == 1 ? 1 : what == 2 ? 2 : 6;
  for (int64_t c = 0; c < count; c++)
    for (int i = 0; i < m->n; i++) {
      double x[3];
      place(m, first + c, i, x);
      for (int k = 0; k < columns; k++)
        values[(c * columns + k) * m->n + i] = what ? f(x, m->time) + k * x[0] : x[k];
    }
  return TES_OK;
}

static TesStatus fill_x(void *user, int64_t first, int64_t count, double *values) {
  return fill(user, first, count, values, 0);
}
static TesStatus fill_u(void *user, int64_t first, int64_t count, double *values) {
  return fill(user, first, count, values, 1);
}
static TesStatus fill_v(void *user, int64_t first, int64_t count, double *values) {
  return fill(user, first, count, values, 2);
}
static TesStatus fill_s(void *user, int64_t first, int64_t count, double *values) {
  return fill(user, first, count, values, 3);
}
static TesStatus fill_cells(void *user, int64_t first, int64_t count, double *values) {
  for (int64_t c = 0; c < count; c++) values[c] = ((const Made *)user)->time + (double)(first + c);
  return TES_OK;
}

static Made made(int dim, int degree, int64_t cells, double time) {
  Made m = {.dim = dim, .degree = degree, .cells = cells, .time = time, .n = degree + 1};
  static const double third[] = {0, 0.27639320225002106, 0.72360679774997894, 1}; /* Gauss-Lobatto */
  for (int d = 1; d < dim; d++) m.n *= degree + 1;
  for (int i = 0; i <= degree; i++) m.node[i] = degree == 3 ? third[i] : (double)i / degree;
  return m;
}

static TesStatus write_made(TesVtkhdf *file, Made *m) {
  const TesVtuArray points[] = {{.name = "u", .fill = fill_u, .user = m},
                                {.name = "v", .components = 2, .fill = fill_v, .user = m},
                                {.name = "s", .components = 6, .fill = fill_s, .user = m}},
                    cells = {.name = "c", .fill = fill_cells, .user = m};
  return tes_vtkhdf_write(file,
                          &(TesVtuDesc){.dim = m->dim,
                                        .degree = m->degree,
                                        .cells = m->cells,
                                        .coordinates = {.fill = fill_x, .user = m},
                                        .point_fields = points,
                                        .point_field_count = 3,
                                        .cell_fields = &cells,
                                        .cell_field_count = 1},
                          m->time);
}

/* ---- what is read ---------------------------------------------------------------------------------------------- */

/* Rows of an array, all columns, as numbers; *columns <- 1 for one dimension. */
static double *read_rows(hid_t file, const char *name, int64_t first, int64_t count, int *columns) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0) fail_msg("there is no %s", name);
  const hid_t space = H5Dget_space(set);
  hsize_t all[2] = {0, 1};
  const int dims = H5Sget_simple_extent_dims(space, all, NULL);
  assert_in_range(dims, 1, 2);
  assert_true((hsize_t)(first + count) <= all[0]);
  const hsize_t at[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, all[1]};
  double *values = malloc((size_t)(count * (int64_t)all[1] + 1) * sizeof *values);
  const hid_t memory = H5Screate_simple(dims, size, NULL);
  assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, size, NULL) >= 0);
  if (H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) < 0)
    fail_msg("%s cannot be read", name);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(set);
  *columns = (int)all[1];
  return values;
}

static int64_t number_at(hid_t file, const char *name, int64_t row) {
  int columns;
  double *value = read_rows(file, name, row, 1, &columns);
  const int64_t number = (int64_t)*value;
  free(value);
  return number;
}

static int64_t steps_of(hid_t file) {
  int64_t steps = -1;
  const hid_t list = H5Gopen2(file, "VTKHDF/Steps", H5P_DEFAULT), count = H5Aopen(list, "NSteps", H5P_DEFAULT);
  assert_true(H5Aread(count, H5T_NATIVE_INT64, &steps) >= 0);
  H5Aclose(count);
  H5Gclose(list);
  return steps;
}

/* Where the rows of a step begin; without steps 0. */
static int64_t offset_of(hid_t file, bool steps, const char *name, int64_t step) {
  char path[200];
  snprintf(path, sizeof path, "VTKHDF/Steps/%s", name);
  return steps ? number_at(file, path, step) : 0;
}

/* A step of a file: cells and their points as the format has them, values at points those of the functions. */
static void check_step(hid_t file, bool steps, int64_t step, const Made *m) {
  static const char *const names[] = {"u", "v", "s"};
  int columns;
  const int64_t part = offset_of(file, steps, "PartOffsets", step),
                first_point = offset_of(file, steps, "PointOffsets", step),
                first_cell = offset_of(file, steps, "CellOffsets", step),
                first_id = offset_of(file, steps, "ConnectivityIdOffsets", step), all = m->cells * m->n;
  assert_int_equal(number_at(file, "VTKHDF/NumberOfPoints", part), all);
  assert_int_equal(number_at(file, "VTKHDF/NumberOfCells", part), m->cells);
  assert_int_equal(number_at(file, "VTKHDF/NumberOfConnectivityIds", part), all);
  if (steps) assert_int_equal(number_at(file, "VTKHDF/Steps/NumberOfParts", step), 1);
  double *x = read_rows(file, "VTKHDF/Points", first_point, all, &columns);
  assert_int_equal(columns, 3);
  double *id = read_rows(file, "VTKHDF/Connectivity", first_id, all, &columns);
  double *offset = read_rows(file, "VTKHDF/Offsets", first_cell + part, m->cells + 1, &columns);
  double *type = read_rows(file, "VTKHDF/Types", first_cell, m->cells, &columns);
  for (int64_t c = 0; c <= m->cells; c++) assert_true(offset[c] == (double)(c * m->n));
  for (int64_t c = 0; c < m->cells; c++) {
    double corner[3];
    assert_true(type[c] == (m->dim == 2 ? 70 : 72));
    place(m, c, 0, corner);
    for (int d = 0; d < 3; d++) assert_near(x[3 * (int64_t)id[c * m->n] + d], corner[d], 1e-12);
    place(m, c, m->n - 1, corner); /* VTK's corner 6, in 2D 2 */
    for (int d = 0; d < 3; d++)
      assert_near(x[3 * (int64_t)id[c * m->n + (m->dim == 2 ? 2 : 6)] + d], corner[d], 1e-12);
  }
  for (int k = 0; k < 3; k++) {
    char path[100];
    snprintf(path, sizeof path, "PointDataOffsets/%s", names[k]);
    const int64_t first = offset_of(file, steps, path, step);
    snprintf(path, sizeof path, "VTKHDF/PointData/%s", names[k]);
    double *values = read_rows(file, path, first, all, &columns);
    assert_int_equal(columns, k == 0 ? 1 : k == 1 ? 3 : 6);
    for (int64_t i = 0; i < all; i++)
      for (int c = 0; c < columns; c++) {
        const double expected = k == 1 && c == 2 ? 0 : f(x + 3 * i, m->time) + c * x[3 * i];
        assert_near(values[i * columns + c], expected, 1e-12 * (1 + fabs(expected)));
      }
    free(values);
  }
  double *cells = read_rows(file, "VTKHDF/CellData/c", offset_of(file, steps, "CellDataOffsets/c", step),
                            m->cells, &columns);
  for (int64_t c = 0; c < m->cells; c++) assert_near(cells[c], m->time + (double)c, 1e-15);
  free(x), free(id), free(offset), free(type), free(cells);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static hid_t open_file(const char *path) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) fail_msg("%s cannot be opened", path);
  return file;
}

/* Sizes around those of chunks, too: 4096 rows at least. */
static Made step_of(int64_t step) {
  return made(2, 3, 30 + 4 * (step % 5), 0.01 * (double)step);
}

#endif
