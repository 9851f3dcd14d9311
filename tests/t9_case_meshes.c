/* Run: ctest -R t9_case_meshes. Cases over files of Gmsh know dimension and names of the file before anything else:
 * what pressures do there, lists of a wrong length, names that the file does not have, files that cannot be read. */
#include "program_testing.h"

/* A duct of `along` cells and one cell in each other direction, whose sides are one long; `axis`: where it goes.
 * Groups inlet, outlet, wall, and fluid. */
enum { ALONG = 3, MOST = 4 * (ALONG + 1) };

static void place(int dim, int axis, const int at[3], double x[3]) {
  x[2] = 0;
  for (int d = 0; d < dim; d++) x[(axis + d) % dim] = at[d];
}

/* Node of layer i; j counts round a side of the duct. */
static int node(int dim, int i, int j) {
  return 1 + i * (dim == 3 ? 4 : 2) + j;
}

static void write_duct(const char *path, int dim, int axis) {
  static const int ring[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  const int around = dim == 3 ? 4 : 2, cell = dim == 3 ? 5 : 3, side = dim == 3 ? 3 : 1;
  const int walls = ALONG * (dim == 3 ? 4 : 2), elements = ALONG + walls + 2;
  FILE *file = fopen(path, "w");
  int number = 1;
  assert_non_null(file);
  fprintf(file,
          "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n%d 1 \"inlet\"\n%d 2 \"outlet\"\n"
          "%d 3 \"wall\"\n%d 4 \"fluid\"\n$EndPhysicalNames\n$Nodes\n%d\n",
          dim - 1, dim - 1, dim - 1, dim, around * (ALONG + 1));
  for (int i = 0; i <= ALONG; i++)
    for (int j = 0; j < around; j++) {
      const int at[3] = {i, dim == 3 ? ring[j][0] : j, dim == 3 ? ring[j][1] : 0};
      double x[3];
      place(dim, axis, at, x);
      fprintf(file, "%d %g %g %g\n", node(dim, i, j), x[0], x[1], x[2]);
    }
  fprintf(file, "$EndNodes\n$Elements\n%d\n", elements);
  for (int end = 0; end < 2; end++) {
    fprintf(file, "%d %d 2 %d 1", number++, side, 1 + end);
    for (int j = 0; j < around; j++) fprintf(file, " %d", node(dim, end * ALONG, j));
    fputc('\n', file);
  }
  for (int i = 0; i < ALONG; i++)
    for (int j = 0; j < around; j++) {
      fprintf(file, "%d %d 2 3 2 %d %d", number++, side, node(dim, i, j), node(dim, i + 1, j));
      const int next = (j + 1) % 4;
      if (dim == 3) fprintf(file, " %d %d", node(dim, i + 1, next), node(dim, i, next));
      fputc('\n', file);
    }
  for (int i = 0; i < ALONG; i++) {
    fprintf(file, "%d %d 2 4 3", number++, cell);
    if (dim == 3) {
      for (int j = 0; j < 4; j++) fprintf(file, " %d", node(dim, i, j));
      for (int j = 0; j < 4; j++) fprintf(file, " %d", node(dim, i + 1, j));
    } else {
      fprintf(file, " %d %d %d %d", node(2, i, 0), node(2, i + 1, 0), node(2, i + 1, 1), node(2, i, 1));
    }
    fputc('\n', file);
  }
  fputs("$EndElements\n", file);
  assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static double value_of(const char *name) {
  cJSON *json = read_json("r.json");
  const double value = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), name));
  cJSON_Delete(json);
  return value;
}

/* P where the duct begins or ends, along each axis: between plates a parabola, u = P / (8 * 3) = P / 24 in the middle
 * (nu 1, length 3); p falls from P to 0, P / 2 in the middle. In 3D the middle of a square duct of side 1 has
 * w = 0.0736713 P / 3 (the series of 4 / pi^3 sum (-1)^((n-1)/2) (1 - 1 / cosh(n pi / 2)) / n^3, n odd). */
