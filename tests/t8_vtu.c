/* Run: ctest -R t8_vtu. VTU files: node order, blocks, XML, what goes wrong. t8_vtu_read.py has VTK read what
 * `t8_vtu write FOLDER` leaves there.
 * Labels: threads */
#include "io/vtu/vtu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "basis/gauss.h"
#include "failing_allocator.h"

/* ---- a mesh: 2 x 3 (x 2) cells, curved by a polynomial map of degree min(degree, 2) a direction -------- */

typedef struct Mesh {
  int dim, degree;
  double nodes[TESI_MAX_DEGREE + 1];
} Mesh;

enum { CELLS_X = 2, CELLS_Y = 3, CELLS_Z = 2 };

static int64_t cells_of(const Mesh *m) {
  return (int64_t)CELLS_X * CELLS_Y * (m->dim == 3 ? CELLS_Z : 1);
}

/* The same map as in t8_vtu_read.py. */
static void map(const Mesh *m, const double u[3], double x[3]) {
  const double bend = m->degree >= 2 ? 0.2 : 0;
  x[0] = u[0] + bend * u[1] * u[1];
  x[1] = 1.5 * u[1] - bend * u[0] * u[2];
  x[2] = m->dim == 3 ? u[2] + bend * u[0] * u[0] : 0;
}

/* Of degree `degree` in each of u, so that Lagrange cells hold it exactly. */
static double field(const Mesh *m, const double u[3]) {
  return pow(u[0] - 0.3, m->degree) + 2 * pow(u[1], m->degree) * (1 + u[0]) -
         (m->dim == 3 ? pow(u[2] + 0.1, m->degree) * u[1] : 0);
}

static void node(const Mesh *m, int64_t cell, int i, double u[3]) {
  const int n = m->degree + 1;
  const int64_t c[3] = {cell % CELLS_X, cell / CELLS_X % CELLS_Y, cell / (CELLS_X * CELLS_Y)};
  const int at[3] = {i % n, i / n % n, i / (n * n)};
  const double size[3] = {CELLS_X, CELLS_Y, CELLS_Z};
  for (int d = 0; d < 3; d++) u[d] = d < m->dim ? ((double)c[d] + m->nodes[at[d]]) / size[d] : 0;
}

static int nodes_of(const Mesh *m) {
  const int n = m->degree + 1;
  return m->dim == 3 ? n * n * n : n * n;
}

static TesStatus fill_coordinates(void *user, int64_t first, int64_t count, double *values) {
  const Mesh *m = user;
  const int n = nodes_of(m);
  for (int64_t cell = 0; cell < count; cell++)
    for (int i = 0; i < n; i++) {
      double u[3], x[3];
      node(m, first + cell, i, u);
      map(m, u, x);
      for (int d = 0; d < m->dim; d++) values[(cell * m->dim + d) * n + i] = x[d];
    }
  return TES_OK;
}

static TesStatus fill_field(void *user, int64_t first, int64_t count, double *values) {
  const Mesh *m = user;
  const int n = nodes_of(m);
  for (int64_t cell = 0; cell < count; cell++)
    for (int i = 0; i < n; i++) {
      double u[3];
      node(m, first + cell, i, u);
      values[cell * n + i] = field(m, u);
    }
  return TES_OK;
}

static Mesh make_mesh(int dim, int degree) {
  Mesh m = {.dim = dim, .degree = degree};
  tesi_gauss_lobatto(degree + 1, m.nodes, NULL);
  return m;
}

