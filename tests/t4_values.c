/* Run: ctest -R t4_values. Values of expressions in u and its derivatives: at points, over the domain, boundaries
 * and materials, on meshes of all kinds; boundary values and fluxes with the outer normal. The oracles are
 * polynomials that the space has, and Gauss's theorem. */
#include "functional/functional.h"
#include "functional_testing.h"

static const TestCase places[] = {
    {TEST_BOX, 2, 4, 0xff, 5},   {TEST_BOX, 3, 3, 0xff, 9},      {TEST_BOX, 2, 17, 0xff, 2},
    {TEST_CELLS, 2, 4, 0xff, 5}, {TEST_CELLS, 3, 3, 0xff, 4},    {TEST_UNIT, 2, 3, 0xff, 30},
    {TEST_UNIT, 3, 2, 0xff, 60}, {TEST_LATTICE, 2, 3, 0xff, 30}, {TEST_LATTICE, 3, 3, 0xff, 30},
    {TEST_BALL, 2, 3, 0xff, 40}, {TEST_BALL, 3, 3, 0xff, 60}};

static const char *linear(int dim) {
  return dim == 2 ? "1 + 2*x - 3*y" : "1 + 2*x - 3*y + 0.5*z";
}

static double value_of(const TestPlace *p, const TesVector *u, TesValue what) {
  double value = NAN;
  assert_ok(p->ctx, tes_functional_value(p->space, u, &what, &value));
  return value;
}

/* u linear in x, which curved cells of degree 3 in spaces of degree 3 have too. */
static void check_points(const TestPlace *p, const TesVector *u) {
  const int dim = p->is.dim;
  uint64_t seed = 21;
  static const char *const of[] = {NULL, "ux", "uy - u*x", "r"};
  for (int i = 0; i < 30; i++) {
    double xi[3], x[3] = {0}, values[4];
    for (int d = 0; d < dim; d++) xi[d] = i % 3 ? (test_random(&seed) + 1) / 2 : test_below(&seed, 2);
    assert_ok(p->ctx, tesi_mesh_points(p->mesh, test_below(&seed, (int)p->cells), 1, xi, x, NULL));
    const double expected = 1 + 2 * x[0] - 3 * x[1] + 0.5 * x[2];
    TesiField field[4];
    assert_ok(p->ctx, tesi_fields_at(p->mesh,
                                     tesi_fields_of(dim, 1, (const TesSpace *const[]){p->space},
                                                    (const TesVector *const[]){u}, field),
                                     field, 1, x, 4, of, values, NULL, false));
    assert_near(values[0], expected, 1e-11);
    assert_near(values[1], 2, 1e-10);
    assert_near(values[2], -3 - expected * x[0], 1e-10);
    assert_near(values[3], sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 1e-12);
    TesValue what = {.kind = TES_VALUE_POINT, .point = {x[0], x[1], x[2]}, .of = "u*u"};
    assert_near(value_of(p, u, what), expected * expected, 1e-10);
  }
}

/* int u_d = sum over boundaries of int u n_d, on the same polynomial geometry; volume = int x n_x. */
static void check_gauss(const TestPlace *p, const TesVector *u) {
  static const char *const flux[] = {"u*nx", "u*ny", "u*nz"}, *const slope[] = {"ux", "uy", "uz"};
  const TesValue whole = {.kind = TES_VALUE_INTEGRAL};
  const double volume = value_of(p, NULL, whole);
  const double expected[] = {2, -3, 0.5};
  for (int d = 0; d < p->is.dim; d++) {
    double sum = 0;
    for (int b = 0; b < p->boundaries; b++)
      sum += value_of(p, u, (TesValue){.where = TES_ON_BOUNDARY, .number = b, .of = flux[d]});
    assert_near(sum, expected[d] * volume, 1e-9 * volume);
    assert_near(value_of(p, u, (TesValue){.of = slope[d]}), expected[d] * volume, 1e-9 * volume);
    assert_near(value_of(p, u, (TesValue){.kind = TES_VALUE_MEAN, .of = slope[d]}), expected[d], 1e-9);
  }
  assert_near(value_of(p, u, (TesValue){.of = "u + 0*x"}), value_of(p, u, whole), 1e-9 * volume);
  assert_near(value_of(p, u, (TesValue){.kind = TES_VALUE_MEAN, .of = "7"}), 7, 1e-11);
}

