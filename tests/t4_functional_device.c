/* Run: ctest -R t4_functional_device. Loads, boundary values, errors and values by kernels against the host's, to
 * 1e-12, on boxes with cells of any widths and on forests with hanging nodes, materials and curved cells; functions
 * without text, and values that are not finite, which the host does and tells of. Brief: all, of the degrees named. */
#include "device_testing.h"
#include "functional_testing.h"

static const char load_text[] = "sin(2*x + 0.3)*cos(y - 0.2) + exp(0.7*z)*x*y", flux_text[] = "1 + x*y - z";

enum { NUMBERS = 4 };

/* The load, the lifting, and behind them the two norms of (load - exact), its integral and mean: 2 length + 4. */
static double *make(TesContext *ctx, const TestCase *is, int64_t *length) {
  TestPlace p = test_place(ctx, is);
  TesFunction *f = test_expression(ctx, load_text), *flux = test_expression(ctx, flux_text);
  const TesFunction *const by_material[2] = {NULL, flux};
  const TesFunction *g[6] = {NULL}, *lifted[6] = {NULL};
  TesVector *b = test_place_vector(&p, NULL),
            *u = test_place_vector(&p, NULL); /* outputs are written wholly */
  *length = p.length;
  double *values = test_malloc((size_t)(2 * p.length + NUMBERS) * sizeof *values),
         *numbers = values + 2 * p.length;
  for (int i = 0; i < p.boundaries; i++) *(is->natural >> i & 1 ? &g[i] : &lifted[i]) = flux;
  lifted[1] = NULL; /* zero there */
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){p.space, {f}, {by_material}, {g}}, b));
  assert_ok(ctx, tes_functional_lifting(p.space, (const TesFunction *const *[]){lifted}, u));
  assert_ok(ctx,
            tes_functional_error(p.space, b, (const TesFunction *[]){f}, numbers, numbers + 1, NULL, NULL));
  assert_ok(ctx, tes_functional_value(p.space, b, &(TesValue){.kind = TES_VALUE_INTEGRAL, .point = {0}},
                                      numbers + 2));
  assert_ok(ctx, tes_functional_value(p.space, b, &(TesValue){TES_VALUE_MEAN, TES_ON_BOUNDARY, 0, {0}, NULL},
                                      numbers + 3));
  assert_ok(ctx, tes_vector_get(b, values));
  assert_ok(ctx, tes_vector_get(u, values + p.length));
  tes_vector_destroy(&b), tes_vector_destroy(&u);
  tes_function_destroy(&f), tes_function_destroy(&flux);
  test_place_free(&p);
  return values;
}

static void check(TesContext *host, TesContext *ctx, const TestCase *is) {
  if (!test_degree(is->degree)) return;
  int64_t length = 0;
  double *expected = make(host, is, &length), *got = make(ctx, is, &length);
  test_close(got, expected, length, 1e-12, is, "load");
  test_close(got + length, expected + length, length, 1e-12, is, "lifting");
  test_close(got + 2 * length, expected + 2 * length, NUMBERS, 1e-12, is, "norms and values");
  test_free(expected), test_free(got);
}

