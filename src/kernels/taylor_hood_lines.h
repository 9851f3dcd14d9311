/* Cells in shared memory for kernels of velocities and pressures (taylor_hood.cu, convection.cu,
 * taylor_hood_faces.cu). Vectors are read; numbers are transformed to Gauss points and back, one line per thread;
 * results are added to vectors.
 *
 * Arrays of a block have SIZE numbers each. They are dense, [n]^DIM over the nodes of a cell, or pitched over its
 * points: x has the step 1, y PITCH, z PLANE. PITCH is odd, so that threads of lines along x use all banks.
 * Macros: real = double, DIM, N (nodes of the velocity per direction), Q (points), CELLS, NUMBERS, HANGING, THREADS,
 * BLOCKS (that should run on a multiprocessor).
 * tables.h: tesk_b[Q][N] and tesk_p[Q][N - 1] values at the points, tesk_bw and tesk_pw the same times the weights of
 * the points, tesk_d[Q][Q] derivatives of polynomials through the points, tesk_w[Q] the weights. */
#ifndef TESK_TAYLOR_HOOD_LINES_H
#define TESK_TAYLOR_HOOD_LINES_H

#include "taylor_hood_arguments.h"
#include "hanging_lines.h"

#define AT_POINTS 0 /* NUMBERS */
#define AFFINE 1
#define ALIGNED 2
#define OWN (NUMBERS == ALIGNED ? DIM : DIM * DIM)
#define NP (N - 1)
#define PITCH (Q | 1)
#define PLANE (PITCH * Q)
#define LINES_OF(n) (DIM == 3 ? (n) * (n) : (n))
#define NODES_OF(n) (LINES_OF(n) * (n))
#define LINES LINES_OF(Q)
#define POINTS (LINES * Q)
#define SIZE (DIM == 3 ? PLANE * Q : PLANE)
#define FOR_ITEMS(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

/* to[r] <- sum over c of table(r row + c column) from[c]; from and to may be the same line. */
#define LINE_PRODUCT(name, table, rows, columns, row, column)                                                \
  TESK_DEVICE void name(const real *from, int from_step, real *to, int to_step) {                            \
    real v[columns];                                                                                         \
    TESK_UNROLL                                                                                              \
    for (int c = 0; c < (columns); c++) v[c] = from[c * from_step];                                          \
    TESK_UNROLL                                                                                              \
    for (int r = 0; r < (rows); r++) {                                                                       \
      real sum = 0;                                                                                          \
      TESK_UNROLL                                                                                            \
      for (int c = 0; c < (columns); c++) sum += table(r * (row) + c * (column)) * v[c];                     \
      to[r * to_step] = sum;                                                                                 \
    }                                                                                                        \
  }

/* `arrays` dense arrays of n nodes per direction, or pitched ones, to pitched arrays over the points. */
#define TO_POINTS(name, line, n)                                                                             \
  TESK_DEVICE void name(int arrays, const real *from, real *to) {                                            \
    FOR_ITEMS(id, arrays *LINES_OF(n)) {                                                                     \
      const int a = id / LINES_OF(n) * SIZE, l = id % LINES_OF(n);                                           \
      line(from + a + l * (n), 1, to + a + l % (n)*PITCH + l / (n)*PLANE, 1);                                \
    }                                                                                                        \
    __syncthreads();                                                                                         \
    FOR_ITEMS(id, arrays *Q *(DIM == 3 ? (n) : 1)) {                                                         \
      const int each = Q * (DIM == 3 ? (n) : 1), l = id % each;                                              \
      real *const at = to + id / each * SIZE + l % Q + l / Q * PLANE;                                        \
      line(at, PITCH, at, PITCH);                                                                            \
    }                                                                                                        \
    __syncthreads();                                                                                         \
    if (DIM == 2) return;                                                                                    \
    FOR_ITEMS(id, arrays *LINES) {                                                                           \
      real *const at = to + id / LINES * SIZE + id % LINES % Q + id % LINES / Q * PITCH;                     \
      line(at, PLANE, at, PLANE);                                                                            \
    }                                                                                                        \
    __syncthreads();                                                                                         \
  }

/* The transpose: pitched arrays, which are overwritten, to dense arrays. */
#define FROM_POINTS(name, line, n)                                                                           \
  TESK_DEVICE void name(int arrays, real *from, real *to) {                                                  \
    if (DIM == 3) {                                                                                          \
      FOR_ITEMS(id, arrays *LINES) {                                                                         \
        real *const at = from + id / LINES * SIZE + id % LINES % Q + id % LINES / Q * PITCH;                 \
        line(at, PLANE, at, PLANE);                                                                          \
      }                                                                                                      \
      __syncthreads();                                                                                       \
    }                                                                                                        \
    FOR_ITEMS(id, arrays *Q *(DIM == 3 ? (n) : 1)) {                                                         \
      const int each = Q * (DIM == 3 ? (n) : 1), l = id % each;                                              \
      real *const at = from + id / each * SIZE + l % Q + l / Q * PLANE;                                      \
      line(at, PITCH, at, PITCH);                                                                            \
    }                                                                                                        \
    __syncthreads();                                                                                         \
    FOR_ITEMS(id, arrays *LINES_OF(n)) {                                                                     \
      const int a = id / LINES_OF(n) * SIZE, l = id % LINES_OF(n);                                           \
      line(from + a + l % (n)*PITCH + l / (n)*PLANE, 1, to + a + l * (n), 1);                                \
    }                                                                                                        \
    __syncthreads();                                                                                         \
  }

