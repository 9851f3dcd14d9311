/* Run: ctest -R t6_forest. Operators, transfers and multigrid over forests with hanging nodes: against explicit
 * sparse matrices, polynomials, and counts of iterations.
 * Labels: simd */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "operator/assembled/matrix.h"
#include "operator/mapped/host/mapped_host.h"
#include "operator_testing.h"
#include "testing.h"
#include "tessera/tessera.h"
#include "smoother/spectrum.h"
#include "operator/operator.h"
#include "transfer/transfer.h"

typedef struct Mesh {
  TesContext *ctx;
  TesMesh *forest;
} Mesh;

/* Cells are marked at random `times` times. */
static Mesh make_mesh(const TesMeshDesc *desc, int times, uint64_t seed) {
  Mesh m = {0};
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.verbosity = TES_QUIET, .threads = 1}, &m.ctx, NULL, 0), TES_OK);
  if (tes_mesh_create(m.ctx, desc, &m.forest) == TES_MISSING) skip();
  assert_non_null(m.forest);
  for (int t = 0; t < times; t++) {
    const int64_t cells = tes_mesh_info(m.forest).cells;
    int8_t *mark = test_malloc((size_t)cells);
    for (int64_t c = 0; c < cells; c++) mark[c] = test_random(&seed) > 0.5;
    TesMesh *next;
    assert_ok(m.ctx, tes_mesh_adapt(m.forest, mark, &next));
    tes_mesh_destroy(&m.forest);
    m.forest = next;
    test_free(mark);
  }
  return m;
}

static void free_mesh(Mesh *m) {
  tes_mesh_destroy(&m->forest);
  tes_context_destroy(&m->ctx);
}

static TesSpace *make_space(const Mesh *m, int degree, bool dirichlet) {
  static const uint8_t none[16];
  TesSpace *space;
  assert_ok(m->ctx,
            tes_space_create(
                m->ctx, &(TesSpaceDesc){.mesh = m->forest, .degree = degree, .given = dirichlet ? NULL : none},
                &space));
  return space;
}

static TesVector *make_vector(TesContext *ctx, int64_t n, TesPrecision precision, uint64_t seed) {
  TesVector *v;
  double *values = test_malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = seed ? test_random(&seed) : NAN;
  assert_ok(ctx, tes_vector_create(ctx, n, precision, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  test_free(values);
  return v;
}

static void assert_close(const TesVector *a, const TesVector *b, double tolerance) {
  const int64_t n = tes_vector_length(a);
  double *x = test_malloc((size_t)n * sizeof *x), *y = test_malloc((size_t)n * sizeof *y), most = 0;
  assert_int_equal(tes_vector_get(a, x), TES_OK);
  assert_int_equal(tes_vector_get(b, y), TES_OK);
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(y[i]));
  for (int64_t i = 0; i < n; i++) assert_near(x[i] / most, y[i] / most, tolerance);
  test_free(x);
  test_free(y);
}

/* Apply, residual and diagonal of one operator against its plain version and its sparse matrix. */
static void compare(const Mesh *m, const TesSpace *space, const TestDiffusion *desc, double tolerance) {
  TesContext *ctx = m->ctx;
  TesOperator *op;
  TesiMatrix matrix;
  assert_ok(ctx, test_operator_create(ctx, desc, &op));
  const int64_t n = tes_operator_info(op).length;
  TesVector *x = make_vector(ctx, n, desc->precision, 7), *y = make_vector(ctx, n, desc->precision, 0),
            *ref = make_vector(ctx, n, TES_DOUBLE, 0), *b = make_vector(ctx, n, desc->precision, 9),
            *d = make_vector(ctx, n, desc->precision, 0);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tesi_operator_apply_ref(op, x, ref));
  assert_close(y, ref, tolerance);
  assert_ok(ctx, tes_operator_residual(op, b, x, d));
  assert_ok(ctx, tes_vector_axpy(1, y, d));
  assert_close(d, b, 10 * tolerance);
  double *u = test_malloc((size_t)n * sizeof *u), *v = test_malloc((size_t)n * sizeof *v);
  assert_ok(ctx, tesi_operator_assemble(op, &matrix));
  assert_ok(ctx, tes_vector_get(x, u));
  tesi_matrix_apply(ctx, &matrix, u, v);
  assert_ok(ctx, tes_vector_set(ref, v));
  assert_close(y, ref, tolerance);
  assert_ok(ctx, tes_operator_diagonal(op, d));
  for (int64_t i = 0; i < n; i++)
    for (int64_t e = matrix.row[i]; e < matrix.row[i + 1]; e++)
      if (matrix.column[e] == i) v[i] = matrix.value[e];
  assert_ok(ctx, tes_vector_set(ref, v));
  assert_close(d, ref, tolerance);
  tesi_matrix_destroy(space->context, &matrix);
  test_free(u);
  test_free(v);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_vector_destroy(&b);
  tes_vector_destroy(&d);
  tes_vector_destroy(&ref);
  tes_operator_destroy(&op);
}

