/* Run: ctest -R t9_navier_stokes. Flows in time by the program: reports with values and fluxes, series, films and
 * pictures, restarts with the same bytes, steps that are unstable or too short. */
#include "program_testing.h"
#include "tessera/tessera.h"

static const char cavity[] = "problem: navier_stokes\n"
                             "mesh: {box: {cells: [4, 4]}}\n"
                             "space: {degree: 3}\n"
                             "data: {nu: 0.01, initial: {velocity: [\"sin(pi*x)*y\", 0], pressure: x}}\n"
                             "boundary: {top: {velocity: [1, 0]}}\n"
                             "time: {end: 0.2, step: 0.01}\n"
                             "output:\n"
                             "  values: {e: {integral: domain, of: u*u + v*v}, d: {force: top, of: x}}\n"
                             "  points: {middle: [0.5, 0.5]}\n";

static void write_case(void) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(cavity, file);
  assert_int_equal(fclose(file), 0);
}

static double number_of(const cJSON *json, const char *key) {
  const cJSON *item = cJSON_GetObjectItem(json, key);
  assert_true(cJSON_IsNumber(item));
  return cJSON_GetNumberValue(item);
}

static void runs_tell_of_the_flow(void **state) {
  (void)state;
  write_case();
  assert_run("solve a.yaml --quiet --device cpu --json a.json --vtu a.vtu --set output.series=a.csv", 0);
  cJSON *json = read_json("a.json");
  assert_string_equal(text_of(json, "status"), "converged");
  assert_string_equal(text_of(json, "problem"), "navier_stokes");
  assert_int_equal(number_of(json, "time_steps"), 20);
  assert_near(number_of(json, "time"), 0.2, 0);
  assert_int_equal(number_of(json, "velocity_dofs"), 2 * 11 * 11);
  assert_int_equal(number_of(json, "pressure_dofs"), 9 * 9);
  assert_int_equal(number_of(json, "dofs"), 2 * 11 * 11 + 81);
  const cJSON *values = cJSON_GetObjectItem(json, "values"), *flux = cJSON_GetObjectItem(json, "flux");
  assert_true(number_of(values, "e") > 0 && number_of(values, "d") < 0);
  assert_near(number_of(flux, "top"), 0, 1e-14);
  const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 0);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(point, "velocity")), 2);
  assert_true(cJSON_IsNumber(cJSON_GetObjectItem(point, "pressure")));
  cJSON_Delete(json);
  assert_true(exists("a.csv") && exists("a.pvd") && exists("a-000.vtu") && exists("a-020.vtu"));
}

/* Steps of one length, and steps of the flow, of which the first run makes some and leaves a checkpoint. */
static void restarts_give_the_same_bytes(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_case();
  assert_run("solve a.yaml --quiet --deterministic --device cpu --set output.series=full.csv", 0);
  assert_run("solve a.yaml --quiet --deterministic --device cpu --set output.series=part.csv --set "
             "time.end=0.1 --set "
             "output.checkpoint=a.h5",
             0);
  assert_run("solve a.yaml --quiet --deterministic --device cpu --set output.series=part.csv --restart a.h5",
             0);
  assert_int_equal(system("cmp full.csv part.csv"), 0);
  assert_run("solve a.yaml --quiet --device cpu --restart a.h5 --set time.step=null", 2);
  assert_output("the checkpoint holds steps of one length, those of the problem are chosen");
  assert_run("solve a.yaml --quiet --device cpu --restart a.h5 --set space.degree=2", 2);
  assert_run("solve a.yaml --quiet --device cpu --restart a.h5 --set time.step=0.02", 2);
  assert_output("histories of steps of 0.01, the problem has steps of 0.02");
}

/* A flow that four cells do not resolve. */
static void coarse_cells_are_told(void **state) {
  (void)state;
  write_case();
  assert_run("solve a.yaml --device cpu --set mesh.box.cells=[2,2] --set data.nu=1e-5 --set time.step=0.02",
             0);
  assert_output("warning: the Reynolds number of cells, |u| h / nu, is up to ");
  assert_output("warning: div u is ");
  assert_run("solve a.yaml --device cpu --set boundary.top.velocity=[0.001,0] --set data.initial=null 2>&1 | "
             "grep -E 'Reynolds|div u is'",
             1);
}