static double extreme_of(const TestPlace *p, const TesVector *u, TesValue what) {
  TesiField field[4];
  double value = NAN, place[3] = {NAN, NAN, NAN};
  assert_ok(p->ctx, tesi_functional_extreme(p->space,
                                            tesi_fields_of(p->is.dim, 1, (const TesSpace *const[]){p->space},
                                                           (const TesVector *const[]){u}, field),
                                            field, &what, &value, place));
  assert_true(value_of(p, u, what) == value);
  if (!what.of) assert_near(value, 1 + 2 * place[0] - 3 * place[1] + 0.5 * place[2], 1e-10);
  return value;
}

/* u is linear: on straight cells its largest value is that at a vertex, and lies on the boundary. On curved ones the
 * nodes are among the points, and no point of the mesh is far above them. */
static void check_extremes(const TestPlace *p, const TesVector *u) {
  const TesValue most = {.kind = TES_VALUE_MAXIMUM}, least = {.kind = TES_VALUE_MINIMUM};
  const double high = extreme_of(p, u, most), low = extreme_of(p, u, least);
  double *values = test_malloc((size_t)p->length * sizeof *values), on_boundary = -INFINITY,
         in_material = -INFINITY;
  double ends[2] = {INFINITY, -INFINITY};
  assert_ok(p->ctx, tes_vector_get(u, values));
  for (int64_t i = 0; i < p->length; i++)
    ends[0] = fmin(ends[0], values[i]), ends[1] = fmax(ends[1], values[i]);
  test_free(values);
  const double slack = p->is.kind == TEST_BALL ? 0.02 * (ends[1] - ends[0]) : 1e-11;
  assert_true(high > ends[1] - 1e-11 && high < ends[1] + slack);
  assert_true(low < ends[0] + 1e-11 && low > ends[0] - slack);
  for (int b = 0; b < p->boundaries; b++) {
    const TesValue there = {.kind = TES_VALUE_MAXIMUM, .where = TES_ON_BOUNDARY, .number = b};
    on_boundary = fmax(on_boundary, extreme_of(p, u, there));
    assert_true(
        extreme_of(
            p, u, (TesValue){.kind = TES_VALUE_MAXIMUM, .where = TES_ON_BOUNDARY, .number = b, .of = "nx*nx"}) <=
        1 + 1e-12);
  }
  assert_near(on_boundary, high, 1e-11);
  for (int m = 0; p->is.kind == TEST_LATTICE && m < 2; m++)
    in_material =
        fmax(in_material,
             extreme_of(p, u, (TesValue){.kind = TES_VALUE_MAXIMUM, .where = TES_ON_MATERIAL, .number = m}));
  if (p->is.kind == TEST_LATTICE) assert_true(in_material <= high);
  assert_near(extreme_of(p, u, (TesValue){.kind = TES_VALUE_MAXIMUM, .of = "-3*u + 0*ux"}), -3 * low,
              1e-11 * fabs(low) + 1e-11);
  assert_near(extreme_of(p, u, (TesValue){.kind = TES_VALUE_MINIMUM, .of = "uy"}), -3, 1e-9);
}

/* Materials add up to the domain. */
static void check_materials(const TestPlace *p, const TesVector *u) {
  if (p->is.kind != TEST_LATTICE) return;
  double sum = 0;
  for (int m = 0; m < 2; m++)
    sum += value_of(p, u, (TesValue){.where = TES_ON_MATERIAL, .number = m, .of = "1 + 0*u"});
  assert_true(sum > 0 && sum < value_of(p, NULL, (TesValue){.kind = TES_VALUE_INTEGRAL})); /* some have none */
  for (int m = 0; m < 2; m++)
    assert_near(
        value_of(p, u, (TesValue){.kind = TES_VALUE_MEAN, .where = TES_ON_MATERIAL, .number = m, .of = "uy"}),
        -3, 1e-9);
}

