/* Cell patches (src/smoother/cell_patch/cell_patch.h): the contribution of a cell to sum R_c' A_c^-1 R_c W r, by fast
 * diagonalization with a table for each pair of ends,
 *   A_c^-1 = (S_z (x) S_y (x) S_x) (g_x lambda_x + g_y lambda_y + g_z lambda_z + m)^-1 (S_z (x) S_y (x) S_x)'.
 * Nodes that are not in the patch (Dirichlet nodes, nodes of hanging lines) have a negative index: they are read as
 * zero.
 *
 * A block owns CELLS cells that are consecutive in the numbering of the mesh. In each step thread t takes line t %
 * LINES of cell t / LINES:
 *   z (read r and W by the index, S')  | y (S') | x (S', scale, S) | y (S) | z (S, write)       2D: y | x | y
 * Shared memory transposes between directions. In z-lines neighbouring threads have neighbouring nodes, so that index
 * and values are read and written in rows.
 *
 * A table: S' [N][ROW] (mode, node), then lambda [ROW], ROW = N rounded up to 16 bytes. All three products go through
 * the table mode by mode, 16 bytes at a time, from the L1 cache; threads of a cell read the same address:
 *   S'  out_j = row_j . v     S' and S with the scaling between   w += row_j s_j (row_j . v)     S   w += row_j in_j
 * So the loop over modes need not be unrolled, and registers hold only two lines and a row.
 * Shared: CELLS N^(DIM-1) (N | 1) numbers, 18 KiB at most. Registers: two lines and a row; in tesk_cell_patches_add
 * also the nodes of a line: 92 of 32 bits at most, no spills, on sm_80, sm_90 and sm_100.
 *
 * Either each cell writes its values to its own array, which gather.cu sums node by node in a fixed order, or the
 * values are added by atomics.
 *
 * Prediction in 3D, with q = (n/k)^3 places of cells per dof and s bytes per number:
 *   flops   q (12 n + 5) per dof: 138, 127, 151 at degrees 2, 4, 7: 34 TFLOPS of FP64 allow 225 to 268 GDoF/s
 *   bytes   in order: q (4 + s) + 2 s here, q (4 + s) + s + 4 in gather.cu
 *           atomics:  4 q + 5 s, zeroing of z included
 *   shared  with the L1 cache: 8 numbers per place, and 5 n s / 16 broadcasts per warp: 240 bytes per dof in float64
 *           at degree 4: 120 GDoF/s
 * So main memory is the limit. On an H200 at 4.3 TB/s (at degree 1 a cell has 4 s + 4 bytes per dof besides), GDoF/s:
 *   degree               1    2    4    7
 *   float64, in order   17   39   57   67       atomics   40   80   90   93
 *   float32, in order   26   61   91  108       atomics   60  128  155  166
 * Measured: 0.4 of that (bench/results/h200/forest_solve.csv, cell_patch).
 *
 * Macros: real, DIM, N (nodes per direction), CELLS, THREADS (of which CELLS LINES work). */
#include "kernel.h"

#define CHUNK (16 / (int)sizeof(real))
#define ROW ((N + CHUNK - 1) / CHUNK * CHUNK)
#define TABLE (N * ROW + ROW)
#define PX (N | 1)
#if DIM == 3
#define LINES (N * N)
#define STEP (N * PX) /* of the slowest direction */
#else
#define LINES N
#define STEP PX
#endif
#define CELL_NODES (LINES * N)
#define SIZE (LINES * PX)
#if N <= 4
#define EACH_MODE TESK_UNROLL
#else
#define EACH_MODE TESK_ROLL
#endif
#define MIN_BLOCKS (sizeof(real) == 4 ? 4 : N <= 5 ? 3 : 2)

typedef struct TESK_ALIGNED(16) Chunk {
  real v[16 / sizeof(real)];
} Chunk;

/* The data of a thread. */
typedef struct Work {
  int active, line, cell;
  int numbers; /* of its tables, 8 bits per direction */
} Work;

TESK_DEVICE Work find_work(int cells, const int *numbers) {
  const int t = (int)threadIdx.x;
  Work work;
  work.line = t % LINES;
  work.cell = (int)blockIdx.x * CELLS + t / LINES;
  work.active = t < CELLS * LINES && work.cell < cells;
  work.numbers = work.active ? TESK_HELD(numbers + work.cell) : 0;
  return work;
}

TESK_DEVICE const real *find_table(const Work *work, const real *tables, const int d) {
  return tables + (work->numbers >> 8 * d & 255) * TABLE;
}

TESK_DEVICE void find_nodes(const Work *work, const int *index, int at[N]) {
  const int *from = index + (long long)work->cell * CELL_NODES + work->line;
  TESK_UNROLL
  for (int l = 0; l < N; l++) at[l] = work->active ? TESK_HELD(from + l * LINES) : -1;
}

TESK_DEVICE void read_line(const real *u, const int step, real v[N]) {
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = u[l * step];
}

TESK_DEVICE void write_line(const real v[N], const int step, real *u) {
  TESK_UNROLL
  for (int l = 0; l < N; l++) u[l * step] = v[l];
}

