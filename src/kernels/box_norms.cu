/* Squares of the L2 norms of u - f and of its gradient, in float64; f and its derivatives are expressions (tesk_f0 ..
 * tesk_f3 in "tables.h"). Each block writes one part of each sum, in partial[2 blockIdx.x]. A block takes cells in
 * turn. The nodes of a cell are read into shared memory; for the value and each derivative one contraction per
 * direction leads to the Gauss points, and a thread squares the values of its points. 8 bytes per node and cell; 2
 * POINTS (1 + DIM) flops per point and direction, and the cost of f. Shared memory: B and its derivative, points,
 * weights, tree of the sum, the nodes, two arrays of a cell's points. Macros: real = double, POINTS, NODES. */
#include "kernel.h"
#include "tables.h"
#include "box_points.h"
#include "exact.h"

#define THREADS TESK_BOX_THREADS
#include "sums.h"

TESK_KERNEL(tesk_norms, 128, 1, (const double *)u, (double *)partial, (TeskBox)box, (double)time) {
  TESK_SHARED(memory);
  double *B = memory, *G = B + POINTS * NODES, *point = G + POINTS * NODES, *w = point + POINTS,
         *sums = w + POINTS, *cell_nodes = sums + TESK_BOX_THREADS, squares[2] = {0, 0};
  const int t = (int)threadIdx.x;
  long long cells = 1;
  int points = 1, nodes = 1;
  for (int d = 0; d < 3; d++) {
    cells *= box_count(&box, d);
    points *= box_size(&box, d, POINTS);
    nodes *= box_size(&box, d, NODES);
  }
  double *values = cell_nodes + nodes, *other = values + points;
  for (int i = t; i < POINTS * NODES; i += TESK_BOX_THREADS) {
    B[i] = tesk_B(i);
    G[i] = tesk_G(i);
  }
  for (int i = t; i < POINTS; i += TESK_BOX_THREADS) {
    point[i] = tesk_point(i);
    w[i] = tesk_w(i);
  }
  for (long long cell = blockIdx.x; cell < cells; cell += gridDim.x) {
    int at[3];
    box_cell(&box, cell, at);
    const long long corner = box_corner(&box, at);
    __syncthreads();
    for (int i = t; i < nodes; i += TESK_BOX_THREADS) {
      long long node = corner;
      int rest = i;
      for (int d = 0; d < 3; d++) {
        if (!box.there[d]) continue;
        node += rest % NODES * box.stride[d];
        rest /= NODES;
      }
      cell_nodes[i] = u[node];
    }
    for (int m = 0; m <= 3; m++) { /* the value, then the derivative in direction m - 1 */
      if (m > 0 && !box.there[m - 1]) continue;
      const double *from = cell_nodes;
      double *to = values;
      int inner = 1, outer = nodes;
      for (int d = 0; d < 3; d++) {
        if (!box.there[d]) continue;
        outer /= NODES;
        box_contract(m == d + 1 ? G : B, POINTS, NODES, NODES, 1, inner, outer, from, to);
        from = to;
        to = to == values ? other : values;
        inner *= POINTS;
      }
      const double scale = m > 0 ? 1 / box.h[m - 1][at[m - 1]] : 1;
      double sum = 0;
      for (int q = t; q < points; q += TESK_BOX_THREADS) {
        double x[3];
        const double weight = box_point(&box, at, q, point, w, x), e = scale * from[q] - exact(m, x, time);
        sum += weight * e * e;
      }
      squares[m > 0] += sum;
      __syncthreads();
    }
  }
  for (int i = 0; i < 2; i++) {
    const double sum = add_threads(squares[i], sums);
    if (t == 0) partial[2 * (long long)blockIdx.x + i] = sum;
  }
}
