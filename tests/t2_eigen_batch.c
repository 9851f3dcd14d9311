/* Run: ctest -R t2_eigen_batch. Batched eigenproblems: residual, orthonormality, eigenvalues of LAPACK; every SIMD
 * width. Single large ones against a chain's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "basis/eigen.h"
#include "basis/lagrange.h"
#include "tensor/eigen_batch.h"
#include "tessera/tessera.h"
#include "testing.h"

enum { L = TESI_EIGEN_LANES, N = 39 };

typedef struct Batch {
  double *K, *M, *S, *lambda;
} Batch;

static Batch batch(int n) {
  const size_t bytes = sizeof(double) * L * (size_t)(n * n);
  Batch b = {aligned_alloc(64, bytes), aligned_alloc(64, bytes), aligned_alloc(64, bytes),
             aligned_alloc(64, bytes)};
  for (int i = 0; i < n * n * L; i++) b.K[i] = b.M[i] = b.S[i] = b.lambda[i] = NAN;
  return b;
}

static void release(Batch *b) {
  free(b->K), free(b->M), free(b->S), free(b->lambda);
}

/* One lane: 1D matrices of two cells of random widths and weights, like those of vertex patches; or just random
 * ones. */
static void make_pair(int n, uint64_t *state, double *K, double *M) {
  double a[N * N];
  for (int matrix = 0; matrix < 2; matrix++) {
    double *out = matrix ? M : K;
    for (int i = 0; i < n * n; i++) a[i] = test_random(state);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = i == j ? 0.1 : 0;
        for (int k = 0; k < n; k++) sum += a[i * n + k] * a[j * n + k];
        out[i * n + j] = sum;
      }
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void check_lane(TesContext *ctx, int n, const double *K, const double *M, const Batch *b, int lane) {
  double S[N * N], lambda[N], expected[N * N], expected_lambda[N];
  for (int i = 0; i < n * n; i++) S[i] = b->S[i * L + lane];
  for (int i = 0; i < n; i++) lambda[i] = b->lambda[i * L + lane];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) { /* S' K S = lambda, S' M S = I */
      double k = 0, m = 0;
      for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
          k += S[p * n + i] * K[p * n + q] * S[q * n + j];
          m += S[p * n + i] * M[p * n + q] * S[q * n + j];
        }
      assert_near(m, i == j, 1e-10);
      assert_near(k, i == j ? lambda[i] : 0, 1e-10 * (1 + fabs(lambda[i]) + fabs(lambda[j])));
    }
  assert_int_equal(tesi_eigen(ctx, n, K, M, expected, expected_lambda), TES_OK);
  qsort(lambda, (size_t)n, sizeof *lambda, ascending);
  for (int i = 0; i < n; i++) assert_near(lambda[i], expected_lambda[i], 1e-10 * expected_lambda[n - 1]);
}

static void modes_diagonalize_both_matrices(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 3, 5, 7, 8, 13, 15, 19};
  TesContext *ctx;
  uint64_t random = 7;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  for (int bits = 128; bits <= 512; bits *= 2)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && test_has_simd(bits); s++) {
      const int n = sizes[s];
      Batch b = batch(n);
      double K[L][N * N], M[L][N * N];
      for (int lane = 0; lane < L; lane++) {
        make_pair(n, &random, K[lane], M[lane]);
        for (int i = 0; i < n * n; i++) b.K[i * L + lane] = K[lane][i], b.M[i * L + lane] = M[lane][i];
      }
      assert_true(tesi_eigen_batch(bits)(n, b.K, b.M, b.S, b.lambda));
      for (int lane = 0; lane < L; lane++) check_lane(ctx, n, K[lane], M[lane], &b, lane);
      release(&b);
    }
  tes_context_destroy(&ctx);
}

/* Diagonal matrices need no rotation: theta is 0/0 there unless it is seen to. */
static void diagonal_matrices_are_kept(void **state) {
  (void)state;
  enum { n = 3 };
  Batch b = batch(n);
  for (int i = 0; i < n * n * L; i++) b.K[i] = b.M[i] = 0;
  for (int i = 0; i < n; i++)
    for (int l = 0; l < L; l++) b.K[i * (n + 1) * L + l] = i + l, b.M[i * (n + 1) * L + l] = 4;
  assert_true(tesi_eigen_batch(128)(n, b.K, b.M, b.S, b.lambda));
  for (int i = 0; i < n; i++)
    for (int l = 0; l < L; l++) {
      assert_near(b.lambda[i * L + l], (i + l) / 4.0, 1e-15);
      assert_near(b.S[i * (n + 1) * L + l], 0.5, 1e-15);
    }
  release(&b);
}

static void indefinite_mass_is_refused(void **state) {
  (void)state;
  Batch b = batch(2);
  for (int wrong = 0; wrong < 2; wrong++) {
    for (int l = 0; l < L; l++)
      for (int i = 0; i < 4; i++) b.K[i * L + l] = b.M[i * L + l] = i == 0 || i == 3;
    b.M[3 * L + 5] = wrong ? NAN : -1;
    assert_false(tesi_eigen_batch(128)(2, b.K, b.M, b.S, b.lambda));
  }
  release(&b);
}

/* Chains of masses and springs: lambda_j = 4 sin^2(j pi / (2 n + 2)), and modes are orthonormal. From some size on
 * another method is taken. */
static void large_problems_have_the_modes_of_a_chain(void **state) {
  static const int sizes[] = {60, 127, 128, 201};
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  for (int s = 0; s < 4; s++) {
    const int n = sizes[s];
    double *K = calloc((size_t)(n * n), sizeof *K), *M = calloc((size_t)(n * n), sizeof *M),
           *S = calloc((size_t)(n * n), sizeof *S), *lambda = calloc((size_t)n, sizeof *lambda);
    for (int i = 0; i < n; i++) {
      K[i * n + i] = 4, M[i * n + i] = 2; /* twice the chain */
      if (i) K[i * n + i - 1] = K[(i - 1) * n + i] = -2;
    }
    assert_int_equal(tesi_eigen(ctx, n, K, M, S, lambda), TES_OK);
    for (int j = 0; j < n; j++) {
      const double angle = acos(-1) * (j + 1) / (2 * n + 2), root = 2 * sin(angle);
      double square = 0, product = 0;
      assert_near(lambda[j], root * root, 1e-12);
      for (int i = 0; i < n; i++) square += 2 * S[i * n + j] * S[i * n + j];
      for (int i = 0; i < n; i++) product += S[i * n + j] * sin(2 * angle * (i + 1)) * 2 / sqrt(n + 1);
      assert_near(square, 1, 1e-12);
      assert_near(fabs(product), 1, 1e-10); /* the mode itself */
    }
    free(K), free(M), free(S), free(lambda);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modes_diagonalize_both_matrices),
      cmocka_unit_test(large_problems_have_the_modes_of_a_chain),
      cmocka_unit_test(diagonal_matrices_are_kept),
      cmocka_unit_test(indefinite_mass_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
