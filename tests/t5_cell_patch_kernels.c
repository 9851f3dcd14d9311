/* Run: ctest -R t5_cell_patch_kernels. Cell patches by kernels on random forests with hanging nodes, against the
 * dense reference and the host's smoother:
 * emulator, and a GPU where there is one. Brief: one precision a dimension, in turns.
 * Quick: 1-3,6
 * Labels: heavy */
#include "operator_testing.h"
#include "device/emulator/fiber.h"
#include "device/kernel.h"
#include "failing_allocator.h"
#include "forest_testing.h"
#include "kernel_testing.h"
#include "smoother/cell_patch/cell_patch.h"

typedef struct Case {
  TesSpace *space;
  TesFunction *a, *c;
  TesOperator *op;
} Case;

static const char *const devices[] = {"emulator", "cuda"};

/* As test_device(), with sums in no fixed order. */
static TesContext *open_unordered(const char *name) {
  TesContext *ordered = test_device(name), *ctx = NULL;
  if (!ordered) return NULL;
  tes_context_destroy(&ordered);
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = name, .unordered = 1}, &ctx, NULL, 0),
                   TES_OK);
  return ctx;
}

/* A few trees in random orientations, the first refined, then at random till there are about `most` cells. */
static Case make_case(TesContext *ctx, int dim, int degree, TesPrecision precision, int64_t most) {
  static const char *const low[] = {"low", NULL};
  uint64_t seed = (uint64_t)(10 * degree + dim);
  Case s = {0};
  TesMesh *trees, *forest;
  const int8_t mark[4] = {1};
  test_lattice(ctx, dim, (const int[3]){2, dim == 2 ? 2 : 1, 1}, 0.1, &seed, &trees);
  assert_ok(ctx, tes_mesh_adapt(trees, mark, &forest));
  tes_mesh_destroy(&trees);
  uint8_t given[16];
  test_set_geometry(forest, 1);
  while (tes_mesh_info(forest).cells < most) test_adapt(ctx, &seed, 0.3, 0, most, &forest);
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = forest,
                                                  .degree = degree,
                                                  .given = test_given(ctx, forest, low, given)},
                                  &s.space));
  assert_true(tes_space_hanging(s.space) > 0);
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x*x", &s.a));
  assert_ok(ctx, tes_function_create_expression(ctx, "x*x", &s.c));
  assert_ok(ctx, test_operator_create(
                     ctx,
                     &(TestDiffusion){
                         .space = s.space, .a = s.a, .c = degree % 2 ? s.c : NULL, .precision = precision},
                     &s.op));
  tes_mesh_destroy(&forest);
  return s;
}

static void free_case(Case *s) {
  tes_operator_destroy(&s->op);
  tes_function_destroy(&s->a);
  tes_function_destroy(&s->c);
  tes_space_destroy(&s->space);
}

static TesVector *make_vector(TesContext *ctx, int64_t n, TesPrecision precision, uint64_t seed) {
  TesVector *v;
  double *values = test_malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = seed ? (double)(float)test_random(&seed) : NAN;
  assert_ok(ctx, tes_vector_create(ctx, n, precision, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  test_free(values);
  return v;
}

/* `most`: cells. In order: the same bits in every order of threads. */
static void compare(TesContext *ctx, int dim, int degree, TesPrecision precision, int64_t most) {
  Case s = make_case(ctx, dim, degree, precision, most);
  const int64_t n = tes_operator_info(s.op).length;
  const size_t bytes = (size_t)n * sizeof(double);
  double *values = test_malloc(bytes), *reference = test_malloc(bytes), *before = test_malloc(bytes);
  TesVector *r = make_vector(ctx, n, precision, 3), *z = make_vector(ctx, n, precision, 0),
            *expected = make_vector(ctx, n, TES_DOUBLE, 0);
  TesiCellPatches *p;
  assert_ok(ctx, tesi_cell_patches_create(s.op, &p));
  assert_non_null(p->kernels);
  assert_true(p->classes > 1);
  assert_ok(ctx, tes_vector_get(r, values));
  assert_ok(ctx, tesi_cell_patches_apply_ref(p, values, reference));
  assert_ok(ctx, tes_vector_set(expected, reference));
  for (int order = TESI_ORDER_FORWARD; order <= TESI_ORDER_SHUFFLED; order++) {
    tesi_fiber_order((TesiOrder)order, (uint64_t)degree);
    assert_ok(ctx, tes_vector_fill(z, NAN));
    assert_ok(ctx, tesi_cell_patches_apply(p, r->data, z->data));
    test_compare(z, expected, precision == TES_DOUBLE ? 1e-11 : 2e-4, "cell patches", degree);
    assert_ok(ctx, tes_vector_get(z, values));
    if (order > 0 && !tesi_context_unordered(ctx)) assert_memory_equal(values, before, bytes);
    memcpy(before, values, bytes);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
  tesi_cell_patches_destroy(&p);
  tes_vector_destroy(&r), tes_vector_destroy(&z), tes_vector_destroy(&expected);
  test_free(values), test_free(reference), test_free(before);
  free_case(&s);
}

/* Brief runs: in order or not in turns. */
static bool wanted(int degree, int unordered) {
  return test_degree(degree) && !(test_brief() && (degree + unordered) % 2);
}

static void kernels_equal_the_reference(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++)
    for (int unordered = 0; unordered < 2; unordered++) {
      TesContext *ctx = unordered ? open_unordered(devices[d]) : test_device(devices[d]);
      if (!ctx) continue;
      if (!test_has_forests(ctx)) skip();
      for (int dim = 2; dim <= 3; dim++)
        for (int degree = 1; degree <= 8; degree++) {
          if (!wanted(degree, unordered)) continue;
          /* The reference takes seconds for larger matrices; what is a block more or less, the plane tells. */
          const int64_t most = dim == 2 ? 150 : degree < 5 ? 20 : 2;
          const bool turn = (degree + dim + unordered) % 2;
          compare(ctx, dim, degree, turn ? TES_DOUBLE : TES_SINGLE, most);
          if (d && !test_brief()) compare(ctx, dim, degree, turn ? TES_SINGLE : TES_DOUBLE, most);
        }
      tes_context_destroy(&ctx);
    }
}

/* x[n] <- one step from x, or from zero; the text tells the interval. */
static void smooth(TesContext *ctx, int dim, int degree, bool zero_guess, double **x, int64_t *n, char *text,
                   const TesiCounts *counts) {
  Case s = make_case(ctx, dim, degree, TES_DOUBLE, 20);
  TesSmoother *smoother;
  assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .kind = TES_SMOOTHER_CELL_PATCH},
                                     &smoother));
  *n = tes_operator_info(s.op).length;
  TesVector *b = make_vector(ctx, *n, TES_DOUBLE, 5),
            *v = make_vector(ctx, *n, TES_DOUBLE, zero_guess ? 0 : 6);
  const long long before = counts ? counts->allocations : 0;
  assert_ok(ctx, tes_smoother_apply(smoother, b, v, TES_FORWARD, zero_guess));
  if (counts) assert_int_equal(counts->allocations, before);
  *x = test_malloc((size_t)*n * sizeof **x);
  assert_ok(ctx, tes_vector_get(v, *x));
  strcpy(text, tes_smoother_describe(smoother));
  tes_vector_destroy(&b), tes_vector_destroy(&v);
  tes_smoother_destroy(&smoother);
  free_case(&s);
}

