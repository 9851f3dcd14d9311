/* Run: ctest -R t9_thermal. Thermal strain: bars and plates that may expand have no stress, clamped bodies have the
 * stress of the formulas, in plane stress, plane strain and space; a bimetal strip has Timoshenko's curvature; a
 * temperature that leaves no stress leaves none in estimates and in time; what is refused. */
#include <math.h>
#include "program_testing.h"
#include "tessera/tessera.h"

/* a.yaml <- a case with these lines. */
static void write_case(const char *text) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "problem: elasticity\nspace: {degree: 2}\nsolver: {tolerance: 1e-12}\n%s", text);
  assert_int_equal(fclose(file), 0);
}

/* False: the build has no forests. */
static bool solve(const char *options) {
  char command[600];
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options);
  const int code = run(command);
  if (code != 0 && code != 3) fail_msg("exit %d for %s\n%s", code, options, output);
  return code == 0;
}

static double value_of(const char *name) {
  cJSON *json = read_json("a.json");
  const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), name);
  const double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
  cJSON_Delete(json);
  return value;
}

static double error_of(const char *name) {
  cJSON *json = read_json("a.json");
  const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), name);
  const double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
  cJSON_Delete(json);
  return value;
}

static const char *const meshes[] = {"", "--set mesh.kind=forest --set \"mesh.refine_where=x + y < 0.6\"",
                                     "--device emulator", "--device emulator --set mesh.kind=forest"};
enum { MESHES = sizeof meshes / sizeof *meshes };

/* E = 200, nu = 0.3, alpha = 0.01, T = 30: alpha T = 0.3, E alpha T = 60. Bars of 2 x 0.5 (x 0.5). */
#define BAR_2D                                                                                               \
  "mesh: {box: {cells: [4, 2], upper: [2, 0.5]}}\n"                                                          \
  "data: {young: 200, poisson: 0.3, expansion: 0.01, temperature: 30, plane: stress}\n"                      \
  "boundary: {all: {traction: [0, 0]}, left: roller, bottom: roller}\n"                                      \
  "output: {values: {u: {mean: right, of: u}, sxx: {mean: domain, of: sxx}, syy: {mean: domain, of: syy}, "  \
  "szz: {mean: domain, of: szz}, vm: {max: domain, of: von_mises}, F: {force: right, of: x}, energy: "       \
  "{integral: domain, of: strain_energy}}}\n"
#define BAR_3D                                                                                               \
  "mesh: {box: {cells: [3, 2, 2], upper: [2, 0.5, 0.5]}}\n"                                                  \
  "data: {young: 200, poisson: 0.3, expansion: 0.01, temperature: 30}\n"                                     \
  "boundary: {all: {traction: [0, 0, 0]}, left: roller, bottom: roller, back: roller}\n"                     \
  "output: {values: {u: {mean: right, of: u}, sxx: {mean: domain, of: sxx}, syy: {mean: domain, of: syy}, "  \
  "szz: {mean: domain, of: szz}, vm: {max: domain, of: von_mises}, F: {force: right, of: x}, energy: "       \
  "{integral: domain, of: strain_energy}}}\n"

typedef struct Bar {
  const char *text, *options;
  double u, sxx, syy, szz, force, energy; /* of the body: density times volume */
} Bar;

static const Bar bars[] = {
    {BAR_2D, "", 0.6, 0, 0, 0, 0, 0},
    /* plane strain: (1 + nu) alpha T L, out of the plane -E alpha T, energy (E alpha T)^2/(2 E) */
    {BAR_2D, "--set data.plane=strain", 1.3 * 0.6, 0, 0, -60, 0, 9},
    /* between walls: -E alpha T, of the free bar of the same length in y */
    {BAR_2D, "--set boundary.right=roller", 0, -60, 0, 0, -30, 9},
    /* plane strain: eps_xx = eps_zz = 0 with syy = 0: sxx = szz = -E alpha T/(1 - nu), energy -(sxx + szz) alpha T/2 */
    {BAR_2D, "--set data.plane=strain --set boundary.right=roller", 0, -600 / 7., 0, -600 / 7., -300 / 7.,
     180 / 7.},
    {BAR_3D, "", 0.6, 0, 0, 0, 0, 0},
    {BAR_3D, "--set boundary.right=roller", 0, -60, 0, 0, -15, 4.5},
    /* on all sides: -E alpha T/(1 - 2 nu), energy 3 (E alpha T)^2/(2 E (1 - 2 nu)) a volume */
    {BAR_3D, "--set boundary.all=roller", 0, -150, -150, -150, -37.5, 33.75}};

