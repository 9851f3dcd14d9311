/* Makes a box of perturbed trilinear cells on [0,1]^3 on the device, for measurements: vertices, index, factors,
 * random vectors.
 * cells x cells x cells cells, x fastest, N nodes per direction, nodes lexicographic. Macros: real, N, Q, MASS,
 * STIFFNESS. */
#include "kernel.h"
#include "mapped_arguments.h"

#define FACTORS (6 * STIFFNESS + MASS)
#define FOR_EACH(i, n)                                                                                       \
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x,                                       \
                 tesk_step = (long long)gridDim.x * blockDim.x;                                              \
       i < (n); i += tesk_step)

/* A number in [-1, 1) computed from an integer. */
TESK_DEVICE double scatter(unsigned long long i) {
  i = (i + 1) * 0x9e3779b97f4a7c15ull;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ull;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebull;
  return (double)(long long)(i ^ (i >> 31)) / 9223372036854775808.0;
}

TESK_KERNEL(tesk_box_random, 256, 1, (long long)n, (real *)x) {
  FOR_EACH(i, n) x[i] = (real)scatter((unsigned long long)i);
}

/* Place of a cell: x fastest, or in bricks of `brick` cells per direction, so that neighbours have nearer numbers. */
TESK_DEVICE void place_cell(int cells, int brick, long long cell, long long at[3]) {
  long long rest = cell, size[3];
  if (brick == 0) brick = cells;
  const long long z = rest / ((long long)brick * cells * cells) * brick;
  rest -= z * cells * cells;
  size[2] = z + brick < cells ? brick : cells - z;
  const long long y = rest / ((long long)brick * cells * size[2]) * brick;
  rest -= y * cells * size[2];
  size[1] = y + brick < cells ? brick : cells - y;
  const long long x = rest / (brick * size[1] * size[2]) * brick;
  rest -= x * size[1] * size[2];
  size[0] = x + brick < cells ? brick : cells - x;
  at[0] = x + rest % size[0];
  at[1] = y + rest / size[0] % size[1];
  at[2] = z + rest / size[0] / size[1];
}

/* Inner vertices are moved by up to `shift` of a cell's width; vertices on the boundary stay. v[cell][8][3] */
TESK_KERNEL(tesk_box_vertices, 256, 1, (int)cells, (int)brick, (double)shift, (real *)v) {
  const long long total = (long long)cells * cells * cells;
  FOR_EACH(i, total * 24) {
    const int d = (int)(i % 3), corner = (int)(i / 3 % 8);
    const long long cell = i / 24;
    long long at[3];
    place_cell(cells, brick, cell, at);
    for (int e = 0; e < 3; e++) at[e] += corner >> e & 1;
    int inside = 1;
    for (int e = 0; e < 3; e++) inside &= at[e] > 0 && at[e] < cells;
    const long long vertex = (at[2] * (cells + 1) + at[1]) * (cells + 1) + at[0];
    v[i] =
        (real)(((double)at[d] + (inside ? shift * scatter((unsigned long long)(vertex * 3 + d)) : 0)) / cells);
  }
}

/* The coefficients for mapped_geometry.h, c[cell][7][3], of vertices v[cell][8][3]. */
TESK_KERNEL(tesk_box_coefficients, 256, 1, (long long)cells, (const real *)v, (real *)c) {
  FOR_EACH(i, cells * 3) {
    const real *x = v + i / 3 * 24 + i % 3;
    real *to = c + i / 3 * 21 + i % 3;
    const real x1 = x[3] - x[0], x2 = x[6] - x[0], x3 = x[12] - x[0];
    const real x12 = x[9] - x[6] - x1, x13 = x[15] - x[12] - x1, x23 = x[18] - x[12] - x2;
    to[0] = x1;
    to[3] = x2;
    to[6] = x3;
    to[9] = x12;
    to[12] = x13;
    to[15] = x23;
    to[18] = x[21] - x[18] - (x[15] - x[12]) - x12;
  }
}

/* The same index as codes of rows of consecutive nodes, rows[cell][N^2] (row_node() of mapped.cu). */
TESK_KERNEL(tesk_box_rows, 256, 1, (long long)n, (const int *)index, (int *)rows) {
  FOR_EACH(i, n) {
    const int first = index[i * N], middle = index[i * N + 1], last = index[i * N + N - 1];
    const int node = first < 0 ? ~first : first;
    rows[i] =
        (N == 2 || middle < 0) && first < 0 && last < 0 ? ~node : 4 * node + (first < 0) + 2 * (last < 0);
  }
}

