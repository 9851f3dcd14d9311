/* Run: ctest -R t9_inner_faces. Conditions on curves and surfaces inside of a mesh file: an electrode at x = 1 in
 * [0, 2] x [0, 1] (x [0, 1]), held at 0 at both ends. Each condition has the solution u = min(x, 2 - x): the value 1;
 * the flux 2 that enters, slopes 1 and -1; alpha u - g = 1 - 3 in its place. */
#include "program_testing.h"

/* n cells along x, m along y (and z); the lines or quadrilaterals in x = 0, 1, 2 have names. */
static void write_mesh(const char *path, int dim, int n, int m) {
  const int layers = dim == 3 ? m : 1, row = n + 1, plane = row * (m + 1), planes = dim == 3 ? m + 1 : 1;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file,
          "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n%d 1 \"left\"\n%d 2 \"electrode\"\n%d 3 "
          "\"right\"\n$EndPhysicalNames\n$Nodes\n%d\n",
          dim - 1, dim - 1, dim - 1, plane * planes);
  for (int i = 0; i < plane * planes; i++)
    fprintf(file, "%d %.17g %.17g %.17g\n", i + 1, 2.0 * (i % row) / n, i / row % (m + 1) / (double)m,
            i / plane / (double)m);
  fprintf(file, "$EndNodes\n$Elements\n%d\n", n * m * layers + 3 * m * layers);
  int e = 0;
  for (int side = 0; side < 3; side++)
    for (int k = 0; k < layers; k++)
      for (int j = 0; j < m; j++) {
        const int a = 1 + side * n / 2 + row * j + plane * k;
        fprintf(file, "%d %d 2 %d %d %d %d", ++e, dim == 2 ? 1 : 3, side + 1, side + 1, a, a + row);
        if (dim == 3) fprintf(file, " %d %d", a + row + plane, a + plane);
        fprintf(file, "\n");
      }
  for (int k = 0; k < layers; k++)
    for (int j = 0; j < m; j++)
      for (int i = 0; i < n; i++) {
        const int a = 1 + i + row * j + plane * k;
        fprintf(file, "%d %d 2 9 9", ++e, dim == 2 ? 3 : 5);
        for (int up = 0; up < dim - 1; up++)
          fprintf(file, " %d %d %d %d", a + up * plane, a + 1 + up * plane, a + 1 + row + up * plane,
                  a + row + up * plane);
        fprintf(file, "\n");
      }
  fprintf(file, "$EndElements\n");
  fclose(file);
}

static double value_in(const cJSON *json, const char *name) {
  const cJSON *value = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), name);
  assert_non_null(value);
  return cJSON_GetNumberValue(value);
}

/* Solves with a condition on the electrode, and compares with the solution. */
static void solve(const char *problem, int dim, const char *condition, const char *options) {
  char command[1200];
  FILE *file = fopen("inner.yaml", "w");
  assert_non_null(file);
  fprintf(file,
          "problem: %s\nmesh: {file: mesh%d.msh}\nspace: {degree: 2}\n"
          "data: {f: 0, exact: \"min(x, 2 - x)\"}\n"
          "boundary: {all: {neumann: 0}, left: {dirichlet: 0}, right: {dirichlet: 0}, electrode: {%s}}\n"
          "output:\n  values:\n    size: {integral: electrode, of: 1}\n    mean: {mean: electrode, of: u}\n"
          "    flux: {integral: electrode, of: ux*nx + uy*ny}\n    left: {integral: left, of: ux*nx}\n",
          problem, dim, condition);
  fclose(file);
  snprintf(command, sizeof command,
           "solve inner.yaml --quiet --json inner.json --set solver.tolerance=1e-11 %s", options);
  assert_run(command, 0);
  cJSON *json = read_json("inner.json");
  const double l2 = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), "l2"));
  if (!(l2 < 1e-9)) fail_msg("%s %dD %s %s: error %g", problem, dim, condition, options, l2);
  assert_near(value_in(json, "size"), 1, 1e-9);
  assert_near(value_in(json, "mean"), 1, 1e-9);
  assert_near(value_in(json, "flux"), 2, 1e-7);
  assert_near(value_in(json, "left"), -1, 1e-7);
  cJSON_Delete(json);
}

static const char *const conditions[] = {"dirichlet: 1", "neumann: 2", "robin: {alpha: 1, g: 3}"};

