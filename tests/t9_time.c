/* Run: ctest -R t9_time. Problems in time by the program: series, films, and restarts, which give the same bytes as
 * runs that were not interrupted, on boxes and forests, with and without a velocity, for methods with and without
 * histories; what a restart refuses. */
#include "program_testing.h"
#include "tessera/tessera.h"

static const char head[] =
    "problem: transport\n"
    "data: {a: 0.05, c: 0.1, f: sin(3*t)*x, initial: x*y}\n"
    "boundary: {all: {neumann: t}, left: {dirichlet: cos(t)*y}}\n"
    "output: {points: {p: [0.3, 0.7]}, values: {m: {integral: domain}, s: {integral: domain, of: "
    "u*u + ux*uy}}}\n";
static const char *const meshes[] = {
    "mesh: {box: {cells: [4, 3]}}\nspace: {degree: 3}\n",
    "mesh: {kind: forest, box: {cells: [2, 2]}, refine_where: \"0.3 - x\"}\nspace: {degree: 2}\n"};

static void write_case(int mesh, const char *end) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "%s%stime: {end: %s, step: 0.0625}\n", head, meshes[mesh], end);
  assert_int_equal(fclose(file), 0);
}

static bool has_checkpoints(void) {
  return tes_has_part("hdf5");
}

static void the_same(const char *a, const char *b, const char *what) {
  char command[200];
  snprintf(command, sizeof command, "cmp %s %s", a, b);
  if (system(command) != 0) fail_msg("%s: %s and %s differ", what, a, b);
}

static double balance_of(const char *report, const char *what) {
  cJSON *json = read_json(report);
  const double value = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "balance"), what));
  assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "flux")) == 4);
  cJSON_Delete(json);
  return value;
}

/* 7 steps of 10, then a file that has rows that were not kept, then the rest. */
static void check_restart(int mesh, const char *options) {
  char command[900];
  write_case(mesh, "0.625");
  snprintf(command, sizeof command,
           "solve a.yaml --quiet --device cpu --threads 1 %s --set output.series=full.csv --json full.json",
           options);
  assert_run(command, 0);
  snprintf(command, sizeof command,
           "solve a.yaml --quiet --device cpu --threads 1 %s --set time.end=0.4375 --set "
           "output.series=part.csv --set "
           "output.checkpoint=a.h5",
           options);
  assert_run(command, 0);
  assert_int_equal(system("tail -2 full.csv >> part.csv"), 0);
  snprintf(command, sizeof command,
           "solve a.yaml --quiet --device cpu --threads 1 %s --set output.series=part.csv --set "
           "output.checkpoint=a.h5 "
           "--restart a.h5 --json a.json",
           options);
  assert_run(command, 0);
  the_same("full.csv", "part.csv", options);
  cJSON *json = read_json("a.json");
  assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "time_steps")), 3);
  cJSON_Delete(json);
  static const char *const parts[] = {"in", "out", "sources", "stored"};
  for (int i = 0; i < 4; i++)
    assert_near(balance_of("a.json", parts[i]), balance_of("full.json", parts[i]), 1e-12);
}

static void restarts_give_the_same_bytes(void **state) {
  static const char *const methods[] = {"backward_euler", "crank_nicolson", "bdf4", "sdirk3"};
  (void)state;
  if (!has_checkpoints()) skip();
  for (int mesh = 0; mesh < (has_forests() ? 2 : 1); mesh++)
    for (int i = 0; i < 4; i++) {
      char options[200];
      snprintf(options, sizeof options, "--set time.method=%s%s", methods[i],
               i < 2 ? ""
                     : " --set data.b=[1,x] --set data.a=1e-3 --set space.stabilization=supg "
                       "--set solver.tolerance=1e-7"); /* starts of least residual */
      check_restart(mesh, options);
    }
}

