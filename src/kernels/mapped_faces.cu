/* Robin terms of operators over forests: y += sign R x, R = sum over boundary faces int_F alpha u v. A block owns a
 * face. Surfaces are small compared with the cells, so nothing here is tuned.
 *
 * The cell's nodes go to shared memory, where hanging lines are interpolated. The face's nodes are interpolated to
 * its points direction by direction and multiplied by the weights; then come the transposed steps. Shared: Q N + 2
 * N^2 numbers, the cell's N^DIM nodes, two arrays of the face's points: 10 KiB at most.
 * Flops per face: 4 N Q (N + Q) in 3D. Bytes: the cell's nodes and indices, Q^(DIM-1) weights.
 *
 * index[faces][NODES], mask[faces]: of the faces' cells.
 * Macros: real, DIM, N (nodes per direction), Q (points). tables: B[Q][N], W[2][N][N]. */
#include "kernel.h"
#include "hanging_lines.h"
#include "csr.h"

#define THREADS 128
#if DIM == 3
#define LINES N
#define LINES_HANGING (N * N)
#define NODES (N * N * N)
#define POINTS (Q * Q)
#else
#define LINES 1
#define LINES_HANGING N
#define NODES (N * N)
#define POINTS Q
#endif
#define TABLES (Q * N + 2 * N * N)
#define FOR_TASKS(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

/* tesi_face_node(). */
TESK_DEVICE int face_node(int face, int i) {
  const int d = face / 2, end = face & 1 ? N - 1 : 0, a = i % N, b = i / N;
  return d == 0 ? end + N * a + N * N * b : d == 1 ? a + N * end + N * N * b : a + N * b + N * N * end;
}

/* to[o][r][i] = sum over c of B[r][c] from[o][c][i], or of B[c][r]. */
TESK_DEVICE void contract(const real *B, int transposed, int rows, int columns, int inner, int outer,
                          const real *from, real *to) {
  FOR_TASKS(id, outer * rows * inner) {
    const int i = id % inner, r = id / inner % rows, o = id / inner / rows;
    real sum = 0;
    for (int c = 0; c < columns; c++)
      sum += (transposed ? B[c * rows + r] : B[r * columns + c]) * from[(o * columns + c) * inner + i];
    to[id] = sum;
  }
  __syncthreads();
}

/* u <- C' R C u at the cell's nodes in shared memory; behind u there must be room for two arrays of the face's
 * points. tables: in shared memory. */
TESK_DEVICE void face_term(const real *tables, int f, int bits, const real *weight, real *u) {
  const real *const B = tables, *const W = B + Q * N;
  real *const a = u + NODES, *const b = a + POINTS;
  for (int d = 0; d < DIM; d++) {
    FOR_TASKS(id, LINES_HANGING) tesk_hang_line(DIM, N, bits, d, id, 0, W, u);
    __syncthreads();
  }
  FOR_TASKS(id, LINES * N) a[id] = u[face_node(f, id)];
  __syncthreads();
  contract(B, 0, Q, N, 1, LINES, a, b);
#if DIM == 3
  contract(B, 0, Q, N, Q, 1, b, a);
  FOR_TASKS(id, POINTS) a[id] *= weight[id];
  __syncthreads();
  contract(B, 1, N, Q, Q, 1, a, b);
#else
  FOR_TASKS(id, POINTS) b[id] *= weight[id];
  __syncthreads();
#endif
  contract(B, 1, N, Q, 1, LINES, b, a);
  FOR_TASKS(id, NODES) u[id] = 0;
  __syncthreads();
  FOR_TASKS(id, LINES * N) u[face_node(f, id)] = a[id];
  __syncthreads();
  for (int d = DIM - 1; d >= 0; d--) {
    FOR_TASKS(id, LINES_HANGING) tesk_hang_line(DIM, N, bits, d, id, 1, W, u);
    __syncthreads();
  }
}

TESK_KERNEL(tesk_robin, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y,
            (const signed char *TESK_RESTRICT)face, (const int *TESK_RESTRICT)index,
            (const unsigned short *TESK_RESTRICT)mask, (const real *TESK_RESTRICT)weight,
            (const real *TESK_RESTRICT)tables, (real)sign) {
  TESK_SHARED(memory);
  real *const u = memory + TABLES;
  const int *nodes = index + (long long)blockIdx.x * NODES;
  FOR_TASKS(id, TABLES) memory[id] = tables[id];
  FOR_TASKS(id, NODES) u[id] = nodes[id] < 0 ? 0 : x[nodes[id]];
  __syncthreads();
  face_term(memory, face[blockIdx.x], mask[blockIdx.x], weight + (long long)blockIdx.x * POINTS, u);
  FOR_TASKS(id, NODES) {
    if (nodes[id] >= 0 && u[id] != 0) TESK_ADD(&y[nodes[id]], sign * u[id]);
  }
}

/* The same column by column, for set-up: adds the diagonal to `diagonal` and all entries to the matrix (`diagonal` or
 * `value` may be 0). Only nodes of the face have entries, hanging nodes too: a boundary is also a side of the
 * parent. */
TESK_KERNEL(tesk_robin_columns, THREADS, 1, (const signed char *TESK_RESTRICT)face,
            (const int *TESK_RESTRICT)index, (const unsigned short *TESK_RESTRICT)mask,
            (const real *TESK_RESTRICT)weight, (const real *TESK_RESTRICT)tables, (real *)diagonal,
            (const int *)row, (const int *)column, (double *)value) {
  TESK_SHARED(memory);
  real *const u = memory + TABLES;
  const int f = face[blockIdx.x];
  const int *nodes = index + (long long)blockIdx.x * NODES;
  FOR_TASKS(id, TABLES) memory[id] = tables[id];
  for (int i = 0; i < LINES * N; i++) {
    const int p = face_node(f, i);
    if (nodes[p] < 0) continue;
    FOR_TASKS(id, NODES) u[id] = id == p;
    __syncthreads();
    face_term(memory, f, mask[blockIdx.x], weight + (long long)blockIdx.x * POINTS, u);
    if (diagonal && threadIdx.x == 0) TESK_ADD(&diagonal[nodes[p]], u[p]);
    FOR_TASKS(id, NODES) {
      if (value && nodes[id] >= 0 && u[id] != 0)
        TESK_ADD(&value[tesk_find(column, row[nodes[id]], row[nodes[id] + 1], nodes[p])], (double)u[id]);
    }
    __syncthreads();
  }
}
