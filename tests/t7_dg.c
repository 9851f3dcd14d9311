/* Run: ctest -R t7_dg. Poisson with discontinuous Q_k from data to solution: the errors and counts of two prototypes,
 * polynomials of the space, and what is refused.
 * Labels: threads */
#include "problem/problem.h"
#include "stokes_testing.h"

static TesContext *ctx;

static TesFunction *function(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

typedef struct Outcome {
  double l2, h1, fractional, residual; /* residual: |b - A u| / |b|, computed */
  int iterations;
} Outcome;

static Outcome solve(const Flow *f, TesProblemDesc desc) {
  Outcome out;
  TesMesh *mesh = flow_mesh(ctx, f);
  TesProblem *problem;
  TesSolveResult result;
  desc.mesh = mesh, desc.degree = f->degree, desc.element = TES_ELEMENT_DG;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_int_equal(tes_space_element(tes_problem_space(problem)), TES_ELEMENT_DG);
  assert_ok(ctx, tes_problem_solve(problem, &result));
  out.l2 = out.h1 = NAN;
  if (desc.exact[0]) assert_ok(ctx, tes_problem_errors(problem, &out.l2, &out.h1));
  out.iterations = result.iterations, out.fractional = result.fractional_iterations;
  TesVector *r;
  double b;
  assert_ok(ctx, tes_vector_create(ctx, tes_vector_length(problem->u), TES_DOUBLE, &r));
  assert_ok(ctx, tes_operator_residual(problem->op, problem->b, problem->u, r));
  assert_ok(ctx, tes_vector_norm(r, &out.residual));
  assert_ok(ctx, tes_vector_norm(problem->b, &b));
  out.residual /= b;
  tes_vector_destroy(&r);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  return out;
}

/* u = prod sin(pi x) e^x. */
static Outcome smooth(const Flow *f, double tolerance) {
  TesFunction *rhs = function(f->dim == 2
                                  ? "-exp(x + y)*(2*(1 - pi*pi)*sin(pi*x)*sin(pi*y) + "
                                    "2*pi*(cos(pi*x)*sin(pi*y) + sin(pi*x)*cos(pi*y)))"
                                  : "-exp(x + y + z)*(3*(1 - pi*pi)*sin(pi*x)*sin(pi*y)*sin(pi*z) + "
                                    "2*pi*(cos(pi*x)*sin(pi*y)*sin(pi*z) + sin(pi*x)*cos(pi*y)*sin(pi*z) + "
                                    "sin(pi*x)*sin(pi*y)*cos(pi*z)))"),
              *exact = function(f->dim == 2 ? "sin(pi*x)*sin(pi*y)*exp(x + y)"
                                            : "sin(pi*x)*sin(pi*y)*sin(pi*z)*exp(x + y + z)");
  const TesProblemDesc desc = {.data = {.f = {rhs}},
                               .exact = {exact},
                               .solver = {.tolerance = tolerance,
                                          .pre = 1, /* their cycle */
                                          .post = 1,
                                          .precision = TES_SOLVE_DOUBLE,
                                          .method = TES_METHOD_GMRES,
                                          .colours = TES_COLOURS_LEXICOGRAPHIC,
                                          .penalty = TES_PENALTY_STANDARD}};
  const Outcome out = solve(f, desc);
  tes_function_destroy(&rhs);
  tes_function_destroy(&exact);
  return out;
}

static void errors_and_counts_are_those_of_the_prototypes(void **state) {
  (void)state;
  static const struct {
    Flow f;
    double fractional, error; /* 0: not known */
  } known[] = {{{.dim = 2, .degree = 2, .cells = {16, 16}}, 3.20, 4.985e-5},
               {{.dim = 2, .degree = 4, .cells = {16, 16}}, 2.90, 8.267e-9},
               {{.dim = 2, .degree = 7, .cells = {16, 16}}, 2.52, 0},
               {{.dim = 2, .degree = 4, .cells = {32, 32}}, 2.92, 0},
               {{.dim = 3, .degree = 2, .cells = {8, 8, 8}}, 2.73, 5.979e-4},
               {{.dim = 3, .degree = 3, .cells = {8, 8, 8}}, 2.77, 3.064e-5},
               {{.dim = 3, .degree = 4, .cells = {8, 8, 8}}, 2.69, 3.925e-7}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i += test_brief() ? 4 : 1) {
    assert_near(smooth(&known[i].f, 1e-8).fractional, known[i].fractional, 0.05);
    const Outcome rough = smooth(&known[i].f, 1e-6);
    assert_in_range(rough.iterations, 2, 3);
    assert_true(rough.residual <= 1e-6);
    if (known[i].error > 0) assert_near(smooth(&known[i].f, 1e-12).l2, known[i].error, 0.01 * known[i].error);
  }
}

static TesStatus random_load(void *user, const TesSpace *space, TesVector *b) {
  double *values = malloc((size_t)tes_vector_length(b) * sizeof *values);
  uint64_t seed = 1;
  (void)user;
  (void)space;
  for (int64_t i = 0; i < tes_vector_length(b); i++) values[i] = test_random(&seed);
  const TesStatus status = tes_vector_set(b, values);
  free(values);
  return status;
}

/* Without smoothing before, too. */
static void random_counts_are_those_of_the_prototypes(void **state) {
  (void)state;
  static const struct {
    Flow f;
    double one, none; /* steps before; 0: not known */
  } known[] = {{{.dim = 2, .degree = 2, .cells = {16, 16}}, 2.98, 4.6},
               {{.dim = 2, .degree = 4, .cells = {16, 16}}, 2.61, 3.7},
               {{.dim = 2, .degree = 7, .cells = {16, 16}}, 2.24, 3.2},
               {{.dim = 2, .degree = 4, .cells = {32, 32}}, 2.62, 0},
               {{.dim = 3, .degree = 2, .cells = {8, 8, 8}}, 2.42, 3.7},
               {{.dim = 3, .degree = 3, .cells = {8, 8, 8}}, 2.30, 0},
               {{.dim = 3, .degree = 4, .cells = {8, 8, 8}}, 2.30, 3.3}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i += test_brief() ? 4 : 1)
    for (int pre = 0; pre < 2; pre++) {
      const double expected = pre ? known[i].one : known[i].none;
      const TesProblemDesc desc = {.add_load = random_load,
                                   .solver = {.tolerance = 1e-8,
                                              .pre = pre ? 1 : -1,
                                              .post = 1,
                                              .precision = TES_SOLVE_DOUBLE,
                                              .method = TES_METHOD_GMRES,
                                              .penalty = TES_PENALTY_STANDARD}};
      if (expected > 0) assert_near(solve(&known[i].f, desc).fractional, expected, 0.2);
    }
}

static void orders_are_those_of_the_elements(void **state) {
  (void)state;
  for (int degree = 1; degree <= 4; degree++) {
    const Flow coarse = {.dim = 2, .degree = degree, .cells = {5, 6}},
               fine = {.dim = 2, .degree = degree, .cells = {10, 12}};
    const Outcome a = smooth(&coarse, 1e-12), b = smooth(&fine, 1e-12);
    assert_true(log2(a.l2 / b.l2) > degree + 0.8);
    assert_true(log2(a.h1 / b.h1) > degree - 0.2);
  }
}

/* Values and fluxes on the boundary, a periodic direction, graded cells, a and c: u is of the space, and errors are
 * round-off. With fluxes alone the constant is that of the exact solution. */
static void polynomials_are_exact(void **state) {
  (void)state;
  static const struct {
    Flow f;
    const char *rhs, *exact, *flux[2]; /* on the left and at the top; NULL: values */
    bool free;
    double c;
  } known[] = {
      {{.dim = 2, .degree = 2, .cells = {4, 3}, .graded = true},
       "-8 + 3*(x*x + x*y + y*y)",
       "x*x + x*y + y*y",
       {"-2*(2*x + y)", "2*(x + 2*y)"},
       false,
       3},
      {{.dim = 2, .degree = 3, .cells = {2, 5}}, "-12*x*y", "x*x*x*y", {NULL, NULL}, false, 0},
      {{.dim = 2, .degree = 2, .cells = {4, 4}, .given = "ppvv"}, "-4", "y*y", {NULL, NULL}, false, 0},
      {{.dim = 2, .degree = 2, .cells = {4, 4}}, "-8", "x*x + y*y", {"-4*x", "4*y"}, true, 0},
      {{.dim = 3, .degree = 2, .cells = {3, 2, 4}}, "-4 + x*x + y*z", "x*x + y*z", {NULL, NULL}, false, 1}};
  TesFunction *two = function("2"), *right = function("4*x*nx + 4*y*ny");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    TesFunction *rhs = function(known[i].rhs), *exact = function(known[i].exact), *c, *flux[2];
    assert_ok(ctx, tes_function_create_constant(ctx, known[i].c, &c));
    for (int k = 0; k < 2; k++) flux[k] = known[i].flux[k] ? function(known[i].flux[k]) : NULL;
    const TesBoundary boundary[] = {
        {.condition = known[i].free ? TES_NEUMANN : TES_DIRICHLET, .g = {known[i].free ? right : exact}},
        {.name = "left", .condition = flux[0] ? TES_NEUMANN : TES_DIRICHLET, .g = {flux[0] ? flux[0] : exact}},
        {.name = "top", .condition = flux[1] ? TES_NEUMANN : TES_DIRICHLET, .g = {flux[1] ? flux[1] : exact}}};
    const TesProblemDesc desc = {.data = {.a = two, .c = c, .f = {rhs}},
                                 .exact = {exact},
                                 .boundaries = 3,
                                 .boundary = boundary,
                                 .solver = {.tolerance = 1e-13, .precision = TES_SOLVE_DOUBLE}};
    const Outcome out = solve(&known[i].f, desc);
    assert_near(out.l2, 0, 1e-11);
    assert_near(out.h1, 0, 1e-10);
    for (int k = 0; k < 2; k++) tes_function_destroy(&flux[k]);
    tes_function_destroy(&rhs);
    tes_function_destroy(&exact);
    tes_function_destroy(&c);
  }
  tes_function_destroy(&two);
  tes_function_destroy(&right);
}

