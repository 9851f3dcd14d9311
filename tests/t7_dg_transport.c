/* Run: ctest -R t7_dg_transport. Transport with discontinuous elements from data to solution: orders, polynomials of
 * the space with all conditions, the numbers of another program, steps of all methods, the balance, refusals.
 * Labels: threads */
#include <stdio.h>
#include "stokes_testing.h"

static TesContext *ctx;

static TesFunction *function(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

typedef struct Outcome {
  double l2, h1;
  int iterations;
  TesBalance balance;
} Outcome;

static Outcome solve(const Flow *f, TesProblemDesc desc) {
  Outcome out = {.l2 = NAN, .h1 = NAN};
  TesMesh *mesh = flow_mesh(ctx, f);
  TesProblem *problem;
  TesSolveResult result;
  desc.mesh = mesh, desc.degree = f->degree, desc.element = TES_ELEMENT_DG, desc.equation = TES_TRANSPORT;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  if (desc.exact[0]) assert_ok(ctx, tes_problem_errors(problem, &out.l2, &out.h1));
  out.iterations = result.iterations;
  out.balance = tes_problem_info(problem).balance;
  out.balance.flux = NULL;
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  return out;
}

/* u = sin(pi x) cos(pi y) + 2, b = (1 + y, x - 0.3), c = 1, all values given. */
static double smooth(int degree, int cells, const char *a_text, const char *f_text, TesTransportForm form) {
  const Flow f = {.dim = 2, .degree = degree, .cells = {cells, cells + 1}};
  TesFunction *a = function(a_text), *b[2] = {function("1 + y"), function("x - 0.3")}, *c = function("1"),
              *u = function("sin(pi*x)*cos(pi*y) + 2"), *rhs = function(f_text);
  const TesBoundary all = {.g = {u}};
  const TesProblemDesc desc = {.data = {.a = a, .b = {b[0], b[1]}, .c = c, .f = {rhs}},
                               .exact = {u},
                               .boundaries = 1,
                               .boundary = &all,
                               .balance = true,
                               .transport_form = form,
                               .solver = {.tolerance = 1e-11, .max_iterations = 400}};
  const Outcome out = solve(&f, desc);
  assert_near(out.balance.defect, 0, 1e-8);
  TesFunction **functions[] = {&a, &b[0], &b[1], &c, &u, &rhs};
  for (int i = 0; i < 6; i++) tes_function_destroy(functions[i]);
  return out.l2;
}

#define CARRIED "(1 + y)*pi*cos(pi*x)*cos(pi*y) - (x - 0.3)*pi*sin(pi*x)*sin(pi*y) + sin(pi*x)*cos(pi*y) + 2"
static void orders_are_those_of_the_elements(void **state) {
  static const char *const a[] = {"1", "1e-4"}, *const f[] = {CARRIED " + 2*pi*pi*sin(pi*x)*cos(pi*y)",
                                                              CARRIED " + 1e-4*2*pi*pi*sin(pi*x)*cos(pi*y)"};
  (void)state;
  for (int way = 0; way < 2; way++)
    for (int degree = 1; degree <= 3; degree++) {
      const TesTransportForm form = degree % 2 ? TES_TRANSPORT_CONVECTIVE : TES_TRANSPORT_CONSERVATIVE;
      const double coarse = smooth(degree, 6, a[way], f[way], form),
                   fine = smooth(degree, 12, a[way], f[way], form), order = log2(coarse / fine);
      if (!(order > degree + (way ? 0.4 : 0.7)))
        fail_msg("degree %d, a = %s: errors %g and %g, order %g", degree, a[way], coarse, fine, order);
    }
}

/* u = x^2 + x y + y^2 (the third: y^2 in a periodic direction) with values, a flux, an outflow whose u_n is given as
 * neumann, in both forms: errors are round-off. b is divergence-free, but for the last row. */
static void polynomials_are_exact(void **state) {
  static const struct {
    Flow f;
    const char *b[3], *rhs, *exact, *flux, *neumann; /* on the left, at the top; NULL: values */
    bool conservative;
  } known[] = {{{.dim = 2, .degree = 2, .cells = {4, 3}, .graded = true},
                {"1 - y", "x"},
                "-8 + (1 - y)*(2*x + y) + x*(x + 2*y)",
                "x*x + x*y + y*y",
                "-2*(2*x + y) + (1 - y)*(x*x + x*y + y*y)",
                "2*(x + 2*y)",
                false},
               {{.dim = 2, .degree = 2, .cells = {3, 9}, .graded = true},
                {"1 - y", "x"},
                "-8 + (1 - y)*(2*x + y) + x*(x + 2*y)",
                "x*x + x*y + y*y",
                "-2*(2*x + y) + (1 - y)*(x*x + x*y + y*y)",
                "2*(x + 2*y)",
                true},
               {{.dim = 2, .degree = 2, .cells = {4, 4}, .given = "ppvv"},
                {"0.5 + y", "0.7"},
                "-4 + 1.4*y",
                "y*y",
                NULL,
                NULL,
                false},
               {{.dim = 3, .degree = 2, .cells = {3, 2, 4}},
                {"1", "-2", "0.5"},
                "-4 + 2*x - 2*z + 0.5*y",
                "x*x + y*z",
                "-2*(2*x) + x*x + y*z",
                "2*z",
                true},
               {{.dim = 2, .degree = 3, .cells = {3, 4}},
                {"1 + x", "y"},
                "-8 + (1 + x)*(2*x + y) + y*(x + 2*y) + 2*(x*x + x*y + y*y)",
                "x*x + x*y + y*y",
                "-2*(2*x + y) + (1 + x)*(x*x + x*y + y*y)",
                NULL,
                true}};
  TesFunction *two = function("2");
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    TesFunction *b[3] = {NULL}, *rhs = function(known[i].rhs), *exact = function(known[i].exact),
                *flux = known[i].flux ? function(known[i].flux) : NULL,
                *neumann = known[i].neumann ? function(known[i].neumann) : NULL;
    for (int d = 0; d < known[i].f.dim; d++) b[d] = function(known[i].b[d]);
    const TesBoundary boundary[] = {
        {.g = {exact}},
        {.name = "left", .condition = flux ? TES_FLUX : TES_DIRICHLET, .g = {flux ? flux : exact}},
        {.name = "top", .condition = neumann ? TES_NEUMANN : TES_DIRICHLET, .g = {neumann ? neumann : exact}}};
    const TesProblemDesc desc = {.data = {.a = two, .b = {b[0], b[1], b[2]}, .f = {rhs}},
                                 .exact = {exact},
                                 .boundaries = known[i].f.given ? 1 : 3,
                                 .boundary = boundary,
                                 .balance = true,
                                 .transport_form = known[i].conservative ? TES_TRANSPORT_CONSERVATIVE
                                                                         : TES_TRANSPORT_CONVECTIVE,
                                 .solver = {.tolerance = 1e-13, .precision = TES_SOLVE_DOUBLE}};
    const Outcome out = solve(&known[i].f, desc);
    if (!(out.l2 < 1e-11) || !(out.h1 < 1e-10) || !(fabs(out.balance.defect) < 1e-10))
      fail_msg("row %d: errors %g and %g, defect %g", (int)i, out.l2, out.h1, out.balance.defect);
    TesFunction **functions[] = {&b[0], &b[1], &b[2], &rhs, &exact, &flux, &neumann};
    for (int k = 0; k < 7; k++) tes_function_destroy(functions[k]);
  }
  tes_function_destroy(&two);
}

