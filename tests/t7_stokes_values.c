/* Run: ctest -R t7_stokes_values. Numbers of flows: forces, expressions in velocity and pressure over cells, faces and
 * at points, and functions carried between degrees. */
#include "device/vector.h"
#include "context_testing.h"
#include "stokes_testing.h"

static TesFunction *function(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static double value_of(const TesProblem *p, TesValue what) {
  double value = NAN;
  assert_ok(ctx, tes_problem_value(p, &what, &value));
  return value;
}

static double force(const TesProblem *p, int boundary, const char *of) {
  return value_of(
      p, (TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = boundary, .of = of});
}

static void create_and_solve(TesProblemDesc desc, const TesMesh *mesh, TesProblem **p) {
  TesSolveResult result;
  desc.equation = TES_STOKES, desc.mesh = mesh;
  desc.solver.precision = TES_SOLVE_DOUBLE;
  desc.solver.tolerance = 1e-12;
  assert_ok(ctx, tes_problem_create(ctx, &desc, p));
  assert_ok(ctx, tes_problem_solve(*p, &result));
}

/* What the fluid gives to all boundaries, the force f and the mass term are in balance, on graded cells too. */
static void forces_are_in_balance(void **state) {
  (void)state;
  static const Flow flows[] = {{.dim = 2, .degree = 2, .cells = {4, 3}, .graded = true},
                               {.dim = 2, .degree = 1, .cells = {4, 4}, .given = "ppvvvv"},
                               {.dim = 3, .degree = 1, .cells = {2, 3, 4}, .graded = true}};
  TesFunction *f[3] = {function("1 + x*y"), function("x - 2*y*y"), function("3*x")},
              *g[3] = {function("y*(1 - y)"), function("x*x"), function("0.3")}, *alpha = function("2");
  static const char *const names[] = {"x", "y", "z"}, *const integrals[] = {"1 + x*y - 2*u",
                                                                            "x - 2*y*y - 2*v", "3*x - 2*w"};
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
    TesMesh *mesh = flow_mesh(ctx, &flows[i]);
    TesProblem *p;
    const TesBoundary boundary[] = {{.condition = TES_DIRICHLET, .g = {g[0], NULL, NULL}},
                                    {.name = "top", .condition = TES_NEUMANN, .g = {g[0], g[1], g[2], NULL}},
                                    {.name = "bottom", .condition = TES_DIRICHLET, .g = {g[1], g[1], NULL}}};
    create_and_solve((TesProblemDesc){.degree = flows[i].degree,
                                      .data = {.f = {f[0], f[1], f[2]}, .c = alpha},
                                      .boundary = boundary,
                                      .boundaries = 3},
                     mesh, &p);
    for (int d = 0; d < flows[i].dim; d++) {
      double sum = 0;
      for (int b = flows[i].given ? 2 : 0; b < 2 * flows[i].dim; b++) sum += force(p, b, names[d]);
      assert_near(sum, value_of(p, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = integrals[d]}), 1e-9);
    }
    tes_problem_destroy(&p);
    tes_mesh_destroy(&mesh);
  }
  for (int d = 0; d < 3; d++) tes_function_destroy(&f[d]), tes_function_destroy(&g[d]);
  tes_function_destroy(&alpha);
}

/* Between two walls, periodic in x, the functions that belong to the forces are shear flows, which all spaces have:
 * forces are exact on any mesh, where stresses are not. */
static void forces_between_walls_are_exact(void **state) {
  (void)state;
  TesFunction *u = function("sin(pi*x)*cos(pi*y) + exp(y)"), *v = function("-cos(pi*x)*sin(pi*y)"),
              *fx = function("2*pi*pi*sin(pi*x)*cos(pi*y) - exp(y) + pi*cos(pi*x)*exp(y)"),
              *fy = function("-2*pi*pi*cos(pi*x)*sin(pi*y) + (1 + sin(pi*x))*exp(y)");
  const TesBoundary boundary = {.condition = TES_DIRICHLET, .g = {u, v}};
  const double e = exp(1);
  const struct {
    int boundary;
    const char *of;
    double value;
  } known[] = {{2, "x", 2}, {3, "x", -2 * e}, {2, "y", 2 * (e - 1) - 2}, {3, "y", 2}};
  for (int degree = 1; degree <= 3; degree++) {
    TesMesh *mesh;
    TesProblem *p;
    assert_ok(ctx,
              tes_mesh_create(
                  ctx,
                  &(TesMeshDesc){
                      .kind = TES_MESH_BOX, .dim = 2, .cells = {6, 3}, .upper = {2, 1}, .periodic = {true}},
                  &mesh));
    create_and_solve(
        (TesProblemDesc){.degree = degree, .data = {.f = {fx, fy}}, .boundary = &boundary, .boundaries = 1},
        mesh, &p);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      assert_near(force(p, known[i].boundary, known[i].of), known[i].value, 1e-8);
    tes_problem_destroy(&p);
    tes_mesh_destroy(&mesh);
  }
  TesFunction *all[] = {u, v, fx, fy};
  for (int i = 0; i < 4; i++) tes_function_destroy(&all[i]);
}

