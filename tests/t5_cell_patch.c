/* Run: ctest -R t5_cell_patch. Cell patches over forests: against the dense reference, exact where a patch is the
 * whole problem, symmetric and definite, and fewer iterations than the diagonal on stretched cells.
 * Labels: simd */
#include <math.h>
#include <stdlib.h>
#include "operator_testing.h"
#include "forest_testing.h"
#include "smoother/cell_patch/cell_patch.h"
#include "tessera/tessera.h"
#include "smoother/smoother.h"

typedef struct Case {
  TesContext *ctx;
  TesSpace *space;
  TesFunction *a, *c;
  TesOperator *op;
} Case;

/* Cells are marked at random `times` times. */
static Case make_case(const TesMeshDesc *desc, int times, int degree, TesPrecision precision, bool varies) {
  Case s = {0};
  uint64_t seed = (uint64_t)degree + 7;
  TesMesh *forest;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.verbosity = TES_QUIET, .threads = 2}, &s.ctx, NULL, 0), TES_OK);
  if (!test_has_forests(s.ctx)) skip();
  assert_ok(s.ctx, tes_mesh_create(s.ctx, desc, &forest));
  for (int t = 0; t < times; t++) {
    TesMesh *next;
    const int64_t cells = tes_mesh_info(forest).cells;
    int8_t *mark = test_malloc((size_t)cells);
    for (int64_t c = 0; c < cells; c++) mark[c] = test_random(&seed) > 0.5;
    assert_ok(s.ctx, tes_mesh_adapt(forest, mark, &next));
    test_free(mark);
    tes_mesh_destroy(&forest);
    forest = next;
  }
  assert_ok(s.ctx, tes_space_create(s.ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &s.space));
  assert_ok(s.ctx, tes_function_create_expression(s.ctx, varies ? "1 / (0.05 + 2*(x*x + y*y))" : "2", &s.a));
  assert_ok(s.ctx, tes_function_create_expression(s.ctx, varies ? "x*x" : "3", &s.c));
  assert_ok(s.ctx,
            test_operator_create(
                s.ctx, &(TestDiffusion){.space = s.space, .a = s.a, .c = s.c, .precision = precision}, &s.op));
  tes_mesh_destroy(&forest);
  return s;
}

static void free_case(Case *s) {
  tes_operator_destroy(&s->op);
  tes_function_destroy(&s->a);
  tes_function_destroy(&s->c);
  tes_space_destroy(&s->space);
  tes_context_destroy(&s->ctx);
}

static void fill(int64_t n, uint64_t seed, double *v) {
  for (int64_t i = 0; i < n; i++) v[i] = test_random(&seed);
}

static double get(TesPrecision precision, const void *v, int64_t i) {
  return precision == TES_DOUBLE ? ((const double *)v)[i] : (double)((const float *)v)[i];
}

static void compare(const TesMeshDesc *desc, int degree, TesPrecision precision) {
  Case s = make_case(desc, 2, degree, precision, true);
  const int64_t n = tes_operator_info(s.op).length;
  TesiCellPatches *p;
  double *r = test_malloc((size_t)n * sizeof *r), *z = test_malloc((size_t)n * sizeof *z), largest = 0;
  float *single = test_malloc((size_t)n * sizeof *single);
  double *fast = test_malloc((size_t)n * sizeof *fast);
  fill(n, 3, r);
  for (int64_t i = 0; i < n; i++) single[i] = (float)r[i], r[i] = single[i], fast[i] = NAN;
  assert_ok(s.ctx, tesi_cell_patches_create(s.op, &p));
  assert_ok(s.ctx, tesi_cell_patches_apply(p, precision == TES_DOUBLE ? (void *)r : single, fast));
  assert_ok(s.ctx, tesi_cell_patches_apply_ref(p, r, z));
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(z[i]));
  assert_true(largest > 0);
  for (int64_t i = 0; i < n; i++)
    assert_near(get(precision, fast, i), z[i], (precision == TES_DOUBLE ? 1e-11 : 2e-4) * largest);
  tesi_cell_patches_destroy(&p);
  test_free(r), test_free(z), test_free(single), test_free(fast);
  free_case(&s);
}

static void test_reference(void **state) {
  (void)state;
  const TesMeshDesc disk = {.domain = TES_DOMAIN_BALL, .dim = 2, .refine = 1},
                    box = {.kind = TES_MESH_FOREST, .dim = 3, .refine = 1, .upper = {1, 0.1, 3}};
  for (int degree = 1; degree <= 8; degree++) {
    compare(&disk, degree, TES_DOUBLE);
    compare(&disk, degree, TES_SINGLE);
    if (degree > 3) continue;
    compare(&box, degree, TES_DOUBLE);
    compare(&box, degree, TES_SINGLE);
  }
}

