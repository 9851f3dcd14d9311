/* Run: ctest -R t9_messages. What the program says on the terminal: control characters of files, colours, why no
 * iteration was needed, what info and help tell. */
#include <cjson/cJSON.h>
#include "program_testing.h"

#define SQUARE CASES "poisson-square.yaml --set mesh.box.cells=8 --set space.degree=3"

/* Escape codes of files do not reach the terminal; those of the program only a terminal. */
static void escape_codes_are_shown_as_text(void **state) {
  (void)state;
  static const char *const colours[][2] = {{"", "\033[1;31mtessera:"}, {"NO_COLOR=1 ", "tessera: a.yaml"}};
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: poisson\nmesh: {box: {cells: [2, 2]}}\n\"\\e[31mkey\\x9b\": 3\n", file);
  assert_int_equal(fclose(file), 0);
  assert_run("solve a.yaml", 2);
  assert_output("\\x1b[31mkey\\x9b");
  assert_null(strchr(output, 27));
  for (int i = 0; i < 2 && system("command -v script >/dev/null") == 0; i++) {
    char command[1200];
    snprintf(command, sizeof command, "%sscript -qc '" PROGRAM " solve a.yaml' /dev/null </dev/null",
             colours[i][0]);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    pclose(pipe);
    assert_output(colours[i][1]);
    assert_int_equal(strchr(output, 27) != NULL, i == 0);
  }
  remove("a.yaml");
}

static void expect_one_line(const char *part) {
  const char *end = strchr(output, '\n');
  assert_output(part);
  if (!end || end[1]) fail_msg("not one line: %s", output);
  assert_int_equal(files_here(), 0);
}

/* A name with a line break: one line, and no file. */
static void names_of_files_have_no_control_characters(void **state) {
  (void)state;
  static const char *const keys[][2] = {
      {"output.vtu", "output.vtu=a\nb"},
      {"output.vtu.file", "output.vtu={file: \"a\\nb\", every: 1}"},
      {"output.vtkhdf", "output.vtkhdf=a\nb.vtkhdf"},
      {"output.checkpoint", "output.checkpoint=a\nb"},
      {"output.series", "output.series=a\tb"},
      {"output.json", "output.json=\x7f"},
      {"output.folder", "output.folder=a\nb"},
      {"output.png", "output.png=\"a\\nb.png\""},
      {"output.lines", "output.lines=[{from: [0, 0], to: [1, 1], file: \"a\\nb\"}]"},
  };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    char command[600];
    snprintf(command, sizeof command,
             "solve " CASES
             "poisson-square.yaml --quiet --set problem=transport --set 'time={end: 1, step: 1}' "
             "--set '%s'",
             keys[i][1]);
    assert_run(command, 2);
    assert_output(keys[i][0]);
    expect_one_line("without control characters, got '");
  }
  assert_run("solve " SQUARE " --quiet --vtu 'a\nb.vtu'", 2);
  expect_one_line("has a control character: a\\nb.vtu");
  assert_run("solve " SQUARE " --quiet --set 'solver.method=v\ncycle'", 2);
  expect_one_line("--set solver.method=v\\ncycle: solver.method: expected ");
  assert_run("solve " SQUARE " --quiet --set 'output.values={m: {mean: \"a\\nb\"}}'", 2);
  expect_one_line("no boundary or material called a\\nb");
}

/* Why no iteration was needed, and a rate only where something was solved. */
static void no_iterations_are_explained(void **state) {
  (void)state;
  assert_run("solve " SQUARE " --set solver.tolerance=0.9", 0);
  assert_output(
      "unknowns per second\n          no iteration: full multigrid, which makes the start, met the");
  assert_run("solve " SQUARE " --set data.f=0 --json r.json", 0);
  assert_output("converged after 0 iterations");
  assert_output("no iteration: the right-hand side is zero");
  assert_null(strstr(output, "a second"));
  cJSON *json = read_json("r.json");
  assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "dofs_per_second")));
  cJSON_Delete(json);
  remove("r.json");
  if (!has_forests()) return;
  assert_run("solve " CASES "periodic.yaml --device cpu --quiet --set output.checkpoint=c.bin", 0);
  assert_run("solve " CASES "periodic.yaml --device cpu --restart c.bin --set solver.tolerance=1e-6", 0);
  assert_output("no iteration: the start was below the tolerance already");
  assert_null(strstr(output, "a second"));
  remove("c.bin");
}