static void operators(void **state) {
  (void)state;
  int hanging = 0;
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 1; k <= (dim == 3 ? 3 : 8); k += dim == 3 ? 1 : k < 3 ? 1 : 5)
      for (int variant = 0; variant < 4; variant++) {
        Mesh m = make_mesh(&(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim}, dim == 3 && k > 1 ? 1 : 2,
                           (uint64_t)(11 + variant));
        TesSpace *space = make_space(&m, k, variant != 2);
        TesFunction *a, *c;
        assert_ok(m.ctx, tes_function_create_expression(m.ctx, "1 / (0.05 + 2*(x*x + y*y + z*z))", &a));
        assert_ok(m.ctx, tes_function_create_expression(m.ctx, "1 + x*x", &c));
        const TestDiffusion desc = {.space = space,
                                    .a = a,
                                    .c = variant == 1 ? c : NULL,
                                    .alpha = {variant == 2 ? c : NULL},
                                    .precision = variant == 3 ? TES_SINGLE : TES_DOUBLE};
        hanging += tes_space_hanging(space) > 0;
        compare(&m, space, &desc, variant == 3 ? 3e-5 : 1e-11);
        tes_function_destroy(&a);
        tes_function_destroy(&c);
        tes_space_destroy(&space);
        free_mesh(&m);
      }
  assert_true(hanging > 20);
}

/* Batches of each kind, and the numbers of nodes they hold. */
typedef struct Batches {
  int64_t of[TESI_GATHER_ELEMENT + 1], numbers;
} Batches;

static Batches count_batches(const TesOperator *op) {
  const TesiMappedHost *plan = tesi_mapped_host_of(op);
  Batches b = {{0}, 0};
  assert_non_null(plan);
  for (int64_t i = 0; i < plan->batches; i++) {
    const TesiGather kind = plan->batch[i].kind;
    b.of[kind]++;
    b.numbers += plan->kernels.lanes * (kind == TESI_GATHER_ENTITIES ? plan->patterns
                                        : kind == TESI_GATHER_RUNS   ? 3 * plan->nodes / plan->n
                                                                     : plan->nodes);
  }
  return b;
}

/* One application against the plain one. */
static Batches compare_apply(const Mesh *m, const TesSpace *space, TesPrecision precision) {
  TesContext *ctx = m->ctx;
  TesOperator *op;
  assert_ok(ctx, test_operator_create(ctx, &(TestDiffusion){.space = space, .precision = precision}, &op));
  const int64_t n = tes_operator_info(op).length;
  TesVector *x = make_vector(ctx, n, precision, 7), *y = make_vector(ctx, n, precision, 0),
            *ref = make_vector(ctx, n, TES_DOUBLE, 0);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tesi_operator_apply_ref(op, x, ref));
  assert_close(y, ref, precision == TES_SINGLE ? 3e-5 : 1e-11);
  const Batches b = count_batches(op);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_vector_destroy(&ref);
  tes_operator_destroy(&op);
  return b;
}

/* From degree 3 on batches hold a number an entity: on a cube all do, on a ball and with hanging nodes most. What is
 * left where cells of turned trees or too few like ones share a vector has its own loops, which are compared too. */
