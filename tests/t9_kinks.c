/* Run: ctest -R t9_kinks. What coarse faces with slip hold by their kinks alone is free: bores, cones and spheres of
 * Gmsh's tetrahedra of both orders slide and turn as those of the body, in words, and have the energy of hexahedra
 * with a round bore; the bracket of cases/; fluid in a coarse sphere; tapers and wedges of slight slopes hold, with the
 * forces of statics and a warning. */
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

static void refuse(const char *options, const char *const words[4]) {
  char command[900];
  snprintf(command, sizeof command, "solve a.yaml --quiet %s", options);
  const int code = run(command);
  if (code != 2) fail_msg("exit %d for %s\n%s", code, options, output);
  for (int i = 0; i < 4 && words[i]; i++)
    if (!strstr(output, words[i])) fail_msg("%s: no '%s' in\n%s", options, words[i], output);
}

static void write_body(const char *file, const char *force) {
  char text[1000];
  snprintf(text, sizeof text,
           "problem: elasticity\nmesh: {file: \"" TESI_SOURCE_DIR "/%s\", split: true}\nspace: {degree: 2}\n"
           "data: {young: 1000, poisson: 0.3, f: %s}\n"
           "boundary: {all: {traction: [0, 0, 0]}, bore: {radial: 0}}\n"
           "output: {values: {x: {force: bore, of: x}, load: {integral: domain, of: 1}, energy: {integral: "
           "domain, "
           "of: strain_energy}, w: {max: domain, of: abs(w)}}}\n",
           file, force);
  write_file("a.yaml", text);
}

/* Motions as the solids have them; the directions and axes that a mesh can tell are as exact as it is. */
static void motions_are_those_of_the_body(void **state) {
  static const struct {
    const char *file;
    const char *words[4];
  } bodies[] = {
      {"kinks-bore.msh",
       {"2 rigid motions are", "it slides along (0.11", "it turns about the axis through (0.0",
        "the mesh of bore is coarse"}},
      {"kinks-bore-2.msh",
       {"2 rigid motions are", "it slides along (0, 0, 1)",
        "it turns about the axis through (0, 0, 0.25) along (0, 0, 1)"}},
      {"kinks-cone.msh",
       {"1 rigid motion is", "it turns about the axis through (0, 0, 0.25) along (0, 0, 1)",
        "the mesh of bore is coarse"}},
      {"kinks-taper.msh",
       {"1 rigid motion is", "it turns about the axis through (0, 0, 0.25) along (0, 0, 1)",
        "the slope of bore alone holds a rigid motion (it slides along (0.01"}},
      {"kinks-sphere.msh", {"3 rigid motions are", "it turns about the axis", "the mesh of bore is coarse"}}};
  (void)state;
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
    for (int degree = 1; degree <= 3; degree++) {
      char name[80], option[40];
      snprintf(name, sizeof name, "tests/data/%s", bodies[i].file);
      snprintf(option, sizeof option, "--set space.degree=%d", degree);
      write_body(name, "[y - z, -x, 2 + y]");
      refuse(option, bodies[i].words);
    }
}

/* In time inertia holds what supports do not; that kinks hold nothing is told all the same, once, and not where a wall
 * holds the body. */
static void bodies_in_time_are_told_too(void **state) {
  (void)state;
  write_body("tests/data/kinks-bore.msh", "[0, 0, 0]");
  const char time[] = "--set 'time={end: 0.2, step: 0.1}'";
  cJSON *json = solve(time);
  if (!json) return;
  const char *told = strstr(output, "the mesh of bore is coarse");
  assert_non_null(told);
  assert_null(strstr(told + 1, "the mesh of bore is coarse"));
  cJSON_Delete(json);
  cJSON_Delete(solve("--set 'time={end: 0.2, step: 0.1}' --set 'boundary.all={displacement: [0, 0, 0]}'"));
  assert_null(strstr(output, "is coarse"));
}