/* All methods solve it, to the same error; so do Jacobi and Chebyshev. */
static void methods_agree(void **state) {
  (void)state;
  const Flow f = {.dim = 2, .degree = 3, .cells = {8, 8}};
  TesFunction *one = function("2*pi*pi*sin(pi*x)*sin(pi*y)"), *exact = function("sin(pi*x)*sin(pi*y)");
  const double expected = smooth(&f, 1e-12).l2;
  assert_true(expected > 0);
  double first = 0;
  for (int way = 0; way < 6; way++) {
    static const TesMethod methods[] = {TES_METHOD_GMRES, TES_METHOD_CG,   TES_METHOD_VCYCLE,
                                        TES_METHOD_FMG,   TES_METHOD_AUTO, TES_METHOD_AUTO};
    const TesSmootherKind smoother = way == 4   ? TES_SMOOTHER_JACOBI
                                     : way == 5 ? TES_SMOOTHER_CHEBYSHEV
                                                : TES_SMOOTHER_AUTO;
    const TesProblemDesc desc = {.data = {.f = {one}},
                                 .exact = {exact},
                                 .solver = {.tolerance = 1e-11, .method = methods[way], .smoother = smoother}};
    const Outcome out = solve(&f, desc);
    if (!way) first = out.l2;
    assert_near(out.l2, first, 1e-3 * first);
  }
  tes_function_destroy(&one);
  tes_function_destroy(&exact);
}

