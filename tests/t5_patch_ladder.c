/* Run: ctest -R t5_patch_ladder. Every variant of the patch kernel that is there to be measured against the plain
 * sweep: on the emulator with the threads in several orders, and on a GPU where there is one. Brief: all, of the
 * degrees named. */
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "kernels/patch_ladder.h"
#include "smoother/smoother.h"

/* Both precisions where the variant has them; TF32 keeps ten bits of a value. */
static void run_case(TesContext *ctx, const BenchLadderVariant *variant, int degree, const int cells[3],
                     double c, TesPrecision precision, TesSweep sweep, bool zero_guess) {
  TesSpace *space = test_box_space(ctx, 3, degree, cells);
  TesOperator *op = test_operator(ctx, space, 1.5, c, precision);
  TesSmoother *smoother;
  if (!bench_ladder_serves(variant, op)) {
    assert_int_equal(bench_ladder_create(ctx, op, variant, &smoother), TES_MISSING);
    assert_null(smoother);
  } else {
    if (bench_ladder_create(ctx, op, variant, &smoother) != TES_OK) fail_msg("%s", tes_context_message(ctx));
    uint64_t seed = 23;
    TesVector *b = test_random_vector(ctx, space, precision, &seed),
              *x = test_random_vector(ctx, space, precision, &seed), *y;
    assert_int_equal(tes_vector_create(ctx, tes_space_length(space), precision, &y), TES_OK);
    assert_int_equal(tes_vector_copy(x, 1, y), TES_OK);
    if (zero_guess) assert_int_equal(tes_vector_fill(x, NAN), TES_OK);
    if (tes_smoother_apply(smoother, b, x, sweep, zero_guess) != TES_OK)
      fail_msg("%s", tes_context_message(ctx));
    assert_int_equal(tesi_smoother_apply_ref(smoother, b, y, sweep, zero_guess), TES_OK);
    const double tolerance = !variant->exact ? 2e-2 : precision == TES_DOUBLE ? 1e-11 : 1e-4;
    test_compare(x, y, tolerance, variant->name, degree);
    tes_vector_destroy(&b);
    tes_vector_destroy(&x);
    tes_vector_destroy(&y);
    tes_smoother_destroy(&smoother);
  }
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void all_variants(const char *device, int most) {
  static const int sizes[][3] = {{4, 3, 5}, {5, 4, 2}, {3, 2, 3}, {11, 2, 3}};
  TesContext *ctx = test_device(device);
  for (const BenchLadderVariant *v = bench_ladder_variants; ctx && v->name; v++)
    for (int degree = 1; degree <= most; degree++)
      if (test_degree(degree)) {
        const int *cells = sizes[degree == 1 ? 3 : degree > 3 ? 2 : degree % 3];
        const int number = (int)(v - bench_ladder_variants) + degree;
        tesi_fiber_order((TesiOrder)(number % 3), (uint64_t)number);
        const TesPrecision p = v->precision < 0 ? (TesPrecision)(number % 2) : (TesPrecision)v->precision;
        run_case(ctx, v, degree, cells, number % 2 ? 0 : 20, p, number % 4 < 2 ? TES_FORWARD : TES_BACKWARD,
                 number % 5 == 0);
      }
  tes_context_destroy(&ctx);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void variants_equal_the_plain_sweep(void **state) {
  (void)state;
  all_variants("emulator", 5);
  all_variants("cuda", 8);
}

static void highest_degree_is_right(void **state) {
  (void)state;
  static const char *const names[] = {"conflict_free", "even_odd_boundary", "tensor", "tf32_split"};
  TesContext *ctx = test_device("emulator");
  for (size_t i = 0; ctx && i < sizeof names / sizeof *names; i++)
    run_case(ctx, bench_ladder_find(names[i]), 8, (const int[]){2, 3, 2}, 3,
             names[i][1] == 'f' ? TES_SINGLE : TES_DOUBLE, TES_FORWARD, false);
  tes_context_destroy(&ctx);
}

static void variants_that_do_not_fit_are_refused(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  const int cells[] = {2, 2, 2};
  if (ctx) run_case(ctx, bench_ladder_find("dense"), 4, cells, 0, TES_DOUBLE, TES_FORWARD, false);
  if (ctx) run_case(ctx, bench_ladder_find("tensor"), 2, cells, 0, TES_SINGLE, TES_FORWARD, false);
  tes_context_destroy(&ctx);
  assert_null(bench_ladder_find("fastest"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(variants_equal_the_plain_sweep),
                                     cmocka_unit_test(highest_degree_is_right),
                                     cmocka_unit_test(variants_that_do_not_fit_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
