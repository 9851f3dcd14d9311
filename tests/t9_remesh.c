/* Run: ctest -R t9_remesh. Meshes that change while steps are made, by the program: restarts give the same bytes, films
 * and series have the meshes, reports tell of them; what is refused. */
#include "program_testing.h"
#include "tessera/tessera.h"

static void write_case(const char *end, const char *adapt) {
  FILE *file = fopen("m.yaml", "w");
  assert_non_null(file);
  fprintf(
      file,
      "problem: transport\n"
      "mesh: {box: {cells: [4, 4]}}\n"
      "space: {degree: 2}\n"
      "data: {a: 1e-3, b: [0.5 - y, x - 0.5], initial: \"exp(-100*(pow(x - 0.5, 2) + pow(y - 0.7, 2)))\"}\n"
      "time: {end: %s, step: 0.125}\n"
      "adapt: %s\n"
      "output: {values: {m: {integral: domain}}}\n",
      end, adapt);
  assert_int_equal(fclose(file), 0);
}

#define SOLVE "solve m.yaml --quiet --device cpu --deterministic "

static int count(const char *command) {
  FILE *pipe = popen(command, "r");
  int n = -1;
  assert_non_null(pipe);
  assert_int_equal(fscanf(pipe, "%d", &n), 1);
  pclose(pipe);
  return n;
}

/* 17 steps of 40, and then the rest: by steps, with the restart between two meshes; and by what has flowed. */
static void restarts_give_the_same_bytes(void **state) {
  static const char *const adapt[] = {"{every: 3, max_level: 2}", "{max_level: 2, max_dofs: 700}"};
  (void)state;
  if (!has_forests() || !tes_has_part("hdf5")) skip();
  for (int i = 0; i < 2; i++) {
    write_case("5", adapt[i]);
    assert_run(SOLVE "--set output.series=full.csv --set output.vtu=full.vtu --json full.json", 0);
    write_case("2.125", adapt[i]);
    assert_run(SOLVE "--set output.series=part.csv --set output.vtu=part.vtu --set output.checkpoint=m.h5", 0);
    write_case("5", adapt[i]);
    assert_run(SOLVE "--set output.series=part.csv --set output.vtu=part.vtu --restart m.h5 --json part.json",
               0);
    assert_int_equal(system("cmp full.csv part.csv && cmp full-040.vtu part-040.vtu"), 0);
    assert_int_equal(count("grep -c vtu full.pvd"), count("grep -c vtu part.pvd"));
    assert_true(count("tail -n +2 full.csv | cut -d, -f6 | sort -u | wc -l") >= 4); /* numbers of unknowns */
    cJSON *json = read_json("full.json");
    const cJSON *remeshes = cJSON_GetObjectItem(json, "remeshes"),
                *times = cJSON_GetObjectItem(json, "times");
    assert_true(cJSON_GetArraySize(remeshes) >= 4);
    const cJSON *last = cJSON_GetArrayItem(remeshes, cJSON_GetArraySize(remeshes) - 1);
    assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(last, "dofs")),
                cJSON_GetNumberValue(cJSON_GetObjectItem(json, "dofs")), 0);
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(times, "adapt")) > 0);
    cJSON_Delete(json);
  }
}

/* A cavity whose lid begins to move, with means in time; the flow's histories go from mesh to mesh, and restarts fall
 * between two of them. */
static void write_cavity(const char *end, const char *adapt) {
  FILE *file = fopen("c.yaml", "w");
  assert_non_null(file);
  fprintf(file,
          "problem: navier_stokes\n"
          "mesh: {box: {cells: [4, 4]}}\n"
          "space: {degree: 3}\n"
          "data: {nu: 0.005}\n"
          "boundary: {top: {velocity: [\"16*x*x*(1 - x)*(1 - x)*min(t, 1)\", 0]}}\n"
          "time: {end: %s, step: 0.015625}\n"
          "adapt: %s\n"
          "output: {values: {e: {integral: domain, of: u*u + v*v}, drag: {force: top, of: x}}, average: "
          "{from: 0.25}}\n",
          end, adapt);
  assert_int_equal(fclose(file), 0);
}

#define FLOW "solve c.yaml --quiet --device cpu --deterministic "

static void flows_restart_with_the_same_bytes(void **state) {
  static const char *const adapt[] = {"{every: 4, max_level: 2}", "{max_level: 2, max_dofs: 1200}"};
  (void)state;
  if (!has_forests() || !tes_has_part("hdf5")) skip();
  for (int i = 0; i < 2; i++) {
    write_cavity("1.25", adapt[i]);
    assert_run(FLOW "--set output.series=full.csv --json full.json", 0);
    cJSON *json = read_json("full.json");
    const cJSON *remeshes = cJSON_GetObjectItem(json, "remeshes");
    const int n = cJSON_GetArraySize(remeshes);
    assert_true(n >= (i ? 1 : 3));
    for (int k = 0; k < n; k++) {
      const cJSON *remesh = cJSON_GetArrayItem(remeshes, k);
      if (cJSON_GetNumberValue(cJSON_GetObjectItem(remesh, "step")) > 0)
        assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(remesh, "divergence_removed")) >= 0);
    }
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "times"), "adapt")) > 0);
    cJSON_Delete(json);
    write_cavity("0.578125", adapt[i]);
    assert_run(FLOW "--set output.series=part.csv --set output.checkpoint=c.h5", 0);
    write_cavity("1.25", adapt[i]);
    assert_run(FLOW "--set output.series=part.csv --restart c.h5 --json part.json", 0);
    assert_int_equal(system("cmp full.csv part.csv"), 0);
  }
}

