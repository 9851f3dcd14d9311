/* Run: ctest -R t9_outputs. Numbers of the solution by the program: points, values and lines, in the report, on the
 * terminal and as CSV; what is refused, and where. u = 1 + x^2 - 2 y is in the space. */
#include "program_testing.h"

static const char head[] = "problem: poisson\nspace: {degree: 3}\ndata: {exact: \"1 + x*x - 2*y\", f: -2}\n"
                           "boundary: {all: {dirichlet: exact}}\n";
static const char *const boxes[] = {
    "mesh: {box: {dim: 2, cells: [4, 3]}}\n",
    "mesh: {kind: forest, box: {dim: 2, cells: [4, 3]}, refine_where: \"0.3 - x\"}\n"};

static void write_case(const char *mesh, const char *outputs) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "%s%soutput:\n%s", head, mesh, outputs);
  assert_int_equal(fclose(file), 0);
}

static double number_of(const cJSON *json, const char *list, const char *name) {
  const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, list), name);
  if (!item) fail_msg("no %s.%s", list, name);
  return item->valuedouble;
}

static void check_line(void) {
  FILE *file = fopen("line.csv", "r");
  char text[200];
  double s, x, y, u;
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  assert_string_equal(text, "s,x,y,u\n");
  for (int i = 0; i < 5; i++) {
    assert_int_equal(fscanf(file, "%lf,%lf,%lf,%lf\n", &s, &x, &y, &u), 4);
    assert_near(x, i / 4., 1e-15);
    assert_near(y, i / 4., 1e-15);
    assert_near(s, sqrt(2) * i / 4, 1e-14);
    assert_near(u, 1 + x * x - 2 * y, 1e-7);
  }
  assert_int_equal(fgetc(file), EOF);
  fclose(file);
  remove("line.csv");
}

static void check_numbers(const char *mesh, const char *device) {
  char arguments[100];
  write_case(mesh, "  points: {tip: [1, 0.5], corner: [0.25, 1]}\n"
                   "  values:\n"
                   "    mean: {mean: domain}\n"
                   "    flux: {integral: right, of: ux*nx + uy*ny}\n"
                   "    energy: {integral: domain, of: (ux*ux + uy*uy)/2}\n"
                   "    top: {mean: top, of: u*x + ny}\n"
                   "    slope: {point: [0.5, 0.25], of: ux + r}\n"
                   "    e: {error: domain}\n"
                   "  lines: [{from: [0, 0], to: [1, 1], count: 5, file: line.csv}]\n");
  snprintf(arguments, sizeof arguments, "solve a.yaml --json a.json --device %s", device);
  assert_run(arguments, 0);
  assert_output("point     tip (1, 0.5)  u = 1");
  assert_output("value     flux = 2");
  assert_output("written   line.csv");
  check_line();
  cJSON *json = read_json("a.json");
  const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 1);
  assert_string_equal(text_of(point, "name"), "corner");
  assert_near(cJSON_GetArrayItem(cJSON_GetObjectItem(point, "x"), 1)->valuedouble, 1, 0);
  assert_near(cJSON_GetObjectItem(point, "u")->valuedouble, -1 + 1. / 16, 1e-7);
  assert_near(number_of(json, "values", "mean"), 1. / 3, 1e-7);
  assert_near(number_of(json, "values", "flux"), 2, 1e-6);
  assert_near(number_of(json, "values", "energy"), 2. / 3 + 2, 1e-6);  /* int (4 x^2 + 4) / 2 */
  assert_near(number_of(json, "values", "top"), 0.25 - 0.5 + 1, 1e-7); /* int x^3 - x, and 1 */
  assert_near(number_of(json, "values", "slope"), 1 + sqrt(0.3125), 1e-6);
  assert_near(number_of(json, "values", "e"), 0, 1e-7);
  assert_string_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "lines"), 0)->valuestring, "line.csv");
  cJSON_Delete(json);
  remove("a.json"), remove("a.yaml");
}

static void numbers_are_those_of_the_solution(void **state) {
  (void)state;
  check_numbers(boxes[0], "cpu");
  check_numbers(boxes[0], "emulator");
  if (has_forests()) check_numbers(boxes[1], "cpu");
  assert_int_equal(files_here(), 0);
}

