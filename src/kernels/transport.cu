/* The terms of a velocity in an operator over continuous elements, y += sign T x: int (b . grad u) v, or conservative
 * - int u b . grad v, with the streamline terms, or (mass) int u tau b . grad v; cells on boxes and forests, with
 * hanging nodes. The meaning of the numbers at the points: operator/transport/transport_operator.h.
 *
 * A block owns CELLS cells. A thread takes one node or point after the other; number id is node or point id % (number
 * per cell) of cell id / (number per cell). The cell's nodes go to shared memory, where hanging lines are
 * interpolated. One contraction per direction leads to Q points per direction; derivatives are computed there from
 * the polynomial through the points. The integrands go back by the transposed contractions. Atomics add the results;
 * if cells come colour by colour (order), they have no conflicts.
 * Shared: Q N + Q^2 + 2 N^2 numbers, and 2 + DIM arrays of Q^DIM per cell: 46 KiB for degree 8 in 3D, float64.
 * Registers: a line of N nodes for hanging lines, else few.
 * Flops per cell: 2 Q per point and contraction, 3 DIM of them, with streamlines DIM (DIM + 3) / 2 more.
 * Bytes per cell: nodes twice, their numbers, and 1 + DIM numbers per point, with streamlines 2 + DIM (DIM + 3) / 2
 * more; with a constant velocity over equal cells these numbers exist once (stride 0).
 *
 * Macros: real, DIM, N (nodes per direction), Q (points), CELLS, STREAMLINE, CONSERVATIVE. tables: B[Q][N], D[Q][Q],
 * W[2][N][N]. numbers[cells or 1][ARRAYS][POINTS]. */
#include "kernel.h"
#include "hanging_lines.h"

#define THREADS 128
#if DIM == 3
#define NODES (N * N * N)
#define POINTS (Q * Q * Q)
#define LINES_HANGING (N * N)
#define SECOND 6
#else
#define NODES (N * N)
#define POINTS (Q * Q)
#define LINES_HANGING N
#define SECOND 3
#endif
#define TABLES (Q * N + Q * Q + 2 * N * N)
#define ARRAYS (1 + DIM + (STREAMLINE ? 2 + SECOND + DIM : 0))
#define FOR_TASKS(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

/* For each cell: to[o][r][i] = sum over c of T[r][c] from[o][c][i], or of T[c][r]; arrays of POINTS per cell. */
TESK_DEVICE void contract(const real *T, int transposed, int rows, int columns, int inner, int outer,
                          const real *from, real *to) {
  const int each = outer * rows * inner;
  FOR_TASKS(id, CELLS * each) {
    const int cell = id / each, k = id % each, i = k % inner, r = k / inner % rows, o = k / inner / rows;
    const real *const in = from + cell * POINTS + o * columns * inner + i;
    real sum = 0;
    for (int c = 0; c < columns; c++)
      sum += (transposed ? T[c * rows + r] : T[r * columns + c]) * in[c * inner];
    to[cell * POINTS + k] = sum;
  }
  __syncthreads();
}

/* Place of a point along direction d, and the step to the next one. */
TESK_DEVICE int step_of(int d) {
  return d == 0 ? 1 : d == 1 ? Q : Q * Q;
}

/* The derivative at point p of a cell along d of the polynomial through values v; or transposed. */
TESK_DEVICE real derivative(const real *D, int transposed, const real *v, int p, int d) {
  const int step = step_of(d), at = p / step % Q;
  const real *const line = v + p - at * step;
  real sum = 0;
  for (int j = 0; j < Q; j++) sum += (transposed ? D[j * Q + at] : D[at * Q + j]) * line[j * step];
  return sum;
}

/* The factors of v and of b . grad v in the integrand, from values and derivatives. */
TESK_DEVICE void weigh(const real *number, int mass, const real *D, const real *g, int cell, int p, real u,
                       real *tested, real *along) {
  real sum = 0, r = 0;
  if (!mass) {
    for (int d = 0; d < DIM; d++) sum += number[(1 + d) * POINTS] * g[(d * CELLS + cell) * POINTS + p];
  }
#if STREAMLINE
  if (mass) {
    r = u;
  } else {
    const real *const M = number + (3 + DIM) * POINTS;
    int at = 0;
    r = number[(2 + DIM) * POINTS] * u + sum;
    for (int e = 0; e < DIM; e++)
      for (int f = e; f < DIM; f++, at++)
        r -= M[at * POINTS] * derivative(D, 0, g + (e * CELLS + cell) * POINTS, p, f);
    for (int e = 0; e < DIM; e++, at++) r -= M[at * POINTS] * g[(e * CELLS + cell) * POINTS + p];
  }
  r *= number[(1 + DIM) * POINTS];
#endif
  *tested = mass || CONSERVATIVE ? 0 : number[0] * sum;
  *along = r - (CONSERVATIVE && !mass ? number[0] * u : 0);
}

