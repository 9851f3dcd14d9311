/* y <- A x or b - A x for the quadrature form with a varying coefficient on a box. The operator is the operator of
 * quadrature.cu; here each result is written once.
 *
 * A block owns TILE_X x TILE_Y columns of cells and marches up through `layers` layers of them. A thread holds one
 * line of a cell in registers, N values in any direction; shared memory transposes between directions. "|" is a
 * barrier; the buffers U and W alternate:
 *   z   a thread owns a column of nodes: K new values, B                                         -> U
 *   | y  B                                                                                     U -> W
 *   | x  B gives p; D' a D p (+ c p)                                                           W -> U (p)
 *   | results in x                                                                               -> W
 *       y: D' a D p in registers
 *   | y added                                                                                    -> W
 *       z: D' a D p in registers
 *   | z added, B', the part that the layer below left added                                      -> W
 *   | x  B': a cell's nodes but the last, then the last nodes of all cells of the row          W -> U
 *   | y  B' of a column of cells: results                                                      U -> y
 * Sums at nodes between cells of a block are formed in registers, or while the y-stage reads. Nodes on a block's
 * upper faces belong to its neighbours: their parts go to `faces` (tile_faces.h) and are added in one order. So there
 * are no atomics, no zeroing of y, and no halo. The coefficient and the nodes of the next layer are loaded during the
 * last two stages.
 *
 * Shared memory: U, W and the coefficient A, N^DIM TILE_X TILE_Y numbers each, rows of odd length. Numbers read or
 * written there per point: 17. Work per point: nine even-odd products, about 9 (N + 2) flops. Floor: per point the
 * coefficient, per unknown x once and y once. 2D: a tile without the z-stages.
 *
 * Macros: real, DIM, DEGREE, TILE_X, TILE_Y, THREADS, MIN_BLOCKS, REACTION, RESIDUAL. Tables: quadrature_lines.h. */
#include "kernel.h"
#include "tables.h"
#include "quadrature_arguments.h"
#include "quadrature_lines.h"
#define ARGUMENTS TeskDiffusion
#include "tile_faces.h"

#if DIM == 3
#define PLANES N  /* of points in a layer */
#define RESULTS K /* planes of nodes a layer gives */
#define CELL_ROWS (N * N)
#else
#define PLANES 1
#define RESULTS 1
#define CELL_ROWS N
#endif
#define QX (TILE_X * N) /* points */
#define QY (TILE_Y * N)
#define PX (QX | 1)
#define PL (QY * PX)
#define SIZE (PLANES * PL)
#define LINES (PLANES * QX * TILE_Y) /* of points of a layer, in any direction */

/* ---- coefficient and nodes from memory ----------------------------------------------------------------- */
/* A <- the layer's coefficient: thread t has one of N lines of a cell's last but one direction. */
TESK_DEVICE void copy_coefficient(const TeskDiffusion *a, const Block *block, int layer, int t, real *A) {
  if (t >= LINES) return;
  const int q = t % CELL_ROWS, c = t / CELL_ROWS, cx = c % TILE_X, cy = c / TILE_X;
  const int x = block->x0 + cx, y = block->y0 + cy, valid = x < a->cells[0] && y < a->cells[1];
  const long long cell = valid ? ((long long)layer * a->cells[1] + y) * a->cells[0] + x : 0;
  const real *from = (const real *)a->a + cell * (CELL_ROWS * N) + q;
  real *to = A + (cy * N + (DIM == 3 ? q / N : 0)) * PX + cx * N + q % N;
  TESK_UNROLL
  for (int l = 0; l < N; l++) TESK_COPY(to + l * (DIM == 3 ? PL : PX), from + l * CELL_ROWS, valid);
}

#if DIM == 3
/* A column of nodes: the next layer's values above the bottom plane on their way. */
typedef struct Column {
  const real *x; /* bottom of the next layer to load; NULL: zeros */
  real last, next[K];
} Column;

TESK_DEVICE void load_layer(const TeskDiffusion *a, Column *c, int layer) {
  TESK_UNROLL
  for (int l = 0; l < K; l++) {
    const int zero = !c->x || (l == K - 1 && layer == a->cells[2] - 1 && a->dirichlet[5]);
    c->next[l] = zero ? 0 : TESK_READ(c->x + (l + 1) * a->plane);
  }
  if (c->x) c->x += K * a->plane;
}

