/* Run: ctest -R t9_matrix. Diffusion with a matrix in the place of a number. */
#include <math.h>
#include "program_testing.h"

static double number_at(const cJSON *json, const char *group, const char *name) {
  const cJSON *value = cJSON_GetObjectItem(cJSON_GetObjectItem(json, group), name);
  if (!value) fail_msg("no %s.%s", group, name);
  return value->valuedouble;
}

static cJSON *solve(const char *arguments) {
  char all[1500];
  snprintf(all, sizeof all, "solve m.yaml %s --quiet --json r.json", arguments);
  assert_run(all, 0);
  return read_json("r.json");
}

/* The error has the order of theory, and few iterations are needed. */
static void check_order(const char *coarse, const char *fine, double order, int iterations) {
  double error[2];
  for (int i = 0; i < 2; i++) {
    cJSON *json = solve(i ? fine : coarse);
    error[i] = number_at(json, "errors", "l2");
    const cJSON *count = cJSON_GetObjectItem(json, "iterations");
    if (count->valueint > iterations) fail_msg("%s: %d iterations", i ? fine : coarse, count->valueint);
    cJSON_Delete(json);
  }
  if (!(log2(error[0] / error[1]) > order - 0.25))
    fail_msg("%s: errors %g, %g, expected order %g", fine, error[0], error[1], order);
}

static const char in_2d[] =
    "problem: poisson\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 3}\n"
    "data:\n  a: [[1 + x, y/2], [y/2, 2]]\n  exact: sin(x)*exp(y)\n"
    "  f: (x*sin(x) - y*cos(x) - sin(x) - 3*cos(x)/2)*exp(y)\n"
    "boundary: {left: {dirichlet: exact}, bottom: {dirichlet: exact}, top: {dirichlet: exact},\n"
    "  right: {neumann: ((1 + x)*cos(x) + y/2*sin(x))*exp(y)}}\n"
    "solver: {tolerance: 1e-11}\n";

static void order_in_2d(void **state) {
  (void)state;
  write_file("m.yaml", in_2d);
  check_order("--set mesh.refine=1", "--set mesh.refine=2", 4, 12);
  check_order("--set mesh.kind=forest --set mesh.refine=1", "--set mesh.kind=forest --set mesh.refine=2", 4,
              12);
  check_order("--set 'mesh.refine_where=0.3 - y' --set mesh.refine=1",
              "--set 'mesh.refine_where=0.3 - y' --set mesh.refine=2", 4, 12);
}

static void order_in_3d(void **state) {
  (void)state;
  write_file("m.yaml",
             "problem: poisson\nmesh: {box: {cells: [2, 2, 2]}}\nspace: {degree: 2}\n"
             "data:\n  a: [[2 + x, y/4, 0], [y/4, 3, x*z/5], [0, x*z/5, 1 + z*z]]\n"
             "  exact: sin(x)*exp(y)*cos(z)\n"
             "  f: (8*x*z*sin(x)*sin(z) + 16*x*sin(x)*cos(z) - 10*y*cos(x)*cos(z) + 20*z*z*sin(x)*cos(z) + "
             "40*z*sin(x)*sin(z) - 25*cos(x)*cos(z))*exp(y)/20\n"
             "boundary: {all: {dirichlet: exact}}\nsolver: {tolerance: 1e-11}\n");
  if (test_brief()) return;
  check_order("--set mesh.refine=1", "--set mesh.refine=2", 3, 14);
  check_order("--set mesh.kind=forest --set mesh.refine=1", "--set mesh.kind=forest --set mesh.refine=2", 3,
              14);
  cJSON *cpu = solve(""), *emulator = solve("--device emulator"),
        *graded = solve("--set 'mesh.refine_where=x - 0.5'"),
        *both = solve("--set 'mesh.refine_where=x - 0.5' --device emulator");
  assert_near(number_at(cpu, "errors", "l2"), number_at(emulator, "errors", "l2"), 1e-10);
  assert_near(number_at(graded, "errors", "l2"), number_at(both, "errors", "l2"), 1e-10);
  cJSON_Delete(cpu), cJSON_Delete(emulator), cJSON_Delete(graded), cJSON_Delete(both);
}

/* Steady with streamline terms, and in time with a that depends on t. */
static void transport(void **state) {
  (void)state;
  write_file("m.yaml",
             "problem: transport\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 3, stabilization: supg}\n"
             "data:\n  a: [[1/10, 1/20], [1/20, 1/5]]\n  b: [1, 2]\n  exact: sin(x)*exp(y)\n"
             "  f: (1.9*sin(x) + 0.9*cos(x))*exp(y)\n"
             "boundary: {all: {dirichlet: exact}}\nsolver: {tolerance: 1e-11}\n");
  check_order("--set mesh.refine=1", "--set mesh.refine=2", 3.5, 30);
  check_order("--set 'mesh.refine_where=0.3 - y' --set mesh.refine=1",
              "--set 'mesh.refine_where=0.3 - y' --set mesh.refine=2", 3.5, 60);
  write_file("m.yaml", "problem: transport\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 4}\n"
                       "data:\n  a: [[1 + t, x/4], [x/4, 2]]\n  exact: sin(x + t)*exp(y)\n"
                       "  f: (t*sin(t + x) - x*cos(t + x)/2 - 5*sin(t + x)/4 + cos(t + x))*exp(y)\n"
                       "boundary: {all: {dirichlet: exact}}\nsolver: {tolerance: 1e-9}\n"
                       "time: {end: 1, step: 0.1, method: bdf2}\n");
  check_order("", "--set time.step=0.05", 2, 400);
}

