/* Run: ctest -R t9_map. Domains that are deformed by expressions. */
#include <math.h>
#include "program_testing.h"

static double number_at(const cJSON *json, const char *group, const char *name) {
  const cJSON *value = cJSON_GetObjectItem(cJSON_GetObjectItem(json, group), name);
  if (!value) fail_msg("no %s.%s", group, name);
  return value->valuedouble;
}

static cJSON *solve(const char *arguments) {
  char all[1500];
  snprintf(all, sizeof all, "solve %s --quiet --json r.json", arguments);
  assert_run(all, 0);
  return read_json("r.json");
}

static void write_case(const char *mesh, const char *rest) {
  FILE *file = fopen("m.yaml", "w");
  assert_non_null(file);
  fprintf(file, "problem: poisson\nmesh: %s\n%s", mesh, rest);
  fclose(file);
}

/* Rotation and stretching of a box: the area is that of the determinant, and a polynomial solution stays exact. */
static void affine_maps_keep_polynomials(void **state) {
  (void)state;
  write_case("{box: {cells: [4, 4]}, map: [2*x + y, 3*y - x + 1]}",
             "space: {degree: 3}\ndata: {exact: x*x*y - y, f: -2*y}\nboundary: {all: {dirichlet: exact}}\n"
             "solver: {tolerance: 1e-12}\noutput: {values: {area: {integral: domain, of: 1}, "
             "length: {integral: bottom, of: 1}}}\n");
  cJSON *json = solve("m.yaml");
  assert_near(number_at(json, "values", "area"), 7, 1e-11);
  assert_near(number_at(json, "values", "length"), sqrt(5), 1e-11);
  assert_true(number_at(json, "errors", "l2") < 1e-10);
  cJSON_Delete(json);
}

/* A quarter of a ring out of a square: geometry of degree m gives the area with order m + 1 at least, refinement
 * follows the circle, and the error of the solution has the order of theory. */
static void curved_maps_converge(void **state) {
  (void)state;
  static const char rest[] =
      "space: {degree: 3}\ndata: {exact: \"log(r)\", f: 0}\nboundary: {all: {dirichlet: exact}}\n"
      "solver: {tolerance: 1e-11}\noutput: {values: {area: {integral: domain, of: 1}}}\n";
  write_case(
      "{box: {cells: [2, 2]}, map: ['(1 + x)*cos(pi*y/2)', '(1 + x)*sin(pi*y/2)'], geometry_degree: 3}", rest);
  double error[2], area[2];
  for (int i = 0; i < 2; i++) {
    cJSON *json = solve(i ? "m.yaml --set mesh.refine=2" : "m.yaml --set mesh.refine=1");
    error[i] = number_at(json, "errors", "l2");
    area[i] = fabs(number_at(json, "values", "area") - 0.75 * M_PI);
    cJSON_Delete(json);
  }
  assert_true(log2(error[0] / error[1]) > 3.5);
  assert_true(log2(area[0] / area[1]) > 3.5);
  assert_true(area[1] < 1e-6);
  cJSON *adaptive = solve("m.yaml --set 'mesh.refine_where=0.3 - y' --set mesh.refine=2");
  assert_true(number_at(adaptive, "errors", "l2") < error[1] * 1.01);
  cJSON_Delete(adaptive);
}

/* A ball becomes an ellipsoid; kernels see the same cells. */
static void other_domains_and_devices(void **state) {
  (void)state;
  write_case("{ball: {dim: 3}, map: [2*x, y, z + 0.1*x], refine: 1, geometry_degree: 4}",
             "space: {degree: 2}\noutput: {values: {volume: {integral: domain, of: 1}, m: {mean: domain}}}\n"
             "solver: {tolerance: 1e-10}\n");
  cJSON *cpu = solve("m.yaml"), *emulator = solve("m.yaml --device emulator");
  assert_near(number_at(cpu, "values", "volume"), 8 * M_PI / 3, 1e-4);
  assert_near(number_at(cpu, "values", "m"), number_at(emulator, "values", "m"), 1e-9);
  cJSON_Delete(cpu);
  cJSON_Delete(emulator);
}

/* Stokes on a deformed box: continuous elements without being asked for. */
static void flows_on_deformed_boxes(void **state) {
  (void)state;
  FILE *file = fopen("m.yaml", "w");
  assert_non_null(file);
  fputs("problem: stokes\nmesh: {box: {cells: [4, 4]}, map: [x + 0.2*y, y]}\nspace: {degree: 3}\n"
        "data: {exact: {velocity: [y*(1 - y), 0], pressure: 1 - 2*x}}\nboundary: {all: {velocity: exact}}\n",
        file);
  fclose(file);
  cJSON *json = solve("m.yaml");
  assert_true(number_at(json, "errors", "velocity_l2") < 1e-8);
  cJSON_Delete(json);
}

static void wrong_maps_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *set, *message;
  } wrong[] = {{"mesh.map=[x, y*y - y]", "is inverted or degenerate: |J| ="},
               {"mesh.map=[-x, y]", "at ("},
               {"mesh.map=[x, sqrt(x - 0.3)]", "mesh.map: sqrt(x - 0.3) is not finite at (0, 0, 0)"},
               {"mesh.map=[x]", "expected 2 or 3 entries"},
               {"mesh.map=[x, y, z]", "expected 2 entries"},
               {"mesh.map=[x, y + t]", "the mesh does not move"},
               {"mesh.map=[x, q]", "unknown name 'q'"},
               {"mesh.kind=box", "straight"},
               {"mesh.box.periodic=x", "a periodic box is not deformed"},
               {"output.checkpoint=c.h5", "does not hold the map"}};
  write_case("{box: {cells: [4, 4]}, map: [x, y + 0.1*x]}", "space: {degree: 2}\n");
  assert_run("solve m.yaml --quiet", 0);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, "solve m.yaml --set '%s'", wrong[i].set);
    assert_run(arguments, 2);
    assert_output(wrong[i].message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(affine_maps_keep_polynomials), cmocka_unit_test(curved_maps_converge),
      cmocka_unit_test(other_domains_and_devices), cmocka_unit_test(flows_on_deformed_boxes),
      cmocka_unit_test(wrong_maps_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
