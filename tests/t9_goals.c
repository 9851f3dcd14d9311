/* Run: ctest -R t9_goals. Dual-weighted residuals for an expression at a point, by the program: stresses, on faces of
 * cells and inside of them, and gradients, beside exact solutions; kinks of the mesh next to the point are told; what
 * is refused. */
#include <math.h>
#include "program_testing.h"

static const char body[] =
    "problem: elasticity\nmesh: {kind: forest, box: {cells: [4, 4]}}\nspace: {degree: 2}\n"
    "data:\n  lambda: 1\n  mu: 1\n"
    "  exact: [sin(3*x)*exp(y), cos(2*y)*x*x]\n"
    "  f:\n"
    "    - 2*(9*sin(3*x)*exp(y) + 4*x*sin(2*y)) + 8*sin(3*x)*exp(y)\n"
    "    - -2*(3*cos(3*x)*exp(y) - 4*cos(2*y)*x*x) - 2*cos(2*y) + 4*cos(2*y)*x*x\n"
    "boundary: {all: {displacement: exact}}\n"
    "adapt: {estimator: dwr, goal: {point: [0.5, 0.5], of: sxx}, steps: 6}\n";
static const char carried[] =
    "problem: transport\nmesh: {kind: forest, box: {cells: [4, 4]}}\nspace: {degree: 2}\n"
    "data: {a: 0.1, exact: sin(3*x)*exp(y), b: [1, 0.5], "
    "f: 0.8*sin(3*x)*exp(y) + 3*cos(3*x)*exp(y) + 0.5*sin(3*x)*exp(y)}\n"
    "boundary: {all: {dirichlet: exact}}\n"
    "adapt: {estimator: dwr, goal: {point: [0.3, 0.6], of: ux}, steps: 5}\n";

static void write_text(const char *text) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static double number_of(const cJSON *json, const char *key) {
  return cJSON_GetNumberValue(cJSON_GetObjectItem(json, key));
}

/* The value is that of the exact solution but for the error, which the estimate is close to. */
static void check_goal(const char *options, double exact, double factor, double fine) {
  char command[300];
  snprintf(command, sizeof command, "solve a.yaml --quiet --device cpu --json a.json %s", options);
  assert_run(command, 0);
  cJSON *json = read_json("a.json");
  const cJSON *steps = cJSON_GetObjectItem(json, "steps"), *first = cJSON_GetArrayItem(steps, 0),
              *last = cJSON_GetArrayItem(steps, cJSON_GetArraySize(steps) - 1);
  assert_near(number_of(last, "goal") + number_of(last, "error"), exact, 1e-9);
  assert_true(fabs(number_of(last, "error")) < fine);
  for (const cJSON *step = first; step; step = step->next) {
    const double effectivity = number_of(step, "effectivity");
    if (!(effectivity > 1 / factor && effectivity < factor)) fail_msg("%s: %g", options, effectivity);
  }
  cJSON_Delete(json);
}

static void expressions_have_estimates(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_text(body);
  const double x = 0.5, y = 0.5, ux = 3 * cos(3 * x) * exp(y), vy = -2 * sin(2 * y) * x * x;
  check_goal("", 3 * ux + vy, 2, 2e-3);
  check_goal("--set space.degree=3 --set adapt.steps=5", 3 * ux + vy, 2, 1e-4);
  write_text(carried);
  check_goal("", 3 * cos(0.9) * exp(0.6), 2, 1e-3);
}

static void what_has_no_estimate_is_refused(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_text(body);
  assert_run("solve a.yaml --quiet --set adapt.goal.of=von_mises", 2);
  assert_output("adapt.goal.of: 'von_mises' is not linear in the solution and its derivatives");
  assert_run("solve a.yaml --quiet --set adapt.goal.of=u*v", 2);
  assert_output("is not linear");
  assert_run("solve a.yaml --quiet --set adapt.goal.of=sss", 2);
  assert_output("adapt.goal.of: unknown name 'sss'");
  assert_run("solve a.yaml --quiet --set \"adapt.goal={mean: right, of: sxx}\"", 2);
  assert_output("the goal is of 'sxx', expected u or v");
  write_text(carried);
  assert_run("solve a.yaml --quiet --set \"adapt.goal={mean: domain, of: ux}\"", 2);
  assert_output("adapt.goal.of: other functions than u belong to points, and to elasticity");
  assert_run("solve a.yaml --quiet --set \"adapt.goal={mean: domain, of: u}\"", 0);
}

/* The angle of cells of a circle next to the point: 360 degrees / 32 for straight ones; none in the middle. */
static void kinks_are_told(void **state) {
  static const struct {
    const char *set, *told;
  } cases[] = {
      {"--set mesh.geometry_degree=1", "cells meet at an angle of 11 degrees at (0, 0.5), next to the point"},
      {"--set mesh.geometry_degree=4", NULL},
      {"--set mesh.geometry_degree=1 --set \"adapt.goal={point: [0, 0.75], of: sxx}\"", NULL},
      {"--set mesh.geometry_degree=1 --set \"adapt.goal={point: [0, 0.5], of: u}\"", NULL},
      {"--set \"mesh={file: " TESI_SOURCE_DIR "/tests/data/kinks-cone.msh, split: true}\" --set "
       "\"boundary={all: {robin: {alpha: 1, g: [x, 0, 0]}}, bore: {traction: [0, 0, 0]}}\" --set "
       "\"adapt.goal.point=[0, 1, 0]\"",
       "cells meet at an angle of 27 degrees at (0, 1, 0), next to the point"}};
  (void)state;
  if (!has_forests()) skip();
  write_text("problem: elasticity\nmesh: {shell: {dim: 2}, refine: 2}\nspace: {degree: 2}\n"
             "data: {young: 200, poisson: 0.3}\n"
             "boundary: {inner: {traction: [0, 0]}, outer: {robin: {alpha: 10, g: [x, 0]}}}\n"
             "adapt: {estimator: dwr, goal: {point: [0, 0.5], of: sxx}, steps: 2}\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[600];
    snprintf(command, sizeof command, "solve a.yaml --quiet %s", cases[i].set);
    assert_run(command, 0);
    if (cases[i].told ? !strstr(output, cases[i].told) : strstr(output, "cells meet at an angle") != NULL)
      fail_msg("%s: %s", cases[i].set, output);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(expressions_have_estimates),
                                     cmocka_unit_test(kinks_are_told),
                                     cmocka_unit_test(what_has_no_estimate_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
