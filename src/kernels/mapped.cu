/* Mass and stiffness on mapped hexahedra, y = sum over cells of I' (D' G D + mass W) I x, for element or global
 * vectors.
 *
 * A thread holds a line of a cell in registers and contracts along it with even-odd halves of the 1D matrix
 * (tables.h); shared memory only transposes between directions. With n nodes and q points per direction, a cell has
 * q^2 threads:
 *   I    y-lines (k, i) [n^2], read from x | x-lines (k, j) [n q] | z-lines (j, i) [q^2]: v[q] stays in registers
 *   D    v to A | x-lines: A -> B, y-lines: A -> C | z-lines: dz in registers, multiply by G
 *        | x- and y-lines transposed | z-lines
 *   I'   the steps of I backwards; y-lines are written to y
 * "|" is a barrier: of the warp if a cell's threads fit in a warp (q <= 5), else of the block. A collocated operator
 * (q = n, points = nodes) starts and ends with z-lines. BUFFERS = 2: C is A, with one more barrier.
 * HANGING: hanging nodes of cells are interpolated between the reading of y-lines and I, and back (mapped_hanging.h).
 * This happens in registers, or, in blocks with such cells, with two or three barriers and two passes through shared
 * memory more each way.
 * Shared memory: BUFFERS (mass alone: 1) q^3 numbers per cell, with pitches that the host chooses against bank
 * conflicts. Registers: v and dz, 2 q numbers, besides the present line (2 q) or a column's trilinear coefficients
 * (24). Flops per cell, even-odd: a contraction of L lines from n to q: L (n q + 2 n + 2 q); I and I' 2 (n^2 + n q +
 * q^2) lines, D and D' 6 q^2; a point: 15 (stiffness), 2 (mass), 50 more for trilinear cells.
 * Bytes per cell in the element form: 8 (2 n^3 + s q^3), s = 1 mass, 6 stiffness, 7 both; in the global form: 16 per
 * dof, 4 n^3 + 8 s q^3, and the zeroing of y. Factors other than stored: vertices 168; affine 8 s; weights 8 q^3
 * (with a mass: twice) and 168 or 624 (cells of degree 1, 2); halves 4 (s + 1) / 2 q^3 and 4.
 * Macros: real, factor (type of stored factors), N, Q, COLLOCATED, MASS, STIFFNESS, COMPONENTS, GEOMETRY (weights:
 * CELL_DEGREE), OUTPUT, ORDERED, HANGING, DOT (also computes parts of x.y), MIN_BLOCKS;
 * CELLS per group of GROUP threads, GROUPS per block, WARPS (a group is a warp);
 * STAGE (the geometry goes through shared memory, STAGE_BYTES per group, for LAYERS layers of points), PREFETCH (into
 * the L2 cache); AHEAD: blocks process many groups of cells, and load geometry and index of the next group meanwhile;
 * GRADIENTS (see mapped_gradients.h); ROWS: the index has only the first node of each row of N in x (rows of
 * consecutive nodes); MEET: y is zeroed here; MERGE: nodes that neighbouring cells of a warp share get one addition;
 * BUFFERS, the pitches PY, PZ, PB (of a buffer), PC (of a cell); X_BY_Z, Y_BY_Z: neighbouring threads have
 * neighbouring z. */
#include "kernel.h"
#include "mapped_arguments.h"
#include "tables.h"

#define STORED 0 /* GEOMETRY */
#define VERTICES 1
#define AFFINE 2
#define WEIGHTS 3
#define HALVES 4
#define ELEMENT 0 /* OUTPUT */
#define ATOMIC 1
#define COLOURED 2
#define THREADS (GROUP * GROUPS)
#define FACTORS (6 * STIFFNESS + MASS)
#define HN ((N + 1) / 2)
#define GN (N / 2)
#define HQ ((Q + 1) / 2)
#define GQ (Q / 2)
#define NODES (N * N * N)
#define POINTS (Q * Q * Q)
#if WARPS
#define BARRIER() TESK_WARP_BARRIER()
#else
#define BARRIER() __syncthreads()
#endif

#include "mapped_lines.h"

/* ---- lines in shared memory ---------------------------------------------------------------------------- */
#define READ_LINE(length, s, stride, v)                                                                      \
  TESK_UNROLL                                                                                                \
  for (int tesk_l = 0; tesk_l < (length); tesk_l++) v[tesk_l] = (s)[tesk_l * (stride)];
