/* Run: ctest -R t9_words. Names of a case: constants and tables in all expressions, on the processor and in kernels. */
#include "io/expression/expression.h"
#include <math.h>
#include "program_testing.h"

static double value_of(const char *arguments, const char *name) {
  char all[1024];
  snprintf(all, sizeof all, "solve %s --quiet --json r.json", arguments);
  assert_run(all, 0);
  cJSON *json = read_json("r.json");
  const cJSON *value = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), name);
  if (!value) fail_msg("no value %s", name);
  const double number = value->valuedouble;
  cJSON_Delete(json);
  remove("r.json");
  return number;
}

static const char bare[] =
    "problem: poisson\nmesh: {box: {cells: [4, 4], upper: [1, 1]}}\nspace: {degree: 3}\n"
    "solver: {tolerance: 1e-11}\n"
    "boundary: {all: {dirichlet: \"0.25*x\"}, right: {robin: {alpha: 2, g: \"2*0.3*y\"}}}\n"
    "data: {f: \"3*sin(x)\", a: \"0.5 + max(0, min(1, 2*y - 0.5))\"}\n"
    "output: {values: {m: {mean: domain, of: \"3*u*y\"}}}\n";
static const char named[] =
    "constants: {three: 3, k: 1/4, h: 1.2*k, none: null}\n"
    "tables: {ramp: {file: ramp.csv}, other: {file: ramp.csv, interpolation: cubic}}\n"
    "problem: poisson\nmesh: {box: {cells: [4, 4], upper: [\"k*4\", 1]}}\nspace: {degree: 3}\n"
    "solver: {tolerance: 1e-11}\n"
    "boundary: {all: {dirichlet: \"k*x\"}, right: {robin: {alpha: 2, g: \"2*h*y\"}}}\n"
    "data: {f: \"three*sin(x)\", a: \"0.5 + ramp(y)\"}\n"
    "output: {values: {m: {mean: domain, of: \"three*u*y\"}, r: {integral: domain, of: \"ramp(x)\"}, "
    "c: {point: [0.5, 0.5], of: \"other(x)\"}}}\n";

/* Numbers in words are the numbers; a table of two points with constant ends is max and min. */
static void words_are_what_they_stand_for(void **state) {
  (void)state;
  write_file("bare.yaml", bare);
  write_file("named.yaml", named);
  write_file("ramp.csv", "# a ramp\ns, y\n0.25, 0\n0.5;0.5\n\n0.75\t1 # its end\r\n");
  const double expected = value_of("bare.yaml", "m");
  assert_near(value_of("named.yaml", "m"), expected, 1e-11);
  assert_near(value_of("named.yaml --device emulator", "m"), expected, 1e-9);
  assert_near(value_of("named.yaml --set mesh.kind=forest", "m"), expected, 1e-9);
  assert_near(value_of("named.yaml", "r"), 0.5, 1e-3);
  assert_near(value_of("named.yaml", "c"), 0.5, 1e-14);
  assert_near(value_of("named.yaml --set constants.three=6", "m"),
              value_of("bare.yaml --set 'data.f=6*sin(x)' "
                       "--set 'output.values.m={mean: domain, of: 6*u*y}'",
                       "m"),
              1e-10);
  assert_run("study named.yaml --over constants.three=1,2 --quiet", 0);
}

static void refusals_name_place_and_reason(void **state) {
  (void)state;
  static const struct {
    const char *set, *message;
  } wrong[] = {{"constants.x=1", "x: expressions have this name already"},
               {"constants.sin=1", "constant or function already"},
               {"constants.ux=1", "this name already"},
               {"constants.2a=1", "begins with no digit"},
               {"constants.ramp2=y", "unknown name 'y'"},
               {"constants.q=1/0", "infinite or undefined"},
               {"tables.k={file: ramp.csv}", "a constant of the case has this name already"},
               {"tables.new={file: none.csv}", "none.csv"},
               {"tables.new={file: ramp.csv, interpolation: quintic}", "expected linear or cubic"},
               {"tables.new={fil: ramp.csv}", "unknown key 'fil'"},
               {"tables.new={file: down.csv}", "down.csv:3: 1 is not above 2 before it"},
               {"tables.new={file: text.csv}", "text.csv:2: expected two numbers, got '1, b'"},
               {"tables.new={file: one.csv}", "a table has two lines at least, this has 1"},
               {"data.f=ramp", "needs its argument in parentheses"},
               {"data.f=rampe(x)", "did you mean 'ramp'"},
               {"data.f=three(x)", "a product is written with *"},
               {"output.json=ramp.csv", "would overwrite a table"}};
  write_file("down.csv", "1 1\n2 2\n1 3\n");
  write_file("text.csv", "0, 0\n1, b\n");
  write_file("one.csv", "0, 0\n");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, "solve named.yaml --set '%s'", wrong[i].set);
    assert_run(arguments, strstr(wrong[i].set, "none.csv") ? 4 : 2);
    assert_output(wrong[i].message);
  }
}

