/* The Stokes operator K = [A, -B'; -B, 0] on boxes in 3D (src/operator/stokes/stokes_operator.h) in one launch: any
 * cells and ends. The matrices of the reference cell are an argument; cells and faces of a direction have a few
 * numbers each.
 *
 * A block has a tile of one component i: up to 31 / N - 1 cells along i, ACROSS_A x ACROSS_B pairs of cells in the two
 * other directions a, b. Blocks of different parts alternate, so that they find each other's numbers in L2.
 *   1. A thread has a node along i and a pair of cells: N x N modes (a, b), which it processes line by line.
 *      w = nu (Ld in a + Ld in b) u + alpha u by traces: a line needs its own modes and the traces of its two
 *      neighbours. The nodes of the cell below the tile are computed too. u and w stay in shared memory.
 *   2. A thread has a cell along i and a mode (a, b): y = Mc w + nu Lc u - D' p at N nodes, including the
 *      contribution of the cell below to the first node. Known nodes are zero.
 * A pressure has no tile: a thread has N modes along z, y = - sum over i of D u_i.
 *
 * Shared memory: 2 N^2 MODE numbers, about 68 N^2 ACROSS_A ACROSS_B. An entry of a velocity, with T cells along i:
 * stage 1 reads 5 (T + 1 + 1 / N) / T numbers from global memory, mostly from L1, and takes 2 (6 + N / 4)
 * multiply-adds; stage 2 reads 2 of p, and 4 (1 + 1 / N) from shared memory, and takes 2 (N + 1)^2 / N + N + 1
 * multiply-adds. Bytes that must come and go: 2 numbers per entry, in float64 16: 3.7 ps at the 4.3 TB/s of an H200.
 * L1, which reads numbers N apart, takes three to five times that (docs/performance-h200.md). From float32 to
 * float32, in float64 arithmetic, it is 8, and L1 reads half of the bytes. Registers: `bench_registers`.
 * Macros: real (of arithmetic, shared memory and b), in_real and out_real (of x and y), N (modes of a cell, k + 1),
 * ACROSS_A, ACROSS_B, MODE (from a mode to the next in shared memory), MIN_BLOCKS. */
#include "kernel.h"
#include "stokes_arguments.h"
#include "stokes_faces.h"

#define PAIRS (ACROSS_A * ACROSS_B)
#define THREADS (TESK_TILES_LINE * PAIRS)
#define SIZE (N * N * MODE) /* from w to u */
#define P (N + 1)

/* For the reference cell: its modes, the mass and stiffness matrices of the nodes, (l_q, phi_j'). */
typedef struct Reference {
  Modes modes;
  real mass[P * P], stiffness[P * P], derivative[N * P];
} Reference;

typedef struct Part {
  const in_real *x;    /* first entry of the part */
  long long step[3];   /* by direction */
  int start[3], cells; /* of the tile; cells along the component */
} Part;

/* Stage 1 of a thread. x: the thread's first entry. W, U: of mode 0. */
TESK_DEVICE void across(const TeskStokesTiles *s, const Reference *r, int a, int b, int ca, int cb,
                        const in_real *TESK_RESTRICT x, long long sa, long long sb, real *W) {
  real *const U = W + SIZE;
  const real *const of_a = (const real *)s->numbers[a] + ca, *const of_b = (const real *)s->numbers[b] + cb;
  const long long a0 = N * sa * beside(s->cells, s->periodic, a, ca, 0),
                  a1 = N * sa * beside(s->cells, s->periodic, a, ca, 1),
                  b0 = N * sb * beside(s->cells, s->periodic, b, cb, 0),
                  b1 = N * sb * beside(s->cells, s->periodic, b, cb, 1);
  real line[N], sum[N];
  TESK_UNROLL
  for (int m = 0; m < N; m++) {
    const Trace below = trace_at(&r->modes, x + m * sb + a0, sa),
                above = trace_at(&r->modes, x + m * sb + a1, sa);
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      line[l] = (real)TESK_READ(x + m * sb + l * sa);
      sum[l] = (real)s->alpha * line[l];
    }
    add_across(&r->modes, of_a, s->cells[a], line, &below, &above, sum);
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      U[(m * N + l) * MODE] = line[l];
      W[(m * N + l) * MODE] = sum[l];
    }
  }
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
    const Trace below = trace_at(&r->modes, x + l * sa + b0, sb),
                above = trace_at(&r->modes, x + l * sa + b1, sb);
    TESK_UNROLL
    for (int m = 0; m < N; m++) {
      line[m] = U[(m * N + l) * MODE];
      sum[m] = W[(m * N + l) * MODE];
    }
    add_across(&r->modes, of_b, s->cells[b], line, &below, &above, sum);
    TESK_UNROLL
    for (int m = 0; m < N; m++) W[(m * N + l) * MODE] = sum[m];
  }
}

