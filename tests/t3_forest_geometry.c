/* Geometry of forests: conforming over hanging faces, of the right kind, converging; coordinates and values at
 * nodes. Brief: random forests of a third of the cells. */
#include "basis/gauss.h"
#include "forest_testing.h"
#include "geometry/geometry.h"
#include "space/space.h"

static TesContext *ctx;

/* The coordinates of an isoparametric geometry are a function of the space: reading them at a cell, hanging or not,
 * gives its own nodes. */
static void check_conforming(TesMesh *forest, int degree) {
  TesSpace *space;
  test_set_geometry(forest, degree);
  const TesiGeometry *geometry = test_geometry(ctx, forest);
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &space));
  const int dim = space->dim, n = space->view->n, nodes = space->view->cell_nodes;
  double *x = malloc((size_t)(space->length * dim) * sizeof *x),
         *component = malloc((size_t)space->length * sizeof *x);
  double xi[3 * 729], at[3 * 729], local[729];
  for (int64_t i = 0; i < space->length * dim; i++) x[i] = NAN;
  assert_ok(ctx, tes_space_coordinates(space, x));
  for (int p = 0; p < nodes; p++)
    for (int d = 0; d < dim; d++)
      xi[p * dim + d] = space->view->node[(const int[3]){p % n, p / n % n, p / n / n}[d]];
  for (int d = 0; d < dim; d++) {
    for (int64_t i = 0; i < space->length; i++) component[i] = x[i * dim + d];
    for (int64_t cell = 0; cell < space->view->cells; cell++) {
      assert_ok(ctx, tesi_geometry_evaluate(geometry, cell, nodes, xi, at, NULL));
      tesi_cells_read(space->view, cell, component, local);
      for (int p = 0; p < nodes; p++) assert_near(local[p], at[p * dim + d], 1e-12);
    }
  }
  free(x);
  free(component);
  tes_space_destroy(&space);
}

static void test_conforming(void **state) {
  (void)state;
  uint64_t seed = 23;
  static const TesDomain domains[] = {TES_DOMAIN_BALL, TES_DOMAIN_SHELL, TES_DOMAIN_CHANNEL,
                                      TES_DOMAIN_FICHERA};
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 4; degree++)
      for (int i = 0; i < 4; i++) {
        TesMesh *forest;
        assert_ok(ctx,
                  tes_mesh_create(
                      ctx,
                      &(TesMeshDesc){.kind = TES_MESH_FOREST, .domain = domains[i], .dim = dim, .refine = 1},
                      &forest));
        const int64_t most = (dim == 2 ? 300 : 150) / (test_brief() ? 3 : 1);
        for (int pass = 0; pass < 2; pass++) test_adapt(ctx, &seed, 0.2, 0.1, most, &forest);
        check_conforming(forest, degree);
        tes_mesh_destroy(&forest);
      }
}

/* Volume by Gauss points. */
static double volume(const TesiGeometry *g) {
  enum { Q = 8 };
  double point[Q], weight[Q], xi[3 * Q * Q * Q], x[3 * Q * Q * Q], J[9 * Q * Q * Q], sum = 0;
  const int dim = g->dim, points = dim == 2 ? Q * Q : Q * Q * Q;
  tesi_gauss(Q, point, weight);
  for (int p = 0; p < points; p++)
    for (int d = 0; d < dim; d++) xi[p * dim + d] = point[(const int[3]){p % Q, p / Q % Q, p / Q / Q}[d]];
  for (int64_t c = 0; c < g->cells; c++) {
    assert_ok(ctx, tesi_geometry_evaluate(g, c, points, xi, x, J));
    for (int p = 0; p < points; p++) {
      const double *j = J + p * dim * dim;
      const double det = dim == 2 ? j[0] * j[3] - j[1] * j[2]
                                  : j[0] * (j[4] * j[8] - j[5] * j[7]) - j[1] * (j[3] * j[8] - j[5] * j[6]) +
                                        j[2] * (j[3] * j[7] - j[4] * j[6]);
      sum += det * weight[p % Q] * weight[p / Q % Q] * (dim == 3 ? weight[p / Q / Q] : 1);
    }
  }
  return sum;
}

/* Q_m geometry: the volume of the ball is right to order 2m in h at least (Lenoir 1986 for its boundary). */
static void test_convergence(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int m = 1; m <= 3; m++) {
      double error[2];
      for (int level = 1; level <= 2; level++) {
        TesMesh *forest;
        assert_ok(ctx,
                  tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim, .refine = level},
                                  &forest));
        test_set_geometry(forest, m);
        const TesiGeometry *geometry = test_geometry(ctx, forest);
        assert_int_equal(geometry->kind, m == 1 ? TES_GEOMETRY_TRILINEAR : TES_GEOMETRY_CURVED);
        error[level - 1] = fabs(volume(geometry) - (dim == 2 ? 4 : 16.0 / 3) * atan(1));
        tes_mesh_destroy(&forest);
      }
      assert_true(error[1] < 1e-9 || log2(error[0] / error[1]) > (m == 1 ? 1.8 : m == 2 ? 3 : 4));
    }
}

static void test_kinds_and_values(void **state) {
  (void)state;
  uint64_t seed = 29;
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, "x*x*y - 2*y*y + x", &f));
  for (int dim = 2; dim <= 3; dim++) {
    TesMesh *forest;
    TesMesh *other;
    TesSpace *space;
    assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_L_SHAPE, .dim = dim, .refine = 1},
                                   &forest));
    test_adapt(ctx, &seed, 0.3, 0, 100, &forest);
    const TesiGeometry *geometry = test_geometry(ctx, forest);
    assert_int_equal(geometry->kind, TES_GEOMETRY_AFFINE);
    assert_near(volume(geometry), 3, 1e-12);
    assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = 3}, &space));
    double *u = malloc((size_t)space->length * sizeof *u),
           *x = malloc((size_t)(space->length * dim) * sizeof *x);
    TesVector *v;
    assert_ok(ctx, tes_vector_create(ctx, space->length, TES_DOUBLE, &v));
    assert_ok(ctx, tes_space_interpolate(space, (const TesFunction *[]){f}, v));
    assert_ok(ctx, tes_vector_get(v, u));
    tes_vector_destroy(&v);
    assert_ok(ctx, tes_space_coordinates(space, x));
    for (int64_t i = 0; i < space->length; i++) {
      const double *p = x + i * dim;
      assert_near(u[i], p[0] * p[0] * p[1] - 2 * p[1] * p[1] + p[0], 1e-13);
    }
    assert_int_equal(
        tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .geometry_degree = 9}, &other),
        TES_INVALID_INPUT);
    tes_context_clear(ctx);
    free(u);
    free(x);
    tes_space_destroy(&space);
    tes_mesh_destroy(&forest);
  }
  tes_function_destroy(&f);
}

int main(void) {
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  if (!test_has_forests(ctx)) {
    print_message("built without p4est\n");
    tes_context_destroy(&ctx);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_conforming), cmocka_unit_test(test_convergence),
                                     cmocka_unit_test(test_kinds_and_values)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