/* Flow between plates, which is in the space: u = 4 y (1 - y), p = 8 (2 - x). */
static const char channel[] =
    "problem: stokes\nmesh: {box: {cells: [8, 4], upper: [2, 1]}}\nspace: {degree: 2}\n"
    "data: {exact: {velocity: [\"4*y*(1-y)\", 0], pressure: \"8*(2-x)\"}}\n"
    "boundary: {left: {velocity: [\"4*y*(1-y)\", 0]}, right: outflow}\n";

static void write_flow(const char *outputs) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "%soutput:\n%s", channel, outputs);
  assert_int_equal(fclose(file), 0);
}

static void flows_tell_their_numbers(void **state) {
  static const struct {
    const char *name;
    double value;
  } known[] = {{"drag", 8}, {"lift", -16}, {"energy", 16. / 15}, {"out", 2. / 3}, {"mean", 8}, {"shear", 4},
               {"e", 0},    {"ep", 0}};
  (void)state;
  write_flow("  points: {tip: [1, 0.5]}\n"
             "  values:\n"
             "    drag: {force: top, of: x}\n"
             "    lift: {force: bottom, of: y}\n"
             "    energy: {integral: domain, of: u*u + v*v}\n"
             "    out: {integral: right, of: u*nx + v*ny}\n"
             "    mean: {mean: domain, of: p}\n"
             "    shear: {point: [1, 0], of: uy + vx}\n"
             "    e: {error: domain}\n"
             "    ep: {error: domain, of: pressure_l2}\n"
             "  lines: [{from: [0, 0], to: [2, 1], count: 3, file: line.csv}]\n");
  assert_run("solve a.yaml --json a.json --device cpu", 0);
  assert_output("point     tip (1, 0.5)  u = 1");
  cJSON *json = read_json("a.json");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_near(number_of(json, "values", known[i].name), known[i].value, 1e-6);
  const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 0);
  assert_near(cJSON_GetArrayItem(cJSON_GetObjectItem(point, "velocity"), 0)->valuedouble, 1, 1e-6);
  assert_near(cJSON_GetObjectItem(point, "pressure")->valuedouble, 8, 1e-6);
  cJSON_Delete(json);
  FILE *file = fopen("line.csv", "r");
  char text[100];
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  assert_string_equal(text, "s,x,y,u,v,p\n");
  fclose(file);
  remove("a.json"), remove("a.yaml"), remove("line.csv");
}

/* A flow goes on with another degree; another kind of problem does not. */
static void flows_go_on(void **state) {
  (void)state;
  write_flow("  checkpoint: c.h5\n");
  const int status = run("solve a.yaml --device cpu --quiet");
  if (status == 3) { /* a build without HDF5 */
    remove("a.yaml");
    return;
  }
  assert_int_equal(status, 0);
  assert_run("solve a.yaml --device cpu --set space.degree=3 --set output.checkpoint=null --restart c.h5 "
             "--set solver.tolerance=1e-6",
             0);
  assert_output("restart   from step 0 of c.h5");
  assert_output("converged after 0 iterations");
  assert_run("solve a.yaml --set mesh.box.cells=[4,4] --set output.checkpoint=null --restart c.h5", 2);
  assert_output("c.h5 is of another mesh than the case: 8 cells in direction x, not 4");
  assert_run("solve a.yaml --set mesh.box.periodic=x --set boundary=null --set data.exact=null "
             "--set output.checkpoint=null --restart c.h5",
             2);
  assert_output("it is not periodic in direction x");
  write_case("mesh: {box: {dim: 2, cells: [8, 4], upper: [2, 1]}}\n", "  checkpoint: null\n");
  assert_run("solve a.yaml --restart c.h5", 2);
  assert_output("c.h5 holds no solution 'u', it holds 'velocity, pressure'");
  remove("a.yaml"), remove("c.h5");
}

static void wrong_values_of_flows_are_told(void **state) {
  static const struct {
    const char *outputs, *message;
  } bad[] = {
      {"  values: {v: {force: bottom}}\n", "a force is in a direction: {force: bottom, of: x}, or y"},
      {"  values: {v: {force: bottom, of: z}}\n", "a force is in a direction: {force: bottom, of: x}, or y"},
      {"  values: {v: {force: domain, of: x}}\n", "expected the name of a boundary, got 'domain'"},
      {"  values: {v: {force: front, of: x}}\n", "the mesh has no boundary or material called front"},
      {"  values: {v: {error: domain, of: h1}}\n", "of: expected l2, velocity_l2 or pressure_l2, got 'h1'"},
      {"  values: {v: {mean: domain, of: w}}\n", "unknown name 'w'"},
      {"  png: {file: u.png, of: q}\n", "unknown name 'q'"},
      {"  png: {file: u.png, arrows: [ux, q]}\n", "arrows: unknown name 'q'"},
      {"  png: {file: u.png, arrows: [ux]}\n",
       "arrows: expected a list of 2 expressions, as [-ux, -uy], or true"}};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_flow(bad[i].outputs);
    assert_run("solve a.yaml --quiet", 2);
    assert_output(bad[i].message);
  }
  write_flow("  values: {v: {error: domain, of: pressure_l2}}\n");
  assert_run("solve a.yaml --quiet --set data.exact.pressure=null", 2);
  assert_output("the error needs data.exact.pressure");
  remove("a.yaml");
}

