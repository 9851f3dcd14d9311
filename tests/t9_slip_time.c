/* Run: ctest -R t9_slip_time. Flows in time with slip in any direction, element q: a channel that is turned has the
 * values and iterations of the same channel along the axes, in both forms, on the processor and by kernels, on meshes
 * that change; a vortex that dies between a cylinder at rest and one with slip has Bessel's functions with order 2 in
 * time and k + 1 in space, by kernels and after restarts; cells that come and go along the slip; fluid that turns as a
 * body goes on between two cylinders with slip; the end of a slow flow is that of the steady equations. */
#include <math.h>
#include "program_testing.h"

/* NULL: the build has no forests. */
static cJSON *solve(const char *options) {
  char command[900];
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options);
  const int code = run(command);
  if (code && code != 3) fail_msg("exit %d for %s\n%s", code, options, output);
  return code ? NULL : read_json("a.json");
}

/* ---- planes -------------------------------------------------------------------------------------------- */

static void write_channel(double angle) {
  const double c = cos(angle), s = sin(angle);
  char text[1800];
  snprintf(text, sizeof text,
           "problem: navier_stokes\nconstants: {c: %.17g, q: %.17g}\n"
           "mesh: {box: {cells: [8, 4], upper: [2, 1]}, map: [\"c*x - q*y\", \"q*x + c*y\"], kind: forest}\n"
           "space: {degree: 3}\ndata: {nu: 0.05}\n"
           "boundary: {left: {velocity: [\"c*(1 + 0.5*sin(3*(c*y - q*x)))*2*t\", \"q*(1 + 0.5*sin(3*(c*y - "
           "q*x)))*2*t\"]}, top: slip, bottom: symmetry, right: outflow}\n"
           "time: {end: 0.2, step: 0.02}\nsolver: {tolerance: 1e-10}\n"
           "output: {values: {out: {integral: right, of: u*nx + v*ny}, square: {integral: domain, of: ux*ux "
           "+ uy*uy + "
           "vx*vx + vy*vy}, p: {integral: domain, of: p*p}, u: {point: [\"%.17g\", \"%.17g\"], of: c*u + "
           "q*v}, fx: "
           "{force: top, of: x}, fy: {force: top, of: y}, through: {integral: top, of: abs(u*nx + v*ny)}}}\n",
           c, s, c - 0.3 * s, s + 0.3 * c);
  write_file("a.yaml", text);
}

static void turned_channels_are_the_same(void **state) {
  static const char *const options[] = {
      "", "--set data.form=symmetric", "--device emulator --set time.end=0.04",
      "--set space.stabilization=grad_div", "--set \"adapt={every: 4, max_level: 1}\""};
  static const char *const names[] = {"out", "square", "p", "u"};
  (void)state;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    double values[2][5], iterations[2];
    for (int turned = 0; turned < 2; turned++) {
      const double angle = turned ? 0.3 : 0;
      write_channel(angle);
      cJSON *json = solve(options[i]);
      if (!json) return;
      for (int k = 0; k < 4; k++) values[turned][k] = number_in(json, "values", names[k]);
      values[turned][4] =
          cos(angle) * number_in(json, "values", "fy") - sin(angle) * number_in(json, "values", "fx");
      iterations[turned] = number_in(json, NULL, "iterations");
      assert_near(number_in(json, "values", "through"), 0, 1e-12);
      cJSON_Delete(json);
    }
    for (int k = 0; k < 5; k++) {
      if (!(fabs(values[1][k] - values[0][k]) <= 1e-8 * fabs(values[0][k])))
        fail_msg("%s: %s is %.15g, along the axes %.15g", options[i], k < 4 ? names[k] : "force",
                 values[1][k], values[0][k]);
    }
    assert_near(iterations[1], iterations[0], 3);
  }
}

/* ---- cylinders ----------------------------------------------------------------------------------------- */

/* Z(r) = J_1(l r) Y_1(l / 2) - Y_1(l r) J_1(l / 2), at rest at r = 1/2 and without stress at 1: there Z_2(l) = 0. */
static double stress_of(double l) {
  return jn(2, l) * y1(l / 2) - yn(2, l) * j1(l / 2);
}

/* z.csv, p.csv: Z and int Z^2 / r, Simpson. Returns l. */
static double write_tables(void) {
  double low = 1.5, high = 2.5, p = 0;
  for (int i = 0; i < 80; i++) {
    const double middle = (low + high) / 2;
    *((stress_of(middle) > 0) == (stress_of(low) > 0) ? &low : &high) = middle;
  }
  FILE *z = fopen("z.csv", "w"), *of_p = fopen("p.csv", "w");
  const double h = 0.7 / 2000;
  double old = 0;
  for (int i = 0; i <= 4000; i++) {
    const double r = 0.4 + h * i / 2, Z = j1(low * r) * y1(low / 2) - y1(low * r) * j1(low / 2);
    const double now = Z * Z / r, b = r - h / 4, M = j1(low * b) * y1(low / 2) - y1(low * b) * j1(low / 2);
    if (i) p += h / 12 * (old + 4 * M * M / b + now);
    old = now;
    fprintf(z, "%.17g,%.17g\n", r, Z);
    fprintf(of_p, "%.17g,%.17g\n", r, p);
  }
  fclose(z), fclose(of_p);
  return low;
}