static void electrodes(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_mesh("mesh2.msh", 2, 6, 3);
  write_mesh("mesh3.msh", 3, 4, 2);
  for (int c = 0; c < 3; c++)
    for (int dim = 2; dim <= 3; dim++) {
      solve("poisson", dim, conditions[c], "--device cpu");
      solve("poisson", dim, conditions[c], "--device cpu --threads 2 --set mesh.refine=1");
      solve("transport", dim, conditions[c], "--device cpu");
    }
}

/* Cells on both sides of different size, either way; curves that are bent by a map stay where the map takes them. */
static void hanging_nodes_and_kernels(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_mesh("mesh2.msh", 2, 6, 3);
  write_mesh("mesh3.msh", 3, 4, 2);
  for (int c = 0; c < 3; c++) {
    solve("poisson", 2, conditions[c], "--device cpu --set \"mesh.refine_where=x - 1.01\"");
    solve("poisson", 2, conditions[c], "--device cpu --set \"mesh.refine_where=0.99 - x\"");
    solve("poisson", 3, conditions[c], "--device cpu --set \"mesh.refine_where=y - 0.6 + x - 1\"");
    solve("poisson", 2, conditions[c], "--device emulator");
    solve("poisson", 2, conditions[c],
          "--device emulator --deterministic --set \"mesh.refine_where=0.99 - x\"");
  }
}

/* A bar of modulus 1, held at both ends, with a force of 3 and a spring of 1 in its middle: it moves by u there with
 * 2 u = 3 - u, and the force on the group is 3 - u, as a support's. */
static void springs_in_a_bar(void **state) {
  (void)state;
  if (!has_forests()) skip();
  for (int dim = 2; dim <= 3; dim++) {
    write_mesh(dim == 2 ? "mesh2.msh" : "mesh3.msh", dim, 6, 3);
    FILE *file = fopen("bar.yaml", "w");
    assert_non_null(file);
    const char *const zero = dim == 2 ? "[0, 0]" : "[0, 0, 0]";
    fprintf(
        file,
        "problem: elasticity\nmesh: {file: mesh%d.msh}\nspace: {degree: 2}\ndata: {young: 1, poisson: 0}\n"
        "boundary: {all: {traction: %s}, left: {displacement: %s}, right: {displacement: %s}, electrode: "
        "{robin: {alpha: 1, g: %s}}}\n"
        "output:\n  values:\n    moved: {mean: electrode, of: u}\n    middle: {force: electrode, of: x}\n"
        "    left: {force: left, of: x}\n",
        dim, zero, zero, zero, dim == 2 ? "[3, 0]" : "[3, 0, 0]");
    fclose(file);
    assert_run("solve bar.yaml --device cpu --quiet --json bar.json --set solver.tolerance=1e-11", 0);
    cJSON *json = read_json("bar.json");
    assert_near(value_in(json, "moved"), 1, 1e-8);
    assert_near(value_in(json, "middle"), 2, 1e-8);
    assert_near(value_in(json, "left"), -1, 1e-8);
    cJSON_Delete(json);
  }
}

/* Estimates do not take the jump that was asked for as an error: nothing is left to refine. */
static void estimates(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_mesh("mesh2.msh", 2, 6, 3);
  for (int c = 0; c < 3; c++) {
    char boundary[200];
    snprintf(boundary, sizeof boundary, "%s", conditions[c]);
    solve("poisson", 2, boundary, "--device cpu --set \"adapt={steps: 5, tolerance: 1e-6}\"");
    cJSON *json = read_json("inner.json");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "steps")), 1);
    cJSON_Delete(json);
  }
}

static void what_is_refused(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_mesh("mesh2.msh", 2, 6, 3);
  solve("poisson", 2, "dirichlet: 1", "--device cpu");
  assert_run("solve inner.yaml --set boundary.electrode.dirichlet=nx", 2);
  assert_output("faces between cells have two normals");
  assert_run("solve inner.yaml --set problem=transport --set boundary.electrode=null --set "
             "boundary.electrode.flux=1",
             2);
  assert_output("electrode lies between cells, where values can be given (dirichlet)");
  FILE *file = fopen("flow.yaml", "w");
  assert_non_null(file);
  fprintf(file, "problem: stokes\nmesh: {file: mesh2.msh}\nspace: {degree: 2, element: q}\nboundary: {all: "
                "{velocity: [0, "
                "0]}, right: outflow, electrode: slip}\n");
  fclose(file);
  assert_run("solve flow.yaml", 2);
  assert_output("electrode lies between cells, where values can be given (dirichlet)");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(electrodes),
                                     cmocka_unit_test(hanging_nodes_and_kernels), cmocka_unit_test(estimates),
                                     cmocka_unit_test(springs_in_a_bar), cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
