/* Run: ctest -R t9_program. The program as a script sees it: reports, exit statuses, messages, files, signals. */
#include <signal.h>
#include "program_testing.h"

#define SQUARE CASES "poisson-square.yaml --set mesh.box.cells=8 --set space.degree=3"

static void report_has_the_fields_of_the_contract(void **state) {
  (void)state;
  assert_run("solve " SQUARE " --json report.json", 0);
  cJSON *json = read_json("report.json");
  assert_string_equal(text_of(json, "status"), "converged");
  assert_string_equal(text_of(json, "device"), "cpu");
  assert_string_equal(text_of(json, "precision"), "mixed");
  assert_true(strlen(text_of(json, "version")) >= 5);
  const int iterations = cJSON_GetObjectItem(json, "iterations")->valueint;
  const cJSON *residuals = cJSON_GetObjectItem(json, "residuals"),
              *errors = cJSON_GetObjectItem(json, "errors");
  assert_true(iterations >= 1 && iterations < 10);
  assert_int_equal(cJSON_GetArraySize(residuals), iterations + 1);
  assert_true(cJSON_GetArrayItem(residuals, iterations)->valuedouble <= 1e-9);
  assert_true(cJSON_GetObjectItem(json, "fractional_iterations")->valuedouble > 0);
  assert_int_equal(cJSON_GetObjectItem(json, "dofs")->valueint, 23 * 23);
  assert_int_equal(cJSON_GetObjectItem(json, "levels")->valueint, 3);
  assert_true(cJSON_GetObjectItem(errors, "l2")->valuedouble > 1e-9 &&
              cJSON_GetObjectItem(errors, "l2")->valuedouble < 1e-4);
  assert_true(cJSON_GetObjectItem(errors, "h1")->valuedouble > cJSON_GetObjectItem(errors, "l2")->valuedouble);
  assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "times"), "setup")->valuedouble > 0);
  assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "times"), "solve")->valuedouble > 0);
  assert_true(cJSON_GetObjectItem(json, "dofs_per_second")->valuedouble > 0);
  cJSON_Delete(json);
  remove("report.json");
}

static void report_on_stdout_is_nothing_else(void **state) {
  (void)state;
  assert_run("solve " SQUARE " --json - 2>/dev/null", 0);
  cJSON *json = cJSON_Parse(output);
  assert_non_null(json);
  cJSON_Delete(json);
}

static void people_see_the_road(void **state) {
  (void)state;
  assert_run("solve " SQUARE " --verbose", 0);
  assert_output("8 x 8");
  assert_output("levels");
  assert_output("smoother");
  assert_output("converged after");
  assert_output("L2");
  assert_run("solve " SQUARE " --quiet", 0);
  assert_string_equal(output, "");
}

static void methods_precisions_and_smoothers_agree(void **state) {
  (void)state;
  const char *const choices[] = {"method=vcycle",      "method=fmg",
                                 "method=gmres",       "method=cg",
                                 "precision=double",   "smoother=jacobi --set solver.method=cg",
                                 "smoother=chebyshev", "smoother=gauss_seidel",
                                 "precision=single"};
  double first = 0;
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    char arguments[512];
    snprintf(arguments, sizeof arguments, "solve " SQUARE " --quiet --json r.json --set solver.%s",
             choices[i]);
    assert_run(arguments, 0);
    cJSON *json = read_json("r.json");
    const double error = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), "l2")->valuedouble;
    if (i == 0) first = error;
    assert_near(error, first, 0.01 * first);
    cJSON_Delete(json);
  }
  remove("r.json");
}

