/* The kernel of src/kernels/mapped.cu for quadrilaterals: a thread owns a line of a cell in registers, q threads per
 * cell; shared memory is only the transpose between directions. With n nodes, q points per direction:
 *   I    x-lines (j) [n], read from x | y-lines (i) [q]: v[q] and dy = D v stay in registers
 *   D    v | x-lines: D | y-lines: multiply by G | x-lines: D' | y-lines: added to v and D' dy
 *   I'   y-lines | x-lines, written to y
 * "|" is a barrier. A collocated operator starts and ends with y-lines. All lines are read and written in place by
 * their threads.
 * HANGING: lines along a thread's own line are interpolated in its registers; across it only one line can be
 * interpolated, on the side where the child touches its parent's boundary. Each thread has a node of that line, which
 * goes through shared memory (see mapped_hanging.h).
 * Shared memory: q^2 numbers per cell, rows of odd pitch PY. Registers: v, dy and the line at work, 4 q numbers.
 * Flops per cell, even-odd: a line from n to q: n q + 2 n + 2 q; I and I' 2 (n + q) lines, D and D' 4 q; a point: 6
 * (stiffness), 2 (mass), 14 more from vertices. Bytes per cell: 8 (2 n^2 + s q^2), s = 1 mass, 3 stiffness, 4 both;
 * index 4 n^2. Macros: as there. */
#include "kernel.h"
#include "mapped_arguments.h"
#include "tables.h"

#define STORED 0 /* GEOMETRY */
#define VERTICES 1
#define AFFINE 2
#define WEIGHTS 3
#define ELEMENT 0 /* OUTPUT */
#define ATOMIC 1
#define COLOURED 2
#define THREADS (GROUP * GROUPS)
#define FACTORS (3 * STIFFNESS + MASS)
#define NODES (N * N)
#define POINTS (Q * Q)
#define HN ((N + 1) / 2)
#define GN (N / 2)
#define HQ ((Q + 1) / 2)
#define GQ (Q / 2)
#include "mapped_lines.h"

#define READ_LINE(length, s, stride, v)                                                                      \
  TESK_UNROLL                                                                                                \
  for (int tesk_l = 0; tesk_l < (length); tesk_l++) v[tesk_l] = (s)[tesk_l * (stride)];
#define WRITE_LINE(length, s, stride, v)                                                                     \
  TESK_UNROLL                                                                                                \
  for (int tesk_l = 0; tesk_l < (length); tesk_l++) (s)[tesk_l * (stride)] = v[tesk_l];

/* A thread's own line of nodes: node FIRST + l STEP, at place FIRST_PLACE + l PLACE_STEP of the cell in shared
 * memory. */
#if COLLOCATED
#define OWN 1
#define FIRST(t) (t)
#define STEP N
#define FIRST_PLACE(t) (t)
#define PLACE_STEP PY
#else
#define OWN 0
#define FIRST(t) ((t)*N)
#define STEP 1
#define FIRST_PLACE(t) ((t)*PY)
#define PLACE_STEP 1
#endif

typedef struct Task {
  long long cell;
  int valid, l; /* the thread's line */
  real *s;      /* the cell in shared memory */
} Task;

typedef struct Line {
  int at[N];
} Line;

/* ---- nodes --------------------------------------------------------------------------------------------- */
TESK_DEVICE int has_nodes(const Task *task) {
  return task->valid && task->l < N;
}

TESK_DEVICE void find_line(const TeskMapped *a, const Task *task, Line *line) {
#if OUTPUT != ELEMENT
  TESK_UNROLL
  for (int l = 0; l < N; l++)
    line->at[l] = has_nodes(task) ? TESK_READ(a->index + task->cell * NODES + FIRST(task->l) + l * STEP) : -1;
#else
  (void)a, (void)task, (void)line;
#endif
}

