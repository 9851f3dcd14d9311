/* Run: ctest -R t9_old_checkpoints. Checkpoints of before their numbers had names: tests/data/checkpoints, written by
 * version 0.1.0 at half the time of the cases below, are gone on from. The end is that of a run that was not
 * interrupted; files and runs may be of other widths of SIMD, so that bits of sums differ. */
#include "program_testing.h"
#include "tessera/tessera.h"

typedef struct Old {
  const char *file, *text;
} Old;

#define LID "16*x*x*(1 - x)*(1 - x)*(1 + 0.3*sin(4*t))"
#define FLOW(element)                                                                                        \
  "problem: navier_stokes\nmesh: {box: {cells: [3, 3]}}\nspace: {" element "}\ndata: {nu: 0.1}\n"            \
  "boundary: {all: {velocity: [0, 0]}, top: {velocity: [\"" LID "\", 0]}}\n"

static const Old olds[] = {
    {"transport", "problem: transport\nmesh: {box: {cells: [3, 2]}}\nspace: {degree: 3}\n"
                  "data: {a: 0.05, b: [1 + y, 0.3 - x], initial: \"sin(3*x)*y\"}\n"
                  "boundary: {all: {dirichlet: 0}, right: {neumann: 0}}\n"
                  "time: {end: 0.5, step: 0.05, method: bdf3}\n"
                  "output: {values: {e: {point: [0.37, 0.41]}, s: {integral: domain, of: u*u}}}\n"},
    {"elasticity",
     "problem: elasticity\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 2}\n"
     "data: {young: 10, poisson: 0.3, density: 1, f: [0, \"-sin(5*t)\"]}\n"
     "boundary: {left: {displacement: [0, 0]}, all: {traction: [0, 0]}}\ntime: {end: 1, step: 0.05}\n"
     "output: {values: {e: {point: [0.37, 0.41], of: v}, s: {integral: domain, of: strain_energy}}}\n"},
    {"flow-q", FLOW("degree: 2") "time: {end: 0.4, step: 0.02}\noutput: {values: {e: {point: [0.37, 0.41]}, "
                                 "s: {integral: "
                                 "domain, of: u*u + v*v}}}\n"},
    {"flow-rt", FLOW("element: rt, degree: 1") "time: {end: 0.4, step: 0.02, method: imex_bdf3}\noutput: "
                                               "{values: {e: {point: "
                                               "[0.37, 0.41]}, s: {integral: domain, of: u*u + v*v}}}\n"},
    {"flow-iso", FLOW("element: iso") "time: {end: 0.2, step: 0.004}\noutput: {values: {e: {point: [0.37, "
                                      "0.41]}, s: {integral: "
                                      "domain, of: u*u + v*v}}}\n"},
};

static void write_text(const char *text) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static double value(const char *report, const char *what) {
  cJSON *json = read_json(report);
  const double found = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), what));
  cJSON_Delete(json);
  return found;
}

static void goes_on(const Old *old) {
  char command[700];
  write_text(old->text);
  assert_run("solve a.yaml --quiet --device cpu --deterministic --json whole.json", 0);
  snprintf(command, sizeof command,
           "solve a.yaml --quiet --device cpu --deterministic --json a.json --restart "
           "\"" TESI_SOURCE_DIR "/tests/data/checkpoints/%s.h5\"",
           old->file);
  assert_run(command, 0);
  static const char *const names[] = {"e", "s"};
  for (int i = 0; i < 2; i++) {
    const double wanted = value("whole.json", names[i]);
    assert_true(fabs(wanted) > 1e-6);
    assert_near(value("a.json", names[i]), wanted, 1e-7 * fabs(wanted));
  }
  snprintf(command, sizeof command,
           "solve a.yaml --quiet --device cpu --set time.start=-1 --restart "
           "\"" TESI_SOURCE_DIR "/tests/data/checkpoints/%s.h5\"",
           old->file);
  assert_run(command, 2);
}

static void files_of_before_are_read(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  for (size_t i = 0; i < sizeof olds / sizeof *olds; i++) goes_on(&olds[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_before_are_read)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
