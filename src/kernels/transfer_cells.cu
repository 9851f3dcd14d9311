/* Transfers between spaces with hanging nodes, coarse cell by coarse cell (include/tessera/transfer.h). Refined cells
 * and other cells have separate launches, so that all cells of a launch do the same.
 *
 * A block owns CELLS coarse cells of a list. Their nodes go to shared memory, where lines of hanging nodes are
 * interpolated; one direction after another is contracted, one line per thread. The last direction reads or writes
 * the fine vector itself, so that fine values are touched once and never stored in between. With ROWS = 2 N rows
 * (both halves)
 * where a cell is refined, N where it is not:
 *   prolongation   M^3 -> ROWS M^2 -> ROWS^2 M -> memory         restriction   the way back, transposed
 * blockIdx.y: the number of the vector, for several vectors that lie a fixed number of entries apart.
 * Restriction leaves the result of each cell in an array of its own; gather.cu sums them node by node in a fixed
 * order, so that the result does not depend on the order in which blocks run. These arrays are together a little
 * larger than the coarse vector, an eighth of the fine vector.
 *
 * Shared: 2 M^2 numbers and, per cell, M^DIM + ROWS M^(DIM-1) (+ ROWS^2 M in 3D): 42 KiB at most. Registers: a line,
 * ROWS at most, and places and values of fine nodes.
 * Flops per refined cell, 3D, by even-odd halves of E, which is in tables.h: (ROWS M + 2 ROWS + 2 M) (M^2 + ROWS M +
 * ROWS^2). Bytes per fine node: 4 (for the cell that writes it)
 * times ((k+1)/k)^3; the node read and written once.
 *
 * Macros: real, DIM, M, N (nodes per direction of coarse and fine cells), REFINED, CELLS, THREADS. tables: W[2][M][M].
 */
#include "kernel.h"
#include "even_odd.h"
#include "hanging_lines.h"
#include "tables.h"

#define ROWS (REFINED ? 2 * N : N)
#define COPIES (!REFINED && M == N) /* E is the identity */
#if DIM == 3
#define LINES_IN (M * M)
#define LINES_OUT (ROWS * ROWS)
#define NODES (M * M * M)
#define FINE_NODES (N * N * N)
#define MIDDLE (ROWS * ROWS * M)
#else
#define LINES_IN M
#define LINES_OUT ROWS
#define NODES (M * M)
#define FINE_NODES (N * N)
#define MIDDLE 0
#endif
#define TABLES (2 * M * M)
#define HM ((M + 1) / 2)
#define GM (M / 2)
#define HR ((ROWS + 1) / 2)
#define GR (ROWS / 2)
#define MIN_BLOCKS (N > 5 ? 1 : sizeof(real) == 4 ? 4 : 3)
#define AT_ONCE (N > 5 ? N : ROWS) /* of a line of fine nodes, whose places take registers */
#define FOR_TASKS(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

/* The arrays of cell i of the block. */
#define SHARED                                                                                               \
  TESK_SHARED(memory);                                                                                       \
  real *const W = memory, *const u = W + TABLES, *const x = u + CELLS * NODES,                               \
              *const y = x + CELLS * ROWS * LINES_IN;                                                        \
  const int begin = (int)blockIdx.x * CELLS, cells = count - begin < CELLS ? count - begin : CELLS;          \
  FOR_TASKS(id, TABLES) W[id] = tables[id];                                                                  \
  prefetch_own(own, first, begin, cells);

/* The places of the fine nodes, which are wanted in the end. */
TESK_DEVICE void prefetch_own(const int *own, const int *first, int begin, int cells) {
  FOR_TASKS(i, cells)
  TESK_PREFETCH(own + (long long)first[begin + i] * FINE_NODES,
                (REFINED ? 1 << DIM : 1) * FINE_NODES * (long long)sizeof(int));
  (void)own, (void)first, (void)begin;
}

