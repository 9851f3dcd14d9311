/* A colour of vertex patches of a Stokes problem in 3D, with its residual, in one launch: y <- x, and in the patches
 * x_I <- the solution of K_II x_I = b_I - K_IB x_B (src/operator/stokes/stokes_local.h), the mean of the pressure of
 * a patch is kept. The old values inside are not read, except at walls (EVEN). For walls and periodic directions,
 * equal cells, alpha >= 0; N1 = k + 1 up to 5.
 *
 * A lane is a patch: a block owns LANES patches of one kind, and a thread works on a plane (transverse modes) or a
 * line of one patch. Shared memory is [number][lane], so that there are no bank conflicts. Global memory is ordered
 * by classes of cells (stokes_arguments.h), so that all reads and writes are side by side. With N = 2 n modes and
 * M = 2 n - 1 nodes of a patch, component c has its own direction c; a and b are the others:
 *   planes  j = 0 .. 2 n: w = M^-1 b (prepared for the patch) - nu Ld u of the four neighbours across, and u itself at
 *           both ends, to modes in a and b; pressures: g likewise
 *   lines   F^ = (Zc' M w + ends) / Lam; q -= G F^ + G_e u_e, component after component
 *   S^+     p = S^+ q by parity blocks (stokes_lanes_inverse.h)
 *   lines   u^ = F^ + G' p / Lam, back along c; pressures back along x
 *   planes  back along a and b, written
 * Shared memory: LANES (3 (N + 3) (N P + 1) + N (N (N + 1) + 1)) numbers, P = N, of rows N + 1, and the tables of
 * the kinds. Bytes per colour and unknown: u and b read, u and p written, about 12 in float32. Flops per patch
 * (multiplications and additions), n = 2, 3, 4, 5: 18, 98, 330, 860 thousand, of which S^+ takes 16 n^6.
 * Registers and bytes of shared memory: docs/stokes.md.
 *
 * In x a few lanes may be of another kind than the block. They have their own tables, and their product with S^+
 * follows the product of the other lanes. So rows of patches along x, which lie side by side in memory, need not be
 * split at walls.
 *
 * HELD: S^+ is copied to shared memory while planes are loaded. This helps where multiprocessors are idle: the time
 * is then the time of one block, which would wait for the L2 cache.
 * LINES: registers hold only a row of a plane (stokes_lanes_rows.h, else stokes_lanes_planes.h).
 * INNER: inner patches of cubes have their own path, whose tables are kernel arguments.
 * EVEN: modes of all patches are even or odd. The even and the odd part of a line are each multiplied by half of a
 * table, which saves a quarter of all flops for n = 3. Patches at walls are solved as if the other end had the same
 * wall, so that their S^+ is as small as the S^+ of other patches. At that end the difference between Ld and the
 * local matrix (AT_OWN), times the old values, goes to the right-hand side.
 * Macros: real, N1, LANES, THREADS, BLOCKS, TILE, LINES, INNER, EVEN, HELD (only with EVEN), PIECE, WIDTH, PLAIN. */
#include "kernel.h"
#if LINES
#include "stokes_lanes_rows.h"
#else
#include "stokes_lanes_planes.h"
#endif
#include "stokes_lanes_inverse.h"

/* ---- lines --------------------------------------------------------------------------------------------- */

/* lambda of the transverse modes a, b of component c. */
TESK_DEVICE real across(const Place *p, int c, int a, int b, real alpha) {
  const int d = c == 2 ? 0 : c + 1, e = c == 0 ? 2 : c - 1;
  return *table_of(p, d, AT_LD + a) + *table_of(p, e, AT_LD + b) + alpha;
}

TESK_DEVICE int line_in_q(int c, int a, int b) {
  const int d = c == 2 ? 0 : c + 1, e = c == 0 ? 2 : c - 1;
  return a * step_of(d) + b * step_of(e);
}