static void pressures_act_along_the_normal(void **state) {
  (void)state;
  if (!has_forests()) skip();
  for (int dim = 2; dim <= 3; dim++)
    for (int axis = 0; axis < dim; axis++)
      for (int end = 0; end < 2; end++) {
        char text[900], zeros[20] = "0, 0", at[40];
        const char *const middle[3] = {"1.5, 0.5, 0.5", "0.5, 1.5, 0.5", "0.5, 0.5, 1.5"};
        snprintf(at, sizeof at, "%.*s", dim == 2 ? 8 : 13, middle[axis]);
        if (dim == 3) strcat(zeros, ", 0");
        write_duct("duct.msh", dim, axis);
        snprintf(text, sizeof text,
                 "problem: stokes\nmesh: {file: duct.msh, refine: %d}\nspace: {degree: %d}\n"
                 "boundary: {wall: {velocity: [%s]}, %s: {pressure: 0.2}, %s: {pressure: 0}}\n"
                 "output: {values: {u: {point: [%s], of: %c}, p: {point: [%s], of: p}}}\n",
                 dim - 2, dim == 2 ? 2 : 4, zeros, end ? "outlet" : "inlet", end ? "inlet" : "outlet", at,
                 "uvw"[axis], at);
        write_text("a.yaml", text);
        assert_run("solve a.yaml --quiet --device cpu --json r.json", 0);
        const double sign = end ? -1 : 1, u = dim == 2 ? 0.2 / 24 : 0.2 * 0.0736713532 / 3;
        assert_near(value_of("u"), sign * u, dim == 2 ? 1e-8 : 3e-4 * u);
        assert_near(value_of("p"), 0.1, 1e-7);
      }
  /* in time: from rest to the same */
  write_duct("duct.msh", 2, 0);
  write_text("a.yaml", "problem: navier_stokes\nmesh: {file: duct.msh}\nspace: {degree: 2}\n"
                       "boundary: {wall: {velocity: [0, 0]}, inlet: {pressure: 0}, outlet: {pressure: 0.2}}\n"
                       "time: {end: 2, step: 0.05}\n"
                       "output: {values: {u: {point: [1.5, 0.5], of: u}, p: {point: [1.5, 0.5], of: p}}}\n");
  assert_run("solve a.yaml --quiet --device cpu --json r.json", 0);
  assert_near(value_of("u"), -0.2 / 24, 1e-5);
  assert_near(value_of("p"), 0.1, 5e-5);
  assert_int_equal(system("rm -f a.yaml r.json duct.msh"), 0);
}

/* A case with one list left open, 2D and 3D; %1$s in the place of the list, which is given with one entry too few or
 * too many. */
static const struct {
  const char *key, *text;
} lists[] = {
    {"data.f", "problem: stokes\nmesh: {file: d.msh}\ndata: {f: %s}\n"},
    {"data.exact.velocity", "problem: stokes\nmesh: {file: d.msh}\ndata: {exact: {velocity: %s}}\n"},
    {"boundary.wall.velocity", "problem: stokes\nmesh: {file: d.msh}\nboundary: {wall: {velocity: %s}}\n"},
    {"boundary.wall.outflow", "problem: stokes\nmesh: {file: d.msh}\nboundary: {wall: {outflow: %s}}\n"},
    {"data.initial.velocity", "problem: navier_stokes\nmesh: {file: d.msh}\ntime: {end: 1, step: 1}\n"
                              "data: {initial: {velocity: %s}}\n"},
    {"data.b", "problem: transport\nmesh: {file: d.msh}\ndata: {b: %s}\n"},
    {"data.a", "problem: poisson\nmesh: {file: d.msh}\ndata: {a: %s}\n"},
    {"mesh.map", "problem: poisson\nmesh: {file: d.msh, map: %s}\n"},
    {"adapt.goal.point",
     "problem: poisson\nmesh: {file: d.msh}\nadapt: {estimator: dwr, goal: {point: %s}}\n"},
    {"data.exact", "problem: elasticity\nmesh: {file: d.msh}\ndata: {young: 1, poisson: 0, exact: %s}\n"},
    {"data.materials.fluid", "problem: elasticity\nmesh: {file: d.msh}\n"
                             "data: {young: 1, poisson: 0, materials: {fluid: {f: %s}}}\n"},
    {"data.initial.displacement", "problem: elasticity\nmesh: {file: d.msh}\ntime: {end: 1, step: 1}\n"
                                  "data: {young: 1, poisson: 0, initial: {displacement: %s}}\n"},
    {"boundary.wall.displacement", "problem: elasticity\nmesh: {file: d.msh}\ndata: {young: 1, poisson: 0}\n"
                                   "boundary: {wall: {displacement: %s}}\n"},
    {"boundary.wall.traction", "problem: elasticity\nmesh: {file: d.msh}\ndata: {young: 1, poisson: 0}\n"
                               "boundary: {wall: {traction: %s}}\n"},
    {"boundary.wall.robin.g", "problem: elasticity\nmesh: {file: d.msh}\ndata: {young: 1, poisson: 0}\n"
                              "boundary: {wall: {robin: {alpha: 1, g: %s}}}\n"}};