/* The start of line l along direction d in a pitched array, and the step from point to point. */
TESK_DEVICE int line_start(int d, int l) {
  return d == 0 ? l % Q * PITCH + l / Q * PLANE : d == 1 ? l % Q + l / Q * PLANE : l % Q + l / Q * PITCH;
}
TESK_DEVICE int line_step(int d) {
  return d == 0 ? 1 : d == 1 ? PITCH : PLANE;
}
/* The number of point r of that line. */
TESK_DEVICE int line_point(int d, int l, int r) {
  return d == 0 ? l * Q + r : d == 1 ? l % Q + r * Q + l / Q * (Q * Q) : l + r * (Q * Q);
}

/* Entry [d][c] of C at point p of a cell; c = DIM: 1 / |J|. */
TESK_DEVICE real number_of(const TeskTaylorHood *a, long long cell, int d, int c, int p) {
  const int entry = c == DIM ? OWN : NUMBERS == ALIGNED ? d : d * DIM + c;
  if (NUMBERS == ALIGNED && c != DIM && c != d) return 0;
  return TESK_READ(a->numbers + (NUMBERS == AT_POINTS ? (cell * (OWN + 1) + entry) * POINTS + p
                                                      : cell * (OWN + 1) + entry));
}

/* The cell at a place in the block; -1: none. */
TESK_DEVICE long long find_cell(const TeskTaylorHood *a, int slot) {
  const long long at = (long long)blockIdx.x * CELLS + slot;
  return at >= a->cells ? -1 : a->order ? (long long)a->order[at] : at;
}

/* Whether a cell of the block has hanging nodes. To be called early, so that nothing waits for the masks. */
TESK_DEVICE int any_hanging(const TeskTaylorHood *a, const unsigned short *mask) {
  int any = 0;
  for (int slot = 0; HANGING && slot < CELLS; slot++) {
    const long long cell = find_cell(a, slot);
    any |= cell < 0 ? 0 : TESK_READ(mask + cell) >> 3;
  }
  return any;
}

/* Interpolates hanging nodes of dense arrays [CELLS][components]; ends with a barrier. */
TESK_DEVICE void hang_cells(const TeskTaylorHood *a, const unsigned short *mask, const real *halves,
                            const int n, int any, int components, int transposed, real *dense) {
#if HANGING
  if (!any) return;
  for (int i = 0; i < DIM; i++) {
    const int d = transposed ? DIM - 1 - i : i;
    FOR_ITEMS(id, CELLS * components * LINES_OF(n)) {
      const int array = id / LINES_OF(n);
      const long long cell = find_cell(a, array / components);
      const int bits = cell < 0 ? 0 : TESK_READ(mask + cell);
      if (bits >> 3)
        tesk_hang_line(DIM, n, bits, d, id % LINES_OF(n), transposed, halves, dense + array * SIZE);
    }
    __syncthreads();
  }
#else
  (void)a, (void)mask, (void)halves, (void)n, (void)any, (void)components, (void)transposed, (void)dense;
#endif
}

/* node[NODES_EACH] <- the nodes that the thread will add to. */
#define NODES_EACH ((CELLS * NODES_OF(N) + THREADS - 1) / THREADS)
TESK_DEVICE void find_nodes(const TeskTaylorHood *a, const int *index, const int n, int node[NODES_EACH]) {
  TESK_UNROLL
  for (int m = 0; m < NODES_EACH; m++) {
    const int id = (int)threadIdx.x + m * THREADS, slot = id / NODES_OF(n);
    const long long cell = slot < CELLS ? find_cell(a, slot) : -1;
    node[m] = cell < 0 ? -1 : TESK_READ(index + cell * NODES_OF(n) + id % NODES_OF(n));
  }
}

/* dense[CELLS][components] <- values at the nodes of cells; the components are `length` entries apart. */
TESK_DEVICE void read_cells(const TeskTaylorHood *a, const int *index, const unsigned short *mask,
                            const real *halves, const int n, int any, int components, const real *x,
                            real *dense) {
  FOR_ITEMS(id, CELLS * NODES_OF(n)) {
    const int slot = id / NODES_OF(n), i = id % NODES_OF(n);
    const long long cell = find_cell(a, slot), node = cell < 0 ? 0 : TESK_READ(index + cell * NODES_OF(n) + i);
    for (int c = 0; c < components; c++)
      dense[(slot * components + c) * SIZE + i] = cell < 0 ? 0 : TESK_READ(x + c * a->velocities + node);
  }
  __syncthreads();
  hang_cells(a, mask, halves, n, any, components, 0, dense);
}

/* y += dense, at the nodes of find_nodes(). */
TESK_DEVICE void add_cells(const TeskTaylorHood *a, const int node[NODES_EACH], const unsigned short *mask,
                           const real *halves, const int n, int any, int components, real *dense, real *y) {
  hang_cells(a, mask, halves, n, any, components, 1, dense);
  TESK_UNROLL
  for (int m = 0; m < NODES_EACH; m++) {
    const int id = (int)threadIdx.x + m * THREADS, slot = id / NODES_OF(n), i = id % NODES_OF(n);
    if (node[m] < 0) continue;
    for (int c = 0; c < components; c++)
      TESK_ADD(y + c * a->velocities + node[m], dense[(slot * components + c) * SIZE + i]);
  }
}

#endif
