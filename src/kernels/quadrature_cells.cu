/* The operator of quadrature_tiles.cu in 3D for low degrees: a thread has a whole cell in registers, values p and
 * results r at its N^3 points, so that none of the nine products needs shared memory.
 *
 * A block owns TILE_X x TILE_Y columns of cells, one per thread, x fastest, and marches up. Sums at common nodes:
 * upwards a thread keeps them for its next layer; in x, then in y it passes its upper edge to its neighbour through
 * shared memory, two barriers per layer. Upper faces of a block go to `faces` (tile_faces.h). Nodes and coefficient
 * of the next layer are copied to shared memory without registers: nodes to three alternating buffers of K planes (a
 * layer's lowest plane is the highest plane of the layer below), coefficients to two, with an odd pitch per cell.
 *
 * Numbers in shared memory per cell and layer: coefficient N^3 written, 3 N^3 read; nodes about K^3 written, N^3
 * read; edges 4 K N. Floor and macros: as quadrature_tiles.cu, THREADS = TILE_X TILE_Y. */
#include "kernel.h"
#include "tables.h"
#include "quadrature_arguments.h"
#include "quadrature_lines.h"
#define ARGUMENTS TeskDiffusion
#include "tile_faces.h"

#define POINTS (N * N * N)
#define PITCH_A (POINTS | 1)
#define SIZE_A (THREADS * PITCH_A)
#define PLANE_X (NX * NY)
#define SIZE_X (K * PLANE_X)
#define SIZE_E (THREADS * K * N) /* edges of one direction */

/* ---- from memory --------------------------------------------------------------------------------------- */
TESK_DEVICE void copy_coefficient(const TeskDiffusion *a, const Block *block, int layer, int t, real *A) {
  for (int m = 0; m < POINTS; m++) {
    const int e = t + m * THREADS, row = e / (TILE_X * POINTS), rest = e % (TILE_X * POINTS),
              c = rest / POINTS, y = block->y0 + row;
    const int valid = block->x0 + c < a->cells[0] && y < a->cells[1];
    const long long first = valid ? ((long long)layer * a->cells[1] + y) * a->cells[0] + block->x0 : 0;
    TESK_COPY(A + (row * TILE_X + c) * PITCH_A + rest % POINTS,
              (const real *)a->a + first * POINTS + (valid ? rest : 0), valid);
  }
}

/* One plane of nodes, z of the whole box. */
TESK_DEVICE void copy_plane(const TeskDiffusion *a, const Block *block, const real *x, int z, int t, real *X) {
  for (int i = t; i < PLANE_X; i += THREADS) {
    const int ix = block->x0 * K + i % NX, iy = block->y0 * K + i / NX;
    const int zero = ix >= block->nodes[0] || iy >= block->nodes[1] || is_fixed(a, 0, ix, block->nodes[0]) ||
                     is_fixed(a, 1, iy, block->nodes[1]) || is_fixed(a, 2, z, block->nodes[2]);
    TESK_COPY(X + i, x + (zero ? 0 : z * a->plane + (long long)iy * a->pitch + ix), !zero);
  }
}

TESK_DEVICE void copy_layer(const TeskDiffusion *a, const Block *block, const real *x, int layer, int t,
                            real *X) {
  for (int l = 0; l < K; l++) copy_plane(a, block, x, layer * K + l + 1, t, X + l * PLANE_X);
}

/* ---- a cell in registers ------------------------------------------------------------------------------- */
/* Line (a, b) of direction d. */
#define LINE(d, a, b) ((d) == 0 ? ((a)*N + (b)) * N : (d) == 1 ? (a)*N * N + (b) : (a)*N + (b))
#define STEP(d) ((d) == 0 ? 1 : (d) == 1 ? N : N * N)

TESK_DEVICE void read_line(const real *p, int at, int step, real *v) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) v[i] = p[at + i * step];
}

TESK_DEVICE void write_line(const real *v, int at, int step, real *p) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) p[at + i * step] = v[i];
}

