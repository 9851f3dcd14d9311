/* Squares of the L2 norms of u - f and of its gradient over mapped cells, in float64. f and its derivatives are
 * expressions (tesk_f0 .. tesk_f3 in "tables.h"). Each block writes one part of each sum, in partial[2 blockIdx.x]. A
 * block takes cells in turn: the nodes of a cell are read into shared memory, where hanging nodes are interpolated.
 * Then the value and the derivatives at the Gauss points are computed by one contraction per direction each, and each
 * thread squares the values at its points.
 * 12 bytes per node and cell; 2 Q (1 + DIM) flops per point and direction, the geometry (cells_points.h), and the
 * cost of f. Shared memory: tables, nodes of the geometry, tree of the sum, the nodes, 3 + DIM arrays of a cell's
 * points. nodes[cells][GEOMETRY_NODES][DIM], index[cells][CELL_NODES], mask[cells]. Macros: those of
 * cells_points.h. */
#include "kernel.h"
#include "tables.h"
#include "cells_points.h"
#include "exact.h"

#define THREADS TESK_CELLS_THREADS
#include "sums.h"

/* The two squares of the thread's points. at: value, then derivatives on the reference cell, [1 + DIM][CELL_POINTS]. */
TESK_DEVICE void add_points(const double *at, const double *place, const double *B, const double *G,
                            const double *w, double time, double squares[2]) {
  FOR_ITEMS(p, CELL_POINTS) {
    double x[3], J[9], c[9];
    cells_point(place, B, G, p, x, J);
    const double det = cells_cofactors(J, c), weight = det * cells_weight(w, p), e = at[p] - exact(0, x, time);
    squares[0] += weight * e * e;
    for (int r = 0; r < DIM; r++) {
      double sum = 0;
      for (int d = 0; d < DIM; d++) sum += c[r * DIM + d] * at[(1 + d) * CELL_POINTS + p];
      sum = sum / det - exact(1 + r, x, time);
      squares[1] += weight * sum * sum;
    }
  }
}

TESK_KERNEL(tesk_norms_cells, 128, 1, (const double *TESK_RESTRICT)u, (double *)partial,
            (const double *TESK_RESTRICT)nodes, (const int *TESK_RESTRICT)index,
            (const unsigned short *TESK_RESTRICT)mask, (const double *TESK_RESTRICT)tables, (long long)cells,
            (double)time) {
  TESK_SHARED(memory);
  double *const B = memory, *const G = B + Q * N, *const geometry_B = G + Q * N,
                *const geometry_G = geometry_B + Q * M, *const W = geometry_G + Q * M,
                *const w = W + 2 * N * N, *const place = w + Q, *const sums = place + GEOMETRY_NODES * DIM,
                *const local = sums + TESK_CELLS_THREADS, *const at = local + CELL_NODES,
                *const other = at + (1 + DIM) * CELL_POINTS, *const third = other + CELL_POINTS;
  double squares[2] = {0, 0};
  FOR_ITEMS(i, CELL_TABLES) memory[i] = tables[i];
  for (long long cell = blockIdx.x; cell < cells; cell += gridDim.x) {
    __syncthreads();
    FOR_ITEMS(i, GEOMETRY_NODES * DIM) place[i] = nodes[cell * (GEOMETRY_NODES * DIM) + i];
    FOR_ITEMS(i, CELL_NODES) {
      const int node = index[cell * CELL_NODES + i];
      local[i] = u[node < 0 ? -1 - node : node];
    }
    __syncthreads();
    cells_hang(mask[cell], 0, W, local);
    for (int m = 0; m <= DIM; m++) { /* the value, then the derivative in direction m - 1 */
      const double *from = local;
      int inner = 1, outer = CELL_NODES;
      for (int d = 0; d < DIM; d++) {
        double *const to = d == DIM - 1 ? at + m * CELL_POINTS : d == 0 ? other : third;
        outer /= N;
        cells_contract(m == d + 1 ? G : B, Q, N, N, 1, inner, outer, from, to);
        from = to;
        inner *= Q;
      }
    }
    add_points(at, place, geometry_B, geometry_G, w, time, squares);
  }
  for (int i = 0; i < 2; i++) {
    const double sum = add_threads(squares[i], sums);
    if (threadIdx.x == 0) partial[2 * (long long)blockIdx.x + i] = sum;
  }
}
