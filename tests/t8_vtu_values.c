/* Run: ctest -R t8_vtu_values. Arrays of expressions in files, which tensor products evaluate for eight cells at a
 * time, are what the expressions are node by node: all fields of problems of all kinds of elements and meshes, for any
 * range of cells. */
#include "basis/gauss.h"
#include "forest_testing.h"
#include "io/vtu/vtu.h"
#include "io/vtu/vtu_values.h"
#include "problem/problem.h"
#include "tessera/case.h"

static TesContext *ctx;
enum { MORE = 2 /* degrees above the space */ };

static const struct {
  const char *text;
  bool trees;
} cases[] = {
    {"problem: poisson\nmesh: {box: {cells: [11, 3], spacing: {x: s*s}}}\nspace: {degree: 4}\n"
     "data: {a: 1 + x, f: 1/x}\nboundary: {all: {dirichlet: x*y}}\n",
     false},
    {"problem: poisson\nmesh: {box: {cells: [9, 2, 2]}}\nspace: {degree: 2, element: dg}\ndata: {f: x}\n"
     "boundary: {all: {dirichlet: x*y}}\n",
     false},
    {"problem: poisson\nmesh: {ball: {dim: 3}, refine_where: \"x - 0.2\", geometry_degree: 4}\n"
     "space: {degree: 2}\ndata: {f: 1}\nboundary: {all: {dirichlet: x*y*z}}\n",
     true},
    {"problem: stokes\nmesh: {box: {cells: [10, 4], periodic: x}}\nspace: {degree: 2}\ndata: {f: [y*x, x]}\n"
     "boundary: {all: {velocity: [0, 0]}}\n",
     false},
    {"problem: stokes\nmesh: {box: {cells: [3, 2, 2]}, kind: forest, refine_where: \"x - 0.6\"}\n"
     "space: {degree: 2, element: q}\ndata: {f: [z*x, y, x]}\nboundary: {all: {velocity: [0, 0, 0]}}\n",
     true},
    {"problem: elasticity\nmesh: {box: {cells: [3, 3]}, kind: forest, refine_where: \"x + y - 1.5\",\n"
     "  map: [\"x + 0.2*y*y\", \"y + 0.1*x\"]}\nspace: {degree: 3}\n"
     "data: {young: 1 + x, poisson: 0.3, f: [1, x]}\n"
     "boundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}}\n",
     true},
    {"problem: navier_stokes\nmesh: {box: {cells: [9, 4]}}\nspace: {degree: 1, element: iso}\n"
     "data: {nu: 0.1, f: [y, x*y]}\nboundary: {all: {velocity: [0, 0]}}\ntime: {end: 0.1, cfl: 0.3}\n",
     false},
};

/* values[components][nodes] of a cell, node by node. */
static void values_at(const TesProblem *p, const TesiVtuValues *v, int first, int components, int degree,
                      int64_t cell, double *values) {
  const int dim = p->mesh->dim, q = degree + 1, n = dim == 3 ? q * q * q : q * q;
  double node[TESI_MAX_POINTS], xi[3], x[3], J[9];
  tesi_gauss_lobatto(q, node, NULL);
  for (int i = 0; i < n; i++) {
    const int at[3] = {i % q, i / q % q, i / q / q};
    for (int d = 0; d < dim; d++) xi[d] = node[at[d]];
    assert_ok(ctx, tesi_mesh_points(p->mesh, cell, 1, xi, x, J));
    for (int c = 0; c < components; c++)
      tesi_quantity_at(v->quantity[first + c], cell, 1, xi, x, J, NULL, &values[c * n + i]);
  }
}

