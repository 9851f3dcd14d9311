/* Elasticity over the DIM components of a displacement, y += sign A x; formulas and numbers: elasticity.h in
 * operator/elasticity. Cells of any mesh, hanging nodes, as many points as nodes per direction.
 *
 * A block has CELLS cells; thread t the node, and later the point, t % N^DIM of cell t / N^DIM, in all components at
 * once: values, the DIM^2 slopes and fluxes are in its registers. Shared memory has two arrays of DIM N^DIM numbers per
 * cell, by which lines exchange values. Each step reads one array and writes the other, so one barrier per step is
 * enough:
 *   nodes, hanging lines | values at points: DIM steps | slopes, stresses | DIM times: fluxes of a direction, and
 *   their transposed slopes | back to nodes: DIM steps, hanging lines | atomics.
 * If cells come colour by colour (order), atomics have no conflicts, and sums have one order. The last blocks do the
 * rows of given entries.
 * Shared: 6 N^2 + N numbers of tables and 2 DIM CELLS N^DIM: 39 KiB for degree 8 in 3D, float64.
 * Registers: about 3 DIM^2 numbers; on sm_90 32 to 80 of float32, 46 to 98 of float64, blocks of 736 threads (degree
 * 8, 3D) 77 and 79; none spill.
 * Flops per cell: 8 DIM^2 N per point, and between them 66 + 2 DIM^2 (3D; aligned: 30) multiply-adds.
 * Bytes per cell: nodes, DIM numbers each, twice; 4 per node for the index; numbers once.
 * Macros: real, DIM, N, CELLS, NUMBERS, MASS, HANGING. tables: I'[N][N], I, D', D (I, D [point][node or point]),
 * weights [N], W[2][N][N] of hanging lines. */
#include "kernel.h"
#include "elasticity_arguments.h"
#include "elasticity_points.h"
#include "hanging_lines.h"

#define LINES (DIM == 3 ? N * N : N)
#define THREADS ((CELLS * POINTS + 31) / 32 * 32)
#define COMPONENT (CELLS * POINTS)
#define TABLES (6 * N * N + N)

TESK_DEVICE int coordinate(int p, int d) {
  return d == 0 ? p % N : d == 1 ? p / N % N : p / (N * N);
}

/* out[c] += sum over l of T[l][r] v[c][l-th of the line along d through p], r the place of p there. */
TESK_DEVICE void contract(const real *T, const real *v, int p, const int d, real out[DIM]) {
  const int step = d == 0 ? 1 : d == 1 ? N : N * N, r = coordinate(p, d);
  const real *const line = v + p - r * step;
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
    const real m = T[l * N + r];
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) out[c] += m * line[c * COMPONENT + l * step];
  }
}

TESK_DEVICE void put(real *v, int p, const real in[DIM]) {
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) v[c * COMPONENT + p] = in[c];
}

TESK_DEVICE void clear(real v[DIM]) {
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) v[c] = 0;
}

TESK_DEVICE long long find_cell(const TeskElastic *a, int c) {
  const long long at = (long long)blockIdx.x * CELLS + c;
  return c >= CELLS || at >= a->cells ? -1 : a->order ? (long long)a->order[at] : at;
}

/* Interpolates u[DIM][CELLS][POINTS] of a block, one line per thread. If no cell of the block needs it, only the
 * masks are read. */
TESK_DEVICE void hang(const TeskElastic *a, const real *W, int transposed, real *u) {
#if HANGING
  int any = 0;
  for (int c = 0; c < CELLS; c++) {
    const long long cell = find_cell(a, c);
    any |= cell < 0 ? 0 : TESK_READ(a->masks + cell) >> 3;
  }
  if (!any) return;
  for (int i = 0; i < DIM; i++) {
    const int d = transposed ? DIM - 1 - i : i;
    for (int id = (int)threadIdx.x; id < DIM * CELLS * LINES; id += THREADS) {
      const long long cell = find_cell(a, id / LINES % CELLS);
      const int mask = cell < 0 ? 0 : TESK_READ(a->masks + cell);
      if (mask >> 3) tesk_hang_line(DIM, N, mask, d, id % LINES, transposed, W, u + id / LINES * POINTS);
    }
    __syncthreads();
  }
#else
  (void)a, (void)W, (void)transposed, (void)u;
#endif
}

TESK_DEVICE void add_rows(const TeskElastic *a, const real *x, real *y) {
  const long long i = ((long long)blockIdx.x - a->blocks) * THREADS + threadIdx.x;
  if (i < a->rows) y[a->row[i]] += (real)a->sign * x[a->row[i]];
}

TESK_KERNEL(tesk_elasticity, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskElastic)a) {
  TESK_SHARED(memory);
  real *const into = memory, *const outof = into + N * N, *const slopes = outof + N * N,
              *const tested = slopes + N * N, *const weights = tested + N * N, *const W = weights + N;
  real *from = memory + TABLES, *to = from + DIM * COMPONENT, *swap;
  const int t = (int)threadIdx.x, p = t % POINTS, mine = t < COMPONENT, base = mine ? t - p : 0;
  if (blockIdx.x >= a.blocks) {
    add_rows(&a, x, y);
    return;
  }
  const long long cell = find_cell(&a, t / POINTS);
  const int index = cell < 0 ? 0 : TESK_READ(a.index + cell * POINTS + p), node = index < 0 ? ~index : index;
  const int given = cell < 0 ? 7 : index < 0 && !a.every ? a.given[node] : 0;
  real v[DIM], slope[DIM][DIM];
  for (int i = t; i < TABLES; i += THREADS) memory[i] = TESK_READ((const real *)a.tables + i);
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) v[c] = given >> c & 1 ? 0 : TESK_READ(x + c * a.length + node);
  if (mine) put(from + base, p, v);
  __syncthreads();
  hang(&a, W, 0, from);
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) {
    clear(v);
    if (mine) {
      contract(into, from + base, p, d, v);
      put(to + base, p, v);
    }
    __syncthreads();
    swap = from, from = to, to = swap;
  }
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) {
    real g[DIM];
    clear(g);
    if (mine) contract(slopes, from + base, p, d, g);
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) slope[c][d] = g[c];
  }
  const real mass = cell < 0 ? 0 : elastic_stress(&a, cell, p, weights, slope);
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) v[c] *= mass;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) {
    real flux[DIM];
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) flux[c] = slope[c][d];
    if (mine) put(to + base, p, flux);
    __syncthreads();
    if (mine) contract(tested, to + base, p, d, v);
    swap = from, from = to, to = swap;
  }
  TESK_UNROLL
  for (int d = DIM - 1; d >= 0; d--) {
    if (mine) put(to + base, p, v);
    __syncthreads();
    clear(v);
    if (mine) contract(outof, to + base, p, d, v);
    swap = from, from = to, to = swap;
  }
#if HANGING
  if (mine) put(to + base, p, v);
  __syncthreads();
  hang(&a, W, 1, to);
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) v[c] = to[c * COMPONENT + base + p * mine];
#endif
  TESK_UNROLL
  for (int c = 0; c < DIM; c++)
    if (!(given >> c & 1)) TESK_ADD(y + c * a.length + node, (real)a.sign * v[c]);
}
