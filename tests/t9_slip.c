/* Run: ctest -R t9_slip$. Supports along normals in any direction: bodies that are turned have the solution and the
 * iterations of the same bodies along the axes, by all coarse solvers, methods and devices; bores and spheres with
 * radial support have Lame's solution with order k + 1; what turns freely is found and must balance; reactions sum up
 * to loads; given components beside a roller; bodies in time; estimates; refusals. */
#include <math.h>
#include "program_testing.h"

typedef struct Result {
  cJSON *json;
} Result;

static double number(const Result *r, const char *group, const char *name) {
  const cJSON *at = group ? cJSON_GetObjectItem(r->json, group) : r->json,
              *item = cJSON_GetObjectItem(at, name);
  return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* False: the build has no forests, or a library is missing. */
static bool solve(const char *options, Result *r) {
  char command[900];
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options);
  const int code = run(command);
  if (code == 3) return false;
  if (code) fail_msg("exit %d for %s\n%s", code, options, output);
  r->json = read_json("a.json");
  return true;
}

static void forget(Result *r) {
  cJSON_Delete(r->json);
}

/* ---- turned bodies ------------------------------------------------------------------------------------- */

/* A bar between two rollers and a clamped side, turned about z; in 2D without the clamped side, between three. */
static void write_bar(int dim, int degree, double angle, const char *more) {
  const double c = cos(angle), s = sin(angle), pull[2] = {0.3, 0.2}, at[2] = {2, 0.5};
  char text[2400], side[200], end[100];
  snprintf(side, sizeof side, "[%.17g, %.17g%s]", c * pull[0] - s * pull[1], s * pull[0] + c * pull[1],
           dim == 3 ? ", -1" : "");
  snprintf(end, sizeof end, "[%.17g, %.17g%s]", c * at[0] - s * at[1], s * at[0] + c * at[1],
           dim == 3 ? ", 0.5" : "");
  snprintf(
      text, sizeof text,
      "problem: elasticity\n"
      "mesh: {box: {cells: %s, upper: %s}, map: [\"%.17g*x - (%.17g)*y\", \"%.17g*x + (%.17g)*y\"%s]%s}\n"
      "space: {degree: %d}\n"
      "data: {young: 1000, poisson: 0.3}\n"
      "boundary: {all: {traction: %s}, left: roller, bottom: symmetry%s, right: {traction: %s}}\n"
      "solver: {tolerance: 1e-12}\n"
      "output: {values: {u: {point: %s, of: u}, v: {point: %s, of: v}%s, energy: {integral: domain, of: "
      "strain_energy}, lx: {force: left, of: x}, ly: {force: left, of: y}, bx: {force: bottom, of: x}, by: "
      "{force: bottom, of: y}%s}}\n",
      dim == 3 ? "[8, 4, 4]" : "[16, 8]", dim == 3 ? "[2, 1, 1]" : "[2, 1]", c, s, s, c, dim == 3 ? ", z" : "",
      more, degree, dim == 3 ? "[0, 0, 0]" : "[0, 0]", dim == 3 ? ", back: {displacement: [0, 0, 0]}" : "",
      side, end, end, dim == 3 ? ", w: {point: [0, 0, 0.5], of: w}" : "",
      dim == 3 ? ", kx: {force: back, of: x}, ky: {force: back, of: y}, kz: {force: back, of: z}" : "");
  write_file("a.yaml", text);
}

typedef struct Bar {
  double along, across, energy, sum[2], iterations;
} Bar;

static bool solve_bar(int dim, int degree, double angle, const char *more, const char *options, Bar *b) {
  const double c = cos(angle), s = sin(angle);
  Result r;
  write_bar(dim, degree, angle, more);
  if (!solve(options, &r)) return false;
  const double u = number(&r, "values", "u"), v = number(&r, "values", "v"),
               x = number(&r, "values", "lx") + number(&r, "values", "bx") +
                   (dim == 3 ? number(&r, "values", "kx") : 0),
               y = number(&r, "values", "ly") + number(&r, "values", "by") +
                   (dim == 3 ? number(&r, "values", "ky") : 0);
  *b = (Bar){c * u + s * v,
             c * v - s * u,
             number(&r, "values", "energy"),
             {c * x + s * y, c * y - s * x},
             number(&r, NULL, "iterations")};
  forget(&r);
  return true;
}

