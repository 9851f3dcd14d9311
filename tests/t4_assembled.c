/* Run: ctest -R t4_assembled. Assembled operators over random forests, hanging nodes eliminated or as a sparse
 * matrix, against the plain matrix-free operator: on the host, on the emulator, and on a GPU where there is one.
 * The space without constraints, against reading cell by cell and against positions. Brief: one case a degree, of
 * the degrees named. */
#include "operator/assembled/matrix.h"
#include "operator_testing.h"
#include "failing_allocator.h"
#include "forest_testing.h"
#include "kernel_testing.h"
#include "matrix_testing.h"
#include "space/space.h"
#include "operator/operator.h"

/* Lattices of trees in random orientations, or balls; Dirichlet conditions on one side, everywhere, nowhere. */
static TestMesh make_mesh(TesContext *ctx, int dim, int degree, int i, int64_t cells) {
  static const char *const low[] = {"low", NULL}, *const none[] = {NULL};
  uint64_t seed = (uint64_t)(31 * i + degree);
  const bool ball = i % 3 == 2;
  TesMesh *forest = ball ? test_ball(ctx, dim) : NULL;
  if (!ball) test_lattice(ctx, dim, (const int[3]){2, 2, 1}, 0.15, &seed, &forest);
  test_refine(ctx, &seed, 0.4, cells, &forest);
  return test_mesh(ctx, forest, degree, ball ? 2 : 1, ball ? NULL : i % 3 ? none : low);
}

/* Product, residual (in place too), diagonal and plain product of one form, against the matrix-free operator. */
static void check_form(TesContext *ctx, const TestDiffusion *desc, const char *kind) {
  const double tolerance = desc->precision == TES_DOUBLE ? 1e-12 : 3e-6;
  TestDiffusion exact = *desc;
  TesOperator *op, *twin;
  exact.precision = TES_DOUBLE;
  assert_ok(ctx, test_operator_create(ctx, &exact, &op));
  TestDiffusion assembled = *desc;
  assembled.kind = kind;
  assert_ok(ctx, test_operator_create(ctx, &assembled, &twin));
  const char *const name = tes_operator_info(twin).description;
  const int degree = tes_space_degree(desc->space);
  const int64_t n = tes_operator_info(op).length;
  assert_int_equal(tes_operator_info(twin).length, n);
  assert_int_equal(tes_operator_info(twin).precision, desc->precision);
  assert_true(tes_operator_info(twin).cost.bytes > 8.0 * (double)n);
  TesVector *x = test_vector(ctx, n, TES_DOUBLE, 1), *z = test_vector(ctx, n, TES_DOUBLE, 0),
            *u = test_vector(ctx, n, desc->precision, 1), *b = test_vector(ctx, n, desc->precision, 2),
            *y = test_vector(ctx, n, desc->precision, 0), *r = test_vector(ctx, n, TES_DOUBLE, 2);
  assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
  assert_ok(ctx, tes_operator_apply(twin, u, y));
  test_compare(y, z, tolerance, name, degree);
  assert_ok(ctx, tes_vector_axpy(-1, z, r));
  assert_ok(ctx, tes_vector_fill(y, NAN));
  assert_ok(ctx, tes_operator_residual(twin, b, u, y));
  test_compare(y, r, tolerance, name, degree);
  assert_ok(ctx, tes_operator_residual(twin, b, u, b));
  test_compare(b, r, tolerance, name, degree);
  assert_ok(ctx, tes_vector_fill(r, NAN));
  assert_ok(ctx, tesi_operator_apply_ref(twin, x, r));
  test_compare(r, z, tolerance, name, degree);
  assert_ok(ctx, tes_operator_diagonal(op, z));
  assert_ok(ctx, tes_vector_fill(y, NAN));
  assert_ok(ctx, tes_operator_diagonal(twin, y));
  test_compare(y, z, tolerance, name, degree);
  TesVector *const all[] = {x, z, u, b, y, r};
  for (int i = 0; i < 6; i++) {
    TesVector *v = all[i];
    tes_vector_destroy(&v);
  }
  tes_operator_destroy(&twin);
  tes_operator_destroy(&op);
}