/* F^ of a line, written to the places of its nodes 1 .. M, and the line's part of q. */
TESK_DEVICE void line_in(const Place *p, int c, int ab, real alpha, real *U, real *Q) {
  const real *T = matrix_of(p, c, 0);
  real *u = U + (c * PLANES + ab / N * PITCH + ab % N) * LANES + p->lane,
       *q = Q + line_in_q(c, ab / N, ab % N) * LANES + p->lane;
  const int step = step_of(c) * LANES, plane = PLANE * LANES;
  const real lambda = across(p, c, ab / N, ab % N, alpha), low = u[(N + 1) * plane],
             high = u[(N + 2) * plane], end_low = u[0] - lambda * low, end_high = u[N * plane] - lambda * high;
  real w[M], F[M], g[N], sum[N];
  TESK_UNROLL
  for (int i = 0; i < M; i++) w[i] = u[(1 + i) * plane];
  TESK_UNROLL
  for (int i = 0; i < N; i++) sum[i] = q[i * step];
  to_node_modes(p, c, w, F);
  TESK_UNROLL
  for (int m = 0; m < M; m++) {
    const Four end = *(const Four *)(T + AT_ENDS + 4 * m);
    F[m] += end.v[0] * end_low + end.v[1] * end_high - end.v[2] * low - end.v[3] * high;
    F[m] *= TESK_RECIPROCAL(T[AT_LC + m] + lambda);
    u[(1 + m) * plane] = F[m];
  }
  to_divergence(p, c, F, g);
  if (c == 0) { /* the line of g, transformed to modes along x */
    real of[N];
    to_modes(p, 0, sum, of);
    TESK_UNROLL
    for (int i = 0; i < N; i++) sum[i] = -of[i];
  }
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    const Four end = *(const Four *)(T + AT_GE + 4 * i);
    q[i * step] = sum[i] - g[i] - end.v[0] * low - end.v[1] * high;
  }
}

/* u^ of a line, transformed back along its direction. */
TESK_DEVICE void line_out(const Place *p, int c, int ab, real alpha, real *U, const real *Q) {
  const real *T = matrix_of(p, c, 0), *q = Q + line_in_q(c, ab / N, ab % N) * LANES + p->lane;
  real *u = U + (c * PLANES + PLANE + ab / N * PITCH + ab % N) * LANES + p->lane;
  const int step = step_of(c) * LANES, plane = PLANE * LANES;
  const real lambda = across(p, c, ab / N, ab % N, alpha);
  real pressure[N], g[M];
  TESK_UNROLL
  for (int i = 0; i < N; i++) pressure[i] = q[i * step];
  to_gradient(p, c, pressure, g);
  TESK_UNROLL
  for (int m = 0; m < M; m++) g[m] = u[m * plane] + g[m] * TESK_RECIPROCAL(T[AT_LC + m] + lambda);
  real v[M];
  from_node_modes(p, c, g, v);
  TESK_UNROLL
  for (int m = 0; m < M; m++) u[m * plane] = v[m];
}

/* Transforms the pressure's line along x back, into planes of U that are free by then. */
TESK_DEVICE void pressure_out(const Place *p, int ab, real *U, const real *Q) {
  const real *const q = Q + line_in_q(0, ab / N, ab % N) * LANES + p->lane;
  real *const u = U + (ab / N * PITCH + ab % N) * LANES + p->lane;
  real from[N], to[N];
  TESK_UNROLL
  for (int i = 0; i < N; i++) from[i] = q[i * SX * LANES];
  from_modes(p, 0, from, to);
  TESK_UNROLL
  for (int i = 0; i < N; i++) u[spare_plane(i) * LANES] = to[i];
}

/* ---- the kernels --------------------------------------------------------------------------------------- */

/* Copies cells that are in no patch of the colour. A thread loads PIECE numbers of a cell before it writes the first,
 * since loads and stores of two vectors keep their order. */
TESK_DEVICE void copy_cells(const int *cells, int count, int block, const real *x, real *y) {
  const int id = block * THREADS + (int)threadIdx.x, piece = id / count;
  real v[PIECE];
  if (piece >= VALUES / PIECE) return;
  const int place = cells[id - piece * count] + piece * (PIECE * G);
  TESK_UNROLL
  for (int i = 0; i < PIECE; i++) v[i] = TESK_READ(x + place + i * G);
  TESK_UNROLL
  for (int i = 0; i < PIECE; i++) y[place + i * G] = v[i];
}

