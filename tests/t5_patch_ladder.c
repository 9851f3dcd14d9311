/* Run: ctest -R t5_patch_ladder. Every variant of the patch kernel that is there to be measured against the plain
 * sweep, in 2D and 3D: on the emulator with the threads in several orders, and on a GPU where there is one; what moves
 * data alone against its own sums; conflicts of banks against counts by hand. Brief: all, of the degrees named, or a
 * degree of each where none is.
 * Quick: 2-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "kernels/patch_ladder.h"
#include "smoother/smoother.h"

typedef struct Case {
  int dim, degree, cells[3];
  double c;
  TesPrecision precision;
  TesSweep sweep;
  bool zero_guess;
} Case;

/* y <- y + scale b times the patches that a node is inside of: what a kernel does that moves data alone. Along a
 * direction a vertex has one patch, a node within a cell one for each inner vertex of the cell. */
static void move_by_hand(const TesSpace *space, double scale, const double *b, bool zero_guess, double *y) {
  const int64_t nx = space->axis[0].nodes, ny = space->axis[1].nodes;
  for (int64_t i = 0; i < tes_space_length(space); i++) {
    const int64_t at[3] = {i % nx, i / nx % ny, i / nx / ny};
    int patches = 1;
    for (int d = 0; d < space->dim; d++) {
      const int64_t k = space->degree, last = space->axis[d].nodes - 1;
      patches *= at[d] == 0 || at[d] == last ? 0 : at[d] % k == 0 ? 1 : (at[d] > k) + (at[d] < last - k);
    }
    y[i] = (zero_guess ? 0 : y[i]) + patches * scale * b[i];
  }
}

static void plain_result(const TesSmoother *smoother, const BenchLadderVariant *variant, const Case *c,
                         const TesVector *b, TesVector *y) {
  if (!variant->data) {
    assert_int_equal(tesi_smoother_apply_ref(smoother, b, y, c->sweep, c->zero_guess), TES_OK);
    return;
  }
  const TesSpace *space = smoother->op->space;
  const int64_t length = tes_space_length(space);
  double *values = calloc((size_t)(2 * length), sizeof *values), scale = space->axis[0].h[0] / 1.5;
  assert_non_null(values);
  for (int d = 1; d < space->dim; d++) scale /= space->axis[d].h[0];
  assert_int_equal(tes_vector_get(b, values), TES_OK);
  assert_int_equal(tes_vector_get(y, values + length), TES_OK);
  move_by_hand(space, scale, values, c->zero_guess, values + length);
  assert_int_equal(tes_vector_set(y, values + length), TES_OK);
  free(values);
}