static void what_is_wrong_is_told_with_its_place(void **state) {
  static const struct {
    const char *outputs, *message;
  } bad[] = {
      {"  points: 3\n", "a.yaml:7:11: output.points: expected a list of points, or NAME: point, got '3'"},
      {"  points: [[1, 2, 3]]\n", "a.yaml:7:12: output.points: expected a point, a list of 2 numbers"},
      {"  points: {a: [1, 2]}\n", "a.yaml:7:15: output.points: the point (1, 2, 0) lies in no cell"},
      {"  values: {v: {mean: domain, of: u + w}}\n",
       "output.values.v.of: unknown name 'w' at column 5 of \"u "
       "+ w\"; variables here: x, y, z, t, u, ux, uy, r"},
      {"  values: {v: {mean: domain, of: nx}}\n", "unknown name 'nx'"},
      {"  values: {v: {mean: lefft}}\n",
       "output.values.v: the mesh has no boundary or material called lefft; it has: domain, left, right"},
      {"  values: {v: {mean: domain, integral: domain}}\n",
       "v: expected exactly one of point, mean, integral, force, error"},
      {"  values: {v: {force: left, of: x}}\n", "force: it belongs to stokes, elasticity and navier_stokes"},
      {"  values: {v: {error: left}}\n", "the error is that on the domain"},
      {"  values: {v: {error: domain, of: max}}\n", ".of: expected l2 or h1, got 'max'"},
      {"  png: {file: u.png, arrows: true}\n",
       "arrows: expected a list of 2 expressions, as [-ux, -uy], or true in problems with a vector"},
      {"  values: {v: {meen: domain}}\n", "unknown key 'meen'; did you mean 'mean'?"},
      {"  values: {v: {point: [7, 0]}}\n", "output.values.v: the point (7, 0, 0) lies in no cell"},
      {"  lines: [{from: [0, 0], to: [1, 1]}]\n", "a line needs a file"},
      {"  lines: [{from: [0, 0], to: 1, file: a.csv}]\n", "expected a point, a list of 2 numbers"},
      {"  lines: [{from: [0, 0], to: [1, 1], count: 1, file: a.csv}]\n",
       "count: expected an integer from 2 to 1000000"},
      {"  lines: [{from: [0, 1], to: [0, 1], file: a.csv}]\n",
       "a.yaml:7:30: output.lines.to: `from` and `to` are the same point"},
      {"  lines: [{from: [8, 8], to: [9, 9], file: a.csv}]\n",
       "a.yaml:7:11: output.lines: no point of the line to a.csv lies in the mesh"}};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_case(boxes[0], bad[i].outputs);
    assert_run("solve a.yaml --quiet", 2);
    assert_output(bad[i].message);
  }
  write_case(boxes[0], "  values: {v: {mean: domain}}\n");
  assert_run("solve a.yaml --set output.values.w={point:[0.5,0.5]} --set output.values.v=null --set "
             "\"output.points=[[0, 0]]\"",
             0);
  assert_output("value     w = 0.25");
  assert_output("point     (0, 0)  u = 1");
  assert_null(strstr(output, "value     v"));
  assert_run("solve a.yaml --set boundary.left.neumann=exact", 2);
  assert_output("`exact` is the value of u itself, for dirichlet");
  assert_run("solve a.yaml --set data.exact=null", 2);
  assert_output("`exact` needs data.exact");
  assert_run("solve a.yaml --set data.f=nx", 2);
  assert_output("unknown name 'nx'");
  remove("a.yaml");
  assert_int_equal(files_here(), 0);
}

