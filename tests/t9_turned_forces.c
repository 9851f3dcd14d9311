/* Run: ctest -R t9_turned_forces. Forces of a body that is turned are the turned forces, also where faces with slip
 * meet other supports: rollers beside a wall, two rollers; a flow with slip. */
#include <math.h>
#include "program_testing.h"

enum { MOST = 5 };
static const char *const faces[MOST] = {"left", "right", "bottom", "top", "back"};

typedef struct Body {
  const char *problem;
  int dim;
  const char *boundary[MOST]; /* conditions, of vectors without directions */
  const char *time;           /* NULL: none */
  const char *options;        /* NULL: none */
} Body;

static void write_body(const Body *body, double angle) {
  const double c = cos(angle), s = sin(angle);
  const bool solid = body->dim == 3;
  char text[4000], *at = text, *const end = text + sizeof text;
  at += snprintf(
      at, end - at,
      "problem: %s\nconstants: {c: %.17g, q: %.17g}\nmesh: {box: {cells: %s}, map: [\"c*x - q*y\", \"q*x "
      "+ c*y\"%s], kind: forest}\nspace: {degree: 2, element: q}\n",
      body->problem, c, s, solid ? "[2, 2, 2]" : "[3, 2]", solid ? ", z" : "");
  at += snprintf(at, end - at, "data: {%s, f: [c*0.3 - q*0.7, q*0.3 + c*0.7%s]}\nboundary:\n",
                 strcmp(body->problem, "elasticity") ? "nu: 0.7, form: symmetric" : "lambda: 1, mu: 1",
                 solid ? ", 0.2" : "");
  for (int i = 0; i < 2 * body->dim && i < MOST; i++)
    at += snprintf(at, end - at, "  %s: %s\n", faces[i], body->boundary[i]);
  if (solid) at += snprintf(at, end - at, "  front: {traction: [0, 0, 0]}\n");
  if (body->time) at += snprintf(at, end - at, "time: %s\n", body->time);
  at += snprintf(at, end - at, "solver: {tolerance: 1e-12}\noutput:\n  values:\n");
  for (int i = 0; i < 2 * body->dim && i < MOST; i++)
    for (int d = 0; d < body->dim; d++)
      at += snprintf(at, end - at, "    f%d%c: {force: %s, of: %c}\n", i, "xyz"[d], faces[i], "xyz"[d]);
  write_file("a.yaml", text);
}

/* force[MOST][3], turned back; false: the build has no forests */
static bool find_forces(const Body *body, double angle, const char *options, double force[MOST][3]) {
  char command[200];
  write_body(body, angle);
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s %s", options,
           body->options ? body->options : "");
  const int code = run(command);
  if (code == 3) return false;
  if (code) fail_msg("exit %d\n%s", code, output);
  cJSON *json = read_json("a.json");
  for (int i = 0; i < 2 * body->dim && i < MOST; i++) {
    double v[3] = {0};
    for (int d = 0; d < body->dim; d++) {
      const char name[] = {'f', (char)('0' + i), "xyz"[d], 0};
      v[d] = number_in(json, "values", name);
    }
    force[i][0] = cos(angle) * v[0] + sin(angle) * v[1];
    force[i][1] = cos(angle) * v[1] - sin(angle) * v[0];
    force[i][2] = v[2];
  }
  cJSON_Delete(json);
  return true;
}

#define FREE2 "{traction: [0, 0]}"
#define FREE3 "{traction: [0, 0, 0]}"
static const Body bodies[] = {
    {"elasticity", 2, {"{displacement: [0, 0]}", FREE2, "roller", FREE2}, NULL, NULL},
    {"elasticity", 2, {"roller", "{traction: [c, q]}", "{displacement: [0, 0]}", "roller"}, NULL, NULL},
    {"elasticity", 2, {"roller", FREE2, "roller", FREE2}, NULL, NULL},
    {"elasticity", 3, {"{displacement: [0, 0, 0]}", FREE3, "roller", FREE3, "roller"}, NULL, NULL},
    {"elasticity", 3, {"roller", FREE3, "roller", FREE3, "{displacement: [0, 0, 0]}"}, NULL, NULL},
    /* supports hold all nodes of the roller */
    {"elasticity",
     2,
     {"{displacement: [0, 0]}", "{displacement: [0, 0]}", "roller", FREE2},
     NULL,
     "--set mesh.box.cells=[1,2] --set space.degree=1"},
    {"stokes", 2, {"{velocity: [c, q]}", "outflow", "slip", "{velocity: [c, q]}"}, NULL, NULL},
    /* steps leave a residual along faces with slip, which is no force */
    {"navier_stokes",
     2,
     {"{velocity: [0, 0]}", "{velocity: [0, 0]}", "slip", "{velocity: [0, 0]}"},
     "{end: 0.02, step: 0.01}",
     NULL},
};

static void forces_turn_with_the_body(void **state) {
  (void)state;
  for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
    double along[MOST][3] = {{0}}, turned[MOST][3] = {{0}};
    if (!find_forces(&bodies[b], 0, "", along)) return;
    find_forces(&bodies[b], 0.4, b == 0 ? "--device emulator" : "", turned);
    for (int i = 0; i < MOST; i++)
      for (int d = 0; d < 3; d++)
        if (!(fabs(turned[i][d] - along[i][d]) <= 1e-8))
          fail_msg("body %zu, %s, direction %d: %.10g, turned %.10g", b, faces[i], d, along[i][d],
                   turned[i][d]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forces_turn_with_the_body)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
