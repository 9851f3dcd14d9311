/* Run: ctest -R t7_steps. Every method in time alone, on ordinary differential equations whose solutions are formulas,
 * with equal and other steps; steps by tolerance and by velocity. */
#include "time_testing.h"

static TesContext *ctx;

/* ---- methods alone ------------------------------------------------------------------------------------- */

/* M u' + K u = F of two unknowns that are not coupled: m u' + k u = m p'(t) + k p(t), whose solution from u(0) = p(0)
 * is p = cos(3 t) + i / 2. Numbers of unknown i: m, k. */
static const double m_of[2] = {2, 0.5}, k_of[2] = {3, 40};

static double exact_of(int i, double t) {
  return cos(3 * t) + i / 2.;
}

static TesStatus ode_mass(void *user, const TesVector *x, TesVector *y) {
  double v[2];
  (void)user;
  TesStatus status = tes_vector_get(x, v);
  for (int i = 0; i < 2; i++) v[i] *= m_of[i];
  return status == TES_OK ? tes_vector_set(y, v) : status;
}

static TesStatus ode_load(void *user, double t, TesVector *b) {
  double v[2];
  (void)user;
  for (int i = 0; i < 2; i++) v[i] = -3 * m_of[i] * sin(3 * t) + k_of[i] * exact_of(i, t);
  return tes_vector_set(b, v);
}

static TesStatus ode_subtract(void *user, double sigma, double t, const TesVector *x, TesVector *b) {
  double v[2], r[2];
  (void)user, (void)t;
  TesStatus status = tes_vector_get(x, v);
  if (status == TES_OK) status = tes_vector_get(b, r);
  for (int i = 0; i < 2; i++) r[i] -= (sigma * m_of[i] + k_of[i]) * v[i];
  return status == TES_OK ? tes_vector_set(b, r) : status;
}

static TesStatus ode_solve(void *user, double sigma, double t, const TesVector *b, const TesVector *old,
                           TesVector *x) {
  double v[2];
  (void)user, (void)t, (void)old;
  TesStatus status = tes_vector_get(b, v);
  for (int i = 0; i < 2; i++) v[i] /= sigma * m_of[i] + k_of[i];
  return status == TES_OK ? tes_vector_set(x, v) : status;
}

/* Largest error at t = 1 after `steps` steps. */
static double ode_error(TesTimeMethod method, int steps) {
  const TesiEvolution evolution = {.context = ctx,
                                   .length = 2,
                                   .mass = ode_mass,
                                   .load = ode_load,
                                   .subtract = ode_subtract,
                                   .solve = ode_solve};
  TesiStepper *stepper;
  TesVector *u;
  double v[2] = {exact_of(0, 0), exact_of(1, 0)};
  assert_ok(ctx, tesi_stepper_create(&evolution, method, 1. / steps, 3, 0, &stepper));
  assert_ok(ctx, tes_vector_create(ctx, 2, TES_DOUBLE, &u));
  assert_ok(ctx, tes_vector_set(u, v));
  for (int n = 0; n < steps; n++) assert_ok(ctx, tesi_stepper_step(stepper, (double)n / steps, u));
  assert_ok(ctx, tes_vector_get(u, v));
  tes_vector_destroy(&u);
  tesi_stepper_destroy(&stepper);
  return fmax(fabs(v[0] - exact_of(0, 1)), fabs(v[1] - exact_of(1, 1)));
}

static void test_orders(void **state) {
  (void)state;
  for (int i = 0; i < METHODS; i++) {
    const double coarse = ode_error(methods[i].method, 160), fine = ode_error(methods[i].method, 320),
                 order = log2(coarse / fine);
    if (!(fabs(order - methods[i].order) < 0.25))
      fail_msg("%s: errors %g and %g, order %g", tesi_time_method(methods[i].method)->name, coarse, fine,
               order);
  }
}

