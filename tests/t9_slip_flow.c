/* Run: ctest -R t9_slip_flow. Stokes flow with slip in any direction: a channel that is turned has the values and the
 * iterations of the same channel along the axes, in both forms, on the processor and by kernels; a flow in a ring with
 * slip on both circles has its solution with order k + 1; in a shell with slip inside and outside fluid turns freely,
 * forces are in balance, and a moment is refused; flows between curved walls converge; refusals. */
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

static void write_channel(double angle, const char *form) {
  const double c = cos(angle), s = sin(angle);
  char text[1600];
  snprintf(
      text, sizeof text,
      "problem: stokes\n"
      "mesh: {box: {cells: [8, 4], upper: [2, 1]}, map: [\"%.17g*x - (%.17g)*y\", \"%.17g*x + (%.17g)*y\"]}\n"
      "space: {degree: 3, element: q}\n"
      "data: {nu: 0.5, form: %s}\n"
      "boundary: {left: {velocity: [\"%.17g*(1 + %.17g*y - (%.17g)*x)\", \"%.17g*(1 + %.17g*y - "
      "(%.17g)*x)\"]}, "
      "top: slip, bottom: symmetry, right: outflow}\n"
      "output: {values: {out: {integral: right, of: u*nx + v*ny}, square: {integral: domain, of: ux*ux + "
      "uy*uy + "
      "vx*vx + vy*vy}, u: {point: [\"%.17g - (%.17g)*0.3\", \"%.17g + (%.17g)*0.3\"], of: u}, v: {point: "
      "[\"%.17g - (%.17g)*0.3\", \"%.17g + (%.17g)*0.3\"], of: v}, tx: {force: top, of: x}, ty: {force: top, "
      "of: "
      "y}, bx: {force: bottom, of: x}, by: {force: bottom, of: y}, lx: {force: left, of: x}, ly: {force: "
      "left, "
      "of: y}, rx: {force: right, of: x}, ry: {force: right, of: y}}}\nsolver: {tolerance: 1e-11}\n",
      c, s, s, c, form, c, c, s, s, c, s, c, s, s, c, c, s, s, c);
  write_file("a.yaml", text);
}

static void turned_channels_are_the_same(void **state) {
  static const char *const options[] = {"",
                                        "--set mesh.refine=1",
                                        "--device emulator",
                                        "--set solver.coarse=cg",
                                        "--set solver.method=direct",
                                        "--set data.alpha=3"};
  (void)state;
  for (int form = 0; form < 2; form++)
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
      double values[2][4], iterations[2];
      if (form && strstr(options[i], "emulator")) continue; /* the same kernels */
      for (int turned = 0; turned < 2; turned++) {
        const double angle = turned ? 0.3 : 0, c = cos(angle), s = sin(angle);
        write_channel(angle, form ? "symmetric" : "gradient");
        cJSON *json = solve(options[i]);
        if (!json) return;
        const double u = number_in(json, "values", "u"), v = number_in(json, "values", "v");
        const double now[4] = {number_in(json, "values", "out"), number_in(json, "values", "square"),
                               c * u + s * v, c * v - s * u};
        double sum[2] = {0};
        for (int b = 0; b < 4; b++)
          for (int d = 0; d < 2; d++) {
            const char name[3] = {"tblr"[b], "xy"[d], 0};
            sum[d] += number_in(json, "values", name);
          }
        if (i < 5) /* else alpha u is a force too */
          for (int d = 0; d < 2; d++) assert_near(sum[d], 0, 1e-8);
        memcpy(values[turned], now, sizeof now);
        iterations[turned] = number_in(json, NULL, "iterations");
        cJSON_Delete(json);
      }
      for (int k = 0; k < 4; k++) assert_near(values[1][k], values[0][k], 1e-8);
      assert_near(iterations[1], iterations[0], 2);
    }
}

/* ---- rings --------------------------------------------------------------------------------------------- */

/* psi = x / r sin(pi (r^2 - 1/4) 4/3), whose tangential stress is 0 at r = 1/2 and 1; with q = 4 pi / 3, s and c the
 * sine and cosine of q (r^2 - 1/4), u = d psi / dy and v = -d psi / dx; p = x y. -Lap psi = w, f = -Lap u + grad p =
 * (dw/dy + y, -dw/dx + x), w = x / r (4 q^2 r^2 s - 4 q c + s / r^2). */
static void write_ring(int degree, int refine, const char *boundary) {
  char text[3000];
#define R2 "(x*x + y*y)"
#define S "sin(q*(" R2 " - 0.25))"
#define C "cos(q*(" R2 " - 0.25))"
  /* w = x g(r^2), g(t) = (4 q^2 t s - 4 q c + s / t) / sqrt(t); dg = dg/dt */
#define G "((4*q*q*" R2 "*" S " - 4*q*" C " + " S "/" R2 ")/sqrt(" R2 "))"
#define DG                                                                                                   \
  "((8*q*q*" S " + 4*q*q*q*" R2 "*" C " + q*" C "/" R2 " - " S "/" R2 "/" R2 ")/sqrt(" R2 ") - 0.5*" G       \
  "/" R2 ")"
  snprintf(text, sizeof text,
           "problem: stokes\nconstants: {q: 4*pi/3}\n"
           "mesh: {shell: {dim: 2}, refine: %d, geometry_degree: 4}\nspace: {degree: %d, element: q}\n"
           "data:\n  f: [\"2*x*y*" DG " + y\", \"-(" G " + 2*x*x*" DG ") + x\"]\n"
           "  exact: {velocity: [\"x*y/sqrt(" R2 ")*(2*q*" C " - " S "/" R2 ")\", \"-(" S " + 2*q*x*x*" C
           " - x*x*" S "/" R2 ")/sqrt(" R2 ")\"], pressure: x*y}\n"
           "boundary: {%s}\nsolver: {tolerance: 1e-10}\n",
           refine, degree, boundary);
  write_file("a.yaml", text);
}