#define WRITE_LINE(length, s, stride, v)                                                                     \
  TESK_UNROLL                                                                                                \
  for (int tesk_l = 0; tesk_l < (length); tesk_l++) (s)[tesk_l * (stride)] = v[tesk_l];

/* The start of line `l` of x-lines with `layers` z and Q y, and of y-lines with Q z and Q x. */
TESK_DEVICE int x_line(int l, int layers) {
  return X_BY_Z ? l % layers * PZ + l / layers * PY : l / Q * PZ + l % Q * PY;
}
TESK_DEVICE int y_line(int l) {
  return Y_BY_Z ? l % Q * PZ + l / Q : l / Q * PZ + l % Q;
}

/* ---- nodes ---- */
/* The first nodes of the lines of a cell that are read and written (z-lines where points are nodes, else y-lines),
 * and the place of a thread's line in shared memory. */
#if COLLOCATED
#define LINES (Q * Q)
#define STEP (Q * Q)
#define FIRST_NODE(l) (l)
#define OWN_LINE(s, t) ((s) + (t) / LINES * PC + (t) % LINES / N * PY + (t) % N)
#define OWN_STEP PZ
#else
#define LINES (N * N)
#define STEP N
#define FIRST_NODE(l) ((l) / N * N * N + (l) % N)
#define OWN_LINE(s, t) ((s) + (t) / LINES * PC + (t) % LINES / N * PZ + (t) % N)
#define OWN_STEP PY
#endif

#include "mapped_nodes.h"
#include "mapped_geometry.h"

/* A group's geometry in shared memory. */
typedef struct Staging {
  unsigned char *memory;
  TeskArrival *arrival;
  int phase;
  long long next; /* the following cells, from here on; none: past the end */
} Staging;

/* To be called after a barrier behind the last use of the old data. */
TESK_DEVICE void stage_next(const TeskMapped *a, const Staging *staging, int t) {
#if STAGE && AHEAD
  if (t == 0) stage(a, staging->next, staging->memory, staging->arrival);
#else
  (void)a, (void)staging, (void)t;
#endif
}

/* ---- from nodes to points and back --------------------------------------------------------------------- */
#if HANGING
#include "mapped_hanging.h"
#define HANG(h, transposed, t, s, v) hang(h, transposed, t, OWN_LINE(s, t), OWN_STEP, v)
#else
typedef int Hanging;
#define HANG(h, transposed, t, s, v) ((void)(h))
#endif

#if GRADIENTS
#include "mapped_gradients.h"
#else
/* v[Q] <- the thread's z-line of the vector interpolated from the line `in` of nodes. */
TESK_DEVICE void to_points(const real in[N], int t, real *s, real v[Q]) {
#if COLLOCATED
  (void)t, (void)s;
  TESK_UNROLL
  for (int l = 0; l < Q; l++) v[l] = in[l];
#else
  real u[N], out[Q];
  if (t < CELLS * LINES) {
    interpolate(in, out);
    WRITE_LINE(Q, OWN_LINE(s, t), PY, out)
  }
  BARRIER();
  if (t < CELLS * N * Q) {
    real *const line = s + t / (N * Q) * PC + x_line(t % (N * Q), N);
    READ_LINE(N, line, 1, u)
    interpolate(u, out);
    WRITE_LINE(Q, line, 1, out)
  }
  BARRIER();
  if (t < CELLS * Q * Q) {
    READ_LINE(N, s + t / (Q * Q) * PC + t % (Q * Q) / Q * PY + t % Q, PZ, u)
    interpolate(u, v);
  }
#endif
}

/* The transposed: out[N] <- the thread's line of nodes. */
TESK_DEVICE void from_points(const real v[Q], const TeskMapped *a, const Staging *staging, int t, real *s,
                             real out[N]) {
#if COLLOCATED
  (void)a, (void)staging, (void)t, (void)s;
  TESK_UNROLL
  for (int l = 0; l < Q; l++) out[l] = v[l];
#else
  real in[Q];
  if (t < CELLS * Q * Q) {
    interpolate_transposed(v, out);
    WRITE_LINE(N, s + t / (Q * Q) * PC + t % (Q * Q) / Q * PY + t % Q, PZ, out)
  }
  BARRIER();
  if (!STIFFNESS) stage_next(a, staging, t);
  if (t < CELLS * N * Q) {
    real *const line = s + t / (N * Q) * PC + x_line(t % (N * Q), N);
    READ_LINE(Q, line, 1, in)
    interpolate_transposed(in, out);
    WRITE_LINE(N, line, 1, out)
  }
  BARRIER();
  if (t >= CELLS * LINES) return;
  READ_LINE(Q, OWN_LINE(s, t), PY, in)
  interpolate_transposed(in, out);
#endif
}

