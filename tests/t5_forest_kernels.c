/* Run: ctest -R t5_forest_kernels. Transfers between forests with hanging nodes and Robin terms by kernels, against
 * the plain versions: emulator, and a GPU where there is one. Brief: one precision a dimension, in turns.
 * Quick: 1-3
 * Labels: heavy */
#include "operator_testing.h"
#include "device/emulator/fiber.h"
#include "forest_testing.h"
#include "kernel_testing.h"
#include "operator/operator.h"
#include "transfer/transfer.h"

/* A random forest of trees in random orientations, most of it refined. */
static TesMesh *random_forest(TesContext *ctx, int dim, uint64_t seed, int times) {
  TesMesh *forest;
  test_lattice(ctx, dim, (const int[3]){2, dim == 2 ? 2 : 1, 1}, 0.1, &seed, &forest);
  for (int t = 0; t < times; t++) test_adapt(ctx, &seed, 0.5, 0, dim == 2 ? 60 : 40, &forest);
  return forest;
}

static TesSpace *make_space(TesContext *ctx, const TesMesh *forest, int degree, bool dirichlet) {
  static const char *const low[] = {"low", NULL}, *const none[] = {NULL};
  uint8_t given[16];
  TesSpace *space;
  assert_ok(ctx,
            tes_space_create(ctx,
                             &(TesSpaceDesc){.mesh = forest,
                                             .degree = degree,
                                             .given = test_given(ctx, forest, dirichlet ? low : none, given)},
                             &space));
  return space;
}

static void assert_same_bits(const TesVector *a, const TesVector *b) {
  const int64_t n = tes_vector_length(a);
  double *x = test_malloc((size_t)n * sizeof *x), *y = test_malloc((size_t)n * sizeof *y);
  assert_int_equal(tes_vector_get(a, x), TES_OK);
  assert_int_equal(tes_vector_get(b, y), TES_OK);
  assert_memory_equal(x, y, (size_t)n * sizeof *x);
  test_free(x);
  test_free(y);
}

static void check_transfer(TesContext *ctx, const TesSpace *coarse, const TesSpace *fine,
                           TesPrecision precision) {
  const double tolerance = precision == TES_DOUBLE ? 1e-13 : 3e-6;
  const int degree = tes_space_degree(fine);
  const int64_t nc = tes_space_length(coarse), nf = tes_space_length(fine);
  TesTransfer *t;
  assert_ok(ctx, tes_transfer_create(
                     ctx, &(TesTransferDesc){.coarse = coarse, .fine = fine, .precision = precision}, &t));
  TesVector *c = test_vector(ctx, nc, precision, 3), *f = test_vector(ctx, nf, precision, 4),
            *v = test_vector(ctx, nf, precision, 0), *w = test_vector(ctx, nf, precision, 5),
            *r = test_vector(ctx, nc, precision, 0), *s = test_vector(ctx, nc, precision, 0);
  for (int add = 0; add < 2; add++) {
    if (add) assert_ok(ctx, tes_vector_copy(w, 1, v));
    assert_ok(ctx, tes_transfer_prolongate(t, c, add, v));
    assert_ok(ctx, tesi_transfer_prolongate_ref(t, c, add, w));
    test_compare(v, w, tolerance, "prolongate", degree);
  }
  assert_ok(ctx, tes_transfer_restrict(t, f, r));
  assert_ok(ctx, tesi_transfer_restrict_ref(t, f, s));
  test_compare(r, s, tolerance, "restrict", degree);
  tesi_fiber_order(TESI_ORDER_SHUFFLED, 99); /* another order of blocks and threads: the same bits */
  assert_ok(ctx, tes_vector_fill(s, NAN));
  assert_ok(ctx, tes_transfer_restrict(t, f, s));
  assert_same_bits(r, s);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
  TesVector *all[] = {c, f, v, w, r, s};
  for (int i = 0; i < 6; i++) tes_vector_destroy(&all[i]);
  tes_transfer_destroy(&t);
}

