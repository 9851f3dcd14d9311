/* Run: ctest -R t7_elasticity. Static elasticity by tes_problem_solve(): numbers of independent dense solves (the cube
 * of adaptive-multigrid-liebchen, manufactured fields, Timoshenko's cantilever, one in 3D, near-incompressible fields).
 */
#include <math.h>
#include <stdio.h>
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *ctx;

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const bool clean = tes_context_memory(ctx) == 0;
  tes_context_destroy(&ctx);
  return !clean;
}

static TesFunction *constant(double value) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_constant(ctx, value, &f));
  return f;
}

/* Functions of a test, given back at its end. */
static TesFunction *kept[64];
static int kept_count;

static TesFunction *keep(TesFunction *f) {
  assert_true(kept_count < 64);
  return kept[kept_count++] = f;
}

static void forget(void) {
  while (kept_count) tes_function_destroy(&kept[--kept_count]);
}

static double value_of(const TesProblem *problem, TesValue what) {
  double value;
  assert_ok(ctx, tes_problem_value(problem, &what, &value));
  return value;
}

static TesMesh *box(int dim, int n) {
  TesMesh *mesh;
  assert_ok(
      ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = dim, .cells = {n, n, n}}, &mesh));
  return mesh;
}

static TesProblem *solve(const TesProblemDesc *desc, TesSolveResult *result) {
  TesProblem *problem;
  assert_ok(ctx, tes_problem_create(ctx, desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, result));
  return problem;
}

/* ---- the cube ------------------------------------------------------------------------------------------ */

static TesProblemDesc cube(const TesMesh *mesh, int degree) {
  return (TesProblemDesc){.equation = TES_ELASTICITY,
                          .mesh = mesh,
                          .degree = degree,
                          .data = {.lambda = keep(constant(8e4)),
                                   .a = keep(constant(2e4)),
                                   .f = {NULL, keep(constant(-1)), NULL}},
                          .solver = {.tolerance = 1e-11}};
}

static void check_cube(const TesMesh *mesh, int degree, double compliance, double middle, const char *what) {
  TesSolveResult result;
  const TesProblemDesc desc = cube(mesh, degree);
  TesProblem *problem = solve(&desc, &result);
  const double c = -value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "v"}),
               u = value_of(problem,
                            (TesValue){.kind = TES_VALUE_POINT, .point = {0.5, 0.5, 0.5}, .of = "v"});
  print_message("%s, Q%d: %d iterations, int f.u %.10e, u_y %.10e; %s\n", what, degree, result.iterations, c,
                u, tes_problem_info(problem).smoother);
  assert_near(c, compliance, 2e-9 * compliance);
  assert_near(u, middle, 2e-9 * fabs(middle));
  tes_problem_destroy(&problem);
  forget();
}

static void the_cube_of_the_paper(void **state) {
  static const struct {
    int degree, n;
    double compliance, middle;
  } rows[] = {{1, 8, 4.0544028776e-07, -1.1804399405e-06}, {1, 16, 4.2089337685e-07, -1.1705402232e-06},
              {2, 4, 4.2199743603e-07, -1.1668252917e-06}, {2, 8, 4.2585723457e-07, -1.1673999030e-06},
              {4, 2, 4.2552346832e-07, -1.1721785853e-06}, {4, 4, 4.2644249769e-07, -1.1679455743e-06},
              {6, 2, 4.2645800256e-07, -1.1691795354e-06}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesMesh *mesh = box(3, rows[i].n);
    check_cube(mesh, rows[i].degree, rows[i].compliance, rows[i].middle, "box");
    tes_mesh_destroy(&mesh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_cube_of_the_paper)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
