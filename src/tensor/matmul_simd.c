/* See matmul.h. Blocks of ROWS rows and PAIR vectors of C stay in registers while k runs. */
#include "tensor/matmul.h"
#include "tensor/simd_real.h"

enum { ROWS = 6, PAIR = 2 };

/* `rows` rows and `vectors` vectors of C; both literal. */
TESI_INLINE void block(const int rows, const int vectors, int k, const double *A, ptrdiff_t lda,
                       const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc) {
  V sum[ROWS][PAIR] = {{{0}}};
  for (int l = 0; l < k; l++) {
    V b[PAIR];
    TESI_UNROLL for (int v = 0; v < vectors; v++) b[v] = load(B + l * ldb + v * LANES);
    TESI_UNROLL for (int r = 0; r < rows; r++) {
      const double a = A[r * lda + l];
      TESI_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += a * b[v];
    }
  }
  TESI_UNROLL for (int r = 0; r < rows; r++) TESI_UNROLL for (int v = 0; v < vectors; v++)
      store(C + r * ldc + v * LANES, sum[r][v]);
}

/* All rows of one strip of columns. */
TESI_INLINE void strip(const int vectors, int m, int k, const double *A, ptrdiff_t lda, const double *B,
                       ptrdiff_t ldb, double *C, ptrdiff_t ldc) {
  int r = 0;
  for (; r + ROWS <= m; r += ROWS) block(ROWS, vectors, k, A + r * lda, lda, B, ldb, C + r * ldc, ldc);
  for (; r < m; r++) block(1, vectors, k, A + r * lda, lda, B, ldb, C + r * ldc, ldc);
}

void TESI_SIMD(tesi_matmul)(int m, int n, int k, const double *A, ptrdiff_t lda, const double *B,
                            ptrdiff_t ldb, double *C, ptrdiff_t ldc);
void TESI_SIMD(tesi_matmul)(int m, int n, int k, const double *A, ptrdiff_t lda, const double *B,
                            ptrdiff_t ldb, double *C, ptrdiff_t ldc) {
  int c = 0;
  for (; c + PAIR * LANES <= n; c += PAIR * LANES) strip(PAIR, m, k, A, lda, B + c, ldb, C + c, ldc);
  for (; c + LANES <= n; c += LANES) strip(1, m, k, A, lda, B + c, ldb, C + c, ldc);
  if (c == n) return;
  if (n >= LANES) { /* the last strip overlaps the one before */
    strip(1, m, k, A, lda, B + n - LANES, ldb, C + n - LANES, ldc);
    return;
  }
  for (int r = 0; r < m; r++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += A[r * lda + l] * B[l * ldb + j];
      C[r * ldc + j] = sum;
    }
}