static void compare_bars(int dim, int degree, const char *more, const char *options) {
  Bar straight, turned;
  if (!solve_bar(dim, degree, 0, more, options, &straight)) return;
  for (int i = 0; i < 2; i++) {
    const double angle = i ? -1.1 : 0.3;
    if (i && strstr(options, "emulator")) break;
    assert_true(solve_bar(dim, degree, angle, more, options, &turned));
    assert_near(turned.along, straight.along, 1e-10 * fabs(straight.along));
    assert_near(turned.across, straight.across, 1e-10 * fabs(straight.across));
    assert_near(turned.energy, straight.energy, 1e-10 * straight.energy);
    for (int d = 0; d < 2; d++) assert_near(turned.sum[d], -(d ? 0.2 : 0.3), 1e-10);
    if (!(fabs(turned.iterations - straight.iterations) <= 2))
      fail_msg("%dD, degree %d, %s: %g iterations, along the axes %g", dim, degree, options,
               turned.iterations, straight.iterations);
  }
}

static void turned_bodies_are_the_same(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 3; degree++) compare_bars(dim, degree, "", "");
  compare_bars(2, 4, ", refine_where: \"1 - x*x - y*y\", refine_times: 2", "");
  compare_bars(3, 1, ", refine: 1", "");
}

static void turned_bodies_by_other_solvers(void **state) {
  static const char *const options[] = {"--set solver.coarse=aggregation", "--set solver.coarse=direct",
                                        "--set solver.coarse=cg",          "--set solver.coarse=sparse",
                                        "--set solver.method=direct",      "--set solver.method=gmres",
                                        "--set solver.smoother=jacobi",    "--set solver.precision=double"};
  (void)state;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) compare_bars(3, 2, "", options[i]);
}

static void turned_bodies_on_devices(void **state) {
  (void)state;
  compare_bars(2, 2, "", "--device emulator");
  compare_bars(2, 1, ", refine: 1", "--device emulator --set solver.coarse=aggregation");
}

/* ---- curved faces -------------------------------------------------------------------------------------- */

/* u_r = A (r - a^d / r^(d-1)), held at r = a = 1/2, pressed with 1 at r = 1 (Lame). */
static void write_shell(int dim, int degree, const char *mesh, const char *support) {
  char text[1600];
  static const char *const factor[2] = {"A*(1 - a*a/(x*x + y*y))", "A*(1 - a*a*a/pow(x*x + y*y + z*z, 1.5))"};
  const char *f = factor[dim - 2];
  snprintf(text, sizeof text,
           "problem: elasticity\nmesh: {shell: {dim: %d}, %s}\nspace: {degree: %d}\n"
           "constants: {E: 200, nu: 0.3, l: E*nu/((1+nu)*(1-2*nu)), m: E/(2*(1+nu)), a: 0.5, A: %s}\n"
           "data: {young: E, poisson: nu, exact: [\"%s*x\", \"%s*y\"%s%s%s]}\n"
           "boundary: {inner: %s, outer: {pressure: 1}}\nsolver: {tolerance: 1e-11}\n",
           dim, mesh, degree, dim == 2 ? "-1/(2*(l+m) + 2*m*a*a)" : "-1/(3*l + 2*m + 4*m*a*a*a)", f, f,
           dim == 3 ? ", \"" : "", dim == 3 ? f : "", dim == 3 ? "*z\"" : "", support);
  write_file("a.yaml", text);
}

static void bores_have_lames_solution(void **state) {
  static const char *const words[] = {"roller", "symmetry", "{radial: 0}"};
  (void)state;
  for (int degree = 1; degree <= 4; degree++) {
    double error[2], iterations[2];
    for (int i = 0; i < 2; i++) {
      char mesh[60];
      Result r;
      snprintf(mesh, sizeof mesh, "refine: %d, geometry_degree: 4", i + 2);
      write_shell(2, degree, mesh, words[degree % 3]);
      if (!solve("", &r)) return;
      error[i] = number(&r, "errors", "l2"), iterations[i] = number(&r, NULL, "iterations");
      forget(&r);
      write_shell(2, degree, mesh, "{displacement: exact}");
      assert_true(solve("", &r));
      assert_near(iterations[i], number(&r, NULL, "iterations"), 2);
      forget(&r);
    }
    const double order = log2(error[0] / error[1]);
    if (!(order > degree + 0.8)) fail_msg("degree %d: order %g (%g, %g)", degree, order, error[0], error[1]);
  }
}

