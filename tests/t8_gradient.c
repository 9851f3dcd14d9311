/* Run: ctest -R t8_gradient. Derivatives of values by data against central differences of solves (fourth order, two
 * steps) and hand formulas: poisson, transport, elasticity and stokes with their forces, on boxes, trees and curved
 * cells; parts of cells; refusals; devices with kernels beside the processor. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "device_testing.h"

static TesContext *ctx;

typedef struct Case {
  const char *name, *text;
  const char *values[5];
  /* Names of constants; "key|text" with the text that the case gives; "key[i]|list" with @ for what is added. */
  const char *keys[9];
} Case;

/* A slab: u = (1 - x) g0 + x g1 + f x (1 - x) / (2 a) */
static const char slab[] = "problem: poisson\nconstants: {g0: 0.3, g1: 0.7, k: 2, twice: 2*k}\nmesh: {box: "
                           "{dim: 2, cells: [3, 2]}}\n"
                           "space: {degree: 2}\ndata: {a: twice/2, f: 3}\nsolver: {tolerance: 1e-13}\n"
                           "boundary: {all: {neumann: 0}, left: {dirichlet: g0}, right: {dirichlet: g1}}\n"
                           "output: {values: {mean: {mean: domain}, middle: {point: [0.5, 0.5]}, scaled: "
                           "{integral: domain, of: k*u},"
                           " made: {of: mean*mean + k}}}\n";