/* These are told as points. */
static const char *const points[] = {"output: {points: [%s]}\n", "output: {points: {a: %s}}\n",
                                     "output: {values: {a: {point: %s}}}\n",
                                     "output: {lines: [{from: %s, to: %s, file: l.csv}]}\n"};

static void lists_have_an_entry_a_direction(void **state) {
  (void)state;
  static const char *const entries[4] = {"", "[1]", "[1, 1]", "[1, 1, 1]"};
  char text[500], told[200];
  for (int dim = 2; dim <= 3; dim++)
    for (int wrong = dim == 2 ? 1 : 2; wrong <= 3; wrong++) {
      if (wrong == dim) continue;
      write_duct("d.msh", dim, 0);
      for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        snprintf(text, sizeof text, lists[i].text, entries[wrong]);
        write_text("a.yaml", text);
        snprintf(told, sizeof told, "%s%s: expected %d entries, as dim is %d, got %d", lists[i].key,
                 strstr(lists[i].key, "materials") ? ".f" : "", dim, dim, wrong);
        if (!strcmp(lists[i].key, "mesh.map") && wrong == 1)
          snprintf(told, sizeof told, "mesh.map: expected 2 or 3 entries, got 1");
        assert_refused("a.yaml", told);
      }
      for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char more[200];
        snprintf(more, sizeof more, points[i], entries[wrong], "[2, 2]");
        snprintf(text, sizeof text, "problem: poisson\nmesh: {file: d.msh}\n%s", more);
        write_text("a.yaml", text);
        snprintf(told, sizeof told, "expected a point, a list of %d numbers", dim);
        assert_refused("a.yaml", told);
        assert_output("a.yaml:3:");
      }
    }
  write_duct("d.msh", 2, 0);
  write_text("a.yaml", "problem: stokes\nmesh: {file: d.msh}\nboundary: {wall: {outflow: 0.2}}\n");
  assert_run("check a.yaml", 2);
  assert_output("a.yaml:3:28: boundary.wall.outflow: expected 0 or a list of 2 expressions");
  assert_int_equal(system("rm -f a.yaml d.msh"), 0);
}

/* What a boundary has is not seen in the boundaries that stand after it. */
static void boundaries_stand_alone(void **state) {
  (void)state;
  static const char flow[] =
      "problem: stokes\nmesh: {file: d.msh}\nspace: {element: q, degree: 2}\ndata: {nu: 1}\n"
      "boundary:\n  outlet: {outflow: %s}\n  wall: {velocity: [1, 0]}\n  inlet: {%s}\n";
  static const char solid[] =
      "problem: elasticity\nmesh: {file: d.msh}\ndata: {young: 1, poisson: 0, exact: [x, y]}\n"
      "boundary:\n  outlet: {displacement: %s}\n  wall: {%s}\n  inlet: {traction: [1, 0]}\n";
  char text[500];
  write_duct("d.msh", 2, 0);
  snprintf(text, sizeof text, flow, "0", "velocity: [1, 0]");
  write_text("a.yaml", text);
  assert_run("check a.yaml", 0);
  assert_run("solve a.yaml --quiet", 0);
  snprintf(text, sizeof text, flow, "[0, 1]", "outflow: 0.2");
  write_text("a.yaml", text);
  assert_refused("a.yaml", "boundary.inlet.outflow: expected 0 or a list of 2 expressions");
  snprintf(text, sizeof text, solid, "exact", "displacement: [1]");
  write_text("a.yaml", text);
  assert_refused("a.yaml", "boundary.wall.displacement: expected 2 entries, as dim is 2, got 1");
  snprintf(text, sizeof text, solid, "exact", "traction: [1, 0]");
  write_text("a.yaml", text);
  assert_run("check a.yaml", 0);
  assert_int_equal(system("rm -f a.yaml d.msh"), 0);
}