/* A body on two points of a mesh file, which are in the checkpoint too. */
static void bodies_restart_too(void **state) {
  (void)state;
  if (!has_checkpoints() || !has_forests()) skip();
  FILE *file = fopen("body.msh", "w");
  assert_non_null(file);
  fputs("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n0 1 \"pin\"\n0 2 "
        "\"slide\"\n$EndPhysicalNames\n"
        "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 1 0\n$EndNodes\n"
        "$Elements\n4\n1 15 2 1 1 1\n2 15 2 2 1 5\n3 3 2 10 1 1 2 3 4\n4 3 2 10 1 2 5 6 3\n$EndElements\n",
        file);
  fclose(file);
  file = fopen("body.yaml", "w");
  assert_non_null(file);
  fputs(
      "problem: elasticity\nmesh: {file: body.msh, refine: 1}\nspace: {degree: 2}\n"
      "data: {young: 100, poisson: 0.3, f: [0, -1]}\ntime: {end: 1, step: 0.125}\n"
      "boundary: {all: {traction: [0, 0]}, pin: {displacement: [0, 0]}, slide: {displacement: [null, 0]}}\n"
      "output: {values: {middle: {point: [1, 1], of: v}, hold: {force: pin, of: y}}, checkpoint: body.h5}\n",
      file);
  fclose(file);
  assert_run(
      "solve body.yaml --quiet --deterministic --set output.checkpoint=null --set output.series=whole.csv", 0);
  assert_run("solve body.yaml --quiet --deterministic --set time.end=0.625 --set output.series=body.csv", 0);
  assert_run("solve body.yaml --quiet --deterministic --restart body.h5 --set output.series=body.csv", 0);
  the_same("whole.csv", "body.csv", "elasticity");
  const char box[] =
      "--quiet --set \"mesh={box: {cells: [2, 1]}}\" --set boundary=null --set output.values=null";
  char command[400];
  snprintf(command, sizeof command, "solve body.yaml %s", box);
  assert_run(command, 0);
  snprintf(command, sizeof command,
           "solve body.yaml %s --restart body.h5 --set problem=transport --set data=null --set time.end=2",
           box);
  assert_run(command, 2);
  assert_output("the checkpoint holds steps of elasticity, the problem is transport");
  assert_run("solve body.yaml --quiet --set boundary.pin=roller", 2);
  assert_output("pin is a group of curves or points, which have a displacement, a force");
  assert_run("solve body.yaml --quiet --set \"output.values={a: {mean: slide, of: v}}\"", 2);
  assert_output("slide is a group of curves or points, where only a force is taken");
  assert_run(
      "solve body.yaml --quiet --set problem=poisson --set data=null --set time=null --set output=null --set "
      "\"boundary={all: {dirichlet: 0}, pin: {dirichlet: 1}}\"",
      2);
  assert_output("the mesh has no boundary called pin");
}

static void other_histories_are_refused(void **state) {
  static const struct {
    const char *options, *message;
  } rows[] = {{"--set time.method=bdf3", "the checkpoint holds histories of bdf2, the problem steps by bdf3"},
              {"--set time.step=0.1", "histories of steps of 0.0625, the problem has steps of 0.1"},
              {"--set space.degree=2", "histories of degree 3, the problem has degree 2"},
              {"--set time.start=-0.5", "begins at 0, that of the problem at -0.5"},
              {"--set solver.guess=1", "solver.guess differs"},
              {"--set time.end=0.625", "let it end later"},
              {"--set mesh.box.cells=[4,4]", "a.h5"}};
  (void)state;
  if (!has_checkpoints()) skip();
  write_case(0, "0.625");
  assert_run("solve a.yaml --quiet --set output.checkpoint=a.h5", 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char command[300];
    snprintf(command, sizeof command, "solve a.yaml --quiet --restart a.h5 --set time.end=1 %s",
             rows[i].options);
    assert_run(command, 2);
    assert_output(rows[i].message);
    if (i < 3) assert_output("\"data.initial: {file: a.h5}\" and time.start: 0.625, without --restart");
  }
  for (int i = 0; i < 2; i++) { /* that works */
    char command[300];
    snprintf(
        command, sizeof command,
        "solve a.yaml --quiet --set time.end=1 --set time.start=0.625 --set \"data.initial={file: a.h5}\" %s",
        rows[i].options);
    assert_run(command, 0);
  }
  assert_run("solve " CASES
             "poisson-square.yaml --set mesh.box.cells=[4,3] --set space.degree=3 --quiet --set "
             "output.checkpoint=b.h5",
             0);
  assert_run("solve a.yaml --quiet --restart b.h5", 2);
  assert_output("the checkpoint holds a steady solution");
}

/* Steps by tolerance: the same rows after a restart, and steps that grow; what does not fit together. */
static void steps_differ(void **state) {
  static const struct {
    const char *time, *message;
  } bad[] = {{"{end: 1}", "time.step: is missing"},
             {"{end: 1, step: 0.1, cfl: 1}", "time.cfl: expected one of step, cfl and tolerance, got more"},
             {"{end: 1, step: 0.1, max_step: 1}", "time.max_step: belongs to steps that differ"},
             {"{end: 1, cfl: 1}", "time.cfl: is of a velocity"},
             {"{end: 1, tolerance: 1e-3, method: bdf3}", "time.tolerance: is of the method bdf2"}};
  char command[400];
  (void)state;
  write_case(0, "1");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(command, sizeof command, "solve a.yaml --quiet --set \"time=%s\"", bad[i].time);
    assert_run(command, 2);
    assert_output(bad[i].message);
  }
  assert_run("solve a.yaml --quiet --device cpu --set \"time={end: 1, tolerance: 1e-4, max_step: 0.2, "
             "min_step: 0.15}\"",
             1);
  assert_output("is shorter than time.min_step");
  if (!has_checkpoints()) skip();
  static const char set[] =
      "--device cpu --threads 1 --quiet --set time.step=null --set time.tolerance=1e-5 --set "
      "time.max_step=0.1 --set solver.tolerance=1e-6";
  snprintf(command, sizeof command, "solve a.yaml %s --set output.series=full.csv", set);
  assert_run(command, 0);
  snprintf(
      command, sizeof command,
      "solve a.yaml %s --set output.series=part.csv --set \"output.checkpoint={file: a.h5, every: 7}\" --set "
      "time.steady=0",
      set);
  assert_run(command, 0);
  the_same("full.csv", "part.csv", "with checkpoints");
  assert_int_equal(system("awk -F, 'NR > 2 && $3 + 0 > most {most = $3 + 0} NR == 4 {first = $3 + 0} END "
                          "{exit !(most > 1.5*first)}' full.csv"),
                   0);
}