/* z <- B r, the outer weight included; float64. */
static void precondition(const Case *s, const TesiCellPatches *p, const double *r, double *z) {
  assert_ok(s->ctx, tesi_cell_patches_apply(p, r, z));
  for (int64_t i = 0; i < tes_operator_info(s->op).length; i++) z[i] *= ((const double *)p->weight)[i];
}

static void test_symmetric(void **state) {
  (void)state;
  const TesMeshDesc ball = {.domain = TES_DOMAIN_BALL, .dim = 3};
  for (int degree = 1; degree <= 3; degree++) {
    Case s = make_case(&ball, 2, degree, TES_DOUBLE, true);
    const int64_t n = tes_operator_info(s.op).length;
    TesiCellPatches *p;
    double *v[4], xy = 0, yx = 0, xx = 0, size = 0;
    for (int i = 0; i < 4; i++) v[i] = test_malloc((size_t)n * sizeof(double));
    fill(n, 1, v[0]), fill(n, 2, v[1]);
    assert_ok(s.ctx, tesi_cell_patches_create(s.op, &p));
    precondition(&s, p, v[0], v[2]);
    precondition(&s, p, v[1], v[3]);
    for (int64_t i = 0; i < n; i++) {
      xy += v[1][i] * v[2][i], yx += v[0][i] * v[3][i];
      xx += v[0][i] * v[2][i], size += fabs(v[1][i] * v[2][i]);
    }
    assert_near(xy, yx, 1e-12 * size);
    assert_true(xx > 0);
    const int32_t *index;
    assert_int_equal(tes_space_index(s.space, &index, NULL), TES_OK); /* every unknown is in a patch */
    for (int64_t i = 0; i < tes_mesh_info(tes_space_mesh(s.space)).cells * p->m->cell_nodes; i++)
      assert_true(index[i] < 0 || ((const double *)p->weight)[index[i]] > 0);
    tesi_cell_patches_destroy(&p);
    for (int i = 0; i < 4; i++) test_free(v[i]);
    free_case(&s);
  }
}

/* One cell with all faces Dirichlet is its own patch. */
static void test_exact(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 2; degree <= 5; degree++) {
      Case s = make_case(
          &(TesMeshDesc){.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BOX, .dim = dim, .upper = {1, 0.2, 4}},
          0, degree, TES_DOUBLE, false);
      const int64_t n = tes_operator_info(s.op).length;
      TesiCellPatches *p;
      double *x = test_malloc((size_t)n * sizeof *x), *Ax = test_malloc((size_t)n * sizeof *x),
             *z = test_malloc((size_t)n * sizeof *x);
      fill(n, 5, x);
      assert_ok(s.ctx, tesi_cell_patches_create(s.op, &p));
      for (int64_t i = 0; i < n; i++)
        if (((const double *)p->weight)[i] == 0) x[i] = 0;
      assert_ok(s.ctx, s.op->table->apply(s.op, x, Ax));
      precondition(&s, p, Ax, z);
      for (int64_t i = 0; i < n; i++) assert_near(z[i], x[i], 1e-11);
      tesi_cell_patches_destroy(&p);
      test_free(x), test_free(Ax), test_free(z);
      free_case(&s);
    }
}

/* The polynomial of the smoother against the product of its roots. */
static void test_smoother(void **state) {
  (void)state;
  Case s = make_case(&(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = 2, .refine = 1}, 2, 3, TES_DOUBLE, true);
  const int64_t n = tes_operator_info(s.op).length;
  TesSmoother *smoother;
  TesVector *b, *x, *y;
  double *values = test_malloc((size_t)n * sizeof *values),
         *reference = test_malloc((size_t)n * sizeof *values);
  fill(n, 9, values);
  const int32_t *index;
  assert_int_equal(tes_space_index(s.space, &index, NULL), TES_OK);
  for (int64_t i = 0; i < tes_mesh_info(tes_space_mesh(s.space)).cells * 16; i++)
    if (index[i] < 0) values[~index[i]] = 0;
  assert_ok(s.ctx, tes_vector_create(s.ctx, n, TES_DOUBLE, &b));
  assert_ok(s.ctx, tes_vector_create(s.ctx, n, TES_DOUBLE, &x));
  assert_ok(s.ctx, tes_vector_create(s.ctx, n, TES_DOUBLE, &y));
  assert_ok(s.ctx, tes_vector_set(b, values));
  assert_ok(s.ctx, tes_smoother_create(s.ctx, &(TesSmootherDesc){.op = s.op, .kind = TES_SMOOTHER_CELL_PATCH},
                                       &smoother));
  assert_true(smoother->symmetric);
  assert_ok(s.ctx, tes_smoother_apply(smoother, b, x, TES_FORWARD, true));
  assert_ok(s.ctx, tesi_smoother_apply_ref(smoother, b, y, TES_FORWARD, true));
  assert_ok(s.ctx, tes_vector_get(x, values));
  assert_ok(s.ctx, tes_vector_get(y, reference));
  for (int64_t i = 0; i < n; i++) assert_near(values[i], reference[i], 1e-9);
  tes_smoother_destroy(&smoother);
  tes_vector_destroy(&b), tes_vector_destroy(&x), tes_vector_destroy(&y);
  test_free(values), test_free(reference);
  free_case(&s);
}

