/* Run: ctest -R t6_aggregation. Smoothed aggregation part by part: products of matrices in blocks against dense ones,
 * aggregates, prolongations that have the near-null vectors, the matrix of elasticity against its operator. */
#include "aggregation_testing.h"

/* ---- matrices -------------------------------------------------------------------------------------- */

/* A third of the blocks, row 2 has none; columns of a row descend. */
static TesiBlockMatrix random_matrix(TesContext *ctx, int64_t rows, int64_t columns, int high, int wide,
                                     uint64_t seed) {
  TesiBlockMatrix A = {.rows = rows, .columns = columns, .high = high, .wide = wide};
  uint8_t *has = test_calloc((size_t)(rows * columns), 1);
  for (int64_t i = 0; i < rows * columns; i++) has[i] = test_random(&seed) > 0.3 && i / columns != 2;
  assert_ok(ctx, tesi_alloc(ctx, (size_t)rows + 1, sizeof *A.row, &A.row));
  for (int64_t i = 0; i < rows; i++) {
    A.row[i + 1] = A.row[i];
    for (int64_t j = 0; j < columns; j++) A.row[i + 1] += has[i * columns + j];
  }
  assert_ok(ctx, tesi_block_allocate(ctx, &A));
  for (int64_t i = 0, at = 0; i < rows; i++)
    for (int64_t j = columns - 1; j >= 0; j--)
      if (has[i * columns + j]) A.column[at++] = (int32_t)j;
  for (int64_t i = 0; i < A.row[rows] * high * wide; i++) A.value[i] = test_random(&seed);
  test_free(has);
  return A;
}

/* [rows high][columns wide] */
static double *dense_of(const TesiBlockMatrix *A) {
  const int64_t n = A->columns * A->wide;
  double *dense = zeros(A->rows * A->high * n);
  for (int64_t i = 0; i < A->rows; i++) {
    const int64_t count = A->row[i + 1] - A->row[i];
    for (int64_t k = 0; k < count; k++)
      for (int r = 0; r < A->high; r++)
        for (int c = 0; c < A->wide; c++)
          dense[(i * A->high + r) * n + (int64_t)A->column[A->row[i] + k] * A->wide + c] +=
              A->value[A->row[i] * A->high * A->wide + (r * count + k) * A->wide + c];
  }
  return dense;
}

/* C[n][m] = A[n][k] B[k][m] */
static double *dense_product(int64_t n, int64_t k, int64_t m, const double *A, const double *B) {
  double *C = zeros(n * m);
  for (int64_t i = 0; i < n; i++)
    for (int64_t l = 0; l < k; l++)
      for (int64_t j = 0; j < m; j++) C[i * m + j] += A[i * k + l] * B[l * m + j];
  return C;
}

static void assert_same(int64_t n, const double *actual, const double *expected, double most) {
  for (int64_t i = 0; i < n; i++) assert_near(actual[i], expected[i], most);
}

/* The four uses of a product, with the float64 values or with the rounded ones. */
static void check_ways_of(TesContext *ctx, const TesiBlockMatrix *A, bool rounded) {
  const int64_t n = A->rows * A->high, m = A->columns * A->wide;
  double *dense = dense_of(A), *x = random_numbers(m, 5), *b = random_numbers(n, 6),
         *d = random_numbers(n, 7), *y = zeros(n), *p = zeros(n);
  for (int64_t i = 0; rounded && i < n * m; i++) dense[i] = (float)dense[i];
  double *q = dense_product(n, m, 1, dense, x);
  for (int way = 0; way < 4; way++) {
    if (way == TESI_BLOCK_STEP && n != m) break;
    for (int from = 0; from < 2; from++) {
      for (int64_t i = 0; i < n; i++) y[i] = way == TESI_BLOCK_ADD ? i : NAN, p[i] = from ? 0.5 * i : NAN;
      tesi_block_run(ctx, &(TesiBlockTask){way, rounded, A, x, b, d, 1.5, from ? 0.25 : 0, p, y});
      for (int64_t i = 0; i < n; i++) {
        const double step = (from ? 0.125 * i : 0) + 1.5 * d[i] * (b[i] - q[i]);
        const double expected[] = {q[i], b[i] - q[i], i + q[i], (n == m ? x[i] : 0) + step};
        assert_near(y[i], expected[way], 1e-12);
        if (way == TESI_BLOCK_STEP) assert_near(p[i], step, 1e-12);
      }
    }
  }
  double *all[] = {dense, x, b, d, q, y, p};
  for (int i = 0; i < 7; i++) test_free(all[i]);
}

static void check_ways(TesContext *ctx, TesiBlockMatrix *A) {
  assert_ok(ctx, tesi_block_round(ctx, A));
  for (int rounded = 0; rounded < 2; rounded++) check_ways_of(ctx, A, rounded);
}