static void numbers_of_entities(void **state) {
  (void)state;
  static const int degrees[2][6] = {{3, 4, 5, 6, 7, 8}, {3, 4, 5, 8}};
  const TesMeshDesc cube = {.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BOX, .refine = 2};
  const TesMeshDesc ball = {.domain = TES_DOMAIN_BALL, .refine = 1};
  int64_t entities = 0, others = 0, cube_numbers = 0, cube_cells = 0;
  for (int i = 0; i < 10; i++)
    for (int variant = 0; variant < 4; variant++) {
      const int dim = i < 6 ? 2 : 3, degree = degrees[dim - 2][i < 6 ? i : i - 6];
      if (variant % 2 != i % 2 || (test_brief() && degree > 6 - dim)) continue;
      TesMeshDesc desc = variant < 2 ? cube : ball;
      desc.dim = dim;
      for (int d = 0; d < 3; d++) desc.cells[d] = variant < 2 && d < dim ? 2 : 0;
      Mesh m = make_mesh(&desc, variant < 2 ? 0 : 1, (uint64_t)(5 + i));
      TesSpace *space = make_space(&m, degree, true);
      const Batches b = compare_apply(&m, space, variant % 2 ? TES_SINGLE : TES_DOUBLE);
      const int64_t other = b.of[TESI_GATHER_RUNS] + b.of[TESI_GATHER_ANY];
      entities += b.of[TESI_GATHER_ENTITIES], others += other;
      if (variant < 2) { /* an edge whose nodes are the last of all is too short to be read */
        assert_true(other <= 1 && b.of[TESI_GATHER_JOINED] == 0);
        cube_numbers += b.numbers, cube_cells += tes_mesh_info(m.forest).cells * (dim == 3 ? 27 : 9);
      }
      tes_space_destroy(&space);
      free_mesh(&m);
    }
  print_message("%lld batches by entities, %lld otherwise\n", (long long)entities, (long long)others);
  print_message("%.3f numbers an entity of the cubes\n", (double)cube_numbers / (double)cube_cells);
  assert_true(entities > others && others > 0);
  assert_true((double)cube_numbers < 1.1 * (double)cube_cells);
}

/* Of a large level the largest eigenvalue is continued from two below where cells are halved and nothing varies; it
 * is what the level itself would tell. */
static void estimates_are_continued(void **state) {
  (void)state;
  for (int varies = 0; varies < 2; varies++) {
    Mesh m[3];
    TesSpace *space[3];
    TesOperator *op[3];
    TesSmoother *smoother[3] = {NULL}, *alone;
    TesFunction *a = NULL;
    for (int l = 0; l < 3; l++) {
      m[l] = make_mesh(
          &(TesMeshDesc){
              .kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BOX, .dim = 3, .cells = {1, 1, 1}, .refine = l + 2},
          0, 1);
      space[l] = make_space(&m[l], 4, true);
      assert_ok(m[l].ctx, tes_function_create_expression(m[l].ctx, varies ? "1 + x" : "2", &a));
      const TestDiffusion desc = {.space = space[l], .a = a, .precision = TES_SINGLE};
      assert_ok(m[l].ctx, test_operator_create(m[l].ctx, &desc, &op[l]));
      tes_function_destroy(&a);
      const TesSmootherDesc chebyshev = {.op = op[l], .kind = TES_SMOOTHER_CHEBYSHEV};
      const TesSmoother *below = l ? smoother[l - 1] : NULL;
      assert_ok(m[l].ctx, tesi_smoother_create_above(m[l].ctx, &chebyshev, below, &smoother[l]));
      assert_ok(m[l].ctx, tes_smoother_create(m[l].ctx, &chebyshev, &alone));
      const double ratio = smoother[l]->lambda[0] / alone->lambda[0];
      print_message("%s, %lld unknowns: %.4f, alone %.4f\n", varies ? "varying" : "constant",
                    (long long)tes_space_dofs(space[l]), smoother[l]->lambda[0], alone->lambda[0]);
      if (l < 2 || varies)
        assert_true(ratio == 1);
      else
        assert_true(ratio != 1 && ratio > 0.99 && ratio < 1.02);
      tes_smoother_destroy(&alone);
    }
    for (int l = 0; l < 3; l++) {
      tes_smoother_destroy(&smoother[l]);
      tes_operator_destroy(&op[l]);
      tes_space_destroy(&space[l]);
      free_mesh(&m[l]);
    }
  }
}