/* ---- at the points ------------------------------------------------------------------------------------- */
#if STIFFNESS
/* v[Q] <- z-line of (D' G D + mass W) v */
TESK_DEVICE void at_points(const TeskMapped *a, long long first, int t, real *s, const Staging *staging,
                           real v[Q]) {
  const int mine = t < CELLS * Q * Q, c = t / (Q * Q), l = t % (Q * Q);
  real *const A = s + (mine ? c * PC : 0), *const B = A + PB, *const C = BUFFERS == 3 ? B + PB : A;
  const int z_line = mine ? l / Q * PY + l % Q : 0;
  real in[Q], out[Q], dz[Q];
  if (mine) {
    WRITE_LINE(Q, A + z_line, PZ, v)
  }
  BARRIER();
  if (mine) {
    READ_LINE(Q, A + x_line(l, Q), 1, in)
    differentiate(in, out);
    WRITE_LINE(Q, B + x_line(l, Q), 1, out)
  }
#if BUFFERS == 2
  BARRIER();
#endif
  if (mine) {
    READ_LINE(Q, A + y_line(l), PY, in)
    differentiate(in, out);
    WRITE_LINE(Q, C + y_line(l), PY, out)
  }
  BARRIER();
  if (mine) {
    differentiate(v, dz);
    if (STAGE && first < a->cells) TESK_ARRIVED(staging->arrival, staging->phase);
    const Column column = make_column(a, find_cell(a, first, c), first, c, l, staging->memory);
    TESK_UNROLL
    for (int k = 0; k < Q; k++) {
      real g[3] = {B[z_line + k * PZ], C[z_line + k * PZ], dz[k]};
      const real m = apply_factors(a, &column, k, g);
      B[z_line + k * PZ] = g[0];
      C[z_line + k * PZ] = g[1];
      dz[k] = g[2];
      if (MASS) v[k] *= m;
    }
    differentiate_transposed(dz, MASS, v);
  }
  BARRIER();
  stage_next(a, staging, t);
  if (mine) {
    READ_LINE(Q, B + x_line(l, Q), 1, in)
    differentiate_transposed(in, 0, out);
    WRITE_LINE(Q, B + x_line(l, Q), 1, out)
    READ_LINE(Q, C + y_line(l), PY, in)
    differentiate_transposed(in, 0, out);
    WRITE_LINE(Q, C + y_line(l), PY, out)
  }
  BARRIER();
  if (mine) {
    TESK_UNROLL
    for (int k = 0; k < Q; k++) v[k] += B[z_line + k * PZ] + C[z_line + k * PZ];
  }
}
#else
TESK_DEVICE void at_points(const TeskMapped *a, long long first, int t, real *s, const Staging *staging,
                           real v[Q]) {
  const int c = t / (Q * Q);
#if STAGE && COLLOCATED
  BARRIER(); /* before waiting for the arrival */
#endif
  (void)s;
  if (t < CELLS * Q * Q) {
    if (STAGE && first < a->cells) TESK_ARRIVED(staging->arrival, staging->phase);
    const Column column = make_column(a, find_cell(a, first, c), first, c, t % (Q * Q), staging->memory);
    TESK_UNROLL
    for (int k = 0; k < Q; k++) v[k] *= mass_factor(a, &column, k);
  }
#if STAGE && AHEAD && COLLOCATED
  BARRIER();
  stage_next(a, staging, t);
#endif
}
#endif
#endif

/* While a block works on the nodes, its factors are prefetched into the L2 cache. The index is prefetched for a later
 * block; factors of later blocks would fill the cache. */
TESK_DEVICE void prefetch(const TeskMapped *a) {
  const long long size = GROUPS * CELLS, first = blockIdx.x * size, next = first + a->ahead * size,
                  left = a->cells - first, left_next = a->cells - next;
#if (GEOMETRY == STORED || GEOMETRY == HALVES || GEOMETRY == WEIGHTS) && !STAGE
  if (PREFETCH && threadIdx.x == 0)
    TESK_PREFETCH((const unsigned char *)a->geometry + first * CELL_BYTES,
                  (left < size ? left : size) * CELL_BYTES);
#elif GEOMETRY == VERTICES
  if (threadIdx.x == 0 && left_next > 0)
    TESK_PREFETCH_KEPT((const real *)a->geometry + next * 21,
                       (left_next < size ? left_next : size) * 21 * (long long)sizeof(real));
#endif
#if OUTPUT != ELEMENT
  const long long row = ROWS ? N * N : NODES;
  if (threadIdx.x == 1 && left_next > 0)
    TESK_PREFETCH_KEPT(a->index + next * row,
                       (left_next < size ? left_next : size) * row * (long long)sizeof(int));
#endif
  (void)left, (void)left_next;
}