/* All steps of a block for its patches. inverse: S^+, with HELD, once it has arrived. */
TESK_DEVICE void solve(const Place *p, const TeskLanes *s, const TeskLanesBlock *block,
                       const TeskLanesVectors *v, const real *inverse, TeskArrival *arrival, real *U, real *Q) {
  const real alpha = (real)s->alpha;
  const int later = p->one && !LINES; /* whole planes of inner patches need none of the copied tables */
  if (!later) TESK_ARRIVED(&arrival[0], 0);
  load_planes(p, v, U, Q);
  __syncthreads();
  if (later) TESK_ARRIVED(&arrival[0], 0);
  for (int c = 0; c < 3; c++) {
    for (int t = p->task; t < N * N; t += TASKS) line_in(p, c, t, alpha, U, Q);
    __syncthreads();
  }
  if (HELD) TESK_ARRIVED(&arrival[1], 0);
  multiply_inverse(p, s, block, HELD ? inverse : (const real *)block->inverse[0], Q);
  for (int t = p->task; t < 4 * N * N; t += TASKS) {
    const int c = t / (N * N), ab = t % (N * N);
    if (c < 3)
      line_out(p, c, ab, alpha, U, Q);
    else
      pressure_out(p, ab, U, Q);
  }
  __syncthreads();
  store_planes(p, p->lanes[TESK_LANES_EXISTS * LANES + p->lane], v, U);
}

/* One thread starts the copies of tables and, with HELD, of S^+ to shared memory. It reads all it needs of the block
 * at once, since the other threads wait for it. */
TESK_DEVICE void start_copies(const TeskLanes *s, const TeskLanesBlock *block, real *table, real *inverse,
                              TeskArrival *arrival) {
  const long long bytes = TABLE * (long long)sizeof(real);
  const int count = 3 + block->others, swapped = block->swapped;
  const int kind[TESK_LANES_TABLES] = {block->kind[0], block->kind[1], block->kind[2], block->other[0],
                                       block->other[1]};
  const void *const of = block->inverse[0];
  TESK_EXPECT_NONE(&arrival[0]);
  TESK_EXPECT_NONE(&arrival[1]);
  TESK_EXPECT(&arrival[0], count * bytes);
  TESK_UNROLL
  for (int t = 0; t < TESK_LANES_TABLES; t++)
    if (t < count)
      TESK_BULK(table + t * TABLE, (const real *)s->numbers[t < 3 ? t : 0] + kind[t] * TABLE, bytes,
                &arrival[0]);
  if (HELD) {
    const long long size = (swapped ? 4 * SWAPPED_SIZE : PLAIN_SIZE) * (long long)sizeof(real);
    TESK_EXPECT(&arrival[1], size);
    TESK_BULK(inverse, of, size, &arrival[1]);
  }
}

TESK_KERNEL(tesk_stokes_lanes, THREADS, BLOCKS, (TeskLanes)s, (TeskLanesLists)lists, (TeskLanesVectors)v,
            (Inner)inner) {
  TESK_SHARED(U); /* planes of the components, q, tables, S^+, arrivals, numbers of the lanes */
  real *const Q = U + 3 * PLANES * LANES, *const table = Q + (N * SX + 3) / 4 * 4 * LANES,
              *const inverse = table + TESK_LANES_TABLES * TABLE;
  TeskArrival *const arrival = (TeskArrival *)(inverse + (HELD ? PLAIN_SIZE : 0));
  int *const lanes = (int *)(arrival + 2);
  if ((int)blockIdx.x >= lists.count) {
    copy_cells(lists.cells, lists.copies, (int)blockIdx.x - lists.count, (const real *)v.x, (real *)v.y);
    return;
  }
  const TeskLanesBlock *const block = lists.blocks + blockIdx.x;
  const int tid = (int)threadIdx.x, lane = tid % LANES, is_inner = INNER && block->inner;
  if (tid == THREADS - 1) start_copies(&s, block, table, inverse, arrival);
  for (int i = tid; i < LANE_NUMBERS; i += THREADS)
    lanes[i] = TESK_READ(lists.lanes + blockIdx.x * LANE_NUMBERS + i);
  __syncthreads();
  if (is_inner) {
    const Place p = {lane, tid / LANES, lanes, table, inner.v, 0, 1, 1, -1, -1, -1};
    solve(&p, &s, block, &v, inverse, arrival, U, Q);
  } else {
    const int kind = lanes[TESK_LANES_KIND * LANES + lane], far = lanes[TESK_LANES_FAR * LANES + lane];
    const Place p = {lane, tid / LANES, lanes, table,         table,        kind ? 2 + kind : 0,
                     EVEN, 0,           far,   block->far[1], block->far[2]};
    solve(&p, &s, block, &v, inverse, arrival, U, Q);
  }
}