static void write_cylinders(const char *mesh, int degree, double l) {
  char text[1500];
  snprintf(text, sizeof text,
           "problem: navier_stokes\nconstants: {k: %.17g}\n"
           "tables: {Z: {file: z.csv, interpolation: cubic}, P: {file: p.csv, interpolation: cubic}}\n"
           "mesh: {shell: {dim: 2}, geometry_degree: 4, %s}\nspace: {degree: %d}\n"
           "data: {nu: 0.1, exact: {velocity: [\"-y/r*Z(r)*exp(-k*t)\", \"x/r*Z(r)*exp(-k*t)\"], pressure: "
           "\"P(r)*exp(-2*k*t)\"}}\n"
           "boundary: {inner: {velocity: [0, 0]}, outer: slip}\ntime: {end: 0.4, step: 0.02}\n"
           "solver: {tolerance: 1e-8}\n",
           0.1 * l * l, mesh, degree);
  write_file("a.yaml", text);
}

/* errors[2] of velocity and pressure; false: no forests. */
static bool find_errors(const char *options, double errors[2]) {
  cJSON *json = solve(options);
  if (!json) return false;
  errors[0] = number_in(json, "errors", "velocity_l2"), errors[1] = number_in(json, "errors", "pressure_l2");
  cJSON_Delete(json);
  return true;
}

static void a_vortex_dies_as_bessel_has_it(void **state) {
  const double l = write_tables();
  double coarse[2], fine[2], other[2];
  (void)state;
  write_cylinders("refine: 2", 4, l);
  if (!find_errors("", coarse)) return;
  find_errors("--set time.step=0.01", fine);
  if (!(log2(coarse[0] / fine[0]) > 1.7)) fail_msg("in time: %g, %g", coarse[0], fine[0]);
  find_errors("--set time.end=0.02 --set time.step=0.01 --set mesh.refine=1", coarse);
  find_errors("--set time.end=0.02 --set time.step=0.01 --set mesh.refine=1 --device emulator", other);
  for (int i = 0; i < 2; i++) assert_near(other[i], coarse[i], 1e-6 * coarse[i]);
  for (int degree = 2; degree <= 3; degree++) {
    write_cylinders("refine: 1", degree, l);
    find_errors("--set time.end=0.05 --set time.step=0.0025", coarse);
    find_errors("--set time.end=0.05 --set time.step=0.0025 --set mesh.refine=2", fine);
    if (!(log2(coarse[0] / fine[0]) > degree + 0.5))
      fail_msg("degree %d: %g, %g", degree, coarse[0], fine[0]);
  }
}

static void the_vortex_is_carried_on(void **state) {
  const double l = write_tables();
  double whole[2], parts[2];
  (void)state;
  write_cylinders("refine: 1", 3, l);
  if (!find_errors("--deterministic", whole)) return;
  find_errors("--deterministic --set time.end=0.2 --set output.checkpoint=c.h5", parts);
  find_errors("--deterministic --restart c.h5", parts);
  for (int i = 0; i < 2; i++) assert_true(parts[i] == whole[i]);
  /* cells of two sizes along the slip */
  write_cylinders("refine: 1, refine_where: x - 0.3", 3, l);
  find_errors("", parts);
  for (int i = 0; i < 2; i++) assert_true(parts[i] < 1.5 * whole[i]);
}