/* The coarsened forest and, of some degrees, lower ones on the same cells. */
static void check_case(TesContext *ctx, int dim, int degree, TesPrecision precision) {
  TesMesh *fine = random_forest(ctx, dim, (uint64_t)(10 * degree + dim), degree > 4 && dim == 3 ? 2 : 3),
          *coarse;
  assert_ok(ctx, tes_mesh_coarsen(fine, &coarse));
  assert_non_null(coarse);
  TesSpace *f = make_space(ctx, fine, degree, degree % 3), *c = make_space(ctx, coarse, degree, degree % 3);
  assert_true(tes_space_hanging(f) > 0);
  check_transfer(ctx, c, f, precision);
  if (degree % 3 == 2) {
    TesSpace *low = make_space(ctx, fine, degree / 2, degree % 2),
             *high = make_space(ctx, fine, degree, degree % 2);
    check_transfer(ctx, low, high, precision);
    tes_space_destroy(&low);
    tes_space_destroy(&high);
  }
  tes_space_destroy(&f);
  tes_space_destroy(&c);
  tes_mesh_destroy(&fine);
  tes_mesh_destroy(&coarse);
}

static const char *const devices[] = {"emulator", "cuda"};

static void transfers_equal_the_embedding(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1; degree <= 8; degree++) {
        if (!test_degree(degree)) continue;
        check_case(ctx, dim, degree, (degree + dim) % 2 ? TES_DOUBLE : TES_SINGLE);
        if (d && !test_brief()) check_case(ctx, dim, degree, (degree + dim) % 2 ? TES_SINGLE : TES_DOUBLE);
      }
    tes_context_destroy(&ctx);
  }
}

/* apply, residual, and the diagonal as e_i' A e_i. */
static void check_robin(TesContext *ctx, int dim, int degree, TesPrecision precision, bool hanging) {
  const double tolerance = precision == TES_DOUBLE ? 1e-12 : 3e-5;
  uint64_t seed = (uint64_t)(degree + 7);
  TesMesh *forest;
  TesFunction *alpha;
  TesOperator *op;
  test_lattice(ctx, dim, (const int[3]){2, 1, 1}, 0.1, &seed, &forest);
  if (hanging) test_adapt(ctx, &seed, 0.5, 0, 100, &forest);
  if (hanging && dim == 2) test_adapt(ctx, &seed, 0.5, 0, 100, &forest);
  test_set_geometry(forest, 1);
  TesSpace *space = make_space(ctx, forest, degree, true);
  assert_ok(ctx, tes_function_create_expression(ctx, "2 + x*y", &alpha));
  assert_ok(ctx,
            test_operator_create(
                ctx, &(TestDiffusion){.space = space, .alpha = {NULL, alpha}, .precision = precision}, &op));
  const int64_t n = tes_operator_info(op).length;
  TesVector *x = test_vector(ctx, n, precision, 1), *b = test_vector(ctx, n, precision, 2),
            *y = test_vector(ctx, n, precision, 0), *z = test_vector(ctx, n, precision, 0);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
  test_compare(y, z, tolerance, "robin", degree);
  assert_ok(ctx, tes_vector_xpay(b, -1, z));
  assert_ok(ctx, tes_operator_residual(op, b, x, y));
  test_compare(y, z, tolerance, "robin residual", degree);
  double *unit = test_calloc((size_t)n, sizeof *unit), *diagonal = test_malloc((size_t)n * sizeof *diagonal);
  assert_ok(ctx, tes_operator_diagonal(op, z));
  assert_ok(ctx, tes_vector_get(z, diagonal));
  for (int64_t i = 0; i < n; i += n / 7 + 1) {
    unit[i] = 1;
    assert_ok(ctx, tes_vector_set(x, unit));
    assert_ok(ctx, tes_operator_apply(op, x, y));
    assert_ok(ctx, tes_vector_get(y, unit));
    assert_near(diagonal[i], unit[i], tolerance * fabs(unit[i]));
    memset(unit, 0, (size_t)n * sizeof *unit);
  }
  test_free(unit);
  test_free(diagonal);
  TesVector *all[] = {x, b, y, z};
  for (int i = 0; i < 4; i++) tes_vector_destroy(&all[i]);
  tes_operator_destroy(&op);
  tes_function_destroy(&alpha);
  tes_space_destroy(&space);
  tes_mesh_destroy(&forest);
}

static void robin_terms_equal_the_plain_ones(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1; degree <= 8; degree += degree == 3 ? 5 : 1)
        if (test_degree(degree)) check_robin(ctx, dim, degree, degree == 2 ? TES_SINGLE : TES_DOUBLE, false);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(transfers_equal_the_embedding),
                                     cmocka_unit_test(robin_terms_equal_the_plain_ones)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
