/* Run: ctest -R t7_elastic_adapt. The residual estimator of elasticity: nothing is left of solutions that the elements
 * hold, with tractions, springs and hanging nodes; order and effectivity for a smooth field in 2D and
 * 3D; adaptive meshes of an L, where the corner takes its order from uniform ones; refusals. */
#include <string.h>
#include "elasticity_testing.h"

/* u = (x^2 + x y, y^2 - x y), lambda = 2, mu = 1: sxx = 6x + 8y, syy = 10y, sxy = x - y. False: no trees. */
static bool quadratic(bool wrong, double *estimate) {
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  double sum = 0;
  const TesStatus made = tes_mesh_create(
      ctx,
      &(TesMeshDesc){
          .kind = TES_MESH_FOREST, .dim = 2, .cells = {3, 2}, .refine_where = keep(expression("0.6 - x - y"))},
      &mesh);
  if (made == TES_MISSING) return false;
  assert_ok(ctx, made);
  const TesFunction *u = keep(expression("x*x + x*y")), *v = keep(expression("y*y - x*y")),
                    *shear = keep(expression("x - y"));
  const TesBoundary boundary[] = {
      {.name = "left", .condition = TES_DIRICHLET, .g = {u, v}},
      {.name = "bottom", .condition = TES_DIRICHLET, .g = {u, v}},
      {.name = "right",
       .condition = TES_NEUMANN,
       .g = {keep(expression(wrong ? "6*x + 8.1*y" : "6*x + 8*y")), shear}},
      {.name = "top",
       .condition = TES_ROBIN,
       .alpha = keep(constant(3)),
       .g = {keep(expression("x - y + 3*(x*x + x*y)")), keep(expression("10*y + 3*(y*y - x*y)"))}}};
  const TesProblemDesc desc = {.equation = TES_ELASTICITY,
                               .mesh = mesh,
                               .degree = 2,
                               .data = {.lambda = keep(constant(2)),
                                        .a = keep(constant(1)),
                                        .f = {keep(constant(-5)), keep(constant(-11))}},
                               .boundary = boundary,
                               .boundaries = 4,
                               .solver = {.tolerance = 1e-13}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  const int64_t cells = tes_mesh_info(mesh).cells;
  double *eta2 = calloc((size_t)cells, sizeof *eta2);
  assert_ok(ctx, tes_estimate_residual(problem, eta2));
  for (int64_t c = 0; c < cells; c++) sum += eta2[c];
  *estimate = sqrt(sum);
  free(eta2);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  return true;
}

static void solutions_of_the_space_leave_nothing(void **state) {
  double estimate;
  (void)state;
  if (quadratic(true, &estimate)) {
    assert_true(estimate > 1e-3); /* the traction is another one */
    assert_true(quadratic(false, &estimate));
    print_message("of a quadratic field: %g\n", estimate);
  }
  forget();
}

typedef struct Steps {
  int count;
  double estimate[20], effectivity[20], dofs[20];
} Steps;

static TesStatus note(void *user, const TesAdaptStep *at) {
  Steps *s = user;
  s->estimate[s->count] = at->estimate, s->effectivity[s->count] = at->effectivity;
  s->dofs[s->count++] = (double)at->dofs;
  return TES_OK;
}

/* u = (sin 2x cos y, y^2 exp x, 0), lambda = 2, mu = 1. */
static bool smooth(int dim, int degree, int cells, Steps *steps) {
  TesMesh *mesh;
  const TesStatus made = tes_mesh_create(
      ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = dim, .cells = {cells, cells, cells}}, &mesh);
  if (made == TES_MISSING) return false;
  assert_ok(ctx, made);
  TesFunction *u[3] = {keep(expression("sin(2*x)*cos(y)")), keep(expression("exp(x)*y*y")), keep(constant(0))};
  const TesBoundary boundary = {.condition = TES_DIRICHLET, .g = {u[0], u[1], u[2]}};
  TesProblemDesc desc = {
      .equation = TES_ELASTICITY,
      .mesh = mesh,
      .degree = degree,
      .data = {.lambda = keep(constant(2)),
               .a = keep(constant(1)),
               .f = {keep(expression("17*sin(2*x)*cos(y) - 6*y*exp(x)")),
                     keep(expression("6*sin(y)*cos(2*x) - (y*y + 8)*exp(x)")), keep(constant(0))}},
      .boundary = &boundary,
      .boundaries = 1,
      .solver = {.tolerance = 1e-11}};
  for (int c = 0; c < dim; c++) desc.exact[c] = u[c];
  *steps = (Steps){0};
  const TesAdaptDesc adapt = {
      .marking = TES_MARK_FRACTION, .fraction = 1, .steps = 2, .report = note, .report_user = steps};
  assert_ok(ctx, tes_adapt_run(ctx, &desc, &adapt, NULL));
  tes_mesh_destroy(&mesh);
  forget();
  return true;
}