static void check_transfer(const Mesh *m, const TesSpace *coarse, const TesSpace *fine,
                           TesPrecision precision) {
  TesContext *ctx = m->ctx;
  const double tolerance = precision == TES_DOUBLE ? 1e-12 : 1e-5;
  TesTransfer *t;
  assert_ok(ctx, tes_transfer_create(
                     ctx, &(TesTransferDesc){.coarse = coarse, .fine = fine, .precision = precision}, &t));
  const int64_t nc = tes_space_length(coarse), nf = tes_space_length(fine);
  TesVector *c = make_vector(ctx, nc, precision, 3), *f = make_vector(ctx, nf, precision, 4),
            *pc = make_vector(ctx, nf, precision, 0), *rf = make_vector(ctx, nc, precision, 0),
            *pref = make_vector(ctx, nf, precision, 0), *rref = make_vector(ctx, nc, precision, 0);
  assert_ok(ctx, tes_transfer_prolongate(t, c, false, pc));
  assert_ok(ctx, tesi_transfer_prolongate_ref(t, c, false, pref));
  assert_close(pc, pref, tolerance);
  assert_ok(ctx, tes_transfer_restrict(t, f, rf));
  assert_ok(ctx, tesi_transfer_restrict_ref(t, f, rref));
  assert_close(rf, rref, tolerance);
  double left, right; /* (P c, f) = (c, P' f) */
  assert_ok(ctx, tes_vector_dot(pc, f, &left));
  assert_ok(ctx, tes_vector_dot(c, rf, &right));
  assert_near(left, right, 100 * tolerance * fabs(left) + tolerance);
  assert_ok(ctx, tes_transfer_prolongate(t, c, true, f));
  assert_ok(ctx, tes_vector_axpy(-1, pc, f));
  TesVector *again = make_vector(ctx, nf, precision, 4);
  assert_close(f, again, 4 * tolerance);
  TesVector *all[] = {c, f, pc, rf, pref, rref, again};
  for (int i = 0; i < 7; i++) tes_vector_destroy(&all[i]);
  tes_transfer_destroy(&t);
}

static void transfers(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int seed = 1; seed <= 3; seed++) {
      Mesh fine =
          make_mesh(&(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim}, dim == 2 ? 3 : 2, (uint64_t)seed);
      Mesh coarse = {.ctx = fine.ctx};
      assert_ok(fine.ctx, tes_mesh_coarsen(fine.forest, &coarse.forest));
      assert_non_null(coarse.forest);
      for (int k = 1; k <= (dim == 2 ? 8 : 3); k += dim == 2 && k > 2 ? 5 : 1) {
        TesSpace *f = make_space(&fine, k, seed != 2), *c = make_space(&coarse, k, seed != 2),
                 *low = make_space(&fine, (k + 1) / 2, seed != 2);
        check_transfer(&fine, c, f, seed == 3 ? TES_SINGLE : TES_DOUBLE);
        check_transfer(&fine, low, f, TES_DOUBLE);
        tes_space_destroy(&f);
        tes_space_destroy(&c);
        tes_space_destroy(&low);
      }
      tes_mesh_destroy(&coarse.forest);
      free_mesh(&fine);
    }
}

/* A polynomial of degree k on a box is carried over exactly. */
static void polynomials(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    Mesh fine = make_mesh(
        &(TesMeshDesc){.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BOX, .dim = dim, .cells = {2, 1, 1}}, 3,
        21);
    Mesh coarse = {.ctx = fine.ctx};
    assert_ok(fine.ctx, tes_mesh_coarsen(fine.forest, &coarse.forest));
    for (int k = 1; k <= 3; k++) {
      static const char *const text[] = {"", "1 + x*y - y", "x*x*y*y - x + y*y", "x*x*x*y*y*y + y*x*x - 1"};
      TesSpace *f = make_space(&fine, k, false), *c = make_space(&coarse, k, false);
      TesFunction *p;
      TesTransfer *t;
      TesVector *uc = make_vector(fine.ctx, tes_space_length(c), TES_DOUBLE, 0),
                *uf = make_vector(fine.ctx, tes_space_length(f), TES_DOUBLE, 0),
                *exact = make_vector(fine.ctx, tes_space_length(f), TES_DOUBLE, 0);
      assert_ok(fine.ctx, tes_function_create_expression(fine.ctx, text[k], &p));
      assert_ok(fine.ctx, tes_space_interpolate(c, (const TesFunction *[]){p}, uc));
      assert_ok(fine.ctx, tes_space_interpolate(f, (const TesFunction *[]){p}, exact));
      assert_ok(fine.ctx,
                tes_transfer_create(fine.ctx,
                                    &(TesTransferDesc){.coarse = c, .fine = f, .precision = TES_DOUBLE}, &t));
      assert_ok(fine.ctx, tes_transfer_prolongate(t, uc, false, uf));
      assert_close(uf, exact, 1e-12);
      tes_transfer_destroy(&t);
      tes_function_destroy(&p);
      tes_vector_destroy(&uc);
      tes_vector_destroy(&uf);
      tes_vector_destroy(&exact);
      tes_space_destroy(&f);
      tes_space_destroy(&c);
    }
    tes_mesh_destroy(&coarse.forest);
    free_mesh(&fine);
  }
}

