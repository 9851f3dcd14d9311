/* Run: ctest -R t7_poisson. The whole problem against manufactured solutions: observed orders k+1 in L2 and k in
 * H1, boundary conditions of every kind, graded boxes, variable coefficients, pure Neumann problems.
 * Labels: simd */
#include <string.h>
#include "testing.h"
#include "tessera/tessera.h"

typedef struct Setup {
  const char *name;
  int dim;
  const char *exact, *a, *c; /* a, c NULL: 1, 0 */
  const char *f;
  TesCondition condition[6];
  const char *g[6], *alpha[6];
  bool graded;
} Setup;

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f = NULL;
  if (text) assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

typedef struct Functions {
  TesFunction *exact, *a, *c, *f, *g[6], *alpha[6];
  TesBoundary boundary[6];
} Functions;

static const char *const faces[6] = {"left", "right", "bottom", "top", "back", "front"};

static void make_functions(TesContext *ctx, const Setup *s, TesProblemDesc *desc, Functions *functions) {
  *functions = (Functions){expression(ctx, s->exact),
                           expression(ctx, s->a),
                           expression(ctx, s->c),
                           expression(ctx, s->f),
                           {0},
                           {0},
                           {{0}}};
  desc->exact[0] = functions->exact;
  desc->data = (TesData){.a = functions->a, .c = functions->c, .f = {functions->f}};
  desc->boundary = functions->boundary, desc->boundaries = 2 * s->dim;
  for (int face = 0; face < 6; face++) {
    functions->g[face] = expression(ctx, s->g[face]);
    functions->alpha[face] = expression(ctx, s->alpha[face]);
    functions->boundary[face] = (TesBoundary){.name = faces[face],
                                              .condition = s->condition[face],
                                              .g = {functions->g[face]},
                                              .alpha = functions->alpha[face]};
  }
}

static void destroy_functions(Functions *f) {
  TesFunction **single[] = {&f->exact, &f->a, &f->c, &f->f};
  for (int i = 0; i < 4; i++) tes_function_destroy(single[i]);
  for (int face = 0; face < 6; face++) {
    tes_function_destroy(&f->g[face]);
    tes_function_destroy(&f->alpha[face]);
  }
}

static TesMesh *make_mesh(TesContext *ctx, const Setup *s, int cells) {
  TesMesh *mesh;
  double x[65];
  for (int i = 0; i <= cells; i++) x[i] = (exp(0.7 * i / cells) - 1) / (exp(0.7) - 1);
  TesMeshDesc box = {.dim = s->dim, .cells = {cells, cells, cells}};
  if (s->graded)
    for (int d = 0; d < s->dim; d++) box.coordinates[d] = x;
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  return mesh;
}