TESK_DEVICE void interpolate(real *p) {
  TESK_UNROLL
  for (int d = 0; d < 3; d++) TESK_UNROLL
  for (int i = 0; i < N; i++) TESK_UNROLL
  for (int j = 0; j < N; j++) {
    real v[N], w[N];
    read_line(p, LINE(d, i, j), STEP(d), v);
    to_points(v, w);
    write_line(w, LINE(d, i, j), STEP(d), p);
  }
}

TESK_DEVICE void interpolate_transposed(real *r) {
  TESK_UNROLL
  for (int d = 0; d < 3; d++) TESK_UNROLL
  for (int i = 0; i < N; i++) TESK_UNROLL
  for (int j = 0; j < N; j++) {
    real v[N], w[N];
    read_line(r, LINE(d, i, j), STEP(d), v);
    to_nodes(v, w);
    write_line(w, LINE(d, i, j), STEP(d), r);
  }
}

/* r <- r + sum over d of D_d' a / h_d^2 D_d p */
TESK_DEVICE void add_stiffness(const real *p, const real *a, const real *inverse_h2, real *r) {
  TESK_UNROLL
  for (int d = 0; d < 3; d++) TESK_UNROLL
  for (int i = 0; i < N; i++) TESK_UNROLL
  for (int j = 0; j < N; j++) {
    real v[N], g[N], s[N];
    read_line(p, LINE(d, i, j), STEP(d), v);
    derivative(v, g);
    read_line(a, LINE(d, i, j), STEP(d), v);
    TESK_UNROLL
    for (int l = 0; l < N; l++) g[l] *= v[l];
    derivative_transposed(g, s);
    TESK_UNROLL
    for (int l = 0; l < N; l++) r[LINE(d, i, j) + l * STEP(d)] += inverse_h2[d] * s[l];
  }
}

TESK_DEVICE void start_results(const TeskDiffusion *a, const real *p, int valid, long long cell, real *r) {
  TESK_UNROLL
  for (int q = 0; q < POINTS; q++) {
#if REACTION
    r[q] = valid ? ((const real *)a->c)[cell * POINTS + q] * p[q] : 0;
#else
    (void)a, (void)p, (void)valid, (void)cell;
    r[q] = 0;
#endif
  }
}

/* ---- what cells share ---------------------------------------------------------------------------------- */
/* Passes on the upper edges of `planes` planes of results, in x, then in y; E: two arrays of edges. */
TESK_DEVICE void pass_x(int t, int planes, real *r, real *E) {
  TESK_UNROLL
  for (int i = 0; i < planes * N; i++) E[i * THREADS + t] = r[i * N + K];
}

TESK_DEVICE void take_x(int t, int planes, real *r, const real *E) {
  if (t % TILE_X == 0) return;
  TESK_UNROLL
  for (int i = 0; i < planes * N; i++) r[i * N] += E[i * THREADS + t - 1];
}

TESK_DEVICE void pass_y(int t, int planes, real *r, real *E) {
  TESK_UNROLL
  for (int l = 0; l < planes; l++) TESK_UNROLL
  for (int i = 0; i < N; i++) E[(l * N + i) * THREADS + t] = r[(l * N + K) * N + i];
}

TESK_DEVICE void take_y(int t, int planes, real *r, const real *E) {
  if (t < TILE_X) return;
  TESK_UNROLL
  for (int l = 0; l < planes; l++) TESK_UNROLL
  for (int i = 0; i < N; i++) r[l * N * N + i] += E[(l * N + i) * THREADS + t - TILE_X];
}

/* Results of `planes` planes from iz on, counted from the block's first: nodes of the cell but the upper ones,
 * which only the last cells of a block still have. */