TESK_DEVICE void start_column(const TeskDiffusion *a, const Block *block, const real *x, int t, Column *c) {
  const int ix = block->x0 * K + t % NX, iy = block->y0 * K + t / NX;
  const int zero = t >= NX * NY || ix >= block->nodes[0] || iy >= block->nodes[1] ||
                   is_fixed(a, 0, ix, block->nodes[0]) || is_fixed(a, 1, iy, block->nodes[1]);
  c->x = zero ? 0 : x + (long long)block->z0 * K * a->plane + (long long)iy * a->pitch + ix;
  c->last = zero || (block->z0 == 0 && a->dirichlet[4]) ? 0 : TESK_READ(c->x);
  load_layer(a, c, block->z0);
}
#endif

/* ---- the stages ---------------------------------------------------------------------------------------- */
/* Values at nodes to points in y. */
TESK_DEVICE void y_points(int t, const real *from, real *to) {
  const int ix = t % NX, plane = t / NX % PLANES, c = t / NX / PLANES;
  real v[N], w[N];
  if (t >= NX * PLANES * TILE_Y) return;
  load_line(from + plane * PL + c * K * PX + ix, PX, v);
  to_points(v, w);
  store_line(w, PX, to + plane * PL + c * N * PX + ix);
}

/* s <- D' diag(a) D p along a line in shared memory. */
TESK_DEVICE void stiffness(const real *p, const real *a, int stride, real *s) {
  real g[N];
  derivative(p, g);
  TESK_UNROLL
  for (int i = 0; i < N; i++) g[i] *= a[i * stride];
  derivative_transposed(g, s);
}

/* r <- c p along the x-line of cell (x, y, layer) that lies in row `row` of its points. */
TESK_DEVICE void reaction(const TeskDiffusion *a, int x, int y, int layer, int row, const real *p, real *r) {
#if REACTION
  const int valid = x < a->cells[0] && y < a->cells[1];
  const real *c =
      (const real *)a->c + ((((long long)layer * a->cells[1] + y) * a->cells[0] + x) * CELL_ROWS + row) * N;
  TESK_UNROLL
  for (int i = 0; i < N; i++) r[i] += valid ? c[i] * p[i] : 0;
#else
  (void)a, (void)x, (void)y, (void)layer, (void)row, (void)p, (void)r;
#endif
}

/* From points to nodes in x, cell by cell: row -> nodes of all cells except the last nodes of cells, then these. */
TESK_DEVICE void x_nodes(int t, int planes, const real *from, real *to) {
  const int row = t % (planes * QY), c = t / (planes * QY);
  real v[N], w[N];
  if (t >= planes * QY * TILE_X) return;
  load_line(from + row * PX + c * N, 1, v);
  to_nodes(v, w);
  to += row * PX;
  TESK_UNROLL
  for (int l = 0; l < K; l++) to[c * K + l] = w[l];
  to[TILE_X * K + c] = w[K];
}