/* Applies the cell to the thread's line of nodes `in` of one component; result in `out`. */
TESK_DEVICE void work(const TeskMapped *a, long long first, int t, real *s, const Staging *staging,
                      const real in[N], real out[N]) {
  real v[Q];
#if GRADIENTS
  real g[3][Q];
  to_gradients(in, t, s, g, v);
  at_gradients(a, first, t, staging, g, v);
  from_gradients(g, v, a, staging, t, s, out);
#else
  to_points(in, t, s, v);
  at_points(a, first, t, s, staging, v);
  from_points(v, a, staging, t, s, out);
#endif
}

/* Data of a group's cells, loaded before their turn comes. */
typedef struct Task {
  Cell cell;
  Line line;
} Task;

TESK_DEVICE void find_task(const TeskMapped *a, long long first, int t, Task *task) {
  task->cell = find_cell(a, first, t < CELLS * LINES ? t / LINES : CELLS - 1);
  find_line(a, task->cell, FIRST_NODE(t % LINES), STEP, &task->line);
}

TESK_DEVICE void load_task(const real *x, const Task *task, int component, int t, real in[N]) {
  if (t < CELLS * LINES) load_line(x, task->cell, component, FIRST_NODE(t % LINES), STEP, &task->line, in);
}

TESK_DEVICE real store_task(const real *x, real *y, const Task *task, int component, int t, real out[N]) {
#if MERGE
  const int taken = merge_line(t % LINES, t < CELLS * LINES, &task->line, out);
#else
  const int taken = 0;
#endif
  if (t >= CELLS * LINES) return 0;
  return store_line(x, y, task->cell, component, FIRST_NODE(t % LINES), STEP, &task->line, out, taken);
}

#include "mapped_zeros.h"

TESK_KERNEL(tesk_mapped, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y, (TeskMapped)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x % GROUP, group = (int)threadIdx.x / GROUP;
  const long long step = AHEAD ? (long long)gridDim.x * (GROUPS * CELLS) : 0;
  long long first = ((long long)blockIdx.x * GROUPS + group) * CELLS;
  real *const s = memory + group * CELLS * PC;
  /* work arrays of all groups, staged geometry of all groups, their arrivals */
  unsigned char *const stages =
      (unsigned char *)memory + (GROUPS * CELLS * PC * (int)sizeof(real) + 15) / 16 * 16;
  Staging staging = {stages + group * STAGE_BYTES, (TeskArrival *)(stages + GROUPS * STAGE_BYTES) + group, 0,
                     first + step};
  Task task;
  real in[N], out[N], dot = 0;
#if !ORDERED && !AHEAD
  prefetch(&a);
#endif
#if STAGE
  if (t == 0) {
    TESK_EXPECT_NONE(staging.arrival);
    stage(&a, first, staging.memory, staging.arrival);
  }
#endif
  find_task(&a, first, t, &task);
#if HANGING
  const Hanging hanging = find_hanging(&a, first, t, task.cell, s);
#else
  const Hanging hanging = 0;
#endif
  const int round = make_zeros(&a, y);
  do {
    for (int component = 0; component < COMPONENTS; component++) {
      if (component) BARRIER();
      staging.next = component == COMPONENTS - 1 ? first + step : a.cells;
      load_task(x, &task, component, t, in);
      HANG(&hanging, 0, t, s, in);
      work(&a, first, t, s, &staging, in, out);
      HANG(&hanging, 1, t, s, out);
      await_zeros(&a, round);
      dot += store_task(x, y, &task, component, t, out);
    }
    if (AHEAD) find_task(&a, first + step, t, &task);
    if (AHEAD && !COLLOCATED) BARRIER();
    first += step;
    staging.phase ^= 1;
  } while (AHEAD && first - group * CELLS < a.cells);
#if DOT
  TESK_ADD_WARP(a.parts + blockIdx.x % TESK_MAPPED_PARTS, (double)dot);
#endif
  (void)dot;
}
