/* y <- y + sign A x for the quadrature form of the diffusion operator on a box:
 *
 *   A = sum over cells of (B (x) B (x) B)' [ sum over d of D_d' diag(a w |J| / h_d^2) D_d + diag(c w |J|) ]
 *       (B (x) B (x) B)
 *
 * B takes Gauss-Lobatto nodes to the N = DEGREE + 1 Gauss points of a direction; D differentiates the polynomial
 * through these points.
 *
 * A block works on CELLS cells of one launch with N^(DIM-1) threads per cell. A thread holds one line of N values in
 * registers, in any direction; shared memory transposes between directions. The steps in 3D: z (load, B), y (B), x
 * (B, D'aD), y (D'aD), z (D'aD, B'), x (B'), y (B', add). Lines in x have one thread for each (y, z), and so on, x
 * fastest, so that loads and sums are coalesced.
 * Shared memory: point values U and their images W, with VARIABLE the coefficient too, each N^DIM numbers per cell in
 * rows of N | 1.
 * Work per point: nine even-odd products of a line, about 9 (N + 2) flops. Bytes per point: the coefficient and x are
 * read once; a result is added.
 * COLOURED: the cells of a launch share no nodes, and the launches follow one another, so that results have one
 * order. Otherwise one launch has all cells, and atomics add to nodes between cells.
 *
 * Macros: real, DIM, DEGREE, CELLS, THREADS, VARIABLE (a at the points; else a number), REACTION, COLOURED.
 * Tables: those of quadrature_lines.h, tesk_w (weights). */
#include "kernel.h"
#include "tables.h"
#include "quadrature_lines.h"
#include "quadrature_cell.h"

#define PX (N | 1)
#if DIM == 3
#define LINES (N * N)
#define ROWS (N * N)
#else
#define LINES N
#define ROWS N
#endif
#define SIZE (ROWS * PX) /* of one cell in shared memory */

/* r <- r + D' diag(a / h^2) D p along a line; a at its points. */
TESK_DEVICE void add_stiffness(const real *p, const real *a, real inverse_h2, real *r) {
  real g[N], s[N];
  derivative(p, g);
  TESK_UNROLL
  for (int i = 0; i < N; i++) g[i] *= a[i] * inverse_h2;
  derivative_transposed(g, s);
  TESK_UNROLL
  for (int i = 0; i < N; i++) r[i] += s[i];
}

/* a w |J| along a line: from shared memory, or the number times weights; `others` is the weight of the other
 * directions. */
TESK_DEVICE void line_coefficient(const real *A, int stride, real others, real *a) {
#if VARIABLE
  (void)others;
  TESK_UNROLL
  for (int i = 0; i < N; i++) a[i] = A[i * stride];
#else
  (void)A;
  (void)stride;
  TESK_UNROLL
  for (int i = 0; i < N; i++) a[i] = others * tesk_w(i);
#endif
}

/* The x-line: values to points, their image under D' a D and c. */
TESK_DEVICE void x_line(const TeskDiffusion *a, const Cell *cell, int row, real others, const real *A,
                        real *U, real *W) {
  real v[N], p[N], r[N], f[N];
  load_line(U, 1, v);
  to_points(v, p);
  TESK_UNROLL
  for (int i = 0; i < N; i++) r[i] = 0;
  line_coefficient(A, 1, others, f);
  add_stiffness(p, f, cell->inverse_h2[0], r);
#if REACTION
  if (cell->on) {
    const real *c = (const real *)a->c + (cell->points * ROWS + row) * N;
    TESK_UNROLL
    for (int i = 0; i < N; i++) r[i] += c[i] * p[i];
  }
#else
  (void)a;
  (void)row;
#endif
  store_line(p, 1, U);
  store_line(r, 1, W);
}

/* Adds a line in y of results to memory. */
TESK_DEVICE void add_line(const TeskDiffusion *a, const Cell *cell, int i, int l, const real *v, real *y) {
  if (!cell->on || is_fixed(a, cell, 0, i) || (DIM == 3 && is_fixed(a, cell, 2, l))) return;
  real *to = y + cell->node + (DIM == 3 ? l * a->plane : 0) + i;
  const real sign = (real)a->sign;
  const int inside = i > 0 && i < K && (DIM == 2 || (l > 0 && l < K));
  TESK_UNROLL
  for (int j = 0; j < N; j++) {
    if ((j == 0 || j == K) && is_fixed(a, cell, 1, j)) continue;
    real *const at = to + (long long)j * a->pitch;
    if (COLOURED || (inside && j > 0 && j < K))
      *at += sign * v[j];
    else
      TESK_ADD(at, sign * v[j]);
  }
}