static void run_all(const char *device, int most) {
  TesContext *ctx = test_device(device), *host;
  if (!ctx) return;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
  check(host, ctx, &(TestCase){TEST_BOX, 2, 1, 0x0, 4});
  check(host, ctx, &(TestCase){TEST_BOX, 2, 1, 0x6, 40}); /* several blocks of cells */
  check(host, ctx, &(TestCase){TEST_BOX, 2, 4, 0x6, 4});
  check(host, ctx, &(TestCase){TEST_BOX, 3, 1, 0x3f, 4});
  check(host, ctx, &(TestCase){TEST_BOX, 3, 2, 0x19, 4});
  check(host, ctx, &(TestCase){TEST_BOX, 3, 3, 0x0, 4});
  check(host, ctx, &(TestCase){TEST_CELLS, 2, 3, 0x6, 4});
  check(host, ctx, &(TestCase){TEST_CELLS, 3, 2, 0x19, 4});
  check(host, ctx, &(TestCase){TEST_CELLS, 2, 10, 0x6, 1}); /* the host's */
  for (int degree = 4; degree <= most + 1; degree++)
    check(host, ctx, &(TestCase){TEST_BOX, 3, degree, 0x21, 4});
  for (int degree = 1; degree <= (most < 8 ? 5 : 8) && test_has_forests(host); degree++) {
    check(host, ctx, &(TestCase){TEST_LATTICE, 2, degree, (unsigned)degree % 4, 30});
    check(host, ctx, &(TestCase){TEST_BALL, 2, degree, (unsigned)degree % 2, 30});
    if (degree > most) continue;
    check(host, ctx, &(TestCase){TEST_LATTICE, 3, degree, (unsigned)degree % 4, 20});
    check(host, ctx, &(TestCase){TEST_BALL, 3, degree, (unsigned)degree % 2, 20});
  }
  tes_context_destroy(&host);
  tes_context_destroy(&ctx);
}

static void kernels_give_the_hosts_values(void **state) {
  (void)state;
  run_all("emulator", 3);
}

static void a_gpu_gives_the_hosts_values(void **state) {
  (void)state;
  run_all("cuda", 8);
}

static void ones(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                 double *out) {
  (void)user, (void)x, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = 1;
}

/* A function of the caller's has no text: the sum of its load is the volume all the same. */
static void check_callback(TesContext *ctx, const TestCase *is) {
  TestPlace p = test_place(ctx, is);
  TesFunction *f;
  TesVector *b = test_place_vector(&p, NULL), *one = test_place_vector(&p, NULL);
  double sum, volume;
  assert_ok(ctx, tes_function_create_callback(ctx, ones, NULL, NULL, &f));
  assert_ok(ctx, tes_vector_fill(one, 1));
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {f}}, b));
  assert_ok(ctx, tes_vector_dot(b, one, &sum));
  assert_ok(ctx, tes_functional_value(p.space, NULL, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &volume));
  assert_near(sum, volume, 1e-12);
  tes_vector_destroy(&b), tes_vector_destroy(&one), tes_function_destroy(&f);
  test_place_free(&p);
}

static void functions_without_text_are_the_hosts(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  check_callback(ctx, &(TestCase){TEST_BOX, 2, 2, 0xf, 4});
  if (test_has_forests(ctx)) check_callback(ctx, &(TestCase){TEST_BALL, 2, 2, 0x1, 20});
  tes_context_destroy(&ctx);
}

static void check_nan(TesContext *ctx, const TestCase *is) {
  TestPlace p = test_place(ctx, is);
  TesFunction *f = test_expression(ctx, "sqrt(0.1 - x)");
  TesVector *b = test_place_vector(&p, NULL);
  const TesFunction *const g[6] = {f, f, f, f};
  double l2, h1;
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {f}}, b), TES_NAN);
  assert_non_null(strstr(tes_context_message(ctx), "sqrt(0.1 - x)"));
  tes_context_clear(ctx);
  assert_int_equal(tes_functional_lifting(p.space, (const TesFunction *const *[]){g}, b), TES_NAN);
  tes_context_clear(ctx);
  assert_ok(ctx, tes_vector_fill(b, 0));
  assert_int_equal(tes_functional_error(p.space, b, (const TesFunction *[]){f}, &l2, &h1, NULL, NULL),
                   TES_NAN);
  tes_context_clear(ctx);
  tes_vector_destroy(&b), tes_function_destroy(&f);
  test_place_free(&p);
}

static void values_that_are_not_finite_are_told(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  check_nan(ctx, &(TestCase){TEST_BOX, 2, 2, 0, 4});
  if (test_has_forests(ctx)) check_nan(ctx, &(TestCase){TEST_BALL, 2, 2, 0, 20});
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_give_the_hosts_values),
                                     cmocka_unit_test(a_gpu_gives_the_hosts_values),
                                     cmocka_unit_test(functions_without_text_are_the_hosts),
                                     cmocka_unit_test(values_that_are_not_finite_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
