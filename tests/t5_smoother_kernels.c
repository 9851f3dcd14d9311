/* Run: ctest -R t5_smoother_kernels. The patch smoother's kernels against the plain sweep, patch by patch: on the
 * emulator with the threads in several orders, and on a GPU where there is one. Brief: all, of the degrees named.
 * Quick: 1-3
 * Labels: heavy */
#include <stdlib.h>
#include <string.h>
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "smoother/smoother.h"

typedef struct Case {
  int dim, degree, cells[3];
  double c;
} Case;

static const char *const devices[] = {"emulator", "cuda"};

static void run_case(TesContext *ctx, const Case *c, TesPrecision precision, TesSweep sweep, bool zero_guess) {
  TesSpace *space = test_box_space(ctx, c->dim, c->degree, c->cells);
  TesOperator *op = test_operator(ctx, space, 1.5, c->c, precision);
  TesSmoother *smoother;
  const TesSmootherDesc desc = {.op = op, .kind = TES_SMOOTHER_PATCH};
  if (tes_smoother_create(ctx, &desc, &smoother) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  uint64_t seed = 17;
  TesVector *b = test_random_vector(ctx, space, precision, &seed),
            *x = test_random_vector(ctx, space, precision, &seed), *y;
  assert_int_equal(tes_vector_create(ctx, tes_space_length(space), precision, &y), TES_OK);
  assert_int_equal(tes_vector_copy(x, 1, y), TES_OK);
  if (zero_guess) assert_int_equal(tes_vector_fill(x, NAN), TES_OK);
  if (tes_smoother_apply(smoother, b, x, sweep, zero_guess) != TES_OK)
    fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(tesi_smoother_apply_ref(smoother, b, y, sweep, zero_guess), TES_OK);
  test_compare(x, y, precision == TES_DOUBLE ? 1e-12 : 2e-5, "smoother", c->degree);
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void rows_equal_the_plain_sweep(void **state) {
  (void)state;
  static const int sizes[][3] = {{4, 3, 5}, {5, 4, 2}, {3, 2, 3}, {1, 5, 4}};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int dim = 2; ctx && dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 3 ? 8 : 10); degree++)
        if (test_degree(degree)) {
          const int *cells = sizes[degree > 4 && dim == 3 ? 2 : degree % 3];
          const Case c = {dim, degree, {cells[0], cells[1], cells[2]}, degree % 2 ? 0 : 30};
          tesi_fiber_order((TesiOrder)(degree % 3), (uint64_t)degree);
          run_case(ctx, &c, TES_DOUBLE, degree % 2 ? TES_FORWARD : TES_BACKWARD, degree % 4 == 3);
          run_case(ctx, &c, TES_SINGLE, degree % 2 ? TES_BACKWARD : TES_FORWARD, false);
        }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void thin_boxes_are_right(void **state) {
  (void)state;
  static const Case cases[] = {{3, 1, {7, 5, 40}, 0}, {3, 1, {2, 38, 4}, 3}, {2, 1, {70, 5, 1}, 3},
                               {3, 3, {1, 2, 2}, 0},  {3, 2, {2, 2, 2}, 5},  {3, 4, {6, 3, 2}, 0},
                               {2, 3, {1, 3, 1}, 0},  {2, 5, {9, 6, 1}, 1}};
  TesContext *ctx = test_device("emulator");
  for (size_t i = 0; ctx && i < sizeof cases / sizeof *cases; i++)
    for (int sweep = 0; sweep < 2; sweep++) {
      tesi_fiber_order(sweep ? TESI_ORDER_REVERSE : TESI_ORDER_SHUFFLED, i);
      run_case(ctx, &cases[i], TES_DOUBLE, (TesSweep)sweep, false);
    }
  tes_context_destroy(&ctx);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* Degree 1 by planes, which small boxes do not take of themselves. */
static void run_planes(TesContext *ctx, int turn) {
  static const Case planes[] = {{3, 1, {7, 5, 40}, 0}, {3, 1, {66, 4, 4}, 3}, {3, 1, {2, 9, 3}, 3}};
  static const char *const kinds[] = {"2,0,264", "3,1,264", "2,0,3"}; /* the last leaves planes to rows */
  for (size_t i = 0; i < 3 * sizeof planes / sizeof *planes; i++) {
    setenv("TESSERA_Q1_PLANES", kinds[(i + i / 3) % 3], 1);
    tesi_fiber_order((TesiOrder)(i % 3), i);
    run_case(ctx, &planes[i % 3], i % 2 ? TES_DOUBLE : TES_SINGLE, (TesSweep)(i / turn % 2), i == 3);
  }
  unsetenv("TESSERA_Q1_PLANES");
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* Chunks and rows that timing chooses from. */
static void run_cuts(TesContext *ctx) {
  static const char *const cuts[] = {"16,1,1,0", "16,2,2,0", "4,1,1,1", "8,2,3,0"};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    const Case c = {3, 2 + (int)(i % 3), {5, 4, 3}, i % 2 ? 7 : 0};
    if (!test_degree(c.degree)) continue;
    tesi_fiber_order((TesiOrder)(i % 3), i);
    setenv("TESSERA_PATCH_CUT", cuts[i], 1);
    run_case(ctx, &c, TES_DOUBLE, (TesSweep)(i % 2), false);
  }
  unsetenv("TESSERA_PATCH_CUT");
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* Rows of planes cut into segments, and degree 1 by colours of vertices, as large boxes do it. */
static void run_segments(TesContext *ctx) {
  static const Case cases[] = {{2, 1, {41, 6}, 3}, {2, 1, {2, 39}, 0},  {2, 2, {29, 7}, 0},
                               {2, 3, {40, 5}, 5}, {2, 4, {17, 4}, 0},  {2, 5, {25, 5}, 1},
                               {2, 8, {24, 2}, 0}, {2, 10, {13, 3}, 2}, {2, 6, {33, 4}, 0},
                               {2, 7, {14, 3}, 4}, {2, 9, {16, 5}, 0},  {2, 2, {64, 40}, 3}};
  setenv("TESSERA_PATCH_MANY", "1", 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (!test_degree(cases[i].degree)) continue;
    tesi_fiber_order((TesiOrder)(i % 3), i);
    if (i == 2 || i == 9) setenv("TESSERA_PATCH_CUT", "4,2,2,0", 1);
    for (int sweep = 0; sweep < 2; sweep++)
      run_case(ctx, &cases[i], (i + (size_t)sweep) % 3 ? TES_DOUBLE : TES_SINGLE, (TesSweep)sweep, i % 4 == 3);
    unsetenv("TESSERA_PATCH_CUT");
  }
  unsetenv("TESSERA_PATCH_MANY");
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void all_cuts_equal_the_plain_sweep(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (ctx && test_degree(1)) run_planes(ctx, 2 - d);
    if (ctx) run_cuts(ctx);
    if (ctx) run_segments(ctx);
    tes_context_destroy(&ctx);
  }
}

/* With choices by timing, twice: what is timed and what is remembered give the same sweep. */
static void timed_choices_equal_the_plain_sweep(void **state) {
  (void)state;
  const Case c = {3, 2, {5, 4, 3}, 0};
  setenv("TESSERA_TUNE", "on", 1);
  for (int i = 0; i < 2; i++) {
    TesContext *ctx = test_device("emulator");
    if (ctx) run_case(ctx, &c, TES_DOUBLE, TES_FORWARD, false);
    tes_context_destroy(&ctx);
  }
  unsetenv("TESSERA_TUNE");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_equal_the_plain_sweep),
                                     cmocka_unit_test(thin_boxes_are_right),
                                     cmocka_unit_test(all_cuts_equal_the_plain_sweep),
                                     cmocka_unit_test(timed_choices_equal_the_plain_sweep)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