/* A', A B, and B' A B where A is square. */
static void check_products_of(TesContext *ctx, const TesiBlockMatrix *A, const TesiBlockMatrix *B) {
  const int64_t n = A->rows * A->high, k = A->columns * A->wide, m = B->columns * B->wide;
  TesiBlockMatrix T, C, G;
  assert_ok(ctx, tesi_block_transpose(ctx, B, &T));
  assert_ok(ctx, tesi_block_multiply(ctx, A, B, &C));
  double *a = dense_of(A), *b = dense_of(B), *t = dense_of(&T), *c = dense_of(&C),
         *expected = dense_product(n, k, m, a, b);
  for (int64_t i = 0; i < k; i++)
    for (int64_t j = 0; j < m; j++) assert_near(t[j * k + i], b[i * m + j], 0);
  assert_same(n * m, c, expected, 1e-12);
  if (n == k) {
    assert_ok(ctx, tesi_block_multiply(ctx, &T, &C, &G));
    double *g = dense_of(&G), *triple = dense_product(m, n, m, t, expected), *d = zeros(n);
    assert_same(m * m, g, triple, 1e-11);
    tesi_block_diagonal(ctx, A, d);
    for (int64_t i = 0; i < n; i++) assert_near(d[i], a[i * n + i], 0);
    test_free(g), test_free(triple), test_free(d);
    tesi_block_free(ctx, &G);
  }
  tesi_block_free(ctx, &T), tesi_block_free(ctx, &C);
  double *all[] = {a, b, t, c, expected};
  for (int i = 0; i < 5; i++) test_free(all[i]);
}

static void products_are_those_of_dense_matrices(void **state) {
  static const int sizes[][2] = {{1, 1}, {2, 2}, {3, 3}, {2, 3}, {3, 6}, {6, 6}, {1, 2}, {5, 4}};
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    TesContext *ctx = make_context(threads);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      const int high = sizes[i][0], wide = sizes[i][1];
      TesiBlockMatrix A = random_matrix(ctx, 23, 23, high, high, 11 + i),
                      B = random_matrix(ctx, 23, 9, high, wide, 3),
                      wider = random_matrix(ctx, 5, 150, high, wide, 4);
      check_ways(ctx, &A), check_ways(ctx, &B), check_ways(ctx, &wider);
      check_products_of(ctx, &A, &B);
      tesi_block_free(ctx, &A), tesi_block_free(ctx, &B), tesi_block_free(ctx, &wider);
    }
    assert_int_equal(tes_context_memory(ctx), 0);
    tes_context_destroy(&ctx);
  }
}

/* ---- aggregates and prolongations -------------------------------------------------------------------- */

/* Laplace on a line of n nodes, blocks of one entry; the last node alone. */
static TesiBlockMatrix line(TesContext *ctx, int64_t n) {
  TesiBlockMatrix A = {.rows = n, .columns = n, .high = 1, .wide = 1};
  assert_ok(ctx, tesi_alloc(ctx, (size_t)n + 1, sizeof *A.row, &A.row));
  for (int64_t i = 0; i < n; i++) A.row[i + 1] = A.row[i] + (i == n - 1 ? 1 : i == 0 || i == n - 2 ? 2 : 3);
  assert_ok(ctx, tesi_block_allocate(ctx, &A));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i - 1, at = A.row[i]; j <= i + 1; j++)
      if (j == i || (i < n - 1 && j >= 0 && j < n - 1))
        A.column[at] = (int32_t)j, A.value[at++] = i == j ? 2 : -1;
  return A;
}

static void aggregates_are_neighbourhoods(void **state) {
  static const int32_t expected[] = {0, 0, 1, 1, 1, 2, 2, 2, 2, -1};
  TesContext *ctx = make_context(1);
  TesiBlockMatrix A = line(ctx, 10);
  TesiAggregates a;
  (void)state;
  assert_ok(ctx, tesi_aggregates_create(ctx, &A, &a));
  assert_int_equal(a.count, 3);
  for (int i = 0; i < 10; i++) assert_int_equal(a.of[i], expected[i]);
  for (int64_t k = 0; k < 3; k++)
    for (int64_t m = a.first[k]; m < a.first[k + 1]; m++) assert_int_equal(a.of[a.member[m]], k);
  assert_int_equal(a.first[3], 9);
  tesi_aggregates_free(ctx, &a);
  tesi_block_free(ctx, &A);
  tes_context_destroy(&ctx);
}

/* B = T C, T' T = 1 but where a column is empty, and P = (I - omega D^-1 A) T, against dense products. Six vectors on
 * three components: the first aggregate has two nodes, on which one combination of them vanishes; of the second node
 * all but one vector are zero. */