/* The matrix that kernels make, Robin faces included, is the one of the host; so is the diagonal. */
static void check_kernels(TesContext *ctx, const TestDiffusion *desc) {
  TesOperator *op;
  TesiMatrix a;
  TesiDeviceMatrix b;
  TestDiffusion exact = *desc;
  exact.precision = TES_DOUBLE;
  assert_ok(ctx, test_operator_create(ctx, &exact, &op));
  assert_ok(ctx, tesi_operator_assemble(op, &a));
  assert_ok(ctx, tesi_operator_assemble_device(op, &b));
  test_compare_matrices(ctx, &a, &b, 1e-12, tes_operator_info(op).description);
  const int64_t n = tes_operator_info(op).length;
  TesVector *d = test_vector(ctx, n, TES_DOUBLE, 0), *e = test_vector(ctx, n, TES_DOUBLE, 0);
  double *values = test_malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++)
    for (int64_t at = a.row[i]; at < a.row[i + 1]; at++)
      if (a.column[at] == i) values[i] = a.value[at];
  assert_ok(ctx, tes_vector_set(e, values));
  assert_ok(ctx, tes_operator_diagonal(op, d));
  test_compare(d, e, 1e-12, "diagonal", tes_space_degree(desc->space));
  test_free(values);
  tes_vector_destroy(&d);
  tes_vector_destroy(&e);
  tesi_device_matrix_destroy(op, &b);
  tesi_matrix_destroy(desc->space->context, &a);
  tes_operator_destroy(&op);
}

static int64_t check_case(TesContext *ctx, int dim, int degree, int i) {
  const int64_t cells = dim == 2 ? 40 : degree < 3 ? 16 : 6;
  TestMesh m = make_mesh(ctx, dim, degree, i, cells);
  TesFunction *a, *c;
  assert_ok(ctx, tes_function_create_expression(ctx, "1 / (0.05 + 2*(x*x + y*y + z*z))", &a));
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x*x", &c));
  const TestDiffusion desc = {.space = m.space,
                              .a = a,
                              .c = i % 2 ? c : NULL,
                              .alpha = {[1] = i % 3 == 2 ? NULL : c}, /* lattices: Robin terms on "rest" */
                              .skip_given = true,
                              .precision = i % 4 == 3 ? TES_SINGLE : TES_DOUBLE};
  check_form(ctx, &desc, "assembled");
  check_form(ctx, &desc, "assembled_hanging");
  if (strcmp(tes_context_device(ctx), "cpu")) check_kernels(ctx, &desc);
  const int64_t hanging = tes_space_hanging(m.space);
  tes_function_destroy(&a);
  tes_function_destroy(&c);
  test_mesh_free(&m);
  return hanging;
}

static void equal_the_plain_operator(void **state) {
  (void)state;
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  for (int device = 0; device < 3; device++) {
    TesContext *ctx = test_context(&(TesContextDesc){.device = devices[device], .threads = 2});
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    int64_t hanging = 0;
    for (int dim = 2, i = 0; dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 2 ? 6 : 3); degree++)
        for (int turn = 0; turn < (test_brief() ? 1 : degree < 2 ? 4 : 2); turn++, i++)
          if (test_degree(degree)) hanging += check_case(ctx, dim, degree, i);
    assert_true(hanging > (test_brief() || getenv("TESSERA_TEST_DEGREES") ? 0 : 1000));
    tes_context_destroy(&ctx);
  }
}