/* The contribution of a cell to its node `row`: its part of Mc w + nu Lc u - D' p. */
TESK_DEVICE real give(const Reference *r, int row, const real c[3], const real w[P], const real u[P],
                      const real p[N]) {
  real mass = 0, stiffness = 0, derivative = 0;
  TESK_UNROLL
  for (int j = 0; j < P; j++) {
    mass += r->mass[row * P + j] * w[j];
    stiffness += r->stiffness[row * P + j] * u[j];
  }
  TESK_UNROLL
  for (int q = 0; q < N; q++) derivative += r->derivative[q * P + row] * p[q];
  return c[0] * mass + c[1] * stiffness - c[2] * derivative;
}

/* The numbers of a cell along i. */
TESK_DEVICE void read_cell(const TeskStokesTiles *s, int i, int cell, const real *shared,
                           const in_real *TESK_RESTRICT pressure, long long sp, real c[3], real w[P],
                           real v[P], real p[N]) {
  const real *const numbers = (const real *)s->numbers[i] + cell;
  TESK_UNROLL
  for (int j = 0; j < P; j++) {
    w[j] = shared[j];
    v[j] = shared[SIZE + j];
  }
  TESK_UNROLL
  for (int q = 0; q < N; q++) p[q] = (real)TESK_READ(pressure + (cell * N + q) * sp);
  c[0] = NUMBER(numbers, TESK_TILES_WIDTH, s->cells[i]);
  c[1] = NUMBER(numbers, TESK_TILES_STIFFNESS, s->cells[i]);
  c[2] = NUMBER(numbers, TESK_TILES_ROOT, s->cells[i]);
}

/* Stage 2 of a thread: the nodes from the first node of `cell` on. pressure: first entry of the thread's line.
 * shared: at the first node of the cell below. */
TESK_DEVICE void along(const TeskStokesTiles *s, const Reference *r, int i, int cell, const real *shared,
                       const in_real *TESK_RESTRICT pressure, long long sp, real out[N]) {
  real c[3], w[P], v[P], p[N];
  TESK_UNROLL
  for (int l = 0; l < N; l++) out[l] = 0;
  if (cell > 0 || s->periodic[i]) {
    read_cell(s, i, cell > 0 ? cell - 1 : s->cells[i] - 1, shared, pressure, sp, c, w, v, p);
    out[0] = give(r, N, c, w, v, p);
  }
  if (cell < s->cells[i]) {
    read_cell(s, i, cell, shared + N, pressure, sp, c, w, v, p);
    TESK_UNROLL
    for (int l = 0; l < N; l++) out[l] += give(r, l, c, w, v, p);
  }
  if ((cell == 0 && s->known[i][0]) || (cell == s->cells[i] && s->known[i][1])) out[0] = 0;
}

TESK_DEVICE Part part_of(const TeskStokesTiles *s, int part, unsigned tile, const in_real *x) {
  const int *const e = s->parts.extent[part];
  Part p;
  p.x = x + s->parts.offset[part];
  p.step[0] = 1;
  p.step[1] = e[0];
  p.step[2] = (long long)e[0] * e[1];
  for (int d = 0; d < 3; d++) {
    p.start[d] = (int)(tile % (unsigned)s->tiles[part][d]) * s->span[part][d];
    tile /= (unsigned)s->tiles[part][d];
  }
  p.cells = s->cells[part] - p.start[part];
  if (p.cells > s->span[part][part]) p.cells = s->span[part][part];
  return p;
}

/* Component i; a < b: the other directions. All three are constants. */
TESK_DEVICE void velocity(const TeskStokesTiles *s, const Reference *r, const int i, const int a, const int b,
                          unsigned tile, const in_real *TESK_RESTRICT x, const real *old, out_real *y,
                          int keep, real sign, real *W) {
  const Part u = part_of(s, i, tile, x);
  const int t = (int)threadIdx.x, j = i == 0 ? t % TESK_TILES_LINE : t / PAIRS,
            pair = i == 0 ? t / TESK_TILES_LINE : t % PAIRS;
  const int ca = u.start[a] + pair % ACROSS_A, cb = u.start[b] + pair / ACROSS_A, all = s->parts.extent[i][i];
  int node = (u.start[i] - 1) * N + j;
  if (s->periodic[i]) node += node < 0 ? all : node >= all ? -all : 0;
  if (j <= (u.cells + 1) * N && node >= 0 && node < all && ca < s->cells[a] && cb < s->cells[b])
    across(s, r, a, b, ca, cb, u.x + node * u.step[i] + ca * N * u.step[a] + cb * N * u.step[b], u.step[a],
           u.step[b], W + pair * TESK_TILES_PITCH + j);
  __syncthreads();
  const int *const modes = s->parts.extent[3];
  const long long sp[3] = {1, modes[0], (long long)modes[0] * modes[1]};
  const int last = !s->periodic[i] && u.start[i] + u.cells == s->cells[i], cells = u.cells + last,
            fast = i == 0 ? cells : ACROSS_A * N, middle = i == 0 ? ACROSS_A * N : cells;
  TESK_ROLL
  for (int id = t; id < cells * N * N * PAIRS; id += THREADS) {
    const int rest = id / fast, first = id - rest * fast, mb = rest / middle, second = rest - mb * middle;
    const int cell = i == 0 ? first : second, ma = i == 0 ? second : first;
    const int at = u.start[i] + cell, qa = u.start[a] * N + ma, qb = u.start[b] * N + mb;
    const int mode = mb % N * N + ma % N, of = mb / N * ACROSS_A + ma / N;
    if (qa >= modes[a] || qb >= modes[b]) continue;
    const long long line = qa * u.step[a] + qb * u.step[b];
    real out[N];
    along(s, r, i, at, W + mode * MODE + of * TESK_TILES_PITCH + cell * N,
          x + s->parts.offset[3] + qa * sp[a] + qb * sp[b], sp[i], out);
    const long long to = s->parts.offset[i] + line + (long long)at * N * u.step[i];
    TESK_UNROLL
    for (int l = 0; l < N; l++)
      if (l == 0 || at < s->cells[i])
        y[to + l * u.step[i]] = (out_real)((keep ? old[to + l * u.step[i]] : 0) + sign * out[l]);
  }
}