static void what_does_not_fit_is_refused(void **state) {
  static const struct {
    const char *options, *message;
  } bad[] = {{"--set adapt.max_level=null",
              "adapt.max_level: is missing: with `time` this or max_dofs bounds the mesh"},
             {"--set adapt.every=null --set data.b=null", "adapt.every: is missing: without a velocity"},
             {"--set adapt.steps=3", "adapt.steps: is for steady problems"},
             {"--set adapt.estimator=dwr --set adapt.goal.point=[0.5,0.5]",
              "adapt.estimator: is for steady problems"},
             {"--set adapt.every=0", "adapt.every"},
             {"--set adapt.max_level=-1", "adapt.max_level"},
             {"--set mesh.kind=box", "a mesh of kind box is one grid"},
             {"--set time=null --set data.initial=null", "adapt.every: belongs to problems in time"}};
  (void)state;
  write_case("1", "{every: 3, max_level: 2}");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char command[300];
    snprintf(command, sizeof command, "solve m.yaml --quiet %s", bad[i].options);
    assert_run(command, 2);
    assert_output(bad[i].message);
  }
  assert_run("solve " CASES "cylinder.yaml --quiet --set adapt.every=3", 2);
  assert_output("adapt.max_level: is missing");
  assert_run("solve " CASES "cylinder.yaml --quiet --set adapt.max_level=1 --set adapt.estimator=dwr", 2);
  assert_output(
      "dwr belongs to poisson with element q, transport with element q, and elasticity; flows have residual");
  assert_run("solve " CASES "shear-layers.yaml --quiet --set adapt.every=3 --set adapt.max_level=1", 2);
  assert_output("adapt: element rt is for boxes of kind box");
  assert_run("solve " CASES "cavity-explicit.yaml --quiet --set adapt.every=3 --set adapt.max_level=1", 2);
  assert_output("element iso is for boxes of kind box");
  assert_run("solve " CASES
             "cantilever.yaml --quiet --set time.end=1 --set time.step=0.1 --set adapt.max_level=1",
             2);
  assert_output("adapt.every: is missing: without a velocity no flow says when the mesh changes");
}

/* A pulse that goes along a bar: energy stays, and the same bytes come after a restart between two meshes. */
static void bodies_restart_with_the_same_bytes(void **state) {
  (void)state;
  if (!has_forests() || !tes_has_part("hdf5")) skip();
  FILE *file = fopen("b.yaml", "w");
  assert_non_null(file);
  fputs("problem: elasticity\n"
        "mesh: {box: {cells: [8, 2], upper: [4, 1]}}\n"
        "space: {degree: 3}\n"
        "data:\n"
        "  young: 1\n"
        "  poisson: 0\n"
        "  density: 4\n"
        "  initial:\n"
        "    displacement: [\"0.01*exp(-20*(x - 1)*(x - 1))\", 0]\n"
        "    velocity: [\"0.2*(x - 1)*exp(-20*(x - 1)*(x - 1))\", 0]\n"
        "boundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}, top: roller, bottom: roller}\n"
        "time: {end: 2, step: 0.015625, rho_inf: 1}\n"
        "solver: {tolerance: 1e-6}\n"
        "adapt: {every: 4, max_level: 2}\n"
        "output: {values: {e: {integral: domain, of: 2*(ut*ut + vt*vt) + strain_energy}, "
        "top: {point: [2, 0.5], of: u}, before: {point: [1, 0.5], of: u}}}\n",
        file);
  assert_int_equal(fclose(file), 0);
#define BODY "solve b.yaml --quiet --device cpu --deterministic "
  assert_run(BODY "--set output.series=full.csv --json full.json", 0);
  cJSON *json = read_json("full.json");
  const cJSON *values = cJSON_GetObjectItem(json, "values");
  assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "remeshes")) > 5);
  assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(values, "e")), 5.60485e-4, 2e-6); /* twice int u_x^2 */
  assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(values, "top")), 0.01, 1e-4);
  assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(values, "before")), 0, 2e-4);
  assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "dofs")) < 4000);
  cJSON_Delete(json);
  assert_run(BODY "--set time.end=0.71875 --set output.series=part.csv --set output.checkpoint=b.h5", 0);
  assert_run(BODY "--set output.series=part.csv --restart b.h5", 0);
  assert_int_equal(system("cmp full.csv part.csv"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(restarts_give_the_same_bytes), cmocka_unit_test(flows_restart_with_the_same_bytes),
      cmocka_unit_test(bodies_restart_with_the_same_bytes), cmocka_unit_test(what_does_not_fit_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
