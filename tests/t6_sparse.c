/* Run: ctest -R t6_sparse. Sparse factors: beside dense elimination on random matrices, definite, indefinite and
 * general; of operators over meshes with hanging nodes, also where constants or rigid motions are free; four contexts
 * in four threads; failing allocations, interruptions, what is refused. */
#include <pthread.h>
#include "device/cuda/cudss.h"
#include "device_testing.h"
#include "failing_allocator.h"
#include "multigrid/coarse/coarse.h"
#include "multigrid/coarse/mumps.h"
#include "operator/assembled/matrix.h"
#include "operator/elasticity/elasticity_motions.h"
#include "operator_testing.h"
#include "tessera/tessera.h"

static TesContext *make_context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET, .threads = 1},
                                      &ctx, NULL, 0),
                   TES_OK);
  return ctx;
}

static bool has_factors(void) {
  if (!tesi_mumps_missing()) return true;
  print_message("%s\n", tesi_mumps_missing());
  return false;
}

/* ---- random matrices ----------------------------------------------------------------------------------- */

enum { FIXED = 3 };

/* A tenth of the entries; definite: L L' with a lower triangular L; indefinite: signs of the diagonal alternate, and
 * some of it is 0. dense[n][n] by columns. */
static void fill_random(TesiSymmetry symmetry, int n, uint64_t *seed, double *dense) {
  double *L = test_calloc((size_t)n * (size_t)n, sizeof *L);
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      const double value = test_random(seed), chance = test_random(seed);
      L[j * n + i] = i == j ? 1 + fabs(value) : chance > 0.8 ? value : 0;
      const double other = test_random(seed);
      dense[j * n + i] = i == j ? (i % 3 ? (i % 2 ? 2 : -2) : 0) + value : L[j * n + i];
      dense[i * n + j] =
          symmetry == TESI_MATRIX_GENERAL && i != j && L[j * n + i] != 0 ? other : dense[j * n + i];
    }
  for (int j = 0; j < n && symmetry == TESI_MATRIX_DEFINITE; j++)
    for (int i = 0; i < n; i++) {
      dense[j * n + i] = 0;
      for (int k = 0; k < n; k++) dense[j * n + i] += L[k * n + i] * L[k * n + j];
    }
  test_free(L);
}

static void compress(int n, const double *dense, TesiMatrix *A, int64_t *row, int32_t *column, double *value) {
  *A = (TesiMatrix){.rows = n, .row = row, .column = column, .value = value};
  row[0] = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      if (dense[j * n + i] != 0 || i == j) column[A->entries] = j, value[A->entries++] = dense[j * n + i];
    row[i + 1] = A->entries;
  }
}

/* x <- A^-1 x by elimination with the largest pivots; dense[n][n] by columns is lost. */
static void eliminate(int n, double *dense, double *x) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k; i < n; i++)
      if (fabs(dense[k * n + i]) > fabs(dense[k * n + pivot])) pivot = i;
    for (int j = 0; j <= n; j++) {
      double *const column = j < n ? dense + j * n : x, other = column[k];
      column[k] = column[pivot], column[pivot] = other;
      for (int i = k + 1; i < n && j > k; i++) column[i] -= dense[k * n + i] / dense[k * n + k] * column[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    x[k] /= dense[k * n + k];
    for (int i = 0; i < k; i++) x[i] -= dense[k * n + i] * x[k];
  }
}

