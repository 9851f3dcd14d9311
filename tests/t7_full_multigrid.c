/* Run: ctest -R t7_full_multigrid. Full multigrid where boundary values are not zero: its first result, before any
 * iteration, has at most 1.1 times the error of the Galerkin solution; solutions that the coarsest space holds are
 * there to round-off. Element rt of Stokes, dg and q of Poisson.
 * Labels: threads */
#include "context_testing.h"
#include "stokes_testing.h"

/* A solution by its components, the pressure of a flow last, and its data. */
typedef struct Solution {
  const char *u[4], *f[3], *nu, *alpha;
} Solution;

typedef struct Run {
  TesElement element;
  int dim, degree, cells[3];
  bool graded;
  TesFlowForm form;
  const TesBoundary *boundary; /* NULL: all values are given */
  int boundaries;
} Run;

enum { FUNCTIONS = 9 };
typedef struct Errors {
  int iterations;
  double error[2]; /* velocity and pressure; of Poisson u and its gradient */
} Errors;

static TesFunction *function(const char *text) {
  TesFunction *f = NULL;
  if (text) assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static Errors solve(const Run *run, const Solution *s, TesSolveOptions options) {
  TesFunction *u[4], *f[3], *nu = function(s->nu), *alpha = function(s->alpha);
  const bool flow = run->element == TES_ELEMENT_RT;
  TesMesh *mesh = flow_mesh(ctx, &(Flow){.dim = run->dim,
                                         .cells = {run->cells[0], run->cells[1], run->cells[2]},
                                         .graded = run->graded});
  TesProblem *problem;
  TesSolveResult result;
  Errors out;
  for (int i = 0; i < 4; i++) u[i] = function(s->u[i]);
  for (int i = 0; i < 3; i++) f[i] = function(s->f[i]);
  TesBoundary all = {.condition = TES_DIRICHLET};
  for (int i = 0; i < (flow ? run->dim : 1); i++) all.g[i] = u[i];
  TesProblemDesc desc = {.equation = flow ? TES_STOKES : TES_POISSON,
                         .element = run->element,
                         .mesh = mesh,
                         .degree = run->degree,
                         .flow_form = run->form,
                         .boundary = run->boundary ? run->boundary : &all,
                         .boundaries = run->boundary ? run->boundaries : 1,
                         .data = {.a = nu, .c = alpha, .f = {f[0], f[1], f[2]}},
                         .exact = {u[0], u[1], u[2], u[3]},
                         .solver = options};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  out.iterations = result.iterations;
  if (flow) {
    TesFlowResult is;
    assert_ok(ctx, tes_problem_flow(problem, &is));
    out.error[0] = is.velocity_l2, out.error[1] = is.pressure_l2;
    assert_true(is.divergence_relative < 1e-11);
  } else {
    assert_ok(ctx, tes_problem_errors(problem, &out.error[0], &out.error[1]));
  }
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  TesFunction **all_functions[FUNCTIONS] = {&nu, &alpha, &u[0], &u[1], &u[2], &u[3], &f[0], &f[1], &f[2]};
  for (int i = 0; i < FUNCTIONS; i++) tes_function_destroy(all_functions[i]);
  return out;
}

/* The first result, with float32 cycles, beside the Galerkin solution. */
static void expect_the_error_of_galerkin(const Run *run, const Solution *s) {
  const Errors galerkin =
      solve(run, s,
            (TesSolveOptions){.method = TES_METHOD_GMRES, .tolerance = 1e-13, .precision = TES_SOLVE_DOUBLE});
  const Errors first = solve(run, s, (TesSolveOptions){.method = TES_METHOD_FMG, .tolerance = 0.1});
  assert_int_equal(first.iterations, 0);
  for (int i = 0; i < 2; i++)
    if (!(first.error[i] <= 1.1 * galerkin.error[i]))
      fail_msg("element %d, %dD, degree %d: error %d is %.3e, of Galerkin %.3e", (int)run->element, run->dim,
               run->degree, i, first.error[i], galerkin.error[i]);
}

/* Flows with normal and tangential velocities at all walls. */
static const Solution
    plane = {{"sin(pi*x)*cos(pi*y) + y", "-cos(pi*x)*sin(pi*y) + x", "exp(x)*cos(pi*y)", NULL},
             {"2*pi*pi*sin(pi*x)*cos(pi*y) + exp(x)*cos(pi*y)",
              "-2*pi*pi*cos(pi*x)*sin(pi*y) - pi*exp(x)*sin(pi*y)"},
             NULL,
             NULL},
    plane_alpha = {{"sin(pi*x)*cos(pi*y) + y", "-cos(pi*x)*sin(pi*y) + x", "exp(x)*cos(pi*y)", NULL},
                   {"2*pi*pi*sin(pi*x)*cos(pi*y) + exp(x)*cos(pi*y) + 100*(sin(pi*x)*cos(pi*y) + y)",
                    "-2*pi*pi*cos(pi*x)*sin(pi*y) - pi*exp(x)*sin(pi*y) + "
                    "100*(x - cos(pi*x)*sin(pi*y))"},
                   NULL,
                   "100"},
    space = {{"sin(pi*x)*cos(pi*y)*exp(z) + y*z", "-cos(pi*x)*sin(pi*y)*exp(z) + x*x", "sin(pi*x)*cos(pi*y)",
              "exp(x)*cos(pi*y)"},
             {"(2*pi*pi - 1)*sin(pi*x)*cos(pi*y)*exp(z) + exp(x)*cos(pi*y)",
              "(1 - 2*pi*pi)*cos(pi*x)*sin(pi*y)*exp(z) - 2 - pi*exp(x)*sin(pi*y)",
              "2*pi*pi*sin(pi*x)*cos(pi*y)"},
             NULL,
             NULL};

static void flows_reach_the_error(void **state) {
  (void)state;
  const Run runs[] = {
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 1, .cells = {32, 32}},
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 2, .cells = {32, 32}},
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 3, .cells = {32, 32}},
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 4, .cells = {16, 16}},
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 1, .cells = {24, 13}, .graded = true},
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 3, .cells = {24, 13}, .graded = true},
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 1, .cells = {16, 16}, .form = TES_FLOW_SYMMETRIC},
      {.element = TES_ELEMENT_RT, .dim = 2, .degree = 2, .cells = {16, 16}, .form = TES_FLOW_SYMMETRIC}};
  const size_t step = test_brief() ? 3 : 1;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i += step)
    expect_the_error_of_galerkin(&runs[i], &plane);
  for (int i = test_brief() ? 4 : 0; i < 5; i++) expect_the_error_of_galerkin(&runs[i], &plane_alpha);
  const Run cubes[] = {{.element = TES_ELEMENT_RT, .dim = 3, .degree = 1, .cells = {8, 8, 8}},
                       {.element = TES_ELEMENT_RT, .dim = 3, .degree = 2, .cells = {8, 8, 8}},
                       {.element = TES_ELEMENT_RT, .dim = 3, .degree = 1, .cells = {8, 8, 8}, .graded = true},
                       {.element = TES_ELEMENT_RT, .dim = 3, .degree = 2, .cells = {6, 6, 4}}};
  for (size_t i = 0; i < sizeof cubes / sizeof *cubes; i += step)
    expect_the_error_of_galerkin(&cubes[i], &space);
}