/* The sphere may turn about three axes, and hanging nodes are on it. */
static void spheres_have_lames_solution(void **state) {
  static const char *const meshes[] = {"refine: 1", "refine: 1, geometry_degree: 4",
                                       "refine: 0, refine_where: \"x + y + z\", geometry_degree: 3"};
  static const double most[] = {4e-6, 3e-6, 3.5e-5};
  Result r;
  (void)state;
  for (int i = 0; i < 3; i++) {
    write_shell(3, 3, meshes[i], "roller");
    if (!solve(i == 2 ? "--device emulator --set space.degree=2" : "", &r)) return;
    assert_near(number(&r, "errors", "l2"), 0, i == 2 ? 2e-4 : most[i]);
    forget(&r);
  }
}

/* A ring on its bore: forces go into the bore, a moment turns it. */
static void rings_turn_freely(void **state) {
  Result r;
  (void)state;
  write_file("a.yaml",
             "problem: elasticity\nmesh: {shell: {dim: 2}, refine: 2}\nspace: {degree: 3}\n"
             "data: {young: 200, poisson: 0.3}\nboundary: {inner: {radial: 0}, outer: {traction: [1, 0.3]}}\n"
             "output: {values: {x: {force: inner, of: x}, y: {force: inner, of: y}, n: {integral: inner, of: "
             "(u*nx + v*ny)*(u*nx + v*ny)}, turn: {integral: domain, of: x*v - y*u}}}\nsolver: {tolerance: "
             "1e-11}\n");
  if (!solve("", &r)) return;
  const double pi = 3.14159265358979323846;
  assert_near(number(&r, "values", "x"), -2 * pi, 1e-5); /* what is round is so to the degree of the cells */
  assert_near(number(&r, "values", "y"), -0.6 * pi, 1e-5);
  assert_near(number(&r, "values", "n"), 0, 1e-11); /* between nodes: of order k + 1 */
  assert_near(number(&r, "values", "turn"), 0, 1e-6);
  forget(&r);
  assert_run("solve a.yaml --quiet --set boundary.outer.traction=[-y,x]", 2);
  assert_non_null(
      strstr(output, "boundary: 1 rigid motion is held by no boundary, and the loads do not balance there"));
  assert_run("solve a.yaml --quiet --set boundary.outer=null --set boundary.all={traction:[-y,x]}", 2);
  /* cells that are not alike leave a moment, as small as their faces are round */
  assert_run("solve a.yaml --set mesh.refine=1 --set \"mesh.refine_where=0.3 - (x - 0.5)*(x - 0.5) - y*y\"",
             0);
  assert_non_null(strstr(output, "in a rigid motion along faces with slip; it is left out"));
  /* springs hold it */
  assert_true(solve("--set \"boundary.outer={robin: {alpha: 3, g: [-y, x]}}\"", &r));
  assert_near(number(&r, "values", "x"), 0, 1e-6);
  forget(&r);
}

/* ---- edges, given components, time, estimates ---------------------------------------------------------- */

/* Uniform strain without shear, moved along the roller: a component of it is given on the left. */
static void given_components_beside_a_roller(void **state) {
  static const char *const options[] = {"", "--device emulator", "--set mesh.refine=2"};
  Result r;
  (void)state;
#define ALONG "(0.1*(0.8*x + 0.6*y) + 0.25)"
#define ACROSS "0.3*(0.8*y - 0.6*x)"
  write_file(
      "a.yaml",
      "problem: elasticity\n"
      "mesh: {box: {cells: [4, 4], upper: [1, 1]}, map: [\"0.8*x - 0.6*y\", \"0.6*x + 0.8*y\"]}\n"
      "space: {degree: 2}\n"
      "data: {lambda: 1, mu: 1, exact: [\"0.8*" ALONG " + 0.6*" ACROSS "\", \"0.6*" ALONG " - 0.8*" ACROSS
      "\"]}\n"
      "boundary: {bottom: roller, left: {displacement: [\"0.8*" ALONG " + 0.6*" ACROSS
      "\", null]}, top: {displacement: exact}, right: {displacement: exact}}\nsolver: {tolerance: 1e-12}\n");
  for (int i = 0; i < 3; i++) {
    if (!solve(options[i], &r)) return;
    assert_near(number(&r, "errors", "l2"), 0, 1e-11);
    forget(&r);
  }
}