static void prolongations_have_the_near_null_vectors(void **state) {
  enum { NODES = 10, HIGH = 3, VECTORS = 6, N = NODES * HIGH };
  TesContext *ctx = make_context(2);
  TesiBlockMatrix graph = line(ctx, NODES), A = {0}, T, P;
  TesiAggregates a;
  double *B = random_numbers(N * VECTORS, 4), *C, *inverse = random_numbers(N, 8);
  (void)state;
  for (int r = 0; r < HIGH; r++)
    for (int k = 0; k < VECTORS; k++) { /* translations and rotations on a line along x */
      const double at[3] = {0, 0, 0};
      for (int i = 0; i < NODES; i++) {
        const double rotation[3][3] = {{-at[1], (double)i, 0}, {0, -at[2], at[1]}, {at[2], 0, -(double)i}};
        B[(i * HIGH + r) * VECTORS + k] = k < 3 ? k == r : rotation[k - 3][r];
      }
    }
  A = random_matrix(ctx, NODES, NODES, HIGH, HIGH, 21);
  tesi_block_free(ctx, &A);
  A = (TesiBlockMatrix){.rows = NODES, .columns = NODES, .high = HIGH, .wide = HIGH};
  assert_ok(ctx, tesi_alloc(ctx, NODES + 1, sizeof *A.row, &A.row));
  memcpy(A.row, graph.row, (NODES + 1) * sizeof *A.row);
  assert_ok(ctx, tesi_block_allocate(ctx, &A));
  memcpy(A.column, graph.column, (size_t)A.row[NODES] * sizeof *A.column);
  uint64_t seed = 9;
  for (int64_t i = 0; i < A.row[NODES] * HIGH * HIGH; i++) A.value[i] = test_random(&seed);
  assert_ok(ctx, tesi_aggregates_create(ctx, &graph, &a));
  assert_ok(ctx, tesi_prolongation_tentative(ctx, &a, NODES, HIGH, VECTORS, B, &T, &C));
  assert_ok(ctx, tesi_prolongation_smooth(ctx, &A, inverse, 0.3, &T, &P));
  const int64_t m = a.count * VECTORS;
  double *t = dense_of(&T), *p = dense_of(&P), *dense = dense_of(&A), *At = dense_product(N, N, m, dense, t),
         *back = dense_product(N, m, VECTORS, t, C);
  assert_same((N - HIGH) * VECTORS, back, B, 1e-12); /* the last node is in no aggregate */
  int empty = 0;
  for (int64_t k = 0; k < m; k++)
    for (int64_t l = 0; l < m; l++) {
      double sum = 0;
      for (int64_t i = 0; i < N; i++) sum += t[i * m + k] * t[i * m + l];
      if (k == l) empty += sum == 0;
      assert_near(sum, k == l && sum != 0 ? 1 : 0, 1e-12);
    }
  assert_int_equal(empty, 3); /* the rotation about the line, on each */
  for (int64_t i = 0; i < N; i++)
    for (int64_t k = 0; k < m; k++)
      assert_near(p[i * m + k], t[i * m + k] - 0.3 * inverse[i] * At[i * m + k], 1e-12);
  double *all[] = {B, inverse, t, p, dense, At, back};
  for (int i = 0; i < 7; i++) test_free(all[i]);
  tesi_free(ctx, &C);
  tesi_aggregates_free(ctx, &a);
  TesiBlockMatrix *matrices[] = {&graph, &A, &T, &P};
  for (int i = 0; i < 4; i++) tesi_block_free(ctx, matrices[i]);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* ---- the matrix of elasticity ------------------------------------------------------------------------ */
static void check_matrix(TesContext *ctx, int kind, int dim, int degree, Given given, int what) {
  Place p;
  TesOperator *op;
  TesiBlockMatrix A;
  if (!make_place(ctx, kind, dim, degree, given, &p)) return;
  assert_ok(ctx, create(&p, what, TES_DOUBLE, &op));
  assert_ok(ctx, tesi_elasticity_assemble(op, &A));
  const int64_t n = op->length, nodes = n / dim;
  double *x = random_numbers(n, 3), *y = zeros(n), *u = zeros(n), *v = zeros(n), largest = 0;
  assert_int_equal(A.rows * dim, n);
  for (int64_t i = 0; i < n; i++) u[i % nodes * dim + i / nodes] = x[i];
  assert_ok(ctx, tesi_elasticity_apply_ref(op, x, y));
  tesi_block_run(ctx, &(TesiBlockTask){.way = TESI_BLOCK_MULTIPLY, .A = &A, .x = u, .y = v});
  for (int64_t i = 0; i < n; i++) largest = test_larger(largest, fabs(y[i]));
  for (int64_t i = 0; i < n; i++) {
    const double got = v[i % nodes * dim + i / nodes];
    if (!(fabs(got - y[i]) <= 1e-12 * largest))
      fail_msg("%s, %dD, degree %d, given %d, %d: row %lld is %.17g, expected %.17g", kinds[kind], dim,
               degree, (int)given, what, (long long)i, got, y[i]);
  }
  test_free(x), test_free(y), test_free(u), test_free(v);
  tesi_block_free(ctx, &A);
  tes_operator_destroy(&op);
  leave(&p);
}

static void elasticity_is_assembled(void **state) {
  TesContext *ctx = make_context(2);
  (void)state;
  for (int kind = 0; kind < KINDS; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 2 ? 3 : 2); degree++)
        for (int given = SOME; given <= NONE; given++)
          check_matrix(ctx, kind, dim, degree, (Given)given,
                       given == SOME  ? VARIES | MASS | SPRINGS
                       : given == ALL ? 0
                                      : SPRINGS);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_those_of_dense_matrices), cmocka_unit_test(aggregates_are_neighbourhoods),
      cmocka_unit_test(prolongations_have_the_near_null_vectors), cmocka_unit_test(elasticity_is_assembled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