/* Explicit steps above h^2 / (2 nu), 0.0078, grow, but not a hundredfold within the ten steps that are compared. */
static void explicit_steps_beyond_diffusion_are_told(void **state) {
  (void)state;
  static const char iso[] =
      "problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {element: iso}\n"
      "data: {nu: 1}\nboundary: {all: {velocity: [0, 0]}, top: {velocity: [x*(1-x), 0]}}\n"
      "time: {end: 0.2, step: 0.01}\noutput: {values: {u: {max: domain, of: fabs(u)}}}\n";
  write_file("iso.yaml", iso);
  assert_run("solve iso.yaml --quiet --json a.json", 0);
  assert_output("warning: steps of 0.01 are unstable: diffusion over cells of 0.125");
  assert_output("up to steps of 0.0052");
  assert_run("solve iso.yaml --quiet --json a.json --set time.step=0.0075 --set time.end=2", 0);
  assert_string_equal(output, "");
  cJSON *json = read_json("a.json");
  assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "u")) < 0.251);
  cJSON_Delete(json);
  assert_run("solve iso.yaml --quiet --set time.step=null", 0);
  assert_string_equal(output, "");
  remove("iso.yaml");
}

static void steps_that_fail_end_with_a_sentence(void **state) {
  (void)state;
  write_case();
  assert_run("solve a.yaml --quiet --device cpu --set time.step=1 --set time.end=400 --set data.nu=1e-5 "
             "--json a.json "
             "--set mesh.box.cells=[16,16]",
             1);
  assert_output("unstable");
  cJSON *json = read_json("a.json");
  const char *status = text_of(json, "status");
  assert_true(!strcmp(status, "nan") || !strcmp(status, "diverged"));
  cJSON_Delete(json);
  assert_run("solve a.yaml --quiet --device cpu --set time.step=null --set time.min_step=0.1 --set "
             "time.max_step=0.2 "
             "--json a.json",
             1);
  assert_output("is shorter than time.min_step");
  json = read_json("a.json");
  assert_string_equal(text_of(json, "status"), "step_too_small");
  cJSON_Delete(json);
  assert_run("solve a.yaml --quiet --device cpu --set boundary.left.velocity=[1,0]", 2);
  assert_output("lets more in than out: its net flux is -1");
}

/* A plate over a fluid moves as 3 + sin(2 pi 2.5 t): ten periods since t = 1. */
static void values_are_averaged(void **state) {
  (void)state;
  FILE *file = fopen("b.yaml", "w");
  assert_non_null(file);
  fputs("problem: navier_stokes\n"
        "mesh: {box: {cells: [3, 3], periodic: x}}\n"
        "space: {degree: 2}\n"
        "data: {f: [0, 0]}\n"
        "boundary: {top: {velocity: [\"3 + sin(2*pi*2.5*t)\", 0]}}\n"
        "time: {end: 5, step: 0.01}\n"
        "output:\n"
        "  values: {top: {mean: top, of: u}, one: {mean: domain, of: 1}, mean: {mean: top, of: mean_u}}\n"
        "  average: {from: 1}\n",
        file);
  assert_int_equal(fclose(file), 0);
  const int code = run("solve b.yaml --quiet --device cpu --json b.json --vtu b.vtu");
  if (code == 3) skip(); /* no forests */
  assert_int_equal(code, 0);
  cJSON *json = read_json("b.json");
  const cJSON *all = cJSON_GetObjectItem(json, "statistics"), *top = cJSON_GetObjectItem(all, "top"),
              *one = cJSON_GetObjectItem(all, "one");
  assert_near(number_of(top, "mean"), 3, 1e-6);
  assert_near(number_of(top, "rms"), sqrt(0.5), 1e-3);
  assert_near(number_of(top, "min"), 2, 1e-10);
  assert_near(number_of(top, "max"), 4, 1e-10);
  assert_near(number_of(top, "frequency"), 2.5, 1e-3);
  assert_near(number_of(cJSON_GetObjectItem(json, "values"), "mean"), 3, 1e-6);
  assert_run("--version > /dev/null; grep -ac 'Name=\"mean_velocity_squares\"' b-001.vtu", 0);
  assert_near(number_of(one, "mean"), 1, 1e-12);
  assert_true(cJSON_IsNull(cJSON_GetObjectItem(one, "frequency")));
  cJSON_Delete(json);
}