#if !COPIES
/* out[ROWS] <- E in */
TESK_DEVICE void expand(const real in[M], real out[ROWS]) {
  real e[HM], o[GM];
  FOLD(M, in, e, o)
  UNFOLD(ROWS, ADD_TERMS(even, HM, tesk_ee, r * HM + l, e), ADD_TERMS(sum, GM, tesk_eo, r * GM + l, o),
         SET_OUT)
}

/* out[M] <- E' in */
TESK_DEVICE void expand_transposed(const real in[ROWS], real out[M]) {
  real e[HR], o[GR];
  FOLD(ROWS, in, e, o)
  UNFOLD(M, ADD_TERMS(even, HR, tesk_ee, l * HM + r, e), ADD_TERMS(sum, GR, tesk_eo, l * GM + r, o), SET_OUT)
}
#endif

/* Lines of hanging nodes of all cells of the block, direction by direction. */
TESK_DEVICE void hang(const int *list, const unsigned short *mask, int cells, int transposed, const real *W,
                      real *u) {
  for (int d = 0; d < DIM; d++) {
    FOR_TASKS(id, cells * LINES_IN) {
      const int i = id / LINES_IN, bits = mask[list[i]];
      if (bits >> 3) tesk_hang_line(DIM, M, bits, d, id % LINES_IN, transposed, W, u + i * NODES);
    }
    __syncthreads();
  }
}

/* The place of row t of the last direction of line `line` (its other rows, x fastest) among the fine nodes of a
 * family. */
TESK_DEVICE int fine_node(int line, int t) {
  const int r = line % ROWS, s = DIM == 3 ? line / ROWS : t;
  const int child = r / N + 2 * (s / N) + (DIM == 3 ? 4 * (t / N) : 0);
  return child * FINE_NODES + r % N + N * (s % N) + (DIM == 3 ? N * N * (t % N) : 0);
}

/* fine <- P coarse, or fine + P coarse, at the nodes that a fine cell writes. */
TESK_KERNEL(tesk_prolongate_cells, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)coarse, (real *)fine,
            (const int *TESK_RESTRICT)list, (const int *TESK_RESTRICT)first, (int)count,
            (const int *TESK_RESTRICT)index, (const unsigned short *TESK_RESTRICT)mask,
            (const int *TESK_RESTRICT)own, (const real *TESK_RESTRICT)tables, (int)add,
            (long long)coarse_length, (long long)fine_length) {
  SHARED
  coarse += blockIdx.y * coarse_length;
  fine += blockIdx.y * fine_length;
  FOR_TASKS(id, cells * NODES) {
    const int node = index[(long long)list[begin + id / NODES] * NODES + id % NODES];
    u[id] = node < 0 ? 0 : coarse[node];
  }
  __syncthreads();
  hang(list + begin, mask, cells, 0, W, u);
#if COPIES
  FOR_TASKS(id, cells * NODES) {
    const int to = own[(long long)first[begin + id / NODES] * NODES + id % NODES];
    if (to >= 0) fine[to] = add ? fine[to] + u[id] : u[id];
  }
  (void)x, (void)y;
#else
  FOR_TASKS(id, cells * LINES_IN) {
    real v[M], out[ROWS];
    TESK_UNROLL
    for (int c = 0; c < M; c++) v[c] = u[id * M + c];
    expand(v, out);
    TESK_UNROLL
    for (int r = 0; r < ROWS; r++) x[id * ROWS + r] = out[r];
  }
  __syncthreads();
#if DIM == 3
  FOR_TASKS(id, cells * ROWS * M) { /* cell and z, then x */
    const int r = id % ROWS;
    const real *from = x + id / ROWS * (ROWS * M) + r;
    real *to = y + id / ROWS * (ROWS * ROWS) + r, v[M], out[ROWS];
    TESK_UNROLL
    for (int c = 0; c < M; c++) v[c] = from[c * ROWS];
    expand(v, out);
    TESK_UNROLL
    for (int s = 0; s < ROWS; s++) to[s * ROWS] = out[s];
  }
  __syncthreads();
#endif
  FOR_TASKS(id, cells * LINES_OUT) {
    const int i = id / LINES_OUT, line = id % LINES_OUT;
    const real *from = DIM == 3 ? y + i * MIDDLE + line : x + i * ROWS * M + line;
    const int *to = own + (long long)first[begin + i] * FINE_NODES;
    real v[M], out[ROWS];
    TESK_UNROLL
    for (int c = 0; c < M; c++) v[c] = from[c * LINES_OUT];
    expand(v, out);
    TESK_UNROLL
    for (int t = 0; t < ROWS; t += AT_ONCE) {
      /* All values are loaded before the first is written: otherwise each load waits for the stores before it. */
      real old[AT_ONCE];
      int node[AT_ONCE];
      TESK_UNROLL
      for (int i = 0; i < AT_ONCE; i++) node[i] = to[fine_node(line, t + i)];
      TESK_UNROLL
      for (int i = 0; i < AT_ONCE; i++) old[i] = add && node[i] >= 0 ? fine[node[i]] : 0;
      TESK_UNROLL
      for (int i = 0; i < AT_ONCE; i++)
        if (node[i] >= 0) fine[node[i]] = old[i] + out[t + i];
    }
  }
#endif
}

