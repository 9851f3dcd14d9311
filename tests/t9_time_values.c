/* Run: ctest -R t9_time_values. What is told of solutions in time by the program: derivatives in time by their names,
 * statistics that go on after a restart, films of steps that differ and after so many minutes, what runs leave that
 * fail. */
#include "program_testing.h"
#include "tessera/tessera.h"

static void write_text(const char *text) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static double value_of(const char *name) {
  cJSON *json = read_json("a.json");
  const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), name);
  assert_true(cJSON_IsNumber(item));
  const double value = cJSON_GetNumberValue(item);
  cJSON_Delete(json);
  return value;
}

/* u = sin(t) (y, x), p = cos(t) x y: of degree one in space, so that only steps make errors. */
static const char flow[] =
    "problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\n"
    "data: {exact: {velocity: [\"sin(t)*y\", \"sin(t)*x\"], pressure: cos(t)*x*y}, "
    "f: [2*cos(t)*y + sin(t)*sin(t)*x, 2*cos(t)*x + sin(t)*sin(t)*y]}\n"
    "boundary: {all: {velocity: exact}}\ntime: {end: 1, step: 0.02}\n"
    "output: {values: {a: {point: [0.4, 0.3], of: ut}, b: {point: [0.4, 0.3], of: vt}, "
    "c: {point: [0.4, 0.3], of: px}, i: {integral: domain, of: ut*ut}}}\n";

static void flows_know_their_rates(void **state) {
  (void)state;
  static const char *const elements[] = {"--set space.degree=3", "--set space.element=rt",
                                         "--set space.element=iso --set time.step=0.001"};
  for (int i = 0; i < 3; i++) {
    char command[200];
    write_text(flow);
    snprintf(command, sizeof command, "solve a.yaml --quiet --device cpu --json a.json %s", elements[i]);
    assert_run(command, 0);
    assert_near(value_of("a"), 0.3 * cos(1), 5e-4);
    assert_near(value_of("b"), 0.4 * cos(1), 5e-4);
    assert_near(value_of("c"), 0.3 * cos(1), 2e-3);
    assert_near(value_of("i"), cos(1) * cos(1) / 3, 5e-4);
  }
}

static const char heat[] = "problem: transport\nmesh: {box: {cells: [3, 3]}}\nspace: {degree: 2}\n"
                           "data: {exact: sin(t)*x*y, f: cos(t)*x*y}\nboundary: {all: {dirichlet: exact}}\n"
                           "time: {end: 1, step: 0.02}\n"
                           "output: {values: {a: {point: [0.4, 0.3], of: ut}, i: {mean: right, of: ut*x}}}\n";

static void solutions_know_their_rate(void **state) {
  (void)state;
  static const char *const kinds[] = {"", "--set space.element=dg", "--set mesh.kind=forest",
                                      "--set time.step=null --set time.tolerance=1e-5"};
  for (int i = 0; i < 4; i++) {
    char command[200];
    if (i == 2 && !has_forests()) continue;
    write_text(heat);
    snprintf(command, sizeof command, "solve a.yaml --quiet --device cpu --json a.json %s", kinds[i]);
    assert_run(command, 0);
    assert_near(value_of("a"), 0.12 * cos(1), 1e-4);
    assert_near(value_of("i"), 0.5 * cos(1), 5e-4);
  }
  assert_run("solve a.yaml --quiet --set time=null --set data=null --set boundary=null", 2);
  assert_output("unknown name 'ut'");
}

/* The text of the report's statistics; the caller frees. */
static char *statistics(const char *report) {
  cJSON *json = read_json(report);
  const cJSON *item = cJSON_GetObjectItem(json, "statistics");
  assert_non_null(item);
  char *text = cJSON_Print(item);
  cJSON_Delete(json);
  return text;
}

