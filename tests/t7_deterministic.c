/* Run: ctest -R t7_deterministic. Where a context is deterministic solves repeat their bits: in the emulator in every
 * order of threads and blocks, on the host whatever is timed. Forests with hanging nodes, Robin conditions, curved
 * cells; boxes with varying coefficients. Brief: two orders, each smoother in some.
 * Quick: 1-9
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "forest_testing.h"
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Answer {
  int iterations;
  double residual[101], l2, *u;
  int64_t length;
} Answer;

static TesMesh *make_mesh(TesContext *ctx, int which) {
  static const TesMeshDesc descs[] = {
      {.kind = TES_MESH_BOX, .dim = 2, .cells = {4, 4}},
      {.domain = TES_DOMAIN_BALL, .dim = 2, .refine = 1},
      {.kind = TES_MESH_FOREST, .dim = 3, .cells = {1, 1, 1}, .refine = 1},
      {.kind = TES_MESH_FOREST, .dim = 2, .cells = {1, 1}, .upper = {1, 0.02}, .refine = 3},
  };
  TesMesh *mesh, *next;
  assert_ok(ctx, tes_mesh_create(ctx, &descs[which], &mesh));
  if (which == 0) return mesh;
  int8_t mark[64] = {1, 0, 1};
  assert_ok(ctx, tes_mesh_adapt(mesh, mark, &next));
  tes_mesh_destroy(&mesh);
  return next;
}

static void solve(TesContext *ctx, int which, int degree, TesSmootherKind smoother, Answer *answer) {
  TesMesh *mesh = make_mesh(ctx, which);
  TesFunction *a, *alpha, *f;
  TesProblem *problem;
  TesSolveResult result;
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x*x", &a));
  assert_ok(ctx, tes_function_create_expression(ctx, "2 + y", &alpha));
  assert_ok(ctx, tes_function_create_expression(ctx, "sin(3*x) + y", &f));
  const TesBoundary robin = {.condition = TES_ROBIN, .alpha = alpha, .g = {f}};
  const TesProblemDesc desc = {.mesh = mesh,
                               .degree = degree,
                               .data = {.a = a, .c = alpha, .f = {f}},
                               .boundaries = 1,
                               .boundary = &robin,
                               .exact = {f},
                               .solver = {.smoother = smoother}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  *answer = (Answer){.iterations = result.iterations, .length = tes_space_length(tes_problem_space(problem))};
  assert_true(result.iterations <= 100);
  memcpy(answer->residual, result.residuals, (size_t)(result.iterations + 1) * sizeof(double));
  answer->u = test_malloc((size_t)answer->length * sizeof(double));
  assert_ok(ctx, tes_vector_get(tes_problem_solution(problem), answer->u));
  assert_ok(ctx, tes_problem_errors(problem, &answer->l2, NULL));
  tes_problem_destroy(&problem);
  tes_function_destroy(&a), tes_function_destroy(&alpha), tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
}

static void compare(const char *device, int which, int degree, TesSmootherKind smoother, int runs) {
  TesContext *ctx;
  Answer first, again;
  for (int run = 0; run < runs; run++) {
    const TesContextDesc desc = {.device = device, .threads = 2, .deterministic = 1, .verbosity = TES_QUIET};
    assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
    tesi_fiber_order(run ? TESI_ORDER_SHUFFLED : TESI_ORDER_FORWARD, (uint64_t)run + 1);
    solve(ctx, which, degree, smoother, run ? &again : &first);
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    tes_context_destroy(&ctx);
    if (run == 0) continue;
    assert_int_equal(again.length, first.length);
    assert_int_equal(again.iterations, first.iterations);
    assert_memory_equal(again.residual, first.residual, sizeof first.residual);
    assert_memory_equal(again.u, first.u, (size_t)first.length * sizeof(double));
    assert_memory_equal(&again.l2, &first.l2, sizeof first.l2);
    test_free(again.u);
  }
  test_free(first.u);
}

static void compare_all(const char *device, int runs) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = device}, &ctx, NULL, 0), TES_OK);
  const bool forests = test_has_forests(ctx);
  tes_context_destroy(&ctx);
  compare(device, 0, 3, TES_SMOOTHER_AUTO, runs);
  for (int which = 1; forests && which < 4; which++) {
    if (!test_brief() || which > 1) compare(device, which, which == 2 ? 2 : 3, TES_SMOOTHER_AUTO, runs);
    if (!test_brief() || which == 1) compare(device, which, 2, TES_SMOOTHER_CELL_PATCH, runs);
  }
}

static void in_the_emulator(void **state) {
  (void)state;
  compare_all("emulator", test_brief() ? 2 : 3);
}

static void on_the_host(void **state) {
  (void)state;
  compare_all("cpu", 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_emulator), cmocka_unit_test(on_the_host)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
