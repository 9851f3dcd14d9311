/* Run: ctest -R t7_boxes. Boxes of any number of cells and any shape: how they are coarsened, and iterations that
 * depend on neither. The yardsticks are manufactured solutions, and the counts of the next even number of cells. */
#include <stdio.h>
#include "testing.h"
#include "tessera/tessera.h"

/* ---- meshes -------------------------------------------------------------------------------------------- */

typedef struct Levels {
  int cells[3];
  double upper[3];
  int coarse[12][3]; /* ends with zeros */
} Levels;

static void check_levels(TesContext *ctx, const Levels *l) {
  TesMesh *mesh, *coarse;
  TesMeshDesc desc = {.dim = l->cells[2] ? 3 : 2};
  for (int d = 0; d < desc.dim; d++) desc.cells[d] = l->cells[d], desc.upper[d] = l->upper[d];
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  for (int i = 0;; i++) {
    assert_ok(ctx, tes_mesh_coarsen(mesh, &coarse));
    tes_mesh_destroy(&mesh);
    if (!coarse) {
      assert_int_equal(l->coarse[i][0], 0);
      break;
    }
    for (int d = 0; d < desc.dim; d++) {
      const int n = tes_mesh_info(coarse).cells_along[d];
      assert_int_equal(n, l->coarse[i][d]);
      assert_true(tes_mesh_info(coarse).coordinates[d][0] == 0);
      assert_true(tes_mesh_info(coarse).coordinates[d][n] == l->upper[d]);
    }
    mesh = coarse;
  }
}