/* ---- products with a table ----------------------------------------------------------------------------- */
TESK_DEVICE void read_row(const real *table, int mode, real row[ROW]) {
  TESK_UNROLL
  for (int i = 0; i < ROW; i += CHUNK) {
    const Chunk chunk = *(const Chunk *)(table + mode * ROW + i);
    TESK_UNROLL
    for (int e = 0; e < CHUNK; e++) row[i + e] = chunk.v[e];
  }
}

TESK_DEVICE real dot(const real row[ROW], const real v[N]) {
  real sum = row[0] * v[0];
  TESK_UNROLL
  for (int i = 1; i < N; i++) sum += row[i] * v[i];
  return sum;
}

TESK_DEVICE void add_row(const real row[ROW], real s, real w[N]) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) w[i] += row[i] * s;
}

/* out[j * step] <- (S' v)_j */
TESK_DEVICE void to_modes(const real *table, const real v[N], const int step, real *out) {
  EACH_MODE
  for (int j = 0; j < N; j++) {
    real row[ROW];
    read_row(table, j, row);
    out[j * step] = dot(row, v);
  }
}

/* w <- S in, in[j * step] */
TESK_DEVICE void to_nodes(const real *table, const real *in, const int step, real w[N]) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) w[i] = 0;
  EACH_MODE
  for (int j = 0; j < N; j++) {
    real row[ROW];
    read_row(table, j, row);
    add_row(row, in[j * step], w);
  }
}

/* w <- S (g lambda + others)^-1 S' v */
TESK_DEVICE void invert(const real *table, const real v[N], real g, real others, real w[N]) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) w[i] = 0;
  EACH_MODE
  for (int j = 0; j < N; j++) {
    real row[ROW];
    read_row(table, j, row);
    add_row(row, dot(row, v) * TESK_RECIPROCAL(g * table[N * ROW + j] + others), w);
  }
}

/* ---- a cell -------------------------------------------------------------------------------------------- */
/* v <- the thread's line of A_c^-1 v, in the slowest direction. All threads of the block come here. */
TESK_DEVICE void solve(const Work *work, const real *g, const real *tables, real v[N]) {
  TESK_SHARED(memory);
  real *const u = memory + (int)threadIdx.x / LINES * SIZE; /* of active threads alone */
  const int i = work->line % N, j = work->line / N;
  real *const slow = u + (DIM == 3 ? j * PX + i : i), *const fast = u + work->line * PX;
  if (work->active) to_modes(find_table(work, tables, DIM - 1), v, STEP, slow);
  __syncthreads();
#if DIM == 3
  real *const middle = u + j * STEP + i;
  if (work->active) {
    read_line(middle, PX, v);
    to_modes(find_table(work, tables, 1), v, PX, middle);
  }
  __syncthreads();
#endif
  if (work->active) {
    const real *const c = g + (long long)work->cell * 4;
    real others = c[3] + c[1] * find_table(work, tables, 1)[N * ROW + i], w[N];
    if (DIM == 3) others += c[2] * find_table(work, tables, 2)[N * ROW + j];
    read_line(fast, 1, v);
    invert(find_table(work, tables, 0), v, c[0], others, w);
    write_line(w, 1, fast);
  }
  __syncthreads();
#if DIM == 3
  if (work->active) {
    to_nodes(find_table(work, tables, 1), middle, PX, v);
    write_line(v, PX, middle);
  }
  __syncthreads();
#endif
  if (work->active) to_nodes(find_table(work, tables, DIM - 1), slow, STEP, v);
}

/* v <- W r on the thread's line. */
TESK_DEVICE void weigh(const real *weight, const real *r, const int at[N], real v[N]) {
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = at[l] < 0 ? 0 : TESK_READ(weight + at[l]) * TESK_READ(r + at[l]);
}

/* values[cell][CELL_NODES] <- the contribution of each cell. index: like values; g[cells][4]: g_x, g_y, g_z, m;
 * numbers[cells]: tables, 8 bits per direction. */
TESK_KERNEL(tesk_cell_patches, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)r, (real *)values,
            (const int *TESK_RESTRICT)index, (const real *TESK_RESTRICT)weight, (const real *TESK_RESTRICT)g,
            (const int *TESK_RESTRICT)numbers, (const real *TESK_RESTRICT)tables, (int)cells) {
  const Work work = find_work(cells, numbers);
  int at[N];
  real v[N];
  find_nodes(&work, index, at);
  weigh(weight, r, at, v);
  solve(&work, g, tables, v);
  if (work.active) write_line(v, LINES, values + (long long)work.cell * CELL_NODES + work.line);
}

/* z += the same. */
TESK_KERNEL(tesk_cell_patches_add, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)r, (real *)z,
            (const int *TESK_RESTRICT)index, (const real *TESK_RESTRICT)weight, (const real *TESK_RESTRICT)g,
            (const int *TESK_RESTRICT)numbers, (const real *TESK_RESTRICT)tables, (int)cells) {
  const Work work = find_work(cells, numbers);
  int at[N];
  real v[N];
  find_nodes(&work, index, at);
  weigh(weight, r, at, v);
  solve(&work, g, tables, v);
  TESK_UNROLL
  for (int l = 0; l < N; l++)
    if (at[l] >= 0) TESK_ADD(z + at[l], v[l]);
}
