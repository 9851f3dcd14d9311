/* Run: ctest -R t7_stokes_varying. Stokes with a viscosity that varies, from data to solution: flows that lie in the
 * space, orders of convergence, and counts of iterations.
 * Labels: threads */
#include "stokes_testing.h"

static TesContext *ctx;

static TesFunction *function(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* What a flow is given by; NULL: 0, or not known. */
typedef struct Given {
  const char *nu, *f[3], *exact[4], *stress[3]; /* stress: on the right, open; NULL[0]: a velocity there too */
  TesFlowForm form;
  TesLocalSolver local;
  double tolerance;
} Given;

static void list(const char *const *text, int count, TesFunction **made, const TesFunction **to) {
  for (int i = 0; i < count; i++) to[i] = made[i] = text[i] ? function(text[i]) : NULL;
}

/* The problem, solved; velocities on all faces but an open one are those of the exact solution. */
static TesProblem *solve(const Flow *flow, const Given *g, TesSolveResult *result) {
  TesFunction *f[3], *exact[4], *stress[3], *nu = function(g->nu);
  TesMesh *mesh = flow_mesh(ctx, flow);
  TesProblem *problem;
  TesBoundary boundary[2] = {{.condition = TES_DIRICHLET}, {.name = "right", .condition = TES_NEUMANN}};
  TesProblemDesc desc = {
      .equation = TES_STOKES,
      .mesh = mesh,
      .degree = flow->degree,
      .data = {.a = nu},
      .flow_form = g->form,
      .boundary = boundary,
      .boundaries = g->stress[0] ? 2 : 1,
      .solver = {
          .tolerance = g->tolerance, .local = g->local, .max_iterations = 60, .precision = TES_SOLVE_DOUBLE}};
  list(g->f, flow->dim, f, desc.data.f);
  list(g->exact, flow->dim + 1, exact, desc.exact);
  list(g->stress, flow->dim, stress, boundary[1].g);
  for (int d = 0; d < flow->dim; d++) boundary[0].g[d] = exact[d];
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, result));
  TesFunction **const lists[] = {f, exact, stress};
  for (int l = 0; l < 3; l++)
    for (int i = 0; i < flow->dim + (l == 1); i++) tes_function_destroy(&lists[l][i]);
  tes_function_destroy(&nu);
  tes_mesh_destroy(&mesh);
  return problem;
}

static TesFlowResult errors_of(const Flow *flow, const Given *g) {
  TesSolveResult result;
  TesFlowResult out;
  TesProblem *problem = solve(flow, g, &result);
  assert_ok(ctx, tes_problem_flow(problem, &out));
  tes_problem_destroy(&problem);
  return out;
}

/* u = (x^2 y, -x y^2), p = x + y, nu = 1 + x + y with 2 nu eps(u): velocities on the boundary, or an open end. */
static void polynomials_are_exact(void **state) {
  (void)state;
  const Given closed = {
      .nu = "1 + x + y",
      .f = {"-(2*y*(1 + x + y) + 4*x*y + x*x - y*y) + 1", "2*x*(1 + x + y) - x*x + y*y + 4*x*y + 1"},
      .exact = {"x*x*y", "-x*y*y", "x + y"},
      .tolerance = 1e-13};
  Given open = closed;
  open.stress[0] = "4*x*y*(1 + x + y) - x - y", open.stress[1] = "(1 + x + y)*(x*x - y*y)";
  const Flow flow = {.dim = 2, .degree = 2, .cells = {4, 3}, .graded = true};
  for (int i = 0; i < 2; i++) {
    const TesFlowResult out = errors_of(&flow, i ? &open : &closed);
    assert_near(out.velocity_l2, 0, 1e-12);
    assert_near(out.pressure_l2, 0, 1e-11);
    assert_near(out.divergence_relative, 0, 1e-12);
  }
}

/* In space with the gradient form: u = (z^2, 0, x^2), p = x, nu = 1 + x z. */
static void polynomials_are_exact_in_space(void **state) {
  (void)state;
  const Flow flow = {.dim = 3, .degree = 2, .cells = {2, 2, 3}};
  const Given given = {.nu = "1 + x*z",
                       .f = {"-2*(1 + x*z) - 2*x*z + 1", NULL, "-2*(1 + x*z) - 2*x*z"},
                       .exact = {"z*z", "0", "x*x", "x"},
                       .form = TES_FLOW_GRADIENT,
                       .tolerance = 1e-13};
  const TesFlowResult out = errors_of(&flow, &given);
  assert_near(out.velocity_l2, 0, 1e-12);
  assert_near(out.pressure_l2, 0, 1e-11);
}

/* Shear of two layers with 1 and 9 of viscosity: the stress is 1.8 in both, and the force on the upper wall too. */
static void layers_are_exact(void **state) {
  (void)state;
  const Given given = {
      .nu = "1 + 8*(y > 0.5)", .exact = {"y < 0.5 ? 1.8*y : 0.8 + 0.2*y", "0", "0"}, .tolerance = 1e-13};
  for (int degree = 1; degree <= 3; degree++) {
    const Flow flow = {.dim = 2, .degree = degree, .cells = {4, 4}};
    TesSolveResult result;
    TesFlowResult out;
    double force;
    TesProblem *problem = solve(&flow, &given, &result);
    assert_ok(ctx, tes_problem_flow(problem, &out));
    assert_near(out.velocity_l2, 0, 1e-12);
    assert_near(out.pressure_l2, 0, 1e-10);
    const TesValue top = {.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = 3, .of = "x"};
    assert_ok(ctx, tes_problem_value(problem, &top, &force));
    assert_near(force, -1.8, 1e-10);
    tes_problem_destroy(&problem);
  }
}