TESK_DEVICE void load_line(const real *x, const Task *task, int component, const Line *line, real v[N]) {
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
#if OUTPUT == ELEMENT
    const long long at = (task->cell * COMPONENTS + component) * NODES + FIRST(task->l) + l * STEP;
    v[l] = has_nodes(task) ? TESK_READ(x + at) : 0;
#else
    const int i = line->at[l];
    v[l] = i < 0 ? 0 : TESK_READ(x + (long long)i * COMPONENTS + component);
#endif
  }
  (void)line;
}

TESK_DEVICE void store_line(const real *x, real *y, const Task *task, int component, const Line *line,
                            const real v[N]) {
  if (!has_nodes(task)) return;
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
#if OUTPUT == ELEMENT
    y[(task->cell * COMPONENTS + component) * NODES + FIRST(task->l) + l * STEP] = v[l];
#else
    const int i = line->at[l];
    const long long at = (long long)(i < 0 ? ~i : i) * COMPONENTS + component;
    if (i < 0)
      y[at] = x[at];
    else
#if OUTPUT == ATOMIC
      TESK_ADD(y + at, v[l]);
#else
      y[at] += v[l];
#endif
#endif
  }
  (void)x, (void)line;
}

/* ---- hanging nodes ------------------------------------------------------------------------------------- */
#if HANGING
#define ACROSS (1 - OWN)
#define SIDE(mask, d) ((mask) >> (d)&1 ? N - 1 : 0)

/* v <- W v, or W' v, of the child in direction d: upper children are lower ones seen from the other end. */
TESK_DEVICE void hang_line(int mask, const int d, const int transposed, real v[N]) {
  const int upper = mask >> d & 1;
  real in[N], out[N];
  TESK_UNROLL
  for (int l = 0; l < N; l++) in[l] = upper ? v[N - 1 - l] : v[l];
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    out[i] = 0;
    TESK_UNROLL
    for (int j = 0; j < N; j++) out[i] += (transposed ? tesk_w(j * N + i) : tesk_w(i * N + j)) * in[j];
  }
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = upper ? out[N - 1 - l] : out[l];
}

TESK_DEVICE void hang(const Task *task, int directions, int mask, const int transposed, real v[N]) {
  /* the face with normal d has bit 3 + d; lines along OWN lie on that with normal ACROSS */
  if ((mask >> (3 + ACROSS) & 1) && task->l == SIDE(mask, ACROSS)) hang_line(mask, OWN, transposed, v);
  if (!(directions >> ACROSS & 1)) return;
  const int hangs = (mask >> (3 + OWN) & 1) && task->l < N, side = SIDE(mask, OWN);
  real *const node = task->s + task->l;
  if (hangs) *node = side ? v[N - 1] : v[0];
  __syncthreads();
  if (hangs && task->l == 0) {
    real line[N];
    READ_LINE(N, task->s, 1, line)
    hang_line(mask, ACROSS, transposed, line);
    WRITE_LINE(N, task->s, 1, line)
  }
  __syncthreads();
  if (hangs && side) v[N - 1] = *node;
  if (hangs && !side) v[0] = *node;
  __syncthreads();
}
#endif