TESK_KERNEL(tesk_quadrature, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskDiffusion)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x, c = t / LINES < CELLS ? t / LINES : CELLS - 1, i = t % N, j = t / N % N;
  const int on = t < CELLS * LINES;
  const Cell cell = make_cell(&a, (int)blockIdx.x * CELLS + c);
  real *const U = memory + c * SIZE, *const W = memory + (CELLS + c) * SIZE,
              *const A = memory + (2 * CELLS + c) * SIZE;
  const real size = (real)a.constant * cell.volume;
  real v[N], w[N];
  (void)j;
  (void)size;

#if VARIABLE
  if (on) {
    const real *from = (const real *)a.a + cell.points * ROWS * N;
    TESK_UNROLL
    for (int l = 0; l < N; l++)
      TESK_COPY(A + (l * (LINES / N) + j * (DIM == 3)) * PX + i, from + l * LINES + t % LINES, cell.on);
  }
#endif
#if DIM == 3
  if (on) { /* z: (i, j) */
    const real *from = x + cell.node + (long long)j * a.pitch + i;
    const int zero = !cell.on || is_fixed(&a, &cell, 0, i) || is_fixed(&a, &cell, 1, j);
    TESK_UNROLL
    for (int l = 0; l < N; l++)
      v[l] = zero || ((l == 0 || l == K) && is_fixed(&a, &cell, 2, l)) ? 0 : TESK_READ(from + l * a.plane);
    to_points(v, w);
    store_line(w, N * PX, U + j * PX + i);
  }
  __syncthreads();
  if (on) { /* y: (i, l = j) */
    load_line(U + j * N * PX + i, PX, v);
    to_points(v, w);
    store_line(w, PX, U + j * N * PX + i);
  }
#else
  if (on) { /* y: (i) */
    const real *from = x + cell.node + i;
    const int zero = !cell.on || is_fixed(&a, &cell, 0, i);
    TESK_UNROLL
    for (int l = 0; l < N; l++)
      v[l] = zero || ((l == 0 || l == K) && is_fixed(&a, &cell, 1, l))
                 ? 0
                 : TESK_READ(from + (long long)l * a.pitch);
    to_points(v, w);
    store_line(w, PX, U + i);
  }
#endif
#if VARIABLE
  TESK_COPY_WAIT();
#endif
  __syncthreads();
  const int row = t % LINES; /* x: (j, l) */
  if (on)
    x_line(&a, &cell, row, size * tesk_w(row % N) * (DIM == 3 ? tesk_w(row / N) : 1), A + row * PX,
           U + row * PX, W + row * PX);
  __syncthreads();
#if DIM == 3
  if (on) { /* y: (i, l = j) */
    const int at = j * N * PX + i;
    real f[N];
    load_line(U + at, PX, v);
    load_line(W + at, PX, w);
    line_coefficient(A + at, PX, size * tesk_w(i) * tesk_w(j), f);
    add_stiffness(v, f, cell.inverse_h2[1], w);
    store_line(w, PX, W + at);
  }
  __syncthreads();
  if (on) { /* z: (i, j) */
    const int at = j * PX + i;
    real f[N];
    load_line(U + at, N * PX, v);
    load_line(W + at, N * PX, w);
    line_coefficient(A + at, N * PX, size * tesk_w(i) * tesk_w(j), f);
    add_stiffness(v, f, cell.inverse_h2[2], w);
    to_nodes(w, v);
    store_line(v, N * PX, U + at);
  }
#else
  if (on) { /* y: (i) */
    real f[N];
    load_line(U + i, PX, v);
    load_line(W + i, PX, w);
    line_coefficient(A + i, PX, size * tesk_w(i), f);
    add_stiffness(v, f, cell.inverse_h2[1], w);
    store_line(w, PX, U + i);
  }
#endif
  __syncthreads();
  if (on) { /* x: (j, l) */
    load_line(U + row * PX, 1, v);
    to_nodes(v, w);
    store_line(w, 1, U + row * PX);
  }
  __syncthreads();
  if (on) { /* y: (i, l = j) */
    const int at = (DIM == 3 ? j * N * PX : 0) + i;
    load_line(U + at, PX, v);
    to_nodes(v, w);
    add_line(&a, &cell, i, j, w, y);
  }
}
