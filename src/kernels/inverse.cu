/* Replaces positive definite matrices A [n][n] by their inverses, in float64: Gauss-Jordan elimination by blocks of
 * EDGE columns without pivoting. With P = A_kk^-1 a step makes
 *
 *   A_kk <- P,   A_kj <- P A_kj,   A_ik <- - A_ik P,   A_ij <- A_ij - A_ik P A_kj
 *
 * in three launches: P by one block, one thread per entry; P A_kj and a copy of A_ik by tiles of EDGE columns; the rest
 * by tiles of EDGE x EDGE, eight rows of threads, four entries per thread. Matrices are stored one after the other, and
 * so are their work arrays; blockIdx.z is the number of a matrix. Flops: 2 n^3 per matrix; bytes: 16 n^2 per step,
 * mostly in the L2 cache. Shared memory: two tiles. */
#include "kernel.h"

#define EDGE 32
#define ROWS 8 /* of threads of a tile */
#define NUMBER (long long)blockIdx.z

/* pivot <- the inverse of the diagonal block at `first`, of width at most EDGE; *refused becomes 1 if a pivot is not
 * positive. */
TESK_KERNEL(tesk_inverse_pivot, EDGE *EDGE, 1, (const double *)A, (double *)pivot, (int)n, (int)first,
            (int *)refused) {
  TESK_SHARED(P);
  A += NUMBER * n * n, pivot += NUMBER * EDGE * EDGE;
  const int i = (int)threadIdx.x / EDGE, j = (int)threadIdx.x % EDGE;
  const int inside = first + i < n && first + j < n;
  P[i * EDGE + j] = inside ? A[(long long)(first + i) * n + first + j] : i == j;
  for (int s = 0; s < EDGE; s++) {
    __syncthreads();
    const double by = P[s * EDGE + s], row = P[s * EDGE + j], column = P[i * EDGE + s], own = P[i * EDGE + j],
                 over = 1 / by;
    if (i == 0 && j == 0 && !(by > 0)) *refused = 1;
    __syncthreads();
    P[i * EDGE + j] = i == s   ? (j == s ? over : row * over)
                      : j == s ? -column * over
                               : own - column * over * row;
  }
  pivot[i * EDGE + j] = P[i * EDGE + j];
}

/* row[EDGE][n] <- P A_kj, column[n][EDGE] <- A_ik; a block has EDGE columns and EDGE rows. */
TESK_KERNEL(tesk_inverse_panels, EDGE *ROWS, 1, (const double *)A, (const double *)pivot, (double *)row,
            (double *)column, (int)n, (int)first) {
  TESK_SHARED(P);
  double *const tile = P + EDGE * EDGE;
  A += NUMBER * n * n, pivot += NUMBER * EDGE * EDGE, row += NUMBER * EDGE * n, column += NUMBER * EDGE * n;
  const int x = (int)threadIdx.x % EDGE, y = (int)threadIdx.x / EDGE, at = (int)blockIdx.x * EDGE;
  for (int i = y; i < EDGE; i += ROWS) {
    P[i * EDGE + x] = pivot[i * EDGE + x];
    tile[i * EDGE + x] = first + i < n && at + x < n ? A[(long long)(first + i) * n + at + x] : 0;
    if (at + i < n) column[(at + i) * EDGE + x] = first + x < n ? A[(long long)(at + i) * n + first + x] : 0;
  }
  __syncthreads();
  if (at + x >= n) return;
  for (int i = y; i < EDGE; i += ROWS) {
    double sum = 0;
    for (int m = 0; m < EDGE; m++) sum += P[i * EDGE + m] * tile[m * EDGE + x];
    row[(long long)i * n + at + x] = sum;
  }
}

TESK_KERNEL(tesk_inverse_update, EDGE *ROWS, 1, (double *)A, (const double *)pivot, (const double *)row,
            (const double *)column, (int)n, (int)first) {
  TESK_SHARED(left);
  double *const right = left + EDGE * EDGE;
  A += NUMBER * n * n, pivot += NUMBER * EDGE * EDGE, row += NUMBER * EDGE * n, column += NUMBER * EDGE * n;
  const int x = (int)threadIdx.x % EDGE, y = (int)threadIdx.x / EDGE, j = (int)blockIdx.x * EDGE + x,
            top = (int)blockIdx.y * EDGE;
  const int in_column = (int)blockIdx.x * EDGE == first, in_row = top == first;
  for (int i = y; i < EDGE; i += ROWS) {
    left[i * EDGE + x] = top + i < n ? column[(top + i) * EDGE + x] : 0;
    right[i * EDGE + x] = in_column ? pivot[i * EDGE + x] : j < n ? row[(long long)i * n + j] : 0;
  }
  __syncthreads();
  if (j >= n) return;
  for (int i = y; i < EDGE && top + i < n; i += ROWS) {
    double *const to = A + (long long)(top + i) * n + j;
    double sum = in_row ? right[i * EDGE + x] : in_column ? 0 : *to;
    for (int m = 0; m < EDGE && !in_row; m++) sum -= left[i * EDGE + m] * right[m * EDGE + x];
    *to = sum;
  }
}
