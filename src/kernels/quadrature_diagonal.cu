/* d <- d + diagonal of the quadrature form, cell by cell: with squares b2 = B_qp^2, g2 = (B_qp')^2 in place of B and D,
 *   sum over d of g2 (direction d) b2 (others) a w |J| / h_d^2 + b2 b2 b2 c w |J|,
 * contracted direction by direction as in quadrature.cu: two arrays, U with b2 everywhere so far, W with the sum of
 * the rest. For set-up:
 * the cells of a launch share no nodes. Work per point: 10 N multiply-adds.
 * This file also has the kernel that begins every application.
 *
 * Macros: real, DIM, DEGREE, CELLS, THREADS, VARIABLE, REACTION. Tables: tesk_b2, tesk_g2 [point][node], tesk_w. */
#include "kernel.h"
#include "tables.h"

#define K DEGREE
#define N (K + 1)
#include "quadrature_cell.h"

#define PX (N | 1)
#define ROWS (DIM == 3 ? N * N : N)
#define LINES ROWS
#define SIZE (ROWS * PX)

/* y <- b, or 0 without b; `fixed` at Dirichlet nodes. r may be b. One warp per row of nodes. */
TESK_KERNEL(tesk_quadrature_start, 256, 1, (real *)y, (const real *)b, (double)fixed, (TeskDiffusion)a) {
  const int nx = a.pitch, ny = (int)(a.plane / a.pitch), nz = DIM == 3 ? a.cells[2] * K + 1 : 1;
  for (int row = (int)blockIdx.x * 8 + (int)threadIdx.x / 32; row < ny * nz; row += (int)gridDim.x * 8) {
    const int at_y = row % ny, z = row / ny;
    const int zero = (a.dirichlet[2] && at_y == 0) || (a.dirichlet[3] && at_y == ny - 1) ||
                     (DIM == 3 && ((a.dirichlet[4] && z == 0) || (a.dirichlet[5] && z == nz - 1)));
    const long long first = (long long)row * nx;
    for (int x = (int)threadIdx.x % 32; x < nx; x += 32)
      y[first + x] = zero || (a.dirichlet[0] && x == 0) || (a.dirichlet[1] && x == nx - 1) ? (real)fixed
                     : b                                                                   ? b[first + x]
                                                                                           : 0;
  }
}

/* a w |J| at point (i, j) of the slow direction's line, step q; or c w |J|. */
TESK_DEVICE real coefficient(const TeskDiffusion *a, const Cell *cell, int line, int q) {
#if VARIABLE
  return ((const real *)a->a)[(cell->points * ROWS + (DIM == 3 ? q * N : q)) * N + line];
#else
  return (real)a->constant * cell->volume * tesk_w(q) * tesk_w(line % N) * (DIM == 3 ? tesk_w(line / N) : 1);
#endif
}

TESK_KERNEL(tesk_quadrature_diagonal, THREADS, 1, (real *)d, (TeskDiffusion)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x, c = t / LINES, line = t % LINES, number = (int)blockIdx.x * CELLS + c;
  const int on = c < CELLS && number < a.count[0] * a.count[1] * a.count[2];
  const Cell cell = make_cell(&a, on ? number : 0);
  real *const U = memory + (c < CELLS ? c : 0) * SIZE, *const W = U + CELLS * SIZE;
  if (on) { /* the slow direction: points (line) to nodes */
    const int step = DIM == 3 ? N * PX : PX, at = DIM == 3 ? line / N * PX + line % N : line;
    for (int k = 0; k < N; k++) {
      real u = 0, w = 0;
      for (int q = 0; q < N; q++) {
        const real value = coefficient(&a, &cell, line, q);
        u += tesk_b2(q * N + k) * value;
        w += tesk_g2(q * N + k) * (value * cell.inverse_h2[DIM - 1]);
#if REACTION
        w += tesk_b2(q * N + k) *
             ((const real *)a.c)[(cell.points * ROWS + (DIM == 3 ? q * N : q)) * N + line];
#endif
      }
      U[at + k * step] = u;
      W[at + k * step] = w;
    }
  }
  __syncthreads();
#if DIM == 3
  real u[N], w[N];
  const int column = line / N * N * PX + line % N;
  if (on)
    for (int k = 0; k < N; k++) {
      u[k] = w[k] = 0;
      for (int q = 0; q < N; q++) {
        const real value = U[column + q * PX];
        u[k] += tesk_b2(q * N + k) * value;
        w[k] += tesk_g2(q * N + k) * (value * cell.inverse_h2[1]) + tesk_b2(q * N + k) * W[column + q * PX];
      }
    }
  if (on)
    for (int k = 0; k < N; k++) {
      U[column + k * PX] = u[k];
      W[column + k * PX] = w[k];
    }
  __syncthreads();
#endif
  if (!on) return;
  const int j = line % N, l = line / N;
  if (is_fixed(&a, &cell, 1, j) || (DIM == 3 && is_fixed(&a, &cell, 2, l))) return;
  for (int k = 0; k < N; k++) {
    real sum = 0;
    for (int q = 0; q < N; q++)
      sum += tesk_g2(q * N + k) * (U[line * PX + q] * cell.inverse_h2[0]) +
             tesk_b2(q * N + k) * W[line * PX + q];
    if (!is_fixed(&a, &cell, 0, k))
      d[cell.node + (DIM == 3 ? l * a.plane : 0) + (long long)j * a.pitch + k] += sum;
  }
}