#define LID "solve a.yaml --quiet --deterministic --device cpu --threads 1 "
static const char lid[] =
    "problem: navier_stokes\nmesh: {box: {cells: [3, 3]}}\nspace: {degree: 2}\ndata: {nu: 0.1}\n"
    "boundary: {top: {velocity: [\"x*(1 - x)*sin(20*t)\", 0]}}\ntime: {end: 1, step: 0.02}\n"
    "output: {average: {from: 0.3}, values: {e: {integral: domain, of: u*u}, d: {force: top, of: x}}}\n";

/* Of all steps since the time, also where a restart stands between; else that is told. */
static void statistics_go_on(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  for (int rt = 0; rt < 2; rt++) {
    char command[400];
    const char *more = rt ? "--set space.element=rt" : "";
    write_text(lid);
    snprintf(command, sizeof command, LID "%s --json whole.json", more);
    assert_run(command, 0);
    snprintf(command, sizeof command, LID "%s --set time.end=0.6 --set output.checkpoint=a.h5", more);
    assert_run(command, 0);
    snprintf(command, sizeof command, LID "%s --restart a.h5 --json part.json", more);
    assert_run(command, 0);
    assert_null(strstr(output, "output.average"));
    char *whole = statistics("whole.json"), *part = statistics("part.json");
    assert_string_equal(whole, part);
    free(whole), free(part);
    /* the last of the first run's samples, or the last two of them */
    for (int i = 0; i < 2; i++) {
      const char *from = i ? "0.58" : "0.6";
      snprintf(command, sizeof command, LID "%s --set output.average.from=%s --json whole.json", more, from);
      assert_run(command, 0);
      snprintf(
          command, sizeof command,
          LID "%s --set output.average.from=%s --set 'output.checkpoint={file: b.h5, every: 30, keep: true}'",
          more, from);
      assert_run(command, 0);
      snprintf(command, sizeof command,
               LID "%s --set output.average.from=%s --restart b-030.h5 --json part.json", more, from);
      assert_run(command, 0);
      assert_null(strstr(output, "output.average"));
      whole = statistics("whole.json"), part = statistics("part.json");
      assert_string_equal(whole, part);
      free(whole), free(part);
    }
    snprintf(command, sizeof command, LID "%s --restart a.h5 --set output.average.from=0.1", more);
    assert_run(command, 0);
    assert_output("output.average: values are those since t = 0.3");
    snprintf(command, sizeof command, LID "%s --restart a.h5 --set output.values.d=null", more);
    assert_run(command, 0);
    assert_output("output.average: values are those since t = 0.6");
  }
}

/* The checkpoint of the start, whose acceleration is not known yet, is a start like the case. */
static void bodies_restart_from_their_start(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_text(
      "problem: elasticity\nmesh: {box: {cells: [3, 3]}}\nspace: {degree: 2}\n"
      "data: {young: 100, poisson: 0.3, f: [1, 0.5], density: 1.2}\n"
      "boundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}}\ntime: {end: 0.03, step: 0.01}\n"
      "output: {average: {from: 0}, values: {u: {integral: domain, of: u}, s: {max: domain, of: sxx}}}\n");
  assert_run(LID "--json whole.json --set 'output.checkpoint={file: c.h5, keep: true}'", 0);
  assert_run(LID "--json part.json --restart c-000.h5", 0);
  char *whole = statistics("whole.json"), *part = statistics("part.json");
  assert_string_equal(whole, part);
  free(whole), free(part);
}

/* Its mesh is the one that the first run began with. */
static void meshes_restart_from_their_start(void **state) {
  (void)state;
  if (!tes_has_part("hdf5") || !tes_has_part("p4est")) skip();
  write_text("problem: transport\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}\n"
             "data: {a: 0.05, b: [1, 0.5], initial: sin(6*x)*y}\nboundary: {all: {dirichlet: 0}}\n"
             "time: {end: 0.03, step: 0.01}\nadapt: {every: 3, max_level: 2}\n"
             "output: {average: {from: 0}, values: {u: {integral: domain, of: u}}}\n");
  assert_run(LID "--json whole.json --set 'output.checkpoint={file: c.h5, keep: true}'", 0);
  assert_run(LID "--json part.json --restart c-000.h5", 0);
  char *whole = statistics("whole.json"), *part = statistics("part.json");
  assert_string_equal(whole, part);
  free(whole), free(part);
}