/* u = T(t) w with w = x^2 + x y - y^2 of the space: errors are those of time. b depends on t where it moves. Stages of
 * sdirk3 have values on the boundary at their own times, which costs it an order. */
static double time_error(TesTimeMethod method, bool moves, int steps) {
  const Flow f = {.dim = 2, .degree = 2, .cells = {3, 2}};
  TesFunction *a = function("2"), *c = function("3"),
              *b[2] = {function(moves ? "t" : "0.5"), function("1 - 2*x")},
              *u = function("cos(3*t)*(x*x + x*y - y*y)"),
              *rhs = function(
                  moves ? "-3*sin(3*t)*(x*x + x*y - y*y) + cos(3*t)*(3*(x*x + x*y - y*y) + t*(2*x + y) "
                          "+ (1 - 2*x)*(x - 2*y))"
                        : "-3*sin(3*t)*(x*x + x*y - y*y) + cos(3*t)*(3*(x*x + x*y - y*y) + 0.5*(2*x + y) "
                          "+ (1 - 2*x)*(x - 2*y))"),
              *top = function("2*cos(3*t)*(x - 2*y)");
  const TesBoundary boundary[] = {{.g = {u}}, {.name = "top", .condition = TES_NEUMANN, .g = {top}}};
  const TesProblemDesc desc = {.data = {.a = a, .b = {b[0], b[1]}, .c = c, .f = {rhs}},
                               .exact = {u},
                               .boundaries = 2,
                               .boundary = boundary,
                               .balance = method != TES_TIME_IMEX_BDF2,
                               .time = {.end = 1, .step = 1. / steps, .method = method},
                               .solver = {.tolerance = 1e-11, .precision = TES_SOLVE_DOUBLE}};
  const Outcome out = solve(&f, desc);
  if (!moves && method != TES_TIME_IMEX_BDF2 && !(fabs(out.balance.defect) < 1e-9))
    fail_msg("method %d: a defect of %g", (int)method, out.balance.defect);
  TesFunction **functions[] = {&a, &c, &b[0], &b[1], &u, &rhs, &top};
  for (int i = 0; i < 7; i++) tes_function_destroy(functions[i]);
  return out.l2;
}

