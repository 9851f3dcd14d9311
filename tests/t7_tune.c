/* Run: ctest -R t7_tune. Which cycle is chosen by what one reaches: iterations on Kershaw's cells, on cubes, plates and
 * needles; the same in the emulator. The optimal polynomials against the weights that Lottes prints (Optimal polynomial
 * smoothers for multigrid V-cycles, 2023, table of beta). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "smoother/optimal_roots.h"
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *open_context(const char *device) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = device}, &ctx, NULL, 0), TES_OK);
  return ctx;
}

/* A box of trees; eps 1: equal cells. */
static TesMesh *box(TesContext *ctx, double eps, int cells, double width, double height) {
  TesMesh *mesh;
  TesFunction *map[3] = {NULL};
  TesMeshDesc desc = {.kind = TES_MESH_FOREST,
                      .domain = TES_DOMAIN_BOX,
                      .dim = 3,
                      .cells = {cells, cells, cells},
                      .upper = {1, width, height},
                      .geometry_degree = 1};
  assert_ok(ctx, tes_function_create_expression(ctx, "x", &map[0]));
  for (int d = 1; d < 3 && eps != 1; d++) {
    char text[500];
    const char v = d == 1 ? 'y' : 'z';
    snprintf(text, sizeof text,
             "fmax(%g*%c, %g*%c - %g) + (fmin(fmax(6*x - 1, 0), 1) - fmin(fmax(3*x - 1, 0), 1) + "
             "fmin(fmax(6*x - 4, "
             "0), 1))*(fmin(%g*%c, %g*%c + %g) - fmax(%g*%c, %g*%c - %g))",
             eps, v, 2 - eps, v, 1 - eps, 2 - eps, v, eps, v, 1 - eps, eps, v, 2 - eps, v, 1 - eps);
    assert_ok(ctx, tes_function_create_expression(ctx, text, &map[d]));
  }
  for (int d = 0; d < 3 && eps != 1; d++) desc.map[d] = map[d];
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
  return mesh;
}

typedef struct Solved {
  int iterations;
  char method[200], smoother[200];
} Solved;

static Solved solve(TesContext *ctx, TesMesh *mesh, int degree, TesSolveOptions options) {
  Solved solved = {0};
  TesFunction *f;
  TesProblem *problem;
  TesSolveResult result;
  options.tolerance = 1e-8;
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x", &f));
  const TesProblemDesc desc = {.mesh = mesh, .degree = degree, .data = {.f = {f}}, .solver = options};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  const TesMultigridTimes trials = tes_multigrid_times(tes_problem_multigrid(problem));
  assert_true(trials.smooth == 0 && trials.coarse == 0);
  assert_ok(ctx, tes_problem_solve(problem, &result));
  const TesProblemInfo info = tes_problem_info(problem);
  solved.iterations = result.iterations;
  snprintf(solved.method, sizeof solved.method, "%s", info.method);
  snprintf(solved.smoother, sizeof solved.smoother, "%s", info.smoother);
  tes_problem_destroy(&problem);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  return solved;
}

/* At most as many as cell patches of degree 16 after the coarse correction take on 20^3 cells, and far fewer than the
 * symmetric cycle that is asked for. */
static void few_iterations_on_kershaws_cells(void **state) {
  static const struct {
    double eps;
    int degree, cells, most, symmetric; /* iterations at most; of chebyshev at least */
    bool after;                         /* smoothing after the coarse correction alone */
  } rows[] = {{0.3, 3, 12, 12, 25, true},
              {0.1, 3, 12, 17, 50, false},
              {0.3, 5, 8, 13, 25, true},
              {0.1, 5, 8, 19, 40, true},
              {0.3, 7, 6, 14, 40, true}}; /* 16, symmetric, with a trial of degree 20 */
  (void)state;
  if (test_brief()) skip(); /* the_emulator_decides_alike has such cells */
  TesContext *ctx = open_context("cpu");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Solved by_itself =
        solve(ctx, box(ctx, rows[i].eps, rows[i].cells, 1, 1), rows[i].degree, (TesSolveOptions){0});
    assert_true(by_itself.iterations > 0 && by_itself.iterations <= rows[i].most);
    assert_non_null(strstr(by_itself.method, "conjugate gradients"));
    assert_true(rows[i].after == (strstr(by_itself.method, "after its coarse correction") != NULL));
    const Solved asked = solve(
        ctx, box(ctx, rows[i].eps, rows[i].cells, 1, 1), rows[i].degree,
        (TesSolveOptions){.smoother = TES_SMOOTHER_CHEBYSHEV, .smoother_degree = 4, .max_iterations = 200});
    assert_true(asked.iterations >= rows[i].symmetric);
  }
  tes_context_destroy(&ctx);
}