/* Half a ring of hexahedra, which lies on its bore by its weight, beside both files. */
static void bores_bear_as_round_ones(void **state) {
  (void)state;
  write_file(
      "a.yaml",
      "problem: elasticity\n"
      "mesh: {box: {cells: [2, 8, 1], upper: [0.5, pi, 0.5]}, map: [(1 + x)*cos(y), (1 + x)*sin(y), z], "
      "geometry_degree: 4}\nspace: {degree: 4}\ndata: {young: 1000, poisson: 0.3, f: [1, 0, 0]}\n"
      "boundary: {all: {traction: [0, 0, 0]}, left: {radial: 0}, bottom: symmetry, top: symmetry}\n"
      "output: {values: {energy: {integral: domain, of: strain_energy}}}\n");
  cJSON *json = solve("");
  if (!json) return;
  const double energy = 2 * number_in(json, "values", "energy");
  cJSON_Delete(json);
  assert_true(energy > 0);
  for (int order = 1; order <= 2; order++) {
    /* the first one is turned by 0.4 about (1, 0.3, 0) */
    write_body(order == 2 ? "tests/data/kinks-bore-2.msh" : "tests/data/kinks-bore.msh",
               order == 2
                   ? "[1, 0, 0]"
                   : "[cos(0.4) + (1 - cos(0.4))/1.09, (1 - cos(0.4))*0.3/1.09, -sin(0.4)*0.3/sqrt(1.09)]");
    json = solve("");
    assert_near(number_in(json, "values", "energy"), energy, (order == 2 ? 0.05 : 0.25) * energy);
    assert_true(number_in(json, NULL, "iterations") < 25);
    if (order == 2) assert_near(number_in(json, "values", "x"), -number_in(json, "values", "load"), 1e-3);
    cJSON_Delete(json);
  }
}

/* The wall holds x, the bore y; what draws it along the bore is refused. It was held by kinks, with displacements of
 * some 1e8 and no warning. */
static void the_bracket(void **state) {
  static const char *const words[4] = {"1 rigid motion is held by no boundary",
                                       "Free: it slides along (0, 0, 1)."};
  (void)state;
  write_body("cases/bracket.msh", "[0, -1, 0]");
  cJSON *json = solve("--set boundary.wall=roller");
  if (!json) return;
  assert_true(number_in(json, NULL, "iterations") < 25);
  assert_near(number_in(json, "values", "w"), 200, 100); /* 131 with `displacement: [0, 0, null]` of the bore */
  cJSON_Delete(json);
  for (int degree = 1; degree <= 3; degree++) {
    char option[120];
    snprintf(option, sizeof option, "--set boundary.wall=roller --set data.f=[0,0,-1] --set space.degree=%d",
             degree);
    refuse(option, words);
  }
}

static void fluid_turns_in_a_coarse_sphere(void **state) {
  static const char *const words[4] = {"3 rigid motions are along faces with slip",
                                       "it turns about the axis"};
  (void)state;
  write_file(
      "a.yaml",
      "problem: stokes\nmesh: {file: \"" TESI_SOURCE_DIR "/tests/data/kinks-sphere.msh\", split: true}\n"
      "space: {degree: 2, element: q}\ndata: {f: [x*z, y*z, z*z]}\nboundary: {bore: slip, rest: slip}\n"
      "output: {values: {size: {max: domain, of: u*u + v*v + w*w}}}\n");
  cJSON *json = solve("");
  if (!json) return;
  assert_true(number_in(json, NULL, "iterations") < 30);
  assert_true(number_in(json, "values", "size") < 1);
  cJSON_Delete(json);
  refuse("--set data.f=[-y,x,0]", words);
}

/* A body between two planes at an angle, pushed along one: the other bears 1 / tan of the angle. */
static void wedges_hold(void **state) {
  static const double angles[] = {5, 2, 0.5, 0.1};
  const double pi = 3.14159265358979323846;
  (void)state;
  for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
    char text[700];
    snprintf(text, sizeof text,
             "problem: elasticity\n"
             "mesh: {box: {cells: [4, 4], upper: [1, 1]}, map: [x, \"y*(1 + tan(%g*pi/180)*x)\"]}\n"
             "space: {degree: 2}\ndata: {young: 1e6, poisson: 0.3}\n"
             "boundary: {all: {traction: [0, 0]}, bottom: roller, top: roller, left: {traction: [-1, 0]}}\n"
             "output: {values: {x: {force: top, of: x}, y: {force: top, of: y}}}\n",
             angles[i]);
    write_file("a.yaml", text);
    cJSON *json = solve("");
    if (!json) return;
    assert_near(number_in(json, "values", "x"), 1, 1e-6);
    assert_near(number_in(json, "values", "y") * tan(angles[i] * pi / 180), -1, 1e-6);
    assert_true((strstr(output, "the slope of top alone holds a rigid motion (it slides along (1, 0))") !=
                 NULL) == (angles[i] < 3));
    cJSON_Delete(json);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_are_those_of_the_body),  cmocka_unit_test(bodies_in_time_are_told_too),
      cmocka_unit_test(bores_bear_as_round_ones),       cmocka_unit_test(the_bracket),
      cmocka_unit_test(fluid_turns_in_a_coarse_sphere), cmocka_unit_test(wedges_hold)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