/* index[cell][N^3]; boundary nodes are constrained if `fixed`. */
TESK_KERNEL(tesk_box_index, 256, 1, (int)cells, (int)brick, (int)fixed, (int *)index) {
  const long long total = (long long)cells * cells * cells * (N * N * N),
                  width = (long long)cells * (N - 1) + 1;
  FOR_EACH(i, total) {
    const long long cell = i / (N * N * N);
    const int node = (int)(i % (N * N * N));
    long long c[3];
    place_cell(cells, brick, cell, c);
    const long long x = c[0] * (N - 1) + node % N, y = c[1] * (N - 1) + node / N % N,
                    z = c[2] * (N - 1) + node / (N * N);
    const int at = (int)((z * width + y) * width + x);
    const int edge = x == 0 || y == 0 || z == 0 || x == width - 1 || y == width - 1 || z == width - 1;
    index[i] = fixed && edge ? ~at : at;
  }
}

/* g[cell][FACTORS][Q^3] of trilinear cells: w |J| J^-1 J^-T, then w |J|. */
TESK_KERNEL(tesk_box_factors, 256, 1, (long long)cells, (const real *)vertices, (real *)g, (TeskMapped)a) {
  FOR_EACH(i, cells * Q * Q * Q) {
    const long long cell = i / (Q * Q * Q);
    const int point = (int)(i % (Q * Q * Q)), p[3] = {point % Q, point / Q % Q, point / Q / Q};
    double J[3][3], K[3][3], w = 1;
    for (int d = 0; d < 3; d++) {
      w *= a.weight[p[d]];
      for (int r = 0; r < 3; r++) J[r][d] = 0;
    }
    for (int c = 0; c < 8; c++)
      for (int d = 0; d < 3; d++) {
        double shape = 1;
        for (int e = 0; e < 3; e++) {
          const double at = a.point[p[e]];
          const int upper = c >> e & 1;
          shape *= e == d ? (upper ? 1 : -1) : (upper ? at : 1 - at);
        }
        for (int r = 0; r < 3; r++) J[r][d] += shape * (double)vertices[cell * 24 + c * 3 + r];
      }
    for (int d = 0; d < 3; d++) /* rows of |J| J^-1 */
      for (int r = 0; r < 3; r++)
        K[d][r] = J[(r + 1) % 3][(d + 1) % 3] * J[(r + 2) % 3][(d + 2) % 3] -
                  J[(r + 1) % 3][(d + 2) % 3] * J[(r + 2) % 3][(d + 1) % 3];
    const double det = J[0][0] * K[0][0] + J[1][0] * K[0][1] + J[2][0] * K[0][2];
    real *out = g + cell * FACTORS * (Q * Q * Q) + point;
    for (int d = 0, s = 0; d < 3 * STIFFNESS; d++)
      for (int e = d; e < 3; e++, s++)
        out[s * (Q * Q * Q)] = (real)(w / det * (K[d][0] * K[e][0] + K[d][1] * K[e][1] + K[d][2] * K[e][2]));
    if (MASS) out[6 * STIFFNESS * (Q * Q * Q)] = (real)(w * det);
  }
}

/* d += diagonal of the collocated stiffness (N = Q) with factors g[cell][FACTORS][Q^3] and D[Q][Q]: with G at point
 * (l, j, k), entry (i, j, k) has sum over l of D[l][i]^2 G00, likewise in y and z, and the mixed terms at the node
 * itself. */
TESK_KERNEL(tesk_box_diagonal, 256, 1, (long long)cells, (const real *)g, (const int *)index,
            (const double *)D, (real *)d) {
  const int stride[3] = {1, Q, Q * Q}, square[3] = {0, 3, 5}, mixed[3] = {1, 2, 4};
  FOR_EACH(at, cells * Q * Q * Q) {
    const int node = (int)(at % (Q * Q * Q)), p[3] = {node % Q, node / Q % Q, node / Q / Q};
    const real *const f = g + at / (Q * Q * Q) * FACTORS * (Q * Q * Q);
    double sum = 0;
    for (int e = 0; e < 3; e++) {
      for (int l = 0; l < Q; l++) {
        const double entry = D[l * Q + p[e]];
        sum += entry * entry * (double)f[square[e] * (Q * Q * Q) + node + (l - p[e]) * stride[e]];
      }
      const int a = e == 2, b = e == 0 ? 1 : 2; /* 01, 02, 12 */
      sum += 2 * D[p[a] * Q + p[a]] * D[p[b] * Q + p[b]] * (double)f[mixed[e] * (Q * Q * Q) + node];
    }
    if (index[at] >= 0) TESK_ADD(d + index[at], (real)sum);
  }
}

/* d <- 1 / d; 1 where it is zero (constrained). b <- the right-hand side, zero there. */
TESK_KERNEL(tesk_box_invert, 256, 1, (long long)n, (real *)d, (real *)b) {
  FOR_EACH(i, n) {
    b[i] = d[i] != 0 ? (real)scatter((unsigned long long)i) : 0;
    d[i] = d[i] != 0 ? 1 / d[i] : 1;
  }
}