static void bars_have_the_stress_of_the_formulas(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
    for (int m = 0; m < (i ? 2 : MESHES); m++) {
      const Bar *bar = &bars[i];
      char options[400];
      write_case(bar->text);
      snprintf(options, sizeof options, "%s %s", bar->options, meshes[m]);
      if (strstr(options, "all=roller")) strcat(options, " --set boundary.right=null");
      if (!solve(options)) continue;
      assert_near(value_of("u"), bar->u, 1e-8);
      assert_near(value_of("sxx"), bar->sxx, 1e-7);
      assert_near(value_of("syy"), bar->syy, 1e-7);
      assert_near(value_of("szz"), bar->szz, 1e-7);
      assert_near(value_of("F"), bar->force, 1e-7);
      assert_near(value_of("energy"), bar->energy, 1e-7);
      if (bar->sxx == 0 && bar->szz == 0) assert_near(value_of("vm"), 0, 1e-6);
    }
}

/* T = 3 y in 2D, 3 z in 3D with alpha = 0.01 in a body that nothing holds: no stress, and
 * u = (a x y, a (y^2 - x^2)/2), u = (a x z, a y z, a (z^2 - x^2 - y^2)/2), a = 0.03 (plane strain: (1 + nu) 0.03).
 * Elements of degree 2 have u on cells that are bilinear too. */
static const char plate_2d[] =
    "mesh: {box: {cells: [3, 2]}}\n"
    "data: {young: 200, poisson: 0.3, expansion: 0.01, temperature: 3*y, plane: stress, exact: [0.03*x*y, "
    "0.015*(y*y - x*x)]}\n"
    "boundary: {all: {traction: [0, 0]}}\n"
    "output: {values: {sxx: {max: domain, of: abs(sxx)}, sxy: {max: domain, of: abs(sxy)}, szz: {max: "
    "domain, "
    "of: abs(szz)}}}\n",
                  plate_3d[] =
                      "mesh: {box: {cells: [2, 2, 2]}}\n"
                      "data: {young: 200, poisson: 0.3, expansion: 0.01, temperature: 3*z, exact: [0.03*x*z, "
                      "0.03*y*z, 0.015*(z*z - x*x - y*y)]}\n"
                      "boundary: {all: {traction: [0, 0, 0]}}\n"
                      "output: {values: {sxx: {max: domain, of: abs(sxx)}, sxy: {max: domain, of: abs(sxy)}, "
                      "szz: {max: domain, of: abs(szz)}}}\n";

static void free_plates_have_no_stress(void **state) {
  static const char *const deformed[2] = {
      "--set 'mesh.map=[x + 0.2*x*y, y - 0.1*x*y]' --set mesh.geometry_degree=1",
      "--set 'mesh.map=[x + 0.2*y, y - 0.1*z, z + 0.1*x]' --set mesh.geometry_degree=1"};
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int m = 0; m <= MESHES; m++) {
      if (m == (dim == 3 ? 2 : 3)) continue;
      write_case(dim == 2 ? plate_2d : plate_3d);
      if (!solve(m < MESHES ? meshes[m] : deformed[dim - 2])) continue;
      assert_near(error_of("l2"), 0, 1e-8);
      assert_near(value_of("sxx"), 0, 1e-6);
      assert_near(value_of("sxy"), 0, 1e-6);
      assert_near(value_of("szz"), 0, 1e-6);
    }
  write_case(plate_2d);
  assert_true(solve("--set data.plane=strain --set 'data.exact=[0.039*x*y, 0.0195*(y*y - x*x)]'"));
  assert_near(error_of("l2"), 0, 1e-8);
  assert_near(value_of("sxx"), 0, 1e-6);
  assert_near(value_of("szz"), 6, 1e-6); /* E alpha T at y = 1 */
}

/* The same in an adaptive solve: residuals of cells and faces are 0. With a hundredth of alpha they are not. */
static void estimates_know_thermal_strain(void **state) {
  double estimate[2];
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    for (int i = 0; i < 2; i++) {
      write_case(dim == 2 ? plate_2d : plate_3d);
      /* i = 1: a temperature that leaves stress */
      if (!solve(i ? "--set adapt.steps=1 --set data.temperature=3*y*y*y" : "--set adapt.steps=1")) return;
      cJSON *json = read_json("a.json");
      const cJSON *step = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "steps"), 0),
                  *item = cJSON_GetObjectItem(step, "estimate");
      assert_true(cJSON_IsNumber(item));
      estimate[i] = item->valuedouble;
      cJSON_Delete(json);
    }
    assert_near(estimate[0], 0, 1e-6);
    assert_true(estimate[1] > 1e-2);
  }
}

/* T = 3 y t: u grows as t without acceleration. And a body held on all sides, in which sxx = -(3 lambda + 2 mu) alpha T
 * has the temperature of the end. */
