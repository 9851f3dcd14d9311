/* Loads over mapped cells, in float64: b_i += int f phi_i. A block takes its cells in turn. Threads evaluate f
 * (function number[cell] of tesk_value() in "tables.h"; -1: no function) at the Gauss points, one point per thread,
 * into shared memory. One contraction per direction follows; values of hanging nodes go back to the nodes that they
 * are interpolated from; sums are added by atomics. Given nodes (index < 0) are added to only if `given` says so.
 * `when` has the time, and receives a point at which f is not finite. Cost: evaluations of f, the geometry
 * (cells_points.h), 2 Q flops per point and direction, 12 bytes per node and cell. Shared memory: tables, nodes of
 * the geometry, two arrays of a cell's points. nodes[cells][GEOMETRY_NODES][DIM], index[cells][CELL_NODES],
 * mask[cells]. Macros: of cells_points.h. */
#include "kernel.h"
#include "tables.h"
#include "cells_points.h"
#include "clock.h"

TESK_KERNEL(tesk_load_cells, 128, 1, (double *)b, (const double *TESK_RESTRICT)nodes,
            (const int *TESK_RESTRICT)index, (const unsigned short *TESK_RESTRICT)mask,
            (const int *TESK_RESTRICT)number, (const double *TESK_RESTRICT)tables, (long long)cells,
            (int)given, (TeskClock *)when) {
  TESK_SHARED(memory);
  const double time = when->time;
  double *const B = memory, *const geometry_B = B + 2 * Q * N, *const geometry_G = geometry_B + Q * M,
                *const W = geometry_G + Q * M, *const w = W + 2 * N * N, *const place = w + Q,
                *const values = place + GEOMETRY_NODES * DIM, *const other = values + CELL_POINTS;
  FOR_ITEMS(i, CELL_TABLES) memory[i] = tables[i];
  for (long long cell = blockIdx.x; cell < cells; cell += gridDim.x) {
    const int f = number[cell];
    double *from = values, *to = other;
    int inner = 1, outer = CELL_POINTS;
    if (f < 0) continue;
    __syncthreads();
    FOR_ITEMS(i, GEOMETRY_NODES * DIM) place[i] = nodes[cell * (GEOMETRY_NODES * DIM) + i];
    __syncthreads();
    FOR_ITEMS(p, CELL_POINTS) {
      double x[3], J[9], c[9];
      cells_point(place, geometry_B, geometry_G, p, x, J);
      const double value = tesk_value(f, x[0], x[1], x[2], time);
      if (!(value - value == 0)) when->refused = 1;
      values[p] = cells_cofactors(J, c) * cells_weight(w, p) * value;
    }
    __syncthreads();
    for (int d = 0; d < DIM; d++) { /* inner: nodes of directions before d, outer: points of directions after */
      outer /= Q;
      cells_contract(B, N, Q, 1, N, inner, outer, from, to);
      double *const swapped = from;
      from = to;
      to = swapped;
      inner *= N;
    }
    cells_hang(mask[cell], 1, W, from);
    FOR_ITEMS(i, CELL_NODES) {
      const int node = index[cell * CELL_NODES + i];
      if (node >= 0 || given) TESK_ADD(&b[node < 0 ? -1 - node : node], from[i]);
    }
  }
}