/* Start, end, and what is between. */
/* A coefficient that is refused on the way: with its line, and what was found is written. */
static void coefficients_that_go_wrong_are_told(void **state) {
  (void)state;
  static const char *const data[] = {"a: 0.06 - t", "a: 0.06 - t, b: [1, y]", "a: 1, c: 1/(t - 0.1)"};
  for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
    FILE *file = fopen("a.yaml", "w");
    assert_non_null(file);
    fprintf(file,
            "problem: transport\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}\ndata: {%s, f: 1}\n"
            "time: {end: 0.2, step: 0.05, method: backward_euler}\n",
            data[i]);
    assert_int_equal(fclose(file), 0);
    assert_run("solve a.yaml --device cpu --json a.json --set output.series=s.csv", 2);
    assert_output(i < 2 ? "a.yaml:4:11: data.a: " : "a.yaml:4:17: data.c: ");
    cJSON *json = read_json("a.json");
    assert_int_equal(cJSON_GetObjectItem(json, "time_steps")->valueint, 1);
    cJSON_Delete(json);
  }
  remove("a.json"), remove("s.csv"), remove("a.yaml");
}

static void films_and_series_have_their_rows(void **state) {
  (void)state;
  write_case(0, "0.625");
  assert_run("solve a.yaml --quiet --set \"output.vtu={file: u.vtu, every: {time: 0.25}}\" --set "
             "\"output.series={file: u.csv, every: 4}\"",
             0);
  assert_true(exists("u-000.vtu") && exists("u-001.vtu") && exists("u-002.vtu") && exists("u-003.vtu"));
  assert_true(exists("u.pvd") && !exists("u-004.vtu"));
  FILE *file = fopen("u.csv", "r");
  assert_non_null(file);
  char line[400];
  int rows[8], count = 0;
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "time,step,dt,iterations,cells,dofs,p.u,m,s\n");
  while (count < 8 && fgets(line, sizeof line, file)) rows[count++] = atoi(strchr(line, ',') + 1);
  fclose(file);
  assert_int_equal(count, 4);
  assert_true(rows[0] == 0 && rows[1] == 4 && rows[2] == 8 && rows[3] == 10);
  assert_run("solve a.yaml --quiet --set \"output.vtu={file: u.vtu, every: 0}\"", 2);
  assert_output(".every: expected a number of steps");
}

/* From u = 0 to the solution of the steady problem, which another run finds; and values know the time. */
static void steady_states_end_a_run(void **state) {
  double at[2];
  (void)state;
  write_case(0, "100");
  for (int i = 0; i < 2; i++) {
    char command[500];
    snprintf(command, sizeof command,
             "solve a.yaml --quiet --set data.f=x --set boundary.all.neumann=1 --set "
             "boundary.left.dirichlet=y --json a.json "
             "--set \"output.values={s: {integral: domain, of: t}}\" %s",
             i ? "--set time=null --set data.initial=null --set solver.tolerance=1e-10"
               : "--set time.steady=1e-7 --set solver.tolerance=1e-6 --set time.step=0.5");
    assert_run(command, 0);
    cJSON *json = read_json("a.json");
    const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 0);
    at[i] = cJSON_GetNumberValue(cJSON_GetObjectItem(point, "u"));
    if (i == 0) {
      const double time = cJSON_GetNumberValue(cJSON_GetObjectItem(json, "time"));
      assert_true(time > 5 && time < 99);
      assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "s")), time,
                  1e-10 * time);
    }
    cJSON_Delete(json);
  }
  assert_near(at[0], at[1], 1e-5 * at[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(coefficients_that_go_wrong_are_told),
                                     cmocka_unit_test(films_and_series_have_their_rows),
                                     cmocka_unit_test(steps_differ),
                                     cmocka_unit_test(restarts_give_the_same_bytes),
                                     cmocka_unit_test(bodies_restart_too),
                                     cmocka_unit_test(other_histories_are_refused),
                                     cmocka_unit_test(steady_states_end_a_run)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