static double formula(const double *s, const double *y, int n, double at) {
  for (int i = 0; i < n - 1; i++)
    if (at >= s[i] && at <= s[i + 1]) return y[i] + (y[i + 1] - y[i]) * (at - s[i]) / (s[i + 1] - s[i]);
  return at < s[0] ? y[0] : y[n - 1];
}

/* Linear and cubic tables at many points: through the knots, within their neighbours, smooth, and their derivatives by
 * differences. */
static void tables_interpolate(void **state) {
  (void)state;
  TesContext *ctx;
  TesiWords *words;
  TesFunction *f[2], *d;
  enum { KNOTS = 6, POINTS = 1001 };
  static const double s[KNOTS] = {-1, 0, 0.5, 1.5, 2, 4}, y[KNOTS] = {0, 1, 3, 3, 2, 10};
  static double x[POINTS], out[2][POINTS], slope[POINTS];
  assert_int_equal(tes_context_create(&(TesContextDesc){.verbosity = TES_QUIET}, &ctx, NULL, 0), TES_OK);
  assert_int_equal(tesi_words_create(ctx, 0, 2, &words), TES_OK);
  assert_int_equal(tesi_words_add_table(words, "line", KNOTS, s, y, false), TES_OK);
  assert_int_equal(tesi_words_add_table(words, "curve", KNOTS, s, y, true), TES_OK);
  tesi_words_set(ctx, words);
  tesi_words_release(&words);
  assert_int_equal(tes_function_create_expression(ctx, "line(x)", &f[0]), TES_OK);
  assert_int_equal(tes_function_create_expression(ctx, "curve(2*x - x)", &f[1]), TES_OK);
  assert_int_equal(tes_function_create_derivative(f[1], 0, &d), TES_OK);
  tesi_words_set(ctx, NULL); /* functions keep their words */
  TesFunction *gone = NULL;
  assert_int_equal(tes_function_create_expression(ctx, "line(x)", &gone), TES_INVALID_INPUT);
  for (int i = 0; i < POINTS; i++)
    x[i] = -1.5 + 6.0 * i / (POINTS - 1), out[0][i] = out[1][i] = slope[i] = NAN;
  for (int k = 0; k < 2; k++)
    assert_int_equal(tes_function_evaluate(f[k], POINTS, x, x, x, 0, out[k]), TES_OK);
  assert_int_equal(tes_function_evaluate(d, POINTS, x, x, x, 0, slope), TES_OK);
  for (int i = 0; i < POINTS; i++) {
    assert_near(out[0][i], formula(s, y, KNOTS, x[i]), 1e-13);
    double low = y[0], high = y[KNOTS - 1];
    for (int k = 0; k < KNOTS - 1; k++)
      if (x[i] >= s[k] && x[i] <= s[k + 1]) low = fmin(y[k], y[k + 1]), high = fmax(y[k], y[k + 1]);
    if (x[i] < s[0]) high = y[0];
    if (x[i] > s[KNOTS - 1]) low = y[KNOTS - 1];
    assert_true(out[1][i] >= low - 1e-13 && out[1][i] <= high + 1e-13);
    if (i > 0 && i < POINTS - 1 && x[i - 1] > s[0] && x[i + 1] < s[KNOTS - 1])
      assert_near(slope[i], (out[1][i + 1] - out[1][i - 1]) / (x[i + 1] - x[i - 1]), 0.15);
  }
  double knots[KNOTS];
  assert_int_equal(tes_function_evaluate(f[1], KNOTS, s, s, s, 0, knots), TES_OK);
  for (int k = 0; k < KNOTS; k++) assert_near(knots[k], y[k], 1e-13);
  tes_function_destroy(&f[0]), tes_function_destroy(&f[1]), tes_function_destroy(&d);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_are_what_they_stand_for),
                                     cmocka_unit_test(refusals_name_place_and_reason),
                                     cmocka_unit_test(tables_interpolate)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
