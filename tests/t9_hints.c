/* Run: ctest -R t9_hints. Slips that have a remedy, which the message names; names with dots from the command line;
 * files with long names and wrong endings; large cases, which are read in a time that is linear in their length. */
#include "program_testing.h"

#define SQUARE CASES "poisson-square.yaml --set mesh.box.cells=4"

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void slips_of_the_command_line(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {CASES "heat.yaml", "a command is missing; say: tessera solve " CASES "heat.yaml"},
      {"a.yml", "a command is missing; say: tessera solve a.yml"},
      {"slove a.yaml", "there is no command 'slove'; did you mean 'solve'?"},
      {"dance", "there is no command 'dance'; expected solve, check"},
      {"solve " SQUARE " --device gpu",
       "there is no device 'gpu'; expected auto, cpu, cuda, cuda:N or emulator; did "
       "you mean 'cuda'?"},
      {"solve " SQUARE " --device emulater", "did you mean 'emulator'?"},
      {"solve " SQUARE " --set problem=laplace", "got 'laplace'; did you mean 'poisson'?"},
      {"solve " SQUARE " --set problem=heat", "did you mean 'transport'?"},
      {"new navier_stokes", "of this kind are: cavity-3d, "},
      {"solve " SQUARE " --vtu u.vtk",
       "--vtu u.vtk: the file is of the format vtu, whatever its name: call it u.vtu"},
      {"solve " SQUARE " --png u.JPG",
       "--png u.JPG: the file is of the format png, whatever its name: call it u.png"},
      {"solve " SQUARE " --set output.vtu=a/u.h5",
       "--set output.vtu=a/u.h5: output.vtu: a/u.h5: the file is of the "
       "format vtu, whatever its name: call it a/u.vtu"},
      {"solve " SQUARE " --set output.png.width=1400",
       "output.png: a picture needs a file: FILE, or --png FILE"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_run(rows[i][0], 2);
    assert_output(rows[i][1]);
  }
  assert_run("solve " SQUARE " --set output.png.width=300 --png f.png --quiet", 0);
  assert_true(exists("f.png"));
  assert_run("solve " SQUARE " --vtu plain --quiet", 0); /* no ending, none that misleads */
  assert_int_equal(system("rm f.png plain"), 0);
}

static void a_wish_for_a_device_that_is_none(void **state) {
  (void)state;
  setenv("TESSERA_DEVICE", "abacus", 1);
  const int status = run("info");
  unsetenv("TESSERA_DEVICE");
  assert_int_equal(status, 0);
  assert_output("threads       ");
  assert_output("TESSERA_DEVICE is abacus: there is no device 'abacus'");
}

/* Element amg where there is none, smoothers that an operator has not: with the line of the key. */
static void choices_that_are_refused(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_text("a.yaml", "problem: elasticity\nmesh: {box: {cells: [4, 4]}, kind: forest}\nspace: {degree: 2}\n"
                       "data: {young: 1, poisson: 0.3}\nsolver: {coarse: amg}\n");
  const int status = run("solve a.yaml --quiet --device cpu");
  if (status == 2) {
    assert_output("a.yaml:5:18: solver.coarse: amg is for one component");
    assert_refused("a.yaml", "a.yaml:5:18: solver.coarse: amg");
  }
  remove("a.yaml");
}

/* Quotes hold a name with a dot or an equals sign together. */
static void names_with_dots(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_text("d.msh",
             "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"wall 1.2\"\n1 2 \"a=b\"\n"
             "$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n5\n"
             "1 1 2 1 1 1 2\n2 1 2 2 1 2 3\n3 1 2 2 1 3 4\n4 1 2 2 1 4 1\n5 3 2 9 1 1 2 3 4\n$EndElements\n");
  write_text("a.yaml",
             "problem: poisson\nmesh: {file: d.msh}\nspace: {degree: 2}\ndata: {f: 0, exact: 1 - y}\n"
             "boundary: {\"a=b\": {dirichlet: 1 - y}}\noutput: {values: {e: {error: domain, of: l2}}}\n");
  assert_run("solve a.yaml --quiet --json r.json --set 'boundary.\"wall 1.2\".dirichlet=1'", 0);
  cJSON *json = read_json("r.json");
  assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "e")), 0, 1e-12);
  cJSON_Delete(json);
  assert_run("solve a.yaml --quiet --set \"boundary.'wall 1.2'.robin={alpha: 1, g: 2}\" --set "
             "'boundary.\"a=b\".neumann=y'",
             0);
  assert_run("solve a.yaml --set 'boundary.\"wall 1.2.dirichlet=1'", 2);
  assert_output("a name in quotes has no end");
  assert_run("solve a.yaml --set 'boundary.\"wall 1.3\".dirichlet=1'", 2);
  assert_output("the mesh has no boundary called wall 1.3; it has: wall 1.2, a=b; did you mean 'wall 1.2'?");
  assert_int_equal(system("rm a.yaml d.msh r.json"), 0);
}