static void bad_usage_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *arguments, *message;
  } wrong[] = {{"", "usage"},
               {"frobnicate", "there is no command 'frobnicate'"},
               {"solve", "takes one case file"},
               {"solve a.yaml b.yaml", "takes one case file"},
               {"solve --threads 0 " SQUARE, "--threads 0: expected a whole number from 1"},
               {"solve --threads two " SQUARE, "--threads two"},
               {"solve --wrong " SQUARE, "solve has no option '--wrong'"},
               {"solve --jsn=r.json " SQUARE, "no option '--jsn=r.json'; did you mean '--json'?"},
               {"solve -x " SQUARE, "solve has no option '-x'"},
               {"solve " SQUARE " --set", "--set needs a value"},
               {"bench --degere 3", "did you mean '--degree'?"},
               {"info --foo", "info has no option '--foo'"},
               {"solve --device tpu " SQUARE, "tpu"},
               {"solve " SQUARE " --set solver.tolerence=1e-3", "tolerance"},
               {"solve " SQUARE " --set space.degree=0", "1 to 20"},
               {"solve " SQUARE " --set space.degree=99", "1 to 20"},
               {"solve " SQUARE " --set mesh.box.cells=0", "mesh.box.cells"},
               {"solve " SQUARE " --set mesh.box.upper=[-1,1]", "mesh.box"},
               {"solve " SQUARE " --set \"data.f=sni(x)\"", "did you mean 'sin'"},
               {"solve " SQUARE " --set data.a=x-0.5", "the diffusion coefficient a is"},
               {"solve " SQUARE " --set solver.local_solver=exact --set data.a=1+x", "exact"},
               {"bench nonsense", "there is no benchmark"},
               {"bench operator --degree 0", "--degree 0"},
               {"bench operator --degree 1..99", "--degree 1..99"},
               {"bench operator --precision half", "double, single, mixed or all"},
               {"info extra", "extra"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_run(wrong[i].arguments, 2);
    assert_output(wrong[i].message);
  }
  assert_int_equal(files_here(), 0);
}

static void a_nan_is_named_with_its_point(void **state) {
  (void)state;
  assert_run("solve " SQUARE " --set \"data.f=sqrt(x - 2)\"", 2);
  assert_output("sqrt(x - 2)");
  assert_output("at (");
  assert_run("solve " SQUARE " --set \"data.f=sqrt(x - 2)\" --quiet --json nan.json", 2);
  cJSON *json = read_json("nan.json");
  assert_string_equal(text_of(json, "status"), "invalid_input");
  assert_non_null(strstr(text_of(json, "message"), "sqrt(x - 2)"));
  assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "dofs_per_second")));
  cJSON_Delete(json);
  remove("nan.json");
}

static void unconverged_solves_say_so(void **state) {
  (void)state;
  assert_run("solve " SQUARE " --set solver.max_iterations=1 --set solver.tolerance=1e-11 --set "
             "solver.method=vcycle --json r.json --quiet",
             1);
  assert_output("after 1 iterations");
  cJSON *json = read_json("r.json");
  assert_string_equal(text_of(json, "status"), "not_converged");
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "residuals")), 2);
  cJSON_Delete(json);
  remove("r.json");
  assert_run("solve " SQUARE " --set solver.tolerance=1e-16", 0);
  assert_output("below the round-off floor");
}

static void files_that_cannot_be_written(void **state) {
  (void)state;
  assert_run("solve missing.yaml", 4);
  assert_output("missing.yaml");
  assert_run("solve " SQUARE " --quiet --json /nonexistent/r.json", 4);
  assert_output("/nonexistent/r.json");
  assert_run("solve " SQUARE " --quiet --json /dev/full", 4);
  assert_output("/dev/full");
  assert_run("solve " SQUARE " --quiet --json .", 4);
  assert_run("solve " SQUARE " --vtu /nonexistent/u.vtu", 4);
  assert_int_equal(run("info >/dev/full"), 4);
  assert_int_equal(run("solve " SQUARE " >/dev/full"), 4);
  if (strstr(output, "residual")) fail_msg("it was solved before the file was tried:\n%s", output);
  assert_int_equal(files_here(), 0);
}

static void too_large_problems_are_refused_before_they_begin(void **state) {
  (void)state;
  assert_run("solve " CASES "poisson-cube.yaml --set mesh.box.cells=4096", 4);
  assert_output("GiB");
}

static void missing_devices_are_told(void **state) {
  (void)state;
  if (exists("/dev/nvidia0")) skip();
  assert_run("solve " SQUARE " --device cuda", 3);
}

