/* Mass and stiffness on mapped hexahedra, y = sum over cells of I' (D' G D + mass W) I x, element vectors or global ones.
 *
 * A thread owns a line of a cell in registers and contracts along it with even-odd halves of the 1D matrix (tables.h); shared
 * memory is only the transpose between directions. With n nodes, q points a direction, a cell has q^2 threads:
 *   I    y-lines (k, i) [n^2], read from x | x-lines (k, j) [n q] | z-lines (j, i) [q^2]: v[q] stays in registers
 *   D    v to A | x-lines: A -> B, y-lines: A -> C | z-lines: dz in registers, multiply by G | x- and y-lines transposed | z-lines
 *   I'   as I, backwards; y-lines are written to y
 * "|" is a barrier: of the warp where a cell's threads fit in one (q <= 5), else of the block. A collocated operator (q = n, points =
 * nodes) starts and ends with z-lines. BUFFERS = 2: C is A, with a barrier more.
 * HANGING: cells may have hanging nodes, interpolated between the reading of y-lines and I, and back (mapped_hanging.h): four barriers and two
 * passes through shared memory more each way, for blocks with such cells.
 * Shared memory: BUFFERS (mass alone: 1) q^3 numbers a cell, with pitches that the host chooses against bank conflicts.
 * Registers: v and dz, 2 q numbers, besides the line at work (2 q) or a column's trilinear coefficients (24).
 * Flops a cell, even-odd: a contraction of L lines from n to q: L (n q + 2 n + 2 q); I and I' 2 (n^2 + n q + q^2) lines, D and D' 6 q^2;
 * a point: 15 (stiffness), 2 (mass), 50 more for trilinear cells.
 * Bytes a cell: 8 (2 n^3 + s q^3) in the element form, s = 1 mass, 6 stiffness, 7 both; global: 16 a dof + 4 n^3 + 8 s q^3 and the
 * zeroing of y; vertices: 192 for the factors, affine: 8 s.
 * Macros: real, factor (type of stored factors), N, Q, COLLOCATED, MASS, STIFFNESS, COMPONENTS, GEOMETRY, OUTPUT, ORDERED, HANGING, DOT (parts
 * of x.y too); CELLS a group of
 * GROUP threads, GROUPS a block, WARPS (a group is a warp), MIN_BLOCKS; STAGE (factors go through shared memory, STAGE_BYTES a group),
 * PREFETCH (into the L2 cache); BUFFERS, pitches PY, PZ, PB (a buffer), PC (a cell); X_BY_Z, Y_BY_Z:
 * neighbouring threads have neighbouring z. */
#include "kernel.h"
#include "mapped_arguments.h"
#include "tables.h"

#define STORED 0 /* GEOMETRY */
#define VERTICES 1
#define AFFINE 2
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

/* ---- contractions along a line ------------------------------------------------------------------------------------------- */
/* Sums and differences of opposite values; the middle one of an odd length alone. */
#define FOLD(length, in, e, o)                                                                               \
  TESK_UNROLL                                                                                                \
  for (int l = 0; l < (length) / 2; l++) {                                                                   \
    e[l] = in[l] + in[(length)-1 - l];                                                                       \
    o[l] = in[l] - in[(length)-1 - l];                                                                       \
  }                                                                                                          \
  if ((length) % 2) e[(length) / 2] = in[(length) / 2];

#if !COLLOCATED
TESK_DEVICE void interpolate(const real in[N], real out[Q]) {
  real e[HN], o[GN];
  FOLD(N, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HQ; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < HN; l++) even += tesk_ie(r * HN + l) * e[l];
    TESK_UNROLL
    for (int l = 0; l < GN && r < GQ; l++) odd += tesk_io(r * GN + l) * o[l];
    out[r] = even + odd;
    if (r < GQ) out[Q - 1 - r] = even - odd;
  }
}

TESK_DEVICE void interpolate_transposed(const real in[Q], real out[N]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HN; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < HQ; l++) even += tesk_ie(l * HN + r) * e[l];
    TESK_UNROLL
    for (int l = 0; l < GQ && r < GN; l++) odd += tesk_io(l * GN + r) * o[l];
    out[r] = even + odd;
    if (r < GN) out[N - 1 - r] = even - odd;
  }
}
#endif