TESK_DEVICE void store_results(const TeskDiffusion *a, const Block *block, int t, int planes, int iz,
                               const real *r, real *y, const real *b) {
  const int cx = t % TILE_X, cy = t / TILE_X;
  TESK_UNROLL
  for (int l = 0; l < planes; l++) TESK_UNROLL
  for (int i = 0; i < N; i++) {
    const int ix = cx * K + i, x = block->x0 * K + ix;
    if ((i == K && cx < TILE_X - 1) || x >= block->nodes[0]) continue;
    Target target = make_target(a, block, ix, iz + l, y, b);
    real v[K];
    TESK_UNROLL
    for (int j = 0; j < K; j++) v[j] = r[(l * N + j) * N + i];
    target.to += cy * K * target.step;
    if (RESIDUAL) target.b += cy * K * target.step;
    put_cell(a, block, &target, (block->y0 + cy) * K, v);
    if (cy == TILE_Y - 1) put_top(a, block, &target, r[(l * N + K) * N + i]);
  }
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */
TESK_KERNEL(tesk_quadrature_tiles, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y,
            (const real *)b, (real *)faces, (TeskDiffusion)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x, cx = t % TILE_X, cy = t / TILE_X;
  real *const A = memory, *const X = A + 2 * SIZE_A, *const E = X + 3 * SIZE_X;
  const Block block = make_block(&a, faces);
  const int x_cell = block.x0 + cx, y_cell = block.y0 + cy, valid = x_cell < a.cells[0] && y_cell < a.cells[1];
  real carry[N * N], r[POINTS], inverse_h2[3];
  const real hx = valid ? ((const real *)a.h[0])[x_cell] : 1, hy = valid ? ((const real *)a.h[1])[y_cell] : 1;
  inverse_h2[0] = 1 / (hx * hx);
  inverse_h2[1] = 1 / (hy * hy);
  TESK_UNROLL
  for (int i = 0; i < N * N; i++) carry[i] = 0;
  int turn = 0; /* the buffer of nodes below this layer's */
  copy_coefficient(&a, &block, block.z0, t, A);
  copy_plane(&a, &block, x, block.z0 * K, t, X + (K - 1) * PLANE_X);
  copy_layer(&a, &block, x, block.z0, t, X + SIZE_X);
  TESK_COPY_WAIT();
  __syncthreads();
  for (int layer = block.z0; layer < block.z1; layer++) {
    const int next = turn == 2 ? 0 : turn + 1, after = next == 2 ? 0 : next + 1, odd = (layer - block.z0) % 2;
    const real *below = X + turn * SIZE_X + (K - 1) * PLANE_X, *above = X + next * SIZE_X;
    const real h = ((const real *)a.h[2])[layer];
    real p[POINTS];
    inverse_h2[2] = 1 / (h * h);
    if (layer + 1 < block.z1) {
      copy_coefficient(&a, &block, layer + 1, t, A + !odd * SIZE_A);
      copy_layer(&a, &block, x, layer + 1, t, X + after * SIZE_X);
    }
    TESK_UNROLL
    for (int l = 0; l < N; l++) TESK_UNROLL
    for (int j = 0; j < N; j++) TESK_UNROLL
    for (int i = 0; i < N; i++)
      p[(l * N + j) * N + i] = (l ? above + (l - 1) * PLANE_X : below)[(cy * K + j) * NX + cx * K + i];
    interpolate(p);
    start_results(&a, p, valid, ((long long)layer * a.cells[1] + y_cell) * a.cells[0] + x_cell, r);
    add_stiffness(p, A + odd * SIZE_A + t * PITCH_A, inverse_h2, r);
    interpolate_transposed(r);
    TESK_UNROLL
    for (int i = 0; i < N * N; i++) {
      r[i] += carry[i];
      carry[i] = r[K * N * N + i];
    }
    pass_x(t, K, r, E);
    __syncthreads();
    take_x(t, K, r, E);
    pass_y(t, K, r, E + SIZE_E);
    TESK_COPY_WAIT();
    __syncthreads();
    take_y(t, K, r, E + SIZE_E);
    store_results(&a, &block, t, K, (layer - block.z0) * K, r, y, b);
    turn = next;
  }
  /* the upper plane of the last layer */
  pass_x(t, 1, carry, E);
  __syncthreads();
  take_x(t, 1, carry, E);
  pass_y(t, 1, carry, E + SIZE_E);
  __syncthreads();
  take_y(t, 1, carry, E + SIZE_E);
  store_results(&a, &block, t, 1, (block.z1 - block.z0) * K, carry, y, b);
}