static void bad_input_is_told(void **state) {
  (void)state;
  TesFunction *varies = function("1 + x"), *one = function("1"), *negative = function("-1");
  const TesBoundary robin = {.name = "top", .condition = TES_ROBIN, .alpha = one},
                    free = {.condition = TES_NEUMANN};
  const struct {
    TesProblemDesc desc;
    const char *message;
  } wrong[] = {{{.data = {.a = varies}}, "a is 1 + x, expected a number"},
               {{.data = {.c = varies}}, "c is 1 + x, expected a number"},
               {{.data = {.a = negative}}, "a is -1"},
               {{.data = {.c = negative}}, "c is -1"},
               {{.boundary = &robin, .boundaries = 1},
                "boundary.top: poisson with element dg has dirichlet and neumann; robin belongs to"},
               {{.boundary = &free, .boundaries = 1}, "only fluxes are given and c is 0"},
               {{.degree = 16}, "space.degree: expected 1 to 15 for poisson with element dg, got 16"},
               {{.equation = TES_STOKES},
                "space.element: stokes has the elements rt and q; dg belongs to poisson and transport"},
               {{.solver = {.local = TES_LOCAL_RANK1}},
                "solver.local_solver: poisson with element dg has auto and exact; rank1 belongs to"}};
  TesMesh *mesh = flow_mesh(ctx, &(Flow){.dim = 2, .cells = {4, 4}});
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesProblem *problem;
    TesProblemDesc desc = wrong[i].desc;
    desc.element = TES_ELEMENT_DG, desc.mesh = mesh;
    assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), wrong[i].message))
      fail_msg("expected '%s', got '%s'", wrong[i].message, tes_context_message(ctx));
    tes_context_clear(ctx);
  }
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&varies);
  tes_function_destroy(&one);
  tes_function_destroy(&negative);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_and_counts_are_those_of_the_prototypes),
                                     cmocka_unit_test(random_counts_are_those_of_the_prototypes),
                                     cmocka_unit_test(orders_are_those_of_the_elements),
                                     cmocka_unit_test(polynomials_are_exact),
                                     cmocka_unit_test(methods_agree),
                                     cmocka_unit_test(bad_input_is_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
