/* Run: ctest -R t7_direct. Boxes solved by fast diagonalization as a whole, on the host and by kernels: one or two
 * iterations to 1e-11 for any conditions, also where only fluxes are given, steady and in time. */
#include "device_testing.h"
#include "multigrid/coarse/mumps.h"

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static TesMesh *make_mesh(TesContext *ctx, int dim, TesMeshKind kind) {
  static const double graded[] = {0, 0.1, 0.4, 0.45, 1};
  TesMesh *mesh;
  const TesMeshDesc desc = {
      .dim = dim, .cells = {4, 3, 2}, .coordinates = {kind == TES_MESH_BOX ? graded : NULL}, .kind = kind};
  const TesStatus status = tes_mesh_create(ctx, &desc, &mesh);
  return status == TES_OK ? mesh : NULL;
}

/* Conditions: 0 values, 1 of all kinds, 2 fluxes alone (int f = 0). */
static void check(TesContext *ctx, int dim, int degree, int conditions) {
  TesMesh *mesh = make_mesh(ctx, dim, TES_MESH_BOX);
  TesFunction *a = expression(ctx, "2"), *c = expression(ctx, "3"), *f = expression(ctx, "x - 0.5"),
              *g = expression(ctx, "1 + x*y"), *alpha = expression(ctx, "0.7");
  const TesBoundary mixed[] = {{.g = {g}},
                               {.name = "right", .condition = TES_NEUMANN, .g = {g}},
                               {.name = "top", .condition = TES_ROBIN, .alpha = alpha, .g = {g}}},
                    fluxes = {.condition = TES_NEUMANN};
  TesProblem *p;
  TesSolveResult result;
  const TesProblemDesc desc = {.mesh = mesh,
                               .degree = degree,
                               .data = {.a = a, .c = conditions == 1 ? c : NULL, .f = {f}},
                               .boundary = conditions == 1   ? mixed
                                           : conditions == 2 ? &fluxes
                                                             : NULL,
                               .boundaries = conditions == 1 ? 3 : conditions == 2,
                               .solver = {.method = TES_METHOD_DIRECT, .tolerance = 1e-11}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  assert_non_null(strstr(tes_problem_info(p).method, "fast diagonalization"));
  assert_int_equal(tes_multigrid_levels(tes_problem_multigrid(p)), 1);
  assert_ok(ctx, tes_problem_solve(p, &result));
  if (!(result.iterations <= 2 && result.residuals[result.residual_count - 1] <= 1e-11))
    fail_msg("%dD, degree %d, conditions %d: %d iterations", dim, degree, conditions, result.iterations);
  tes_problem_destroy(&p);
  TesFunction **all[] = {&a, &c, &f, &g, &alpha};
  for (int i = 0; i < 5; i++) tes_function_destroy(all[i]);
  tes_mesh_destroy(&mesh);
}

static void boxes_are_solved_at_once(void **state) {
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  (void)state;
  for (int d = 0; d < 3; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int dim = 2; ctx && dim <= 3; dim++)
      for (int degree = 1; degree <= 5; degree += 2)
        for (int conditions = 0; conditions < 3; conditions++) check(ctx, dim, degree, conditions);
    if (ctx) tes_context_destroy(&ctx);
  }
}

/* Heat, and a velocity from old values: a stage takes one iteration or two, and the solution is that of multigrid. */
static void steps_are_solved_at_once(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int moves = 0; moves < 2; moves++) {
    double norm[2], size[2];
    for (int direct = 0; direct < 2; direct++) {
      TesMesh *mesh = make_mesh(ctx, 2, TES_MESH_BOX);
      TesFunction *a = expression(ctx, "0.1"), *b = expression(ctx, "0.3"),
                  *f = expression(ctx, "sin(3*t)*x"), *g = expression(ctx, "cos(t)*y");
      const TesBoundary boundary[] = {{.g = {g}}, {.name = "right", .condition = TES_NEUMANN}};
      TesProblem *p;
      TesSolveResult result;
      const TesProblemDesc desc = {
          .equation = TES_TRANSPORT,
          .mesh = mesh,
          .degree = 3,
          .data = {.a = a, .b = {moves ? b : NULL}, .f = {f}},
          .boundary = boundary,
          .boundaries = 2,
          .time = {.end = 0.5, .step = 0.025, .method = moves ? TES_TIME_IMEX_BDF2 : TES_TIME_BDF2},
          .solver = {.method = direct ? TES_METHOD_DIRECT : TES_METHOD_AUTO, .tolerance = 1e-9}};
      assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
      assert_ok(ctx, tes_problem_solve(p, &result));
      if (direct) assert_true(result.iterations <= 21 * 3);
      assert_ok(ctx, tes_vector_norm(tes_problem_solution(p), &norm[direct]));
      assert_ok(ctx, tes_vector_maximum(tes_problem_solution(p), &size[direct]));
      tes_problem_destroy(&p);
      TesFunction **all[] = {&a, &b, &f, &g};
      for (int i = 0; i < 4; i++) tes_function_destroy(all[i]);
      tes_mesh_destroy(&mesh);
    }
    assert_near(norm[0], norm[1], 1e-7 * norm[0]);
    assert_near(size[0], size[1], 1e-7 * size[0]);
  }
  tes_context_destroy(&ctx);
}

/* Where a box is not separable: t7_direct_sparse. */
static void others_are_factorized(void **state) {
  TesContext *ctx;
  TesProblem *p;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  TesMesh *mesh = make_mesh(ctx, 2, TES_MESH_BOX);
  TesFunction *a = expression(ctx, "1 + x");
  const TesProblemDesc desc = {.mesh = mesh, .data = {.a = a}, .solver = {.method = TES_METHOD_DIRECT}};
  const TesStatus status = tes_problem_create(ctx, &desc, &p);
  if (!tesi_mumps_missing()) {
    assert_ok(ctx, status);
    assert_non_null(strstr(tes_problem_info(p).method, "direct: sparse factors"));
    tes_problem_destroy(&p);
  } else {
    assert_int_equal(status, TES_MISSING);
    assert_non_null(strstr(tes_context_message(ctx), "MUMPS"));
  }
  tes_function_destroy(&a);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_are_solved_at_once),
                                     cmocka_unit_test(steps_are_solved_at_once),
                                     cmocka_unit_test(others_are_factorized)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
