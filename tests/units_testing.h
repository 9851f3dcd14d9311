/* Flows in several units of length, time and mass: what is solved, and its numbers in the units of the data. */
#ifndef TESI_UNITS_TESTING_H
#define TESI_UNITS_TESTING_H

#include <stdarg.h>
#include <stdio.h>
#include "device_testing.h"
#include "forest_testing.h"

typedef struct Units {
  double length, time, mass;
} Units;

typedef struct UnitsCase {
  const char *name;
  TesEquation equation;
  TesElement element;
  int dim, degree, cells;
  TesMeshKind kind;
  bool open; /* the right is an outflow */
  double alpha;
  const char *nu; /* of X and Y, which are x and y over the length */
  TesFlowForm form;
  TesMethod method;
  bool hanging; /* cells in a corner are halved */
} UnitsCase;

enum { UNITS_VALUES = 12, UNITS_FUNCTIONS = 24 };

/* Divided by what has their unit: velocities, pressures, forces, an integral. */
typedef struct UnitsAnswer {
  int iterations;
  int count;
  double value[UNITS_VALUES];
} UnitsAnswer;

typedef struct UnitsMaker {
  TesContext *ctx;
  Units units;
  TesFunction *made[UNITS_FUNCTIONS];
  int count;
} UnitsMaker;

/* size times an expression in X, Y and Z. */
static TesFunction *units_function(UnitsMaker *m, double size, const char *expression) {
  char text[1024] = "", number[40];
  size_t at = (size_t)snprintf(text, sizeof text, "%.17g*(", size);
  for (const char *c = expression; *c; c++) {
    snprintf(number, sizeof number, *c >= 'X' && *c <= 'Z' ? "(%c/%.17g)" : "%c",
             *c >= 'X' && *c <= 'Z' ? *c + 'x' - 'X' : *c, m->units.length);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s", number);
  }
  snprintf(text + at, sizeof text - at, ")");
  assert_true(m->count < UNITS_FUNCTIONS);
  assert_ok(m->ctx, tes_function_create_expression(m->ctx, text, &m->made[m->count]));
  return m->made[m->count++];
}

static TesFunction *units_number(UnitsMaker *m, double value) {
  assert_true(m->count < UNITS_FUNCTIONS);
  assert_ok(m->ctx, tes_function_create_constant(m->ctx, value, &m->made[m->count]));
  return m->made[m->count++];
}

static TesMesh *units_mesh(UnitsMaker *m, const UnitsCase *c) {
  TesMesh *mesh;
  const double L = m->units.length;
  const TesMeshDesc desc = {.kind = c->kind,
                            .dim = c->dim,
                            .cells = {c->cells, c->cells, c->cells},
                            .upper = {L, L, L},
                            .refine_where = c->hanging ? units_function(m, 1, "0.3 - X - Y") : NULL};
  assert_ok(m->ctx, tes_mesh_create(m->ctx, &desc, &mesh));
  return mesh;
}

static void units_measure(const UnitsCase *c, const UnitsMaker *m, const TesProblem *problem, double velocity,
                          double pressure, UnitsAnswer *answer) {
  static const char *const of[] = {"u", "v", "p"}, *const axis[] = {"x", "y", "z"};
  const double L = m->units.length,
               points[2][3] = {{0.3 * L, 0.62 * L, 0.41 * L}, {0.71 * L, 0.17 * L, 0.66 * L}};
  double x[6], found[6];
  answer->count = 0;
  for (int i = 0; i < 2; i++)
    for (int d = 0; d < c->dim; d++) x[i * c->dim + d] = points[i][d];
  assert_ok(m->ctx, tes_problem_sample(problem, 2, x, 3, of, found, NULL));
  for (int i = 0; i < 6; i++) answer->value[answer->count++] = found[i] / (i % 3 < 2 ? velocity : pressure);
  for (int d = 0; d < c->dim; d++) {
    const TesValue force = {.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = 3, .of = axis[d]};
    assert_ok(m->ctx, tes_problem_value(problem, &force, &found[0]));
    answer->value[answer->count++] = found[0] / (pressure * pow(L, c->dim - 1));
  }
  assert_ok(m->ctx,
            tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "u*u + v*v"}, &found[0]));
  answer->value[answer->count++] = found[0] / velocity / velocity / pow(L, c->dim);
}

/* In time: three steps. Pressures are mass / (length time^2), of flows in time, whose density is 1, those of a mass
 * length^3. */
