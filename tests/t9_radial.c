/* Run: ctest -R t9_radial. Radial displacements: interference fits of bores and shafts, rings and spheres, have Lame's
 * solution with order k + 1, by all coarse solvers and on devices, in time, on adapted meshes and on tetrahedra; a
 * displacement that depends on the place; given components beside it; refusals. */
#include <math.h>
#include "program_testing.h"

/* NULL: the build has no forests, or a library is missing. */
static cJSON *solve(const char *options) {
  char command[900];
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options);
  const int code = run(command);
  if (code && code != 3) fail_msg("exit %d for %s\n%s", code, options, output);
  return code ? NULL : read_json("a.json");
}

/* u_r = A r + B / r^(d-1) between radii 1/2 and 1, u_r = d on one of them (shaft: the outer one), no stress on the
 * other: sigma_r = (3D: 3 l + 2 m, 2D: 2 (l + m)) A - 2 (d - 1) m B / r^d. */
static void write_fit(int dim, int degree, const char *mesh, bool shaft, const char *more) {
  char text[2000];
  static const char *const r[2] = {"(x*x + y*y)", "pow(x*x + y*y + z*z, 1.5)"};
  snprintf(
      text, sizeof text,
      "problem: elasticity\nmesh: {shell: {dim: %d}, %s}\nspace: {degree: %d}\n"
      "constants: {E: 200, nu: 0.3, l: E*nu/((1+nu)*(1-2*nu)), m: E/(2*(1+nu)), d: 0.01, free: %s, at: %s, "
      "k: \"%s\", A: \"d/(at + k*pow(free, %d)/pow(at, %d))\", B: \"k*A*pow(free, %d)\"}\n"
      "data: {young: E, poisson: nu, exact: [\"(A + B/%s)*x\", \"(A + B/%s)*y\"%s%s%s]}\n"
      "boundary: {%s: {radial: d}, %s: {traction: %s}}\nsolver: {tolerance: 1e-11}\n%s",
      dim, mesh, degree, shaft ? "0.5" : "1", shaft ? "1" : "0.5",
      dim == 2 ? "(l + m)/m" : "(3*l + 2*m)/(4*m)", dim, dim - 1, dim, r[dim - 2], r[dim - 2],
      dim == 3 ? ", \"(A + B/" : "", dim == 3 ? r[1] : "", dim == 3 ? ")*z\"" : "", shaft ? "outer" : "inner",
      shaft ? "inner" : "outer", dim == 2 ? "[0, 0]" : "[0, 0, 0]", more);
  write_file("a.yaml", text);
}

static double error_of(const char *options) {
  cJSON *json = solve(options);
  if (!json) return NAN;
  const double error = number_in(json, "errors", "l2");
  cJSON_Delete(json);
  return error;
}

static void fits_have_lames_solution(void **state) {
  (void)state;
  for (int shaft = 0; shaft < 2; shaft++)
    for (int degree = 1; degree <= 4; degree++) {
      double error[2];
      for (int i = 0; i < 2; i++) {
        write_fit(2, degree, i ? "refine: 3, geometry_degree: 4" : "refine: 2, geometry_degree: 4", shaft, "");
        error[i] = error_of("");
        if (isnan(error[i])) return;
      }
      const double order = log2(error[0] / error[1]);
      if (!(order > degree + 0.8))
        fail_msg("degree %d: order %g (%g, %g)", degree, order, error[0], error[1]);
    }
  for (int shaft = 0; shaft < 2; shaft++) { /* hanging nodes on one of them */
    write_fit(3, 2,
              shaft ? "refine: 0, refine_where: \"x + y + z\", geometry_degree: 3" : "geometry_degree: 4",
              shaft, "");
    const double error = error_of(shaft ? "--device emulator" : "");
    const double given = error_of(shaft ? "--set \"boundary.outer={displacement: exact}\""
                                        : "--set \"boundary.inner={displacement: exact}\"");
    if (!(error < 1.5 * given)) fail_msg("spheres: %g, with given displacements %g", error, given);
  }
}

static void by_all_solvers(void **state) {
  static const char *const options[] = {"--device emulator", "--set solver.coarse=aggregation",
                                        "--set solver.method=direct", "--set solver.method=gmres",
                                        "--set \"adapt={steps: 1}\""};
  (void)state;
  write_fit(2, 2, "refine: 2, geometry_degree: 4", false, "");
  const double error = error_of("");
  for (size_t i = 0; i < sizeof options / sizeof *options && !isnan(error); i++)
    if (!(error_of(options[i]) <= 1.01 * error))
      fail_msg("%s: %g, not %g", options[i], error_of(options[i]), error);
}