/* A matrix that is a number times the identity is that number: solutions, estimates of errors, materials. */
static void multiples_of_the_identity(void **state) {
  (void)state;
  static const char *const ways[] = {"2", "[2, 2]", "[[2, 0], [0, 2]]"};
  double error[3][2];
  for (int i = 0; i < 3; i++) {
    char text[700];
    snprintf(text, sizeof text,
             "problem: poisson\nmesh: {l_shape: {}, refine: 1}\nspace: {degree: 2}\ndata: {a: %s}\n"
             "adapt: {steps: 3}\nsolver: {tolerance: 1e-11}\n"
             "output: {values: {m: {mean: domain}}}\n",
             ways[i]);
    write_file("m.yaml", text);
    cJSON *json = solve("");
    const cJSON *steps = cJSON_GetObjectItem(json, "steps");
    const cJSON *last = cJSON_GetArrayItem(steps, cJSON_GetArraySize(steps) - 1);
    error[i][0] = cJSON_GetObjectItem(last, "estimate")->valuedouble;
    error[i][1] = number_at(json, "values", "m");
    cJSON_Delete(json);
    for (int k = 0; k < 2; k++) assert_near(error[i][k] / error[0][k], 1, 1e-7);
  }
}

/* Two materials of a file, one of them with a matrix: a flux through both, in series. */
static void of_one_material(void **state) {
  (void)state;
  FILE *file = fopen("two.msh", "w");
  assert_non_null(file);
  fputs("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"left\"\n2 2 "
        "\"right\"\n$EndPhysicalNames\n"
        "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n"
        "$Elements\n2\n1 3 2 1 1 1 2 5 4\n2 3 2 2 2 2 3 6 5\n$EndElements\n",
        file);
  fclose(file);
  write_file("m.yaml",
             "problem: poisson\nmesh: {file: two.msh, refine: 1}\nspace: {degree: 2}\n"
             "data: {f: 0, a: 3, materials: {right: {a: [[1, 0.5], [0.5, 1]]}},\n"
             "  exact: 'x < 1 ? x : 1 + 3*(x - 1)'}\n"
             "boundary: {all: {neumann: '(x < 1 ? 3 : 3)*nx + (x < 1 ? 0 : 1.5)*ny'}}\nsolver: {tolerance: "
             "1e-12}\n");
  cJSON *json = solve("");
  assert_true(number_at(json, "errors", "l2") < 1e-9);
  cJSON_Delete(json);
}

/* Couplings that differ by 400 in two directions, as in stretched cells: lines of cells smooth them. */
static void anisotropy(void **state) {
  (void)state;
  write_file("m.yaml",
             "problem: poisson\nmesh: {box: {cells: [16, 16]}}\nspace: {degree: 3}\ndata: {a: [400, 1]}\n");
  assert_run("solve m.yaml", 0);
  assert_output("lines");
  cJSON *json = solve("");
  assert_true(cJSON_GetObjectItem(json, "iterations")->valueint <= 25);
  cJSON_Delete(json);
}

static void wrong_matrices_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *set, *message;
  } wrong[] = {
      {"data.a=[[1, 2], [3, 7]]", "the matrix is not symmetric: entry 1, 2 is 2, entry 2, 1 is 3"},
      {"data.a=[[1, 2], [2, 3]]", "the matrix is not positive definite"},
      {"data.a=[1, -1]", "the matrix is not positive definite"},
      {"data.a=[[1, x], [x, 1/4]]", "which is not positive definite; expected a symmetric and positive"},
      {"data.a=[[9, x], [y, 9]]", "which is not symmetric"},
      {"data.a=[1, sqrt(x - 0.5)]", "data.a"},
      {"data.a=[1, 2, 3]", "data.a: expected 2 entries, as dim is 2, got 3"},
      {"data.a=[1]", "got 1"},
      {"data.a=[[1, 2], [3]]", "expected a row of 2 expressions"},
      {"data.a=[[1, 2], 3]", "expected a row of 2 expressions"},
      {"data.a=[1, [2, 3]]", "expected an expression"},
      {"data.a=[1, q]", "unknown name 'q'"},
      {"solver.smoother=patch", "no smoother patch for this operator"},
      {"space.element=dg", "element dg has constants alone"}};
  write_file("m.yaml", in_2d);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, "solve m.yaml --set '%s'", wrong[i].set);
    assert_run(arguments, 2);
    assert_output(wrong[i].message);
    if (!strncmp(wrong[i].set, "data", 4)) assert_output("data.a");
  }
  assert_run("solve m.yaml --set 'data.a=[[1, x], [x, 1/4]]'", 2);
  assert_output(") in cell ");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(order_in_2d),
                                     cmocka_unit_test(order_in_3d),
                                     cmocka_unit_test(transport),
                                     cmocka_unit_test(multiples_of_the_identity),
                                     cmocka_unit_test(of_one_material),
                                     cmocka_unit_test(anisotropy),
                                     cmocka_unit_test(wrong_matrices_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
