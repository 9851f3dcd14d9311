/* Run: ctest -R t7_time. Heat in time on boxes and forests against manufactured solutions that the elements hold
 * exactly, so that errors are those of time; transport against the numbers of another program, on the host and by
 * kernels. What many steps hold. Brief: 20 steps in kernels in place of 100 more, 1000 of 24,000. */
#include "time_testing.h"

static TesContext *ctx;

/* L2 error at the end of (0, 1) by `method` in `steps` steps; negative: a build without p4est. */
static double heat_error(TesContext *on, TesMeshKind kind, TesTimeMethod method, int steps, int *iterations) {
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  double l2, h1;
  if (!make_mesh(on, kind, 2, &mesh)) return -1;
  Heat h = make_heat(on, "cos(3*t)", "-3*sin(3*t)");
  const TesBoundary boundary[] = {{.g = {h.u}}, {.name = "top", .condition = TES_NEUMANN, .g = {h.flux}}};
  const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                               .mesh = mesh,
                               .degree = 2,
                               .data = {.a = h.a, .c = h.c, .f = {h.f}},
                               .exact = {h.u},
                               .boundary = boundary,
                               .boundaries = 2,
                               .time = {.end = 1, .step = 1. / steps, .method = method},
                               .solver = {.tolerance = 1e-8}};
  assert_ok(on, tes_problem_create(on, &desc, &problem));
  assert_ok(on, tes_problem_solve(problem, &result));
  assert_int_equal(tes_problem_info(problem).step, steps);
  assert_near(tes_problem_info(problem).time, 1, 0);
  assert_ok(on, tes_problem_errors(problem, &l2, &h1));
  assert_int_equal(tes_problem_step(problem, &result), TES_INVALID_INPUT);
  if (iterations) *iterations = result.iterations;
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  forget(&h);
  return l2;
}

static void check_heat(TesContext *on, TesMeshKind kind, int first, int count) {
  for (int i = first; i < first + count; i++) {
    const double coarse = heat_error(on, kind, methods[i].method, 16, NULL);
    if (coarse < 0) return;
    const double fine = heat_error(on, kind, methods[i].method, 32, NULL), order = log2(coarse / fine);
    if (!(order > methods[i].order - (methods[i].method == TES_TIME_SDIRK3 ? 1 : 0.4)))
      fail_msg("%s: errors %g and %g, order %g", tesi_time_method(methods[i].method)->name, coarse, fine,
               order);
  }
}

static void test_heat(void **state) {
  (void)state;
  check_heat(ctx, TES_MESH_BOX, 0, METHODS);
  check_heat(ctx, TES_MESH_FOREST, 0, METHODS);
}

