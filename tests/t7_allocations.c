/* Run: ctest -R t7_allocations. Allocations of a whole solve fail, one after the other: no leak, no crash, and the
 * status says why.
 * Labels: threads */
#include "failing_allocator.h"
#include "tessera/tessera.h"

typedef struct Problem {
  const char *a; /* coefficient: constant or variable */
  TesSmootherKind smoother;
  TesMethod method;
  bool neumann;
} Problem;

static TesStatus solve(TesContext *ctx, const Problem *problem, TesFunction *const f[3], const TesMesh *mesh) {
  TesStatus status = TES_OK;
  TesProblem *solved = NULL;
  TesSolveResult result;
  double l2, h1;
  const TesBoundary left = {.name = "left", .g = {f[2]}}, natural = {.condition = TES_NEUMANN};
  const TesProblemDesc desc = {
      .mesh = mesh,
      .degree = 2,
      .data = {.a = f[0], .f = {f[1]}},
      .exact = {f[2]},
      .boundaries = 1,
      .boundary = problem->neumann ? &natural : &left,
      .solver = {.smoother = problem->smoother, .method = problem->method, .tolerance = 1e-4}};
  TES_TRY(tes_problem_create(ctx, &desc, &solved));
  TES_TRY(tes_problem_solve(solved, &result));
  TES_TRY(tes_problem_errors(solved, &l2, &h1));
done:
  tes_problem_destroy(&solved);
  return status;
}

static TesStatus work(TesContext *ctx, void *user) {
  const Problem *problem = user;
  TesStatus status = TES_OK;
  TesFunction *f[3] = {NULL};
  TesMesh *mesh = NULL;
  TES_TRY(tes_function_create_expression(ctx, problem->a, &f[0]));
  TES_TRY(tes_function_create_expression(ctx, "x - 0.5", &f[1]));
  TES_TRY(tes_function_create_expression(ctx, "y*y", &f[2]));
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {4, 2}}, &mesh));
  TES_TRY(solve(ctx, problem, f, mesh));
done:
  for (int i = 0; i < 3; i++) tes_function_destroy(&f[i]);
  tes_mesh_destroy(&mesh);
  return status;
}

static void constant_coefficient(void **state) {
  (void)state;
  Problem p = {.a = "2"};
  assert_true(allocations_fail(work, &p, 12) > 50);
}

static void krylov_methods(void **state) {
  (void)state;
  Problem p = {.a = "1", .method = TES_METHOD_GMRES};
  assert_true(allocations_fail(work, &p, 12) > 50);
  p.method = TES_METHOD_CG;
  assert_true(allocations_fail(work, &p, 12) > 50);
}

static void variable_coefficient(void **state) {
  (void)state;
  Problem p = {.a = "1 + x*y"};
  assert_true(allocations_fail(work, &p, 12) > 50);
  p.smoother = TES_SMOOTHER_PATCH;
  assert_true(allocations_fail(work, &p, 12) > 50);
}

static void pure_neumann(void **state) {
  (void)state;
  Problem p = {.a = "1", .neumann = true};
  assert_true(allocations_fail(work, &p, 12) > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constant_coefficient),
      cmocka_unit_test(krylov_methods),
      cmocka_unit_test(variable_coefficient),
      cmocka_unit_test(pure_neumann),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