/* values[cell][NODES] <- its part of P' fine. */
TESK_KERNEL(tesk_restrict_cells, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)fine, (real *)values,
            (const int *TESK_RESTRICT)list, (const int *TESK_RESTRICT)first, (int)count,
            (const unsigned short *TESK_RESTRICT)mask, (const int *TESK_RESTRICT)own,
            (const real *TESK_RESTRICT)tables, (long long)fine_length, (long long)places) {
  SHARED
  fine += blockIdx.y * fine_length;
  values += blockIdx.y * places;
#if COPIES
  FOR_TASKS(id, cells * NODES) {
    const int from = own[(long long)first[begin + id / NODES] * NODES + id % NODES];
    u[id] = from < 0 ? 0 : fine[from];
  }
  (void)x, (void)y;
  __syncthreads();
#else
  __syncthreads();
  FOR_TASKS(id, cells * LINES_OUT) {
    const int i = id / LINES_OUT, line = id % LINES_OUT;
    const int *from = own + (long long)first[begin + i] * FINE_NODES;
    real *to = DIM == 3 ? y + i * MIDDLE + line : x + i * ROWS * M + line, v[ROWS], out[M];
    TESK_UNROLL
    for (int t = 0; t < ROWS; t++) {
      const int node = from[fine_node(line, t)];
      v[t] = node < 0 ? 0 : fine[node];
    }
    expand_transposed(v, out);
    TESK_UNROLL
    for (int c = 0; c < M; c++) to[c * LINES_OUT] = out[c];
  }
  __syncthreads();
#if DIM == 3
  FOR_TASKS(id, cells * ROWS * M) {
    const int r = id % ROWS;
    const real *from = y + id / ROWS * (ROWS * ROWS) + r;
    real *to = x + id / ROWS * (ROWS * M) + r, v[ROWS], out[M];
    TESK_UNROLL
    for (int s = 0; s < ROWS; s++) v[s] = from[s * ROWS];
    expand_transposed(v, out);
    TESK_UNROLL
    for (int c = 0; c < M; c++) to[c * ROWS] = out[c];
  }
  __syncthreads();
#endif
  FOR_TASKS(id, cells * LINES_IN) {
    real v[ROWS], out[M];
    TESK_UNROLL
    for (int r = 0; r < ROWS; r++) v[r] = x[id * ROWS + r];
    expand_transposed(v, out);
    TESK_UNROLL
    for (int c = 0; c < M; c++) u[id * M + c] = out[c];
  }
  __syncthreads();
#endif
  hang(list + begin, mask, cells, 1, W, u);
  FOR_TASKS(id, cells * NODES) values[(long long)list[begin + id / NODES] * NODES + id % NODES] = u[id];
}