static int lines_with(const char *path, const char *text) {
  FILE *file = fopen(path, "r");
  char line[1000];
  int count = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) count += strstr(line, text) != NULL;
  fclose(file);
  return count;
}

/* Steps that differ: the collection of a run that goes on has the files of before, each once. */
/* A quotient of a solution that begins at rest; at the end, and in means, it must be a number. */
static void quotients_at_rest(void **state) {
  (void)state;
  write_text(
      "problem: transport\nmesh: {box: {cells: [3, 3]}}\nspace: {degree: 2}\ntime: {end: 0.1, step: 0.05}\n"
      "data: {f: 1}\noutput: {series: a.csv, values: {i: {integral: domain}, m: {max: domain}, "
      "q: {of: i/m}}}\n");
  assert_run("solve a.yaml --quiet --device cpu --json a.json", 0);
  assert_near(value_of("q"), value_of("i") / value_of("m"), 1e-12);
  assert_int_equal(lines_with("a.csv", ",0,0,"), 1);
  assert_run("solve a.yaml --quiet --device cpu --set output.average.from=0.02", 0);
  assert_run("solve a.yaml --quiet --device cpu --set data.f=0", 1);
  assert_non_null(strstr(output, "output.values.q: the value is not finite"));
}

static void films_go_on(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_text(lid);
#define FILM                                                                                                 \
  LID "--set time.step=null --set time.cfl=0.3 --set \"output.vtu={file: f.vtu, every: {time: 0.1}}\" "
  assert_run(FILM "--set time.end=0.55 --set output.checkpoint=a.h5", 0);
  assert_int_equal(lines_with("f.pvd", "DataSet"), 7);
  assert_run(FILM "--restart a.h5", 0);
  assert_int_equal(lines_with("f.pvd", "DataSet"), 11);
  for (int i = 0; i < 11; i++) {
    char name[40];
    snprintf(name, sizeof name, "\"f-%03d.vtu\"", i);
    assert_int_equal(lines_with("f.pvd", name), 1);
  }
  assert_int_equal(system("rm -f f-*.vtu f.pvd"), 0);
}

/* Long minutes: the start and the end alone, with the numbers of their steps. */
static void minutes_are_counted(void **state) {
  (void)state;
  write_text(lid);
  assert_run(LID "--set \"output.vtu={file: m.vtu, every: {minutes: 60}}\" "
                 "--set \"output.png={file: m.png, width: 200, every: {minutes: 60}}\" "
                 "--set \"output.series={file: m.csv, every: {minutes: 60}}\"",
             0);
  assert_int_equal(lines_with("m.pvd", "DataSet"), 2);
  assert_true(exists("m-000.vtu") && exists("m-050.vtu") && exists("m-000.png") && exists("m-050.png"));
  assert_int_equal(lines_with("m.csv", ","), 3);
  assert_run(LID "--set \"output.vtu={file: m.vtu, every: {minutes: 1e-9}}\"", 0);
  assert_int_equal(lines_with("m.pvd", "DataSet"), 51);
  assert_run(LID "--set \"output.vtu={file: m.vtu, every: {hours: 1}}\"", 2);
  assert_output(
      "output.vtu.every: expected a number of steps, {time: a number > 0} or {minutes: a number > 0}");
  assert_int_equal(system("rm -f m-*.vtu m-*.png m.pvd m.csv"), 0);
}

static void check_report(const char *status, double time) {
  cJSON *json = read_json("a.json");
  assert_string_equal(text_of(json, "status"), status);
  assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "time")), time, 1e-12);
  assert_true(cJSON_IsNumber(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "e")));
  cJSON_Delete(json);
}