/* Steady solutions of element dg in checkpoints: no iteration is left, of another degree fewer. */
static void checkpoints_of_dg_are_starts(void **state) {
  static const char *const more[] = {"", " --restart c.bin", "", " --restart c.bin"};
  double iterations[4];
  (void)state;
  if (!has_forests()) skip();
  for (int i = 0; i < 4; i++) {
    /* the last two have degree 4, the start degree 3 */
    char command[400];
    snprintf(command, sizeof command,
             "solve " SQUARE " --device cpu --quiet --json r.json --set solver.method=gmres --set "
             "\"space={element: dg, degree: %d}\"%s%s",
             i < 2 ? 3 : 4, more[i], i == 0 ? " --set output.checkpoint=c.bin" : "");
    assert_run(command, 0);
    cJSON *json = read_json("r.json");
    iterations[i] = cJSON_GetNumberValue(cJSON_GetObjectItem(json, "iterations"));
    cJSON_Delete(json);
  }
  printf("iterations %g, %g; %g, %g\n", iterations[0], iterations[1], iterations[2], iterations[3]);
  assert_true(iterations[0] > 0 && iterations[1] == 0 && iterations[3] < iterations[2]);
  remove("c.bin");
  remove("r.json");
}

/* With key, line and point; exit status 2. Where the operator, the load, the boundary or the error meets it. */
static void data_that_are_not_finite(void **state) {
  (void)state;
  static const char *const keys[] = {"data: {a: 2 + sqrt(x - 0.5)}",
                                     "data: {c: 2 + sqrt(x - 0.5)}",
                                     "data: {f: 2 + sqrt(x - 0.5)}",
                                     "data: {exact: 2 + sqrt(x - 0.5)}",
                                     "boundary: {all: {dirichlet: 2 + sqrt(x - 0.5)}}",
                                     "boundary: {all: {neumann: 2 + sqrt(x - 0.5)}}",
                                     "boundary: {all: {robin: {alpha: 2 + sqrt(x - 0.5), g: 1}}}"};
  static const char *const names[] = {"data.a: ",
                                      "data.c: ",
                                      "data.f: ",
                                      "data.exact: ",
                                      "boundary.all.dirichlet: ",
                                      "boundary.all.neumann: ",
                                      "boundary.all.robin.alpha: "};
  for (int forest = 0; forest < (has_forests() ? 2 : 1); forest++)
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i += test_brief() ? 3 : 1) {
      FILE *file = fopen("a.yaml", "w");
      fprintf(file, "problem: poisson\nmesh: {box: {dim: 2, cells: 4}%s}\n%s\n",
              forest ? ", kind: forest" : "", keys[i]);
      fclose(file);
      assert_run("solve a.yaml --json r.json --quiet", 2);
      assert_output("a.yaml:3:");
      assert_output(names[i]);
      assert_output(" at (0");
      cJSON *json = read_json("r.json");
      assert_string_equal(cJSON_GetObjectItem(json, "status")->valuestring, "invalid_input");
      cJSON_Delete(json);
    }
  remove("a.yaml"), remove("r.json");
}

/* Cases with one thing left open, and what a problem refuses of it: coefficients and options of flows, in time and of
 * element dg, with line or key. */
