/* Run: ctest -R t7_mpi_gradient. Derivatives of values by data on several ranks are those of one rank: values over
 * cells, over boundaries, and at points that cells of several ranks have; parts of cells add up to the whole.
 * Ranks: 2 3 4 */
#include "tessera/gradient.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "mpi_testing.h"

enum { VALUES = 3, KEYS = 3 };
typedef struct Case {
  const char *text, *values[VALUES], *keys[KEYS];
  bool parts; /* of the first key */
} Case;

static const Case cases[] = {
    {"problem: poisson\nconstants: {k: 0.7, d: 0.3}\n"
     "mesh: {box: {cells: [4, 4]}, kind: forest, refine_where: \"0.4 - x\"}\nspace: {degree: 3}\n"
     "data: {a: [[\"1 + k*x\", d], [d, 2]], f: d*x}\nboundary: {all: {dirichlet: k*y}, right: {neumann: d}}\n"
     "solver: {tolerance: 1e-13}\noutput: {values: {square: {integral: domain, of: u*u}, slope: {point: "
     "[0.5, 0.5], "
     "of: uy*u}, out: {mean: right, of: uy*u}}}\n",
     {"square", "slope", "out"},
     {"data.f", "k", "d"},
     true},
    {"problem: poisson\nconstants: {k: 0.7}\nmesh: {box: {cells: [3, 8]}}\nspace: {degree: 2}\n"
     "data: {a: k, c: 0.2, f: 1}\nboundary: {all: {dirichlet: k*y}, right: {neumann: 1}}\n"
     "solver: {tolerance: 1e-13}\noutput: {values: {square: {integral: domain, of: u*u}, slope: {point: "
     "[0.3, 0.5], of: "
     "uy}}}\n",
     {"square", "slope", NULL},
     {"data.c", "k", NULL},
     true},
    {"problem: transport\nconstants: {k: 0.7, d: 0.3}\nmesh: {box: {cells: [4, 4]}, kind: forest}\n"
     "space: {degree: 3}\ndata: {a: \"0.5 + k*x\", b: [\"1 + d*y\", \"0.3*k\"], c: 0.1, f: d*x + 1}\n"
     "boundary: {all: {dirichlet: k*y}, right: {neumann: d}, top: {flux: 0.2}}\nsolver: {tolerance: 1e-13}\n"
     "output: {values: {square: {integral: domain, of: u*u}, slope: {point: [0.5, 0.25], of: ux}}}\n",
     {"square", "slope", NULL},
     {"k", "d", "boundary.top.flux"},
     false},
    {"problem: elasticity\nconstants: {E: 200, nu: 0.3, q: 0.7}\nmesh: {box: {cells: [4, 2], upper: [2, 1]}, "
     "kind: forest, refine_where: \"0.6 - x\"}\nspace: {degree: 2}\ndata: {young: \"E*(1 + 0.1*x)\", "
     "poisson: nu, "
     "plane: stress}\nboundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}, right: {force: [q, "
     "-q]}}\n"
     "solver: {tolerance: 1e-13}\noutput: {values: {end: {point: [2, 1], of: v}, stress: {integral: domain, "
     "of: "
     "von_mises}, inner: {point: [1, 0.5], of: sxy}}}\n",
     {"end", "stress", "inner"},
     {"E", "nu", "q"},
     false},
    {"problem: stokes\nconstants: {m: 0.7, k: 1.3}\nmesh: {box: {cells: [4, 4]}, kind: forest, refine_where: "
     "\"0.4 "
     "- x\"}\nspace: {element: q, degree: 2}\ndata: {nu: m, f: [\"k*y\", \"x*x\"]}\nboundary: {all: "
     "{velocity: [0, "
     "0]}, left: {velocity: [\"k*y*(1 - y)\", 0]}, right: {pressure: 0.3*k + y}}\nsolver: {tolerance: "
     "1e-13}\n"
     "output: {values: {drag: {force: bottom, of: x}, push: {force: left, of: x}, p: {point: [0.5, 0.5], of: "
     "p}}}\n",
     {"p", "drag", "push"},
     {"data.nu", "m", "k"},
     true}};

/* derivative[VALUES][KEYS]; parts[VALUES]: the sums of those of cells of the first key. */
static void differentiate(TesContext *ctx, const Case *is, double derivative[VALUES][KEYS],
                          double parts[VALUES]) {
  TesCase *c;
  TesMesh *mesh;
  TesProblem *p;
  TesSolveResult result;
  assert_ok(ctx, tes_case_parse(ctx, is->text, "case.yaml", 0, NULL, &c));
  assert_ok(ctx, tes_mesh_create(ctx, &c->mesh, &mesh));
  c->problem.mesh = mesh;
  assert_ok(ctx, tes_problem_create(ctx, &c->problem, &p));
  assert_ok(ctx, tes_problem_solve(p, &result));
  double *cells = calloc((size_t)mesh->cells + 1, sizeof *cells);
  for (int v = 0; v < VALUES && is->values[v]; v++) {
    TesCaseDatum datum[KEYS] = {{.cells = is->parts && v == 0 ? cells : NULL}};
    int keys = 0;
    for (; keys < KEYS && is->keys[keys]; keys++)
      datum[keys].key = is->keys[keys], datum[keys].derivative = NAN;
    assert_ok(ctx, tes_case_gradient(c, p, is->values[v], keys, datum));
    for (int k = 0; k < keys; k++) derivative[v][k] = datum[k].derivative;
    parts[v] = 0;
    for (int64_t i = 0; datum[0].cells && i < mesh->cells; i++) parts[v] += cells[i];
  }
  free(cells);
  tes_problem_destroy(&p);
  tes_mesh_destroy(&mesh);
  tes_case_destroy(&c);
}

static void gradients_are_one(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double one[VALUES][KEYS], many[VALUES][KEYS], whole[VALUES], parts[VALUES];
    differentiate(alone, &cases[i], one, whole);
    differentiate(together, &cases[i], many, parts);
    tesi_reduce(together, TESI_SUM, VALUES, parts);
    for (int v = 0; v < VALUES && cases[i].values[v]; v++)
      for (int k = 0; k < KEYS && cases[i].keys[k]; k++)
        if (!(fabs(many[v][k] - one[v][k]) <= 1e-8 * (1e-3 + fabs(one[v][k]))))
          fail_msg("case %d: d %s / d %s is %.12g, not %.12g", (int)i, cases[i].values[v], cases[i].keys[k],
                   many[v][k], one[v][k]);
    if (cases[i].parts) assert_near(parts[0], whole[0], 1e-8 * fabs(whole[0]));
    if (cases[i].parts) assert_near(parts[0], many[0][0], 1e-8 * fabs(whole[0]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_one)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