/* From points to nodes in y: column `t` of the `planes` planes of nodes from iz on, counted from the block's first. */
TESK_DEVICE void y_nodes(const TeskDiffusion *a, const Block *block, int t, int planes, int iz,
                         const real *from, real *y, const real *b) {
  const int ix = t % NX, plane = t / NX;
  if (t >= planes * NX || block->x0 * K + ix >= block->nodes[0]) return;
  const int shared = ix > 0 && ix < NX - 1 && ix % K == 0; /* by two cells */
  const int last = TILE_X * K + ix / K - 1;                /* of the cell to the left */
  Target target = make_target(a, block, ix, iz + plane, y, b);
  real carry = 0;
  from += plane * PL;
  TESK_UNROLL
  for (int c = 0; c < TILE_Y; c++) {
    real v[N], w[N];
    load_line(from + c * N * PX + (ix < NX - 1 ? ix : last), PX, v);
    if (shared) {
      TESK_UNROLL
      for (int l = 0; l < N; l++) v[l] += from[(c * N + l) * PX + last];
    }
    to_nodes(v, w);
    w[0] += carry;
    carry = w[K];
    put_cell(a, block, &target, (block->y0 + c) * K, w);
  }
  put_top(a, block, &target, carry);
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */
TESK_KERNEL(tesk_quadrature_tiles, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y,
            (const real *)b, (real *)faces, (TeskDiffusion)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x, on = t < LINES;
  real *U = memory, *W = memory + SIZE, *const A = memory + 2 * SIZE;
  const Block block = make_block(&a, faces);
  /* this thread's x-line: row of the tile, cell; its y-line: x and plane, cell; its z-line */
  const int row = t % (PLANES * QY), cell_x = t / (PLANES * QY), cell_y = t / (PLANES * QX);
  const int x_at = row * PX + cell_x * N, y_at = t / QX % PLANES * PL + cell_y * N * PX + t % QX;
  real inverse_h2[2];
  {
    const int x_cell = block.x0 + cell_x, y_cell = block.y0 + cell_y;
    const real hx = x_cell < a.cells[0] ? ((const real *)a.h[0])[x_cell] : 1,
               hy = y_cell < a.cells[1] ? ((const real *)a.h[1])[y_cell] : 1;
    inverse_h2[0] = 1 / (hx * hx);
    inverse_h2[1] = 1 / (hy * hy);
  }
  copy_coefficient(&a, &block, block.z0, t, A);
#if DIM == 3
  const int z_at = t / QX * PX + t % QX;
  real carry = 0;
  Column column;
  start_column(&a, &block, x, t, &column);
  for (int layer = block.z0; layer < block.z1; layer++) {
    if (t < NX * NY) {
      real v[N], w[N];
      v[0] = column.last;
      TESK_UNROLL
      for (int l = 0; l < K; l++) v[l + 1] = column.next[l];
      column.last = v[K];
      to_points(v, w);
      store_line(w, PL, U + t / NX * PX + t % NX);
    }
#else
  const int layer = 0;
  {
    for (int i = t; i < NX * NY; i += THREADS) {
      const int ix = block.x0 * K + i % NX, iy = block.y0 * K + i / NX;
      const int zero = ix >= block.nodes[0] || iy >= block.nodes[1] || is_fixed(&a, 0, ix, block.nodes[0]) ||
                       is_fixed(&a, 1, iy, block.nodes[1]);
      U[i / NX * PX + i % NX] = zero ? 0 : TESK_READ(x + (long long)iy * a.pitch + ix);
    }
#endif
    __syncthreads();
    y_points(t, U, W);
    TESK_COPY_WAIT();
    __syncthreads();
    real p[N], r[N];
    if (on) { /* x */
      real v[N];
      load_line(W + x_at - cell_x, 1, v); /* nodes: K per cell, not N */
      to_points(v, p);
      store_line(p, 1, U + x_at);
      stiffness(p, A + x_at, 1, r);
      TESK_UNROLL
      for (int i = 0; i < N; i++) r[i] *= inverse_h2[0];
      reaction(&a, block.x0 + cell_x, block.y0 + row % QY / N, layer, row / QY * N * (DIM == 3) + row % N, p,
               r);
    }
    __syncthreads();
    if (on) { /* y */
      store_line(r, 1, W + x_at);
      load_line(U + y_at, PX, p);
      stiffness(p, A + y_at, PX, r);
    }
    __syncthreads();
    if (on) {
      TESK_UNROLL
      for (int i = 0; i < N; i++) W[y_at + i * PX] += inverse_h2[1] * r[i];
#if DIM == 3
      load_line(U + z_at, PL, p);
      stiffness(p, A + z_at, PL, r);
#endif
    }
    __syncthreads();
#if DIM == 3
    if (on) { /* z */
      const real h = ((const real *)a.h[2])[layer], inverse = 1 / (h * h);
      TESK_UNROLL
      for (int i = 0; i < N; i++) p[i] = W[z_at + i * PL] + inverse * r[i];
      to_nodes(p, r);
      r[0] += carry;
      carry = r[K];
      TESK_UNROLL
      for (int l = 0; l < K; l++) W[z_at + l * PL] = r[l];
    }
    if (layer + 1 < block.z1) {
      copy_coefficient(&a, &block, layer + 1, t, A);
      load_layer(&a, &column, layer + 1);
    }
    __syncthreads();
#endif
    x_nodes(t, RESULTS, W, U);
    __syncthreads();
    y_nodes(&a, &block, t, RESULTS, (layer - block.z0) * RESULTS, U, y, b);
#if DIM == 3
    real *const other = U;
    U = W;
    W = other;
  }
  if (on) U[z_at] = carry; /* the upper plane of the last layer */
  __syncthreads();
  x_nodes(t, 1, U, W);
  __syncthreads();
  y_nodes(&a, &block, t, 1, (block.z1 - block.z0) * K, W, y, b);
#else
  }
#endif
}
