/* Run: ctest -R t5_stokes_ladder. The variants of figures 8 to 10 of stokes-multigrid-cui-2025 that are there to be
 * measured: operators against the plain one, local solvers against pseudo-inverses, on the emulator with the threads in
 * several orders, and on a GPU where there is one; outputs are poisoned. Conflicts of banks: none where it is said.
 * Brief: one precision a case, in turns.
 * Quick: 1-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "device_testing.h"
#include "kernels/stokes_operators.h"
#include "operator/stokes/stokes_operator.h"
#include "stokes_testing.h"

static const char *const devices[] = {"emulator", "cuda"};
static const Flow flows[] = {
    {.dim = 3, .degree = 1, .cells = {3, 2, 4}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {18, 2, 3}, .given = "vosvvv", .nu = 2, .alpha = 3},
    {.dim = 3, .degree = 2, .cells = {3, 4, 2}, .given = "vvvvvv", .nu = 0.5, .alpha = 20},
    {.dim = 3, .degree = 2, .cells = {2, 3, 3}, .given = "vvssvo", .nu = 1, .penalty = TES_PENALTY_STANDARD},
    {.dim = 3, .degree = 3, .cells = {3, 2, 2}, .given = "vvvvvv", .nu = 3, .penalty = TES_PENALTY_PAPER},
    {.dim = 3, .degree = 4, .cells = {2, 3, 2}, .given = "ovvvsv", .nu = 1, .alpha = 1},
    {.dim = 3, .degree = 4, .cells = {2, 2, 2}, .given = "vvvvvv", .nu = 1}};
enum { FLOWS = sizeof flows / sizeof *flows };

static void compare_operators(TesContext *ctx, const Flow *f, int form, TesPrecision precision) {
  TesSpace *space = flow_space(ctx, f);
  TesOperator *op = flow_operator(ctx, f, space, precision);
  const int64_t length = tes_space_length(space);
  double *values = flow_random(space, 7 + (uint64_t)f->degree),
         *result = calloc((size_t)length, sizeof *result);
  for (int64_t i = 0; i < length; i++) values[i] = (double)(float)values[i];
  TesVector *x = flow_vector(ctx, space, precision, values), *y = flow_vector(ctx, space, precision, NULL),
            *expected = flow_vector(ctx, space, precision, NULL);
  BenchStokesOperator *variant;
  assert_ok(ctx, bench_stokes_operator_create(ctx, op, (BenchStokesForm)form, &variant));
  assert_ok(ctx, bench_stokes_operator_apply(variant, tes_vector_data(x), tes_vector_data(y)));
  assert_ok(ctx, tesi_stokes_apply_ref(op, values, result));
  assert_ok(ctx, tes_vector_set(expected, result));
  const double tolerance = precision == TES_DOUBLE ? 1e-12 : 1e-5;
  assert_near(flow_difference(ctx, y, expected), 0, tolerance * f->degree);
  bench_stokes_operator_destroy(&variant);
  TesVector *vectors[] = {x, y, expected};
  for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
  free(values);
  free(result);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void operators_equal_the_plain_one(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int f = 0; f < FLOWS && ctx; f++)
      for (int form = 0; form < BENCH_STOKES_FORMS; form++)
        for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
          if (!test_degree(flows[f].degree) || (test_brief() && (f + form) % 2 != (int)precision)) continue;
          tesi_fiber_order((TesiOrder)((f + form) % 3), (uint64_t)(f + form));
          compare_operators(ctx, &flows[f], form, precision);
        }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* Gradients are followed to round-off: what is left is that of S, whose condition is below 100. */