/* Cells that the sphere of radius 0.55 round a point off the centre cuts are refined; how often conjugate gradients
 * iterate. */
static int count_iterations(int dim, int k, int level, int depth) {
  Mesh m = make_mesh(&(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim, .refine = level}, 0, 1);
  for (int t = 0; t < depth; t++) {
    const int64_t cells = tes_mesh_info(m.forest).cells;
    int8_t *mark = test_calloc((size_t)cells, 1);
    for (int64_t c = 0; c < cells; c++) {
      double least = 1e9, most = 0;
      for (int v = 0; v < 1 << dim; v++) {
        const double xi[3] = {v & 1, v >> 1 & 1, v >> 2};
        double x[3] = {0};
        tesi_mesh_map(m.forest, c, 1, xi, x);
        const double r = hypot(hypot(x[0] - 0.1, x[1] + 0.05), x[2] - (dim == 3 ? 0.07 : 0));
        least = fmin(least, r), most = fmax(most, r);
      }
      mark[c] = least < 0.55 && most > 0.55;
    }
    TesMesh *next;
    assert_ok(m.ctx, tes_mesh_adapt(m.forest, mark, &next));
    tes_mesh_destroy(&m.forest);
    m.forest = next;
    test_free(mark);
  }
  TesSpace *space = make_space(&m, k, true);
  TesFunction *a, *one;
  TesOperator *op;
  TesMultigrid *mg;
  TesSolver *solver;
  TesSolveResult result;
  assert_ok(m.ctx, tes_function_create_expression(m.ctx, "1 / (0.05 + 2*(x*x + y*y + z*z))", &a));
  assert_ok(m.ctx, tes_function_create_constant(m.ctx, 1, &one));
  assert_ok(m.ctx, test_operator_create(m.ctx, &(TestDiffusion){.space = space, .a = a}, &op));
  assert_ok(m.ctx, tes_multigrid_create(m.ctx, &(TesMultigridDesc){.op = op, .precision = TES_SINGLE}, &mg));
  TesVector *b = make_vector(m.ctx, tes_operator_info(op).length, TES_DOUBLE, 0),
            *x = make_vector(m.ctx, tes_operator_info(op).length, TES_DOUBLE, 0);
  assert_ok(m.ctx, tes_vector_fill(x, 0));
  assert_ok(m.ctx, tes_functional_load(&(TesLoadDesc){.space = space, .f = {one}}, b));
  assert_ok(m.ctx, tes_solver_create(
                       m.ctx, &(TesSolverDesc){.op = op, .multigrid = mg, .method = TES_METHOD_CG}, &solver));
  assert_ok(m.ctx, tes_solver_solve(solver, b, x, &result));
  const int iterations = result.iterations;
  print_message("dim %d degree %d depth %d: %lld cells, %lld dofs, %lld hanging: %d iterations\n", dim, k,
                depth, (long long)tes_mesh_info(m.forest).cells, (long long)tes_space_dofs(space),
                (long long)tes_space_hanging(space), iterations);
  tes_solver_destroy(&solver);
  tes_multigrid_destroy(&mg);
  tes_operator_destroy(&op);
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_function_destroy(&a);
  tes_function_destroy(&one);
  tes_space_destroy(&space);
  free_mesh(&m);
  return iterations;
}

static void iterations(void **state) {
  (void)state;
  for (int k = 1; k <= 4; k++) {
    const int first = count_iterations(2, k, 1, 2), last = count_iterations(2, k, 1, 6);
    assert_true(last <= first + 2 && last <= 14);
  }
  for (int k = 1; k <= 2; k++) {
    const int first = count_iterations(3, k, 0, 2), last = count_iterations(3, k, 0, 4);
    assert_true(last <= first + 2 && last <= 14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators),
                                     cmocka_unit_test(numbers_of_entities),
                                     cmocka_unit_test(estimates_are_continued),
                                     cmocka_unit_test(transfers),
                                     cmocka_unit_test(polynomials),
                                     cmocka_unit_test(iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