static int iterations(const Case *s, TesSmootherKind kind) {
  TesMultigrid *mg;
  TesSolver *solver;
  TesVector *b, *x;
  TesSolveResult result;
  const int64_t n = tes_operator_info(s->op).length;
  const TesMultigridDesc desc = {.op = s->op, .precision = TES_SINGLE, .smoother = {.kind = kind}};
  assert_ok(s->ctx, tes_multigrid_create(s->ctx, &desc, &mg));
  assert_ok(s->ctx,
            tes_solver_create(
                s->ctx,
                &(TesSolverDesc){.op = s->op, .multigrid = mg, .method = TES_METHOD_CG, .tolerance = 1e-8},
                &solver));
  assert_ok(s->ctx, tes_vector_create(s->ctx, n, TES_DOUBLE, &b));
  assert_ok(s->ctx, tes_vector_create(s->ctx, n, TES_DOUBLE, &x));
  assert_ok(s->ctx, tes_functional_load(&(TesLoadDesc){.space = s->space, .f = {s->a}}, b));
  assert_ok(s->ctx, tes_vector_fill(x, 0));
  assert_ok(s->ctx, tes_solver_solve(solver, b, x, &result));
  assert_true(result.iterations > 0);
  tes_solver_destroy(&solver);
  tes_multigrid_destroy(&mg);
  tes_vector_destroy(&b), tes_vector_destroy(&x);
  return result.iterations;
}

static void test_stretched(void **state) {
  (void)state;
  Case s = make_case(&(TesMeshDesc){.kind = TES_MESH_FOREST,
                                    .domain = TES_DOMAIN_BOX,
                                    .dim = 2,
                                    .cells = {2, 2},
                                    .upper = {0.1, 1},
                                    .refine = 2},
                     0, 4, TES_DOUBLE, false);
  const int point = iterations(&s, TES_SMOOTHER_CHEBYSHEV), patch = iterations(&s, TES_SMOOTHER_CELL_PATCH);
  if (patch > 0.75 * point) fail_msg("%d iterations with patches, %d with the diagonal", patch, point);
  free_case(&s);
}

/* Where a jumps by 1e4 between cells, soft patches do not overshoot at the nodes that they share with stiff ones. */
static void test_jumps(void **state) {
  (void)state;
  Case s = make_case(&(TesMeshDesc){.kind = TES_MESH_FOREST,
                                    .domain = TES_DOMAIN_BOX,
                                    .dim = 2,
                                    .cells = {4, 2},
                                    .upper = {0.2, 1},
                                    .refine = 2},
                     0, 3, TES_DOUBLE, false);
  const int usual = iterations(&s, TES_SMOOTHER_CELL_PATCH);
  tes_operator_destroy(&s.op), tes_function_destroy(&s.a);
  assert_ok(s.ctx, tes_function_create_expression(s.ctx, "x < 0.05 || y > 0.5 ? 2 : 2e4", &s.a));
  assert_ok(s.ctx, test_operator_create(
                       s.ctx, &(TestDiffusion){.space = s.space, .a = s.a, .c = s.c, .precision = TES_DOUBLE},
                       &s.op));
  for (int lines = 0; lines < 2; lines++) {
    const int jumps = iterations(&s, lines ? TES_SMOOTHER_LINE_PATCH : TES_SMOOTHER_CELL_PATCH);
    if (jumps > 3 * usual) fail_msg("%d iterations (lines: %d) where a jumps, %d else", jumps, lines, usual);
  }
  free_case(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),     cmocka_unit_test(test_reference),
                                     cmocka_unit_test(test_symmetric), cmocka_unit_test(test_smoother),
                                     cmocka_unit_test(test_stretched), cmocka_unit_test(test_jumps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