/* A stress that knows the normal is the pressure; alpha knows none, and is told so with its line. */
static void normals_in_boundary_values(void **state) {
  (void)state;
  double u[2];
  for (int i = 0; i < 2; i++) {
    char text[400];
    snprintf(
        text, sizeof text,
        "problem: stokes\nmesh: {box: {cells: [3, 2], upper: [3, 1]}}\nspace: {degree: 2}\n"
        "boundary: {left: {pressure: 0}, right: %s}\noutput: {values: {u: {point: [1.5, 0.5], of: u}}}\n",
        i ? "{outflow: [\"-0.2*nx\", \"-0.2*ny\"]}" : "{pressure: 0.2}");
    write_text("a.yaml", text);
    assert_run("solve a.yaml --quiet --device cpu --json r.json", 0);
    cJSON *json = read_json("r.json");
    u[i] = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "u"));
    cJSON_Delete(json);
    assert_near(u[i], -0.2 / 24, 1e-8);
  }
  write_text("a.yaml",
             "problem: poisson\nmesh: {box: {cells: [2, 2]}}\nboundary: {all: {robin: {alpha: nx, g: 0}}}\n");
  assert_refused("a.yaml", "a.yaml:3:33: boundary.all.robin.alpha: unknown name 'nx' at column 1 of \"nx\"; "
                           "the normal nx, ny, nz is "
                           "known on boundaries alone");
  assert_int_equal(system("rm a.yaml r.json"), 0);
}

/* The system takes names of 255 bytes. */
static void long_names_are_written(void **state) {
  (void)state;
  char name[256], command[700];
  for (int length = 244; length <= 255; length += 11) {
    memset(name, 'a', sizeof name);
    snprintf(name + length - 4, 5, ".vtu");
    snprintf(command, sizeof command, "solve " SQUARE " --quiet --vtu %s", name);
    assert_run(command, 0);
    assert_true(exists(name));
    assert_int_equal(remove(name), 0);
  }
  assert_int_equal(files_here(), 0);
}

/* Processor time, which other work does not lengthen; a bound that what is quadratic passes many times over. */
static double seconds_of(const char *arguments, int expected) {
  FILE *pipe;
  char command[400];
  double user = NAN, system_time = NAN;
  snprintf(command, sizeof command,
           "bash -c 'TIMEFORMAT=\"%%U %%S\"; time " PROGRAM " %s >o.txt 2>&1; echo $?' 2>&1", arguments);
  pipe = popen(command, "r");
  assert_non_null(pipe);
  int status = -1;
  assert_int_equal(fscanf(pipe, "%lf %lf %d", &user, &system_time, &status), 3);
  pclose(pipe);
  assert_int_equal(status, expected);
  return user;
}

static void large_cases_are_read_in_linear_time(void **state) {
  (void)state;
  enum { KEYS = 100000, SOME = 20000 };
  static const struct {
    const char *head, *entry, *told;
    int count, status;
  } cases[] = {{"data:\n", "  k%d: 1\n", "and 99990 more errors", KEYS, 2},
               {"constants:\n", "  k%d: 1 + 2\n", "", SOME, 0},
               {"output:\n  values:\n", "    k%d: {integral: domain, of: u}\n", "", SOME, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *file = fopen("a.yaml", "w");
    assert_non_null(file);
    fprintf(file, "problem: poisson\nmesh: {box: {cells: [4, 4]}}\n%s", cases[i].head);
    for (int k = 0; k < cases[i].count; k++) fprintf(file, cases[i].entry, k);
    assert_int_equal(fclose(file), 0);
    const double seconds = seconds_of("check a.yaml", cases[i].status);
    printf("%d entries: %.2f s\n", cases[i].count, seconds);
    assert_true(seconds < 3);
    char command[200];
    snprintf(command, sizeof command, "--version >/dev/null; grep -c '%s' o.txt", cases[i].told);
    if (*cases[i].told) assert_run(command, 0);
  }
  assert_int_equal(system("rm a.yaml o.txt"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slips_of_the_command_line),
                                     cmocka_unit_test(a_wish_for_a_device_that_is_none),
                                     cmocka_unit_test(choices_that_are_refused),
                                     cmocka_unit_test(names_with_dots),
                                     cmocka_unit_test(normals_in_boundary_values),
                                     cmocka_unit_test(long_names_are_written),
                                     cmocka_unit_test(large_cases_are_read_in_linear_time)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
