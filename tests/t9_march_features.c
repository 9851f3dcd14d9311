/* Run: ctest -R t9_march_features. What all schemes have: means of fields of elements rt and iso, of transport and
 * elasticity; lengths of steps of element iso by cfl, and restarts of these; checkpoints of steady flows
 * with element q. */
#include <math.h>
#include "program_testing.h"
#include "tessera/tessera.h"

static void write_text(const char *format, const char *what) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, format, what);
  assert_int_equal(fclose(file), 0);
}

static double number(const char *group, const char *what) {
  cJSON *json = read_json("a.json");
  const cJSON *from = group ? cJSON_GetObjectItem(json, group) : json;
  const double found = cJSON_GetNumberValue(cJSON_GetObjectItem(from, what));
  cJSON_Delete(json);
  return found;
}

/* A uniform velocity (3 + sin 5 pi t, 0) that forces and boundaries make: over t = 1 to 1.8, two periods, its mean is 3
 * and that of its square 9.5. Element iso is of first order in time, and takes a fifth of the step. */
static void means_of_flows(void **state) {
  static const char *const elements[] = {"q, degree: 2", "rt, degree: 1", "iso"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    write_text("problem: navier_stokes\nmesh: {box: {cells: [2, 2]}}\nspace: {element: %s}\n"
               "data: {nu: 1, f: [5*pi*cos(5*pi*t), 0], initial: {velocity: [3, 0]}}\n"
               "boundary: {all: {velocity: [3 + sin(5*pi*t), 0]}}\ntime: {end: 1.8, step: 0.005}\n"
               "output:\n  average: {from: 1}\n  vtu: a.vtu\n  values:\n"
               "    m: {point: [0.4, 0.3], of: mean_u}\n    s: {point: [0.4, 0.3], of: mean_uu}\n",
               elements[i]);
    assert_run(i == 2 ? "solve a.yaml --quiet --device cpu --json a.json --set time.step=0.001"
                      : "solve a.yaml --quiet --device cpu --json a.json",
               0);
    assert_near(number("values", "m"), 3, 2e-3);
    assert_near(number("values", "s"), 9.5, 2e-2);
    assert_int_equal(system("grep -q mean_velocity_squares a*.vtu"), 0);
  }
}

static const char *const devices[] = {"cpu", "emulator"}, *const kinds[] = {"box", "forest"};
enum { DEVICES = 2, KINDS = 2 };

/* a.json <- the report of a.yaml. */
static void solve_on(const char *device) {
  char command[120];
  snprintf(command, sizeof command, "solve a.yaml --quiet --device %s --json a.json", device);
  assert_run(command, 0);
}

/* The velocity (y (1 + t), 0), which the force (y, 0) makes, is in the spaces of all elements, and in time bdf2 and
 * explicit Euler have no error. Over t = 0 to 0.2 its mean is 1.1 y, and the mean of its square y^2 (1.2^3 - 1) / 0.6,
 * which the trapezoidal rule overestimates by dt^2 / 6 y^2. */
static void means_of_a_shear_flow(void **state) {
  static const char *const elements[] = {"q, degree: 2", "rt, degree: 2", "iso"};
  (void)state;
  for (int i = 0; i < 3 * KINDS * DEVICES; i++) {
    const int element = i % 3, kind = i / 3 % KINDS;
    const double dt = element == 2 ? 0.004 : 0.02;
    char text[160];
    if (kind && (element != 0 || !tes_has_part("p4est"))) continue;
    snprintf(text, sizeof text,
             "{element: %s}\nmesh: {kind: %s, box: {cells: [2, 2]}}\ntime: {end: 0.2, step: %g}",
             elements[element], kinds[kind], dt);
    write_text("problem: navier_stokes\nspace: %s\ndata: {nu: 1, f: [y, 0], initial: {velocity: [y, 0]}}\n"
               "boundary: {all: {velocity: [y*(1 + t), 0]}}\noutput:\n  average: {from: 0}\n  values:\n"
               "    m: {point: [0.4, 0.5], of: mean_u}\n    s: {point: [0.4, 0.5], of: mean_uu}\n",
               text);
    solve_on(devices[i / 3 / KINDS]);
    assert_near(number("values", "m"), 0.5 * 1.1, 1e-7);
    assert_near(number("values", "s"), 0.25 * (0.728 / 0.6 + dt * dt / 6), 1e-7);
  }
}