#if STIFFNESS
/* Differentiation turns even into odd. */
TESK_DEVICE void differentiate(const real in[Q], real out[Q]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HQ; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < GQ; l++) even += tesk_do(r * GQ + l) * o[l];
    TESK_UNROLL
    for (int l = 0; l < HQ && r < GQ; l++) odd += tesk_de(r * HQ + l) * e[l];
    out[r] = even + odd;
    if (r < GQ) out[Q - 1 - r] = even - odd;
  }
}

/* out <- D' in, or out += D' in */
TESK_DEVICE void differentiate_transposed(const real in[Q], const int add, real out[Q]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HQ; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < GQ; l++) even += tesk_de(l * HQ + r) * o[l];
    TESK_UNROLL
    for (int l = 0; l < HQ && r < GQ; l++) odd += tesk_do(l * GQ + r) * e[l];
    out[r] = add ? out[r] + (even + odd) : even + odd;
    if (r < GQ) out[Q - 1 - r] = add ? out[Q - 1 - r] + (even - odd) : even - odd;
  }
}
#endif

/* ---- lines in shared memory ------------------------------------------------------------------------------------------------ */
#define READ_LINE(length, s, stride, v)                                                                      \
  TESK_UNROLL                                                                                                \
  for (int tesk_l = 0; tesk_l < (length); tesk_l++) v[tesk_l] = (s)[tesk_l * (stride)];
#define WRITE_LINE(length, s, stride, v)                                                                     \
  TESK_UNROLL                                                                                                \
  for (int tesk_l = 0; tesk_l < (length); tesk_l++) (s)[tesk_l * (stride)] = v[tesk_l];

/* Where line `l` of x-lines with `layers` z and Q y begins; of y-lines with Q z and Q x. */
TESK_DEVICE int x_line(int l, int layers) {
  return X_BY_Z ? l % layers * PZ + l / layers * PY : l / Q * PZ + l % Q * PY;
}
TESK_DEVICE int y_line(int l) {
  return Y_BY_Z ? l % Q * PZ + l / Q : l / Q * PZ + l % Q;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------ */
typedef struct Cell {
  long long number; /* of the cell this thread works for; a valid one even where there is none */
  int valid;
} Cell;

TESK_DEVICE Cell find_cell(const TeskMapped *a, long long first, int c) {
  Cell cell;
  const long long at = first + c;
  cell.valid = at < a->cells;
  cell.number = cell.valid ? at : 0;
#if ORDERED
  cell.number = a->order[cell.number];
#endif
  return cell;
}

#if INDEX_ONCE /* the index leaves the L2 cache first: better where factors are many, worse where they are computed */
#define READ_INDEX(p) TESK_STREAM(p)
#else
#define READ_INDEX(p) TESK_READ(p)
#endif

/* Where the `count` nodes node, node + step, ... of a cell are: a line that is read at the start and written at the end. */
typedef struct Line {
  int at[N];
} Line;

TESK_DEVICE void find_line(const TeskMapped *a, Cell cell, int node, int step, Line *line) {
#if OUTPUT != ELEMENT
  TESK_UNROLL
  for (int l = 0; l < N; l++)
    line->at[l] = cell.valid ? READ_INDEX(a->index + cell.number * NODES + node + l * step) : -1;
#else
  (void)a, (void)cell, (void)node, (void)step, (void)line;
#endif
}

TESK_DEVICE void load_line(const real *x, Cell cell, int component, int node, int step, const Line *line,
                           real v[N]) {
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
#if OUTPUT == ELEMENT
    v[l] = cell.valid ? TESK_READ(x + (cell.number * COMPONENTS + component) * NODES + node + l * step) : 0;
#else
    const int i = line->at[l];
    v[l] = i < 0 ? 0 : TESK_READ(x + (long long)i * COMPONENTS + component);
#endif
  }
  (void)line;
}