static TesStatus write_mesh(TesContext *ctx, Mesh *m, TesPrecision precision, const char *path) {
  const int64_t cells = cells_of(m);
  double number[CELLS_X * CELLS_Y * CELLS_Z], gradient[2 * CELLS_X * CELLS_Y * CELLS_Z];
  for (int64_t i = 0; i < cells; i++)
    number[i] = (double)i, gradient[2 * i] = (double)i / 2, gradient[2 * i + 1] = -(double)i;
  const TesVtuArray points[] = {
      {.name = "u", .fill = fill_field, .user = m},
      {.name = "position", .components = m->dim, .fill = fill_coordinates, .user = m}};
  const TesVtuArray cell_fields[] = {{.name = "number", .values = number},
                                     {.name = "pair", .components = 2, .values = gradient}};
  const TesVtuDesc desc = {.dim = m->dim,
                           .degree = m->degree,
                           .cells = cells,
                           .coordinates = {.fill = fill_coordinates, .user = m},
                           .point_fields = points,
                           .point_field_count = 2,
                           .cell_fields = cell_fields,
                           .cell_field_count = 2,
                           .precision = precision};
  return tes_vtu_write(ctx, &desc, path);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static TesContext *ctx;
static char folder[64], path[96];

static int set_up(void **state) {
  (void)state;
  strcpy(folder, "/tmp/t8_vtu_XXXXXX");
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/out.vtu", folder);
  return tesi_context_new(NULL, &ctx) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  remove(path);
  rmdir(folder);
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

static void nodes_are_numbered_once(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 12; degree++) {
      const int n = degree + 1, nz = dim == 3 ? n : 1;
      int seen[13 * 13 * 13] = {0};
      for (int k = 0; k < nz; k++)
        for (int j = 0; j < n; j++)
          for (int i = 0; i < n; i++) {
            const int v = tesi_vtu_node(dim, degree, i, j, k);
            assert_true(v >= 0 && v < n * n * nz);
            seen[v]++;
          }
      for (int v = 0; v < n * n * nz; v++) assert_int_equal(seen[v], 1);
    }
}

/* The example of degree 2 in VTK's documentation (VTK_TRIQUADRATIC_HEXAHEDRON has the same edges), and one of
 * degree 3. */
static void known_nodes_stand_where_they_should(void **state) {
  (void)state;
  static const int known[][5] = {
      /* degree, i, j, k, number */
      {2, 0, 0, 0, 0},  {2, 2, 0, 0, 1},  {2, 2, 2, 0, 2},  {2, 0, 2, 0, 3},  {2, 0, 0, 2, 4},
      {2, 2, 2, 2, 6},  {2, 1, 0, 0, 8},  {2, 2, 1, 0, 9},  {2, 1, 2, 0, 10}, {2, 0, 1, 0, 11},
      {2, 1, 0, 2, 12}, {2, 0, 1, 2, 15}, {2, 0, 0, 1, 16}, {2, 2, 0, 1, 17}, {2, 2, 2, 1, 18},
      {2, 0, 2, 1, 19}, {2, 0, 1, 1, 20}, {2, 2, 1, 1, 21}, {2, 1, 0, 1, 22}, {2, 1, 2, 1, 23},
      {2, 1, 1, 0, 24}, {2, 1, 1, 2, 25}, {2, 1, 1, 1, 26}, {3, 1, 0, 0, 8},  {3, 2, 0, 0, 9},
      {3, 3, 1, 0, 10}, {3, 0, 3, 1, 30}, {3, 0, 3, 2, 31}, {3, 1, 1, 1, 56}, {3, 2, 2, 2, 63},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_int_equal(tesi_vtu_node(3, known[i][0], known[i][1], known[i][2], known[i][3]), known[i][4]);
  assert_int_equal(tesi_vtu_node(2, 3, 3, 3, 0), 2);
  assert_int_equal(tesi_vtu_node(2, 3, 1, 3, 0), 8);
  assert_int_equal(tesi_vtu_node(2, 3, 0, 2, 0), 11);
  assert_int_equal(tesi_vtu_node(2, 3, 2, 1, 0), 13);
}

static char *content(size_t *length) {
  char *text;
  assert_int_equal(tesi_file_read(ctx, path, 1 << 28, &text, length), TES_OK);
  return text;
}

/* Unpacks the array behind attribute Name="NAME" of the file; the caller frees. */
static unsigned char *array(const char *text, const char *name, size_t *bytes) {
  char attribute[64];
  snprintf(attribute, sizeof attribute, "Name=\"%s\"", name);
  const char *at = strstr(text, attribute);
  assert_non_null(at);
  at = strstr(at, "offset=\"");
  const char *data = strstr(text, "encoding=\"raw\"");
  assert_non_null(data);
  data = strchr(data, '_') + 1 + strtoll(at + 8, NULL, 10);
  uint64_t head[3];
  memcpy(head, data, sizeof head);
  assert_true(head[0] > 0 && head[0] < 10000);
  *bytes = (size_t)(head[2] ? (head[0] - 1) * head[1] + head[2] : head[0] * head[1]);
  unsigned char *out = malloc(*bytes), *to = out;
  const char *from = data + 8 * (3 + head[0]);
  for (uint64_t b = 0; b < head[0]; b++) {
    uint64_t size;
    memcpy(&size, data + 8 * (3 + b), 8);
    uLongf plain = (uLongf)(out + *bytes - to);
    assert_int_equal(uncompress(to, &plain, (const unsigned char *)from, (uLong)size), Z_OK);
    assert_true(plain == head[1] || b + 1 == head[0]);
    to += plain, from += size;
  }
  assert_ptr_equal(to, out + *bytes);
  return out;
}

static void arrays_can_be_unpacked(void **state) {
  (void)state;
  Mesh m = make_mesh(3, 3);
  size_t length, bytes;
  assert_int_equal(write_mesh(ctx, &m, TES_DOUBLE, path), TES_OK);
  char *text = content(&length);
  assert_non_null(strstr(text, "NumberOfPoints=\"768\" NumberOfCells=\"12\""));
  assert_string_equal(text + length - strlen("</AppendedData>\n</VTKFile>\n"),
                      "</AppendedData>\n</VTKFile>\n");
  unsigned char *types = array(text, "types", &bytes);
  assert_int_equal(bytes, 12);
  for (int i = 0; i < 12; i++) assert_int_equal(types[i], 72);
  int32_t *connectivity = (int32_t *)array(text, "connectivity", &bytes);
  assert_int_equal(bytes, 768 * 4);
  for (int i = 0; i < 768; i++) assert_int_equal(connectivity[i], i);
  int32_t *offsets = (int32_t *)array(text, "offsets", &bytes);
  for (int i = 0; i < 12; i++) assert_int_equal(offsets[i], 64 * (i + 1));
  double *pair = (double *)array(text, "pair", &bytes);
  assert_int_equal(bytes, 12 * 3 * 8);
  for (int i = 0; i < 12; i++) {
    assert_near(pair[3 * i], i / 2., 0);
    assert_near(pair[3 * i + 1], -i, 0);
    assert_near(pair[3 * i + 2], 0, 0);
  }
  double *u = (double *)array(text, "u", &bytes);
  assert_int_equal(bytes, 768 * 8);
  for (int cell = 0; cell < 12; cell++)
    for (int k = 0; k < 4; k++)
      for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
          const double at[3] = {(cell % 2 + i / 3.) / 2, (cell / 2 % 3 + j / 3.) / 3, (cell / 6 + k / 3.) / 2};
          assert_near(u[64 * cell + tesi_vtu_node(3, 3, i, j, k)], field(&m, at), 1e-13);
        }
  free(types), free(connectivity), free(offsets), free(pair), free(u);
  tesi_free(ctx, &text);
}

static TesStatus fill_numbers(void *user, int64_t first, int64_t count, double *values) {
  int64_t *next = user;
  assert_int_equal(first, *next);
  *next += count;
  for (int64_t i = 0; i < 8 * count; i++) values[i] = (double)(8 * first + i);
  return TES_OK;
}

static TesStatus fill_cube(void *user, int64_t first, int64_t count, double *values) {
  (void)user, (void)first;
  for (int64_t i = 0; i < 24 * count; i++) values[i] = 0;
  return TES_OK;
}

/* Many blocks, the last one partial. */
static void large_arrays_are_split(void **state) {
  (void)state;
  const int64_t cells = 50001;
  int64_t next = 0;
  size_t length, bytes;
  const TesVtuArray field_of_numbers = {.name = "n", .fill = fill_numbers, .user = &next};
  const TesVtuDesc desc = {.dim = 3,
                           .degree = 1,
                           .cells = cells,
                           .coordinates = {.fill = fill_cube},
                           .point_fields = &field_of_numbers,
                           .point_field_count = 1,
                           .compression = 6};
  assert_int_equal(tes_vtu_write(ctx, &desc, path), TES_OK);
  assert_int_equal(next, cells);
  char *text = content(&length);
  double *n = (double *)array(text, "n", &bytes);
  assert_int_equal(bytes, 64 * cells);
  for (int64_t c = 0; c < cells; c += 977)
    for (int i = 0; i < 8; i++) {
      const int lexicographic[8] = {0, 1, 3, 2, 4, 5, 7, 6};
      assert_near(n[8 * c + i], (double)(8 * c + lexicographic[i]), 1e-9 * (double)cells);
    }
  free(n);
  tesi_free(ctx, &text);
}

static void meshes_without_cells(void **state) {
  (void)state;
  size_t length;
  const TesVtuDesc desc = {.dim = 2, .degree = 2};
  assert_int_equal(tes_vtu_write(ctx, &desc, path), TES_OK);
  char *text = content(&length);
  assert_non_null(strstr(text, "NumberOfPoints=\"0\" NumberOfCells=\"0\""));
  tesi_free(ctx, &text);
}

static TesStatus fail_later(void *user, int64_t first, int64_t count, double *values) {
  (void)user, (void)first, (void)count, (void)values;
  return TES_INTERRUPTED;
}

static void mistakes_are_refused(void **state) {
  (void)state;
  const double values[64] = {0};
  const TesVtuArray bad[] = {{.name = "a<b", .values = values},
                             {.name = NULL, .values = values},
                             {.name = "", .values = values},
                             {.name = "a", .components = 4, .values = values},
                             {.name = "a"}};
  const TesVtuDesc good = {.dim = 2, .degree = 1, .cells = 1, .coordinates = {.values = values}};
  assert_int_equal(tes_vtu_write(ctx, &good, path), TES_OK);
  for (int i = 0; i < 5; i++) {
    TesVtuDesc d = good;
    d.point_fields = d.cell_fields = &bad[i];
    d.point_field_count = 1;
    assert_int_equal(tes_vtu_write(ctx, &d, path), TES_INVALID_INPUT);
    d.point_field_count = 0, d.cell_field_count = 1;
    assert_int_equal(tes_vtu_write(ctx, &d, path), TES_INVALID_INPUT);
  }
  TesVtuDesc wrong[] = {good, good, good, good, good};
  wrong[0].dim = 1, wrong[1].degree = 0, wrong[2].degree = 21, wrong[3].cells = -1,
  wrong[4].coordinates.values = NULL;
  for (int i = 0; i < 5; i++) assert_int_equal(tes_vtu_write(ctx, &wrong[i], path), TES_INVALID_INPUT);
  tes_context_clear(ctx);
}

static void failures_leave_the_old_file(void **state) {
  (void)state;
  Mesh m = make_mesh(2, 2);
  size_t before, after;
  assert_int_equal(write_mesh(ctx, &m, TES_SINGLE, path), TES_OK);
  char *old = content(&before);
  const TesVtuDesc desc = {.dim = 2, .degree = 1, .cells = 1, .coordinates = {.fill = fail_later}};
  assert_int_equal(tes_vtu_write(ctx, &desc, path), TES_INTERRUPTED);
  assert_int_equal(write_mesh(ctx, &m, TES_DOUBLE, "/no/such/folder/a.vtu"), TES_IO);
  assert_int_equal(write_mesh(ctx, &m, TES_DOUBLE, "/dev/null"), TES_IO);
  char *now = content(&after);
  assert_int_equal(before, after);
  assert_memory_equal(old, now, before);
  tesi_free(ctx, &old);
  tesi_free(ctx, &now);
  tes_context_clear(ctx);
}

static void series_are_listed(void **state) {
  (void)state;
  const TesPvdEntry entries[] = {{0, "a.vtu"}, {0.1, "b.vtu"}, {2, "c&\"d<.vtu"}}, wrong = {NAN, "a.vtu"};
  size_t length;
  assert_int_equal(tes_pvd_write(ctx, 3, entries, path), TES_OK);
  char *text = content(&length);
  assert_non_null(strstr(text, "<DataSet timestep=\"0.1\" part=\"0\" file=\"b.vtu\"/>"));
  assert_non_null(strstr(text, "timestep=\"2\" part=\"0\" file=\"c&amp;&quot;d&lt;.vtu\"/>"));
  tesi_free(ctx, &text);
  assert_int_equal(tes_pvd_write(ctx, 1, &wrong, path), TES_INVALID_INPUT);
  tes_context_clear(ctx);
}

static TesStatus write_and_list(TesContext *c, void *user) {
  Mesh m = make_mesh(3, 2);
  const TesPvdEntry entry = {0, "a.vtu"};
  (void)user;
  const TesStatus status = write_mesh(c, &m, TES_DOUBLE, path);
  return status ? status : tes_pvd_write(c, 1, &entry, path);
}

static void failing_memory_is_survived(void **state) {
  (void)state;
  assert_true(every_allocation_fails(write_and_list, NULL) > 30);
}

/* ---- files for t8_vtu_read.py -------------------------------------------------------------------------- */

static int write_files(const char *where) {
  if (tesi_context_new(NULL, &ctx)) return 1;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 12; degree++) {
      char name[256];
      Mesh m = make_mesh(dim, degree);
      snprintf(name, sizeof name, "%s/%dd-%d.vtu", where, dim, degree);
      if (write_mesh(ctx, &m, degree == 5 ? TES_SINGLE : TES_DOUBLE, name)) {
        fprintf(stderr, "%s\n", tes_context_message(ctx));
        return 1;
      }
    }
  tes_context_destroy(&ctx);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_are_numbered_once),     cmocka_unit_test(known_nodes_stand_where_they_should),
      cmocka_unit_test(arrays_can_be_unpacked),      cmocka_unit_test(large_arrays_are_split),
      cmocka_unit_test(meshes_without_cells),        cmocka_unit_test(mistakes_are_refused),
      cmocka_unit_test(failures_leave_the_old_file), cmocka_unit_test(series_are_listed),
      cmocka_unit_test(failing_memory_is_survived),
  };
  if (argc == 3 && !strcmp(argv[1], "write")) return write_files(argv[2]);
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