/* Stirred along the slip by what moves: cells come and go there. */
static void meshes_follow_along_the_slip(void **state) {
  static const char *const options[] = {"--set mesh.refine=3",
                                        "--set \"adapt={every: 5, max_level: 2, fraction: 0.5}\""};
  double e[2], p[2];
  (void)state;
#define NEAR "exp(-40*(pow(x - 0.9*cos(3*t), 2) + pow(y - 0.9*sin(3*t), 2)))"
  write_file("a.yaml",
             "problem: navier_stokes\nmesh: {shell: {dim: 2}, refine: 1, geometry_degree: 4}\n"
             "space: {degree: 3}\ndata: {nu: 0.02, f: [\"-20*y*" NEAR "\", \"20*x*" NEAR "\"]}\n"
             "boundary: {inner: {velocity: [0, 0]}, outer: slip}\ntime: {end: 0.2, step: 0.01}\n"
             "output: {values: {e: {integral: domain, of: u*u + v*v}, p: {integral: domain, of: p*p}, "
             "through: {integral: outer, of: abs(u*nx + v*ny)}}}\n");
  for (int i = 0; i < 2; i++) {
    cJSON *json = solve(options[i]);
    if (!json) return;
    e[i] = number_in(json, "values", "e"), p[i] = number_in(json, "values", "p");
    assert_true(number_in(json, "values", "through") < 1e-3 * sqrt(e[i]));
    const cJSON *changes = cJSON_GetObjectItem(json, "remeshes");
    if (i) assert_true(cJSON_GetArraySize(changes) > 2);
    for (int k = 1; k < cJSON_GetArraySize(changes); k++)
      assert_true(number_in(cJSON_GetArrayItem(changes, k), NULL, "divergence_removed") < 0.2);
    cJSON_Delete(json);
  }
  assert_near(e[1], e[0], 1e-3 * e[0]);
  assert_near(p[1], p[0], 1e-3 * p[0]);
}

/* Between two cylinders with slip nothing brakes what turns as a body. */
static void a_body_of_fluid_turns_on(void **state) {
  static const char *const options[] = {"", "--device emulator --set time.end=0.1",
                                        "--set mesh.geometry_degree=2"};
  (void)state;
  write_file("a.yaml",
             "problem: navier_stokes\nmesh: {shell: {dim: 2}, refine: 1, geometry_degree: 4}\n"
             "space: {degree: 3}\ndata: {nu: 0.1, exact: {velocity: [-y, x], pressure: (x*x + y*y)/2}}\n"
             "boundary: {inner: slip, outer: slip}\ntime: {end: 1, step: 0.05}\n"
             "output: {values: {spin: {integral: domain, of: x*v - y*u}, spin0: {integral: domain, of: "
             "x*x + y*y}}}\nsolver: {tolerance: 1e-9}\n");
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    cJSON *json = solve(options[i]);
    if (!json) return;
    const double spin = number_in(json, "values", "spin0");
    assert_near(number_in(json, "values", "spin"), spin, (i == 2 ? 1e-3 : 1e-5) * spin);
    assert_near(number_in(json, "errors", "velocity_l2"), 0, i == 2 ? 5e-3 : 2e-4);
    cJSON_Delete(json);
  }
}

static void slow_flows_end_as_steady_ones(void **state) {
  static const char *const names[] = {"e", "p", "fx"};
  double values[2][3];
  (void)state;
  write_file("a.yaml",
             "problem: navier_stokes\nmesh: {shell: {dim: 2}, refine: 1, geometry_degree: 4}\n"
             "space: {degree: 3}\ndata: {nu: 1, f: [1e-5*(x*x*y + y + 1), -1e-5*x*x]}\n"
             "boundary: {inner: slip, outer: {velocity: [0, 0]}}\n"
             "time: {end: 4, step: 0.1, steady: 1e-8}\nsolver: {tolerance: 1e-9}\n"
             "output: {values: {e: {integral: domain, of: 1e10*(u*u + v*v)}, p: {integral: domain, of: "
             "1e10*p*p}, fx: {force: inner, of: x}}}\n");
  for (int steady = 0; steady < 2; steady++) {
    cJSON *json = solve(steady ? "--set problem=stokes --set space.element=q --set time=null" : "");
    if (!json) return;
    for (int k = 0; k < 3; k++) values[steady][k] = number_in(json, "values", names[k]);
    cJSON_Delete(json);
  }
  for (int k = 0; k < 3; k++) assert_near(values[0][k], values[1][k], 2e-6 * fabs(values[1][k]));
}

static void what_is_refused(void **state) {
  (void)state;
  write_file("a.yaml", "problem: navier_stokes\nmesh: {shell: {dim: 2}}\nspace: {degree: 3}\n"
                       "data: {nu: 1, form: gradient}\nboundary: {inner: slip, outer: {velocity: [0, 0]}}\n"
                       "time: {end: 1, step: 0.1}\n");
  const int code = run("solve a.yaml --quiet");
  if (code == 3) return;
  assert_int_equal(code, 2);
  assert_non_null(strstr(output, "boundary.inner: slip on curved faces has no tangential stress in the "
                                 "symmetric form alone: give data.form: symmetric, or leave it out"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turned_channels_are_the_same),
                                     cmocka_unit_test(a_vortex_dies_as_bessel_has_it),
                                     cmocka_unit_test(the_vortex_is_carried_on),
                                     cmocka_unit_test(meshes_follow_along_the_slip),
                                     cmocka_unit_test(a_body_of_fluid_turns_on),
                                     cmocka_unit_test(slow_flows_end_as_steady_ones),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