/* The polynomial with its interval from the estimate of the largest eigenvalue; nothing is allocated by it. */
static void smoother_is_the_hosts(void **state) {
  (void)state;
  TesContext *host;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 1}, &host, NULL, 0),
                   TES_OK);
  if (!test_has_forests(host)) skip();
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    const TesiCounts *counts = &((TesiKernelState *)tesi_context_device_state(ctx))->counts;
    for (int dim = 2; dim <= 3; dim++) {
      double *expected, *got, largest = 0, error = 0;
      char text[2][160];
      int64_t n, m;
      smooth(host, dim, 2, dim == 2, &expected, &n, text[0], NULL);
      smooth(ctx, dim, 2, dim == 2, &got, &m, text[1], counts);
      assert_int_equal(n, m);
      assert_string_equal(text[0], text[1]);
      for (int64_t i = 0; i < n; i++) {
        largest = test_larger(largest, fabs(expected[i]));
        error = test_larger(error, fabs(got[i] - expected[i]));
      }
      assert_near(error, 0, 1e-9 * largest);
      test_free(expected), test_free(got);
    }
    tes_context_destroy(&ctx);
  }
  tes_context_destroy(&host);
}

/* Every allocation of the set-up fails once, on host and device; programs stay with the context. */
static void allocations_of_the_set_up_fail(void **state) {
  (void)state;
  FailingAllocator a = {0};
  TesContext *ctx = NULL, *forests = test_device("emulator");
  if (!forests) return;
  if (!test_has_forests(forests)) skip();
  tes_context_destroy(&forests);
  const TesContextDesc desc = {
      .device = "emulator", .allocator = {failing_allocate, failing_release, &a}, .log = failing_log};
  assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
  Case s = make_case(ctx, 2, 1, TES_DOUBLE, 20);
  TesiCellPatches *p;
  assert_ok(ctx, tesi_cell_patches_create(s.op, &p)); /* from now on the programs are there */
  tesi_cell_patches_destroy(&p);
  const long live = atomic_load(&a.live);
  long n = 0;
  for (TesStatus status = TES_OUT_OF_MEMORY; status != TES_OK; n++) {
    a.fail_at = atomic_load(&a.count) + n + 1;
    status = tesi_cell_patches_create(s.op, &p);
    a.fail_at = 0;
    assert_true(status == TES_OK || status == TES_OUT_OF_MEMORY);
    assert_true((status == TES_OK) == (p != NULL));
    tesi_cell_patches_destroy(&p);
    tes_context_clear(ctx);
    assert_int_equal(atomic_load(&a.live), live);
  }
  assert_true(n > 20);
  free_case(&s);
  tes_context_destroy(&ctx);
}

/* Where the device is nearly full the patches are refused before any of them is there, with what they need. */
static void full_device_is_told(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  tes_context_destroy(&ctx);
  setenv("TESSERA_EMULATOR_MIB", "1", 1);
  ctx = test_device("emulator");
  unsetenv("TESSERA_EMULATOR_MIB");
  if (!test_has_forests(ctx)) skip();
  Case s = make_case(ctx, 2, 1, TES_DOUBLE, 20);
  const TesiDevice *device = tesi_context_device(ctx);
  TesStatus status = TES_OUT_OF_MEMORY;
  bool told = false;
  for (size_t left = 256; status != TES_OK; left += 256) {
    TesiCellPatches *p;
    void *rest;
    assert_ok(ctx, device->allocate(ctx, device->available(ctx) - left, &rest));
    status = tesi_cell_patches_create(s.op, &p);
    assert_true(status == TES_OK || status == TES_OUT_OF_MEMORY);
    told = told || strstr(tes_context_message(ctx), "cell patches of");
    tesi_cell_patches_destroy(&p);
    device->release(ctx, &rest);
    tes_context_clear(ctx);
    assert_true(left < 1 << 16);
  }
  assert_true(told);
  free_case(&s);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_equal_the_reference), cmocka_unit_test(smoother_is_the_hosts),
      cmocka_unit_test(allocations_of_the_set_up_fail), cmocka_unit_test(full_device_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