/* A device that lacks something (here its compiler): refused where it is named, replaced by the CPU where the
 * program chose it. */
static void automatic_choice_falls_back_to_the_cpu(void **state) {
  (void)state;
  setenv("TESSERA_EMULATOR_CC", "/nonexistent/cc", 1);
  setenv("TESSERA_CACHE_DIR", "/dev/null", 1);
  assert_run("solve " SQUARE " --device emulator", 3);
  assert_output("/nonexistent/cc");
  setenv("TESSERA_DEVICE", "emulator", 1);
  assert_run("solve " SQUARE, 0);
  assert_output("cpu instead of emulator");
  assert_run("solve " SQUARE " --device cpu", 0);
  assert_null(strstr(output, "instead"));
  unsetenv("TESSERA_DEVICE"), unsetenv("TESSERA_EMULATOR_CC"), unsetenv("TESSERA_CACHE_DIR");
}

/* Starts the program, whose output goes to log.txt, sends SIGINT once `begun` is true of that, and expects it to
 * end by itself as interrupted. */
static cJSON *interrupt(char *const arguments[], const char *begun) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr) || !freopen("log.txt", "w", stdout)) _exit(99);
    execv(PROGRAM, arguments);
    _exit(98);
  }
  for (int tries = 0; tries < 600 && system(begun) != 0; tries++) usleep(100000);
  kill(child, SIGINT);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 1);
  cJSON *json = read_json("r.json");
  assert_string_equal(text_of(json, "status"), "interrupted");
  remove("r.json");
  remove("log.txt");
  return json;
}

/* Ctrl-C during a solve that would go on for long: it ends soon, by itself, and what it has is reported. */
static void interrupt_ends_at_the_next_iteration(void **state) {
  (void)state;
  char *arguments[] = {"tessera",
                       "solve",
                       CASES "poisson-square.yaml",
                       "--set",
                       "mesh.box.cells=256",
                       "--set",
                       "solver.smoother=jacobi",
                       "--set",
                       "solver.method=vcycle",
                       "--set",
                       "solver.tolerance=1e-15",
                       "--set",
                       "solver.max_iterations=1000000",
                       "--json",
                       "r.json",
                       NULL};
  /* Line 2 of the iterations, not of the levels before them. */
  cJSON *json = interrupt(arguments, "sed '1,/^iteration/d' log.txt 2>/dev/null | grep -q '^ *2  '");
  assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "residuals")) > 1);
  cJSON_Delete(json);
}

/* A bench that would go on for long: it ends before the next row, and writes those that are there. */
static void interrupt_keeps_the_rows(void **state) {
  (void)state;
  if (!has_forests()) skip();
  char *arguments[] = {"tessera", "bench",     "adaptive", "--dim", "2",     "--dofs",
                       "1e3",     "--seconds", "0.2",      "--csv", "b.csv", NULL};
  int status, rows = 0;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr) || !freopen("log.txt", "w", stdout)) _exit(99);
    execv(PROGRAM, arguments);
    _exit(98);
  }
  for (int tries = 0; tries < 600 && system("grep -q uniform log.txt 2>/dev/null") != 0; tries++)
    usleep(20000);
  kill(child, SIGINT);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  FILE *pipe = popen("grep -c uniform b.csv", "r");
  assert_int_equal(fscanf(pipe, "%d", &rows), 1);
  pclose(pipe);
  assert_true(rows >= 1 && rows < 16);
  assert_int_equal(system("rm b.csv log.txt"), 0);
}

/* In the middle of the adaptive loop: the steps until there are written. */
static void interrupt_keeps_the_steps(void **state) {
  (void)state;
  if (!has_forests()) skip();
  char *arguments[] = {"tessera",
                       "solve",
                       CASES "fichera.yaml",
                       "--set",
                       "adapt.tolerance=1e-9",
                       "--set",
                       "adapt.steps=100",
                       "--set",
                       "adapt.max_dofs=0",
                       "--vtu",
                       "u.vtu",
                       "--json",
                       "r.json",
                       NULL};
  cJSON *json = interrupt(arguments, "grep -q '^ *2  *[0-9]' log.txt 2>/dev/null && test -e u-002.vtu");
  assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "steps")) >= 3);
  assert_string_equal(text_of(json, "vtu"), "u.pvd");
  assert_true(exists("u.pvd"));
  cJSON_Delete(json);
  assert_int_equal(system("rm u*.vtu u.pvd"), 0);
}

