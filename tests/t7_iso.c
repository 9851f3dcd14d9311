/* Run: ctest -R t7_iso. Navier-Stokes with element iso as a problem: the cavity of Algorithm 4 (t7_explicit_flow has
 * the figures) and the Taylor-Green vortex, whose errors are those of an independent program; on the processor and the
 * emulator; forces; refusals. */
#include <stdio.h>
#include "device_testing.h"

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static TesMesh *square(TesContext *ctx, int cells) {
  TesMesh *mesh;
  const TesMeshDesc desc = {.dim = 2, .cells = {cells, cells}, .kind = TES_MESH_BOX};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

static double value_of(TesContext *ctx, const TesProblem *p, const TesValue *v) {
  double value;
  assert_ok(ctx, tes_problem_value(p, v, &value));
  return value;
}

static void check_cavity(TesContext *ctx, int steps, double energy, double middle, TesMethod method,
                         double digits) {
  TesMesh *mesh = square(ctx, 16);
  TesFunction *one = expression(ctx, "1"), *zero = expression(ctx, "0"), *nu = expression(ctx, "0.01");
  const TesBoundary boundary[] = {{.g = {zero, zero}}, {.name = "right", .g = {zero, one}, .priority = 1}};
  TesProblem *p;
  const TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                               .element = TES_ELEMENT_ISO,
                               .mesh = mesh,
                               .data = {.a = nu},
                               .boundary = boundary,
                               .boundaries = 2,
                               .solver = {.method = method},
                               .time = {.end = 4, .step = 1e-3}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  TesSolveResult result;
  for (int i = 0; i < steps; i++) assert_ok(ctx, tes_problem_step(p, &result));
  assert_near(value_of(ctx, p, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "(u*u + v*v)/2"}), energy,
              digits * energy);
  assert_near(value_of(ctx, p, &(TesValue){.kind = TES_VALUE_POINT, .point = {0.5, 0.5}, .of = "v"}), middle,
              digits * fabs(middle));
  assert_near(value_of(ctx, p, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "p"}), 0, 1e-12);
  tes_problem_destroy(&p);
  tes_function_destroy(&one), tes_function_destroy(&zero), tes_function_destroy(&nu);
  tes_mesh_destroy(&mesh);
}

static void cavities_have_all_digits(void **state) {
  TesContext *ctx = test_device("cpu");
  (void)state;
  if (!ctx) skip();
  check_cavity(ctx, 1000, 2.230977526e-2, -0.09584406, TES_METHOD_AUTO, 1e-6);
  check_cavity(ctx, 100, 9.704692970e-3, -0.01983227, TES_METHOD_CG, 2e-3);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void devices_have_them_too(void **state) {
  static const char *const devices[] = {"emulator", "cuda"};
  (void)state;
  for (int j = 0; j < 2; j++) {
    TesContext *ctx = test_device(devices[j]);
    if (!ctx) continue;
    check_cavity(ctx, 100, 9.704692970e-3, -0.01983227, TES_METHOD_AUTO, 1e-6);
    tes_context_destroy(&ctx);
  }
}

/* The vortex with its own boundary values in time: velocity and pressure (L2, without its mean). */
static void vortices_converge(void **state) {
  static const struct {
    int cells, steps;
    double velocity, pressure;
  } rows[] = {{8, 20, 4.76696e-3, 5.21099e-3}, {16, 80, 9.83234e-4, 1.20264e-3}};
  TesContext *ctx = test_device("cpu");
  (void)state;
  if (!ctx) skip();
  TesFunction *u = expression(ctx, "sin(pi*x)*cos(pi*y)*exp(-0.02*pi*pi*t)"),
              *v = expression(ctx, "-cos(pi*x)*sin(pi*y)*exp(-0.02*pi*pi*t)"),
              *pressure = expression(ctx, "(cos(2*pi*x) + cos(2*pi*y))/4*exp(-0.04*pi*pi*t)"),
              *nu = expression(ctx, "0.01");
  for (int r = 0; r < 2; r++) {
    TesMesh *mesh = square(ctx, rows[r].cells);
    TesProblem *p;
    TesFlowResult flow;
    TesSolveResult result;
    const TesBoundary boundary[] = {{.g = {u, v}}};
    const TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                                 .element = TES_ELEMENT_ISO,
                                 .mesh = mesh,
                                 .data = {.a = nu},
                                 .exact = {u, v, pressure},
                                 .boundary = boundary,
                                 .boundaries = 1,
                                 .time = {.end = 0.5, .step = 0.5 / rows[r].steps}};
    assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
    for (int i = 0; i < rows[r].steps; i++) assert_ok(ctx, tes_problem_step(p, &result));
    assert_ok(ctx, tes_problem_flow(p, &flow));
    assert_near(flow.velocity_l2, rows[r].velocity, 1e-5 * rows[r].velocity);
    assert_near(flow.pressure_l2, rows[r].pressure, 1e-4 * rows[r].pressure);
    tes_problem_destroy(&p);
    tes_mesh_destroy(&mesh);
  }
  tes_function_destroy(&u), tes_function_destroy(&v), tes_function_destroy(&pressure),
      tes_function_destroy(&nu);
  tes_context_destroy(&ctx);
}