/* Steady flow with a mass term: u = (y^2, x^2) and p = x - 1/2 are of the elements, -2 nu + alpha u + grad p = f, and
 * all forces together are the integral of f - alpha u = (0, -1). What is estimated of the error is next to nothing. */
static void mass_terms_of_steady_flows(void **state) {
  static const char *const meshes[] = {"box: {cells: [6, 5]}",
                                       "box: {cells: [3, 2]}, kind: forest, refine_where: \"x < 0.4\""};
  static const double alphas[] = {0, 1, 100, 1e4};
  static const char *const faces[] = {"left", "right", "bottom", "top"};
  (void)state;
  for (int i = 0; i < 8; i++) {
    const double alpha = alphas[i % 4];
    FILE *file = fopen("a.yaml", "w");
    assert_non_null(file);
    fprintf(file,
            "problem: stokes\nmesh: {%s}\nspace: {element: q, degree: 2}\n"
            "data: {nu: 0.5, alpha: %g, f: [\"%g*y*y\", \"%g*x*x - 1\"], exact: {velocity: [y*y, x*x], "
            "pressure: x - "
            "0.5}}\nboundary: {all: {velocity: exact}}\nsolver: {tolerance: 1e-11}\noutput: {values: {",
            meshes[i / 4], alpha, alpha, alpha);
    for (int k = 0; k < 8; k++)
      fprintf(file, "%s%c: {force: %s, of: %c}%s", faces[k / 2], "xy"[k % 2], faces[k / 2], "xy"[k % 2],
              k < 7 ? ", " : "}}\n");
    assert_int_equal(fclose(file), 0);
    assert_run("solve a.yaml --quiet --device cpu --json a.json", 0);
    cJSON *json = read_json("a.json");
    const cJSON *values = cJSON_GetObjectItem(json, "values"), *errors = cJSON_GetObjectItem(json, "errors");
    double sum[2] = {0, 0};
    char name[20];
    for (int k = 0; k < 8; k++) {
      snprintf(name, sizeof name, "%s%c", faces[k / 2], "xy"[k % 2]);
      sum[k % 2] += number_of(values, name);
    }
    printf("alpha %g: %g iterations, errors %.2g, %.2g\n", alpha, number_of(json, "iterations"),
           number_of(errors, "velocity_l2"), number_of(errors, "pressure_l2"));
    assert_near(number_of(errors, "velocity_l2"), 0, 1e-8);
    assert_near(number_of(errors, "pressure_l2"), 0, 1e-7 + 1e-9 * alpha);
    assert_near(sum[0], 0, 1e-6 + 1e-8 * alpha);
    assert_near(sum[1], -1, 1e-6 + 1e-8 * alpha);
    assert_true(number_of(json, "iterations") <= 32);
    cJSON_Delete(json);
    if (i < 4) continue;
    assert_run("solve a.yaml --quiet --device cpu --json a.json --set mesh.refine_where=null --set "
               "\"adapt={steps: 2, "
               "tolerance: 1e-4}\"",
               0); /* exact: the estimate is below the tolerance */
  }
}

/* In 3D, where the elements hold the flow, and on a device with kernels. */
static void mass_terms_in_3d(void **state) {
  static const char *const devices[] = {"cpu", "emulator"};
  double iterations[2];
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: stokes\nmesh: {box: {cells: [2, 2, 2]}}\nspace: {element: q, degree: 2}\n"
        "data: {nu: 0.5, alpha: 100, f: [\"100*y*y\", \"100*z*z - 1\", \"100*x*x - 1\"], exact: {velocity: "
        "[y*y, z*z, "
        "x*x], pressure: x - 0.5}}\nboundary: {all: {velocity: exact}}\nsolver: {tolerance: 1e-11}\n",
        file);
  assert_int_equal(fclose(file), 0);
  for (int i = 0; i < 2; i++) {
    char command[100];
    snprintf(command, sizeof command, "solve a.yaml --quiet --device %s --json a.json", devices[i]);
    assert_run(command, 0);
    cJSON *json = read_json("a.json");
    const cJSON *errors = cJSON_GetObjectItem(json, "errors");
    iterations[i] = number_of(json, "iterations");
    assert_near(number_of(errors, "velocity_l2"), 0, 1e-9);
    assert_near(number_of(errors, "pressure_l2"), 0, 1e-7);
    cJSON_Delete(json);
  }
  assert_near(iterations[1], iterations[0], 1);
}