static void all_cases_of_the_repository_converge(void **state) {
  (void)state;
  const char *const cases[] = {"poisson-square",   "stokes-channel",       "stokes-shear",
                               "graded",           "mixed-boundary",       "odd-sizes",
                               "pure-neumann",     "variable-coefficient", "high-degree",
                               "stokes-viscosity", "poisson-dg",           "stokes-manufactured-3d"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "solve " CASES "%s.yaml --quiet --json r.json --vtu %s", cases[i],
             "out.vtu");
    assert_run(arguments, 0);
    remove("r.json");
    remove("out.vtu");
  }
}

static void cases_on_meshes_of_trees_converge(void **state) {
  (void)state;
  static const char *const cases[] = {"l-shape.yaml", "fichera.yaml", "ball.yaml --set mesh.refine=0",
                                      "periodic.yaml", "plate.yaml"};
  if (!has_forests()) skip();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "solve " CASES "%s --quiet", cases[i]);
    assert_run(arguments, 0);
  }
  assert_run("solve " CASES "periodic.yaml --device cpu", 0);
  assert_output("  solved directly");
  assert_run("solve " CASES "periodic.yaml --device cpu --set solver.coarse=cg", 0);
  assert_output("  conjugate gradients with the diagonal");
}

static void adaptive_solves_tell_how_they_ended(void **state) {
  (void)state;
  if (!has_forests()) skip();
  assert_run(
      "solve " CASES "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=3 --json r.json --vtu u.vtu", 0);
  assert_output("effectivity");
  assert_output("converged after 3 steps, ");
  assert_output("that was the last step allowed");
  assert_output("error     L2");
  assert_output("written   u.pvd");
  cJSON *json = read_json("r.json");
  assert_string_equal(cJSON_GetObjectItem(json, "vtu")->valuestring, "u.pvd");
  const cJSON *times = cJSON_GetObjectItem(json, "times"), *step, *steps = cJSON_GetObjectItem(json, "steps");
  double dofs = 0, seconds = cJSON_GetObjectItem(times, "setup")->valuedouble +
                             cJSON_GetObjectItem(times, "solve")->valuedouble;
  cJSON_ArrayForEach(step, steps) dofs += cJSON_GetObjectItem(step, "dofs")->valuedouble;
  assert_near(cJSON_GetObjectItem(json, "dofs_per_second")->valuedouble, dofs / seconds,
              1e-6 * dofs / seconds);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "steps")), 3);
  cJSON_Delete(json);
  assert_run("solve " CASES "l-shape.yaml --set adapt.tolerance=0.09", 0);
  assert_output("not above the tolerance of 0.09");
  assert_run("solve " CASES "l-shape.yaml --set adapt.tolerance=0 --set adapt.max_dofs=150", 0);
  assert_output("more unknowns than max_dofs");
  assert_int_equal(system("rm -f r.json u*.vtu u.pvd"), 0);
}

/* A tolerance that is asked for and not met: everything is written, and scripts see it. */
static void missed_tolerances_are_failures(void **state) {
  (void)state;
  static const struct {
    const char *options, *reason;
    int steps;
  } ends[] = {{"--set adapt.steps=3", "after 3 steps, the last allowed: allow more steps (about ", 3},
              {"--set adapt.steps=1", "after 1 step, the last allowed: allow more steps, raise", 1},
              {"--set adapt.max_dofs=150", "where max_dofs allows 150: raise max_dofs", 1},
              {"--set adapt.estimator=dwr --set adapt.goal.point=[-0.5,0.5] --set adapt.steps=2 --set "
               "adapt.tolerance=1e-15",
               "above the tolerance 1e-15", 2}};
  if (!has_forests()) skip();
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    char arguments[400];
    snprintf(arguments, sizeof arguments, "solve " CASES "l-shape.yaml %s --json r.json --vtu u.vtu",
             ends[i].options);
    assert_run(arguments, 1);
    assert_output("estimate above tolerance after");
    assert_output(ends[i].reason);
    assert_output("error     L2");
    assert_output("written   u.pvd");
    cJSON *json = read_json("r.json");
    assert_string_equal(text_of(json, "status"), "estimate_above_tolerance");
    assert_non_null(strstr(text_of(json, "message"), "above the tolerance"));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "steps")), ends[i].steps);
    cJSON_Delete(json);
    assert_true(exists("u-000.vtu"));
    assert_int_equal(system("rm r.json u*.vtu u.pvd"), 0);
  }
}