static const Case cases[] = {
    {"varying box",
     "problem: poisson\nconstants: {k: 0.7, g: 0.4, d: 1.3}\nmesh: {box: {dim: 2, cells: [4, 3], upper: [1, "
     "0.8]}}\n"
     "space: {degree: 3}\ndata: {a: \"1 + k*x*x + 0.2*sin(y)\", c: \"0.5 + k*y\", f: \"exp(k*x) + d\"}\n"
     "boundary: {all: {dirichlet: \"g*x + y\"}, right: {robin: {alpha: \"1 + d*y\", g: \"k + x\"}}, top: "
     "{neumann: "
     "\"d*x\"}}\nsolver: {tolerance: 1e-13}\n"
     "output: {values: {square: {integral: domain, of: u*u + k*ux}, slope: {point: [0.31, 0.42], of: ux*uy}, "
     "out: "
     "{integral: right, of: u*u*nx}, heat: {mean: top, of: \"sin(u) + uy\"}}}\n",
     {"square", "slope", "out", "heat"},
     {"k", "g", "d", "data.a|1 + k*x*x + 0.2*sin(y)", "c|0.5 + k*y", "data.f|exp(k*x) + d",
      "boundary.right.robin.alpha|1 + d*y", "boundary.top.neumann|d*x", "boundary.all.dirichlet|g*x + y"}},
    {"box in 3D",
     "problem: poisson\nconstants: {k: 0.7, d: 1.3}\nmesh: {box: {dim: 3, cells: [3, 2, 2]}}\n"
     "space: {degree: 2}\ndata: {a: k, c: 0.2, f: d*z}\nboundary: {all: {dirichlet: k*z}, right: {neumann: "
     "d}}\n"
     "solver: {tolerance: 1e-13}\noutput: {values: {square: {integral: domain, of: u*u}, slope: {point: "
     "[0.3, 0.4, "
     "0.2], of: uz*u}}}\n",
     {"square", "slope"},
     {"k", "d", "data.a|k"}},
    {"trees, a matrix",
     "problem: poisson\nconstants: {k: 0.7, d: 0.3}\nmesh: {box: {dim: 2, cells: [3, 3]}, kind: forest, "
     "refine_where: "
     "\"0.4 - x\"}\nspace: {degree: 3}\ndata: {a: [[\"1 + k*x\", d], [d, 2]], f: d*x}\n"
     "boundary: {all: {dirichlet: k*y}, right: {neumann: d}}\nsolver: {tolerance: 1e-13}\n"
     "output: {values: {square: {integral: domain, of: u*u}, slope: {point: [0.3, 0.4], of: uy}, out: "
     "{integral: "
     "right, of: uy*u}}}\n",
     {"square", "slope", "out"},
     {"k", "d", "data.f|d*x"}},
    {"disk",
     "problem: poisson\nconstants: {k: 0.7, d: 0.3}\nmesh: {ball: {dim: 2}, refine: 1}\nspace: {degree: 3}\n"
     "data: {a: \"1 + k*x*x\", f: \"1 + d*x\", c: k}\nboundary: {all: {robin: {alpha: 2 + d, g: "
     "k*x}}}\nsolver: "
     "{tolerance: 1e-13}\noutput: {values: {square: {integral: domain, of: u*u}, edge: {integral: surface, "
     "of: u}}}\n",
     {"square"},
     {"k", "d", "data.a|1 + k*x*x", "boundary.all.robin.alpha|2 + d"}},
    {"transport",
     "problem: transport\nconstants: {k: 0.7, d: 0.3}\nmesh: {box: {dim: 2, cells: [6, 6]}}\nspace: {degree: "
     "3}\n"
     "data: {a: \"0.5 + k*x\", b: [\"1 + d*y\", \"0.3*k\"], c: 0.1, f: d*x + 1}\n"
     "boundary: {all: {dirichlet: k*y}, right: {neumann: d}, top: {flux: 0.2}}\nsolver: {tolerance: 1e-13}\n"
     "output: {values: {square: {integral: domain, of: u*u}, slope: {point: [0.3, 0.4], of: ux}}}\n",
     {"square", "slope"},
     {"k", "d", "data.a|0.5 + k*x", "boundary.top.flux|0.2", "data.b[0]|[\"1 + d*y + @\", \"0.3*k\"]"}},
    {"conservative transport on trees",
     "problem: transport\nconstants: {k: 0.7, d: 0.3}\nmesh: {box: {dim: 2, cells: [5, 5]}, kind: "
     "forest}\nspace: "
     "{degree: 3}\ndata: {a: 0.5 + k, b: [\"1 + d*y\", \"0.3*k\"], form: conservative, f: d*x + 1}\n"
     "boundary: {all: {dirichlet: 0}, right: {neumann: d}, top: {flux: 0.2}}\nsolver: {tolerance: 1e-13}\n"
     "output: {values: {square: {integral: domain, of: u*u}}}\n",
     {"square"},
     {"k", "d", "boundary.top.flux|0.2"}},
    {"plane strain",
     "problem: elasticity\nconstants: {E: 200, nu: 0.3, q: 0.7, T: 0.4}\nmesh: {box: {dim: 2, cells: [4, 2], "
     "upper: "
     "[2, 1]}}\nspace: {degree: 2}\ndata: {young: E*(1 + 0.1*x), poisson: nu, expansion: 0.3, temperature: "
     "T*y, f: [0, "
     "-q]}\nboundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0.01]}, right: {robin: {alpha: 3*q, "
     "g: [q, "
     "0]}}}\nsolver: {tolerance: 1e-13}\noutput: {values: {end: {point: [2, 1], of: v}, stress: {integral: "
     "domain, of: "
     "von_mises}, sxx: {point: [0.3, 0.4], of: sxx}, energy: {mean: domain, of: strain_energy}}}\n",
     {"end", "stress", "sxx", "energy"},
     {"E", "nu", "q", "T", "data.poisson|nu", "data.f[1]|[0, \"-q + @\"]",
      "boundary.left.displacement[1]|[0, \"0.01 + @\"]", "data.expansion|0.3"}},
    {"plane stress on trees",
     "problem: elasticity\nconstants: {E: 200, nu: 0.3, q: 0.7}\nmesh: {box: {dim: 2, cells: [4, 2], upper: "
     "[2, 1]}, "
     "kind: forest, refine_where: \"0.6 - x\"}\nspace: {degree: 2}\ndata: {young: \"E*(1 + 0.1*x)\", "
     "poisson: nu, "
     "plane: stress}\nboundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}, right: {force: [q, "
     "-q]}}\n"
     "solver: {tolerance: 1e-13}\noutput: {values: {end: {point: [2, 1], of: v}, stress: {integral: domain, "
     "of: "
     "von_mises}}}\n",
     {"end", "stress"},
     {"E", "nu", "q", "boundary.right.force[0]|[\"q + @\", -q]"}},
    {"elastic block",
     "problem: elasticity\nconstants: {E: 200, nu: 0.3, q: 0.7}\nmesh: {box: {dim: 3, cells: [2, 2, 2]}}\n"
     "space: {degree: 2}\ndata: {young: E, poisson: nu}\nboundary: {all: {traction: [0, 0, 0]}, bottom: "
     "{displacement: "
     "[0, 0, 0]}, top: {pressure: q}}\nsolver: {tolerance: 1e-13}\noutput: {values: {top: {mean: top, of: "
     "v}, shear: "
     "{integral: domain, of: sxy*sxy}}}\n",
     {"top", "shear"},
     {"E", "nu", "q", "boundary.top.pressure|q"}},
    {"supports that meet",
     "problem: elasticity\nconstants: {E: 200, nu: 0.3, q: 0.7, T: 0.4}\nmesh: {box: {dim: 2, cells: [4, 2], "
     "upper: [2, 1]}, kind: forest, refine_where: \"0.6 - x\"}\nspace: {degree: 2}\ndata: {young: \"E*(1 + "
     "0.1*x)\", poisson: nu, expansion: 0.3, temperature: T*y, f: [0, -q]}\nboundary: {all: {traction: [0, "
     "q]}, "
     "left: {displacement: [0, 0.01]}, bottom: {displacement: [\"0.02*x\", 0]}, top: {robin: {alpha: 3, g: "
     "[q, "
     "0]}}}\nsolver: {tolerance: 1e-13}\noutput: {values: {push: {force: left, of: x}, hold: {force: bottom, "
     "of: "
     "y}}}\n",
     {"push", "hold"},
     {"E", "nu", "q", "T", "data.f[1]|[0, \"-q + @\"]", "boundary.left.displacement[1]|[0, \"0.01 + @\"]",
      "boundary.bottom.displacement[0]|[\"0.02*x + @\", 0]"}},
    {"stokes",
     "problem: stokes\nconstants: {m: 0.7, k: 1.3}\nmesh: {box: {dim: 2, cells: [4, 3], upper: [2, "
     "1]}}\nspace: "
     "{element: q, degree: 3}\ndata: {nu: m, alpha: 0.4*k, f: [\"k*y\", \"x + m\"]}\nboundary: {all: "
     "{velocity: "
     "[0, 0]}, left: {velocity: [\"k*y*(1 - y)\", 0]}, right: {pressure: 0.3*k + y}}\nsolver: {tolerance: "
     "1e-13}\noutput: {values: {drag: {force: bottom, of: x}, out: {integral: right, of: u*u*nx + p}, p: "
     "{point: [0.31, 0.42], of: p*vx}, push: {force: left, of: x}, loss: {mean: domain, of: ux*uy + py}}}\n",
     {"drag", "out", "p", "push", "loss"},
     {"m", "k", "data.nu|m", "data.alpha|0.4*k", "data.f[1]|[\"k*y\", \"x + m + @\"]",
      "boundary.right.pressure|0.3*k + y", "boundary.left.velocity[0]|[\"k*y*(1 - y) + @\", 0]"}},
    {"stokes in a closed box",
     "problem: stokes\nconstants: {m: 0.7, k: 1.3}\nmesh: {box: {dim: 2, cells: [3, 3]}, kind: forest, "
     "refine_where: \"0.4 - x\"}\nspace: {element: q, degree: 2}\ndata: {nu: m, f: [\"k*y\", \"x*x\"], form: "
     "symmetric}\nboundary: {all: {velocity: [0, 0]}, top: {velocity: [k, 0]}, right: slip}\nsolver: "
     "{tolerance: "
     "1e-13}\noutput: {values: {drag: {force: top, of: x}, lift: {force: left, of: x}, p: {point: [0.31, "
     "0.42], "
     "of: p}, square: {integral: domain, of: u*u + p*p}}}\n",
     {"drag", "lift", "p", "square"},
     {"m", "k", "data.f[0]|[\"k*y + @\", \"x*x\"]", "boundary.top.velocity[0]|[\"k + @\", 0]"}},
    {"stokes round a cylinder",
     "problem: stokes\nconstants: {m: 0.7, k: 1.3}\nmesh: {channel: {dim: 2}}\nspace: {element: q, degree: "
     "2}\ndata: {nu: m}\nboundary: {all: {velocity: [0, 0]}, inflow: {velocity: [\"k*y*(0.41 - y)\", 0]}, "
     "outflow: outflow}\nsolver: {tolerance: 1e-13}\noutput: {values: {drag: {force: cylinder, of: x}, flow: "
     "{integral: outflow, of: u}}}\n",
     {"drag", "flow"},
     {"m", "k"}},
    {"stokes in a cube",
     "problem: stokes\nconstants: {m: 0.7, k: 1.3}\nmesh: {box: {dim: 3, cells: [2, 2, 2]}}\nspace: "
     "{element: q, "
     "degree: 2}\ndata: {nu: m, f: [\"k*y\", 0, z]}\nboundary: {all: {velocity: [0, 0, 0]}, left: {velocity: "
     "[\"k*y*(1 - y)*z*(1 - z)\", 0, 0]}, right: outflow}\nsolver: {tolerance: 1e-13}\noutput: {values: "
     "{drag: "
     "{force: front, of: x}, loss: {integral: domain, of: uy*uz + p}}}\n",
     {"drag", "loss"},
     {"m", "k"}},
    {"a roller across the axes that meets a support",
     "problem: elasticity\nconstants: {E: 200, nu: 0.3, q: 0.7, T: 0.4}\nmesh: {box: {dim: 2, cells: [3, 2], "
     "upper: "
     "[2, 1]}, map: [\"0.8*x - 0.6*y\", \"0.6*x + 0.8*y\"]}\nspace: {degree: 2}\ndata: {young: \"E*(1 + "
     "0.1*x)\", poisson: nu, expansion: 0.3, temperature: T*y, f: [q, -q]}\nboundary: {all: {traction: [0, "
     "q]}, "
     "left: {displacement: [0, 0]}, bottom: roller}\nsolver: {tolerance: 1e-13}\noutput: {values: {push: "
     "{force: "
     "left, of: x}, hold: {force: bottom, of: y}}}\n",
     {"push", "hold"},
     {"E", "nu", "q", "T", "data.f[1]|[q, \"-q + @\"]"}},
    {"slip across the axes that meets a wall",
     "problem: stokes\nconstants: {nu: 0.5, k: 1, q: 0.7}\nmesh: {box: {dim: 2, cells: [3, 2], upper: [2, "
     "1]}, map: "
     "[\"0.8*x - 0.6*y\", \"0.6*x + 0.8*y\"]}\nspace: {degree: 2, element: q}\ndata: {nu: nu, f: [q, x*q], "
     "form: "
     "symmetric}\nboundary: {all: {velocity: [0, 0]}, top: {velocity: [\"0.8*k\", \"0.6*k\"]}, bottom: slip, "
     "right: outflow}\nsolver: {tolerance: 1e-13}\noutput: {values: {push: {force: left, of: x}, hold: "
     "{force: "
     "bottom, of: y}}}\n",
     {"push", "hold"},
     {"nu", "k", "q", "data.f[1]|[q, \"x*q + @\"]"}}};