#define FAST "--json a.json --set output.checkpoint=a.h5 --set output.average=null --set data.nu=1e-3 "
/* A run that fails leaves the state before the step: its numbers, a file and a checkpoint that goes on. */
static void failures_leave_the_last_good_state(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_text(lid);
  assert_run(LID FAST "--set boundary.top.velocity=[1,0] --set time.step=0.4 --set time.end=40 --set "
                      "\"output.vtu={file: f.vtu, every: 1000}\"",
             1);
  assert_output("the step is unstable");
  cJSON *json = read_json("a.json");
  const double time = cJSON_GetNumberValue(cJSON_GetObjectItem(json, "time"));
  cJSON_Delete(json);
  assert_true(time > 0 && time < 40);
  check_report("diverged", time);
  assert_int_equal(lines_with("f.pvd", "DataSet"), 2);
  assert_run(
      LID FAST "--set boundary.top.velocity=[1,0] --set time.step=0.4 --set time.end=40 --restart a.h5", 1);
  assert_run(
      LID FAST
      "--set space=null --set space.element=iso --set time.step=0.05 --set data.nu=0.1 --set time.end=9 "
      "--set boundary.top.velocity=[1,0] --set mesh.box.cells=[8,8] --set output.values.d=null",
      1);
  assert_output("steps of 0.05 are unstable");
  check_report("diverged", 0);
  assert_run(
      "solve a.yaml --device cpu --quiet --set space=null --set space.element=iso --set time.step=0.001 "
      "--set data.nu=1e-3 --set boundary.top.velocity=[1,0]",
      0);
  assert_output("warning: the Reynolds number of cells, |u| h / nu, is up to ");
  assert_int_equal(system("rm -f f-*.vtu f.pvd"), 0);
}

/* Steady states end runs of flows with all elements. */
static void steady_flows_end(void **state) {
  static const char *const elements[] = {"--set space.degree=3 --set time.step=0.05", "--set space.element=rt",
                                         "--set space.element=iso --set time.step=0.002"};
  double value[3];
  (void)state;
  for (int i = 0; i < 3; i++) {
    char command[300];
    write_text("problem: navier_stokes\nmesh: {box: {cells: [8, 8]}}\ndata: {nu: 0.5}\n"
               "boundary: {top: {velocity: [\"16*x*x*(1 - x)*(1 - x)\", 0]}}\n"
               "time: {end: 50, step: 0.05, steady: 1e-4}\noutput: {values: {e: {point: [0.5, 0.5]}}}\n");
    snprintf(command, sizeof command, "solve a.yaml --quiet --device cpu --json a.json %s", elements[i]);
    assert_run(command, 0);
    cJSON *json = read_json("a.json");
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "time")) < 10);
    cJSON_Delete(json);
    value[i] = value_of("e");
    assert_true(value[i] < -0.1);
    assert_near(value[i], value[0], 3e-2 * fabs(value[0]));
  }
}