static void orders_and_effectivities(void **state) {
  Steps s;
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= (dim == 2 ? 5 : 2) && smooth(dim, degree, dim == 2 ? 4 : 2, &s); degree++) {
      const double order = log2(s.estimate[0] / s.estimate[1]);
      print_message("%dD, Q%d: estimate %.3e, order %.2f, effectivity %.2f\n", dim, degree, s.estimate[1],
                    order, s.effectivity[1]);
      assert_true(order > degree - 0.25 && order < degree + 0.25);
      assert_true(s.effectivity[1] > 1.5 && s.effectivity[1] < 5);
      assert_near(s.effectivity[1], s.effectivity[0], 0.15 * s.effectivity[1]);
    }
}

/* Estimates over unknowns: adapted cells keep order k / 2, uniform ones have that of the corner, 0.27 and less. */
static void an_l_is_refined_at_its_corner(void **state) {
  double rate[2];
  (void)state;
  for (int uniform = 0; uniform < 2; uniform++) {
    TesMesh *mesh;
    Steps s = {0};
    const TesStatus made = tes_mesh_create(
        ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .domain = TES_DOMAIN_L_SHAPE, .refine = 1},
        &mesh);
    if (made == TES_MISSING) return;
    assert_ok(ctx, made);
    const TesFunction *one = keep(constant(1));
    const TesProblemDesc desc = {.equation = TES_ELASTICITY,
                                 .mesh = mesh,
                                 .degree = 2,
                                 .data = {.lambda = one, .a = one, .f = {one, one}}};
    const TesAdaptDesc adapt = {.marking = uniform ? TES_MARK_FRACTION : TES_MARK_BULK,
                                .fraction = uniform ? 1 : 0.5,
                                .steps = uniform ? 4 : 14,
                                .report = note,
                                .report_user = &s};
    assert_ok(ctx, tes_adapt_run(ctx, &desc, &adapt, NULL));
    rate[uniform] = log(s.estimate[2] / s.estimate[s.count - 1]) / log(s.dofs[s.count - 1] / s.dofs[2]);
    print_message("%s: %.0f unknowns, estimate %.3e, rate %.2f\n", uniform ? "uniform" : "adapted",
                  s.dofs[s.count - 1], s.estimate[s.count - 1], rate[uniform]);
    tes_mesh_destroy(&mesh);
    forget();
  }
  assert_true(rate[0] > 0.85);
  assert_true(rate[1] < 0.5);
}

/* ---- goals --------------------------------------------------------------------------------------------- */

typedef struct Known {
  int steps;
  double value, estimate[12], upper[12], error[12];
} Known;

static TesStatus compare(void *user, const TesAdaptStep *at) {
  Known *k = user;
  k->estimate[k->steps] = at->estimate, k->upper[k->steps] = at->upper;
  k->error[k->steps++] = k->value - at->goal;
  if (isfinite(at->error)) assert_near(at->error, k->value - at->goal, 1e-9);
  return TES_OK;
}

/* u = (sin(pi x/2) sin(pi y), y (1 - y) sin x) on a square that is held at the left, lambda = 2, mu = 1: goals of all
 * kinds, whose values are known; the force by sigma n. */