static void compare(const TesProblem *p, const TesiVtuValues *v, const TesVtuArray *array, int first,
                    int degree, const char *text) {
  const int q = degree + 1, n = p->mesh->dim == 3 ? q * q * q : q * q, numbers = n * array->components;
  const int64_t cells = p->mesh->cells, from[] = {0, 1, cells / 2, cells - 1},
                to[] = {cells, 2, cells - 1, cells};
  double *got = test_malloc((size_t)(cells * numbers) * sizeof *got),
         *expected = test_malloc((size_t)numbers * 8);
  for (int range = 0; range < 4; range++) {
    for (int64_t i = 0; i < cells * numbers; i++) got[i] = NAN;
    if (array->values)
      memcpy(got, array->values + from[range] * numbers,
             (size_t)((to[range] - from[range]) * numbers) * sizeof *got);
    else
      assert_ok(ctx, array->fill(array->user, from[range], to[range] - from[range], got));
    for (int64_t c = from[range]; c < to[range]; c++) {
      double size = 1e-3;
      values_at(p, v, first, array->components, degree, c, expected);
      for (int i = 0; i < numbers; i++)
        if (isfinite(expected[i])) size = fmax(size, fabs(expected[i]));
      for (int i = 0; i < numbers; i++) {
        const double value = got[(c - from[range]) * numbers + i];
        if (isfinite(expected[i]) ? !(fabs(value - expected[i]) <= 1e-9 * size) : isfinite(value))
          fail_msg("%s: %s in cell %lld is %g, expected %g", text, array->name, (long long)c, value,
                   expected[i]);
      }
    }
  }
  test_free(got), test_free(expected);
}

/* Each field alone, then two arrays of which both need the same functions. */
static void check(const TesProblem *p, bool apart, const char *text) {
  TesiField field[TESI_FIELDS];
  TesVtuArray array[TESI_QUANTITIES];
  TesiVtuValues *v = test_calloc(1, sizeof *v);
  const int fields = tesi_problem_fields(p, field), degree = p->space->degree + MORE;
  int count = 0;
  v->apart = apart;
  for (; count < fields && count < TESI_QUANTITIES - 4; count++)
    assert_ok(ctx, tesi_vtu_values_add(v, p->mesh, field[count].name, 1, &field[count].name, fields, field));
  assert_true(count > 2);
  const char *const two[][2] = {{"u", "ux*uy + x"}, {"uy - y", "1/x"}};
  for (int i = 0; i < 2; i++)
    assert_ok(ctx, tesi_vtu_values_add(v, p->mesh, "two", 2, two[i], fields, field));
  assert_ok(ctx, tesi_vtu_values_begin(v, p->space->scalar[0], degree, array));
  assert_true(!array[0].values == apart);
  for (int i = 0; i < v->arrays; i++) compare(p, v, &array[i], v->array[i].first, degree, text);
  tesi_vtu_values_free(v);
  test_free(v);
}

/* Files of all problems have the levels of trees. */
static TesStatus find_levels(void *user, TesContext *context, const TesVtuDesc *desc) {
  const TesMesh *mesh = user;
  double *level = test_malloc((size_t)mesh->cells * sizeof *level);
  int found = 0;
  (void)context;
  for (int i = 0; i < desc->cell_field_count; i++) {
    const TesVtuArray *array = &desc->cell_fields[i];
    if (strcmp(array->name, "level") != 0) continue;
    found++;
    assert_ok(ctx, array->fill(array->user, 0, mesh->cells, level));
    for (int64_t c = 0; c < mesh->cells; c++) assert_true(level[c] == mesh->leaves.level[c]);
  }
  assert_int_equal(found, mesh->kind == TES_MESH_FOREST);
  test_free(level);
  return TES_OK;
}

static void arrays_are_what_expressions_are(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TesCase *c;
    TesMesh *mesh;
    TesProblem *problem;
    TesSolveResult result;
    if (cases[i].trees && !test_has_forests(ctx)) continue;
    if (tes_case_parse(ctx, cases[i].text, "a.yaml", 0, NULL, &c))
      fail_msg("%s\n%s", cases[i].text, tes_context_message(ctx));
    assert_ok(ctx, tes_mesh_create(ctx, &c->mesh, &mesh));
    c->problem.mesh = mesh;
    assert_ok(ctx, tes_problem_create(ctx, &c->problem, &problem));
    if (c->problem.time.end > 0)
      assert_ok(ctx, tes_problem_step(problem, &result));
    else
      assert_ok(ctx, tes_problem_solve(problem, &result));
    check(problem, false, cases[i].text);
    check(problem, true, cases[i].text);
    assert_ok(ctx, tesi_vtu_problem(problem, 0, NULL, find_levels, mesh));
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
    tes_case_destroy(&c);
  }
}

static int begin(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 2, .verbosity = TES_QUIET}, &ctx,
                            NULL, 0);
}

static int end(void **state) {
  (void)state;
  const int left = tes_context_memory(ctx) != 0;
  tes_context_destroy(&ctx);
  return left;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_are_what_expressions_are)};
  return cmocka_run_group_tests(tests, begin, end);
}