static void scalars_reach_the_error(void **state) {
  (void)state;
  const Solution u = {{"exp(x)*cos(y) + sin(2*x)*y"}, {"4*sin(2*x)*y"}, NULL, NULL},
                 v = {{"exp(x)*cos(y)*(1 + z) + sin(2*x)*y"}, {"4*sin(2*x)*y"}, NULL, NULL},
                 varying = {{"exp(x)*cos(y)"}, {"-exp(x)*(cos(y) - sin(y))"}, "1 + x + y", NULL};
  for (TesElement element = TES_ELEMENT_Q; element <= TES_ELEMENT_DG; element++) {
    if (element != TES_ELEMENT_Q && element != TES_ELEMENT_DG) continue;
    for (int degree = 1; degree <= 3; degree++) {
      const Run square = {.element = element, .dim = 2, .degree = degree, .cells = {32, 32}},
                odd = {.element = element, .dim = 2, .degree = degree, .cells = {13, 12}, .graded = true},
                cube = {.element = element, .dim = 3, .degree = degree, .cells = {8, 8, 8}};
      expect_the_error_of_galerkin(&square, &u);
      expect_the_error_of_galerkin(&odd, &u);
      expect_the_error_of_galerkin(&cube, &v);
      if (element == TES_ELEMENT_Q) expect_the_error_of_galerkin(&square, &varying);
    }
  }
}