static void compare_with_dense(TesContext *ctx, TesiSymmetry symmetry, int n, const int64_t *fixed,
                               int fixings, uint64_t *seed) {
  const size_t all = (size_t)n * (size_t)n;
  double *dense = test_calloc(all, sizeof *dense), *value = test_malloc(all * sizeof *value),
         *x = test_malloc((size_t)n * sizeof *x), *expected = test_malloc((size_t)n * sizeof *expected),
         most = 0;
  int64_t *row = test_malloc((size_t)(n + 1) * sizeof *row);
  int32_t *column = test_malloc(all * sizeof *column);
  TesiMatrix A;
  TesiFactorization *f;
  fill_random(symmetry, n, seed, dense);
  compress(n, dense, &A, row, column, value);
  for (int k = 0; k < fixings; k++)
    for (int i = 0; i < n; i++) {
      const int64_t j = fixed[k];
      dense[i * n + j] = dense[j * n + i] = i == j;
    }
  assert_ok(ctx, tesi_factorization_create(ctx, &A, symmetry, fixings, fixed, &f));
  assert_ok(ctx, tesi_factorization_compute(f));
  const TesiFactorizationCost cost = tesi_factorization_cost(f);
  assert_true(cost.entries >= n && cost.bytes >= 0 && cost.flops > 0);
  for (int i = 0; i < n; i++) x[i] = expected[i] = test_random(seed);
  eliminate(n, dense, expected);
  assert_ok(ctx, tesi_factorization_solve(f, x));
  for (int i = 0; i < n; i++) most = fmax(most, fabs(expected[i]));
  for (int i = 0; i < n; i++) assert_near(x[i] / most, expected[i] / most, 1e-9);
  tesi_factorization_destroy(&f);
  test_free(dense), test_free(value), test_free(x), test_free(expected);
  test_free(row), test_free(column);
}

static void compare_random(TesContext *ctx, TesiSymmetry symmetry, uint64_t *seed) {
  static const int64_t fixed[FIXED] = {0, 5, 8};
  for (int n = 9; n <= 150; n = 2 * n + 1)
    for (int fixings = 0; fixings <= FIXED; fixings += FIXED)
      compare_with_dense(ctx, symmetry, n, fixed, fixings, seed);
}

static void random_matrices(void **state) {
  (void)state;
  if (!has_factors()) skip();
  TesContext *ctx = make_context();
  uint64_t seed = 11;
  for (int symmetry = TESI_MATRIX_DEFINITE; symmetry <= TESI_MATRIX_GENERAL; symmetry++)
    compare_random(ctx, (TesiSymmetry)symmetry, &seed);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* By cuDSS, which has definite and general ones. */
static void random_matrices_on_a_gpu(void **state) {
  (void)state;
  TesContext *ctx = test_device("cuda");
  if (!ctx || !tesi_cudss_available()) skip();
  uint64_t seed = 11;
  compare_random(ctx, TESI_MATRIX_DEFINITE, &seed);
  const size_t held = tes_context_memory(ctx); /* what a device keeps from its first work on */
  compare_random(ctx, TESI_MATRIX_GENERAL, &seed);
  assert_int_equal(tes_context_memory(ctx), held);
  tes_context_destroy(&ctx);
}

/* (1 1; 1 1), and (0 1; 1 0) for definite ones. */
static void refuse_factors(TesContext *ctx) {
  static const char *const messages[] = {"not positive definite", "has no inverse", "has no inverse"};
  for (int symmetry = TESI_MATRIX_DEFINITE; symmetry <= TESI_MATRIX_GENERAL; symmetry++) {
    int64_t row[] = {0, 2, 4};
    int32_t column[] = {0, 1, 0, 1};
    double value[] = {1, 1, 1, symmetry == TESI_MATRIX_DEFINITE ? -1 : 1};
    const TesiMatrix A = {.rows = 2, .entries = 4, .row = row, .column = column, .value = value};
    TesiFactorization *f;
    assert_ok(ctx, tesi_factorization_create(ctx, &A, (TesiSymmetry)symmetry, 0, NULL, &f));
    assert_int_equal(tesi_factorization_compute(f), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), messages[symmetry])) fail_msg("%s", tes_context_message(ctx));
    tesi_factorization_destroy(&f);
    tes_context_clear(ctx);
  }
  tes_context_destroy(&ctx);
}

static void what_has_no_factors(void **state) {
  (void)state;
  if (!has_factors()) skip();
  refuse_factors(make_context());
  TesContext *gpu = test_device("cuda");
  if (gpu) refuse_factors(gpu);
}