static void easy_meshes_keep_their_cycle(void **state) {
  TesContext *ctx = open_context("cpu");
  (void)state;
  for (int degree = 2; degree <= (test_brief() ? 2 : 4); degree += 2) {
    const Solved cube = solve(ctx, box(ctx, 1, 8, 1, 1), degree, (TesSolveOptions){0});
    assert_int_equal(cube.iterations, 4);
    assert_non_null(strstr(cube.method, "conjugate gradients"));
    assert_non_null(strstr(cube.smoother, "degree 4"));
    const Solved plate = solve(ctx, box(ctx, 1, 8, 1, 0.1), degree, (TesSolveOptions){0});
    assert_true(plate.iterations <= 6);
    assert_non_null(strstr(plate.smoother, "lines of cells, fourth kind, degree 1"));
  }
  /* cell patches of degree 4 in a symmetric cycle take 15 */
  const Solved needle = solve(ctx, box(ctx, 1, 8, 0.01, 0.01), 4, (TesSolveOptions){0});
  assert_true(needle.iterations <= 11);
  tes_context_destroy(&ctx);
}

static void the_emulator_decides_alike(void **state) {
  TesContext *ctx = open_context("cpu"), *emulator = open_context("emulator");
  (void)state;
  const Solved host = solve(ctx, box(ctx, 0.3, 6, 1, 1), 2, (TesSolveOptions){.coarse = TES_COARSE_DIRECT}),
               other = solve(emulator, box(emulator, 0.3, 6, 1, 1), 2,
                             (TesSolveOptions){.coarse = TES_COARSE_DIRECT});
  assert_string_equal(host.method, other.method);
  assert_string_equal(host.smoother, other.smoother);
  assert_int_equal(host.iterations, other.iterations);
  tes_context_destroy(&ctx);
  tes_context_destroy(&emulator);
}

/* 1 - t p(t) of m steps of the fourth kind whose corrections are weighted by beta. */
static double weighted(int m, const double *beta, double t) {
  double r = 1, p = 0, error = 1;
  for (int i = 0; i < m; i++) {
    p = (i ? (2 * i - 1.) / (2 * i + 3) : 0) * p + (8 * i + 4.) / (2 * i + 3) * r;
    error -= beta[i] * t * p;
    r -= t * p;
  }
  return error;
}

static void optimal_polynomials_are_those_of_lottes(void **state) {
  static const struct {
    int degree;
    double beta[8];
  } printed[] = {{1, {1.125}},
                 {2, {1.02387287570313, 1.26408905371085}},
                 {4, {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000}},
                 {8,
                  {1.00057246631197, 1.00577427662415, 1.02050187922941, 1.05019803444565, 1.10115572984941,
                   1.18086042806856, 1.29838585382576, 1.46486073151099}}};
  TesContext *ctx = open_context("cpu");
  (void)state;
  for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
    double root[8];
    assert_ok(ctx, tesi_optimal_roots(ctx, printed[i].degree, root));
    tesi_leja_order(printed[i].degree, root);
    for (double t = 0; t <= 1; t += 0.05) {
      double q = 1;
      for (int k = 0; k < printed[i].degree; k++) q *= 1 - t / root[k];
      assert_near(q, weighted(printed[i].degree, printed[i].beta, t), 1e-11);
    }
  }
  tes_context_destroy(&ctx);
}

/* All degrees that a smoother may have; partial products of Leja's order stay small. */
static void roots_of_all_degrees(void **state) {
  TesContext *ctx = open_context("cpu");
  (void)state;
  for (int m = 1; m <= 100; m += m < 20 ? 1 : 16) {
    double root[100];
    assert_ok(ctx, tesi_optimal_roots(ctx, m, root));
    for (int i = 0; i < m; i++) assert_true(root[i] > (i ? root[i - 1] : 0) && root[i] < 1);
    tesi_leja_order(m, root);
    for (double t = 0; t <= 1; t += 0.01) {
      double q = 1;
      for (int i = 0; i < m; i++) {
        q *= 1 - t / root[i];
        assert_true(fabs(q) < 1e3);
      }
    }
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_iterations_on_kershaws_cells), cmocka_unit_test(easy_meshes_keep_their_cycle),
      cmocka_unit_test(the_emulator_decides_alike), cmocka_unit_test(optimal_polynomials_are_those_of_lottes),
      cmocka_unit_test(roots_of_all_degrees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