static const char
    transport[] = "problem: transport\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}\n"
                  "boundary: {all: {dirichlet: 0}}\ntime: {end: 0.1, step: 0.05}\ndata: {%s}\n",
    stokes[] = "problem: stokes\nmesh: {box: {cells: [4, 4]}}\n\n\n\ndata: {%s}\n",
    dg[] = "problem: poisson\nmesh: {box: {cells: [4, 4]}}\nspace: {element: dg}\n\n\ndata: {%s}\n",
    thin[] = "problem: stokes\nmesh: {box: {cells: [4, 4], upper: [%s, 1]}}\n",
    solver[] = "problem: stokes\nmesh: {box: {cells: [4, 4]}}\nsolver: {%s}\n",
    lid[] = "problem: stokes\nmesh: {box: {cells: [4, 4]}}\nboundary: {top: {velocity: [%s]}}\n",
    moving[] = "problem: elasticity\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 1}\n"
               "time: {end: 0.2, step: 0.1}\ndata: {young: 1, poisson: 0.3, %s}\n",
    let_in[] = "problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {%s}\n"
               "boundary: {all: {velocity: [0, 0]}, left: {velocity: [1, 0]}}\ntime: {end: 1, step: 0.01}\n",
    channel[] = "problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {%s}\n"
                "boundary: {right: outflow}\ntime: {end: 1, step: 0.01}\n",
    per[] = "problem: navier_stokes\nmesh: {box: {cells: [4, 4], periodic: x}}\nspace: {%s}\n"
            "time: {end: 1, step: 0.01}\n",
    wall[] = "problem: navier_stokes\nmesh: {channel: {dim: 2}}\nspace: {degree: 2}\ndata: {form: %s}\n"
             "boundary: {cylinder: slip, inflow: {velocity: [1, 0]}, outflow: outflow}\ntime: {end: 1, step: "
             "0.01}\n",
    face[] = "problem: transport\nmesh: {box: {cells: [4, 4]}}\nboundary: {top: {%s}}\n",
    loose[] = "problem: elasticity\nmesh: {box: {cells: [2, 2]}}\ndata: {young: 1, poisson: 0.3, f: %s}\n"
              "boundary: {all: {traction: [0, 0]}}\n",
    material[] = "problem: elasticity\nmesh: {box: {cells: [2, 2]}}\ndata: {%s}\n",
    sliding[] = "problem: stokes\nmesh: {box: {cells: [4, 4], periodic: x}}\nspace: {%s}\n"
                "boundary: {all: slip}\n",
    ring[] = "problem: poisson\nmesh: {box: {cells: [4, 4], periodic: x}}\ndata: {a: 2 + sin(2*pi*x)}\n"
             "solver: {smoother: patch, %s}\n",
    narrow[] = "problem: stokes\nmesh: {box: {cells: [%s]}}\n",
    steady[] = "problem: transport\nmesh: {box: {cells: [4, 4]}}\ndata: {b: [1, 0]}\nsolver: {method: %s}\n";