/* A constrained row is the identity; all its cells write the same. Returns what the line adds to x . y, with DOT. */
TESK_DEVICE real store_line(const real *x, real *y, Cell cell, int component, int node, int step,
                            const Line *line, const real v[N]) {
  real dot = 0;
  if (!cell.valid) return 0;
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
#if OUTPUT == ELEMENT
    const long long at = (cell.number * COMPONENTS + component) * NODES + node + l * step;
    y[at] = v[l];
    if (DOT) dot += v[l] * x[at];
#else
    const int i = line->at[l];
    const long long at = (long long)(i < 0 ? ~i : i) * COMPONENTS + component;
    if (i < 0) {
      y[at] = x[at];
    } else {
#if OUTPUT == ATOMIC
      TESK_ADD(y + at, v[l]);
#else
      y[at] += v[l];
#endif
      if (DOT) dot += v[l] * TESK_READ(x + at);
    }
#endif
  }
  (void)line;
  return dot;
}

#include "mapped_geometry.h"

/* ---- from nodes to points and back ------------------------------------------------------------------------------------------- */
/* The first nodes of the lines of a cell that are read and written: z-lines where points are nodes, else y-lines; and where a thread's
 * line stands in shared memory. */
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

#if HANGING
#include "mapped_hanging.h"
#define HANG(h, transposed, t, s, v) hang(h, transposed, t, OWN_LINE(s, t), OWN_STEP, v)
#else
typedef int Hanging;
#define HANG(h, transposed, t, s, v) ((void)(h))
#endif

/* v[Q] <- the thread's z-line of the interpolated vector. */
TESK_DEVICE void read_points(const real *x, Cell cell, int component, int t, const Line *at,
                             const Hanging *hanging, real *s, real v[Q]) {
#if COLLOCATED
  (void)s;
  if (t < CELLS * LINES) load_line(x, cell, component, FIRST_NODE(t % LINES), STEP, at, v);
  HANG(hanging, 0, t, s, v);
#else
  real in[N], out[Q];
  if (t < CELLS * LINES) load_line(x, cell, component, FIRST_NODE(t % LINES), STEP, at, in);
  HANG(hanging, 0, t, s, in);
  if (t < CELLS * LINES) {
    interpolate(in, out);
    WRITE_LINE(Q, OWN_LINE(s, t), PY, out)
  }
  BARRIER();
  if (t < CELLS * N * Q) {
    real *const line = s + t / (N * Q) * PC + x_line(t % (N * Q), N);
    READ_LINE(N, line, 1, in)
    interpolate(in, out);
    WRITE_LINE(Q, line, 1, out)
  }
  BARRIER();
  if (t < CELLS * Q * Q) {
    READ_LINE(N, s + t / (Q * Q) * PC + t % (Q * Q) / Q * PY + t % Q, PZ, in)
    interpolate(in, v);
  }
#endif
}

/* The transposed, into y. */
TESK_DEVICE real write_points(const real *x, real *y, Cell cell, int component, int t, const Line *at,
                              const Hanging *hanging, real *s, real v[Q]) {
#if COLLOCATED
  (void)s;
  HANG(hanging, 1, t, s, v);
  return t < CELLS * LINES ? store_line(x, y, cell, component, FIRST_NODE(t % LINES), STEP, at, v) : 0;
#else
  real in[Q], out[N];
  if (t < CELLS * Q * Q) {
    interpolate_transposed(v, out);
    WRITE_LINE(N, s + t / (Q * Q) * PC + t % (Q * Q) / Q * PY + t % Q, PZ, out)
  }
  BARRIER();
  if (t < CELLS * N * Q) {
    real *const line = s + t / (N * Q) * PC + x_line(t % (N * Q), N);
    READ_LINE(Q, line, 1, in)
    interpolate_transposed(in, out);
    WRITE_LINE(N, line, 1, out)
  }
  BARRIER();
  if (t < CELLS * LINES) {
    READ_LINE(Q, OWN_LINE(s, t), PY, in)
    interpolate_transposed(in, out);
  }
  HANG(hanging, 1, t, s, out);
  if (t >= CELLS * LINES) return 0;
  return store_line(x, y, cell, component, FIRST_NODE(t % LINES), STEP, at, out);
#endif
}