static void estimates_of_goals(void **state) {
  static const struct {
    TesGoal goal;
    double value;
  } goals[] = {{{.kind = TES_GOAL_POINT, .point = {0.5, 0.5}, .of = "v"}, 0.119856384651},
               {{.kind = TES_GOAL_INTEGRAL}, 0.405284734569},
               {{.kind = TES_GOAL_MEAN, .where = "domain", .of = "v"}, 0.0766162823553},
               {{.kind = TES_GOAL_INTEGRAL, .where = "right", .of = "v"}, 0.140245164135},
               {{.kind = TES_GOAL_FORCE, .where = "left", .of = "x"}, -4},
               {{.kind = TES_GOAL_FORCE, .where = "left", .of = "y"}, -0.166666666667}};
  (void)state;
  for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
    TesMesh *mesh;
    Known known = {.value = goals[i].value};
    const TesStatus made =
        tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .cells = {4, 4}}, &mesh);
    if (made == TES_MISSING) return;
    assert_ok(ctx, made);
    const TesFunction *u[2] = {keep(expression("sin(pi/2*x)*sin(pi*y)")),
                               keep(expression("y*(1 - y)*sin(x)"))};
    const TesBoundary boundary[] = {
        {.condition = TES_NEUMANN, .g = {keep(expression("-pi*sin(pi/2*x)")), keep(expression("-4*sin(x)"))}},
        {.name = "left", .condition = TES_DIRICHLET},
        {.name = "right",
         .condition = TES_ROBIN,
         .alpha = keep(constant(3)),
         .g = {keep(expression("2*sin(1)*(1 - 2*y) + 3*sin(pi*y)")),
               keep(expression("pi*cos(pi*y) + y*(1 - y)*(cos(1) + 3*sin(1))"))}}};
    const TesProblemDesc desc = {
        .equation = TES_ELASTICITY,
        .mesh = mesh,
        .degree = 2,
        .data = {.lambda = keep(constant(2)),
                 .a = keep(constant(1)),
                 .f = {keep(expression("2*pi*pi*sin(pi/2*x)*sin(pi*y) - 3*cos(x)*(1 - 2*y)")),
                       keep(expression("(8 + y*(1 - y))*sin(x) - 1.5*pi*pi*cos(pi/2*x)*cos(pi*y)"))}},
        .exact = {u[0], u[1]},
        .boundary = boundary,
        .boundaries = 3,
        .solver = {.tolerance = 1e-12}};
    const TesAdaptDesc adapt = {.estimator = TES_ESTIMATE_DWR,
                                .goal = goals[i].goal,
                                .marking = TES_MARK_FRACTION,
                                .fraction = 1, /* halved cells keep the error's sign */
                                .steps = 3,
                                .report = compare,
                                .report_user = &known};
    assert_ok(ctx, tes_adapt_run(ctx, &desc, &adapt, NULL));
    for (int k = 0; k < 3; k++)
      print_message("goal %zu: error %.3e, estimate over it %.3f, upper figure %.3e\n", i, known.error[k],
                    known.estimate[k] / known.error[k], known.upper[k]);
    for (int k = 0; k < 3; k++) {
      const double effectivity = known.estimate[k] / known.error[k];
      assert_true(effectivity > 0.5 && effectivity < 2);
    }
    assert_true(known.upper[2] < 0.1 * known.upper[0]);
    tes_mesh_destroy(&mesh);
    forget();
  }
}

static void what_is_no_goal_is_refused(void **state) {
  static const struct {
    TesGoal goal;
    const char *message;
  } wrong[] = {
      {{.kind = TES_GOAL_POINT, .point = {0.5, 0.5}, .of = "w"}, "the goal is of 'w', expected u or v"},
      {{.kind = TES_GOAL_FORCE, .where = "left", .of = "z"}, "the goal is of 'z', expected x or y"},
      {{.kind = TES_GOAL_FORCE}, "the goal is a force: on which boundary?"},
      {{.kind = TES_GOAL_FORCE, .where = "right"},
       "the force on right in direction x, where no displacement is given"},
      {{.kind = TES_GOAL_MEAN, .where = "left"}, "the goal is the mean on left, where the values are given"},
      {{.kind = TES_GOAL_INTEGRAL, .where = "middle"}, "no boundary called middle"}};
  TesMesh *mesh;
  (void)state;
  if (tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .cells = {2, 2}}, &mesh)) {
    tes_context_clear(ctx);
    return;
  }
  const TesBoundary boundary[] = {{.condition = TES_DIRICHLET}, {.name = "right", .condition = TES_NEUMANN}};
  const TesProblemDesc desc = {
      .equation = TES_ELASTICITY, .mesh = mesh, .degree = 2, .boundary = boundary, .boundaries = 2};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const TesAdaptDesc adapt = {.estimator = TES_ESTIMATE_DWR, .goal = wrong[i].goal};
    assert_int_equal(tes_adapt_run(ctx, &desc, &adapt, NULL), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), wrong[i].message)) fail_msg("%s", tes_context_message(ctx));
    tes_context_clear(ctx);
  }
  tes_mesh_destroy(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_of_the_space_leave_nothing), cmocka_unit_test(orders_and_effectivities),
      cmocka_unit_test(an_l_is_refined_at_its_corner), cmocka_unit_test(estimates_of_goals),
      cmocka_unit_test(what_is_no_goal_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