/* An error is estimated within a factor where the mass term is most of the equation; it is part of the residual. */
static void mass_terms_are_estimated(void **state) {
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {element: q, degree: 2}\n"
        "data: {nu: 1, alpha: 1000, f: [\"1018*sin(3*x)*cos(3*y)\", \"-1018*cos(3*x)*sin(3*y)\"], exact: "
        "{velocity: [\"sin(3*x)*cos(3*y)\", \"-cos(3*x)*sin(3*y)\"], pressure: 0}}\n"
        "boundary: {all: {velocity: exact}}\nsolver: {tolerance: 1e-8}\nadapt: {steps: 2, tolerance: 1e-9}\n",
        file);
  assert_int_equal(fclose(file), 0);
  const int code = run("solve a.yaml --quiet --device cpu --json a.json");
  if (code == 3) skip(); /* no forests */
  assert_int_equal(code, 1);
  cJSON *json = read_json("a.json");
  const cJSON *steps = cJSON_GetObjectItem(json, "steps");
  assert_int_equal(cJSON_GetArraySize(steps), 2);
  for (int i = 0; i < 2; i++) {
    const double effectivity = number_of(cJSON_GetArrayItem(steps, i), "effectivity");
    printf("effectivity %g\n", effectivity);
    assert_true(effectivity > 0.3 && effectivity < 5);
  }
  cJSON_Delete(json);
}

/* u = (sin pi x cos pi y, - cos pi x sin pi y), p = cos pi x: estimates are above both errors, by 12 at most, and no
 * warning stands where cells are small; a cavity's singular corners raise none, cells too large for a flow do. Element
 * rt has no estimate. */
static void flows_tell_their_error(void **state) {
  static const char text[] =
      "problem: stokes\nmesh: {box: {cells: [8, 8]}}\nspace: {degree: 3, element: q}\ndata: {nu: 1, f: "
      "[\"2*pi*pi*sin(pi*x)*cos(pi*y) - pi*sin(pi*x)\", \"-2*pi*pi*cos(pi*x)*sin(pi*y)\"], exact: {velocity: "
      "[\"sin(pi*x)*cos(pi*y)\", \"-cos(pi*x)*sin(pi*y)\"], pressure: cos(pi*x)}}\nboundary: {all: "
      "{velocity: exact}}\n";
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  assert_run("solve a.yaml --device cpu --json a.json", 0);
  assert_output("estimate  error of velocity ");
  assert_null(strstr(output, "warning: the error"));
  cJSON *json = read_json("a.json");
  const cJSON *estimate = cJSON_GetObjectItem(json, "error_estimate"),
              *errors = cJSON_GetObjectItem(json, "errors");
  const double velocity = number_of(estimate, "velocity") / number_of(errors, "velocity_l2"),
               pressure = number_of(estimate, "pressure") / number_of(errors, "pressure_l2");
  printf("estimates over errors: %.2f, %.2f\n", velocity, pressure);
  assert_true(velocity > 1 && velocity < 12 && pressure > 1 && pressure < 12);
  cJSON_Delete(json);
  assert_run("solve a.yaml --quiet --device cpu --json a.json --set space.element=rt", 0);
  json = read_json("a.json");
  assert_null(cJSON_GetObjectItem(json, "error_estimate"));
  cJSON_Delete(json);
  file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: stokes\nmesh: {box: {cells: [16, 16]}}\nspace: {degree: 2, element: q}\n"
        "boundary: {all: {velocity: [0, 0]}, top: {velocity: [1, 0]}}\n",
        file);
  assert_int_equal(fclose(file), 0);
  assert_run("solve a.yaml --device cpu", 0);
  assert_null(strstr(output, "warning: the error"));
  assert_run("solve a.yaml --device cpu --set mesh.box.cells=[4,4]", 0);
  assert_output("warning: the error of the velocity is estimated as ");
}