/* The same with steps that differ, by factors from 2/3 to 3/2: formulas of several old values keep their orders. */
static double uneven_error(TesTimeMethod method, int steps) {
  const TesiEvolution evolution = {.context = ctx,
                                   .length = 2,
                                   .mass = ode_mass,
                                   .load = ode_load,
                                   .subtract = ode_subtract,
                                   .solve = ode_solve};
  TesiStepper *stepper;
  TesVector *u;
  double v[2] = {exact_of(0, 0), exact_of(1, 0)}, t = 0;
  assert_ok(ctx, tesi_stepper_create(&evolution, method, 1, 3, 1, &stepper));
  assert_ok(ctx, tes_vector_create(ctx, 2, TES_DOUBLE, &u));
  assert_ok(ctx, tes_vector_set(u, v));
  for (int n = 0; n < steps; n++) {
    stepper->dt = (n % 2 ? 1.2 : 0.8) / steps;
    assert_ok(ctx, tesi_stepper_step(stepper, t, u));
    if (n == 4) { /* undone, and made again */
      assert_ok(ctx, tesi_stepper_undo(stepper, u));
      assert_ok(ctx, tesi_stepper_step(stepper, t, u));
    }
    t += stepper->dt;
  }
  assert_ok(ctx, tes_vector_get(u, v));
  tes_vector_destroy(&u);
  tesi_stepper_destroy(&stepper);
  return fmax(fabs(v[0] - exact_of(0, t)), fabs(v[1] - exact_of(1, t)));
}

static void test_uneven_steps(void **state) {
  (void)state;
  for (int i = 0; i < METHODS; i++) {
    const double coarse = uneven_error(methods[i].method, 160), fine = uneven_error(methods[i].method, 320),
                 order = log2(coarse / fine);
    if (!(fabs(order - methods[i].order) < 0.3))
      fail_msg("%s: errors %g and %g, order %g", tesi_time_method(methods[i].method)->name, coarse, fine,
               order);
  }
}

static TesStatus no_load(void *user, double t, TesVector *b) {
  (void)user, (void)t;
  return tes_vector_fill(b, 0);
}

/* The growth factor of u' = -k u, from the formulas of textbooks: z = -k dt. */
static void test_growth(void **state) {
  (void)state;
  const double z = -0.3, g = 1 - sqrt(0.5);
  const struct {
    TesTimeMethod method;
    double growth;
  } rows[] = {{TES_TIME_BACKWARD_EULER, 1 / (1 - z)},
              {TES_TIME_CRANK_NICOLSON, (1 + z / 2) / (1 - z / 2)},
              {TES_TIME_SDIRK2, (1 + (1 - 2 * g) * z) / ((1 - g * z) * (1 - g * z))}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesTimeMethod method = rows[i].method;
    double v[2] = {1, 1};
    TesiStepper *stepper;
    TesVector *u;
    const TesiEvolution evolution = {.context = ctx,
                                     .length = 2,
                                     .mass = ode_mass,
                                     .load = no_load,
                                     .subtract = ode_subtract,
                                     .solve = ode_solve};
    assert_ok(ctx, tesi_stepper_create(&evolution, method, -z * m_of[0] / k_of[0], 0, 0, &stepper));
    assert_ok(ctx, tes_vector_create(ctx, 2, TES_DOUBLE, &u));
    assert_ok(ctx, tes_vector_set(u, v));
    assert_ok(ctx, tesi_stepper_step(stepper, 0, u));
    assert_ok(ctx, tes_vector_get(u, v));
    assert_near(v[0], rows[i].growth, 1e-14);
    tes_vector_destroy(&u);
    tesi_stepper_destroy(&stepper);
  }
}

/* ---- steps that differ ---- */

/* u = (1 + exp(-200 (t - 0.5)^2)) w: steps are long, then short, then long. Errors follow the tolerance. */
static double tolerance_error(double tolerance, double least, int *steps, TesStatus expected) {
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  double l2 = 0, h1;
  assert_true(make_mesh(ctx, TES_MESH_BOX, 2, &mesh));
  Heat h = make_heat(ctx, "1 + exp(-200*(t - 0.5)*(t - 0.5))", "-400*(t - 0.5)*exp(-200*(t - 0.5)*(t - 0.5))");
  const TesBoundary boundary[] = {{.g = {h.u}}, {.name = "top", .condition = TES_NEUMANN, .g = {h.flux}}};
  const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                               .mesh = mesh,
                               .degree = 2,
                               .data = {.a = h.a, .c = h.c, .f = {h.f}},
                               .exact = {h.u},
                               .boundary = boundary,
                               .boundaries = 2,
                               .balance = true,
                               .time = {.end = 1, .tolerance = tolerance, .max_step = 0.1, .min_step = least},
                               .solver = {.tolerance = 1e-8}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_int_equal(tes_problem_solve(problem, &result), expected);
  const TesProblemInfo info = tes_problem_info(problem);
  if (expected == TES_OK) {
    assert_near(info.time, 1, 0);
    assert_int_equal(info.step, info.steps);
    assert_true(fabs(info.balance.defect) < 1e-6 * (info.balance.in + info.balance.out));
    assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
    l2 = info.l2_space_time;
  } else {
    assert_non_null(strstr(tes_context_message(ctx), "shorter than time.min_step"));
    tes_context_clear(ctx);
  }
  *steps = info.step;
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  forget(&h);
  return l2;
}

