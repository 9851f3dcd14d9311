/* Run: ctest -R t5_surrogate. Patch smoothers for varying coefficients: against their plain versions, and counts of
 * iterations of GMRES with a multigrid cycle.
 * Labels: threads simd */
#include "operator_testing.h"
#include "failing_allocator.h"
#include "smoother_testing.h"

static TesContext *context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  return ctx;
}

static const Case shapes[] = {
    {.dim = 2, .cells = {4, 3}, .variable = true},
    {.dim = 2, .cells = {3, 5}, .variable = true, .graded = true, .natural = 0x6, .alpha = 1.5, .a = 2, .c = 3},
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
/* The separable form: all patches at once, exact local solves. */
static void additive_equals_plain_version(void **state) {
  (void)state;
  const TesSmootherDesc desc = {.kind = TES_SMOOTHER_PATCH_ADDITIVE};
  TesContext *ctx = context();
  for (int degree = 1; degree <= 8; degree++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
      Case c = shapes[i];
      c.degree = degree, c.variable = false;
      if (degree > 5 - c.dim) c.cells[0] = c.cells[2] = 1, c.cells[1] = 2;
      if (c.dim == 3 && degree > 3) continue;
      compare_with_plain(ctx, &c, TES_DOUBLE, desc, 1e-11);
      compare_with_plain(ctx, &c, TES_SINGLE, desc, 1e-4);
    }
  tes_context_destroy(&ctx);
}

static void threads_give_the_same_bits(void **state) {
  (void)state;
  const Case c = {.dim = 3, .degree = 3, .cells = {3, 4, 5}, .natural = 0x8, .variable = true, .c = 1};
  for (TesLocalSolver local = TES_LOCAL_MEAN; local <= TES_LOCAL_NODAL; local++)
    for (TesSmootherKind kind = TES_SMOOTHER_PATCH; kind <= TES_SMOOTHER_PATCH_ADDITIVE; kind++) {
      compare_threads(&c, TES_DOUBLE, (TesSmootherDesc){.kind = kind, .local = local});
      compare_threads(&c, TES_SINGLE, (TesSmootherDesc){.kind = kind, .local = local});
    }
}

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
  const TesMultigridDesc desc = {.op = s.op, .smoother = smoother};
  if (tes_multigrid_create(ctx, &desc, &mg) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(
      tes_solver_create(
          ctx, &(TesSolverDesc){.op = s.op, .multigrid = mg, .method = TES_METHOD_GMRES, .max_iterations = 40},
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

/* 1, but 1000 in every other quadrant. */
static void jumping(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                    double *out) {
  (void)user, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = (x[i] > 0.5) != (y[i] > 0.5) ? 1000 : 1;
}

/* Creates a smoother of the given kind for a coefficient that jumps, or 1/(0.05 + 2|x|^2). */
static void choose(TesContext *ctx, bool jump, TesSmootherKind kind, TesSmootherKind *chosen,
                   TesLocalSolver *local) {
  static const double one = 1;
  Setup s = {.ctx = ctx};
  TesFunction *a;
  create_space(&s, &(Case){.dim = 2, .degree = 4, .cells = {8, 8}});
  assert_int_equal(tes_function_create_callback(ctx, jump ? jumping : varying, (void *)&one, NULL, &a),
                   TES_OK);
  assert_int_equal(test_operator_create(ctx, &(TestDiffusion){.space = s.space, .a = a}, &s.op), TES_OK);
  assert_int_equal(tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .kind = kind}, &s.smoother),
                   TES_OK);
  *chosen = s.smoother->kind, *local = s.smoother->local;
  tes_function_destroy(&a);
  teardown(&s);
}

static void smoothers_are_chosen_by_trial(void **state) {
  (void)state;
  TesContext *ctx = context();
  TesSmootherKind kind;
  TesLocalSolver local;
  choose(ctx, false, TES_SMOOTHER_AUTO, &kind, &local);
  assert_true(kind == TES_SMOOTHER_PATCH && local == TES_LOCAL_NODAL);
  choose(ctx, true, TES_SMOOTHER_AUTO, &kind, &local);
  assert_true(kind == TES_SMOOTHER_CHEBYSHEV);
  choose(ctx, false, TES_SMOOTHER_PATCH, &kind, &local);
  assert_true(kind == TES_SMOOTHER_PATCH && local == TES_LOCAL_NODAL);
  choose(ctx, true, TES_SMOOTHER_PATCH, &kind, &local);
  assert_true(kind == TES_SMOOTHER_PATCH && local == TES_LOCAL_RANK1);
  choose(ctx, true, TES_SMOOTHER_PATCH_ADDITIVE, &kind, &local);
  assert_true(kind == TES_SMOOTHER_PATCH_ADDITIVE);
  tes_context_destroy(&ctx);
}

static void counts_are_those_of_exact_solvers(void **state) {
  (void)state;
  TesContext *ctx = context();
  const TesSmootherDesc nodal = {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL},
                        rank1 = {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_RANK1},
                        scaled = {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_SCALED},
                        mean = {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_MEAN},
                        additive = {.kind = TES_SMOOTHER_PATCH_ADDITIVE};
  assert_in_range(gmres_iterations(ctx, 2, 2, 16, nodal), 4, 5);
  assert_in_range(gmres_iterations(ctx, 2, 4, 16, nodal), 3, 4);
  assert_in_range(gmres_iterations(ctx, 2, 7, 8, nodal), 3, 4);
  assert_in_range(gmres_iterations(ctx, 3, 2, 8, nodal), 4, 5);
  assert_in_range(gmres_iterations(ctx, 3, 4, 4, nodal), 3, 4);
  assert_in_range(gmres_iterations(ctx, 2, 2, 16, rank1), 4, 5);
  assert_in_range(gmres_iterations(ctx, 2, 4, 16, rank1), 3, 4);
  assert_in_range(gmres_iterations(ctx, 2, 7, 8, rank1), 3, 4);
  assert_in_range(gmres_iterations(ctx, 3, 2, 8, rank1), 4, 6);
  assert_in_range(gmres_iterations(ctx, 2, 2, 16, scaled), 5, 7);
  assert_in_range(gmres_iterations(ctx, 2, 4, 16, scaled), 5, 7);
  assert_in_range(gmres_iterations(ctx, 3, 2, 8, scaled), 7, 9);
  assert_in_range(gmres_iterations(ctx, 2, 7, 8, mean), 15, 99); /* diverges as an iteration of its own */
  assert_in_range(gmres_iterations(ctx, 2, 4, 16, additive), 9, 13);
  tes_context_destroy(&ctx);
}

/* S of x <- x + S b from zero: u' S v = v' S u, forward against backward. */
static void steps_are_symmetric(void **state) {
  (void)state;
  TesContext *ctx = context();
  const Case c = {.dim = 2, .degree = 4, .cells = {3, 4}, .natural = 0x2, .variable = true, .c = 1};
  for (TesLocalSolver local = TES_LOCAL_MEAN; local <= TES_LOCAL_NODAL; local++)
    for (TesSmootherKind kind = TES_SMOOTHER_PATCH; kind <= TES_SMOOTHER_PATCH_ADDITIVE; kind++) {
      Setup s;
      setup(&s, ctx, &c, TES_DOUBLE, (TesSmootherDesc){.kind = kind, .local = local});
      assert_true(s.smoother->symmetric);
      double *Sb = malloc(sizeof(double) * (size_t)s.n), *Sx = malloc(sizeof(double) * (size_t)s.n), *b = s.b,
             *x = s.x;
      double xSb = 0, bSx = 0;
      sweep_once(&s, false, TES_FORWARD, true, Sb);
      s.b = x;
      sweep_once(&s, false, TES_BACKWARD, true, Sx);
      s.b = b;
      for (int64_t i = 0; i < s.n; i++) xSb += x[i] * Sb[i], bSx += b[i] * Sx[i];
      assert_near(xSb, bSx, 1e-11 * fabs(xSb));
      free(Sb), free(Sx);
      teardown(&s);
    }
  tes_context_destroy(&ctx);
}

static TesStatus create_and_destroy(TesContext *ctx, void *user) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  TesSmoother *smoother = NULL;
  TesFunction *a = NULL;
  TesSmootherDesc desc = *(const TesSmootherDesc *)user;
  static const double one = 1;
  tesi_context_set_device(ctx, &tesi_device_host, NULL, NULL);
  tesi_context_set_simd_bits(ctx, 128);
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2}, &space));
  TES_TRY(tes_function_create_callback(ctx, desc.kind == TES_SMOOTHER_AUTO ? jumping : varying, (void *)&one,
                                       NULL, &a));
  TES_TRY(test_operator_create(ctx, &(TestDiffusion){.space = space, .a = a}, &op));
  desc.op = op;
  TES_TRY(tes_smoother_create(ctx, &desc, &smoother));
done:
  tes_smoother_destroy(&smoother);
  tes_function_destroy(&a);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  static const TesSmootherDesc descs[] = {
      {.kind = TES_SMOOTHER_AUTO},
      {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_RANK1},
      {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL},
      {.kind = TES_SMOOTHER_PATCH_ADDITIVE},
  };
  for (size_t i = 0; i < sizeof descs / sizeof *descs; i++)
    assert_true(every_allocation_fails(create_and_destroy, (void *)&descs[i]) > 10);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodal_equals_plain_version),        cmocka_unit_test(surrogates_equal_plain_versions),
      cmocka_unit_test(additive_equals_plain_version),     cmocka_unit_test(threads_give_the_same_bits),
      cmocka_unit_test(nodal_is_exact_for_constants),      cmocka_unit_test(smoothers_are_chosen_by_trial),
      cmocka_unit_test(counts_are_those_of_exact_solvers), cmocka_unit_test(steps_are_symmetric),
      cmocka_unit_test(failing_allocations_leave_nothing),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