enum { CASES = sizeof cases / sizeof *cases };

/* False: a part is missing in this build. */
static bool solve(const char *text, int overrides, const char *const *override, TesCase **c, TesProblem **p,
                  TesMesh **mesh) {
  TesSolveResult result;
  assert_ok(ctx, tes_case_parse(ctx, text, "case.yaml", overrides, override, c));
  const TesStatus status = tes_mesh_create(ctx, &(*c)->mesh, mesh);
  if (status == TES_MISSING) {
    tes_context_clear(ctx);
    tes_case_destroy(c);
    return false;
  }
  assert_ok(ctx, status);
  (*c)->problem.mesh = *mesh;
  assert_ok(ctx, tes_problem_create(ctx, &(*c)->problem, p));
  assert_ok(ctx, tes_problem_solve(*p, &result));
  return true;
}

static void leave(TesCase **c, TesProblem **p, TesMesh **mesh) {
  tes_problem_destroy(p);
  tes_mesh_destroy(mesh);
  tes_case_destroy(c);
}

static double number_of(const TesCase *c, const TesProblem *p, const TesMesh *mesh, const char *name) {
  double number[8] = {0};
  TesValue value;
  int wanted = -1;
  for (int i = 0; i < c->values; i++) {
    if (!strcmp(c->value[i].name, name)) wanted = i;
    if (c->value[i].derived) continue;
    assert_ok(ctx, tes_case_value(c, i, mesh, &value));
    assert_ok(ctx, tes_problem_value(p, &value, &number[i]));
  }
  tes_case_derive(c, number);
  assert_true(wanted >= 0);
  return number[wanted];
}