static void bodies_in_time(void **state) {
  char options[400];
  (void)state;
  for (int m = 0; m < MESHES - 1; m++) {
    write_case(plate_2d);
    snprintf(
        options, sizeof options,
        "%s --set time.end=0.5 --set time.step=0.1 --set time.rho_inf=1 --set data.temperature=3*y*t --set "
        "'data.exact=[0.03*x*y*t, 0.015*(y*y - x*x)*t]'",
        meshes[m]);
    if (!solve(options)) continue;
    assert_near(error_of("l2"), 0, 1e-7);
    assert_near(value_of("sxx"), 0, 1e-4);
    write_case(BAR_2D);
    snprintf(options, sizeof options,
             "%s --set boundary=null --set data.plane=strain --set time.end=0.5 --set time.step=0.1 --set "
             "'data.temperature=30*t'",
             meshes[m]);
    if (!solve(options)) continue;
    assert_near(value_of("sxx"), -75, 1e-7);
    assert_near(value_of("szz"), -75, 1e-7);
  }
}

/* Two layers of 20 x 0.5 each, E = 100 and 300, alpha = 0.01 and 0.03, T = 1. Timoshenko (1925), eq. 4:
 * 1/rho = 6 (a2 - a1) T (1 + m)^2 / (h (3 (1 + m)^2 + (1 + m n)(m^2 + 1/(m n)))), m = 1, n = 1/3. Far from the ends the
 * strip has it exactly. The warm side is above: the strip bends down. */
static void strips_bend_as_timoshenko_says(void **state) {
  enum { CELLS = 40 };
  const double curvature = 6 * 0.02 * 4 / (3 * 4 + (1 + 1 / 3.) * (1 + 3.)), L = 20;
  FILE *file = fopen("strip.msh", "w");
  (void)state;
  assert_non_null(file);
  fprintf(file,
          "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"low\"\n2 2 "
          "\"high\"\n$EndPhysicalNames\n$Nodes\n%d\n",
          3 * (CELLS + 1));
  for (int i = 0; i < 3 * (CELLS + 1); i++)
    fprintf(file, "%d %g %g 0\n", i + 1, L * (i % (CELLS + 1)) / CELLS, 0.5 * (i / (CELLS + 1)));
  fprintf(file, "$EndNodes\n$Elements\n%d\n", 2 * CELLS);
  for (int i = 0; i < 2 * CELLS; i++) {
    const int at = i % CELLS + (CELLS + 1) * (i / CELLS) + 1;
    fprintf(file, "%d 3 2 %d 1 %d %d %d %d\n", i + 1, 1 + i / CELLS, at, at + 1, at + CELLS + 2,
            at + CELLS + 1);
  }
  fputs("$EndElements\n", file);
  assert_int_equal(fclose(file), 0);
  write_case(
      "mesh: {file: strip.msh}\n"
      "data: {young: 1, poisson: 0.3, plane: stress, temperature: 1, materials: {low: {young: 100, poisson: "
      "0.3, expansion: 0.01}, high: {young: 300, poisson: 0.3, expansion: 0.03}}}\n"
      "boundary: {all: {traction: [0, 0]}}\n"
      "output: {values: {a: {point: [8, 0.5], of: v}, b: {point: [10, 0.5], of: v}, c: {point: [12, "
      "0.5], of: v}, jump: {integral: domain, of: sxx}}}\n");
  for (int i = 0; i < 2; i++) {
    if (!solve(i ? "--device emulator" : "--set space.degree=3")) return;
    assert_near(-(value_of("a") - 2 * value_of("b") + value_of("c")) / 4, curvature, 1e-6 * curvature);
    assert_near(value_of("jump"), 0, 1e-6); /* no force in any section */
  }
  /* a warmer material in place of a body that is warm: the same */
  if (!solve(
          "--set space.degree=3 --set data.temperature=null --set data.materials.high.temperature=0.5 --set "
          "data.materials.low.temperature=0.5"))
    return;
  assert_near(-(value_of("a") - 2 * value_of("b") + value_of("c")) / 4, curvature / 2, 1e-6 * curvature);
  assert_run("solve a.yaml --quiet --set data.materials.low.expansion=null", 2);
  assert_output(
      "data.temperature: there is a temperature, and the coefficient of thermal expansion is missing "
      "in material low");
}

static void what_is_refused(void **state) {
  (void)state;
  write_case(BAR_2D);
  assert_run("solve a.yaml --quiet --set data.expansion=null", 2);
  assert_output(
      "data.temperature: there is a temperature, and the coefficient of thermal expansion is missing");
  assert_int_equal(run("solve a.yaml --quiet --set data.temperature=1/x"), 2);
  assert_output("data.temperature");
  assert_run("solve a.yaml --quiet --set data.temperature=nx", 2);
  assert_run("solve " CASES "poisson.yaml --quiet --set data.temperature=1", 2);
  assert_output("data.temperature: belongs to elasticity");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bars_have_the_stress_of_the_formulas), cmocka_unit_test(free_plates_have_no_stress),
      cmocka_unit_test(estimates_know_thermal_strain),        cmocka_unit_test(bodies_in_time),
      cmocka_unit_test(strips_bend_as_timoshenko_says),       cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