static void steps_have_their_orders(void **state) {
  static const struct {
    TesTimeMethod method;
    double order;
  } rows[] = {{TES_TIME_BACKWARD_EULER, 1}, {TES_TIME_CRANK_NICOLSON, 2}, {TES_TIME_BDF2, 2},
              {TES_TIME_BDF3, 3},           {TES_TIME_BDF4, 4},           {TES_TIME_SDIRK2, 2},
              {TES_TIME_SDIRK3, 2.2},       {TES_TIME_IMEX_BDF2, 2}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int moves = 0; moves < (test_brief() ? 1 : 2); moves++) {
      const double coarse = time_error(rows[i].method, moves, 16),
                   fine = time_error(rows[i].method, moves, 32), order = log2(coarse / fine);
      if (!(order > rows[i].order - 0.4))
        fail_msg("method %d: errors %g and %g, order %g", (int)rows[i].method, coarse, fine, order);
    }
}

/* The mean of u with a layer, by an independent program: -a Lap u - u_y = 1, u = 0. */
static void layers_are_those_of_another_program(void **state) {
  static const struct {
    const char *a;
    int degree, cells;
    double mean;
  } rows[] = {{"0.01", 1, 32, 0.430423}, {"0.01", 2, 16, 0.430615}, {"0.01", 4, 8, 0.430615},
              {"1e-4", 1, 32, 0.496264}, {"1e-4", 2, 16, 0.495075}, {"1e-4", 4, 8, 0.493990},
              {"1e-6", 1, 32, 0.499956}, {"1e-6", 2, 16, 0.499935}, {"1e-6", 4, 8, 0.499893}};
  TesFunction *b = function("-1"), *f = function("1");
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesFunction *a = function(rows[i].a);
    TesMesh *mesh;
    TesProblem *problem;
    TesSolveResult result;
    double mean;
    assert_ok(ctx,
              tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {rows[i].cells, rows[i].cells}}, &mesh));
    const TesProblemDesc desc = {
        .equation = TES_TRANSPORT,
        .element = TES_ELEMENT_DG,
        .mesh = mesh,
        .degree = rows[i].degree,
        .data = {.a = a, .b = {NULL, b}, .f = {f}},
        .solver = {.tolerance = 1e-8, .penalty = TES_PENALTY_STANDARD, .max_iterations = 15}};
    assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
    assert_ok(ctx, tes_problem_solve(problem, &result));
    assert_ok(ctx, tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &mean));
    assert_near(mean, rows[i].mean, 2e-6);
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
    tes_function_destroy(&a);
  }
  tes_function_destroy(&b), tes_function_destroy(&f);
}

/* A hill that goes round, by an independent program: 3.9472e-3 with Q4 on 16 x 16 cells. */
static void hills_are_those_of_another_program(void **state) {
#define S "(0.0049 + 2e-4*t)"
  const Flow f = {.dim = 2, .degree = 4, .cells = {16, 16}};
  TesFunction *a = function("1e-4"), *b[2] = {function("2*pi*(0.5 - y)"), function("2*pi*(x - 0.5)")},
              *zero = function("0"),
              *u = function("0.0049/" S "*exp(-(pow(x - 0.5 + 0.25*sin(2*pi*t), 2) + "
                            "pow(y - 0.5 - 0.25*cos(2*pi*t), 2))/(2*" S "))");
  const TesBoundary all = {.g = {zero}};
  (void)state;
  if (test_brief()) goto done;
  const TesProblemDesc desc = {.data = {.a = a, .b = {b[0], b[1]}, .f = {zero}},
                               .exact = {u},
                               .boundaries = 1,
                               .boundary = &all,
                               .time = {.end = 1, .step = 0.005, .method = TES_TIME_CRANK_NICOLSON},
                               .solver = {.tolerance = 1e-5, .penalty = TES_PENALTY_STANDARD}};
  assert_near(solve(&f, desc).l2, 3.9472e-3, 1e-6);
done:;
  TesFunction **functions[] = {&a, &b[0], &b[1], &zero, &u};
  for (int i = 0; i < 5; i++) tes_function_destroy(functions[i]);
}