static const struct {
  const char *format, *given, *message;
} refused[] = {
    {transport, "a: 0", "a.yaml:6:11: data.a: the diffusion coefficient a is 0, expected > 0"},
    {transport, "a: -1", "a.yaml:6:11: data.a: the diffusion coefficient a is -1"},
    {transport, "c: -1e9", "a.yaml:6:11: data.c: the reaction coefficient c is -1e+09"},
    {stokes, "nu: x - 0.5", "a.yaml:6:12: data.nu: the viscosity nu is not positive at ("},
    {stokes, "nu: 1e300", "a.yaml:6:12: data.nu: nu is 1e+300, expected 1e-100..1e100"},
    {stokes, "nu: 1e-300", "a.yaml:6:12: data.nu: nu is 1e-300, expected 1e-100..1e100"},
    {stokes, "alpha: 1e300", "data.alpha: alpha is 1e+300, expected 1e-100..1e100"},
    {dg, "a: x + 1", "a.yaml:6:11: data.a: a is x + 1, expected a number: element dg has constants alone"},
    {dg, "c: x", "a.yaml:6:11: data.c: c is x, expected a number: element dg has constants alone"},
    {thin, "1e-60", "a.yaml:2:13: mesh.box: the longest edge of a cell, 0.25, is 1e+60 times the shortest"},
    {thin, "1e60", "mesh.box: the longest edge of a cell, 2.5e+59, is 1e+60 times the shortest"},
    {solver, "smoother: jacobi",
     "a.yaml:3:20: solver.smoother: stokes with element rt has auto, patch and cell_patch on boxes"},
    {solver, "method: cg",
     "a.yaml:3:18: solver.method: stokes with element rt has auto, fmg and gmres, because"},
    {solver, "local_solver: mean",
     "a.yaml:3:24: solver.local_solver: stokes with element rt has auto, exact, scaled, cg and dense"},
    {lid, "1, 1", "a.yaml:3:11: boundary: the velocity lets more out than in: its net flux is 1"},
    {lid, "-1, -1", "a.yaml:3:11: boundary: the velocity lets more in than out: its net flux is -1"},
    {let_in, "element: rt", "a.yaml:4:11: boundary: the velocity lets more in than out: its net flux is -1"},
    {let_in, "element: q", "a.yaml:4:11: boundary: the velocity lets more in than out: its net flux is -1"},
    {let_in, "element: iso", "a.yaml:4:11: boundary: the velocity lets more in than out: its net flux is -1"},
    {per, "element: iso", "a.yaml:2:39: mesh.box.periodic: element iso needs boundaries in all directions"},
    {wall, "gradient",
     "a.yaml:5:11: boundary.cylinder: slip on curved faces has no tangential stress in the symmetric form"},
    {channel, "element: iso",
     "a.yaml:4:11: boundary: element iso needs the normal velocity on all boundaries: velocity or slip"},
    {let_in, "}\ndata: {mean_velocity: [1, 0]",
     "a.yaml:4:23: data.mean_velocity: in direction x it is kept by"},
    {moving, "density: x - 0.5", "a.yaml:5:41: data.density: the density times a number > 0 is -"},
    {face, "velocity: [1, 0]",
     "a.yaml:3:17: boundary.top: transport with element q has dirichlet, neumann, robin, outflow and flux; "
     "velocity belongs to stokes and navier_stokes"},
    {loose, "[1, 0]", "a.yaml:4:11: boundary: 3 rigid motions are held by no boundary, and the loads do not "},
    {material, "lambda: 1, mu: -1", "a.yaml:3:23: data.mu: no stable material: lambda is 1 and mu is -1"},
    {material, "lambda: -2, mu: 1", "a.yaml:3:16: data.lambda: no stable material: lambda is -2 and mu is 1"},
    {moving, "density: t", "a.yaml:5:41: data.density: density is \"t\": it cannot depend on t"},
    {sliding, "element: rt", "a.yaml:4:11: boundary: nothing fixes the velocity in direction x"},
    {sliding, "element: q, degree: 2", "a.yaml:4:11: boundary: nothing fixes the velocity in direction x"},
    {ring, "tolerance: 1e-8",
     "a.yaml:4:20: solver.smoother: no smoother patch for this operator: the box is periodic and a "
     "coefficient "
     "varies; use chebyshev or jacobi"},
    {ring, "local_solver: exact", "a.yaml:4:41: solver.local_solver: exact local solves need constant"},
    {narrow, "1, 4", "a.yaml:2:21: mesh.box.cells: element rt needs two cells per direction"},
    {steady, "cg", "a.yaml:4:18: solver.method: cg: transport is not symmetric"}};

static void refusals_name_key_or_line(void **state) {
  (void)state;
  const bool forests = has_forests();
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i += test_brief() ? 3 : 1) {
    if (strstr(refused[i].format, "channel") && !forests) continue;
    FILE *file = fopen("a.yaml", "w");
    assert_non_null(file);
    fprintf(file, refused[i].format, refused[i].given);
    assert_int_equal(fclose(file), 0);
    assert_refused("a.yaml", refused[i].message);
  }
  remove("a.yaml");
}

/* The same residuals to the last digit; by one thread without being asked. */
static void solves_repeat_their_bits(void **state) {
  (void)state;
  static const char *const how[] = {"--deterministic --threads 2", "--threads 1",
                                    "--set solver.deterministic=true --threads 2"};
  assert_run("solve " SQUARE " --set solver.deterministic=yes", 2);
  assert_output("solver.deterministic: expected false or true, got 'yes'");
  if (!has_forests()) skip();
  for (int i = 0; i < 3; i++) {
    char *text[2];
    for (int again = 0; again < 2; again++) {
      char command[400];
      snprintf(command, sizeof command,
               "solve " CASES
               "ball.yaml --set mesh.refine=2 --set output=null --device cpu %s --json r.json --quiet",
               how[i]);
      assert_run(command, 0);
      cJSON *json = read_json("r.json");
      text[again] = cJSON_Print(cJSON_GetObjectItem(json, "residuals"));
      cJSON_Delete(json);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]), free(text[1]);
  }
  remove("r.json");
}