/* A device that is full: told before the mesh that would not fit is set up, and the last result stays. The fourth
 * mesh needs 1.6 MiB. */
static void meshes_without_room_are_told_before(void **state) {
  (void)state;
  static const char options[] =
      "solve " CASES "l-shape.yaml --set mesh.refine=2 --set space.degree=2 --set adapt.marking=fraction "
      "--set adapt.fraction=1 --device emulator --quiet --json r.json --vtu u.vtu";
  if (!has_forests()) skip();
  setenv("TESSERA_EMULATOR_MIB", "1", 1);
  const int status = run(options);
  unsetenv("TESSERA_EMULATOR_MIB");
  assert_int_equal(status, 4);
  assert_output("the next mesh, of ");
  assert_output("GiB on the device, where this step took");
  assert_null(strstr(output, "has no room")); /* no allocation failed */
  cJSON *json = read_json("r.json");
  assert_string_equal(text_of(json, "status"), "out_of_memory");
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "steps")), 3);
  assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "residuals")) > 1);
  cJSON_Delete(json);
  assert_true(exists("u-002.vtu"));
  assert_int_equal(system("rm r.json u*.vtu u.pvd"), 0);
}

/* Three steps and a restart of two give the meshes and errors of four steps at once (the last step is solved again,
 * from its solution). */
static void a_restart_goes_on(void **state) {
  (void)state;
  double error[2];
  char cells[64];
  if (!has_forests()) skip();
  const int status = run(
      "solve " CASES "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=3 --set output.checkpoint=c.h5");
  if (status == 3 && strstr(output, "without HDF5")) skip();
  assert_int_equal(status, 0);
  const char *const solves[] = {"--set adapt.steps=4", "--set adapt.steps=2 --restart c.h5"};
  for (int i = 0; i < 2; i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "solve " CASES "l-shape.yaml --set adapt.tolerance=0 %s --json r.json", solves[i]);
    assert_run(arguments, 0);
    if (i) assert_output("restart   from step 2 of c.h5");
    const char *last = strstr(output, "\n    3 ");
    assert_non_null(last);
    assert_int_equal(sscanf(last, " 3 %63s", cells), 1);
    assert_string_equal(cells, "33");
    cJSON *json = read_json("r.json");
    const cJSON *steps = cJSON_GetObjectItem(json, "steps");
    assert_int_equal(cJSON_GetArraySize(steps), i ? 2 : 4);
    error[i] = cJSON_GetObjectItem(cJSON_GetArrayItem(steps, i ? 1 : 3), "error")->valuedouble;
    cJSON_Delete(json);
  }
  assert_near(error[1], error[0], 1e-8 * error[0]);
  assert_run("solve " CASES "fichera.yaml --restart c.h5", 2);
  assert_output("c.h5 is of another mesh than the case: 2D with 3 trees, not 3D with 7");
  assert_run("solve " CASES "poisson-square.yaml --restart c.h5", 2);
  assert_output("c.h5 is of another mesh than the case: of kind forest, not box");
  assert_run("solve " CASES "l-shape.yaml --set \"mesh={fichera: {dim: 2}}\" --restart c.h5", 2);
  assert_output("as many cells and boundaries, but nodes, materials or where the boundaries lie differ");
  assert_run("solve " CASES "l-shape.yaml --set output.checkpoint=/tmp", 4);
  assert_output("cannot write /tmp: it is a folder");
  assert_run("solve " CASES "l-shape.yaml --restart r.json", 2);
  assert_output("r.json is no HDF5 file");
  assert_run("solve " CASES "l-shape.yaml --restart none.h5", 4);
  assert_run("solve " CASES "l-shape.yaml --set output.checkpoint=none/c.h5", 4);
  assert_int_equal(system("rm r.json c.h5"), 0);
}