/* The same where a right-hand side fails, of one equation of each order in time. */
static void steps_are_undone(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  for (int i = 0; i < 2; i++) {
    write_text(
        i ? "problem: elasticity\nmesh: {box: {cells: [3, 3]}}\nspace: {degree: 2}\n"
            "data: {young: 1, poisson: 0.3, f: [\"t > 0.5 ? 1/0 : 1\", 0]}\ntime: {end: 1, step: 0.1}\n"
            "output: {values: {e: {point: [0.5, 0.5]}}, checkpoint: a.h5}\n"
          : "problem: transport\nmesh: {box: {cells: [3, 3]}}\nspace: {degree: 2}\n"
            "data: {f: \"t > 0.5 ? 1/0 : 1\"}\ntime: {end: 1, step: 0.1, method: bdf3}\n"
            "output: {values: {e: {point: [0.5, 0.5]}}, checkpoint: a.h5}\n");
    assert_run("solve a.yaml --quiet --device cpu --deterministic --json a.json", 2);
    assert_output("is inf at (");
    check_report("invalid_input", 0.5);
    const double failed = value_of("e");
    assert_run("solve a.yaml --quiet --device cpu --deterministic --json a.json --set time.end=0.5 --set "
               "output.checkpoint=b.h5",
               0);
    assert_near(value_of("e"), failed, 0);
    const char *f = i ? "--set data.f=[1,0]" : "--set data.f=1";
    char command[200];
    snprintf(command, sizeof command, "solve a.yaml --quiet --device cpu --restart a.h5 %s --json a.json", f);
    assert_run(command, 0);
    const double on = value_of("e");
    snprintf(command, sizeof command, "solve a.yaml --quiet --device cpu %s --json a.json", f);
    assert_run(command, 0);
    assert_near(value_of("e"), on, 1e-3 * fabs(on));
  }
}

/* A flow whose exact velocity swings faster and faster: smaller tolerances make more steps and smaller errors. */
static const char swing[] =
    "problem: navier_stokes\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 3}\n"
    "data: {nu: 1, exact: {velocity: [\"(1 + sin(8*t*t))*y\", \"(1 + sin(8*t*t))*x\"], pressure: 0}, "
    "f: [\"%s16*t*cos(8*t*t)*y + pow(1 + sin(8*t*t), 2)*x\", \"16*t*cos(8*t*t)*x + pow(1 + sin(8*t*t), "
    "2)*y\"]}\n"
    "boundary: {all: {velocity: exact}}\ntime: {end: 1, max_step: 0.1}\nsolver: {tolerance: 1e-6}\n"
    "output: {values: {e: {error: domain, of: l2}}}\n";

/* The same between walls, for element rt, whose normal velocities at walls would be all of that flow. */
static const char shear[] =
    "problem: navier_stokes\nmesh: {box: {cells: [3, 2], periodic: x}}\nspace: {element: rt, degree: 2}\n"
    "data: {nu: 0.1, exact: {velocity: [\"sin(8*t*t)*y*(1 - y)\", 0], pressure: 0}, "
    "f: [\"%s16*t*cos(8*t*t)*y*(1 - y) + 0.2*sin(8*t*t)\", 0]}\n"
    "time: {end: 1, max_step: 0.1}\nsolver: {tolerance: 1e-6}\n"
    "output: {values: {e: {error: domain, of: l2}}}\n";

/* A body that is sheared like that: u_tt - div sigma = f. */
static const char body[] =
    "problem: elasticity\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 2}\n"
    "data: {lambda: 1, mu: 1, exact: [\"sin(8*t*t)*y*(1 - y)\", 0], "
    "f: [\"%s(16*cos(8*t*t) - 256*t*t*sin(8*t*t))*y*(1 - y) + 2*sin(8*t*t)\", 0]}\n"
    "boundary: {all: {displacement: exact}}\ntime: {end: 1, max_step: 0.1}\nsolver: {tolerance: 1e-8}\n"
    "output: {values: {e: {error: domain, of: l2}}}\n";

static void write_flow(const char *flow, const char *more) {
  char text[1200];
  snprintf(text, sizeof text, flow, more);
  write_text(text);
}