static void test_tolerances(void **state) {
  int steps[2], few;
  (void)state;
  tes_context_clear(ctx);
  const double coarse = tolerance_error(1e-4, 0, &steps[0], TES_OK),
               fine = tolerance_error(1e-6, 0, &steps[1], TES_OK);
  /* order 2: steps as the cube root of 100, errors as its square */
  if (!(coarse / fine > 10 && coarse / fine < 46))
    fail_msg("errors %g and %g in %d and %d steps", coarse, fine, steps[0], steps[1]);
  if (!(steps[1] > 3 * steps[0] && steps[1] < 6 * steps[0])) fail_msg("%d and %d steps", steps[0], steps[1]);
  if (!(steps[0] > 20 && steps[0] < 200)) fail_msg("%d steps, %d steps", steps[0], steps[1]);
  tolerance_error(1e-6, 0.01, &few, TES_STEP_TOO_SMALL);
}

/* b = (0.5, 0) on cells of 1/4, degree 2: nodes are 1/8 apart, so that cfl 0.4 is a step of 0.1 at most. */
/* The unit of the solution does not matter, where squares of it overflow or underflow neither. */
static void test_units_of_tolerances(void **state) {
  (void)state;
  int steps[3];
  for (int i = 0; i < 3; i++) {
    TesMesh *mesh;
    TesProblem *problem;
    TesFunction *f;
    TesSolveResult result;
    assert_true(make_mesh(ctx, TES_MESH_BOX, 2, &mesh));
    assert_ok(ctx, tes_function_create_constant(ctx, (const double[]){1, 1e200, 1e-200}[i], &f));
    const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                                 .mesh = mesh,
                                 .degree = 2,
                                 .data = {.f = {f}},
                                 .time = {.end = 1, .tolerance = 1e-3}};
    assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
    assert_ok(ctx, tes_problem_solve(problem, &result));
    steps[i] = tes_problem_info(problem).step;
    tes_problem_destroy(&problem);
    tes_function_destroy(&f);
    tes_mesh_destroy(&mesh);
  }
  assert_true(abs(steps[1] - steps[0]) <= 2 + steps[0] / 10);
  assert_true(abs(steps[2] - steps[0]) <= 2 + steps[0] / 10);
}

static void test_cfl(void **state) {
  TesMesh *mesh;
  TesProblem *problem;
  TesFunction *a = expression(ctx, "0.1"), *b = expression(ctx, "0.5");
  (void)state;
  assert_true(make_mesh(ctx, TES_MESH_BOX, 4, &mesh));
  TesProblemDesc desc = {.equation = TES_TRANSPORT,
                         .mesh = mesh,
                         .degree = 2,
                         .data = {.a = a, .b = {b}, .f = {a}},
                         .time = {.end = 1, .cfl = 0.4, .max_step = 1}};
  TesSolveResult result;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_step(problem, &result));
  const double dt = tes_problem_info(problem).time;
  assert_near(log2(1 / dt) * 4, round(log2(1 / dt) * 4), 1e-9);
  assert_true(dt <= 0.1 && dt * pow(2, 0.25) > 0.1);
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_near(tes_problem_info(problem).time, 1, 0);
  tes_problem_destroy(&problem);
  desc.data.b[0] = NULL;
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  desc.time = (TesTimeDesc){.end = 1, .step = 0.1, .tolerance = 0.1};
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  desc.time = (TesTimeDesc){.end = 1, .tolerance = 0.1, .method = TES_TIME_SDIRK2};
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&a), tes_function_destroy(&b);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                     cmocka_unit_test(test_growth),
                                     cmocka_unit_test(test_uneven_steps),
                                     cmocka_unit_test(test_tolerances),
                                     cmocka_unit_test(test_units_of_tolerances),
                                     cmocka_unit_test(test_cfl)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
