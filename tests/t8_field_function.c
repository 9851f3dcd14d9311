/* Run: ctest -R t8_field_function. Fields of checkpoints as functions of space: polynomials that the space has come
 * back at points of no special place, on graded boxes, forests with hanging nodes and curved cells, scalars and
 * components; points beside the mesh; points found one at a time are where a search for all finds them. */
#include <math.h>
#include <stdio.h>
#include "device_testing.h"
#include "geometry/locator.h"
#include "mesh/mesh.h"
#include "tessera/tessera.h"

enum { POINTS = 400 };

static double polynomial(int c, const double *x) {
  return c == 0   ? 1 + x[0] * x[0] - 2 * x[0] * x[1] + x[2]
         : c == 1 ? x[1] * x[1] - 3 * x[0]
                  : 0.5 * x[2] - x[0] * x[1];
}

static void values(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                   double *out) {
  (void)t;
  for (int64_t i = 0; i < n; i++)
    out[i] = polynomial(*(const int *)user, (const double[3]){x[i], y[i], z[i]});
}

static TesMesh *create_mesh(TesContext *ctx, int which) {
  static double graded[] = {0, 0.1, 0.4, 1}, even[] = {0, 0.5, 1};
  TesFunction *where = NULL;
  TesMesh *mesh;
  if (which) assert_ok(ctx, tes_function_create_expression(ctx, "0.1 - x", &where));
  const TesMeshDesc descs[] = {
      {.dim = 3, .kind = TES_MESH_BOX, .cells = {3, 2, 3}, .coordinates = {graded, even, graded}},
      {.dim = 2, .domain = TES_DOMAIN_L_SHAPE, .refine = 1, .refine_where = where, .refine_times = 2},
      {.dim = 3,
       .domain = TES_DOMAIN_BALL,
       .radius = 1,
       .refine_where = where,
       .refine_times = 1,
       .geometry_degree = 3}};
  assert_ok(ctx, tes_mesh_create(ctx, &descs[which], &mesh));
  tes_function_destroy(&where);
  return mesh;
}

/* Points inside, by cells and places in them at random. */
static void scatter(const TesMesh *mesh, double (*x)[3]) {
  uint64_t state = 5;
  const int64_t cells = tes_mesh_info(mesh).cells;
  for (int i = 0; i < POINTS; i++) {
    double xi[3];
    for (int d = 0; d < 3; d++) xi[d] = 0.5 + 0.5 * test_random(&state);
    const int64_t cell = (int64_t)((0.5 + 0.499 * test_random(&state)) * (double)cells);
    x[i][2] = 0;
    assert_ok(mesh->context, tesi_mesh_points(mesh, cell, 1, xi, x[i], NULL));
  }
}

static TesCheckpoint *write_and_read(TesContext *ctx, const TesMesh *mesh, int components) {
  static int number[3] = {0, 1, 2};
  TesSpace *space;
  TesVector *u;
  TesFunction *f[3] = {NULL};
  TesCheckpoint *checkpoint;
  for (int c = 0; c < components; c++)
    assert_ok(ctx, tes_function_create_callback(ctx, values, &number[c], NULL, &f[c]));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 3, .components = components},
                                  &space));
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &u));
  assert_ok(ctx, tes_space_interpolate(space, (const TesFunction *const *)f, u));
  const TesCheckpointField field = {"u", u};
  const TesCheckpointDesc desc = {.space = space, .count = 1, .fields = &field};
  assert_ok(ctx, tes_checkpoint_write(ctx, &desc, "field_function.h5"));
  assert_ok(ctx, tes_checkpoint_read(ctx, "field_function.h5", mesh->geometry_degree, &checkpoint));
  for (int c = 0; c < components; c++) tes_function_destroy(&f[c]);
  tes_vector_destroy(&u);
  tes_space_destroy(&space);
  return checkpoint;
}

static void fields_come_back(void **state) {
  (void)state;
  static double x[POINTS][3];
  static const char *const names[] = {"u", "v", "w"};
  if (!tes_has_part("hdf5")) skip();
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu"});
  for (int which = 0; which < (tes_has_part("p4est") ? 3 : 1); which++) {
    TesMesh *mesh = create_mesh(ctx, which);
    const int dim = mesh->dim, components = which == 1 ? 1 : dim;
    TesCheckpoint *checkpoint = write_and_read(ctx, mesh, components);
    TesFunction *f[3];
    scatter(mesh, x);
    assert_int_equal(tes_checkpoint_function(checkpoint, components == 1 ? "v" : "p", &f[0]),
                     TES_INVALID_INPUT);
    assert_null(f[0]);
    tes_context_clear(ctx);
    for (int c = 0; c < components; c++) assert_ok(ctx, tes_checkpoint_function(checkpoint, names[c], &f[c]));
    tes_checkpoint_destroy(&checkpoint);
    tes_mesh_destroy(&mesh);
    for (int c = 0; c < components; c++) {
      double largest = 0;
      for (int i = 0; i < POINTS; i++) {
        double value;
        assert_ok(ctx, tes_function_evaluate(f[c], 1, &x[i][0], &x[i][1], &x[i][2], 0, &value));
        largest = test_larger(largest, fabs(value - polynomial(c, x[i])));
      }
      /* on curved cells polynomials of space are none of the cell: a bound of the interpolation's error there */
      assert_true(largest < (which == 2 ? 0.05 : 1e-12));
      const double far = 7;
      double value;
      assert_int_equal(tes_function_evaluate(f[c], 1, &far, &far, &far, 0, &value), TES_NAN);
      tes_context_clear(ctx);
      tes_function_destroy(&f[c]);
    }
  }
  remove("field_function.h5");
  tes_context_destroy(&ctx);
}

/* A hit of the search for all points at once, at the same place. */
static void one_at_a_time_as_all_at_once(void **state) {
  (void)state;
  static double x[POINTS][3], packed[3 * POINTS];
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu"});
  for (int which = 0; which < (tes_has_part("p4est") ? 3 : 1); which++) {
    TesMesh *mesh = create_mesh(ctx, which);
    const int dim = mesh->dim;
    TesiLocator *locator;
    TesiHit *hit;
    int64_t count, cell;
    scatter(mesh, x);
    for (int i = 0; i < POINTS * dim; i++) packed[i] = x[i / dim][i % dim];
    assert_ok(ctx, tesi_mesh_find(mesh, POINTS, packed, 0, &hit, &count));
    assert_ok(ctx, tesi_locator_create(mesh, &locator));
    for (int i = 0; i < POINTS; i++) {
      double xi[3];
      bool found = false;
      assert_true(tesi_locator_find(locator, x[i], 0, &cell, xi));
      for (int64_t j = 0; j < count; j++) {
        if (hit[j].point != i || hit[j].cell != cell) continue;
        found = true;
        for (int d = 0; d < dim; d++) assert_near(xi[d], hit[j].xi[d], 1e-9);
      }
      assert_true(found);
    }
    double beside[3] = {1.001, 0.3, 0.2}, xi[3];
    if (which == 0) { /* the last cell is 0.6 wide */
      assert_true(tesi_locator_find(locator, beside, 0.01, &cell, xi));
      assert_near(xi[0], 1, 0);
      assert_false(tesi_locator_find(locator, beside, 0.001, &cell, xi));
    }
    beside[0] = NAN;
    assert_false(tesi_locator_find(locator, beside, 0.01, &cell, xi));
    tesi_locator_destroy(&locator);
    tesi_free(ctx, &hit);
    tes_mesh_destroy(&mesh);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_come_back),
      cmocka_unit_test(one_at_a_time_as_all_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