/* u = (x^2 y, -x y^2), p = x y - 1/4 on (0, 1)^2, exact for RT_3. */
static void expressions_are_those_of_the_solution(void **state) {
  (void)state;
  TesFunction *u = function("x*x*y"), *v = function("-x*y*y"), *fx = function("-2*y + y"),
              *fy = function("2*x + x");
  const TesBoundary all = {.condition = TES_DIRICHLET, .g = {u, v}};
  TesMesh *mesh = flow_mesh(ctx, &(Flow){.dim = 2, .cells = {4, 3}});
  TesProblem *p;
  create_and_solve((TesProblemDesc){.degree = 3, .data = {.f = {fx, fy}}, .boundary = &all, .boundaries = 1},
                   mesh, &p);
  assert_int_equal(tes_problem_info(p).fields, 3);
  assert_string_equal(tes_problem_info(p).field[2], "p");
  const struct {
    TesValue what;
    double value;
  } known[] = {{{.kind = TES_VALUE_INTEGRAL, .of = "u*u + v*v"}, 2. / 15},
               {{.kind = TES_VALUE_MEAN, .of = "p*p"}, 1. / 9 - 1. / 16},
               {{.kind = TES_VALUE_INTEGRAL, .of = "ux*vy - uy*vx"}, -4. / 9 + 1. / 9},
               {{.kind = TES_VALUE_INTEGRAL, .where = TES_ON_BOUNDARY, .number = 1, .of = "u*nx + v*ny"}, 0.5},
               {{.kind = TES_VALUE_MEAN, .where = TES_ON_BOUNDARY, .number = 3, .of = "p*ny + vx"}, 0.25 - 1},
               {{.kind = TES_VALUE_POINT, .point = {0.3, 0.7}, .of = "vy"}, -0.42},
               {{.kind = TES_VALUE_POINT, .point = {0.3, 0.7}}, 0.063}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_near(value_of(p, known[i].what), known[i].value, 1e-9);
  const char *of[] = {"u", "v", "p"};
  double values[3];
  assert_ok(ctx, tes_problem_sample(p, 1, (const double[]){1, 0}, 3, of, values, NULL));
  assert_near(values[0], 0, 1e-9);
  assert_near(values[2], -0.25, 1e-8);
  tes_problem_destroy(&p);
  tes_mesh_destroy(&mesh);
  TesFunction *functions[] = {u, v, fx, fy};
  for (int i = 0; i < 4; i++) tes_function_destroy(&functions[i]);
}

/* Upwards nothing is lost: down again is what was there. */
static void degrees_are_carried(void **state) {
  (void)state;
  static const Flow flows[] = {{.dim = 2, .degree = 2, .cells = {4, 3}, .given = "ppvvvv", .graded = true},
                               {.dim = 3, .degree = 1, .cells = {2, 3, 4}}};
  for (size_t i = 0; i < 2; i++) {
    Flow high = flows[i];
    high.degree += 2;
    TesSpace *low = flow_space(ctx, &flows[i]), *upper = flow_space(ctx, &high), *other = NULL;
    double *values = flow_random(low, 7);
    TesVector *u = flow_vector(ctx, low, TES_DOUBLE, values), *v = flow_vector(ctx, upper, TES_DOUBLE, NULL),
              *w = flow_vector(ctx, low, TES_DOUBLE, NULL);
    assert_ok(ctx, tes_space_carry(low, u, upper, v));
    assert_ok(ctx, tes_space_carry(upper, v, low, w));
    assert_near(flow_difference(ctx, w, u), 0, 1e-13);
    Flow finer = flows[i];
    finer.cells[0] *= 2;
    other = flow_space(ctx, &finer);
    TesVector *x = flow_vector(ctx, other, TES_DOUBLE, NULL);
    assert_int_equal(tes_space_carry(low, u, other, x), TES_INVALID_INPUT);
    tes_context_clear(ctx);
    TesVector *vectors[] = {u, v, w, x};
    for (int k = 0; k < 4; k++) tes_vector_destroy(&vectors[k]);
    TesSpace *spaces[] = {low, upper, other};
    for (int k = 0; k < 3; k++) tes_space_destroy(&spaces[k]);
    free(values);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_are_in_balance), cmocka_unit_test(forces_between_walls_are_exact),
      cmocka_unit_test(expressions_are_those_of_the_solution), cmocka_unit_test(degrees_are_carried)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