static void compare_solvers(TesContext *ctx, const Flow *f, int local, TesPrecision precision) {
  TesSpace *space = flow_space(ctx, f);
  TesOperator *op = flow_operator(ctx, f, space, precision);
  TesSmoother *smoother;
  double *values = flow_random(space, 5), *start = flow_random(space, 50);
  TesVector *b = flow_vector(ctx, space, precision, values), *x = flow_vector(ctx, space, precision, start),
            *expected = flow_vector(ctx, space, precision, start);
  const bool single = precision == TES_SINGLE;
  assert_ok(ctx, bench_stokes_local_create(ctx, op, (BenchStokesLocal)local, single ? 1e-7 : 1e-14, 200,
                                           &smoother));
  for (int zero = 0; zero < 2; zero++) {
    const TesSweep sweep = zero ? TES_BACKWARD : TES_FORWARD;
    if (zero) assert_ok(ctx, tes_vector_fill(x, NAN));
    assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, zero));
    assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, zero));
    assert_near(flow_difference(ctx, x, expected), 0, f->degree * (single ? 1e-4 : 1e-11));
  }
  TesVector *vectors[] = {b, x, expected};
  for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
  free(values);
  free(start);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

/* The oracle takes pseudo-inverses of assembled patches, for small ones: others are compared with the processor's
 * sweep, which is. */
static void compare_with_processor(TesContext *ctx, TesContext *host, const Flow *f, int local,
                                   TesPrecision precision) {
  TesSpace *space = flow_space(ctx, f), *plain = flow_space(host, f);
  TesOperator *op = flow_operator(ctx, f, space, precision),
              *plain_op = flow_operator(host, f, plain, precision);
  TesSmoother *smoother, *exact;
  double *values = flow_random(space, 5), *result = calloc((size_t)tes_space_length(space), sizeof *result);
  TesVector *b = flow_vector(ctx, space, precision, values), *x = flow_vector(ctx, space, precision, NULL),
            *expected = flow_vector(ctx, space, precision, NULL),
            *plain_b = flow_vector(host, plain, precision, values),
            *plain_x = flow_vector(host, plain, precision, NULL);
  const bool single = precision == TES_SINGLE;
  assert_ok(ctx, bench_stokes_local_create(ctx, op, (BenchStokesLocal)local, single ? 1e-7 : 1e-14, 200,
                                           &smoother));
  assert_ok(host,
            tes_smoother_create(host, &(TesSmootherDesc){.op = plain_op, .kind = TES_SMOOTHER_PATCH}, &exact));
  assert_ok(host, tes_smoother_apply(exact, plain_b, plain_x, TES_FORWARD, true));
  assert_ok(host, tes_vector_get(plain_x, result));
  assert_ok(ctx, tes_vector_set(expected, result));
  assert_ok(ctx, tes_smoother_apply(smoother, b, x, TES_FORWARD, true));
  assert_near(flow_difference(ctx, x, expected), 0, f->degree * (single ? 1e-4 : 1e-11));
  TesVector *vectors[] = {b, x, expected, plain_b, plain_x};
  for (int v = 0; v < 5; v++) tes_vector_destroy(&vectors[v]);
  free(values);
  free(result);
  tes_smoother_destroy(&smoother);
  tes_smoother_destroy(&exact);
  tes_operator_destroy(&op);
  tes_operator_destroy(&plain_op);
  tes_space_destroy(&space);
  tes_space_destroy(&plain);
}