/* The number of a constant. */
static double constant_of(const Case *of, const char *name) {
  const char *at = strstr(of->text, name);
  double now = NAN;
  while (at && (at[strlen(name)] != ':' || !strchr(" {", at[-1]))) at = strstr(at + 1, name);
  if (!at || sscanf(at + strlen(name), ": %lf", &now) != 1) fail_msg("%s: no constant %s", of->name, name);
  return now;
}

/* The value with a datum moved by `step`. */
static double moved(const Case *of, const char *key, double step, const char *value) {
  char text[300];
  const char *bar = strchr(key, '|'), *override = text;
  TesCase *c;
  TesProblem *p;
  TesMesh *mesh;
  const char *at = bar ? strchr(bar, '@') : NULL;
  if (at) {
    snprintf(text, sizeof text, "%.*s=%.*s(%.17g)%s", (int)strcspn(key, "["), key, (int)(at - bar - 1),
             bar + 1, step, at + 1);
  } else if (bar) {
    snprintf(text, sizeof text, "%s%.*s=(%s) + (%.17g)",
             strchr(key, '.') && strchr(key, '.') < bar ? "" : "data.", (int)(bar - key), key, bar + 1, step);
  } else {
    snprintf(text, sizeof text, "constants.%s=%.17g", key, constant_of(of, key) + step);
  }
  assert_true(solve(of->text, 1, &override, &c, &p, &mesh));
  const double number = number_of(c, p, mesh, value);
  leave(&c, &p, &mesh);
  return number;
}