/* u = (sin pi x cos pi y, -cos pi x sin pi y), p = x y, nu = exp(x): order k + 1 in both. */
static void orders_are_those_of_the_elements(void **state) {
  (void)state;
  const Given given = {.nu = "exp(x)",
                       .f = {"2*pi*pi*exp(x)*sin(pi*x)*cos(pi*y) - 2*pi*exp(x)*cos(pi*x)*cos(pi*y) + y",
                             "-2*pi*pi*exp(x)*cos(pi*x)*sin(pi*y) + x"},
                       .exact = {"sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)", "x*y"},
                       .tolerance = 1e-12};
  for (int degree = 1; degree <= 3; degree++) {
    const Flow coarse = {.dim = 2, .degree = degree, .cells = {6, 6}},
               fine = {.dim = 2, .degree = degree, .cells = {12, 12}};
    const TesFlowResult a = errors_of(&coarse, &given), b = errors_of(&fine, &given);
    assert_true(log2(a.velocity_l2 / b.velocity_l2) > degree + 0.8);
    assert_true(log2(a.pressure_l2 / b.pressure_l2) > degree + 0.8);
  }
}

static void count_iterations(const Flow *flow, const Given *given, int most) {
  TesSolveResult result;
  TesProblem *problem = solve(flow, given, &result);
  if (result.iterations > most)
    fail_msg("nu = %s, degree %d: %d iterations, expected %d at most", given->nu, flow->degree,
             result.iterations, most);
  tes_problem_destroy(&problem);
}

/* nu 1000 in a square of cells: at most 16 iterations to 1e-8; smooth ones as the prototypes had them, which count
 * fractions: exact, scaled. */
static void counts_are_bounded(void **state) {
  (void)state;
  static const struct {
    const char *nu;
    TesLocalSolver local;
    int degree, most;
  } known[] = {{"1 + 999*(abs(x - 0.5) < 0.25 && abs(y - 0.5) < 0.25)", TES_LOCAL_AUTO, 2, 16},
               {"1 + 999*(abs(x - 0.5) < 0.25 && abs(y - 0.5) < 0.25)", TES_LOCAL_AUTO, 3, 16},
               {"pow(10, (sin(2*pi*x)*sin(2*pi*y) + 1)/2)", TES_LOCAL_AUTO, 2, 9},
               {"pow(10, (sin(2*pi*x)*sin(2*pi*y) + 1)/2)", TES_LOCAL_EXACT, 2, 7},
               {"pow(100, (sin(2*pi*x)*sin(2*pi*y) + 1)/2)", TES_LOCAL_AUTO, 3, 6},
               {"pow(100, (sin(2*pi*x)*sin(2*pi*y) + 1)/2)", TES_LOCAL_SCALED, 3, 16}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i += test_brief() ? 5 : 1) {
    const Flow flow = {.dim = 2, .degree = known[i].degree, .cells = {16, 16}};
    const Given given = {.nu = known[i].nu,
                         .f = {"sin(12*x*y) + x", "cos(5*x)*exp(y)"},
                         .local = known[i].local,
                         .tolerance = 1e-8};
    count_iterations(&flow, &given, known[i].most);
  }
}

/* An open end, where the symmetric form differs most from the gradient form of the patches: with c of other patches
 * the first row stands at 1e-2 after 60 iterations. */
static void counts_with_open_ends(void **state) {
  (void)state;
  static const struct {
    Flow flow;
    const char *nu;
    TesLocalSolver local;
    int most;
  } known[] = {{{.dim = 2, .degree = 3, .cells = {8, 8}}, "exp(x + y)", TES_LOCAL_AUTO, 15},
               {{.dim = 2, .degree = 2, .cells = {8, 8}}, "1 + 2*exp(-30*(1 - x)^2)", TES_LOCAL_AUTO, 15},
               {{.dim = 2, .degree = 3, .cells = {8, 8}}, "1 + 9*exp(-30*(1 - x)^2)", TES_LOCAL_SCALED, 20},
               {{.dim = 3, .degree = 1, .cells = {4, 4, 4}}, "exp(x + y)", TES_LOCAL_AUTO, 15}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const Given given = {.nu = known[i].nu,
                         .f = {"sin(12*x*y) + x", "cos(5*x)*exp(y)"},
                         .stress = {"0", "0", known[i].flow.dim == 3 ? "0" : NULL},
                         .local = known[i].local,
                         .tolerance = 1e-10};
    count_iterations(&known[i].flow, &given, known[i].most);
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
      cmocka_unit_test(polynomials_are_exact), cmocka_unit_test(polynomials_are_exact_in_space),
      cmocka_unit_test(layers_are_exact),      cmocka_unit_test(orders_are_those_of_the_elements),
      cmocka_unit_test(counts_are_bounded),    cmocka_unit_test(counts_with_open_ends)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
