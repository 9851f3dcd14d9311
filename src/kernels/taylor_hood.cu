/* Coupling of velocities of Q_k and pressures of Q_(k-1), with k + 1 points per direction, in float64; formulas:
 * operator/taylor_hood/taylor_hood.h. On cells of any mesh, with hanging nodes:
 *   tesk_divergence   b_i += int (div u) phi_i        tesk_gradient   b_i += int p div v_i
 *   tesk_grad_div     b_i += gamma int (div u) (div v_i), gamma a number per cell
 *
 * A block owns CELLS cells. Steps work on lines of shared arrays (taylor_hood_lines.h): thread id has line id %
 * (lines of an array) of array id / (lines of an array). Nodes are read, one node per thread, transformed to the
 * points direction by direction, differentiated along the lines of each direction with C = |J| J^-1 between, and
 * transformed back. The table for pressures contains the weights of the points. tesk_grad_div goes both ways, with
 * div u times gamma w / |J| at the points. Additions are atomic; if cells come colour by colour (order), they have no
 * conflicts. Shared: 2 DIM arrays of SIZE per cell: 7 KiB for k = 4 in 3D, 34 KiB for k = 8. Registers: two lines of
 * Q numbers; on sm_90 at most 52 for k = 2, 80 for k = 4, 72 for k = 6 in 3D.
 * Flops per cell, C diagonal, n = k + 1: 2 n times (DIM + 2) n^DIM each way for values, DIM n^DIM for slopes; in 3D
 * about 20 n^4, or 300 per unknown of the pressure for k = 4; tesk_grad_div 36 n^4 + 3 n^3.
 * Bytes per cell: nodes of both read once, results added by atomics; 4 per node for the indices; C once per cell, or
 * DIM^2 numbers per point. Macros: of taylor_hood_lines.h; Q = N. */
#include "kernel.h"
#include "tables.h"
#include "taylor_hood_lines.h"

LINE_PRODUCT(velocity_values, tesk_b, Q, N, N, 1)
LINE_PRODUCT(velocity_moments, tesk_b, N, Q, 1, N)
LINE_PRODUCT(pressure_values, tesk_pw, Q, NP, NP, 1)
LINE_PRODUCT(pressure_moments, tesk_pw, NP, Q, 1, NP)
TO_POINTS(velocities_to_points, velocity_values, N)
FROM_POINTS(velocities_from_points, velocity_moments, N)
TO_POINTS(pressures_to_points, pressure_values, NP)
FROM_POINTS(pressures_from_points, pressure_moments, NP)

/* sum[r] += C[d][c] d u_c / d xi_d at the points of a line. */
TESK_DEVICE void add_slopes(const TeskTaylorHood *a, long long cell, int d, int c, int l, const real *u,
                            real sum[Q]) {
  const int step = line_step(d);
  real v[Q];
  TESK_UNROLL
  for (int r = 0; r < Q; r++) v[r] = u[r * step];
  TESK_UNROLL
  for (int r = 0; r < Q; r++) {
    real slope = 0;
    TESK_UNROLL
    for (int j = 0; j < Q; j++) slope += tesk_d(r * Q + j) * v[j];
    sum[r] += number_of(a, cell, d, c, line_point(d, l, r)) * slope;
  }
}

/* sums[CELLS] <- |J| div u, for velocities at[CELLS][DIM] at the points, which are overwritten. */
#if NUMBERS == ALIGNED
TESK_DEVICE void find_divergence(const TeskTaylorHood *a, real *at, real *sums) {
  FOR_ITEMS(id, CELLS * DIM * LINES) {
    const int array = id / LINES, d = array % DIM, l = id % LINES;
    const long long found = find_cell(a, array / DIM), cell = found < 0 ? 0 : found;
    real sum[Q] = {0}, *const u = at + array * SIZE + line_start(d, l);
    add_slopes(a, cell, d, d, l, u, sum);
    TESK_UNROLL
    for (int r = 0; r < Q; r++) u[r * line_step(d)] = sum[r];
  }
  __syncthreads();
  FOR_ITEMS(id, CELLS * POINTS) {
    const int slot = id / POINTS, p = id % POINTS, place = line_start(0, p / Q) + p % Q;
    real sum = 0;
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) sum += at[(slot * DIM + c) * SIZE + place];
    sums[slot * SIZE + place] = sum;
  }
  __syncthreads();
}
#else
TESK_DEVICE void find_divergence(const TeskTaylorHood *a, real *at, real *sums) {
  for (int d = 0; d < DIM; d++) {
    FOR_ITEMS(id, CELLS * LINES) {
      const int slot = id / LINES, l = id % LINES, start = line_start(d, l);
      const long long found = find_cell(a, slot), cell = found < 0 ? 0 : found;
      real sum[Q], *const to = sums + slot * SIZE + start;
      TESK_UNROLL
      for (int r = 0; r < Q; r++) sum[r] = d ? to[r * line_step(d)] : 0;
      for (int c = 0; c < DIM; c++) add_slopes(a, cell, d, c, l, at + (slot * DIM + c) * SIZE + start, sum);
      TESK_UNROLL
      for (int r = 0; r < Q; r++) to[r * line_step(d)] = sum[r];
    }
    __syncthreads();
  }
}
#endif

