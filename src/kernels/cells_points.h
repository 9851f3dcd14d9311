/* Common parts of kernels that evaluate functions at the Gauss points of mapped cells: nodes to points and back, and
 * the geometry at points. They serve set-up, so each point simply sums the geometry over all its nodes: 4 DIM M^DIM
 * multiply-adds.
 * Macros: real = double, DIM, N (nodes per direction), Q (points), M (nodes of the geometry). */
#ifndef TESK_CELLS_POINTS_H
#define TESK_CELLS_POINTS_H

#include "hanging_lines.h"

enum { TESK_CELLS_THREADS = 128 };

#if DIM == 3
#define CELL_NODES (N * N * N)
#define CELL_POINTS (Q * Q * Q)
#define CELL_LINES (N * N)
#define GEOMETRY_NODES (M * M * M)
#else
#define CELL_NODES (N * N)
#define CELL_POINTS (Q * Q)
#define CELL_LINES N
#define GEOMETRY_NODES (M * M)
#endif
/* In shared memory: values and derivatives of the basis at the points [Q][N], the same for the geometry [Q][M],
 * interpolation of hanging nodes [2][N][N], weights. */
#define CELL_TABLES (2 * Q * N + 2 * Q * M + 2 * N * N + Q)
#define FOR_ITEMS(id, n) for (int id = (int)threadIdx.x; id < (n); id += TESK_CELLS_THREADS)

/* to[o][r][i] <- sum_c T[r * row + c * column] from[o][c][i]; ends with a barrier. */
TESK_DEVICE void cells_contract(const double *T, int rows, int columns, int row, int column, int inner,
                                int outer, const double *from, double *to) {
  FOR_ITEMS(m, outer * rows * inner) {
    const int i = m % inner, r = m / inner % rows, o = m / inner / rows;
    double sum = 0;
    for (int c = 0; c < columns; c++) sum += T[r * row + c * column] * from[(o * columns + c) * inner + i];
    to[m] = sum;
  }
  __syncthreads();
}

/* Interpolates hanging nodes of u in shared memory; ends with a barrier. */
TESK_DEVICE void cells_hang(int mask, int transposed, const double *W, double *u) {
  for (int i = 0; mask && i < DIM; i++) {
    const int d = transposed ? DIM - 1 - i : i;
    FOR_ITEMS(line, CELL_LINES) tesk_hang_line(DIM, N, mask, d, line, transposed, W, u);
    __syncthreads();
  }
}

/* Coordinates and Jacobian of a point, J[r * DIM + c] = d x_r / d xi_c. B, G: values and derivatives for the
 * geometry. */
TESK_DEVICE void cells_point(const double *nodes, const double *B, const double *G, int point, double x[3],
                             double J[9]) {
  const int p[3] = {point % Q, point / Q % Q, point / (Q * Q)};
  x[0] = x[1] = x[2] = 0;
  for (int e = 0; e < DIM * DIM; e++) J[e] = 0;
  for (int a = 0; a < GEOMETRY_NODES; a++) {
    const int i = p[0] * M + a % M, j = p[1] * M + a / M % M, k = p[2] * M + a / (M * M);
    const double z = DIM == 3 ? B[k] : 1, value = B[i] * B[j] * z;
    const double slope[3] = {G[i] * B[j] * z, B[i] * G[j] * z, DIM == 3 ? B[i] * B[j] * G[k] : 0};
    for (int r = 0; r < DIM; r++) {
      const double at = nodes[a * DIM + r];
      x[r] += value * at;
      for (int c = 0; c < DIM; c++) J[r * DIM + c] += slope[c] * at;
    }
  }
}

/* c <- the cofactors of J; returns det J. J^-1 is the transpose of c over det J. */
TESK_DEVICE double cells_cofactors(const double J[9], double c[9]) {
#if DIM == 2
  c[0] = J[3];
  c[1] = -J[2];
  c[2] = -J[1];
  c[3] = J[0];
  return J[0] * J[3] - J[1] * J[2];
#else
  for (int r = 0; r < 3; r++)
    for (int e = 0; e < 3; e++) {
      const int s = (r + 1) % 3, t = (r + 2) % 3, f = (e + 1) % 3, g = (e + 2) % 3;
      c[r * 3 + e] = J[s * 3 + f] * J[t * 3 + g] - J[s * 3 + g] * J[t * 3 + f];
    }
  return J[0] * c[0] + J[1] * c[1] + J[2] * c[2];
#endif
}

TESK_DEVICE double cells_weight(const double *w, int point) {
  return w[point % Q] * w[point / Q % Q] * (DIM == 3 ? w[point / (Q * Q)] : 1);
}

#endif