/* TF32 keeps ten bits of a value. */
static void run_case(TesContext *ctx, const BenchLadderVariant *variant, const Case *c) {
  TesSpace *space = test_box_space(ctx, c->dim, c->degree, c->cells);
  TesOperator *op = test_operator(ctx, space, 1.5, c->c, c->precision);
  TesSmoother *smoother;
  if (!bench_ladder_serves(variant, op)) {
    assert_int_equal(bench_ladder_create(ctx, op, variant, &smoother), TES_MISSING);
    assert_null(smoother);
  } else {
    if (bench_ladder_create(ctx, op, variant, &smoother) != TES_OK) fail_msg("%s", tes_context_message(ctx));
    uint64_t seed = 23;
    TesVector *b = test_random_vector(ctx, space, c->precision, &seed),
              *x = test_random_vector(ctx, space, c->precision, &seed), *y;
    assert_int_equal(tes_vector_create(ctx, tes_space_length(space), c->precision, &y), TES_OK);
    assert_int_equal(tes_vector_copy(x, 1, y), TES_OK);
    if (c->zero_guess) assert_int_equal(tes_vector_fill(x, NAN), TES_OK);
    if (tes_smoother_apply(smoother, b, x, c->sweep, c->zero_guess) != TES_OK)
      fail_msg("%s", tes_context_message(ctx));
    plain_result(smoother, variant, c, b, y);
    const double tolerance = variant->rounded ? 2e-2 : c->precision == TES_DOUBLE ? 1e-11 : 1e-4;
    test_compare(x, y, tolerance, variant->name, c->degree);
    tes_vector_destroy(&b);
    tes_vector_destroy(&x);
    tes_vector_destroy(&y);
    tes_smoother_destroy(&smoother);
  }
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

/* Both precisions where the variant has them, in turn. */
static void all_variants(const char *device, int dim, int most) {
  static const int sizes[][3] = {{4, 3, 5}, {5, 4, 2}, {3, 2, 3}, {11, 2, 3}},
                   flat[][3] = {{6, 7, 0}, {7, 4, 0}, {5, 2, 0}, {150, 3, 0}};
  TesContext *ctx = test_device(device);
  const bool each_once = test_brief() && !getenv("TESSERA_TEST_DEGREES");
  for (const BenchLadderVariant *v = bench_ladder_variants; ctx && v->name; v++)
    for (int degree = 1; degree <= most; degree++)
      if (test_degree(degree) && (!each_once || degree == 1 + (v - bench_ladder_variants + dim) % most)) {
        const int *cells = (dim == 2 ? flat : sizes)[degree == 1 ? 3 : degree > 3 ? 2 : degree % 3];
        const int number = (int)(v - bench_ladder_variants) + degree + dim;
        tesi_fiber_order((TesiOrder)(number % 3), (uint64_t)number);
        const Case c = {.dim = dim,
                        .degree = degree,
                        .cells = {cells[0], cells[1], cells[2]},
                        .c = number % 2 ? 0 : 20,
                        .precision = (TesPrecision)(v->precision < 0 ? number % 2 : v->precision),
                        .sweep = number % 4 < 2 ? TES_FORWARD : TES_BACKWARD,
                        .zero_guess = number % 5 == 0};
        run_case(ctx, v, &c);
      }
  tes_context_destroy(&ctx);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void variants_equal_the_plain_sweep(void **state) {
  (void)state;
  all_variants("emulator", 3, 4);
  all_variants("cuda", 3, 8);
}

static void variants_in_2d_equal_the_plain_sweep(void **state) {
  (void)state;
  all_variants("emulator", 2, 3);
  all_variants("cuda", 2, 8);
}

static void highest_degree_is_right(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int dim, degree;
    TesPrecision precision;
  } highest[] = {{"conflict_free", 3, 8, TES_DOUBLE},
                 {"even_odd_boundary", 3, 8, TES_DOUBLE},
                 {"tensor", 3, 8, TES_DOUBLE},
                 {"tf32_split", 3, 8, TES_SINGLE},
                 {"blocks_3d", 3, 8, TES_SINGLE},
                 {"conflict_free", 2, 8, TES_SINGLE},
                 {"even_odd_boundary", 2, 8, TES_DOUBLE},
                 {"tensor", 2, 8, TES_DOUBLE},
                 {"dense", 2, 7, TES_DOUBLE},
                 {"separate_boundary", 2, 8, TES_DOUBLE}};
  TesContext *ctx = test_device("emulator");
  for (size_t i = 0; ctx && i < sizeof highest / sizeof *highest; i += test_brief() ? 3 : 1)
    run_case(ctx, bench_ladder_find(highest[i].name),
             &(Case){.dim = highest[i].dim,
                     .degree = highest[i].degree,
                     .cells = {2, 3, 2},
                     .c = 3,
                     .precision = highest[i].precision});
  tes_context_destroy(&ctx);
}

static void variants_that_do_not_fit_are_refused(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  static const struct {
    const char *name;
    int dim, degree;
    TesPrecision precision;
  } none[] = {{"dense", 3, 8, TES_DOUBLE}, {"tensor", 3, 2, TES_SINGLE}, {"blocks_3d", 2, 2, TES_DOUBLE}};
  for (size_t i = 0; ctx && i < sizeof none / sizeof *none; i++)
    run_case(
        ctx, bench_ladder_find(none[i].name),
        &(Case){
            .dim = none[i].dim, .degree = none[i].degree, .cells = {2, 2, 2}, .precision = none[i].precision});
  tes_context_destroy(&ctx);
  assert_null(bench_ladder_find("fastest"));
}

/* ---- conflicts of banks -------------------------------------------------------------------------------- */
static BenchConflicts strided(int lanes, int stride, size_t size) {
  long long places[32];
  for (int i = 0; i < 32; i++) places[i] = (long long)i * stride;
  return bench_wavefronts(lanes, places, size);
}

static void wavefronts_are_counted(void **state) {
  (void)state;
  assert_int_equal(strided(32, 0, 4).wavefronts, 1); /* one value for all */
  assert_int_equal(strided(32, 1, 4).wavefronts, 1);
  assert_int_equal(strided(32, 7, 4).wavefronts, 1); /* odd */
  assert_int_equal(strided(32, 2, 4).wavefronts, 2);
  assert_int_equal(strided(32, 6, 4).excess, 1);
  assert_int_equal(strided(32, 32, 4).excess, 31);
  assert_int_equal(strided(7, 32, 4).wavefronts, 7);
  assert_int_equal(strided(32, 1, 8).wavefronts, 2); /* in two halves */
  assert_int_equal(strided(32, 1, 8).excess, 0);
  assert_int_equal(strided(32, 16, 8).excess, 30);
  assert_int_equal(strided(10, 2, 8).excess, 1); /* places 0 and 16 meet */
  assert_int_equal(strided(20, 3, 8).accesses, 20);
  assert_int_equal(bench_wavefronts(4, (const long long[]){0, -1, 32, 32}, 4).wavefronts, 2);
}

/* Each multiply-add reads a value and an entry of a matrix; each result is written, and read before where it is added
 * to. Degree 2, so M = 3, N = 5; 200 / 25 patches. */
static void all_accesses_are_noted(void **state) {
  (void)state;
  enum { M = 3, N = 5, PATCHES = 8 };
  TesContext *ctx = test_device("emulator");
  BenchConflicts linear, fused, lines;
  if (!ctx) return;
  tes_context_destroy(&ctx);
  assert_int_equal(
      bench_ladder_conflicts(bench_ladder_find("linear"), 2, 2, TES_DOUBLE, BENCH_LADDER_SOLVE, &linear),
      TES_OK);
  assert_int_equal(
      bench_ladder_conflicts(bench_ladder_find("fused"), 2, 2, TES_DOUBLE, BENCH_LADDER_SOLVE, &fused),
      TES_OK);
  assert_int_equal(
      bench_ladder_conflicts(bench_ladder_find("lines"), 3, 2, TES_SINGLE, BENCH_LADDER_SOLVE, &lines),
      TES_OK);
  const int products = 2 * N * M * N + 2 * N * M * M + 4 * M * M * M,
            results = 2 * M * N + 2 * M * M + 4 * M * M + M * M /* added to */;
  assert_int_equal(linear.accesses, PATCHES * (2 * products + results));
  assert_int_equal(fused.accesses, linear.accesses);
  assert_true(fused.wavefronts >= linear.wavefronts && linear.wavefronts > linear.accesses / 32);
  const int read = 2 * N * N * N + 3 * M * N * N + 2 * M * M * N + 6 * M * M * M,
            written = 2 * M * N * N + 3 * M * M * N + 2 * M * M * M + 6 * M * M * M + M * M * N + M * M * M;
  assert_int_equal(lines.accesses, PATCHES * (read + written));
  assert_near(bench_ladder_accesses(bench_ladder_find("linear"), 2, 2) * PATCHES, linear.accesses, 0);
  assert_near(bench_ladder_accesses(bench_ladder_find("even_odd"), 3, 2) * PATCHES, lines.accesses, 0);
  assert_int_equal(bench_ladder_conflicts(bench_ladder_find("conflict_free"), 3, 3, TES_DOUBLE,
                                          BENCH_LADDER_SOLVE, &fused),
                   TES_OK);
  assert_near(bench_ladder_accesses(bench_ladder_find("conflict_free"), 3, 3) * (200 / 49), fused.accesses, 0);
  /* by layers nothing meets, and the linear indices of arrays with gaps do: Table 5 of the paper */
  assert_int_equal(
      bench_ladder_conflicts(bench_ladder_find("layers"), 3, 3, TES_DOUBLE, BENCH_LADDER_SOLVE, &linear),
      TES_OK);
  assert_int_equal(linear.accesses, fused.accesses);
  assert_int_equal(linear.excess, 0);
  assert_int_equal(bench_ladder_conflicts(bench_ladder_find("linear_layers"), 3, 3, TES_DOUBLE,
                                          BENCH_LADDER_SOLVE, &linear),
                   TES_OK);
  assert_true(linear.excess > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(variants_equal_the_plain_sweep),
                                     cmocka_unit_test(variants_in_2d_equal_the_plain_sweep),
                                     cmocka_unit_test(highest_degree_is_right),
                                     cmocka_unit_test(variants_that_do_not_fit_are_refused),
                                     cmocka_unit_test(wavefronts_are_counted),
                                     cmocka_unit_test(all_accesses_are_noted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