/* ---- at the points ------------------------------------------------------------------------------------------------------------- */
#if STIFFNESS
/* v[Q] <- z-line of (D' G D + mass W) v */
TESK_DEVICE void at_points(const TeskMapped *a, long long first, int t, real *s, const unsigned char *staged,
                           TeskArrival *arrival, real v[Q]) {
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
    const Column column = make_column(a, find_cell(a, first, c), first, c, l, staged);
    differentiate(v, dz);
    if (STAGE && first < a->cells) TESK_ARRIVED(arrival);
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
TESK_DEVICE void at_points(const TeskMapped *a, long long first, int t, real *s, const unsigned char *staged,
                           TeskArrival *arrival, real v[Q]) {
  const int c = t / (Q * Q);
#if STAGE && COLLOCATED
  BARRIER(); /* before the arrival is looked at */
#endif
  if (t >= CELLS * Q * Q) return;
  const Column column = make_column(a, find_cell(a, first, c), first, c, t % (Q * Q), staged);
  if (STAGE && first < a->cells) TESK_ARRIVED(arrival);
  (void)s;
  TESK_UNROLL
  for (int k = 0; k < Q; k++) v[k] *= mass_factor(a, &column, k);
}
#endif

/* A block's factors are on their way to the L2 cache while it works on the nodes; the index, of a block some way ahead: factors would
 * fill the cache. */
TESK_DEVICE void prefetch(const TeskMapped *a) {
  const long long size = GROUPS * CELLS, first = blockIdx.x * size, next = first + a->ahead * size,
                  left = a->cells - first, left_next = a->cells - next;
#if GEOMETRY == STORED && !STAGE
  if (PREFETCH && threadIdx.x == 0)
    TESK_PREFETCH((const factor *)a->geometry + first * FACTORS * POINTS,
                  (left < size ? left : size) * FACTORS * POINTS * (long long)sizeof(factor));
#elif GEOMETRY == VERTICES
  if (threadIdx.x == 0 && left_next > 0)
    TESK_PREFETCH_KEPT((const real *)a->geometry + next * 24,
                       (left_next < size ? left_next : size) * 24 * (long long)sizeof(real));
#endif
#if OUTPUT != ELEMENT
  if (threadIdx.x == 1 && left_next > 0)
    TESK_PREFETCH_KEPT(a->index + next * NODES,
                       (left_next < size ? left_next : size) * NODES * (long long)sizeof(int));
#endif
  (void)left, (void)left_next;
}

TESK_KERNEL(tesk_mapped, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y, (TeskMapped)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x % GROUP, group = (int)threadIdx.x / GROUP;
  const long long first = ((long long)blockIdx.x * GROUPS + group) * CELLS;
  real *const s = memory + group * CELLS * PC;
  /* work arrays of all groups, staged factors of all groups, their arrivals */
  unsigned char *const stages =
                           (unsigned char *)memory + (GROUPS * CELLS * PC * (int)sizeof(real) + 15) / 16 * 16,
                       *const staged = stages + group * STAGE_BYTES;
  TeskArrival *const arrival = (TeskArrival *)(stages + GROUPS * STAGE_BYTES) + group;
#if !ORDERED
  prefetch(&a);
#endif
#if STAGE
  if (t == 0) stage(&a, first, staged, arrival);
#endif
  const Cell cell = find_cell(&a, first, t < CELLS * LINES ? t / LINES : CELLS - 1);
  Line line;
  real dot = 0;
  find_line(&a, cell, FIRST_NODE(t % LINES), STEP, &line);
#if HANGING
  const Hanging hanging = find_hanging(&a, first, t, s);
#else
  const Hanging hanging = 0;
#endif
  for (int component = 0; component < COMPONENTS; component++) {
    real v[Q];
    if (component) BARRIER();
    read_points(x, cell, component, t, &line, &hanging, s, v);
    at_points(&a, first, t, s, staged, arrival, v);
    dot += write_points(x, y, cell, component, t, &line, &hanging, s, v);
  }
#if DOT
  TESK_ADD_WARP(a.parts + blockIdx.x % TESK_MAPPED_PARTS, (double)dot);
#endif
  (void)dot;
}