static void bodies_move_along(void **state) {
  Result r;
  double u, x;
  (void)state;
  write_file(
      "a.yaml",
      "problem: elasticity\nmesh: {shell: {dim: 2}, refine: 1}\nspace: {degree: 2}\n"
      "data: {young: 200, poisson: 0.3, density: 1}\n"
      "boundary: {inner: roller, outer: {traction: [sin(t), 0.3]}}\ntime: {end: 0.1, step: 0.02}\n"
      "solver: {tolerance: 1e-11}\noutput: {values: {u: {point: [1, 0], of: u}, x: {force: inner, of: x}, n: "
      "{integral: inner, of: (u*nx + v*ny)*(u*nx + v*ny)}}}\n");
  if (!solve("", &r)) return;
  u = number(&r, "values", "u"), x = number(&r, "values", "x");
  assert_true(u > 1e-5 && x < -1e-3);
  assert_near(number(&r, "values", "n"), 0, 1e-10);
  forget(&r);
  assert_true(solve("--device emulator", &r));
  assert_near(number(&r, "values", "u"), u, 1e-9 * u);
  assert_near(number(&r, "values", "x"), x, 1e-9 * fabs(x));
  forget(&r);
}

/* A sector of a thick ring between planes of symmetry that no axis is normal to. */
static void estimates_know_slip(void **state) {
  Result r;
  (void)state;
  write_file(
      "a.yaml",
      "problem: elasticity\n"
      "mesh: {box: {cells: [4, 4], upper: [1, 1]}, map: [(1+x)*cos(1.2*y+0.4), (1+x)*sin(1.2*y+0.4)], "
      "geometry_degree: 4}\n"
      "space: {degree: 2}\n"
      "constants: {E: 200, nu: 0.3, l: E*nu/((1+nu)*(1-2*nu)), m: E/(2*(1+nu)), A: -1/(2*(l+m) + m/2)}\n"
      "data: {young: E, poisson: nu, exact: [\"A*(1 - 1/(x*x + y*y))*x\", \"A*(1 - 1/(x*x + y*y))*y\"]}\n"
      "boundary: {left: {radial: 0}, top: symmetry, bottom: symmetry, right: {pressure: 1}}\n"
      "adapt: {steps: 3}\nsolver: {tolerance: 1e-11}\n");
  if (!solve("", &r)) return;
  const cJSON *steps = cJSON_GetObjectItem(r.json, "steps");
  for (int i = 0; i < cJSON_GetArraySize(steps); i++) {
    const cJSON *step = cJSON_GetArrayItem(steps, i);
    const double ratio = cJSON_GetObjectItem(step, "effectivity")->valuedouble;
    if (!(ratio > 1.5 && ratio < 4)) fail_msg("step %d: effectivity %g", i, ratio);
  }
  assert_near(number(&r, "errors", "l2"), 0, 1e-6);
  forget(&r);
}

static void what_is_refused(void **state) {
  static const struct {
    const char *set, *message;
  } cases[] = {{"boundary.inner=slip",
                "boundary.inner: elasticity has robin, pressure, displacement, traction, roller, "
                "force, symmetry and radial; slip belongs to stokes and navier_stokes"},
               {"boundary.inner={roller: 2}", "boundary.inner.roller: expected true, got '2'"}};
  (void)state;
  write_shell(2, 2, "refine: 1", "roller");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[300];
    snprintf(command, sizeof command, "solve a.yaml --quiet --set \"%s\"", cases[i].set);
    assert_run(command, 2);
    if (!strstr(output, cases[i].message)) fail_msg("%s: %s", cases[i].set, output);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turned_bodies_are_the_same),
                                     cmocka_unit_test(turned_bodies_by_other_solvers),
                                     cmocka_unit_test(turned_bodies_on_devices),
                                     cmocka_unit_test(bores_have_lames_solution),
                                     cmocka_unit_test(spheres_have_lames_solution),
                                     cmocka_unit_test(rings_turn_freely),
                                     cmocka_unit_test(given_components_beside_a_roller),
                                     cmocka_unit_test(bodies_move_along),
                                     cmocka_unit_test(estimates_know_slip),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