/* A step above nu k / h^2 = 1/2 ends with a sentence. */
static void unstable_steps_are_told(void **state) {
  TesContext *ctx = test_device("cpu");
  (void)state;
  if (!ctx) skip();
  TesMesh *mesh = square(ctx, 16);
  TesFunction *one = expression(ctx, "1"), *zero = expression(ctx, "0"), *nu = expression(ctx, "0.01");
  const TesBoundary boundary[] = {{.g = {zero, zero}}, {.name = "right", .g = {zero, one}}};
  TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                         .element = TES_ELEMENT_ISO,
                         .mesh = mesh,
                         .data = {.a = nu},
                         .boundary = boundary,
                         .boundaries = 2,
                         .time = {.end = 100, .step = 0.1}};
  TesProblem *p;
  TesSolveResult result;
  TesStatus status = TES_OK;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  for (int i = 0; i < 1000 && status == TES_OK; i++) status = tes_problem_step(p, &result);
  assert_true(status == TES_NAN || status == TES_DIVERGED);
  assert_non_null(strstr(tes_context_message(ctx), "take a smaller time.step"));
  tes_problem_destroy(&p);
  tes_context_clear(ctx);
  desc.degree = 2;
  assert_int_equal(tes_problem_create(ctx, &desc, &p), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "expected 1 for navier_stokes with element iso"));
  tes_function_destroy(&one), tes_function_destroy(&zero), tes_function_destroy(&nu);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static TesProblem *small_cavity(TesContext *ctx, const TesMesh *mesh) {
  TesFunction *one = expression(ctx, "sin(t)"), *zero = expression(ctx, "0"), *nu = expression(ctx, "0.01");
  const TesBoundary boundary[] = {{.g = {zero, zero}}, {.name = "right", .g = {zero, one}, .priority = 1}};
  const TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                               .element = TES_ELEMENT_ISO,
                               .mesh = mesh,
                               .data = {.a = nu},
                               .boundary = boundary,
                               .boundaries = 2,
                               .time = {.end = 0.05, .step = 1e-3}};
  TesProblem *p;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  tes_function_destroy(&one), tes_function_destroy(&zero), tes_function_destroy(&nu);
  return p;
}

/* From the middle on: the same bits, whichever of the two velocities the steps had reached. */
static void restarts_have_the_same_bits(void **state) {
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  enum { STEPS = 15 };
  (void)state;
  for (int j = 0; j < 3; j++) {
    TesContext *ctx = test_device(devices[j]);
    if (!ctx) continue;
    for (int half = 7; half <= 8; half++) {
      TesMesh *mesh = square(ctx, 9);
      TesProblem *p = small_cavity(ctx, mesh), *q = small_cavity(ctx, mesh);
      TesCheckpoint *checkpoint;
      TesSolveResult result;
      for (int i = 0; i < half; i++) assert_ok(ctx, tes_problem_step(p, &result));
      const TesStatus written = tes_problem_write(p, "t7_iso.h5");
      if (written == TES_MISSING) skip(); /* a build without HDF5 */
      assert_ok(ctx, written);
      for (int i = half; i < STEPS; i++) assert_ok(ctx, tes_problem_step(p, &result));
      assert_ok(ctx, tes_checkpoint_read(ctx, "t7_iso.h5", 1, &checkpoint));
      assert_ok(ctx, tes_problem_read(q, checkpoint));
      for (int i = half; i < STEPS; i++) assert_ok(ctx, tes_problem_step(q, &result));
      const int64_t n = tes_vector_length(tes_problem_solution(p));
      double *u = calloc((size_t)n, sizeof *u), *v = calloc((size_t)n, sizeof *v), largest = 0;
      assert_ok(ctx, tes_vector_get(tes_problem_solution(p), u));
      assert_ok(ctx, tes_vector_get(tes_problem_solution(q), v));
      for (int64_t i = 0; i < n; i++) {
        assert_true(u[i] == v[i]);
        largest = test_larger(largest, fabs(u[i]));
      }
      assert_true(largest > 1e-3);
      free(u), free(v);
      tes_checkpoint_destroy(&checkpoint);
      tes_problem_destroy(&p), tes_problem_destroy(&q);
      tes_mesh_destroy(&mesh);
      remove("t7_iso.h5");
    }
    tes_context_destroy(&ctx);
  }
}

