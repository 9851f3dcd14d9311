/* Run: ctest -R t5_surrogate. Patch smoothers for varying coefficients: against their plain versions, and counts of
 * iterations of GMRES with a multigrid cycle.
 * Labels: threads */
#include "failing_allocator.h"
#include "smoother_testing.h"

static TesContext *context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  return ctx;
}

static const Case shapes[] = {
    {.dim = 2, .cells = {4, 3}, .variable = true},
    {.dim = 2,
     .cells = {3, 5},
     .variable = true,
     .graded = true,
     .natural = 0x6,
     .alpha = 1.5,
     .a = 2,
     .c = 3},
    {.dim = 2, .cells = {2, 1}, .variable = true, .natural = 0xb, .c = 1},
    {.dim = 3, .cells = {2, 3, 1}, .variable = true, .natural = 0x30, .alpha = 1},
    {.dim = 3, .cells = {1, 2, 3}, .variable = true, .graded = true, .natural = 0x3, .c = 0.5, .alpha = 2},
};

static void compare_all(TesSmootherDesc desc, int largest_3d) {
  TesContext *ctx = context();
  for (int degree = 1; degree <= 8; degree++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
      Case c = shapes[i];
      c.degree = degree;
      if (degree > 5 - c.dim) c.cells[0] = c.cells[2] = 1, c.cells[1] = 2;
      if (c.dim == 3 && degree > largest_3d) continue;
      compare_with_plain(ctx, &c, TES_DOUBLE, desc, 1e-11);
      compare_with_plain(ctx, &c, TES_SINGLE, desc, 1e-4);
    }
  tes_context_destroy(&ctx);
}

static void nodal_equals_plain_version(void **state) {
  (void)state;
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL}, 3);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL, .omega = 0.7}, 1);
}

static void surrogates_equal_plain_versions(void **state) {
  (void)state;
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_RANK1}, 3);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_SCALED, .omega = 0.8}, 2);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_MEAN}, 2);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_PATCH_ADDITIVE, .local = TES_LOCAL_RANK1, .omega = 0.3},
              2);
}

/* With constant coefficients the surrogate is exact: one step equals that of the separable smoother. */
static void nodal_is_exact_for_constants(void **state) {
  (void)state;
  TesContext *ctx = context();
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    Case c = shapes[i];
    c.degree = 3, c.variable = false, c.a = 2.5;
    Setup exact, nodal;
    setup(&exact, ctx, &c, TES_DOUBLE, (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH});
    setup(&nodal, ctx, &c, TES_DOUBLE,
          (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL});
    double *actual = malloc(sizeof(double) * (size_t)exact.n),
           *expected = malloc(sizeof(double) * (size_t)exact.n);
    sweep_once(&exact, false, TES_FORWARD, false, expected);
    sweep_once(&nodal, false, TES_FORWARD, false, actual);
    assert_equal_vectors(exact.n, actual, expected, 1e-12, &c, "nodal");
    free(actual), free(expected);
    teardown(&exact), teardown(&nodal);
  }
  tes_context_destroy(&ctx);
}

/* Iterations of GMRES, preconditioned by a V-cycle, to 1e-9 for a = 1/(0.05 + 2|x|^2), b = 1. */
static int gmres_iterations(TesContext *ctx, int dim, int degree, int cells, TesSmootherDesc smoother) {
  const Case c = {.dim = dim, .degree = degree, .cells = {cells, cells, cells}, .variable = true};
  Setup s;
  TesMultigrid *mg;
  TesSolver *solver;
  TesVector *b, *x;
  TesSolveResult result;
  setup_operator(&s, ctx, &c, TES_DOUBLE);
  for (int64_t i = 0; i < s.n; i++) s.b[i] = is_unknown(s.space, i);
  assert_int_equal(tes_vector_create(ctx, s.n, TES_DOUBLE, &b), TES_OK);
  assert_int_equal(tes_vector_create(ctx, s.n, TES_DOUBLE, &x), TES_OK);
  assert_int_equal(tes_vector_set(b, s.b), TES_OK);
  const TesMultigridDesc desc = {.diffusion = {.space = s.space, .a = s.op->a_function},
                                 .smoother = smoother};
  if (tes_multigrid_create(ctx, &desc, &mg) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(
      tes_solver_create(
          ctx,
          &(TesSolverDesc){.op = s.op, .multigrid = mg, .method = TES_METHOD_GMRES, .max_iterations = 40},
          &solver),
      TES_OK);
  tes_solver_solve(solver, b, x, &result);
  const int count = result.residuals[result.iterations] <= 1e-9 ? result.iterations : 99;
  tes_solver_destroy(&solver);
  tes_multigrid_destroy(&mg);
  tes_vector_destroy(&b), tes_vector_destroy(&x);
  teardown(&s);
  return count;
}

static void counts_are_those_of_exact_solvers(void **state) {
  (void)state;
  TesContext *ctx = context();
  const TesSmootherDesc nodal = {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL};
  assert_in_range(gmres_iterations(ctx, 2, 2, 16, nodal), 4, 5);
  assert_in_range(gmres_iterations(ctx, 2, 4, 8, nodal), 3, 4);
  assert_in_range(gmres_iterations(ctx, 3, 2, 4, nodal), 4, 5);
  tes_context_destroy(&ctx);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodal_equals_plain_version),
      cmocka_unit_test(surrogates_equal_plain_versions),
      cmocka_unit_test(nodal_is_exact_for_constants),
      cmocka_unit_test(counts_are_those_of_exact_solvers),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