/* Coefficients that depend on time: u = T w again, a = 2 + sin t, c = 3 + t, b = (t, 1 - 2 t). */
static double moving_error(TesMeshKind kind, TesTimeMethod method, bool still, int steps) {
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  double l2, h1;
  if (!make_mesh(ctx, kind, 2, &mesh)) return -1;
  TesFunction *a = expression(ctx, still ? "2" : "2 + sin(t)"), *c = expression(ctx, still ? "3" : "3 + t"),
              *b[2] = {expression(ctx, "t"), expression(ctx, "1 - 2*t")}, *u = expression(ctx, "cos(3*t)*" W),
              *f = expression(ctx, still ? "-3*sin(3*t)*" W " + cos(3*t)*(-2 + 3*" W
                                           " + t*(2*x + y) + (1 - 2*t)*(x - y))"
                                         : "-3*sin(3*t)*" W " + cos(3*t)*(-2 - sin(t) + (3 + t)*" W
                                           " + t*(2*x + y) + (1 - 2*t)*(x - y))");
  const TesBoundary all = {.g = {u}};
  assert_ok(ctx, tes_problem_create(ctx,
                                    &(TesProblemDesc){.equation = TES_TRANSPORT,
                                                      .mesh = mesh,
                                                      .degree = 2,
                                                      .data = {.a = a, .b = {b[0], b[1]}, .c = c, .f = {f}},
                                                      .exact = {u},
                                                      .stabilization = method == TES_TIME_CRANK_NICOLSON ||
                                                                               method == TES_TIME_IMEX_BDF2
                                                                           ? TES_STREAMLINE_NONE
                                                                           : TES_STREAMLINE_ALWAYS,
                                                      .boundaries = 1,
                                                      .boundary = &all,
                                                      .time = {.end = 1, .step = 1. / steps, .method = method},
                                                      .solver = {.tolerance = 1e-8}},
                                    &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  TesFunction **functions[] = {&a, &c, &b[0], &b[1], &u, &f};
  for (int i = 0; i < 6; i++) tes_function_destroy(functions[i]);
  return l2;
}

static void check_moving(TesMeshKind kind, TesTimeMethod method, double order, bool still) {
  const double coarse = moving_error(kind, method, still, 16);
  if (coarse < 0) return;
  const double fine = moving_error(kind, method, still, 32), found = log2(coarse / fine);
  if (!(found > order - 0.4))
    fail_msg("%s: errors %g and %g, order %g", tesi_time_method(method)->name, coarse, fine, found);
}

static void test_moving_coefficients(void **state) {
  (void)state;
  for (int kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int still = test_brief(); still < 2; still++) {
      for (int i = 0; i < METHODS; i++)
        check_moving((TesMeshKind)kind, methods[i].method,
                     methods[i].order - (methods[i].method == TES_TIME_SDIRK3 ? 0.6 : 0), still);
      check_moving((TesMeshKind)kind, TES_TIME_IMEX_BDF2, 2, still);
    }
}

/* Streamline terms that change within a step of crank_nicolson. */
static void test_moving_tests_are_refused(void **state) {
  TesMesh *mesh;
  TesProblem *problem;
  TesFunction *a = expression(ctx, "1e-4"), *b = expression(ctx, "1 + t");
  (void)state;
  assert_true(make_mesh(ctx, TES_MESH_BOX, 4, &mesh));
  const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                               .mesh = mesh,
                               .degree = 1,
                               .data = {.a = a, .b = {b}},
                               .time = {.end = 1, .step = 0.1, .method = TES_TIME_CRANK_NICOLSON}};
  tes_context_clear(ctx); /* of the tests before */
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(ctx), "crank_nicolson with streamline terms"))
    fail_msg("it says '%s'", tes_context_message(ctx));
  tes_context_clear(ctx);
  TesProblemDesc other = desc;
  other.time.method = TES_TIME_IMEX_BDF2, other.stabilization = TES_STREAMLINE_ALWAYS;
  assert_int_equal(tes_problem_create(ctx, &other, &problem), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "imex_bdf2 has no streamline terms"));
  tes_context_clear(ctx);
  other.data.b[0] = NULL;
  assert_int_equal(tes_problem_create(ctx, &other, &problem), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "imex_bdf2 is of a velocity"));
  tes_context_clear(ctx);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&a), tes_function_destroy(&b);
}

/* ---- transport ----------------------------------------------------------------------------------------- */