static void rings_have_their_order(void **state) {
  (void)state;
  for (int degree = 2; degree <= 4; degree++) {
    double error[2], iterations = 0;
    for (int i = 0; i < 2; i++) {
      write_ring(degree, i + 2, "inner: slip, outer: slip");
      cJSON *json = solve("");
      if (!json) return;
      error[i] = number_in(json, "errors", "l2"), iterations = number_in(json, NULL, "iterations");
      if (isnan(error[i])) error[i] = number_in(json, "errors", "velocity_l2");
      cJSON_Delete(json);
    }
    const double order = log2(error[0] / error[1]);
    if (!(order > degree + 0.7)) fail_msg("degree %d: order %g (%g, %g)", degree, order, error[0], error[1]);
    write_ring(degree, 3, "inner: {velocity: exact}, outer: {velocity: exact}");
    cJSON *json = solve("");
    assert_true(iterations <= number_in(json, NULL, "iterations") + 2);
    cJSON_Delete(json);
  }
  write_ring(3, 1, "inner: slip, outer: slip");
  cJSON *json = solve("");
  const double iterations = number_in(json, NULL, "iterations");
  cJSON_Delete(json);
  json = solve("--device emulator");
  assert_near(number_in(json, NULL, "iterations"), iterations, 1);
  cJSON_Delete(json);
}

/* ---- shells -------------------------------------------------------------------------------------------- */

static void shells_turn_freely(void **state) {
  (void)state;
  write_file("a.yaml",
             "problem: stokes\nmesh: {shell: {dim: 3}, refine: 1}\nspace: {degree: 2, element: q}\n"
             "data: {f: [x*z, y*z, z*z]}\nboundary: {inner: slip, outer: slip}\n"
             "output: {values: {load: {integral: domain, of: z*z}, iz: {force: inner, of: z}, oz: {force: "
             "outer, of: z}, "
             "ix: {force: inner, of: x}, ox: {force: outer, of: x}, x: {integral: domain, of: y*w - z*v}, y: "
             "{integral: "
             "domain, of: z*u - x*w}, z: {integral: domain, of: x*v - y*u}, size: {integral: domain, of: "
             "u*u + v*v + w*w}}}\n");
  cJSON *json = solve("");
  if (!json) return;
  const double load = number_in(json, "values", "load"), size = sqrt(number_in(json, "values", "size"));
  assert_true(size > 1e-4 && load > 0.1);
  assert_near(number_in(json, "values", "iz") + number_in(json, "values", "oz"), load, 1e-7);
  assert_near(number_in(json, "values", "ix") + number_in(json, "values", "ox"), 0, 1e-8);
  for (int d = 0; d < 3; d++)
    assert_near(number_in(json, "values", (const char[2]){"xyz"[d], 0}), 0, 1e-3 * size);
  cJSON_Delete(json);
  assert_run("solve a.yaml --quiet --set data.f=[-y,x,0]", 2);
  assert_non_null(strstr(output,
                         "boundary: 3 rigid motions are along faces with slip held by no boundary, and the "
                         "forces do not balance there"));
}

static void what_is_refused(void **state) {
  static const struct {
    const char *set, *message;
  } cases[] = {
      {"--set data.form=gradient", "boundary.inner: slip on curved faces has no tangential stress in the "
                                   "symmetric form alone"},
      {"--set solver.method=direct",
       "solver.method: direct has no fluid that turns freely along faces with slip"},
      {"--set solver.smoother=cell_patch", "solver.smoother: no smoother cell_patch for this operator"}};
  (void)state;
  write_ring(2, 2, "inner: slip, outer: slip");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[300];
    snprintf(command, sizeof command, "solve a.yaml --quiet %s", cases[i].set);
    const int code = run(command);
    if (code == 3) return;
    if (code != 2 || !strstr(output, cases[i].message))
      fail_msg("exit %d, %s: %s", code, cases[i].set, output);
  }
  write_channel(0.3, "gradient");
  assert_run("solve a.yaml --quiet --set \"boundary.left={pressure: 1}\"", 2);
  assert_non_null(strstr(output, "boundary: nothing fixes the velocity in the direction ("));
}

/* The divergence of a flow between curved faces has a part in constant pressures: by its quadrature, and by the flux of
 * velocities along a face through polynomial cells. Such solves stopped at residuals of 1e-8 to 1e-6. */
static void enclosed_flows_over_curved_cells_converge(void **state) {
  (void)state;
  static const char *const options[] = {"", "--set solver.method=direct", "--set boundary.inner=slip",
                                        "--set boundary.inner=slip --set mesh.geometry_degree=2"};
  write_file("a.yaml", "problem: stokes\n"
                       "mesh: {shell: {dim: 3}, refine: 1, geometry_degree: 3}\n"
                       "space: {element: q, degree: 2}\n"
                       "data: {nu: 1, f: [\"y*x*x\", \"-x\", \"z\"]}\n"
                       "boundary: {inner: {velocity: [0, 0, 0]}, outer: {velocity: [0, 0, 0]}}\n"
                       "solver: {tolerance: 1e-11}\n");
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    cJSON *json = solve(options[i]);
    if (!json) return;
    if (!(number_in(json, NULL, "iterations") <= 25))
      fail_msg("%s: %g iterations", options[i], number_in(json, NULL, "iterations"));
    cJSON_Delete(json);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turned_channels_are_the_same), cmocka_unit_test(rings_have_their_order),
      cmocka_unit_test(shells_turn_freely), cmocka_unit_test(enclosed_flows_over_curved_cells_converge),
      cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