static void equals_differences(const Case *of) {
  TesCase *c;
  TesProblem *p;
  TesMesh *mesh;
  if (!solve(of->text, 0, NULL, &c, &p, &mesh)) return;
  for (int v = 0; v < 5 && of->values[v]; v++) {
    TesCaseDatum datum[9] = {{0}};
    char name[9][100];
    int count = 0;
    for (; count < 9 && of->keys[count]; count++) {
      snprintf(name[count], sizeof *name, "%.*s", (int)strcspn(of->keys[count], "|"), of->keys[count]);
      datum[count].key = name[count], datum[count].derivative = NAN;
    }
    assert_ok(ctx, tes_case_gradient(c, p, of->values[v], count, datum));
    for (int k = 0; k < count; k++) {
      const double h =
          2e-3 * (strchr(of->keys[k], '.') || strchr(of->keys[k], '|') ? 1 : constant_of(of, of->keys[k]));
      assert_true(isfinite(datum[k].derivative));
      const double one = moved(of, of->keys[k], h, of->values[v]) - moved(of, of->keys[k], -h, of->values[v]),
                   two = moved(of, of->keys[k], 2 * h, of->values[v]) -
                         moved(of, of->keys[k], -2 * h, of->values[v]),
                   expected = (8 * one - two) / (12 * h), size = fabs(expected) + 1e-3 * fabs(one / h);
      if (!(fabs(datum[k].derivative - expected) <= 1e-7 * size + 1e-10))
        fail_msg("%s: d %s / d %s is %.12g, differences give %.12g", of->name, of->values[v], of->keys[k],
                 datum[k].derivative, expected);
    }
  }
  leave(&c, &p, &mesh);
}

static void gradients_are_differences(void **state) {
  (void)state;
  for (int i = 0; i < CASES; i++) equals_differences(&cases[i]);
}

