/* Run: ctest -R t9_values. Largest and smallest values with their places, and values that are made of values: a bar of
 * length 4 that is pulled by 5 has the stress 5 everywhere, and moves by 4 * 5 / 1000 at its end. */
#include "program_testing.h"

static const char bar[] =
    "problem: elasticity\nconstants: {limit: 235}\n"
    "mesh: {box: {lower: [0, 0], upper: [4, 1], cells: [4, 2]}, kind: %s}\n"
    "data: {young: 1000, poisson: 0, plane: stress}\n"
    "boundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}, right: {traction: [5, 0]}}\nsolver: "
    "{tolerance: 1e-12}\n"
    "output:\n  values:\n    ratio: {of: \"2*safety + limit*0\"}\n    end: {max: domain, of: u}\n"
    "    start: {min: left, of: u}\n    safety: {of: limit/vm}\n    vm: {max: right, of: von_mises}\n"
    "    max: {mean: domain, of: 3 + 0*u}\n    many: {of: \"max(end, 7) + 10*start + 100*vm + 1e3*safety + "
    "1e4*ratio\"}\n    other: {%s}\n";

static void write_case(const char *kind, const char *other) {
  FILE *file = fopen("bar.yaml", "w");
  assert_non_null(file);
  fprintf(file, bar, kind, other);
  assert_int_equal(fclose(file), 0);
}

static double number(const cJSON *json, const char *group, const char *name, int i) {
  const cJSON *value = cJSON_GetObjectItem(cJSON_GetObjectItem(json, group), name);
  assert_non_null(value);
  return cJSON_GetNumberValue(i < 0 ? value : cJSON_GetArrayItem(value, i));
}

static void values_have_places(void **state) {
  (void)state;
  static const char *const kinds[] = {"box", "forest"}, *const devices[] = {"cpu", "emulator"};
  for (int i = 0; i < 3; i++) {
    char command[200];
    write_case(kinds[i % 2], "max: top, of: v");
    snprintf(command, sizeof command, "solve bar.yaml --json bar.json --device %s", devices[i / 2]);
    const int code = run(command);
    if (code == 3) continue;
    if (code) fail_msg("%s", output);
    assert_non_null(strstr(output, "value     end = 0.0"));
    assert_non_null(strstr(output, "at (4, "));
    cJSON *json = read_json("bar.json");
    assert_near(number(json, "values", "end", -1), 0.02, 1e-10);
    assert_near(number(json, "places", "end", 0), 4, 1e-12);
    assert_near(number(json, "values", "start", -1), 0, 1e-12);
    assert_near(number(json, "places", "start", 0), 0, 1e-12);
    assert_near(number(json, "values", "vm", -1), 5, 1e-8);
    assert_near(number(json, "values", "safety", -1), 47, 1e-7);
    assert_near(number(json, "values", "ratio", -1), 94, 1e-7);
    assert_near(number(json, "values", "many", -1), 7 + 500 + 47e3 + 94e4, 1e-3);
    assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "places"), "safety"));
    assert_near(number(json, "places", "other", 1), 1, 1e-12);
    cJSON_Delete(json);
  }
}

/* They stand in the table of a study. */
static void studies_have_them(void **state) {
  (void)state;
  write_case("box", "of: end/2");
  assert_run("study bar.yaml --over data.young=1000,2000 --device cpu", 0);
  assert_non_null(strstr(output, "safety"));
  assert_non_null(strstr(output, "converged"));
}

static void refused(void **state) {
  static const struct {
    const char *other, *message;
  } bad[] = {
      {"of: 2*speed", "unknown name 'speed' at column 3"},
      {"of: 2*speed", "ratio, end, start, safety, vm"},
      {"of: 2*r", "unknown name 'r' at column 3"}, /* a value has no place */
      {"of: 1 + other", "other is made of itself"},
      {"of: 2*e}\n    e: {max: domain", "e is a value, and a constant or function of expressions"},
      {"of: 2*limit}\n    limit: {max: domain", "limit is a value, and a constant"},
      {"max: domain, min: domain", "expected exactly one of point, mean, integral, force, error, max, min"},
      {"max: hole, of: u", "the mesh has no boundary or material called hole"},
      {"max: domain, of: stress", "unknown name 'stress'"},
      {"max: [0, 0]", "expected domain, or the name of a boundary or material"},
      {"of: 1/(vm - vm)", "the value is not finite"}};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_case("box", bad[i].other);
    const int code = run("solve bar.yaml --quiet --device cpu");
    if (code != (i == 10 ? 1 : 2) || !strstr(output, bad[i].message))
      fail_msg("%s: %d: %s", bad[i].other, code, output);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_have_places),
                                     cmocka_unit_test(studies_have_them), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