/* ---- at the points ------------------------------------------------------------------------------------- */
#if GEOMETRY == STORED
typedef struct Column {
  const factor *g;
} Column;
TESK_DEVICE Column make_column(const TeskMapped *a, const Task *task) {
  const Column c = {(const factor *)a->geometry + task->cell * FACTORS * POINTS + task->l};
  return c;
}
#elif GEOMETRY == WEIGHTS
/* x = sum c_ij xi^i eta^j: along a y-line the derivatives by xi and eta are A = sum a_j eta^j and B = sum b_j eta^j. */
#define CELL_EDGE (CELL_DEGREE + 1)
#define CELL_NUMBERS ((1 + MASS) * POINTS + 2 * (CELL_EDGE * CELL_EDGE - 1))
typedef struct Column {
  const real *weight;
  real a[CELL_EDGE][2], b[CELL_DEGREE][2];
} Column;
TESK_DEVICE Column make_column(const TeskMapped *a, const Task *task) {
  Column c;
  const real xi = (real)a->point[task->l];
  c.weight = (const real *)a->geometry + task->cell * CELL_NUMBERS + task->l;
  TESK_UNROLL
  for (int j = 0; j < CELL_EDGE; j++)
    for (int d = 0; d < 2; d++) {
      const real *const m = c.weight - task->l + (1 + MASS) * POINTS + 2 * (CELL_EDGE * j - 1) + d;
      const real m0 = j ? TESK_READ(m) : 0, m1 = TESK_READ(m + 2),
                 m2 = CELL_DEGREE == 2 ? TESK_READ(m + 4 * (CELL_DEGREE - 1)) : 0;
      c.a[j][d] = m1 + 2 * xi * m2;
      if (j) c.b[j - 1][d] = (real)j * (m0 + xi * (m1 + xi * m2));
    }
  return c;
}
#else
typedef struct Column {
  real m[3], mass, weight; /* affine */
  real x[2], dx[2], dy[2]; /* vertices: d/deta, and d/dxi = dx + eta dy */
} Column;
TESK_DEVICE Column make_column(const TeskMapped *a, const Task *task) {
  Column c;
  c.weight = (real)a->weight[task->l];
#if GEOMETRY == AFFINE
  const real *f = (const real *)a->geometry + task->cell * FACTORS;
  for (int s = 0; s < 3 * STIFFNESS; s++) c.m[s] = (real)a->stiffness * c.weight * f[s];
  c.mass = MASS ? (real)a->mass * c.weight * f[3 * STIFFNESS] : 0;
#else
  const real *v = (const real *)a->geometry + task->cell * 8;
  const real xi = (real)a->point[task->l];
  for (int d = 0; d < 2; d++) {
    c.x[d] = (1 - xi) * (v[4 + d] - v[d]) + xi * (v[6 + d] - v[2 + d]);
    c.dx[d] = v[2 + d] - v[d];
    c.dy[d] = v[6 + d] - v[4 + d] - c.dx[d];
  }
#endif
  return c;
}
#endif

/* g <- G g at point (l, k) of the thread's y-line; returns the factor of the mass. */
TESK_DEVICE real apply_factors(const TeskMapped *a, const Column *c, int k, real g[2]) {
  real m[3] = {0, 0, 0}, mass = 0;
#if GEOMETRY == STORED
  TESK_UNROLL
  for (int s = 0; s < 3 * STIFFNESS; s++) m[s] = (real)TESK_STREAM(c->g + s * POINTS + k * Q);
  if (MASS) mass = (real)a->mass * (real)TESK_STREAM(c->g + 3 * STIFFNESS * POINTS + k * Q);
#elif GEOMETRY == AFFINE
  const real w = (real)a->weight[k];
  for (int s = 0; s < 3 * STIFFNESS; s++) m[s] = w * c->m[s];
  mass = w * c->mass;
#elif GEOMETRY == WEIGHTS
  const real eta = (real)a->point[k], scale = (real)a->stiffness * TESK_STREAM(c->weight + k * Q);
  real A[2], B[2];
  for (int d = 0; d < 2; d++) {
    A[d] = c->a[0][d] + eta * (c->a[1][d] + (CELL_DEGREE == 2 ? eta * c->a[CELL_DEGREE][d] : 0));
    B[d] = c->b[0][d] + (CELL_DEGREE == 2 ? eta * c->b[CELL_DEGREE - 1][d] : 0);
  }
  m[0] = scale * (B[0] * B[0] + B[1] * B[1]);
  m[1] = -scale * (A[0] * B[0] + A[1] * B[1]);
  m[2] = scale * (A[0] * A[0] + A[1] * A[1]);
  if (MASS) mass = (real)a->mass * TESK_STREAM(c->weight + (MASS * POINTS + k * Q));
#else
  const real eta = (real)a->point[k], w = c->weight * (real)a->weight[k], x0 = c->dx[0] + eta * c->dy[0],
             x1 = c->dx[1] + eta * c->dy[1], det = x0 * c->x[1] - c->x[0] * x1;
  const real scale = (real)a->stiffness * w / det;
  m[0] = scale * (c->x[0] * c->x[0] + c->x[1] * c->x[1]);
  m[1] = -scale * (x0 * c->x[0] + x1 * c->x[1]);
  m[2] = scale * (x0 * x0 + x1 * x1);
  mass = (real)a->mass * w * det;
#endif
  const real g0 = g[0];
  g[0] = m[0] * g0 + m[1] * g[1];
  g[1] = m[1] * g0 + m[2] * g[1];
  return mass;
}