static void choose_steps(const char *flow) {
  double error[3], steps[3];
  write_flow(flow, "");
  for (int i = 0; i < 3; i++) {
    static const char *const tolerances[] = {"1e-2", "1e-3", "1e-4"};
    char command[200];
    snprintf(command, sizeof command,
             "solve a.yaml --quiet --device cpu --json a.json --set time.tolerance=%s", tolerances[i]);
    assert_run(command, 0);
    error[i] = value_of("e");
    cJSON *json = read_json("a.json");
    steps[i] = cJSON_GetNumberValue(cJSON_GetObjectItem(json, "time_steps"));
    assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "time")), 1, 0);
    cJSON_Delete(json);
  }
  printf("steps %g, %g, %g, errors %g, %g, %g\n", steps[0], steps[1], steps[2], error[0], error[1], error[2]);
  assert_true(steps[0] > 8 && steps[1] > 1.3 * steps[0] && steps[2] > 1.5 * steps[1] && steps[2] < 1000);
  assert_true(error[0] < 0.2 && error[1] < 0.5 * error[0] && error[2] < 0.4 * error[1]);
  assert_run("solve a.yaml --quiet --device cpu --set time.tolerance=1e-3 --set time.min_step=0.05", 1);
  assert_output("time.min_step, 0.05");
}

/* Steps that are made again leave nothing: a run that goes on from a file writes the same bytes. */
static void go_on_with_chosen_steps(const char *flow) {
#define BY_ERROR "solve a.yaml --quiet --device cpu --deterministic --set time.tolerance=1e-3 "
  write_flow(flow, "");
  assert_run(BY_ERROR "--set output.series=whole.csv", 0);
  write_flow(flow, "(t > 0.6 ? 1/0 : 0) + "); /* which ends the run, before a step */
  assert_int_equal(run(BY_ERROR "--set output.series=part.csv --set output.checkpoint=b.h5"), 2);
  write_flow(flow, "");
  assert_run(BY_ERROR "--set output.series=part.csv --restart b.h5", 0);
  assert_int_equal(system("cmp whole.csv part.csv"), 0);
}

/* The same for second order in time; of newmark too, and not of a method of first order. */
static void tolerances_choose_steps_of_bodies(void **state) {
  static const char *const methods[] = {"newmark", "generalized_alpha"};
  double error;
  (void)state;
  choose_steps(body);
  if (tes_has_part("hdf5")) go_on_with_chosen_steps(body);
  for (int i = 0; i < 2; i++) {
    char command[200];
    snprintf(command, sizeof command,
             "solve a.yaml --quiet --device cpu --json a.json --set time.tolerance=1e-5 --set time.method=%s",
             methods[i]);
    assert_run(command, 0);
    error = value_of("e");
    printf("%s: error %g\n", methods[i], error);
    assert_true(error < 2e-3);
  }
  assert_run("solve a.yaml --quiet --set time.tolerance=1e-3 --set time.method=backward_euler", 2);
  assert_output("time.tolerance: is of the methods newmark and generalized_alpha");
}

static void tolerances_choose_steps(void **state) {
  static const char *const flows[] = {swing, shear};
  (void)state;
  for (int i = 0; i < 2; i++) {
    choose_steps(flows[i]);
    if (tes_has_part("hdf5")) go_on_with_chosen_steps(flows[i]);
  }
  assert_run("solve a.yaml --quiet --set time.tolerance=1e-3 --set time.method=imex_bdf3", 2);
  assert_output("time.tolerance: is of the method imex_bdf2");
  assert_run("solve a.yaml --quiet --set time.tolerance=1e-3 --set \"space={element: iso, degree: 1}\"", 2);
  assert_output("jumps where steps become shorter");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(flows_know_their_rates),
                                     cmocka_unit_test(solutions_know_their_rate),
                                     cmocka_unit_test(quotients_at_rest),
                                     cmocka_unit_test(statistics_go_on),
                                     cmocka_unit_test(bodies_restart_from_their_start),
                                     cmocka_unit_test(meshes_restart_from_their_start),
                                     cmocka_unit_test(films_go_on),
                                     cmocka_unit_test(minutes_are_counted),
                                     cmocka_unit_test(failures_leave_the_last_good_state),
                                     cmocka_unit_test(steady_flows_end),
                                     cmocka_unit_test(steps_are_undone),
                                     cmocka_unit_test(tolerances_choose_steps),
                                     cmocka_unit_test(tolerances_choose_steps_of_bodies)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