TESK_KERNEL(tesk_divergence, THREADS, BLOCKS, (const real *TESK_RESTRICT)u, (real *)b, (TeskTaylorHood)a) {
  TESK_SHARED(memory);
  real *const at = memory, *const sums = memory + CELLS * DIM * SIZE, *const out = sums + CELLS * SIZE;
  const int hangs = any_hanging(&a, a.velocity_mask), hang = any_hanging(&a, a.pressure_mask);
  int node[NODES_EACH];
  find_nodes(&a, a.pressure, NP, node);
  read_cells(&a, a.velocity, a.velocity_mask, a.velocity_halves, N, hangs, DIM, u, sums);
  velocities_to_points(CELLS * DIM, sums, at);
  find_divergence(&a, at, sums);
  pressures_from_points(CELLS, sums, out);
  add_cells(&a, node, a.pressure_mask, a.pressure_halves, NP, hang, 1, out, b);
}

/* to[r] = (or +=) sum over j of d phi_r / d xi_d (point j) C[d][c] p_j along a line. */
TESK_DEVICE void test_slopes(const TeskTaylorHood *a, long long cell, int d, int c, int l, int adds,
                             const real *p, real *to) {
  const int step = line_step(d);
  real v[Q];
  TESK_UNROLL
  for (int j = 0; j < Q; j++) v[j] = number_of(a, cell, d, c, line_point(d, l, j)) * p[j * step];
  TESK_UNROLL
  for (int r = 0; r < Q; r++) {
    real sum = adds ? to[r * step] : 0;
    TESK_UNROLL
    for (int j = 0; j < Q; j++) sum += tesk_d(j * Q + r) * v[j];
    to[r * step] = sum;
  }
}

/* sums[CELLS][DIM] <- p[CELLS] at the points, times their weights and div v_i; v_i are the polynomials through the
 * points. */
TESK_DEVICE void test_divergence(const TeskTaylorHood *a, const real *p, real *sums) {
  for (int d = 0; d < (NUMBERS == ALIGNED ? 1 : DIM); d++) {
    FOR_ITEMS(id, CELLS * DIM * LINES) {
      const int array = id / LINES, slot = array / DIM, c = array % DIM, l = id % LINES;
      const int along = NUMBERS == ALIGNED ? c : d, start = line_start(along, l);
      const long long found = find_cell(a, slot), cell = found < 0 ? 0 : found;
      test_slopes(a, cell, along, c, l, d > 0, p + slot * SIZE + start, sums + array * SIZE + start);
    }
    __syncthreads();
  }
}

TESK_KERNEL(tesk_gradient, THREADS, BLOCKS, (const real *TESK_RESTRICT)p, (real *)b, (TeskTaylorHood)a) {
  TESK_SHARED(memory);
  real *const at = memory, *const sums = memory + CELLS * DIM * SIZE;
  const int hangs = any_hanging(&a, a.velocity_mask), hang = any_hanging(&a, a.pressure_mask);
  int node[NODES_EACH];
  find_nodes(&a, a.velocity, N, node);
  read_cells(&a, a.pressure, a.pressure_mask, a.pressure_halves, NP, hang, 1, p, sums);
  pressures_to_points(CELLS, sums, at);
  test_divergence(&a, at, sums);
  velocities_from_points(CELLS * DIM, sums, at);
  add_cells(&a, node, a.velocity_mask, a.velocity_halves, N, hangs, DIM, at, b);
}

/* Weight of point p of a cell. */
TESK_DEVICE real weight_of(int p) {
  return tesk_w(p % Q) * tesk_w(p / Q % Q) * (DIM == 3 ? tesk_w(p / (Q * Q) % Q) : 1);
}

TESK_KERNEL(tesk_grad_div, THREADS, BLOCKS, (const real *TESK_RESTRICT)u, (const real *TESK_RESTRICT)gamma,
            (real *)b, (TeskTaylorHood)a) {
  TESK_SHARED(memory);
  real *const at = memory, *const sums = memory + CELLS * DIM * SIZE;
  const int hangs = any_hanging(&a, a.velocity_mask);
  int node[NODES_EACH];
  find_nodes(&a, a.velocity, N, node);
  read_cells(&a, a.velocity, a.velocity_mask, a.velocity_halves, N, hangs, DIM, u, sums);
  velocities_to_points(CELLS * DIM, sums, at);
  find_divergence(&a, at, sums);
  FOR_ITEMS(id, CELLS * POINTS) {
    const int slot = id / POINTS, p = id % POINTS, place = slot * SIZE + line_start(0, p / Q) + p % Q;
    const long long cell = find_cell(&a, slot);
    at[place] =
        cell < 0 ? 0 : TESK_READ(gamma + cell) * weight_of(p) * number_of(&a, cell, 0, DIM, p) * sums[place];
  }
  __syncthreads();
  test_divergence(&a, at, sums);
  velocities_from_points(CELLS * DIM, sums, at);
  add_cells(&a, node, a.velocity_mask, a.velocity_halves, N, hangs, DIM, at, b);
}