static UnitsAnswer units_solve(TesContext *ctx, const UnitsCase *c, Units units) {
  const bool timed = c->equation == TES_NAVIER_STOKES;
  UnitsMaker m = {.ctx = ctx, .units = units};
  const double L = units.length, T = units.time, velocity = L / T,
               pressure = timed ? velocity * velocity : units.mass / L / T / T, nu = pressure * T;
  UnitsAnswer answer = {0};
  TesProblem *problem;
  TesSolveResult result;
  TesMesh *mesh = units_mesh(&m, c);
  TesFunction *lid = units_function(&m, velocity, "16*X*X*(1 - X)*(1 - X)");
  const TesBoundary boundary[] = {{.condition = TES_DIRICHLET},
                                  {.name = "top", .condition = TES_DIRICHLET, .g = {lid}},
                                  {.name = "right", .condition = TES_NEUMANN}};
  const double step = (c->element == TES_ELEMENT_ISO ? 1e-3 : 1e-2) * T;
  const TesProblemDesc desc = {.equation = c->equation,
                               .mesh = mesh,
                               .degree = c->degree,
                               .element = c->element,
                               .flow_form = c->form,
                               .data = {.a = c->nu ? units_function(&m, nu, c->nu) : units_number(&m, nu),
                                        .c = c->alpha > 0 ? units_number(&m, c->alpha * nu / L / L) : NULL,
                                        .f = {units_function(&m, pressure / L, "3*sin(3*Y)"),
                                              units_function(&m, pressure / L, "5*X*X")}},
                               .boundary = boundary,
                               .boundaries = c->open ? 3 : 2,
                               .time = timed ? (TesTimeDesc){.end = 3 * step, .step = step} : (TesTimeDesc){0},
                               .solver = {.tolerance = 1e-11, .max_iterations = 200, .method = c->method}};
  TesStatus status = tes_problem_create(ctx, &desc, &problem);
  if (status == TES_MISSING && c->method == TES_METHOD_DIRECT) goto done; /* no package of factors here */
  assert_ok(ctx, status);
  status = tes_problem_solve(problem, &result);
  if (status != TES_OK)
    fail_msg("%s, %s, units of %g, %g, %g: %s", tes_context_device(ctx), c->name, L, T, units.mass,
             tes_context_message(ctx));
  answer.iterations = result.iterations;
  units_measure(c, &m, problem, velocity, pressure, &answer);
done:
  tes_context_clear(ctx);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  for (int i = 0; i < m.count; i++) tes_function_destroy(&m.made[i]);
  return answer;
}

static inline bool units_skips(TesContext *ctx, const UnitsCase *c) {
  return c->kind == TES_MESH_FOREST && !test_has_forests(ctx);
}

/* The same digits, velocities by velocities, and the same steps but for one that rounding decides; beyond the lengths
 * that float32 holds the cycle is another. */
static void units_compare(TesContext *ctx, const UnitsCase *c, int count, const Units *units) {
  if (units_skips(ctx, c)) return;
  const UnitsAnswer one = units_solve(ctx, c, (Units){1, 1, 1});
  const int group[UNITS_VALUES] = {0, 0, 1, 0, 0, 1, 2, 2, 2 + (c->dim == 2), 3};
  double size[4] = {0};
  for (int i = 0; i < one.count; i++) size[group[i]] = test_larger(size[group[i]], fabs(one.value[i]));
  for (int s = 0; s < count; s++) {
    const UnitsAnswer now = units_solve(ctx, c, units[s]);
    for (int i = 0; i < one.count; i++)
      if (!(fabs(now.value[i] - one.value[i]) <= 1e-8 * size[group[i]]))
        fail_msg("%s, %s, units of %g, %g, %g: value %d is %.12g, %.12g in those of 1",
                 tes_context_device(ctx), c->name, units[s].length, units[s].time, units[s].mass, i,
                 now.value[i], one.value[i]);
    const bool same_cycle = fabs(log10(units[s].length)) < 8;
    if (same_cycle && abs(now.iterations - one.iterations) > 1 + (c->equation == TES_NAVIER_STOKES) * 5)
      fail_msg("%s, %s, units of %g, %g, %g: %d iterations, %d in those of 1", tes_context_device(ctx),
               c->name, units[s].length, units[s].time, units[s].mass, now.iterations, one.iterations);
  }
}

static const UnitsCase units_cases[] = {
    {"stokes q", TES_STOKES, TES_ELEMENT_Q, 2, 2, 4, TES_MESH_BOX, .open = true},
    {"stokes q, closed", TES_STOKES, TES_ELEMENT_Q, 2, 3, 4, TES_MESH_BOX, .open = false},
    {"stokes q, trees", TES_STOKES, TES_ELEMENT_Q, 2, 2, 4, TES_MESH_FOREST, .hanging = true, .open = true},
    {"stokes q, alpha", TES_STOKES, TES_ELEMENT_Q, 2, 2, 4, TES_MESH_BOX, .alpha = 50},
    {"stokes q, direct", TES_STOKES, TES_ELEMENT_Q, 2, 2, 4, TES_MESH_BOX, .method = TES_METHOD_DIRECT},
    {"stokes q in 3D", TES_STOKES, TES_ELEMENT_Q, 3, 2, 2, TES_MESH_BOX, .open = true},
    {"stokes rt", TES_STOKES, TES_ELEMENT_RT, 2, 2, 8, TES_MESH_BOX, .open = true},
    {"stokes rt, closed", TES_STOKES, TES_ELEMENT_RT, 2, 3, 4, TES_MESH_BOX, .open = false},
    {"stokes rt, alpha", TES_STOKES, TES_ELEMENT_RT, 2, 2, 4, TES_MESH_BOX, .alpha = 1e4},
    {"stokes rt in 3D", TES_STOKES, TES_ELEMENT_RT, 3, 1, 4, TES_MESH_BOX, .open = true},
    {"stokes rt, nu that varies", TES_STOKES, TES_ELEMENT_RT, 2, 2, 4, TES_MESH_BOX, .open = true,
     .nu = "1 + 9*X*Y"},
    {"stokes rt, full multigrid", TES_STOKES, TES_ELEMENT_RT, 2, 2, 8, TES_MESH_BOX, .method = TES_METHOD_FMG},
    {"navier_stokes q", TES_NAVIER_STOKES, TES_ELEMENT_Q, 2, 2, 4, TES_MESH_BOX, .open = true},
    {"navier_stokes rt", TES_NAVIER_STOKES, TES_ELEMENT_RT, 2, 2, 4, TES_MESH_BOX, .open = true},
    {"navier_stokes iso", TES_NAVIER_STOKES, TES_ELEMENT_ISO, 2, 1, 8, TES_MESH_BOX, .open = false}};
enum { UNITS_CASES = sizeof units_cases / sizeof *units_cases };

#endif