/* A run that stops, writes and goes on has the bits of one that does not; with closed walls and a balance. */
static void runs_go_on(void **state) {
  const Flow f = {.dim = 2, .degree = 3, .cells = {4, 3}, .given = "ppvv"};
  const char *path = "t7_dg_transport.h5";
  TesFunction *b = function("1 + y"), *u = function("sin(2*pi*x)*(1 + y)"), *a = function("0.01");
  TesMesh *mesh = flow_mesh(ctx, &f);
  const TesBoundary closed = {.condition = TES_FLUX};
  double *bits[2] = {NULL};
  int64_t length = 0;
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  for (int stops = 0; stops < 2; stops++) {
    TesProblem *problem;
    TesSolveResult result;
    const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                                 .element = TES_ELEMENT_DG,
                                 .mesh = mesh,
                                 .degree = 3,
                                 .data = {.a = a, .b = {b}},
                                 .initial = {u},
                                 .boundaries = 1,
                                 .boundary = &closed,
                                 .balance = true,
                                 .transport_form = TES_TRANSPORT_CONSERVATIVE,
                                 .time = {.end = 0.2, .step = 0.02, .method = TES_TIME_BDF3},
                                 .solver = {.tolerance = 1e-12}};
    assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
    for (int i = 0; i < 5 && stops; i++) assert_ok(ctx, tes_problem_step(problem, &result));
    if (stops) {
      TesCheckpoint *checkpoint;
      assert_ok(ctx, tes_problem_write(problem, path));
      tes_problem_destroy(&problem);
      assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
      assert_ok(ctx, tes_checkpoint_read(ctx, path, 0, &checkpoint));
      assert_int_equal(tes_space_element(tes_checkpoint_space(checkpoint)), TES_ELEMENT_DG);
      assert_ok(ctx, tes_problem_read(problem, checkpoint));
      tes_checkpoint_destroy(&checkpoint);
      remove(path);
    }
    assert_ok(ctx, tes_problem_solve(problem, &result));
    length = tes_vector_length(tes_problem_solution(problem));
    bits[stops] = calloc((size_t)length, sizeof **bits);
    assert_ok(ctx, tes_vector_get(tes_problem_solution(problem), bits[stops]));
    const TesBalance balance = tes_problem_info(problem).balance;
    assert_near(balance.in + balance.out, 0, 1e-13);
    assert_near(balance.defect, 0, 1e-11);
    tes_problem_destroy(&problem);
  }
  for (int64_t i = 0; i < length; i++) assert_true(bits[0][i] == bits[1][i]);
  free(bits[0]), free(bits[1]);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&a), tes_function_destroy(&b), tes_function_destroy(&u);
}

static void bad_input_is_told(void **state) {
  TesFunction *varies = function("1 + x"), *one = function("1");
  const TesBoundary robin = {.name = "top", .condition = TES_ROBIN, .alpha = one},
                    slip = {.condition = TES_SLIP}, free = {.condition = TES_NEUMANN};
  const struct {
    TesProblemDesc desc;
    const char *message;
  } wrong[] = {
      {{.data = {.a = varies}}, "a is 1 + x, expected a number"},
      {{.boundary = &robin, .boundaries = 1},
       "boundary.top: transport with element dg has dirichlet, neumann, outflow and flux; robin belongs"},
      {{.boundary = &slip, .boundaries = 1},
       "transport with element dg has dirichlet, neumann, outflow and flux; slip belongs"},
      {{.data = {.b = {one}}, .boundary = &free, .boundaries = 1}, "neither a boundary nor c determines u"},
      {{.stabilization = TES_STREAMLINE_ALWAYS},
       "because its upwind traces need no more; supg belongs to transport with element q"},
      {{.data = {.b = {one}}, .solver = {.method = TES_METHOD_CG}}, "transport is not symmetric"}};
  (void)state;
  TesMesh *mesh = flow_mesh(ctx, &(Flow){.dim = 2, .cells = {4, 4}});
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesProblem *problem;
    TesProblemDesc desc = wrong[i].desc;
    desc.element = TES_ELEMENT_DG, desc.mesh = mesh, desc.equation = TES_TRANSPORT;
    assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), wrong[i].message))
      fail_msg("expected '%s', got '%s'", wrong[i].message, tes_context_message(ctx));
    tes_context_clear(ctx);
  }
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&varies), tes_function_destroy(&one);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders_are_those_of_the_elements),
                                     cmocka_unit_test(polynomials_are_exact),
                                     cmocka_unit_test(steps_have_their_orders),
                                     cmocka_unit_test(layers_are_those_of_another_program),
                                     cmocka_unit_test(hills_are_those_of_another_program),
                                     cmocka_unit_test(runs_go_on),
                                     cmocka_unit_test(bad_input_is_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