static void solve(const Setup *s, int cells, int degree, TesSolvePrecision precision, double *l2, double *h1) {
  TesContext *ctx;
  TesProblem *problem;
  TesSolveResult result;
  Functions functions;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  TesMesh *mesh = make_mesh(ctx, s, cells);
  TesProblemDesc desc = {
      .mesh = mesh, .degree = degree, .solver = {.tolerance = 1e-12, .precision = precision}};
  make_functions(ctx, s, &desc, &functions);
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_true(result.iterations <= 40);
  assert_ok(ctx, tes_problem_errors(problem, l2, h1));
  tes_problem_destroy(&problem);
  destroy_functions(&functions);
  tes_mesh_destroy(&mesh);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* The error falls by 2^(k+1) in L2 and 2^k in H1 between two meshes (within `slack` of the exponent), or is
 * round-off. */
static void check_order(const Setup *s, int degree, int cells, double slack) {
  double l2[2], h1[2];
  for (int level = 0; level < 2; level++)
    solve(s, cells << level, degree, TES_SOLVE_DOUBLE, &l2[level], &h1[level]);
  const double order_l2 = log2(l2[0] / l2[1]), order_h1 = log2(h1[0] / h1[1]);
  if (!(order_l2 >= degree + 1 - slack) && !(l2[1] < 1e-11))
    fail_msg("%s, Q%d: order %.2f in L2 (errors %.3g, %.3g)", s->name, degree, order_l2, l2[0], l2[1]);
  if (!(order_h1 >= degree - slack) && !(h1[1] < 1e-9))
    fail_msg("%s, Q%d: order %.2f in H1 (errors %.3g, %.3g)", s->name, degree, order_h1, h1[0], h1[1]);
  if (!(l2[0] < 0.5 && l2[0] > 0)) fail_msg("%s, Q%d: error %g", s->name, degree, l2[0]);
}

static const Setup square = {
    .name = "square", .dim = 2, .exact = "sin(pi*x)*sin(pi*y)", .f = "2*pi*pi*sin(pi*x)*sin(pi*y)"};
static const Setup cube = {.name = "cube",
                           .dim = 3,
                           .exact = "sin(pi*x)*sin(pi*y)*sin(pi*z)",
                           .f = "3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z)"};
static const Setup graded_square = {.name = "graded square",
                                    .dim = 2,
                                    .exact = "sin(pi*x)*sin(pi*y)",
                                    .f = "2*pi*pi*sin(pi*x)*sin(pi*y)",
                                    .graded = true};
static const Setup graded_cube = {.name = "graded cube",
                                  .dim = 3,
                                  .exact = "sin(pi*x)*sin(pi*y)*sin(pi*z)",
                                  .f = "3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z)",
                                  .graded = true};
/* u = exp(x) cos(y): harmonic; values on three faces, flux and Robin data on the others */
static const Setup mixed_square = {
    .name = "mixed conditions",
    .dim = 2,
    .exact = "exp(x)*cos(y)",
    .f = "exp(x)*cos(y)", /* -lap u + c u with c = 1 */
    .c = "1",
    .condition = {TES_DIRICHLET, TES_NEUMANN, TES_ROBIN, TES_DIRICHLET},
    .g = {"exp(x)*cos(y)", "exp(x)*cos(y)", "exp(x)*(sin(y) + 2*cos(y))", "exp(x)*cos(y)"},
    .alpha = {NULL, NULL, "2", NULL}};
static const Setup variable_square = {
    .name = "variable coefficient",
    .dim = 2,
    .exact = "sin(pi*x)*sin(pi*y)",
    .a = "1 + x*y",
    .c = "x",
    .f = "(1 + x*y)*2*pi*pi*sin(pi*x)*sin(pi*y) - pi*y*cos(pi*x)*sin(pi*y) - "
         "pi*x*sin(pi*x)*cos(pi*y) + x*sin(pi*x)*sin(pi*y)"};
/* variable a and alpha, flux and Robin data on the faces of a cube; u = exp(x + y/2) cos(z) */
static const Setup variable_cube = {
    .name = "variable cube",
    .dim = 3,
    .exact = "exp(x + y/2)*cos(z)",
    .a = "1 + x",
    .f = "-(1 + x)*0.25*exp(x + y/2)*cos(z) - exp(x + y/2)*cos(z)",
    .condition = {TES_DIRICHLET, TES_NEUMANN, TES_DIRICHLET, TES_ROBIN, TES_DIRICHLET, TES_DIRICHLET},
    .g = {"exp(x + y/2)*cos(z)", "2*exp(x + y/2)*cos(z)", "exp(x + y/2)*cos(z)",
          "((1 + x)/2 + 1 + z)*exp(x + y/2)*cos(z)", "exp(x + y/2)*cos(z)", "exp(x + y/2)*cos(z)"},
    .alpha = {NULL, NULL, NULL, "1 + z", NULL, NULL}};
/* only fluxes: unique up to a constant, which the exact solution fixes */
static const Setup neumann_square = {.name = "pure Neumann",
                                     .dim = 2,
                                     .exact = "cos(pi*x)*cos(2*pi*y) + x",
                                     .f = "5*pi*pi*cos(pi*x)*cos(2*pi*y)",
                                     .condition = {TES_NEUMANN, TES_NEUMANN, TES_NEUMANN, TES_NEUMANN},
                                     .g = {"-1", "1", NULL, NULL}};

static void orders_in_2d(void **state) {
  (void)state;
  for (int k = 1; k <= 8; k++) check_order(&square, k, k <= 2 ? 8 : 4, 0.15);
}

static void orders_in_3d(void **state) {
  (void)state;
  for (int k = 1; k <= 8; k++) check_order(&cube, k, k <= 3 ? 4 : 2, 0.35);
}

static void orders_on_graded_boxes(void **state) {
  (void)state;
  for (int k = 1; k <= 8; k++) check_order(&graded_square, k, k <= 3 ? 8 : 4, 0.3);
  for (int k = 1; k <= 8; k++) check_order(&graded_cube, k, k <= 6 ? 4 : 3, 0.4);
}

static void orders_with_mixed_conditions(void **state) {
  (void)state;
  for (int k = 1; k <= 6; k++) check_order(&mixed_square, k, 4, 0.25);
}

static void orders_with_variable_coefficients(void **state) {
  (void)state;
  for (int k = 1; k <= 8; k++) check_order(&variable_square, k, 4, 0.35);
  for (int k = 1; k <= 8; k++) check_order(&variable_cube, k, 2, 0.4);
}

static void orders_with_variable_coefficients_on_graded_boxes(void **state) {
  (void)state;
  Setup square_too = variable_square, cube_too = variable_cube;
  square_too.name = "variable coefficient, graded square", square_too.graded = true;
  cube_too.name = "variable coefficient, graded cube", cube_too.graded = true;
  for (int k = 1; k <= 8; k++) check_order(&square_too, k, k <= 2 ? 8 : 4, 0.4);
  for (int k = 1; k <= 8; k++) check_order(&cube_too, k, k <= 6 ? 4 : 3, 0.4);
}

static void orders_of_a_pure_neumann_problem(void **state) {
  (void)state;
  for (int k = 1; k <= 5; k++) check_order(&neumann_square, k, 8, 0.3);
}

/* A level that is solved by conjugate gradients, whose right-hand sides come from float32 and have a mean by rounding:
 * with the mean left in 13 iterations. */
static void pure_neumann_with_a_coefficient_that_jumps(void **state) {
  (void)state;
  TesContext *ctx;
  TesFunction *a, *f;
  TesProblem *problem;
  TesMesh *mesh;
  TesSolveResult result;
  const TesBoundary natural = {.condition = TES_NEUMANN};
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  const TesMeshDesc box = {.dim = 3, .cells = {2, 3, 6}, .upper = {4, 30, 1}};
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  assert_ok(ctx, tes_function_create_expression(ctx, "1.2 - (x > 2)*0.1 + 0.1*(y > 10) - 0.02*(z > 0.5)", &a));
  assert_ok(ctx, tes_function_create_expression(ctx, "x - 2 + y - 15", &f));
  const TesProblemDesc desc = {.mesh = mesh,
                               .degree = 2,
                               .data = {.a = a, .f = {f}},
                               .boundary = &natural,
                               .boundaries = 1,
                               .solver = {.tolerance = 1e-8}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_in_range(result.iterations, 1, 5);
  tes_problem_destroy(&problem);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static void odd_and_single_cells(void **state) {
  (void)state;
  const int cells[] = {1, 2, 3, 5, 6, 7, 12};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    double l2, h1;
    solve(&square, cells[i], 6, TES_SOLVE_MIXED, &l2, &h1);
    assert_near(l2, 0, 0.01 * pow(cells[i], -6));
    solve(&cube, cells[i], 4, TES_SOLVE_MIXED, &l2, &h1);
    assert_near(l2, 0, 0.03 * pow(cells[i], -4));
  }
}

static void unbalanced_data_and_negative_tolerances_are_refused(void **state) {
  (void)state;
  TesContext *ctx;
  TesProblem *problem;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  TesMesh *mesh = make_mesh(ctx, &square, 4);
  const TesBoundary natural = {.condition = TES_NEUMANN};
  TesProblemDesc desc = {.mesh = mesh, .degree = 2, .boundary = &natural, .boundaries = 1};
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  assert_null(problem);
  assert_non_null(strstr(tes_context_message(ctx), "int f + int g = 0; here it is 1"));
  tes_context_clear(ctx);
  desc.solver.tolerance = -1;
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "tolerance is -1, expected a number above 0"));
  tes_mesh_destroy(&mesh);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* A smoother of the program (t7_own_smoother has one that works). */
static TesStatus apply_nothing(void *user, void *plan, const TesOperator *op, const TesVector *b,
                               TesVector *x, TesSweep sweep, bool zero_guess) {
  (void)user, (void)plan, (void)op, (void)b, (void)x, (void)sweep, (void)zero_guess;
  return TES_OK;
}

static void smoothers_that_do_not_fit_are_refused(void **state) {
  static const TesSmootherOwn empty = {.name = "empty"}, own = {.apply = apply_nothing};
  static const struct {
    TesSolveOptions solver;
    const char *message;
  } rows[] = {{{.own_smoother = &empty}, "needs apply"},
              {{.own_smoother = &own, .smoother = TES_SMOOTHER_JACOBI}, "own_smoother"}};
  (void)state;
  TesContext *ctx;
  TesProblem *problem;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  TesMesh *mesh = make_mesh(ctx, &square, 4);
  for (int i = 0; i < 2; i++) {
    const TesProblemDesc desc = {.mesh = mesh, .degree = 2, .solver = rows[i].solver};
    assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(ctx), rows[i].message));
    tes_context_clear(ctx);
  }
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders_in_2d),
      cmocka_unit_test(orders_in_3d),
      cmocka_unit_test(orders_on_graded_boxes),
      cmocka_unit_test(orders_with_mixed_conditions),
      cmocka_unit_test(orders_with_variable_coefficients),
      cmocka_unit_test(orders_with_variable_coefficients_on_graded_boxes),
      cmocka_unit_test(orders_of_a_pure_neumann_problem),
      cmocka_unit_test(pure_neumann_with_a_coefficient_that_jumps),
      cmocka_unit_test(odd_and_single_cells),
      cmocka_unit_test(unbalanced_data_and_negative_tolerances_are_refused),
      cmocka_unit_test(smoothers_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