/* On curved cells too, by the rule of output.values: where no boundary is open. */
static void pressures_have_mean_zero(void **state) {
  (void)state;
  static const char text[] =
      "problem: %s\nmesh: {ball: {dim: 2}, geometry_degree: %d}\n"
      "space: {element: q, degree: 2}\ndata: {nu: 1, f: [y*x*x, exp(x)*y]}\n"
      "boundary: {all: {velocity: [0, 0]}}\n%s"
      "output: {values: {mean: {integral: domain, of: p}, size: {integral: domain, of: p*p}}}\n";
  if (!has_forests()) skip();
  for (int march = 0; march <= 1; march++)
    for (int degree = 2; degree <= 4; degree++) {
      FILE *file = fopen("mean.yaml", "w");
      assert_non_null(file);
      fprintf(file, text, march ? "navier_stokes" : "stokes", degree,
              march ? "time: {end: 0.02, step: 0.01}\n" : "");
      assert_int_equal(fclose(file), 0);
      assert_run("solve mean.yaml --quiet --json mean.json", 0);
      cJSON *json = read_json("mean.json");
      const cJSON *values = cJSON_GetObjectItem(json, "values");
      assert_near(number_of(values, "mean"), 0, 1e-12);
      assert_true(number_of(values, "size") > 1e-3);
      cJSON_Delete(json);
    }
  assert_int_equal(system("rm -f mean.yaml mean.json"), 0);
}

/* A vortex that dies, with its stress on an opening: of second order in time. */
static void stresses_of_openings_in_time(void **state) {
  double error[2];
  (void)state;
  write_file("vortex.yaml",
             "problem: navier_stokes\nmesh: {box: {cells: [4, 4], lower: [0.2, 0.1], upper: [1.3, 1.2]}}\n"
             "space: {degree: 4}\nconstants: {nu: 0.1}\n"
             "data:\n  nu: nu\n  exact:\n"
             "    velocity: [sin(x)*cos(y)*exp(-2*nu*t), -cos(x)*sin(y)*exp(-2*nu*t)]\n"
             "    pressure: (cos(2*x) + cos(2*y))/4*exp(-4*nu*t)\n"
             "boundary:\n  all: {velocity: exact}\n"
             "  right: {outflow: [nu*cos(x)*cos(y)*exp(-2*nu*t) - (cos(2*x) + cos(2*y))/4*exp(-4*nu*t), "
             "nu*sin(x)*sin(y)*exp(-2*nu*t)]}\n"
             "time: {end: 0.4, step: 0.02}\nsolver: {tolerance: 1e-8}\n");
  for (int half = 0; half < 2; half++) {
    assert_run(half ? "solve vortex.yaml --quiet --json vortex.json --set time.step=0.01"
                    : "solve vortex.yaml --quiet --json vortex.json",
               0);
    cJSON *json = read_json("vortex.json");
    error[half] = number_in(json, "errors", "velocity_l2");
    cJSON_Delete(json);
  }
  if (!(error[1] < error[0] / 3.6)) fail_msg("errors %g, %g", error[0], error[1]);
  assert_int_equal(system("rm -f vortex.yaml vortex.json"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(runs_tell_of_the_flow),
                                     cmocka_unit_test(pressures_have_mean_zero),
                                     cmocka_unit_test(stresses_of_openings_in_time),
                                     cmocka_unit_test(values_are_averaged),
                                     cmocka_unit_test(coarse_cells_are_told),
                                     cmocka_unit_test(restarts_give_the_same_bytes),
                                     cmocka_unit_test(explicit_steps_beyond_diffusion_are_told),
                                     cmocka_unit_test(steps_that_fail_end_with_a_sentence),
                                     cmocka_unit_test(mass_terms_of_steady_flows),
                                     cmocka_unit_test(flows_tell_their_error),
                                     cmocka_unit_test(mass_terms_in_3d),
                                     cmocka_unit_test(mass_terms_are_estimated)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
