/* Run: ctest -R t2_matmul. Small dense products against the definition, every SIMD width, every remainder of rows
 * and columns. */
#include <stdlib.h>
#include "tensor/matmul.h"
#include "tessera/tessera.h"
#include "testing.h"

static void compare(TesiMatmul multiply, int m, int n, int k) {
  const int lda = k + 1, ldb = n + 2, ldc = n + 3;
  double *A = malloc(sizeof *A * (size_t)(m * lda)), *B = malloc(sizeof *B * (size_t)(k * ldb)),
         *C = malloc(sizeof *C * (size_t)(m * ldc));
  uint64_t seed = (uint64_t)(m + 100 * n + 10000 * k);
  for (int i = 0; i < m * lda; i++) A[i] = test_random(&seed);
  for (int i = 0; i < k * ldb; i++) B[i] = test_random(&seed);
  for (int i = 0; i < m * ldc; i++) C[i] = NAN;
  multiply(m, n, k, A, lda, B, ldb, C, ldc);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < ldc; j++) {
      double sum = 0;
      for (int l = 0; l < k && j < n; l++) sum += A[i * lda + l] * B[l * ldb + j];
      if (j < n)
        assert_near(C[i * ldc + j], sum, 1e-13 * k);
      else
        assert_true(isnan(C[i * ldc + j])); /* nothing is written beyond the columns */
    }
  free(A), free(B), free(C);
}

static void every_width_and_remainder(void **state) {
  (void)state;
  for (int bits = 128; bits <= 512; bits *= 2) {
    if (!test_has_simd(bits)) continue;
    for (int m = 1; m <= 14; m++)
      for (int n = 1; n <= 35; n++) compare(tesi_matmul(bits), m, n, (m * n) % 19 + 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_width_and_remainder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