/* mean = (g0 + g1) / 2 + f / (12 a), middle = (g0 + g1) / 2 + f / (8 a); a = k, f = 3 */
static void slab_by_hand(void **state) {
  (void)state;
  TesCase *c;
  TesProblem *p;
  TesMesh *mesh;
  const double f = 3, k = 2, mean = 0.5 + f / (12 * k);
  const double expected[4][5] = {
      {-f / (12 * k * k), 1 / (12 * k), 0.5, 0.5, -f / (12 * k * k)},
      {-f / (8 * k * k), 1 / (8 * k), 0.5, 0.5, -f / (8 * k * k)},
      {mean - f / (12 * k), 1. / 12, 0.5 * k, 0.5 * k, -f / (12 * k)},
      {1 - 2 * mean * f / (12 * k * k), 2 * mean / (12 * k), mean, mean, -2 * mean * f / (12 * k * k)}};
  static const char *const values[4] = {"mean", "middle", "scaled", "made"};
  assert_true(solve(slab, 0, NULL, &c, &p, &mesh));
  for (int v = 0; v < 4; v++) {
    TesCaseDatum datum[5] = {{"constants.k", NULL, 0},
                             {"data.f", NULL, 0},
                             {"g0", NULL, 0},
                             {"boundary.right.dirichlet", NULL, 0},
                             {"data.a", NULL, 0}};
    assert_ok(ctx, tes_case_gradient(c, p, values[v], 5, datum));
    for (int i = 0; i < 5; i++) assert_near(datum[i].derivative, expected[v][i], 1e-11);
  }
  leave(&c, &p, &mesh);
}

/* The part of a cell is the derivative by a datum that varies there alone, and the parts add up. */
static void cells_have_parts(void **state) {
  (void)state;
  static const char text[] = "problem: poisson\nconstants: {k: 0, l: 0}\nmesh: {box: {dim: 2, cells: [4, "
                             "4]}%s}\nspace: {degree: 3}\n"
                             "data: {a: \"1 + x + k*(x < 0.25 && y < 0.25)\", f: \"1 + l*(x > 0.75 && y > "
                             "0.75)\"}\nsolver: {tolerance: "
                             "1e-13}\noutput: {values: {square: {integral: domain, of: u*u}}}\n";
  for (int kind = 0; kind < 2; kind++) {
    char whole[600];
    TesCase *c;
    TesProblem *p;
    TesMesh *mesh;
    double cells[2][16], sum[2] = {0};
    snprintf(whole, sizeof whole, text, kind ? ", kind: forest" : "");
    if (!solve(whole, 0, NULL, &c, &p, &mesh)) continue;
    TesCaseDatum datum[4] = {{"k", NULL, 0}, {"l", NULL, 0}, {"data.a", cells[0], 0}, {"data.f", cells[1], 0}};
    assert_ok(ctx, tes_case_gradient(c, p, "square", 4, datum));
    double first = NAN, last = NAN;
    for (int i = 0; i < 16; i++) {
      double x[2];
      assert_ok(ctx, tes_mesh_evaluate(mesh, i, 1, (double[]){0.5, 0.5}, x, NULL));
      if (x[0] < 0.25 && x[1] < 0.25) first = cells[0][i];
      if (x[0] > 0.75 && x[1] > 0.75) last = cells[1][i];
      for (int k = 0; k < 2; k++) sum[k] += cells[k][i];
    }
    assert_near(first, datum[0].derivative, 1e-12);
    assert_near(last, datum[1].derivative, 1e-12);
    assert_true(fabs(first) > 1e-6 && fabs(last) > 1e-6);
    for (int k = 0; k < 2; k++) assert_near(sum[k], datum[2 + k].derivative, 1e-12);
    leave(&c, &p, &mesh);
  }
}

/* The solution and later solves are what they were. */
static void problems_stay(void **state) {
  (void)state;
  TesCase *c;
  TesProblem *p;
  TesMesh *mesh;
  TesSolveResult result;
  for (int i = 0; i < CASES; i += 10) {
    const char *value = cases[i].values[0];
    assert_true(solve(cases[i].text, 0, NULL, &c, &p, &mesh));
    const double before = number_of(c, p, mesh, value);
    assert_ok(ctx, tes_case_gradient(c, p, value, 1, &(TesCaseDatum){.key = "k"}));
    assert_true(number_of(c, p, mesh, value) == before);
    assert_ok(ctx, tes_problem_solve(p, &result));
    assert_true(number_of(c, p, mesh, value) == before);
    leave(&c, &p, &mesh);
  }
}