/* u = (y, x) is in RT_1. */
static void flows_take_their_exact_velocity(void **state) {
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 1}\n"
        "data: {exact: {velocity: [y, x], pressure: 0}}\nboundary: {all: {velocity: exact}}\n"
        "output: {points: [[0.25, 0.75]]}\n",
        file);
  fclose(file);
  assert_run("solve a.yaml --set solver.tolerance=1e-12", 0);
  assert_output("u = 0.75");
  assert_run("solve a.yaml --set solver.method=fmg --set solver.tolerance=1e-3", 0);
  assert_output("u = 0.75");
  assert_run("solve a.yaml --set data.exact=null", 2);
  assert_output("`exact` needs data.exact");
  remove("a.yaml");
}

/* du/dn = 2 x nx - 2 ny as a flux on all faces but one. */
/* Of the solution, which is there, but for one number: exit status 1, no nan. */
static void values_that_are_not_finite_are_told(void **state) {
  (void)state;
  static const struct {
    const char *value, *message;
  } bad[] = {{"{mean: domain, of: 1/(x - x)}", "1/(x - x) is inf at ("},
             {"{point: [0.5, 0.5], of: log(-9 - u)}", "nan at (0.5, 0.5"},
             {"{integral: right, of: sqrt(-9 - u*u)}", "nan at (3, "},
             {"{integral: domain, of: 1e308*(1 + u*u)}", "output.values.v: "}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char outputs[200];
    snprintf(outputs, sizeof outputs, "  values: {v: %s}\n", bad[i].value);
    write_case("mesh: {box: {dim: 2, cells: [4, 3], upper: [3, 3]}}\n", outputs);
    assert_run("solve a.yaml --device cpu --json a.json", 1);
    assert_output("a.yaml:7:");
    assert_output(": output.values.v: ");
    assert_output(bad[i].message);
    if (strstr(output, "value     v")) fail_msg("%s", output);
    cJSON *json = read_json("a.json");
    assert_string_equal(cJSON_GetObjectItem(json, "status")->valuestring, "nan");
    assert_non_null(strstr(cJSON_GetObjectItem(json, "message")->valuestring, "output.values.v: "));
    assert_null(cJSON_GetObjectItem(json, "values"));
    cJSON_Delete(json);
  }
  remove("a.json"), remove("a.yaml");
}

/* Of values that are finite at some points the others are grey; of none there is no picture. */
static void pictures_without_values_are_told(void **state) {
  (void)state;
  if (!tes_has_part("png")) skip();
  write_case("mesh: {box: {dim: 2, cells: [4, 3], upper: [3, 3]}}\n",
             "  png: {file: a.png, of: 1/(x - x)}\n");
  assert_run("solve a.yaml --quiet", 1);
  assert_output("a.yaml:7:8: output.png: 1/(x - x) is finite at no point of the picture a.png");
  assert_int_equal(files_here(), 1);
  assert_run("solve a.yaml --quiet --set \"output={png: {file: a.png, of: 1/(x > 1)}}\"", 0);
  remove("a.png"), remove("a.yaml");
}

static void fluxes_know_the_normal(void **state) {
  (void)state;
  for (int i = 0; i < (has_forests() ? 2 : 1); i++) {
    write_case(boxes[i], "  values: {e: {error: domain}}\n");
    assert_run("solve a.yaml --set \"boundary.all.neumann=2*x*nx-2*ny\" --set boundary.top.dirichlet=exact "
               "--json a.json",
               0);
    cJSON *json = read_json("a.json");
    assert_near(number_of(json, "values", "e"), 0, 1e-7);
    cJSON_Delete(json);
    remove("a.json"), remove("a.yaml");
  }
}

/* A point beside a circle is moved to it, and that is told. */
static void points_beside_a_curve_are_moved(void **state) {
  (void)state;
  if (!has_forests()) skip();
  FILE *file = fopen("a.yaml", "w");
  fprintf(file, "%smesh: {ball: {dim: 2}, refine: 2}\noutput: {points: [[0.7072, 0.7072]], json: a.json}\n",
          head);
  fclose(file);
  assert_run("solve a.yaml", 0);
  assert_output("a.yaml:6:19: the point lies outside of the mesh by");
  cJSON *json = read_json("a.json");
  const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 0);
  assert_true(cJSON_GetObjectItem(point, "moved")->valuedouble > 0);
  assert_near(cJSON_GetObjectItem(point, "u")->valuedouble, 1.5 - sqrt(2), 1e-3);
  cJSON_Delete(json);
  assert_run("solve a.yaml --set output.points=[[0.8,0.8]]", 2);
  assert_output("lies in no cell");
  remove("a.yaml"), remove("a.json");
}

