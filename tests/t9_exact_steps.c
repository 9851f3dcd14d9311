/* Run: ctest -R t9_exact_steps. Solutions that are linear in x and t, and so solutions of steps too: a body whose
 * rollers lie on a plane across the axes begins with the right acceleration; streamline terms on tetrahedra of degree
 * 1 are those of a solution that a step does not change, also where lengths of steps change. Coefficients are those of
 * their time on all meshes and devices. Steps of a strong velocity converge. */
#include <math.h>
#include "program_testing.h"

/* The L2 error; NAN: the build has no forests. */
static double error_of(const char *options) {
  char command[300];
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options);
  const int code = run(command);
  if (code == 3) return NAN;
  if (code) fail_msg("exit %d for %s\n%s", code, options, output);
  cJSON *json = read_json("a.json");
  const double error = number_in(json, "errors", "l2");
  cJSON_Delete(json);
  return error;
}

static void expect_exact(const char *options) {
  const double error = error_of(options);
  if (error > 1e-10) fail_msg("the error is %g for %s", error, options);
}

static void rollers_across_the_axes(void **state) {
  (void)state;
  write_file(
      "a.yaml",
      "problem: elasticity\nconstants: {c: 0.6, q: 0.8}\n"
      "mesh: {box: {cells: [4, 3], upper: [2, 1]}, map: [\"c*(x + 0.2*x*y) - q*y\", \"q*(x + 0.2*x*y) + "
      "c*y\"]}\nspace: {degree: 2}\n"
      "data:\n  lambda: 1.3\n  mu: 0.7\n  density: 0.9\n"
      "  exact: [\"c*(1 + t)*(c*x + q*y) - q*(0.5 - t)*(c*y - q*x)\", \"q*(1 + t)*(c*x + q*y) + c*(0.5 - "
      "t)*(c*y - q*x)\"]\n"
      "boundary: {all: {displacement: exact}, bottom: roller}\n"
      "time: {end: 0.03, step: 0.01}\nsolver: {tolerance: 1e-12}\n");
  expect_exact("--set time.method=newmark --set time.step=0.002");
  expect_exact("--set time.method=generalized_alpha");
  expect_exact("--set time.method=newmark --device emulator");
}

/* A residual of the old solution with points other than those of the new one grows as the steps become short. */
static void streamlines_on_tetrahedra(void **state) {
  (void)state;
  write_file("a.yaml", "problem: transport\nmesh: {file: \"" TESI_SOURCE_DIR
                       "/tests/data/tetrahedra-cube.msh\", split: true}\n"
                       "space: {degree: 1, stabilization: supg}\n"
                       "data: {a: 1, b: [30, 10, 5], f: 28.5, exact: \"x + 0.5*z - 0.5*y + t\"}\n"
                       "boundary: {all: {dirichlet: exact}}\n"
                       "time: {end: 0.01, step: 0.005}\nsolver: {tolerance: 1e-12}\n");
  expect_exact("");
  expect_exact("--set time.step=0.0005 --set time.end=0.002");
  expect_exact("--set time.method=crank_nicolson");
}

/* tau depends on the step: operator, mass and load of a step have the same one. */
static void streamlines_with_steps_of_varying_length(void **state) {
  static const char faster[] = "--set space.degree=3 --set 'time={end: 0.1, cfl: 0.5}' "
                               "--set 'data.b=[1 + 30*t, 0.5]' --set 'data.f=3 + 30*t'";
  static const char *const options[] = {"", "--set mesh.kind=forest", "--device emulator",
                                        "--device emulator --set mesh.kind=forest", faster};
  (void)state;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    write_file("a.yaml", "problem: transport\nmesh: {box: {cells: [5, 4]}}\n"
                         "space: {degree: 2, stabilization: supg}\n"
                         "data: {a: 0.05, b: [1, 0.5*x], exact: 1+x*t+y*y*(2+t),\n"
                         "  f: x+y*y+t+x*y*(2+t)-0.1*(2+t)}\nboundary: {all: {dirichlet: exact}}\n"
                         "time: {end: 0.1, tolerance: 1e-3, max_step: 0.01}\nsolver: {tolerance: 1e-12}\n");
    if (i < 4) expect_exact(options[i]);
    write_file("a.yaml", "problem: transport\nmesh: {box: {cells: [5, 4]}}\n"
                         "space: {degree: 2, stabilization: supg}\n"
                         "data: {a: 0.05, b: [1, 0.5], exact: 1+x+2*t, f: 3}\n"
                         "boundary: {all: {dirichlet: exact}}\n"
                         "time: {end: 0.1, tolerance: 1e-3, max_step: 0.01}\nsolver: {tolerance: 1e-12}\n");
    expect_exact(options[i]);
  }
}