/* Numbers of an independent program. */
static void test_transport(void **state) {
  static const Row rows[] = {
      {TES_MESH_BOX, 1, 32, TES_TIME_BACKWARD_EULER, 100, 4.87728e-4, 6.48930e-4, 1e-4, 0},
      {TES_MESH_FOREST, 2, 8, TES_TIME_BACKWARD_EULER, 100, 5.37876e-4, 6.21358e-4, 1e-4, 0},
      {TES_MESH_BOX, 4, 4, TES_TIME_BACKWARD_EULER, 100, 5.28306e-4, 6.17311e-4, 1e-4, 0},
      {TES_MESH_BOX, 4, 8, TES_TIME_CRANK_NICOLSON, 100, 5.67665e-6, 6.48944e-6, 5e-4, 0},
      {TES_MESH_BOX, 4, 8, TES_TIME_BDF3, 100, 6.36384e-7, 9.89388e-7, 1e-3, 0},
      {TES_MESH_BOX, 8, 4, TES_TIME_SDIRK2, 20, 6.5904e-5, 7.3275e-5, 1e-3, 0},
      {TES_MESH_BOX, 2, 16, TES_TIME_BACKWARD_EULER, 100, 5.29208e-4, 6.14740e-4, 1e-4, 0},
      {TES_MESH_BOX, 4, 2, TES_TIME_BACKWARD_EULER, 100, 4.27689e-4, 5.75705e-4, 1e-4, 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(ctx, &rows[i]);
}

/* The same digits by kernels, in the emulator and on a GPU where there is one. */
static void test_transport_on_devices(void **state) {
  static const char *const devices[] = {"emulator", "cuda"};
  static const Row rows[] = {
      {TES_MESH_BOX, 4, 4, TES_TIME_BACKWARD_EULER, 100, 5.28306e-4, 6.17311e-4, 1e-4, 0},
      {TES_MESH_FOREST, 4, 4, TES_TIME_SDIRK2, 20, 6.5904e-5, 7.3275e-5, 5e-3, 0}, /* + space */
  };
  TesContext *const host = ctx;
  (void)state;
  if (test_brief()) skip(); /* t7_time_device has such steps */
  for (int d = 0; d < 2; d++) {
    ctx = test_device(devices[d]);
    for (size_t i = 0; ctx && i < sizeof rows / sizeof *rows; i++) check_row(ctx, &rows[i]);
    if (ctx) tes_context_destroy(&ctx);
  }
  ctx = host;
}

/* Steady, with a layer: the largest nodal value of an independent program, with streamlines, a = 0.01. Without them it
 * is refused. */
static void test_layer(void **state) {
  TesMesh *mesh;
  TesFunction *a = expression(ctx, "0.01"), *b = expression(ctx, "-1"), *f = expression(ctx, "1");
  const struct {
    int degree, cells;
    double largest;
  } rows[] = {{1, 32, 0.93505}, {2, 16, 0.92661}, {4, 8, 0.91871}};
  (void)state;
  for (int i = 0; i < 3; i++) {
    TesProblem *problem;
    TesSolveResult result;
    double largest;
    TesProblemDesc desc = {.equation = TES_TRANSPORT,
                           .degree = rows[i].degree,
                           .stabilization = TES_STREAMLINE_ALWAYS,
                           .data = {.a = a, .b = {NULL, b}, .f = {f}},
                           .solver = {.max_iterations = 500, .tolerance = 1e-8}};
    assert_ok(ctx,
              tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {rows[i].cells, rows[i].cells}}, &mesh));
    desc.mesh = mesh;
    assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
    assert_ok(ctx, tes_problem_solve(problem, &result));
    assert_ok(ctx, tes_vector_maximum(tes_problem_solution(problem), &largest));
    assert_near(largest, rows[i].largest, 2e-5);
    tes_problem_destroy(&problem);
    desc.stabilization = TES_STREAMLINE_NONE;
    assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
    tes_context_clear(ctx);
    tes_mesh_destroy(&mesh);
  }
  tes_function_destroy(&a), tes_function_destroy(&b), tes_function_destroy(&f);
}

/* What a problem in time holds, and the most that it has held, after 24,000 steps as after 24, but for the digits of
 * the time in texts of expressions: a byte a step would be 24,000. */
static void test_memory_of_many_steps(void **state) {
  static const TesEquation equations[] = {TES_TRANSPORT, TES_ELASTICITY};
  enum { DIGITS = 512 };
  const int steps = test_brief() ? 1000 : 24000;
  (void)state;
  for (int e = 0; e < 2; e++) {
    TesMesh *mesh;
    TesProblem *problem;
    TesSolveResult result;
    TesFunction *a, *f;
    size_t held = 0, peak = 0;
    TesContext *on;
    assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 1}, &on, NULL, 0),
                     TES_OK);
    assert_ok(on, tes_function_create_expression(on, "0.1", &a));
    assert_ok(on, tes_function_create_expression(on, "sin(t)*x", &f));
    assert_ok(on, tes_mesh_create(on, &(TesMeshDesc){.dim = 2, .cells = {3, 3}}, &mesh));
    const TesProblemDesc desc = {.equation = equations[e],
                                 .mesh = mesh,
                                 .degree = 1,
                                 .data = {.a = a, .b = {e ? NULL : a}, .f = {f}},
                                 .time = {.end = 0.1 * steps, .step = 0.1}};
    assert_ok(on, tes_problem_create(on, &desc, &problem));
    for (int i = 0; i < steps; i++) {
      assert_ok(on, tes_problem_step(problem, &result));
      if (i == 23) held = tes_context_memory(on), peak = tes_context_memory_peak(on);
    }
    assert_true(tes_context_memory(on) < held + DIGITS);
    assert_true(tes_context_memory_peak(on) < peak + DIGITS);
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
    tes_function_destroy(&a);
    tes_function_destroy(&f);
    tes_context_destroy(&on);
  }
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {

      cmocka_unit_test(test_heat),
      cmocka_unit_test(test_moving_coefficients),
      cmocka_unit_test(test_moving_tests_are_refused),
      cmocka_unit_test(test_transport),
      cmocka_unit_test(test_transport_on_devices),
      cmocka_unit_test(test_layer),
      cmocka_unit_test(test_memory_of_many_steps)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