static void names_of_the_file_are_compared(void **state) {
  (void)state;
  static const struct {
    const char *text, *told;
  } rows[] = {
      {"boundary: {wal: {dirichlet: 1}}",
       "a.yaml:3:12: the mesh has no boundary called wal; it has: inlet, outlet, wall; did you mean 'wall'?"},
      {"boundary: {fluid: {dirichlet: 1}}",
       "a.yaml:3:12: the mesh has no boundary called fluid; it has: inlet, outlet, wall\n"},
      {"boundary: {7: {dirichlet: 1}}", "a.yaml:3:12: the mesh has no boundary called 7; it has: "},
      {"data: {materials: {fluids: {a: 1}}}",
       "a.yaml:3:20: the mesh has no material called fluids; it has: fluid; did you mean 'fluid'?"},
      {"output: {values: {q: {integral: outle}}}",
       "a.yaml:3:22: output.values.q: the mesh has no boundary or material called outle; it has: domain, "},
      {"adapt: {estimator: dwr, goal: {mean: inle}}",
       "a.yaml:3:38: adapt.goal.mean: the mesh has no boundary called inle; it has: "}};
  char text[300];
  if (!has_forests()) skip();
  write_duct("d.msh", 2, 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(text, sizeof text, "problem: poisson\nmesh: {file: d.msh}\n%s\n", rows[i].text);
    write_text("a.yaml", text);
    assert_refused("a.yaml", rows[i].told);
  }
  /* of a domain that the program knows by itself */
  write_text("a.yaml", "problem: poisson\nmesh: {ball: {dim: 2}}\nboundary: {surfac: {dirichlet: 1}}\n");
  assert_refused(
      "a.yaml",
      "a.yaml:3:12: the mesh has no boundary called surfac; it has: surface; did you mean 'surface'?");
  assert_int_equal(system("rm -f a.yaml d.msh"), 0);
}

static void files_that_cannot_be_read(void **state) {
  (void)state;
  static const char *const commands[] = {"check a.yaml", "solve a.yaml --quiet --device cpu"};
  write_text("a.yaml", "problem: poisson\nmesh: {file: none.msh}\n");
  for (int c = 0; c < 2; c++) {
    assert_run(commands[c], 4);
    assert_output("a.yaml:2:14: mesh.file: cannot read none.msh: No such file or directory");
  }
  write_text("none.msh", "not a mesh\n");
  for (int c = 0; c < 2; c++) {
    assert_run(commands[c], 2);
    assert_output("a.yaml:2:14: mesh.file: none.msh: not a Gmsh file");
  }
  assert_int_equal(system("rm -f a.yaml none.msh"), 0);
}

/* Also of the dual problem, in which a robin condition holds a part as it does in the problem itself. */
static void parts_are_held_one_by_one(void **state) {
  (void)state;
  if (!has_forests()) skip();
  FILE *file = fopen("two.msh", "w");
  assert_non_null(file);
  fputs("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"left\"\n1 2 \"right\"\n"
        "$EndPhysicalNames\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 3 0 0\n7 3 1 0\n"
        "8 2 1 0\n$EndNodes\n$Elements\n10\n",
        file);
  for (int i = 0; i < 8; i++)
    fprintf(file, "%d 1 2 %d 1 %d %d\n", i + 1, 1 + i / 4, i + 1, i / 4 * 4 + (i + 1) % 4 + 1);
  for (int i = 0; i < 2; i++)
    fprintf(file, "%d 3 2 0 1 %d %d %d %d\n", i + 9, 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4);
  fputs("$EndElements\n", file);
  fclose(file);
  for (int held = 0; held < 2; held++) {
    char text[400];
    snprintf(text, sizeof text,
             "problem: transport\nmesh: {file: two.msh, refine: 1}\nspace: {degree: 2}\n"
             "data: {a: 1, b: [1, 0.3], f: x}\n"
             "boundary: {left: {dirichlet: 0}, right: %s}\n"
             "adapt: {estimator: dwr, goal: {mean: right}, steps: 1}\n",
             held ? "{robin: {alpha: 2, g: 1}}" : "outflow");
    write_text("a.yaml", text);
    assert_run("solve a.yaml --quiet", held ? 0 : 2);
    if (!held) assert_output("neither a Dirichlet nor a Robin boundary");
  }
  assert_int_equal(system("rm -f a.yaml two.msh"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressures_act_along_the_normal), cmocka_unit_test(lists_have_an_entry_a_direction),
      cmocka_unit_test(boundaries_stand_alone),         cmocka_unit_test(names_of_the_file_are_compared),
      cmocka_unit_test(files_that_cannot_be_read),      cmocka_unit_test(parts_are_held_one_by_one)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