/* Each level has it, so that nothing is left for the cycles. */
static void expect_round_off(const Run *run, const Solution *s) {
  const Errors first = solve(
      run, s, (TesSolveOptions){.method = TES_METHOD_FMG, .tolerance = 0.1, .precision = TES_SOLVE_DOUBLE});
  assert_int_equal(first.iterations, 0);
  assert_near(first.error[0], 0, 1e-11);
  assert_near(first.error[1], 0, 1e-10);
}

static void solutions_of_the_coarsest_space_are_exact(void **state) {
  (void)state;
  const Solution flow = {{"y*y + x", "x*x - y", "x - y"}, {"-1", "-3"}, NULL, NULL},
                 damped = {{"y*y + x", "x*x - y", "x - y"}, {"-1 + 7*(y*y + x)", "-3 + 7*(x*x - y)"}, NULL, "7"},
                 thick = {{"y*y + x", "x*x - y", "x - y"}, {"-3 - 2*x", "-3 - 4*x - 2*y"}, "1 + x", NULL},
                 solid = {{"y*z + x*x", "z - 2*x*y", "x*y", "z - x"}, {"-3", "0", "1"}, NULL, NULL},
                 quadratic = {{"x*x + x*y - 2*y"}, {"-2"}, NULL, NULL};
  const Run square = {.element = TES_ELEMENT_RT, .dim = 2, .degree = 2, .cells = {16, 16}},
            graded = {.element = TES_ELEMENT_RT, .dim = 2, .degree = 2, .cells = {11, 8}, .graded = true},
            symmetric = {.element = TES_ELEMENT_RT,
                         .dim = 2,
                         .degree = 3,
                         .cells = {8, 12},
                         .form = TES_FLOW_SYMMETRIC},
            cube = {.element = TES_ELEMENT_RT, .dim = 3, .degree = 2, .cells = {4, 6, 8}},
            q = {.element = TES_ELEMENT_Q, .dim = 2, .degree = 2, .cells = {16, 9}, .graded = true},
            dg = {.element = TES_ELEMENT_DG, .dim = 2, .degree = 2, .cells = {16, 9}, .graded = true};
  expect_round_off(&square, &flow);
  expect_round_off(&graded, &flow);
  expect_round_off(&graded, &damped);
  expect_round_off(&symmetric, &flow);
  expect_round_off(&square, &thick);
  expect_round_off(&cube, &solid);
  expect_round_off(&q, &quadratic);
  expect_round_off(&dg, &quadratic);
}

/* A channel: what enters, walls, slip in the middle, and a stress where it leaves. */
static void open_and_slipping_faces(void **state) {
  (void)state;
  const Solution channel = {{"4*y*(2 - y)", "0", "8*(1 - x) + 3"}, {NULL}, NULL, NULL};
  TesFunction *u = function("4*y*(2 - y)"), *stress = function("-3*nx");
  const TesBoundary boundary[] = {{.condition = TES_DIRICHLET},
                                  {.name = "left", .condition = TES_DIRICHLET, .g = {u}},
                                  {.name = "right", .condition = TES_NEUMANN, .g = {stress}},
                                  {.name = "top", .condition = TES_SLIP}};
  const Run run = {
      .element = TES_ELEMENT_RT, .dim = 2, .degree = 2, .cells = {8, 8}, .boundary = boundary, .boundaries = 4};
  expect_round_off(&run, &channel);
  tes_function_destroy(&u);
  tes_function_destroy(&stress);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flows_reach_the_error), cmocka_unit_test(scalars_reach_the_error),
      cmocka_unit_test(solutions_of_the_coarsest_space_are_exact), cmocka_unit_test(open_and_slipping_faces)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