/* y <- sum over j of d[j] x[j step]; the last term has its own entry. */
TESK_DEVICE real derive(const real d[P], const in_real *TESK_RESTRICT x, long long step, long long last) {
  real sum = d[N] * (real)TESK_READ(x + last);
  TESK_UNROLL
  for (int j = 0; j < N; j++) sum += d[j] * (real)TESK_READ(x + j * step);
  return sum;
}

/* The row of D for mode q of a direction; *last: from the first node of its cell to the last node. */
TESK_DEVICE void row_of(const TeskStokesTiles *s, int d, int q, real row[P], int *last) {
  const int cell = q / N;
  const real root = NUMBER((const real *)s->numbers[d] + cell, TESK_TILES_ROOT, s->cells[d]);
  const real *const table = (const real *)s->derivative + (q - cell * N) * P;
  TESK_UNROLL
  for (int j = 0; j < P; j++) row[j] = root * TESK_READ(table + j);
  *last = s->periodic[d] && cell == s->cells[d] - 1 ? -cell * N : N;
}

TESK_DEVICE void pressure(const TeskStokesTiles *s, const Reference *r, unsigned tile,
                          const in_real *TESK_RESTRICT x, const real *old, out_real *y, int keep, real sign) {
  const unsigned ex = (unsigned)s->parts.extent[3][0], ey = (unsigned)s->parts.extent[3][1];
  const in_real *const u[3] = {x + s->parts.offset[0], x + s->parts.offset[1], x + s->parts.offset[2]};
  const long long nx = s->parts.extent[0][0], ny = s->parts.extent[1][1], plane = (long long)ex * ey;
  for (unsigned id = tile * THREADS + threadIdx.x; id < plane * s->cells[2];
       id += (unsigned)s->most * THREADS) {
    const unsigned rest = id / ex;
    const int qx = (int)(id - rest * ex), cz = (int)(rest / ey), qy = (int)(rest - (unsigned)cz * ey);
    const long long z = (long long)cz * N;
    real dx[P], dy[P], v[P];
    int lx, ly;
    row_of(s, 0, qx, dx, &lx);
    row_of(s, 1, qy, dy, &ly);
    const real root = NUMBER((const real *)s->numbers[2] + cz, TESK_TILES_ROOT, s->cells[2]);
    TESK_UNROLL
    for (int j = 0; j < P; j++)
      v[j] = (real)TESK_READ(u[2] + (j == N && s->periodic[2] && cz == s->cells[2] - 1 ? 0 : z + j) * plane +
                             (long long)qy * ex + qx);
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      real sum = 0;
      TESK_UNROLL
      for (int j = 0; j < P; j++) sum += r->derivative[l * P + j] * v[j];
      sum = root * sum + derive(dx, u[0] + ((z + l) * ey + qy) * nx + qx / N * N, 1, lx) +
            derive(dy, u[1] + ((z + l) * ny + qy / N * N) * ex + qx, ex, (long long)ly * ex);
      const long long to = s->parts.offset[3] + (z + l) * plane + (long long)qy * ex + qx;
      y[to] = (out_real)((keep ? old[to] : 0) - sign * sum);
    }
  }
}

/* y <- keep b + sign K x; y may be b, of its type. Grid: parts, tiles. */
TESK_KERNEL(tesk_stokes_tiles, THREADS, MIN_BLOCKS, (const in_real *TESK_RESTRICT)x, (const real *)b,
            (out_real *)y, (TeskStokesTiles)s, (Reference)r, (int)keep, (real)sign) {
  TESK_SHARED(W);
  const unsigned part = blockIdx.x % 4, tile = blockIdx.x / 4;
  if (part < 3 && tile >= (unsigned)(s.tiles[part][0] * s.tiles[part][1] * s.tiles[part][2])) return;
  if (part == 0) velocity(&s, &r, 0, 1, 2, tile, x, b, y, keep, sign, W);
  if (part == 1) velocity(&s, &r, 1, 0, 2, tile, x, b, y, keep, sign, W);
  if (part == 2) velocity(&s, &r, 2, 0, 1, tile, x, b, y, keep, sign, W);
  if (part == 3) pressure(&s, &r, tile, x, b, y, keep, sign);
}