/* ---- operators ----------------------------------------------------------------------------------------- */

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* values <- random numbers, 0 where values are given, without what is in the null space. */
static void choose_solution(const TesOperator *op, double *values) {
  TesContext *ctx = op->context;
  const TesSpace *space = op->space;
  double *motion = NULL, mean = 0;
  uint64_t seed = 5;
  int motions;
  for (int64_t i = 0; i < op->length; i++) values[i] = test_random(&seed);
  for (int c = 0; c < space->scalars; c++) {
    const TesiCellView *view;
    assert_ok(ctx, tesi_space_cells(space->scalar[c], &view));
    for (int64_t i = 0; i < view->length - view->dofs; i++)
      values[space->first[c] + view->constrained[i]] = 0;
  }
  assert_ok(ctx, tesi_elasticity_motions(op, &motions, &motion));
  if (motions) tesi_elasticity_project(space->layout, motions, motion, values);
  tesi_free(ctx, &motion);
  if (!op->singular || tesi_is_elasticity(op)) return;
  for (int64_t i = 0; i < op->length; i++) mean += values[i] / (double)op->length;
  for (int64_t i = 0; i < op->length; i++) values[i] -= mean;
}

static void check_solves(const TesOperator *op) {
  TesContext *ctx = op->context;
  TesiCoarse *coarse;
  TesVector *x, *b, *y;
  double *values = test_malloc((size_t)op->length * sizeof *values), norm, rest;
  assert_ok(ctx, tesi_coarse_create(op, TES_DOUBLE, TES_COARSE_SPARSE, &coarse));
  assert_non_null(strstr(tesi_coarse_describe(coarse), "sparse factors"));
  assert_ok(ctx, tesi_operator_new_vector(op, TES_DOUBLE, &x));
  assert_ok(ctx, tesi_operator_new_vector(op, TES_DOUBLE, &b));
  assert_ok(ctx, tesi_operator_new_vector(op, TES_DOUBLE, &y));
  choose_solution(op, values);
  assert_ok(ctx, tes_vector_set(x, values));
  assert_ok(ctx, tes_operator_apply(op, x, b));
  assert_ok(ctx, tesi_coarse_solve(coarse, b, y));
  assert_ok(ctx, tes_vector_norm(x, &norm));
  assert_ok(ctx, tes_vector_axpy(-1, x, y));
  assert_ok(ctx, tes_vector_norm(y, &rest));
  assert_near(rest / norm, 0, 1e-9);
  test_free(values);
  tes_vector_destroy(&x), tes_vector_destroy(&b), tes_vector_destroy(&y);
  tesi_coarse_destroy(&coarse);
}

/* A corner refined twice. given: bits of components at the first boundary; -1: nothing is given anywhere. */
static TesSpace *make_space(TesContext *ctx, int dim, TesMeshKind kind, int degree, int components, int given) {
  TesFunction *corner = expression(ctx, "0.4 - x - y - z");
  const TesMeshDesc desc = {.dim = dim,
                            .cells = {3, 2, 2},
                            .upper = {1, 1, dim == 3},
                            .refine_where = kind == TES_MESH_FOREST ? corner : NULL,
                            .kind = kind};
  TesMesh *mesh = NULL;
  TesSpace *space;
  const TesStatus status = tes_mesh_create(ctx, &desc, &mesh);
  tes_function_destroy(&corner);
  if (status == TES_MISSING) {
    tes_context_clear(ctx);
    return NULL;
  }
  assert_ok(ctx, status);
  const uint8_t bits[6] = {(uint8_t)(given < 0 ? 0 : given)};
  assert_ok(ctx,
            tes_space_create(
                ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .components = components, .given = bits},
                &space));
  tes_mesh_destroy(&mesh);
  return space;
}