static double force_on(TesContext *ctx, const TesProblem *p, const char *name, const char *of) {
  TesValue v = {.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .of = of};
  assert_ok(ctx, tes_mesh_find_boundary(tes_space_mesh(tes_problem_space(p)), name, &v.number));
  return value_of(ctx, p, &v);
}

/* A shear flow, exact with these elements: friction nu on bottom and lid, nothing on the sides through which it flows.
 * Then a lid that starts over a force: what acts on the walls and the fluid's gain is the force, of second
 * order: the masses of steps are row sums, so that a residual is left at nodes inside. */
static void check_forces(TesContext *ctx, const char *velocity, const char *f, int cells, double total,
                         double digits) {
  TesMesh *mesh = square(ctx, cells);
  TesFunction *u = expression(ctx, velocity), *zero = expression(ctx, "0"), *nu = expression(ctx, "0.1"),
              *load = expression(ctx, f);
  const TesBoundary all = {.g = {u, zero}};
  TesProblem *p;
  const TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                               .element = TES_ELEMENT_ISO,
                               .mesh = mesh,
                               .data = {.a = nu, .f = {load, zero}},
                               .boundary = &all,
                               .boundaries = 1,
                               .initial = {u, zero, zero},
                               .time = {.end = 0.4, .step = 2e-3}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  TesSolveResult result;
  for (int i = 0; i < 100; i++) assert_ok(ctx, tes_problem_step(p, &result));
  const double gain = value_of(ctx, p, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "ut"});
  double sum = gain;
  static const char *const sides[] = {"left", "right", "bottom", "top"};
  for (int i = 0; i < 4; i++) sum += force_on(ctx, p, sides[i], "x");
  assert_near(sum, total, digits);
  if (total == 0) {
    assert_near(force_on(ctx, p, "top", "x"), -0.1, digits);
    assert_near(force_on(ctx, p, "bottom", "x"), 0.1, digits);
    assert_near(force_on(ctx, p, "left", "x"), 0, digits);
  } else {
    assert_near(force_on(ctx, p, "top", "x") * force_on(ctx, p, "bottom", "x"), 0.017, 0.017);
  }
  tes_problem_destroy(&p);
  tes_function_destroy(&u), tes_function_destroy(&zero), tes_function_destroy(&nu),
      tes_function_destroy(&load);
  tes_mesh_destroy(&mesh);
}

static void forces_are_those_of_the_equation(void **state) {
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  (void)state;
  for (int j = 0; j < 3; j++) {
    TesContext *ctx = test_device(devices[j]);
    if (!ctx) continue;
    check_forces(ctx, "y", "0", 4, 0, 1e-12);
    check_forces(ctx, "y == 1 ? 16*x*x*(1 - x)*(1 - x)*sin(t) : 0", "y", 4, 0.5, 1.1e-2);
    check_forces(ctx, "y == 1 ? 16*x*x*(1 - x)*(1 - x)*sin(t) : 0", "y", 8, 0.5, 2.75e-3);
    if (j == 0) assert_int_equal(tes_context_memory(ctx), 0); /* others keep kernels */
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cavities_have_all_digits),    cmocka_unit_test(devices_have_them_too),
      cmocka_unit_test(vortices_converge),           cmocka_unit_test(unstable_steps_are_told),
      cmocka_unit_test(restarts_have_the_same_bits), cmocka_unit_test(forces_are_those_of_the_equation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