/* The solution and its adjoint by kernels: as the processor has them. */
static void on_device(const char *device) {
  static const int some[] = {0, 2, 5, 6, 10, 11, 12};
  TesContext *host = ctx, *other = test_device(device);
  if (!other) skip();
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    const Case *of = &cases[some[i]];
    double derivative[2] = {NAN, NAN};
    for (int k = 0; k < 2; k++) {
      TesCase *c;
      TesProblem *p;
      TesMesh *mesh;
      TesCaseDatum datum = {.key = of->keys[0]};
      ctx = k ? other : host;
      if (!solve(of->text, 0, NULL, &c, &p, &mesh)) continue;
      assert_ok(ctx, tes_case_gradient(c, p, of->values[0], 1, &datum));
      derivative[k] = datum.derivative;
      leave(&c, &p, &mesh);
    }
    if (!isnan(derivative[0])) assert_near(derivative[1], derivative[0], 1e-9 * fabs(derivative[0]));
  }
  ctx = host;
  tes_context_destroy(&other);
}

static void in_the_emulator(void **state) {
  (void)state;
  on_device("emulator");
}

static void on_a_gpu(void **state) {
  (void)state;
  on_device("cuda");
}

static void refused(void **state) {
  (void)state;
  static const char flow[] =
      "problem: stokes\nmesh: {box: {dim: 2, cells: [4, 4]}}\ndata: {f: [1, 0]}\noutput: "
      "{values: {m: {mean: domain, of: u}}}\n";
  static const char other[] =
      "problem: poisson\nconstants: {k: 1, n: 2}\nmesh: {box: {dim: 2, cells: [4, 4], upper: "
      "[k, 1]}}\ndata: {a: n, f: 1, c: \"tgamma(1 + n*x)\"}\noutput: {values: {m: {mean: "
      "domain}, top: {max: domain}}}\n";
  static const char closed[] =
      "problem: stokes\nmesh: {box: {dim: 2, cells: [4, 4]}}\nspace: {element: q}\n"
      "boundary: {all: {velocity: [0, 0]}, left: {velocity: [0, 0]}}\noutput: {values: "
      "{m: {mean: domain, of: u}}}\n";
  static const struct {
    const char *text, *value, *key, *message;
  } bad[] = {{slab, "mena", "k", "output.values has no value mena; did you mean 'mean'?"},
             {slab, "mean", "kk", "gradient by kk: expected a name of constants"},
             {slab, "mean", "space.degree", "expected a name of constants, or the key of a number"},
             {slab, "mean", "data.c", "the case does not give it"},
             {slab, "mean", "boundary.top.dirichlet", "the case does not give it"},
             {other, "m", "k", "mesh.box.upper: it depends on k"},
             {other, "m", "n", "tgamma() has no derivative here"},
             {other, "top", "data.a", "a largest or smallest value has kinks"},
             {flow, "m", "data.f", "it is a list: add the number of an entry"},
             {flow, "m", "data.f[0]", "gradients are there for poisson, transport, elasticity and stokes with"},
             {closed, "m", "boundary.left.velocity[0]", "its net flux is -1, of 1 through"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TesCase *c;
    TesProblem *p;
    TesMesh *mesh;
    tes_context_clear(ctx);
    assert_true(solve(bad[i].text, 0, NULL, &c, &p, &mesh));
    TesCaseDatum datum = {.key = bad[i].key};
    assert_int_equal(tes_case_gradient(c, p, bad[i].value, 1, &datum), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), bad[i].message))
      fail_msg("%s: %s", bad[i].key, tes_context_message(ctx));
    tes_context_clear(ctx);
    leave(&c, &p, &mesh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slab_by_hand),     cmocka_unit_test(gradients_are_differences),
      cmocka_unit_test(cells_have_parts), cmocka_unit_test(problems_stay),
      cmocka_unit_test(in_the_emulator),  cmocka_unit_test(on_a_gpu),
      cmocka_unit_test(refused)};
  if (tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tes_context_destroy(&ctx);
  return failed;
}
