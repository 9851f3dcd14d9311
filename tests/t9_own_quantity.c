/* Run: ctest -R t9_own_quantity. Named quantities that exist in this file alone: a row each, with the text by which
 * they are computed. With the rows the program knows them everywhere: this test is that program, and runs itself. */
#include "command.h"
#include "problem/field_rows.h"

#define PROGRAM TESI_BUILD_DIR "/tests/t9_own_quantity"
#include "program_testing.h"

static const TesiFieldRow slope = {.name = "slope",
                                   .from = TESI_FROM_TEXT,
                                   .derivative = TESI_FIELD_VALUE,
                                   .text = "sqrt(ux*ux + uy*uy)",
                                   .meaning = "largest slope",
                                   .unit = "[u]/length",
                                   .of = TESI_OF_SCALARS,
                                   .in_files = true},
                          speed = {.name = "speed",
                                   .from = TESI_FROM_TEXT,
                                   .derivative = TESI_FIELD_VALUE,
                                   .text = "sqrt(u*u + v*v)",
                                   .meaning = "size of the velocity",
                                   .unit = "[u]",
                                   .of = TESI_OF_FLOWS,
                                   .in_files = true};

static void write_case(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool has_text(const char *path, const char *text) {
  static char bytes[1 << 16];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  for (size_t i = 0; i + strlen(text) <= length; i++)
    if (!memcmp(bytes + i, text, strlen(text))) return true;
  return false;
}

static double at(const char *name, const cJSON *json, const char *list) {
  const cJSON *of = cJSON_GetObjectItem(json, list);
  return cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_IsArray(of) ? cJSON_GetArrayItem(of, 0) : of, name));
}

/* u = (1 + t)(3x + 4y): slope = 5 (1 + t). */
static const char heat[] =
    "problem: transport\nmesh: {box: {cells: [2, 2]}}\n"
    "data: {exact: (1 + t)*(3*x + 4*y), f: 3*x + 4*y}\n"
    "boundary: {all: {dirichlet: exact}}\n"
    "time: {end: 1, step: 0.25, method: backward_euler}\nsolver: {tolerance: 1e-10}\n"
    "output: {points: [[0.3, 0.4]], values: {m: {mean: domain, of: slope}},\n"
    "         average: {from: 0}, series: {file: s.csv}, lines: [{from: [0, 0], to: [1, 1], file: l.csv}]}\n";

static void of_scalars(void **state) {
  static const char *const kinds[] = {"", " --device emulator", " --set mesh.kind=forest",
                                      " --set space.element=dg"};
  (void)state;
  write_case("heat.yaml", heat);
  for (int i = 0; i < 4; i++) {
    char command[300];
    if (i == 2 && !tes_has_part("p4est")) continue;
    snprintf(command, sizeof command, "solve heat.yaml --quiet --json h.json --vtu h.vtu%s%s", kinds[i],
             i == 3 ? " --set output.average=null" : "");
    assert_run(command, 0);
    cJSON *json = read_json("h.json"), *statistics = cJSON_GetObjectItem(json, "statistics");
    assert_near(at("slope", json, "points"), 10, 1e-7);
    assert_near(at("m", json, "values"), 10, 1e-7);
    if (i < 3)
      assert_near(at("mean", statistics, "m"), 8.125, 1e-7); /* from the first step, 6.25, to the end */
    cJSON_Delete(json);
    assert_true(has_text("h-004.vtu", "\"slope\"") && has_text("s.csv", "point1.slope") &&
                has_text("l.csv", ",slope"));
  }
  if (tes_has_part("png"))
    assert_run("solve heat.yaml --quiet --set output.png='{file: h.png, of: slope, every: 4}'", 0);
  if (!tes_has_part("hdf5")) return;
  assert_run("solve heat.yaml --quiet --set time.end=0.5 --set output.checkpoint=h.h5", 0);
  assert_run("solve heat.yaml --quiet --restart h.h5 --json h.json", 0);
  cJSON *json = read_json("h.json");
  assert_near(at("mean", cJSON_GetObjectItem(json, "statistics"), "m"), 8.125, 1e-7);
  cJSON_Delete(json);
}

static void of_flows(void **state) {
  static const char *const kinds[] = {"rt", "q"};
  (void)state;
  write_case("flow.yaml",
             "problem: stokes\nmesh: {box: {cells: [2, 2]}}\ndata: {exact: {velocity: [3, 4], pressure: 0}}\n"
             "boundary: {all: {velocity: exact}}\noutput: {points: [[0.3, 0.4]]}\n");
  for (int i = 0; i < 2; i++) {
    char command[200];
    snprintf(command, sizeof command,
             "solve flow.yaml --quiet --json f.json --vtu f.vtu --set space.element=%s", kinds[i]);
    assert_run(command, 0);
    cJSON *json = read_json("f.json");
    assert_near(at("speed", json, "points"), 5, 1e-7);
    cJSON_Delete(json);
    assert_true(has_text("f.vtu", "\"speed\"") && has_text("f.vtu", "\"vorticity\""));
  }
}

static void words(void **state) {
  (void)state;
  assert_run("info --support", 0);
  assert_output("| `slope` | scalars | largest slope | [u]/length | `sqrt(ux*ux + uy*uy)` |");
  assert_output("| `speed` | flows |");
  assert_run("solve heat.yaml --set output.values.m.of=speed", 2);
  assert_output("slope");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(of_scalars), cmocka_unit_test(of_flows),
                                     cmocka_unit_test(words)};
  if (!tesi_field_row_add(&slope) || !tesi_field_row_add(&speed) || tesi_field_row_add(&slope)) return 1;
  return argc > 1 ? cli_run(argc, argv) : cmocka_run_group_tests(tests, set_up, tear_down);
}
