/* Run: ctest -R t9_slender. Beams, plates and sheets of elasticity, and coefficients that jump at random: at most 40
 * iterations at the default tolerance, on boxes and forests, and values of beam and plate theory. */
#include <cJSON.h>
#include "program_testing.h"

/* Fills a.yaml; the body is clamped at the lower end of a direction or (plate) all around, and loaded at the other end
 * or from above. */
static void write_case(const char *cells, const char *upper, int degree, double poisson, const char *boundary,
                       const char *point) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file,
          "problem: elasticity\nmesh: {box: {cells: %s, upper: %s}}\nspace: {degree: %d}\n"
          "data: {young: 1, poisson: %g}\nboundary: {%s}\noutput: {values: {w: {point: %s, of: w}}}\n",
          cells, upper, degree, poisson, boundary, point);
  assert_int_equal(fclose(file), 0);
}

/* error: of the theory, relative: shear and the third dimension. */
static void check(const char *name, double expected, double error) {
  const int kinds = has_forests() ? 2 : 1;
  for (int k = 0; k < kinds; k++) {
    char command[128];
    snprintf(command, sizeof command, "solve a.yaml --quiet --json r.json --set mesh.kind=%s",
             k ? "forest" : "box");
    assert_run(command, 0);
    cJSON *json = read_json("r.json");
    const int iterations = cJSON_GetObjectItem(json, "iterations")->valueint;
    const double w = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "w")->valuedouble;
    print_message("%s, %s: %d iterations, %.8g, by theory %.8g\n", name, k ? "forest" : "box", iterations, w,
                  expected);
    assert_true(iterations <= 40);
    assert_near(w, expected, error * fabs(expected));
    cJSON_Delete(json);
  }
}

#define CLAMPED_LEFT                                                                                         \
  "all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}, right: {traction: [0, 0, -1]}"

/* Timoshenko: w = F L^3 / (3 E I) + 6/5 F L / (G A), of a square of 1: I = 1/12, G = E / (2 (1 + nu)). */
static double beam(double length, double poisson) {
  return -(4 * pow(length, 3) + 1.2 * length * 2 * (1 + poisson));
}

static void beams(void **state) {
  (void)state;
  write_case("[24, 2, 2]", "[12, 1, 1]", 2, 0.3, CLAMPED_LEFT, "[12, 0.5, 0.5]");
  check("12 : 1, Q2", beam(12, 0.3), 0.01);
  write_case("[24, 2, 2]", "[12, 1, 1]", 4, 0.45, CLAMPED_LEFT, "[12, 0.5, 0.5]");
  check("12 : 1, Q4, nu 0.45", beam(12, 0.45), 0.02);
  write_case("[25, 3, 3]", "[12, 1, 1]", 3, 0.45, CLAMPED_LEFT, "[12, 0.5, 0.5]");
  check("12 : 1, Q3, nu 0.45, even cells", beam(12, 0.45), 0.02);
  write_case("[50, 1, 1]", "[50, 1, 1]", 4, 0.3, CLAMPED_LEFT, "[50, 0.5, 0.5]");
  check("50 : 1, Q4", beam(50, 0.3), 0.003);
  write_case("[250, 1, 1]", "[1000, 1, 1]", 2, 0.3, CLAMPED_LEFT, "[1000, 0.5, 0.5]");
  check("1000 : 1, Q2", beam(1000, 0.3), 0.003);
}

/* Kirchhoff, clamped all around: w = 0.00126532 q a^4 / D, D = E t^3 / (12 (1 - nu^2)) (Timoshenko and
 * Woinowsky-Krieger, table 35), q = t^3: 0.0138174. */
static void plates(void **state) {
  (void)state;
  write_case("[8, 8, 1]", "[1, 1, 0.01]", 4, 0.3,
             "all: {displacement: [0, 0, 0]}, back: {traction: [0, 0, 0]}, front: {traction: [0, 0, -1e-6]}",
             "[0.5, 0.5, 0.005]");
  check("100 : 1, clamped", -0.0138174, 0.01);
  write_case("[12, 12, 1]", "[1, 1, 0.02]", 3, 0, CLAMPED_LEFT, "[1, 0.5, 0.01]");
  check("sheet 50 : 1", -4 / (0.02 * 0.02), 0.01); /* a strip with nu = 0: F L^3 / (3 E I), F = t, I = t^3/12 */
}

/* 10^(0 .. 6) at random a cell; 3.36432036e-5 by a sparse direct solve that a user reported. */
static void contrast(void **state) {
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(
      "problem: poisson\nmesh: {box: {cells: [32, 32]}}\nspace: {degree: 2}\n"
      "data: {f: 1, a: \"pow(10, 6*(fabs(sin(12.9898*(floor(x*32)+1) + 78.233*(floor(y*32)+1))*43758.5453) - "
      "floor(fabs(sin(12.9898*(floor(x*32)+1) + 78.233*(floor(y*32)+1))*43758.5453))) )\"}\n"
      "output: {values: {w: {mean: domain}}}\n",
      file);
  assert_int_equal(fclose(file), 0);
  check("contrast", 3.36432036e-5, 3e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(beams), cmocka_unit_test(plates),
                                     cmocka_unit_test(contrast)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