static void diffusion(void **state) {
  (void)state;
  if (!has_factors()) skip();
  TesContext *ctx = make_context();
  TesFunction *a = expression(ctx, "1 + x + 3*y*y"), *c = expression(ctx, "2 + x");
  for (int kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1; degree <= 3; degree++)
        for (int form = 0; form < 3; form++) { /* values on a side; a mass; constants are free */
          TesSpace *space = make_space(ctx, dim, (TesMeshKind)kind, degree, 1, form == 0 ? 1 : -1);
          TesOperator *op;
          if (!space) continue;
          if (kind == TES_MESH_FOREST) assert_true(tes_space_hanging(space) > 0);
          assert_ok(ctx, test_operator_create(
                             ctx, &(TestDiffusion){.space = space, .a = a, .c = form == 1 ? c : NULL}, &op));
          assert_int_equal(op->singular, form == 2);
          check_solves(op);
          tes_operator_destroy(&op);
          tes_space_destroy(&space);
        }
  tes_function_destroy(&a), tes_function_destroy(&c);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* A sheet with more unknowns than are ordered at once: aggregation takes four cycles, and factors replace it. */
static void slow_aggregation_is_replaced(void **state) {
  (void)state;
  if (!has_factors()) skip();
  TesContext *ctx = make_context();
  const TesMeshDesc desc = {.kind = TES_MESH_FOREST, .dim = 3, .cells = {160, 55, 1}, .upper = {160, 55, 1}};
  TesFunction *lambda = expression(ctx, "300");
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesiCoarse *coarse;
  const TesStatus made = tes_mesh_create(ctx, &desc, &mesh);
  if (made == TES_OK) {
    const uint8_t given[6] = {7};
    const TesSpaceDesc three = {.mesh = mesh, .degree = 1, .components = 3, .given = given};
    const TesTermDesc terms[] = {{.term = TES_TERM_STRAIN}, {.term = TES_TERM_GRAD_DIV, .a = {.all = lambda}}};
    assert_ok(ctx, tes_space_create(ctx, &three, &space));
    assert_ok(ctx, tes_operator_create(
                       ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 2, .term = terms}}, &op));
    assert_true(op->length > 50000);
    assert_ok(ctx, tesi_coarse_create(op, TES_DOUBLE, TES_COARSE_AUTO, &coarse));
    assert_non_null(strstr(tesi_coarse_describe(coarse), "sparse factors"));
    tesi_coarse_destroy(&coarse);
    tes_operator_destroy(&op);
    tes_space_destroy(&space);
    tes_mesh_destroy(&mesh);
  }
  tes_function_destroy(&lambda);
  tes_context_destroy(&ctx);
}

/* Given on a side: all components, the first one (a roller), none; so 0, 1 + rotations, or all motions are free. */
static void elasticity(void **state) {
  static const int motions[2][3] = {{0, 1, 3}, {0, 3, 6}};
  (void)state;
  if (!has_factors()) skip();
  TesContext *ctx = make_context();
  TesFunction *lambda = expression(ctx, "1 + x"), *mu = expression(ctx, "2 - y");
  for (int kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int held = 0; held < 3; held++) {
        TesSpace *space = make_space(ctx, dim, (TesMeshKind)kind, 2, dim, held == 0 ? 7 : held == 1 ? 1 : -1);
        TesOperator *op;
        double *motion = NULL;
        int count;
        if (!space) continue;
        const TesTermDesc terms[] = {{.term = TES_TERM_STRAIN, .a = {.all = mu}},
                                     {.term = TES_TERM_GRAD_DIV, .a = {.all = lambda}}};
        assert_ok(ctx, tes_operator_create(
                           ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 2, .term = terms}}, &op));
        assert_ok(ctx, tesi_elasticity_motions(op, &count, &motion));
        assert_int_equal(count, motions[dim - 2][held]);
        tesi_free(ctx, &motion);
        check_solves(op);
        tes_operator_destroy(&op);
        tes_space_destroy(&space);
      }
  tes_function_destroy(&lambda), tes_function_destroy(&mu);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* ---- problems ------------------------------------------------------------------------------------------ */