static void numbers_of_cells(void **state) {
  (void)state;
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  const Levels cases[] = {
      {{31, 31}, {1, 1}, {{16, 16}, {8, 8}, {4, 4}, {2, 2}}},
      {{33, 12}, {3, 1}, {{17, 6}, {8, 3}, {4, 3}, {2, 3}}},
      {{1, 5}, {1, 5}, {{1, 3}}},
      {{64, 8}, {8, 1}, {{32, 4}, {16, 2}, {8, 2}, {4, 2}, {2, 2}}}, /* equal cells: the long direction goes on */
      {{8, 8}, {1, 1.45}, {{4, 4}, {2, 2}}},
      {{8, 8}, {1, 4}, {{4, 8}, {2, 8}, {2, 4}, {2, 2}}},
      {{8, 8}, {100, 1}, {{8, 4}, {8, 2}, {4, 2}, {2, 2}}},
      {{8, 8, 8}, {1, 4, 2}, {{4, 8, 8}, {2, 8, 4}, {2, 4, 2}, {2, 2, 2}}},
      {{5, 9, 4}, {5, 9, 4}, {{3, 5, 2}, {3, 2, 2}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_levels(ctx, &cases[i]);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* The last of an odd number stays single where it is at least as wide as its neighbour; else the last three become
 * one. */
static void the_last_of_an_odd_number(void **state) {
  (void)state;
  TesContext *ctx;
  TesMesh *mesh, *coarse, *coarser;
  const double x[] = {0, 1, 3, 4, 5, 7, 8, 10, 11, 12};
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  assert_ok(ctx,
            tes_mesh_create(
                ctx, &(TesMeshDesc){.dim = 2, .cells = {9, 2}, .upper = {1, 8}, .coordinates = {x}}, &mesh));
  assert_ok(ctx, tes_mesh_coarsen(mesh, &coarse));
  assert_ok(ctx, tes_mesh_coarsen(coarse, &coarser));
  const double expected[] = {0, 3, 5, 8, 11, 12}, again[] = {0, 5, 12};
  assert_int_equal(tes_mesh_info(coarse).cells_along[0], 5);
  for (int i = 0; i <= 5; i++) assert_true(tes_mesh_info(coarse).coordinates[0][i] == expected[i]);
  assert_int_equal(tes_mesh_info(coarser).cells_along[0], 2);
  for (int i = 0; i <= 2; i++) assert_true(tes_mesh_info(coarser).coordinates[0][i] == again[i]);
  tes_mesh_destroy(&coarser);
  tes_mesh_destroy(&coarse);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* Of equal cells, however many, the last one is half as wide as the others or more and at most 3/2 of it. */
static void ends_stay_alike(void **state) {
  (void)state;
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  for (int n = 4; n < 700; n += 1 + n / 64) {
    TesMesh *mesh, *coarse;
    assert_ok(ctx, tes_mesh_create(
                       ctx, &(TesMeshDesc){.dim = 2, .cells = {n, n}, .lower = {0.1, 3}, .upper = {1.3, 4.2}},
                       &mesh));
    for (;;) {
      assert_ok(ctx, tes_mesh_coarsen(mesh, &coarse));
      tes_mesh_destroy(&mesh);
      if (!coarse) break;
      const int cells = tes_mesh_info(coarse).cells_along[0];
      const double *x = tes_mesh_info(coarse).coordinates[0], width = x[1] - x[0],
                   last = x[cells] - x[cells - 1];
      if (!(last > 0.499 * width && last < 1.501 * width))
        fail_msg("%d cells: the last of %d is %g times as wide as the first", n, cells, last / width);
      mesh = coarse;
    }
  }
  tes_context_destroy(&ctx);
}

/* ---- solves -------------------------------------------------------------------------------------------- */

typedef struct Solve {
  int dim, degree, cells[3];
  double upper[3]; /* 0: the unit square or cube */
  const char *a;   /* NULL: 1 */
} Solve;

/* u = sin(pi x) sin(pi y / Y) (sin(pi z / Z)) for a = 1; else f = 1 + x y and no error. Returns the iterations, *l2
 * <- the error. */
static int solve(TesContext *ctx, const Solve *s, double *l2) {
  TesFunction *f, *exact, *a = NULL;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  char solution[300], load[400];
  double L[3], sum = 0, h1;
  TesMeshDesc desc = {.dim = s->dim};
  for (int d = 0; d < s->dim; d++) {
    L[d] = desc.upper[d] = s->upper[d] > 0 ? s->upper[d] : 1;
    desc.cells[d] = s->cells[d];
    sum += 1 / (L[d] * L[d]);
  }
  snprintf(solution, sizeof solution, "sin(pi*x/%.17g)*sin(pi*y/%.17g)*%s%.17g%s", L[0], L[1],
           s->dim == 3 ? "sin(pi*z/" : "", s->dim == 3 ? L[2] : 1, s->dim == 3 ? ")" : "");
  snprintf(load, sizeof load, "%.17g*pi*pi*%s", sum, s->a ? "(1 + x*y)" : solution);
  assert_ok(ctx, tes_function_create_expression(ctx, solution, &exact));
  assert_ok(ctx, tes_function_create_expression(ctx, load, &f));
  if (s->a) assert_ok(ctx, tes_function_create_expression(ctx, s->a, &a));
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  const TesBoundary all = {.condition = TES_DIRICHLET};
  const TesProblemDesc problem_desc = {.mesh = mesh,
                                       .degree = s->degree,
                                       .data = {.a = a, .f = {f}},
                                       .exact = {s->a ? NULL : exact},
                                       .boundary = &all,
                                       .boundaries = 1};
  assert_ok(ctx, tes_problem_create(ctx, &problem_desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  if (!s->a) assert_ok(ctx, tes_problem_errors(problem, l2, &h1));
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&f), tes_function_destroy(&exact), tes_function_destroy(&a);
  return result.iterations;
}

/* Counts near those of the next even number. */
static void odd_numbers_cost_few_iterations(void **state) {
  (void)state;
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  for (int variable = 0; variable < 2; variable++)
    for (int dim = 2; dim <= 3; dim++)
      for (int k = 1; k <= (dim == 3 ? 4 : 8); k++) {
        if (!test_degree(k)) continue;
        const int even = dim == 3 ? 8 : k > 4 ? 12 : 24;
        const char *a = variable ? "1/(0.05 + 2*(x*x + y*y + z*z))" : NULL;
        double error, l2 = 0;
        const int most = solve(ctx, &(Solve){dim, k, {even, even, even}, {0}, a}, &error) + 1;
        for (int n = even - 5; n < even; n++) {
          const int iterations = solve(ctx, &(Solve){dim, k, {n, n, n}, {0}, a}, &l2);
          if (iterations > most)
            fail_msg("%dD Q%d, %d cells: %d iterations, at most %d", dim, k, n, iterations, most);
          if (!variable) assert_near(l2, 0, 1.3 * error * pow((double)even / n, k + 1) + 1e-11);
        }
      }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void check_shape(TesContext *ctx, const Solve *s) {
  double l2;
  const int iterations = solve(ctx, s, &l2);
  if (iterations > 12)
    fail_msg("%dD Q%d, %dx%dx%d cells on 1 x %g x %g: %d iterations", s->dim, s->degree, s->cells[0],
             s->cells[1], s->cells[2], s->upper[1], s->upper[2], iterations);
  /* of a sine of norm 2^(-dim/2) sqrt(volume) */
  assert_true(l2 < 0.2 * sqrt(s->upper[1] * (s->dim == 3 ? s->upper[2] : 1)));
}

/* At most 12 iterations whatever the shape of cells and box. */
static void shapes_cost_no_iterations(void **state) {
  (void)state;
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  const double aspects[] = {1.45, 1.55, 3, 10, 100, 1000};
  for (int k = 1; k <= 8; k++)
    for (int i = 0; i < 6 && test_degree(k); i++) {
      const double y = i % 2 ? aspects[i] : 1 / aspects[i];
      const int n = k > 4 ? 8 : 24, m = k > 4 ? 3 : 8;
      check_shape(ctx, &(Solve){2, k, {n, n}, {1, y}, NULL});
      check_shape(ctx, &(Solve){2, k, {n - 1, n + 3}, {1, y}, NULL});
      check_shape(ctx, &(Solve){3, k, {m, m + i % 3, m}, {1, y, 1}, NULL});
      check_shape(ctx, &(Solve){3, k, {m, m, m + 1}, {1, y, sqrt(y)}, NULL});
    }
  for (int k = 1; k <= 8; k += 3) {
    check_shape(ctx, &(Solve){2, k, {3, 512}, {1, 1}, NULL});
    check_shape(ctx, &(Solve){2, k, {512, 5}, {1, 512}, NULL});
    if (k > 1) check_shape(ctx, &(Solve){2, k, {1, 512}, {1, 1}, NULL});
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_cells), cmocka_unit_test(the_last_of_an_odd_number),
      cmocka_unit_test(ends_stay_alike), cmocka_unit_test(odd_numbers_cost_few_iterations),
      cmocka_unit_test(shapes_cost_no_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
