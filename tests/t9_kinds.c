/* Run: ctest -R t9_kinds. The program on boxes and forests: mesh.kind, refinement, checkpoints of boxes. */
#include "program_testing.h"

#define SQUARE CASES "poisson-square.yaml --set mesh.box.cells=8 --set space.degree=3"

/* Solved in degree 3, gone on with in degree 5: fewer iterations, the same answer. */
static void boxes_have_checkpoints(void **state) {
  (void)state;
  int iterations[2];
  double error[2];
  const int status = run("solve " SQUARE " --set output.checkpoint=c.h5");
  if (status == 3 && strstr(output, "without HDF5")) skip();
  assert_int_equal(status, 0);
  for (int i = 0; i < 2; i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "solve " SQUARE " --set space.degree=5 --set solver.method=vcycle --json r.json %s",
             i ? "--restart c.h5" : "");
    assert_run(arguments, 0);
    if (i) assert_output("restart   from step 0 of c.h5");
    cJSON *json = read_json("r.json");
    iterations[i] = cJSON_GetObjectItem(json, "iterations")->valueint;
    error[i] = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), "l2")->valuedouble;
    cJSON_Delete(json);
  }
  assert_true(iterations[1] < iterations[0]);
  assert_near(error[1], error[0], 1e-2 * error[0]);
  assert_run("solve " SQUARE " --set mesh.box.cells=16 --restart c.h5", 2);
  assert_output("8 cells in direction x, not 16");
  assert_int_equal(system("rm r.json c.h5"), 0);
}

/* The same case as a box and as a forest has the same errors; refinement of a box doubles its cells. */
static void meshes_have_kinds(void **state) {
  (void)state;
  static const char *const sets[] = {
      "--set mesh.box.cells=8", "--set mesh.box.cells=8 --set mesh.kind=box",
      "--set mesh.box.cells=2 --set mesh.refine=2", "--set mesh.box.cells=8 --set mesh.kind=forest",
      "--set mesh.box.cells=2 --set mesh.refine=2 --set mesh.kind=forest --set solver.method=fmg"};
  double first = 0;
  for (int i = 0; i < (has_forests() ? 5 : 3); i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "solve " CASES "poisson-square.yaml --set space.degree=3 --set solver.tolerance=1e-11 --set "
             "solver.precision=double --json r.json %s",
             sets[i]);
    assert_run(arguments, 0);
    assert_output(i < 3 ? "box of 8 x 8 cells" : "box in 2D: 64 cells on 1 trees");
    cJSON *json = read_json("r.json");
    const double error = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), "l2")->valuedouble;
    assert_int_equal(cJSON_GetObjectItem(json, "dofs")->valueint, 23 * 23);
    if (!i) first = error;
    assert_near(error, first, 1e-6 * first);
    cJSON_Delete(json);
  }
  remove("r.json");
  if (!has_forests()) assert_run("solve " SQUARE " --set mesh.kind=forest", 3);
  assert_run("solve " SQUARE " --set mesh.kind=box --set adapt.steps=3", 2);
  assert_output("a mesh of kind box is one grid, whose cells are not refined in places: leave adapt out");
  assert_run("solve " CASES "l-shape.yaml --set mesh.kind=box", 2);
  assert_output("leave mesh.l_shape out, or kind: forest");
  assert_run("solve " SQUARE " --set \"data.materials={steel: {a: 2}}\"", 2);
  assert_output("a box has no materials");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_have_checkpoints),
                                     cmocka_unit_test(meshes_have_kinds)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