static void check_refused(const TestPlace *p, const TesVector *u) {
  const TesValue bad[] = {{.of = "u +"},
                          {.of = "v"},
                          {.of = "nx"},
                          {.of = "1/(x - x)"},
                          {.kind = TES_VALUE_FORCE, .of = "x"},
                          {.kind = TES_VALUE_ERROR},
                          {.where = TES_ON_BOUNDARY, .number = 99, .of = "u*u"},
                          {.where = TES_ON_MATERIAL, .number = 99, .of = "u*u"},
                          {.kind = TES_VALUE_POINT, .point = {1e5}, .of = "u"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double value;
    const TesStatus status = tes_functional_value(p->space, u, &bad[i], &value);
    if (status != (i == 3 ? TES_NAN : TES_INVALID_INPUT)) fail_msg("%d: status %d", (int)i, (int)status);
    tes_context_clear(p->ctx);
  }
}

/* Fluxes and boundary values with normals: the load is that of the plain version, lifted values those of the
 * points' normals. */
static void check_normals(const TestPlace *p) {
  const int64_t n = p->length;
  TesFunction *f = test_expression(p->ctx, p->is.dim == 2 ? "x*nx + y*y*ny" : "x*nx + y*y*ny - z*nz");
  const TesFunction *g[16] = {NULL};
  TesVector *b = test_place_vector(p, NULL);
  double *fast = test_malloc((size_t)n * sizeof *fast), *plain = test_malloc((size_t)n * sizeof *plain);
  for (int i = 0; i < p->boundaries; i += 2) g[i] = f;
  const TesLoadDesc desc = {.space = p->space, .g = {g}};
  assert_ok(p->ctx, tes_functional_load(&desc, b));
  assert_ok(p->ctx, tes_vector_get(b, fast));
  assert_ok(p->ctx, tesi_load_ref(&desc, false, p->is.degree + 3, plain));
  test_close(fast, plain, n, 1e-11, &p->is, "load with normals");
  test_free(fast), test_free(plain), tes_vector_destroy(&b), tes_function_destroy(&f);
}

static void test_values(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  const bool forests = test_has_forests(ctx);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (places[i].kind > TEST_CELLS && !forests) continue;
    TestPlace p = test_place(ctx, &places[i]);
    TesFunction *f = test_expression(ctx, linear(p.is.dim));
    TesVector *u = test_place_vector(&p, f);
    check_points(&p, u);
    check_gauss(&p, u);
    check_materials(&p, u);
    check_extremes(&p, u);
    check_refused(&p, u);
    if (p.is.degree < 9) check_normals(&p);
    tes_vector_destroy(&u), tes_function_destroy(&f);
    test_place_free(&p);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* x nx + y ny is the radius at the nodes of a circle, through which its polynomial cells pass, up to the error of
 * their tangents; on a box of a node on several faces the last holds. */
static void test_lifting(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  const bool forests = test_has_forests(ctx);
  if (forests) {
    TestPlace p = test_place(ctx, &(TestCase){TEST_BALL, 2, 3, 0, 40});
    TesFunction *f = test_expression(ctx, "x*nx + y*ny + 5*nz"),
                *radius = test_expression(ctx, "r > 0.999 ? 1 : 0");
    const TesFunction *g[1] = {f};
    TesVector *u = test_place_vector(&p, NULL), *v = test_place_vector(&p, NULL);
    double error;
    assert_ok(ctx, tes_functional_lifting(p.space, (const TesFunction *const *[]){g}, u));
    g[0] = radius;
    assert_ok(ctx, tes_functional_lifting(p.space, (const TesFunction *const *[]){g}, v));
    assert_ok(ctx, tes_vector_axpy(-1, v, u));
    assert_ok(ctx, tes_vector_maximum(u, &error));
    assert_near(error, 0, 1e-4);
    tes_vector_destroy(&u), tes_vector_destroy(&v), tes_function_destroy(&f), tes_function_destroy(&radius);
    test_place_free(&p);
  }
  TestPlace p = test_place(ctx, &(TestCase){TEST_BOX, 3, 2, 0, 3});
  TesFunction *f = test_expression(ctx, "nx + 2*ny + 4*nz");
  const TesFunction *g[6] = {f, f, f, f, f, f};
  TesVector *u = test_place_vector(&p, NULL);
  double *values = test_malloc((size_t)p.length * sizeof *values), *x = test_place_nodes(&p);
  const double *const at[3] = {tes_mesh_info(p.mesh).coordinates[0], tes_mesh_info(p.mesh).coordinates[1],
                               tes_mesh_info(p.mesh).coordinates[2]};
  assert_ok(ctx, tes_functional_lifting(p.space, (const TesFunction *const *[]){g}, u));
  assert_ok(ctx, tes_vector_get(u, values));
  for (int64_t i = 0; i < p.length; i++) {
    double expected = 0;
    for (int d = 0; d < 3; d++) {
      if (x[3 * i + d] == at[d][0]) expected = -(1 << d);
      if (x[3 * i + d] == at[d][tes_mesh_info(p.mesh).cells_along[d]]) expected = 1 << d;
    }
    assert_near(values[i], expected, 0);
  }
  test_free(values), test_free(x), tes_vector_destroy(&u), tes_function_destroy(&f);
  test_place_free(&p);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_lifting)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