static void local_solvers_are_pseudo_inverses(void **state) {
  (void)state;
  TesContext *host;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int f = 0; f < FLOWS && ctx; f++)
      for (int local = 0; local < BENCH_STOKES_LOCALS; local++)
        for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
          const bool dense = local == BENCH_STOKES_DIRECT;
          if (strcmp(flows[f].given, "vvvvvv") != 0 || !test_degree(flows[f].degree)) continue;
          if (test_brief() && (f + local) % 2 != (int)precision) continue;
          if (dense && flows[f].degree > 2) continue;
          tesi_fiber_order((TesiOrder)((f + local) % 3), (uint64_t)(f + local));
          if (flows[f].degree == 1)
            compare_solvers(ctx, &flows[f], local, precision);
          else
            compare_with_processor(ctx, host, &flows[f], local, precision);
        }
    tes_context_destroy(&ctx);
  }
  tes_context_destroy(&host);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void what_does_not_serve_is_told(void **state) {
  (void)state;
  static const Flow others[] = {{.dim = 2, .degree = 1, .cells = {3, 2}, .given = "vvvvvv", .nu = 1},
                                {.dim = 3, .degree = 1, .cells = {3, 2, 2}, .given = "ppvvvv", .nu = 1},
                                {.dim = 3, .degree = 1, .cells = {3, 2, 2}, .graded = true, .nu = 1},
                                {.dim = 3, .degree = 5, .cells = {2, 2, 2}, .nu = 1}};
  TesContext *ctx = test_device("emulator");
  for (int i = 0; i < 4 && ctx; i++) {
    TesSpace *space = flow_space(ctx, &others[i]);
    TesOperator *op = flow_operator(ctx, &others[i], space, TES_DOUBLE);
    BenchStokesOperator *variant;
    TesSmoother *smoother;
    assert_int_equal(bench_stokes_operator_create(ctx, op, BENCH_STOKES_BASIC, &variant), TES_MISSING);
    assert_null(variant);
    assert_int_equal(bench_stokes_local_create(ctx, op, BENCH_STOKES_SCHUR, 0, 0, &smoother), TES_MISSING);
    assert_null(smoother);
    tes_operator_destroy(&op);
    tes_space_destroy(&space);
  }
  tes_context_destroy(&ctx);
}

/* Accesses of a block whose cells have all neighbours, by the formula of the contractions. */
static double accesses_by_formula(int degree, int form, TesPrecision precision) {
  TesContext *ctx;
  TesOperator *op;
  BenchStokesOperator *variant;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "emulator"}, &ctx, NULL, 0), TES_OK);
  assert_ok(ctx, bench_stokes_box_operator(ctx, degree, precision, (const int[]){2, 2, 2}, &op));
  assert_ok(ctx, bench_stokes_operator_create(ctx, op, (BenchStokesForm)form, &variant));
  const BenchStokesWork work = bench_stokes_operator_work(variant);
  bench_stokes_operator_destroy(&variant);
  tes_operator_destroy(&op);
  tes_context_destroy(&ctx);
  return work.shared_bytes / 8 / (precision == TES_DOUBLE ? 8 : 4) * work.cells;
}

/* The variants that are free of conflicts have none at all. Where matrices stand in shared memory they are read by
 * rows, 16 banks of float64 apart or not; gradients meet no conflicts with 4 and 6 modes, but with 8, whose rows are
 * half as long as there are banks (figure 11 of the paper). */
static void conflicts_are_counted(void **state) {
  (void)state;
  for (int degree = 1; degree <= 4; degree++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      BenchConflicts c[BENCH_STOKES_FORMS], schur, schur_free;
      if (!test_degree(degree) || (test_brief() && degree % 2 != (int)precision)) continue;
      for (int form = 0; form < BENCH_STOKES_FORMS; form++) {
        assert_int_equal(bench_stokes_operator_conflicts(degree, (BenchStokesForm)form, precision, &c[form]),
                         TES_OK);
        assert_near((double)c[form].accesses, accesses_by_formula(degree, form, precision), 0);
      }
      assert_true(c[BENCH_STOKES_SHARED].excess > 0);
      assert_int_equal(c[BENCH_STOKES_CONFLICT_FREE].excess, 0);
      assert_int_equal(bench_stokes_local_conflicts(degree, BENCH_STOKES_SCHUR, precision, &schur), TES_OK);
      assert_int_equal(bench_stokes_local_conflicts(degree, BENCH_STOKES_SCHUR_FREE, precision, &schur_free),
                       TES_OK);
      assert_int_equal(schur_free.excess, 0);
      assert_int_equal(schur.excess > 0, degree == 3 || (degree == 4 && precision == TES_DOUBLE));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_equal_the_plain_one), cmocka_unit_test(local_solvers_are_pseudo_inverses),
      cmocka_unit_test(what_does_not_serve_is_told), cmocka_unit_test(conflicts_are_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