/* Kernels got the coefficients of t = 0. */
static void coefficients_of_their_time(void **state) {
  static const char *const data[] = {
      "{a: 1, c: t, f: x*x - 2*t + t*(1 + t*x*x)}", "{a: 1 + t, f: x*x - 2*t*(1 + t)}",
      "{a: 1 + x*t, c: 1 + x*t, f: x*x - 2*t - 4*t*t*x + (1 + x*t)*(1 + t*x*x)}",
      "{a: [1 + t, 2 - t], b: [t, 0.3], f: x*x - 2*t*(1 + t) + 2*t*t*x}"};
  static const char *const options[] = {"", "--set time.method=sdirk3", "--set mesh.kind=forest",
                                        "--set space.stabilization=supg"};
  (void)state;
  for (size_t d = 0; d < sizeof data / sizeof *data; d++)
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
      for (int emulator = 0; emulator < 2; emulator++) {
        char line[200], text[600];
        if (d == 3 || i < 3) {
          snprintf(text, sizeof text,
                   "problem: transport\nmesh: {box: {cells: [3, 2]}, kind: box}\nspace: {degree: 2}\n"
                   "data: %s\nboundary: {all: {dirichlet: exact}, right: {neumann: %s}}\n"
                   "time: {start: 0.5, end: 0.7, step: 0.1, method: bdf2}\nsolver: {tolerance: 1e-12}\n",
                   data[d], d == 0 ? "2*t" : "2*t*(1 + t)");
          write_file("a.yaml", text);
          snprintf(line, sizeof line, "--set 'data.exact=1 + t*x*x' %s %s", options[i],
                   emulator ? "--device emulator" : "--device cpu");
          expect_exact(line);
        }
      }
}

/* A start on the levels below takes their loads of given values. */
static void discontinuous_elements_at_rest(void **state) {
  (void)state;
  write_file("a.yaml", "problem: transport\nmesh: {box: {cells: [4, 4]}}\nspace: {element: dg, degree: 2}\n"
                       "data: {a: 2, c: 1, f: x - y + 3, exact: x - y + 3}\n"
                       "boundary: {all: {dirichlet: exact}, top: {flux: -2}, left: {neumann: -2}}\n"
                       "solver: {tolerance: 1e-12}\n");
  expect_exact("");
  expect_exact("--device emulator");
  expect_exact("--set solver.method=fmg --set mesh.box.cells=[7,5]");
}

/* Steps that are long beside a strong velocity are preconditioned in the order of the flow. */
static void long_steps(void **state) {
  static const char *const options[] = {"", "--set mesh.kind=forest", "--set time.method=sdirk2",
                                        "--set space.stabilization=none"};
  (void)state;
  write_file("a.yaml", "problem: transport\nmesh: {box: {cells: [12, 12]}}\nspace: {degree: 3}\n"
                       "data: {a: 1, b: [1000, 300], f: 1, initial: sin(pi*x)*sin(pi*y)}\n"
                       "boundary: {all: {dirichlet: 0}}\n"
                       "time: {end: 0.04, step: 0.02}\nsolver: {tolerance: 1e-10}\n");
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char command[200];
    snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options[i]);
    const int code = run(command);
    if (code == 3) continue;
    if (code) fail_msg("exit %d for %s\n%s", code, options[i], output);
    cJSON *json = read_json("a.json");
    assert_true(number_in(json, NULL, "iterations") <= 60);
    cJSON_Delete(json);
  }
}

/* At 1e-10 steps of CFL 1.4 beside a cell Peclet number of 8 are preconditioned so; the symmetric cycle takes 36
 * iterations. */
static void short_steps_of_small_tolerance(void **state) {
  (void)state;
  write_file("a.yaml", "problem: transport\nmesh: {box: {cells: [12, 12]}}\nspace: {degree: 3}\n"
                       "data: {a: 1, b: [500, 300], f: 1, initial: sin(pi*x)*sin(pi*y)}\n"
                       "boundary: {all: {dirichlet: 0}}\n"
                       "time: {end: 5.e-4, step: 1.e-4}\nsolver: {tolerance: 1e-10}\n");
  assert_run("solve a.yaml --quiet --device cpu --json a.json", 0);
  cJSON *json = read_json("a.json");
  assert_true(number_in(json, NULL, "iterations") <= 70);
  cJSON_Delete(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rollers_across_the_axes),
                                     cmocka_unit_test(long_steps),
                                     cmocka_unit_test(coefficients_of_their_time),
                                     cmocka_unit_test(discontinuous_elements_at_rest),
                                     cmocka_unit_test(short_steps_of_small_tolerance),
                                     cmocka_unit_test(streamlines_with_steps_of_varying_length),
                                     cmocka_unit_test(streamlines_on_tetrahedra)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