/* Cells order[first] .. order[first + count - 1], or (order 0) first .. */
TESK_KERNEL(tesk_transport, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y,
            (const int *TESK_RESTRICT)order, (const int *TESK_RESTRICT)index,
            (const unsigned short *TESK_RESTRICT)mask, (const real *TESK_RESTRICT)numbers,
            (const real *TESK_RESTRICT)tables, (long long)first, (long long)count, (long long)stride,
            (int)mass, (int)every, (real)sign) {
  TESK_SHARED(memory);
  const real *const B = memory, *const D = B + Q * N, *const W = D + Q * Q;
  real *const a = memory + TABLES, *const b = a + CELLS * POINTS, *const g = b + CELLS * POINTS;
  const long long start = (long long)blockIdx.x * CELLS;
#define CELL(c)                                                                                              \
  (start + (c) >= count ? -1 : order ? (long long)order[first + start + (c)] : first + start + (c))
  FOR_TASKS(id, TABLES) memory[id] = tables[id];
  FOR_TASKS(id, CELLS * NODES) {
    const long long cell = CELL(id / NODES);
    const int node = cell < 0 ? -1 : index[cell * NODES + id % NODES], at = node < 0 ? -1 - node : node;
    a[id / NODES * POINTS + id % NODES] = cell >= 0 && (node >= 0 || every) ? x[at] : 0;
  }
  __syncthreads();
  for (int d = 0; d < DIM; d++) {
    FOR_TASKS(id, CELLS * LINES_HANGING) {
      const long long cell = CELL(id / LINES_HANGING);
      const int bits = cell < 0 ? 0 : mask[cell];
      if (bits) tesk_hang_line(DIM, N, bits, d, id % LINES_HANGING, 0, W, a + id / LINES_HANGING * POINTS);
    }
    __syncthreads();
  }
  /* values at the points: in u, the other array is free */
#if DIM == 3
  contract(B, 0, Q, N, 1, N * N, a, b);
  contract(B, 0, Q, N, Q, N, b, a);
  contract(B, 0, Q, N, Q * Q, 1, a, b);
  real *const u = b, *const v = a;
#else
  contract(B, 0, Q, N, 1, N, a, b);
  contract(B, 0, Q, N, Q, 1, b, a);
  real *const u = a, *const v = b;
#endif
  if (!mass && (STREAMLINE || !CONSERVATIVE)) {
    FOR_TASKS(id, DIM * CELLS * POINTS) {
      const int d = id / (CELLS * POINTS), rest = id % (CELLS * POINTS);
      g[id] = derivative(D, 0, u + rest / POINTS * POINTS, rest % POINTS, d);
    }
  } else {
    FOR_TASKS(id, DIM * CELLS * POINTS) g[id] = 0;
  }
  __syncthreads();
  FOR_TASKS(id, CELLS * POINTS) {
    const int c = id / POINTS, p = id % POINTS;
    const long long cell = CELL(c);
    real tested = 0, along = 0;
    if (cell >= 0) weigh(numbers + cell * stride + p, mass, D, g, c, p, u[id], &tested, &along);
    v[id] = tested, u[id] = along;
  }
  __syncthreads();
  if (STREAMLINE || (CONSERVATIVE && !mass)) {
    FOR_TASKS(id, DIM * CELLS * POINTS) {
      const int d = id / (CELLS * POINTS), rest = id % (CELLS * POINTS), p = rest % POINTS;
      const long long cell = CELL(rest / POINTS);
      g[id] = cell < 0 ? 0 : u[rest] * numbers[cell * stride + (1 + d) * POINTS + p];
    }
    __syncthreads();
    FOR_TASKS(id, CELLS * POINTS) {
      for (int d = 0; d < DIM; d++)
        v[id] += derivative(D, 1, g + (d * CELLS + id / POINTS) * POINTS, id % POINTS, d);
    }
    __syncthreads();
  }
#if DIM == 3
  contract(B, 1, N, Q, Q * Q, 1, v, u);
  contract(B, 1, N, Q, Q, N, u, v);
  contract(B, 1, N, Q, 1, N * N, v, u);
  real *const out = u;
#else
  contract(B, 1, N, Q, Q, 1, v, u);
  contract(B, 1, N, Q, 1, N, u, v);
  real *const out = v;
#endif
  for (int d = DIM - 1; d >= 0; d--) {
    FOR_TASKS(id, CELLS * LINES_HANGING) {
      const long long cell = CELL(id / LINES_HANGING);
      const int bits = cell < 0 ? 0 : mask[cell];
      if (bits) tesk_hang_line(DIM, N, bits, d, id % LINES_HANGING, 1, W, out + id / LINES_HANGING * POINTS);
    }
    __syncthreads();
  }
  FOR_TASKS(id, CELLS * NODES) {
    const long long cell = CELL(id / NODES);
    const int node = cell < 0 ? -1 : index[cell * NODES + id % NODES];
    if (node >= 0) TESK_ADD(&y[node], sign * out[id / NODES * POINTS + id % NODES]);
  }
}