/* v[Q] <- y-line of (D' G D + mass W) v; all threads of a block. */
TESK_DEVICE void at_points(const TeskMapped *a, const Task *task, real v[Q]) {
  const Column column = make_column(a, task);
#if STIFFNESS
  real *const row = task->s + task->l * PY, *const line = task->s + task->l;
  real dx[Q], dy[Q], work[Q];
  WRITE_LINE(Q, line, PY, v)
  __syncthreads();
  READ_LINE(Q, row, 1, work)
  differentiate(work, dx);
  WRITE_LINE(Q, row, 1, dx)
  differentiate(v, dy);
  __syncthreads();
  TESK_UNROLL
  for (int k = 0; k < Q; k++) {
    real g[2] = {line[k * PY], dy[k]};
    const real mass = apply_factors(a, &column, k, g);
    line[k * PY] = g[0];
    dy[k] = g[1];
    if (MASS) v[k] *= mass;
  }
  __syncthreads();
  READ_LINE(Q, row, 1, work)
  differentiate_transposed(work, 0, dx);
  WRITE_LINE(Q, row, 1, dx)
  differentiate_transposed(dy, MASS, v);
  __syncthreads();
  TESK_UNROLL
  for (int k = 0; k < Q; k++) v[k] += line[k * PY];
#else
  TESK_UNROLL
  for (int k = 0; k < Q; k++) {
    real none[2] = {0, 0};
    v[k] *= apply_factors(a, &column, k, none);
  }
#endif
}

/* ---- all of it ----------------------------------------------------------------------------------------- */
/* The thread's own line of nodes, in place. */
TESK_DEVICE void work(const TeskMapped *a, const Task *task, real in[N]) {
#if COLLOCATED
  at_points(a, task, in);
#else
  real *const row = task->s + task->l * PY, *const line = task->s + task->l;
  real v[Q];
  if (task->l < N) {
    interpolate(in, v);
    WRITE_LINE(Q, row, 1, v)
  }
  __syncthreads();
  READ_LINE(N, line, PY, in)
  interpolate(in, v);
  at_points(a, task, v);
  interpolate_transposed(v, in);
  WRITE_LINE(N, line, PY, in)
  __syncthreads();
  if (task->l < N) {
    READ_LINE(Q, row, 1, v)
    interpolate_transposed(v, in);
  }
#endif
}

TESK_KERNEL(tesk_mapped, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y, (TeskMapped)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x, mine = t < CELLS * Q, c = mine ? t / Q : CELLS;
  const long long at = (long long)blockIdx.x * CELLS + c;
  Task task = {0, mine && at < a.cells, t % Q, memory + c * PC}; /* threads without a cell have shared memory */
  Line line;
  real v[N];
  task.cell = task.valid ? at : 0;
#if ORDERED
  task.cell = a.order[task.cell];
#endif
#if HANGING
  const long long head = (long long)blockIdx.x * CELLS;
  const int directions = a.masks[ORDERED ? a.order[head] : head] >> TESK_DIRECTIONS,
            mask = directions && task.valid ? a.masks[task.cell] : 0;
#endif
  find_line(&a, &task, &line);
  for (int component = 0; component < COMPONENTS; component++) {
    load_line(x, &task, component, &line, v);
    if (component) __syncthreads();
#if HANGING
    if (directions) hang(&task, directions, mask, 0, v);
#endif
    work(&a, &task, v);
#if HANGING
    if (directions) __syncthreads();
    if (directions) hang(&task, directions, mask, 1, v);
#endif
    store_line(x, y, &task, component, &line, v);
  }
}