/* Where hardly anything holds the solution its size drowns the residual: printed, on all meshes, by all methods; a
 * float32 cycle rounds more off than there is to solve for. */
static void round_off_is_told(void **state) {
  (void)state;
  static const char *const meshes[] = {"box", "forest"}, *const sizes[] = {"", " --set mesh.box.cells=48"},
                           *const methods[] = {"auto", "gmres"};
  for (int i = 0; i < 8; i++) {
    char command[500];
    const int forest = i & 1, large = i >> 1 & 1, gmres = i >> 2;
    if (forest && !has_forests()) continue;
    snprintf(command, sizeof command,
             "solve " SQUARE
             " --quiet --set 'boundary.all={robin: {alpha: 1e-8, g: 0}}' --set mesh.kind=%s%s "
             "--set solver.method=%s --json r.json",
             meshes[forest], sizes[large], methods[gmres]);
    assert_run(command, 0);
    assert_output(
        "warning: tolerance 1.0e-09 is below the round-off floor: the solve ended at a relative residual of");
    cJSON *json = read_json("r.json");
    assert_in_range(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "iterations")), 1, 30);
    cJSON_Delete(json);
  }
  remove("r.json");
}

/* Progress of the set-up and within adaptive steps: overwritten on terminals, not in logs. */
/* Options of the solver that have no effect are told, or refused; few iterations do not tell how fast they fall. */
static void what_has_no_effect_is_told(void **state) {
  static const char *const options[][2] = {
      {"--set solver.smoother_degree=3",
       "warning: solver.smoother_degree has no effect: the smoother is patch"},
      {"--set solver.method=direct --set solver.smoother=jacobi",
       "warning: solver.smoother has no effect: nothing is smoothed"},
      {"--set solver.method=direct --set solver.pre_smoothing=2",
       "warning: solver.pre_smoothing has no effect"},
      {"--set data.a=1+x --set data.exact=null --set solver.smoother_degree=3 --set solver.smoother=auto",
       "warning: solver.smoother_degree has no effect"}};
  (void)state;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char command[300];
    snprintf(command, sizeof command, "solve " SQUARE " --quiet %s", options[i][0]);
    assert_run(command, 0);
    assert_output(options[i][1]);
  }
  assert_run("solve " SQUARE " --quiet --set solver.smoother=chebyshev --set solver.smoother_degree=3 --set "
             "solver.pre_smoothing=2 --set solver.max_iterations=300",
             0);
  assert_string_equal(output, "");
  assert_run("solve " SQUARE " --quiet --set solver.max_iterations=2 --set solver.tolerance=1e-12", 1);
  assert_output("so few iterations do not tell how fast it falls, so allow more");
  assert_run(
      "solve " CASES "elastic-plate.yaml --quiet --device cpu --set output=null --set data.expansion=1", 0);
  assert_output("data.expansion: has no effect without data.temperature");
  assert_run("solve " CASES "cavity-explicit.yaml --set solver.method=gmres", 2);
  assert_output("navier_stokes with element iso has auto, cg and direct");
  assert_run("solve " CASES "elastic-plate.yaml --set solver.local_solver=mean", 2);
}

/* A restart has the mesh of its checkpoint. */
static void meshes_of_restarts_are_told(void **state) {
  static const char *const refined[] = {"mesh.refine=2", "mesh.refine_where=x-0.5"};
  (void)state;
  if (!has_forests()) skip();
  write_file("r.yaml",
             "problem: transport\nmesh: {box: {cells: [2, 2]}, kind: forest, refine: 1}\nspace: {degree: 1}\n"
             "data: {a: 1, f: 1}\ntime: {end: 0.2, step: 0.1}\n");
  assert_run("solve r.yaml --quiet --set output.checkpoint=r.h5", 0);
  for (int i = 0; i < 2; i++) {
    char command[200];
    snprintf(command, sizeof command, "solve r.yaml --quiet --restart r.h5 --set time.end=0.4 --set %s",
             refined[i]);
    assert_run(command, 0);
    assert_output("warning: the mesh is that of the checkpoint, of 16 cells; mesh.refine and");
    assert_output(i ? "make 40," : "make 64,");
  }
  assert_run("solve r.yaml --quiet --restart r.h5 --set time.end=0.4", 0);
  assert_string_equal(output, "");
  remove("r.h5"), remove("r.yaml");
}

