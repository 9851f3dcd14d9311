/* Run: ctest -R t9_direct. solver.method: direct by the program: polynomials of the space come back to round-off on
 * forests, whatever the equation, and the report counts the bytes of the factors. Factors take over from cycles that
 * would not reach the tolerance, and only from them. */
#include "program_testing.h"

static double number_at(const cJSON *json, const char *group, const char *name) {
  const cJSON *of = group ? cJSON_GetObjectItem(json, group) : json, *value = cJSON_GetObjectItem(of, name);
  if (!value) fail_msg("the report has no %s", name);
  return cJSON_GetNumberValue(value);
}

typedef struct Row {
  const char *name, *text, *error; /* error: of the report */
} Row;

/* Squares and cubes that the element has, on cells of different size. */
static const Row rows[] = {
    {"poisson",
     "problem: poisson\nmesh: {box: {cells: [4, 4]}, kind: forest, refine_where: x - 0.6}\nspace: {degree: "
     "3}\n"
     "data: {a: 1 + x, f: -(2 + 4*x + 6*y*(1 + x)), exact: x*x + y*y*y}\nboundary: {all: {dirichlet: "
     "exact}}\n",
     "l2"},
    {"transport",
     "problem: transport\nmesh: {box: {cells: [4, 4]}, kind: forest, refine_where: x - 0.6}\nspace: {degree: "
     "2}\n"
     "data: {a: 0.01, b: [1, 2], f: 2*x + 1.98, exact: x*x + y}\n"
     "boundary: {all: {dirichlet: exact}}\n",
     "l2"},
    {"elasticity",
     "problem: elasticity\nmesh: {box: {cells: [3, 2, 2]}, kind: forest}\nspace: {degree: 2}\n"
     "data: {young: 1, poisson: 0.25, exact: [x + 2*y, 3*z - x, y - z]}\n"
     "boundary: {all: {displacement: [x + 2*y, 3*z - x, y - z]}}\n",
     "l2"},
    {"stokes",
     "problem: stokes\nmesh: {box: {cells: [4, 4]}, kind: forest}\nspace: {degree: 2, element: q}\n"
     "data: {f: [-1, 0], exact: {velocity: [y*y, 0], pressure: x - 0.5}}\n"
     "boundary: {all: {velocity: [y*y, 0]}}\n",
     "velocity_l2"}};

static void polynomials_come_back(void **state) {
  (void)state;
  if (!has_forests() || !tes_has_part("mumps")) skip();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    FILE *file = fopen("a.yaml", "w");
    assert_non_null(file);
    fputs(rows[i].text, file);
    fclose(file);
    assert_run("solve a.yaml --device cpu --quiet --json r.json --set solver.method=direct --set "
               "solver.tolerance=1e-12",
               0);
    cJSON *json = read_json("r.json");
    const char *method =
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "solver"), "method"));
    if (!method || !strstr(method, "direct")) fail_msg("%s: the method is %s", rows[i].name, method);
    if (rows[i].error) {
      const double error = number_at(json, "errors", rows[i].error);
      print_message("%s: error %.3g after %g iterations\n", rows[i].name, error,
                    number_at(json, NULL, "iterations"));
      assert_near(error, 0, 1e-10);
    }
    assert_true(number_at(json, NULL, "iterations") <= 12);
    cJSON_Delete(json);
  }
}

/* "98617 unknowns: 8.05e+07 entries of factors" */
/* Diffusion along a diagonal, 10^4 times faster than across it, which no cell is stretched along. A method that is
 * asked for stays. */
static void factors_take_over(void **state) {
  static const char *const methods[] = {"auto", "direct", "cg"};
  double value[2];
  (void)state;
  if (!tes_has_part("mumps")) skip();
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: poisson\nmesh: {box: {cells: [48, 48]}}\nspace: {degree: 4}\n"
        "data: {a: [[5000.5, 4999.5], [4999.5, 5000.5]], f: 1 + x}\nboundary: {all: {dirichlet: 0}}\n"
        "solver: {tolerance: 1e-9}\noutput: {values: {square: {integral: domain, of: u*u}}}\n",
        file);
  fclose(file);
  for (int i = 0; i < 3; i++) {
    char line[120];
    snprintf(line, sizeof line, "solve a.yaml --device cpu --quiet --json r.json --set solver.method=%s",
             methods[i]);
    assert_run(line, i == 2);
    cJSON *json = read_json("r.json");
    const char *method =
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "solver"), "method"));
    if (!method || !strstr(method, "factors") != (i == 2))
      fail_msg("%s: the method is %s", methods[i], method);
    if (i < 2) value[i] = number_at(json, "values", "square");
    cJSON_Delete(json);
  }
  assert_near(value[0], value[1], 1e-8 * value[1]);
}

static void factors_are_counted(void **state) {
  (void)state;
  double entries;
  if (!has_forests() || !tes_has_part("mumps")) skip();
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: poisson\nmesh: {ball: {dim: 3}, refine: 2}\nspace: {degree: 3}\nsolver: {method: direct}\n",
        file);
  fclose(file);
  assert_run("solve a.yaml --device cpu --verbose --json r.json", 0);
  const char *at = strstr(output, " entries of factors"), *from = at;
  assert_non_null(at);
  while (from > output && from[-1] != ' ') from--;
  assert_int_equal(sscanf(from, "%lf", &entries), 1);
  cJSON *json = read_json("r.json");
  const double peak = number_at(json, NULL, "memory_peak");
  print_message("%g entries of factors, peak %g bytes: %.3g an entry\n", entries, peak, peak / entries);
  assert_true(entries > 1e6);
  assert_true(peak > 8 * entries && peak < 40 * entries);
  cJSON_Delete(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(polynomials_come_back),
                                     cmocka_unit_test(factors_take_over),
                                     cmocka_unit_test(factors_are_counted)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