static void tolerances_below_round_off_are_told_on_meshes_of_trees(void **state) {
  (void)state;
  if (!has_forests()) skip();
  assert_run("solve " CASES "periodic.yaml --set solver.tolerance=1e-17", 0);
  assert_output("tolerance 1.0e-17 is below the round-off floor");
  assert_run("solve " CASES "periodic.yaml --set solver.tolerance=1e-12 --set solver.max_iterations=2", 1);
  assert_null(strstr(output, "round-off"));
}

/* Solutions that go on across opposite faces, with hanging nodes there. */
static void periodic_boxes(void **state) {
  (void)state;
  static const struct {
    const char *options;
    double most;
  } cases[] = {
      {"", 1e-7},
      {"--set mesh.box.cells=[8,8] --set mesh.box.periodic=xy --set \"data.exact=sin(2*pi*x)*cos(2*pi*y)\" "
       "--set \"data.f=8*pi*pi*sin(2*pi*x)*cos(2*pi*y)\"",
       1e-5},
      {"--set mesh.box.cells=[4,2,4] --set mesh.box.periodic=xz --set space.degree=5 --set "
       "mesh.refine_where=0.1-z --set \"data.exact=sin(2*pi*x)*cos(2*pi*z)*y*(1-y)\" --set "
       "\"data.f=(8*pi*pi*y*(1-y)+2)*sin(2*pi*x)*cos(2*pi*z)\"",
       1e-4}};
  if (!has_forests()) skip();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char arguments[640];
    snprintf(arguments, sizeof arguments, "solve " CASES "periodic.yaml --quiet --json r.json %s",
             cases[i].options);
    assert_run(arguments, 0);
    cJSON *json = read_json("r.json");
    const double error = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), "l2")->valuedouble;
    assert_near(error, 0, cases[i].most);
    cJSON_Delete(json);
  }
  remove("r.json");
  assert_run("solve " CASES "periodic.yaml --set mesh.box.periodic=z", 2);
  assert_output("a box of dim 2 has no direction z");
  assert_run("solve " CASES "periodic.yaml --set mesh.box.cells=[2,8]", 2);
  assert_output("a periodic direction needs 3 at least");
  assert_run("solve " CASES "periodic.yaml --set boundary.left.neumann=0", 2);
  assert_output("the box is periodic in x");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(report_has_the_fields_of_the_contract),
      cmocka_unit_test(report_on_stdout_is_nothing_else),
      cmocka_unit_test(people_see_the_road),
      cmocka_unit_test(methods_precisions_and_smoothers_agree),
      cmocka_unit_test(bad_usage_is_refused),
      cmocka_unit_test(a_nan_is_named_with_its_point),
      cmocka_unit_test(unconverged_solves_say_so),
      cmocka_unit_test(files_that_cannot_be_written),
      cmocka_unit_test(too_large_problems_are_refused_before_they_begin),
      cmocka_unit_test(missing_devices_are_told),
      cmocka_unit_test(automatic_choice_falls_back_to_the_cpu),
      cmocka_unit_test(interrupt_ends_at_the_next_iteration),
      cmocka_unit_test(interrupt_keeps_the_steps),
      cmocka_unit_test(interrupt_keeps_the_rows),
      cmocka_unit_test(all_cases_of_the_repository_converge),
      cmocka_unit_test(cases_on_meshes_of_trees_converge),
      cmocka_unit_test(adaptive_solves_tell_how_they_ended),
      cmocka_unit_test(missed_tolerances_are_failures),
      cmocka_unit_test(meshes_without_room_are_told_before),
      cmocka_unit_test(a_restart_goes_on),
      cmocka_unit_test(periodic_boxes),
      cmocka_unit_test(tolerances_below_round_off_are_told_on_meshes_of_trees),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