/* u = x + t has the mean x + 1/2 over t = 0 to 1; squares at nodes: x^2 + x + 1/3, up to the rule's dt^2 / 6. */
static void means_of_others(void **state) {
  static const char *const cases[] = {
      "problem: transport\ndata: {a: 1, f: 1, exact: x + t}\nboundary: {all: {dirichlet: exact}}\n",
      "problem: elasticity\ndata: {lambda: 1, mu: 1, density: 1, exact: [x + t, 0]}\n"
      "boundary: {all: {displacement: exact}}\n"};
  (void)state;
  for (int i = 0; i < 2 * KINDS * DEVICES; i++) {
    const int kind = i / 2 % KINDS;
    char text[240];
    if (kind && !tes_has_part("p4est")) continue;
    snprintf(text, sizeof text, "%smesh: {kind: %s, box: {cells: [2, 2]}}\n", cases[i % 2], kinds[kind]);
    write_text("%sspace: {degree: 2}\nsolver: {tolerance: 1e-9}\ntime: {end: 1, step: 0.05}\n"
               "output:\n  average: {from: 0}\n  values:\n"
               "    m: {point: [0.5, 0.5], of: mean_u}\n    s: {point: [0.5, 0.5], of: mean_uu}\n",
               text);
    solve_on(devices[i / 2 / KINDS]);
    assert_near(number("values", "m"), 1, 1e-6);
    assert_near(number("values", "s"), 0.25 + 0.5 + 1 / 3. + 0.05 * 0.05 / 6, 1e-6);
  }
}

/* The same of element dg, whose squares are in its space; in files, and after a restart. */
static void means_of_jumps(void **state) {
  static const char text[] =
      "problem: transport\nmesh: {box: {cells: [2, 2]}}\nspace: {element: dg, degree: 2}\n"
      "data: {a: 1, f: 1, exact: x + t}\nboundary: {all: {dirichlet: exact}}\n"
      "solver: {tolerance: 1e-9}\ntime: {end: %s, step: 0.05}\noutput:\n  average: {from: 0}\n  checkpoint: "
      "a.h5\n"
      "  vtu: a.vtu\n  values:\n"
      "    m: {point: [0.5, 0.5], of: mean_u}\n    s: {point: [0.4, 0.5], of: mean_uu}\n";
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  for (int i = 0; i < DEVICES; i++) {
    write_text(text, "0.5");
    solve_on(devices[i]);
    write_text(text, "1");
    assert_run("solve a.yaml --quiet --device cpu --json a.json --restart a.h5", 0);
    assert_near(number("values", "m"), 1, 1e-6);
    assert_near(number("values", "s"), 0.16 + 0.4 + 1 / 3. + 0.05 * 0.05 / 6, 1e-6);
    assert_int_equal(system("grep -q mean_square a*.vtu"), 0);
  }
}

/* The longest step, a hundredth of the first run's time, stays in the run that goes on from its file; another one
 * that is given holds. */
static void the_longest_step_stays(void **state) {
  static const char text[] = "problem: transport\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 1}\n"
                             "data: {a: 1, f: 1, exact: x + t}\nboundary: {all: {dirichlet: exact}}\n"
                             "time: {end: %s, tolerance: 0.1}\noutput: {checkpoint: a.h5}\n";
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_text(text, "1");
  assert_run("solve a.yaml --quiet --device cpu --json a.json", 0);
  write_text(text, "2");
  assert_run("solve a.yaml --quiet --device cpu --json b.json --restart a.h5 --set output.checkpoint=null "
             "--set time.max_step=0.02",
             0);
  assert_run("solve a.yaml --quiet --device cpu --json a.json --restart a.h5", 0);
  assert_near(number(NULL, "time_steps"), 100, 2); /* of 0.01 */
  assert_int_equal(rename("b.json", "a.json"), 0);
  assert_near(number(NULL, "time_steps"), 50, 10); /* of 0.02 */
}