/* H x has the values that cells read; each node is there once, by its position. */
static void check_space(TesContext *ctx, const TestMesh *m, int dim) {
  enum { MOST = 729 };
  TesSpace *all;
  TesiMatrix H;
  uint64_t seed = 5;
  assert_ok(ctx, tesi_space_unconstrain(m->space, &all, &H));
  const int64_t length = m->space->length, rows = tes_space_length(all);
  assert_int_equal(H.rows, rows);
  assert_true(rows <= length + tes_space_hanging(m->space));
  assert_int_equal(tes_space_hanging(all), 0);
  double *x = test_malloc((size_t)length * sizeof *x), *u = test_malloc((size_t)rows * sizeof *u),
         local[MOST];
  double(*at)[3] = test_malloc((size_t)rows * sizeof *at);
  for (int64_t i = 0; i < length; i++) x[i] = test_random(&seed);
  for (int64_t i = 0; i < rows; i++) at[i][0] = NAN;
  tesi_matrix_apply(ctx, &H, x, u);
  for (int64_t c = 0; c < m->space->mesh->cells; c++) {
    double xi[3 * MOST], position[3 * MOST];
    const int n = all->view->n;
    for (int p = 0; p < all->view->cell_nodes; p++)
      for (int d = 0; d < dim; d++)
        xi[p * dim + d] = all->view->node[(const int[3]){p % n, p / n % n, p / n / n}[d]];
    tesi_mesh_map(m->forest, c, all->view->cell_nodes, xi, position);
    tesi_cells_read(m->space->view, c, x, local);
    for (int p = 0; p < all->view->cell_nodes; p++) {
      const int32_t node = all->view->index[c * all->view->cell_nodes + p];
      assert_true(node >= 0);
      assert_near(u[node], local[p], 1e-12);
      for (int d = 0; d < dim && !isnan(at[node][0]); d++)
        assert_near(at[node][d], position[p * dim + d], 1e-10);
      for (int d = 0; d < dim; d++) at[node][d] = position[p * dim + d];
    }
  }
  for (int64_t i = 0; i < rows; i++) {
    assert_false(isnan(at[i][0]));
    for (int64_t j = 0; j < i; j++) {
      double distance = 0;
      for (int d = 0; d < dim && distance < 1e-8; d++) distance = fabs(at[i][d] - at[j][d]);
      if (distance < 1e-8) fail_msg("nodes %lld and %lld are one", (long long)i, (long long)j);
    }
  }
  test_free(x);
  test_free(u);
  test_free(at);
  tesi_matrix_destroy(m->space->context, &H);
  tes_space_destroy(&all);
}

static void spaces_without_constraints(void **state) {
  (void)state;
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 2});
  if (!ctx || !test_has_forests(ctx)) skip();
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 8; degree++) {
      TestMesh m = make_mesh(ctx, dim, degree, 1, dim == 2 ? 40 : degree < 4 ? 20 : 8);
      check_space(ctx, &m, dim);
      test_mesh_free(&m);
    }
  tes_context_destroy(&ctx);
}

static TesStatus make_twins(TesContext *context, void *user) {
  (void)user;
  TesMesh *forest = NULL, *fine = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  static const int8_t mark[4] = {1, 0, 0, 0};
  TesStatus status = tes_mesh_create(
      context, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .refine = 1, .geometry_degree = 1}, &forest);
  if (status == TES_OK) status = tes_mesh_adapt(forest, mark, &fine);
  if (status == TES_OK)
    status = tes_space_create(context, &(TesSpaceDesc){.mesh = fine, .degree = 2}, &space);
  for (int i = 0; i < 4 && status == TES_OK; i++) {
    const TesOperatorDesc desc = {.space = space,
                                  .precision = i % 2 ? TES_SINGLE : TES_DOUBLE,
                                  .kind = i / 2 ? "assembled_hanging" : "assembled"};
    status = tes_operator_create(context, &desc, &op);
    tes_operator_destroy(&op);
  }
  tes_space_destroy(&space);
  tes_mesh_destroy(&fine);
  tes_mesh_destroy(&forest);
  return status;
}

static void allocations(void **state) {
  (void)state;
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 2});
  const bool forests = ctx && test_has_forests(ctx);
  tes_context_destroy(&ctx);
  if (!forests) skip();
  assert_true(allocations_fail(make_twins, NULL, 12) > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equal_the_plain_operator),
                                     cmocka_unit_test(spaces_without_constraints),
                                     cmocka_unit_test(allocations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