/* A square with a coefficient that varies, solved directly; values[0]: |u|. */
static TesStatus solve_square(TesContext *ctx, void *norm) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesFunction *a = NULL, *f = NULL;
  TesProblem *problem = NULL;
  TesSolveResult result;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {6, 5}}, &mesh));
  TES_TRY(tes_function_create_expression(ctx, "1 + 100*x*y", &a));
  TES_TRY(tes_function_create_expression(ctx, "1 + x", &f));
  const TesProblemDesc desc = {
      .mesh = mesh, .degree = 3, .data = {.a = a, .f = {f}}, .solver = {.method = TES_METHOD_DIRECT}};
  TES_TRY(tes_problem_create(ctx, &desc, &problem));
  TES_TRY(tes_problem_solve(problem, &result));
  TES_TRY(tes_vector_norm(tes_problem_solution(problem), norm));
done:
  tes_problem_destroy(&problem);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  return status;
}

typedef struct Worker {
  pthread_t thread;
  double norm[8];
  TesStatus status;
} Worker;

static void *work(void *user) {
  Worker *w = user;
  TesContext *ctx = NULL;
  const TesContextDesc desc = {.device = "cpu", .verbosity = TES_QUIET, .threads = 1};
  w->status = tes_context_create(&desc, &ctx, NULL, 0);
  for (int i = 0; i < 8 && w->status == TES_OK; i++) w->status = solve_square(ctx, &w->norm[i]);
  tes_context_destroy(&ctx);
  return NULL;
}

static void four_threads(void **state) {
  enum { THREADS = 4 };
  Worker worker[THREADS];
  double alone = NAN;
  (void)state;
  if (!has_factors()) skip();
  TesContext *ctx = make_context();
  assert_ok(ctx, solve_square(ctx, &alone));
  tes_context_destroy(&ctx);
  for (int t = 0; t < THREADS; t++)
    assert_int_equal(pthread_create(&worker[t].thread, NULL, work, &worker[t]), 0);
  for (int t = 0; t < THREADS; t++) pthread_join(worker[t].thread, NULL);
  for (int t = 0; t < THREADS; t++) {
    assert_int_equal(worker[t].status, TES_OK);
    for (int i = 0; i < 8; i++) assert_true(worker[t].norm[i] == alone); /* the same bits */
  }
}

static void allocations(void **state) {
  double norm;
  (void)state;
  if (!has_factors()) skip();
  allocations_fail(solve_square, &norm, 8);
}

typedef struct Stop {
  TesContext *ctx;
  const char *at;
} Stop;

static void stop_there(void *user, TesLogLevel level, const char *line) {
  const Stop *s = user;
  if (level == TES_LOG_PROGRESS && strstr(line, s->at)) tes_context_interrupt(s->ctx);
}

/* Between ordering and factors. */
static void interruptions(void **state) {
  Stop stop = {.at = "factors of "};
  double norm;
  TesContext *ctx;
  (void)state;
  if (!has_factors()) skip();
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .log = stop_there, .log_user = &stop},
                                      &ctx, NULL, 0),
                   TES_OK);
  stop.ctx = ctx;
  assert_int_equal(solve_square(ctx, &norm), TES_INTERRUPTED);
  assert_non_null(strstr(tes_context_message(ctx), "interrupted in the set-up (factors of "));
  tes_context_clear(ctx);
  assert_int_equal(tes_context_memory(ctx), 0);
  stop.at = "nowhere";
  assert_ok(ctx, solve_square(ctx, &norm));
  tes_context_destroy(&ctx);
}

static void builds_without_say_so(void **state) {
  double norm;
  (void)state;
  if (has_factors()) skip();
  TesContext *ctx = make_context();
  assert_int_equal(solve_square(ctx, &norm), TES_MISSING);
  assert_non_null(strstr(tes_context_message(ctx), "MUMPS"));
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_matrices),     cmocka_unit_test(random_matrices_on_a_gpu),
      cmocka_unit_test(what_has_no_factors), cmocka_unit_test(diffusion),
      cmocka_unit_test(elasticity),          cmocka_unit_test(slow_aggregation_is_replaced),
      cmocka_unit_test(four_threads),        cmocka_unit_test(allocations),
      cmocka_unit_test(interruptions),       cmocka_unit_test(builds_without_say_so)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