/* The report of a case that cannot be read names no equation. Times may be too large for steps. */
static void what_is_not_known_is_left_out(void **state) {
  (void)state;
  assert_run("solve " CASES "heat.yaml --quiet --json r.json --set data.a=oops", 2);
  cJSON *json = read_json("r.json");
  assert_null(cJSON_GetObjectItem(json, "problem"));
  cJSON_Delete(json);
  remove("r.json");
  assert_run(
      "solve " CASES "heat.yaml --set time.start=1e16 --set time.end=10000000000000008 --set time.step=1", 2);
  assert_output("steps of 1 from 1e+16 to 1e+16 are more than 1e9, or so short that these times lose them");
}

static void progress_is_for_terminals(void **state) {
  (void)state;
  if (!has_forests() || system("command -v script >/dev/null") != 0) skip();
  for (int dumb = 0; dumb < 2; dumb++) {
    char command[1200];
    snprintf(command, sizeof command,
             "TERM=%s script -qc '" PROGRAM " solve " CASES
             "l-shape.yaml --device cpu --set adapt.steps=3 --set adapt.tolerance=0 --set output=null' "
             "/dev/null </dev/null",
             dumb ? "dumb" : "xterm");
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    pclose(pipe);
    assert_int_equal(strstr(output, "\r\033[K") != NULL, !dumb);
    assert_int_equal(strstr(output, "the set-up") != NULL, !dumb);
  }
}

static void info_and_help(void **state) {
  (void)state;
  setenv("TESSERA_CACHE_DIR", "kernels", 1);
  assert_run("info --clear-cache", 0);
  assert_output("entries       0");
  assert_run(
      "solve " CASES "poisson-square.yaml --set mesh.box.cells=2 --set space.degree=1 --device emulator", 0);
  assert_run("info --cache", 0);
  assert_output("folder        kernels");
  if (strstr(output, "entries       0")) fail_msg("the cache is empty after a solve:\n%s", output);
  assert_run("info --clear-cache --json", 0);
  assert_output("\"entries\":\t0");
  setenv("TESSERA_CACHE_DIR", "none", 1);
  assert_run("info --cache", 0);
  assert_output("none: switched off");
  unsetenv("TESSERA_CACHE_DIR");
  assert_run("info", 0);
  assert_output("p4est");
  assert_output("GPU  ");
  assert_run("info --json", 0);
  cJSON *json = cJSON_Parse(output);
  assert_non_null(json);
  assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "parts"), "hdf5"));
  cJSON_Delete(json);
  assert_run("--help", 0);
  assert_run("solve --help", 0);
  assert_run("bench --help", 0);
  assert_run("--version", 0);
  assert_run("solve --keys", 0);
  assert_output("solver.tolerance");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(escape_codes_are_shown_as_text),
                                     cmocka_unit_test(names_of_files_have_no_control_characters),
                                     cmocka_unit_test(no_iterations_are_explained),
                                     cmocka_unit_test(checkpoints_of_dg_are_starts),
                                     cmocka_unit_test(what_has_no_effect_is_told),
                                     cmocka_unit_test(what_is_not_known_is_left_out),
                                     cmocka_unit_test(meshes_of_restarts_are_told),
                                     cmocka_unit_test(progress_is_for_terminals),
                                     cmocka_unit_test(data_that_are_not_finite),
                                     cmocka_unit_test(round_off_is_told),
                                     cmocka_unit_test(refusals_name_key_or_line),
                                     cmocka_unit_test(solves_repeat_their_bits),
                                     cmocka_unit_test(info_and_help)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