/* Steps by the flow come near to short ones, and go on from a file with the same bits. */
static void steps_of_iso_follow_the_flow(void **state) {
  static const char cavity[] =
      "problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {element: iso}\ndata: {nu: 0.2}\n"
      "boundary: {all: {velocity: [0, 0]}, top: {velocity: [\"16*x*x*(1 - x)*(1 - x)*sin(4*t)\", 0]}}\n"
      "time: {end: 0.8, %s}\noutput: {values: {e: {point: [0.5, 0.7]}}}\n";
  (void)state;
  write_text(cavity, "step: 1e-4");
  assert_run("solve a.yaml --quiet --device cpu --json a.json", 0);
  const double wanted = number("values", "e");
  write_text(cavity, "cfl: 0.02");
  assert_run("solve a.yaml --quiet --device cpu --threads 1 --json a.json", 0);
  const double whole = number("values", "e"), steps = number(NULL, "time_steps");
  assert_true(fabs(wanted) > 1e-3 && steps > 100 && steps < 4000);
  assert_near(whole, wanted, 0.03 * fabs(wanted));
  if (!tes_has_part("hdf5")) return;
  assert_run("solve a.yaml --quiet --device cpu --threads 1 --set output.checkpoint.file=a.h5 --set "
             "output.checkpoint.every=20 --set boundary.top.velocity='[\"t < 0.4 ? "
             "16*x*x*(1 - x)*(1 - x)*sin(4*t) : 1/0\", 0]'",
             2);
  assert_run("solve a.yaml --quiet --device cpu --threads 1 --restart a.h5 --json a.json", 0);
  assert_near(number("values", "e"), whole, 0);
}

/* A steady flow is read at once as its own solution, is a start of another degree, and the start of a flow in time. */
static void steady_flows_are_held(void **state) {
  static const char text[] =
      "problem: stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {element: q, degree: 3}\ndata: {nu: 0.7}\n"
      "boundary: {all: {velocity: [0, 0]}, top: {velocity: [\"16*x*x*(1 - x)*(1 - x)\", 0]}}\n"
      "output: {values: {e: {point: [0.4, 0.6]}, p: {point: [0.4, 0.6], of: p}}%s}\n";
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_text(text, ", checkpoint: a.h5");
  assert_run("solve a.yaml --quiet --device cpu --json a.json --set solver.tolerance=1e-10", 0);
  const double u = number("values", "e"), p = number("values", "p"), first = number(NULL, "iterations");
  write_text(text, "");
  assert_run("solve a.yaml --quiet --device cpu --json a.json --set solver.tolerance=1e-8 --restart a.h5", 0);
  assert_near(number("values", "e"), u, 1e-7);
  assert_near(number("values", "p"), p, 1e-6);
  assert_true(first > 3 && number(NULL, "iterations") <= 1);
  assert_run("solve a.yaml --quiet --device cpu --json a.json --set space.degree=4 --restart a.h5", 0);
  assert_true(number(NULL, "iterations") < first);
  write_text("problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 3}\n"
             "data: {nu: 0.7, initial: {file: a.h5}}\nboundary: {all: {velocity: [0, 0]}, top: {velocity: "
             "[\"16*x*x*(1 - x)*(1 - x)\", 0]}}\ntime: {end: 1e-6, step: 1e-6}\n"
             "output: {values: {e: {point: [0.4, 0.6]}, p: {point: [0.4, 0.6], of: p}}}%s\n",
             "");
  assert_run("solve a.yaml --quiet --device cpu --json a.json", 0);
  assert_near(number("values", "e"), u, 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_of_flows),         cmocka_unit_test(means_of_a_shear_flow),
      cmocka_unit_test(means_of_others),        cmocka_unit_test(means_of_jumps),
      cmocka_unit_test(the_longest_step_stays), cmocka_unit_test(steps_of_iso_follow_the_flow),
      cmocka_unit_test(steady_flows_are_held)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