/* Stresses of bodies: three numbers in 2D, the six of a symmetric tensor in 3D. */
static void stresses_are_in_the_file(void **state) {
  (void)state;
  assert_run("solve " CASES "cantilever.yaml --quiet --set \"mesh.box.cells=[2, 1, 1]\" --set space.degree=2 "
             "--set output.png=null --vtu a.vtu",
             0);
  assert_run("--version; grep -a 'Name=\"stress\"' a.vtu", 0);
  assert_output("NumberOfComponents=\"6\"");
  assert_run("--version; grep -a 'Name=\"displacement\"' a.vtu", 0);
  assert_output("NumberOfComponents=\"3\"");
  remove("a.vtu");
}

/* u = t in space and time: the plot has a line through eleven points, which rises from corner to corner. */
static void a_plot_shows_the_series(void **state) {
  (void)state;
  static const char heat[] =
      "problem: transport\nmesh: {box: {dim: 2, cells: [2, 2]}}\ndata: {initial: 0, f: 1}\n"
      "boundary: {all: {neumann: 0}}\ntime: {end: 0.1, step: 0.01}\noutput:\n"
      "  values: {mean: {mean: domain}, top: {point: [0.5, 0.5]}}\n  series: s.csv\n"
      "  plot: {file: p.svg, of: [top]}\n";
  char text[20000], *points;
  double x[2], y[2];
  int count = 0, used;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(heat, file);
  assert_int_equal(fclose(file), 0);
  assert_run("solve a.yaml", 0);
  assert_output("written   s.csv");
  assert_output("written   p.svg");
  assert_non_null(file = fopen("p.svg", "r"));
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  assert_non_null(strstr(text, ">top</text>"));
  assert_null(strstr(text, ">mean</text>"));
  assert_non_null(points = strstr(text, "points=\""));
  for (points += strlen("points=\""); sscanf(points, "%lf,%lf %n", &x[1], &y[1], &used) == 2; points += used)
    if (count++ == 0) x[0] = x[1], y[0] = y[1];
  assert_int_equal(count, 11);
  assert_true(x[1] > x[0] + 300 && y[1] < y[0] - 300);
  assert_run("solve a.yaml --quiet --set 'output.plot={file: p.svg, of: [mean, tap]}'", 2);
  assert_output("no value is called 'tap'; did you mean 'top'?");
  assert_run("solve a.yaml --quiet --set 'output.plot.of=[mean]'", 0);
  assert_non_null(file = fopen("p.svg", "r"));
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  assert_non_null(strstr(text, ">mean</text>"));
  /* sizes that differ by more than ten: a panel each, whose lines go from corner to corner */
  assert_run(
      "solve a.yaml --quiet --set output.plot=p.svg --set 'output.values.big={mean: domain, of: 50*u}'", 0);
  assert_non_null(file = fopen("p.svg", "r"));
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  count = 0;
  for (const char *at = text; (at = strstr(at, "points=\"")); count++) {
    double end[2] = {0};
    at += strlen("points=\"");
    assert_int_equal(sscanf(at, "%lf,%lf", &x[0], &y[0]), 2);
    for (; sscanf(at, "%lf,%lf %n", &end[0], &end[1], &used) == 2; at += used) x[1] = end[0], y[1] = end[1];
    assert_true(x[1] > x[0] + 200 && y[1] < y[0] - 150);
  }
  assert_int_equal(count, 3);
  assert_non_null(strstr(text, ">big</text>"));
  assert_run("solve a.yaml --quiet --set output.series=null", 2);
  assert_output("output.series is missing");
  assert_run("solve a.yaml --quiet --set output.plot.file=p.png", 2);
  assert_output("call it p.svg");
  remove("p.svg"), remove("s.csv"), remove("a.yaml");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_those_of_the_solution),
                                     cmocka_unit_test(flows_tell_their_numbers),
                                     cmocka_unit_test(flows_go_on),
                                     cmocka_unit_test(flows_take_their_exact_velocity),
                                     cmocka_unit_test(wrong_values_of_flows_are_told),
                                     cmocka_unit_test(what_is_wrong_is_told_with_its_place),
                                     cmocka_unit_test(fluxes_know_the_normal),
                                     cmocka_unit_test(values_that_are_not_finite_are_told),
                                     cmocka_unit_test(pictures_without_values_are_told),
                                     cmocka_unit_test(points_beside_a_curve_are_moved),
                                     cmocka_unit_test(stresses_are_in_the_file),
                                     cmocka_unit_test(a_plot_shows_the_series)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