/* So light that inertia does not count: at its end the fit is that of rest. */
static void in_time(void **state) {
  (void)state;
  write_fit(2, 3, "refine: 1, geometry_degree: 4", false, "output: {values: {u: {point: [1, 0], of: u}}}\n");
  cJSON *json = solve("");
  if (!json) return;
  const double u = number_in(json, "values", "u");
  cJSON_Delete(json);
  assert_near(u, 0.01 * 3.5 / 5.5, 1e-6);
  for (int i = 0; i < 2; i++) {
    char options[400];
    snprintf(options, sizeof options,
             "--set data.exact=null --set data.density=1e-3 --set \"boundary.inner={radial: d*t}\" --set "
             "\"time={end: "
             "1, step: 0.25, method: backward_euler}\" --set solver.tolerance=1e-8%s",
             i ? " --device emulator" : "");
    json = solve(options);
    assert_near(number_in(json, "values", "u"), u, 1e-5 * u);
    cJSON_Delete(json);
  }
}

/* A sector that swells and moves aside: no tangential stress on any face. */
static void by_the_place(void **state) {
  (void)state;
  write_file(
      "a.yaml",
      "problem: elasticity\nmesh: {box: {cells: [4, 4], upper: [1, 1]}, map: [(1 + x)*cos(1.2*y + 0.4), "
      "(1 + x)*sin(1.2*y + 0.4)], geometry_degree: 4}\nspace: {degree: 3}\n"
      "constants: {E: 200, nu: 0.3, l: E*nu/((1+nu)*(1-2*nu)), m: E/(2*(1+nu)), d: 0.01, A: d/(2*(l + m)), "
      "g: 0.3}\n"
      "data: {young: E, poisson: nu, exact: [\"A*x + g\", \"A*y\"]}\n"
      "boundary: {left: {radial: \"-(A*x + g)*nx - A*y*ny\"}, right: {radial: \"(A*x + g)*nx + A*y*ny\"}, "
      "top: "
      "{traction: [d*nx, d*ny]}, bottom: {displacement: exact}}\nsolver: {tolerance: 1e-11}\n");
  const double error = error_of("");
  if (!isnan(error)) assert_near(error, 0, 1e-6);
}

/* Gmsh's tetrahedra of the second order, 8 round: the bore widens by what it is told, on the mean and at points. */
static void in_a_file(void **state) {
  (void)state;
  write_file("a.yaml",
             "problem: elasticity\nmesh: {file: \"" TESI_SOURCE_DIR
             "/tests/data/kinks-bore-2.msh\", split: true}\n"
             "space: {degree: 2}\ndata: {young: 200, poisson: 0}\n"
             "boundary: {all: {traction: [0, 0, 0]}, bore: {radial: 0.01}}\n"
             "output: {values: {at: {point: [1, 0, 0.25], of: u}, out: {point: [0, 1.5, 0.25], of: v}, area: "
             "{integral: "
             "bore, of: 1}, sum: {integral: bore, of: (u*x + v*y)/sqrt(x*x + y*y)}}}\n");
  cJSON *json = solve("");
  if (!json) return;
  assert_near(number_in(json, "values", "at"), 0.01, 1e-5);
  assert_near(number_in(json, "values", "sum") / number_in(json, "values", "area"), 0.01, 2e-5);
  /* nu = 0: plane stress and strain are one, u_r(b) = 2 a b d / (a a + b b) */
  assert_near(number_in(json, "values", "out"), 0.01 * 3 / 3.25, 1e-4);
  cJSON_Delete(json);
}

static void what_is_refused(void **state) {
  static const struct {
    const char *set, *message;
  } cases[] = {{"--set \"boundary={left: {radial: 0.1}}\"",
                "boundary.left: a radial displacement is along the radius of "
                "a bore or a shaft; these faces are plane"},
               {"--set \"boundary={left: {radial: 0.1}}\" --set \"mesh.map=[x + 0.3*y, y - 0.3*x]\"",
                "boundary.left: a radial displacement is along the radius of a bore or a shaft; these faces "
                "are plane"},
               {"--set \"boundary={left: {radial: [1, 0]}}\"", "boundary.left.radial: expected"}};
  (void)state;
  write_file("a.yaml", "problem: elasticity\nmesh: {box: {cells: [4, 4]}}\ndata: {young: 1, poisson: 0.3}\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[300];
    snprintf(command, sizeof command, "solve a.yaml --quiet %s", cases[i].set);
    const int code = run(command);
    if (code == 3) return;
    if (code != 2 || !strstr(output, cases[i].message))
      fail_msg("exit %d, %s: %s", code, cases[i].set, output);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fits_have_lames_solution),
                                     cmocka_unit_test(by_all_solvers),
                                     cmocka_unit_test(in_time),
                                     cmocka_unit_test(by_the_place),
                                     cmocka_unit_test(in_a_file),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
