/* b_i += int (u . grad u) . v_i, in float64, with enough points to avoid aliasing: Q = 3k/2 + 2 per direction, on
 * affine cells 3k/2 + 1; formulas: operator/taylor_hood/taylor_hood.h. On cells of any mesh, with hanging nodes.
 * rates[block] <- the largest velocity along an axis of the reference cell [0, 1], in cells per unit of time. With
 * `reach` this velocity is multiplied by the square of the cell's length along it, of_cell[cell] (or NULL) gets the
 * cell's largest value, and b stays.
 *
 * A block owns CELLS cells. Steps work on lines of shared arrays (taylor_hood_lines.h), one array per component of a
 * cell: thread id has line id % Q^(DIM-1) of array id / Q^(DIM-1). Values at nodes are transformed to the points. One
 * thread per point computes B = C u. Along each direction a line of u_c is differentiated, multiplied by B, and added
 * to the sums. The sums are transformed back by a table that contains the weights. Tables are operands in the
 * constant bank. Additions are atomic; with `order` they have no conflicts.
 * Shared: 3 DIM arrays of SIZE per cell: 24 KiB for k = 4 in 3D on affine cells, else 41; 78 and 96 KiB for k = 6.
 * Registers: two lines of Q numbers; on sm_90 47, 70 and 94 for k = 2, 4 and 6 on affine cells, else 50, 66, and 80
 * with 8 bytes of spills.
 * Flops per cell in 3D, n = k + 1: 12 (n^3 Q + n^2 Q^2 + n Q^3) for values there and back, 18 Q^4 for slopes,
 * 6 Q^3: 9.1e4 for k = 4 on affine cells, 470 per unknown.
 * Bytes per cell: nodes of DIM components read once, results added by atomics, 4 per node for the index, C once, or
 * DIM^2 + 1 numbers per point: for k = 4 in 3D about 45 per unknown. Macros: of taylor_hood_lines.h. */
#include "kernel.h"
#include "tables.h"
#include "taylor_hood_lines.h"

LINE_PRODUCT(velocity_values, tesk_b, Q, N, N, 1)
LINE_PRODUCT(velocity_moments, tesk_bw, N, Q, 1, N)
TO_POINTS(velocities_to_points, velocity_values, N)
FROM_POINTS(velocities_from_points, velocity_moments, N)

/* The larger value; NaN if either is NaN. */
TESK_DEVICE real larger(real a, real b) {
  return a >= b || a != a ? a : b;
}

/* along[DIM] <- C u at point p; returns the largest rate or reach there. */
TESK_DEVICE real find_along(const TeskTaylorHood *a, long long cell, int p, int reach, const real *u,
                            real along[DIM]) {
  const real inverse = number_of(a, cell, 0, DIM, p);
  real most = 0;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) {
    real square = 0;
    along[d] = 0;
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) {
      if (NUMBERS == ALIGNED && c != d) continue;
      const real number = number_of(a, cell, d, c, p);
      along[d] += number * u[c * SIZE];
      square += number * number;
    }
    const real size = along[d] < 0 ? -along[d] : along[d];
    most = larger(most, reach ? size / (square * inverse) : size * inverse);
  }
  return most;
}

/* sum (or +=) the slopes along d of a line of u_c times B_d. */
TESK_DEVICE void add_carried(int step, int adds, const real *u, const real *along, real *sum) {
  real v[Q];
  TESK_UNROLL
  for (int j = 0; j < Q; j++) v[j] = u[j * step];
  TESK_UNROLL
  for (int r = 0; r < Q; r++) {
    real slope = 0;
    TESK_UNROLL
    for (int j = 0; j < Q; j++) slope += tesk_d(r * Q + j) * v[j];
    sum[r * step] = (adds ? sum[r * step] : 0) + along[r * step] * slope;
  }
}

/* The largest of the block's values, from memory[THREADS]. */
TESK_DEVICE real largest_of_block(real most, real *memory) {
  const int t = (int)threadIdx.x;
  memory[t] = most;
  __syncthreads();
  for (int n = THREADS, half; n > 1; n = half) {
    half = (n + 1) / 2;
    if (t + half < n) memory[t] = larger(memory[t], memory[t + half]);
    __syncthreads();
  }
  return memory[0];
}

/* of_cell <- the largest of at[CELLS][POINTS]; lines[CELLS][LINES]: scratch. */
TESK_DEVICE void keep_largest(const TeskTaylorHood *a, const real *at, real *lines, real *of_cell) {
  FOR_ITEMS(id, CELLS * LINES) {
    real most = 0;
    for (int r = 0; r < Q; r++) most = larger(most, at[id * Q + r]);
    lines[id] = most;
  }
  __syncthreads();
  FOR_ITEMS(slot, CELLS) {
    const long long cell = find_cell(a, slot);
    real most = 0;
    for (int l = 0; l < LINES; l++) most = larger(most, lines[slot * LINES + l]);
    if (cell >= 0) of_cell[cell] = most;
  }
}

TESK_KERNEL(tesk_convection, THREADS, BLOCKS, (const real *TESK_RESTRICT)u, (real *)b, (real *)rates,
            (int)reach, (real *)of_cell, (TeskTaylorHood)a) {
  TESK_SHARED(memory);
  real *const at = memory, *const along = at + CELLS * DIM * SIZE, *const sums = along + CELLS * DIM * SIZE;
  const int hangs = any_hanging(&a, a.velocity_mask);
  int node[NODES_EACH];
  real most = 0;
  find_nodes(&a, a.velocity, N, node);
  read_cells(&a, a.velocity, a.velocity_mask, a.velocity_halves, N, hangs, DIM, u, sums);
  velocities_to_points(CELLS * DIM, sums, at);
  FOR_ITEMS(id, CELLS * POINTS) {
    const int slot = id / POINTS, p = id % POINTS, place = slot * DIM * SIZE + line_start(0, p / Q) + p % Q;
    const long long cell = find_cell(&a, slot);
    real found[DIM], here;
    if (cell < 0) continue;
    here = find_along(&a, cell, p, reach, at + place, found);
    most = larger(most, here);
    if (reach) along[id] = here;
    TESK_UNROLL
    for (int d = 0; d < DIM; d++)
      if (!reach) along[place + d * SIZE] = found[d];
  }
  most = largest_of_block(most, sums);
  if (threadIdx.x == 0) rates[blockIdx.x] = most;
  if (reach && of_cell) keep_largest(&a, along, at, of_cell);
  if (reach) return;
  __syncthreads();
  for (int d = 0; d < DIM; d++) {
    FOR_ITEMS(id, CELLS * DIM * LINES) {
      const int array = id / LINES, start = line_start(d, id % LINES), place = array * SIZE + start;
      add_carried(line_step(d), d, at + place, along + (array / DIM * DIM + d) * SIZE + start, sums + place);
    }
    __syncthreads();
  }
  velocities_from_points(CELLS * DIM, sums, at);
  add_cells(&a, node, a.velocity_mask, a.velocity_halves, N, hangs, DIM, at, b);
}
