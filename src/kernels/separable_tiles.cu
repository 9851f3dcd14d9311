/* The separable operator of separable.cu in 3D for equal cells and Dirichlet faces, without a halo in y. A block
 * computes the contributions of its own cells and leaves its upper faces to its neighbours (tile_faces.h). In x it
 * does the same, or has a halo of one cell (HALO). "|" is a barrier:
 *
 *   z    a thread owns a column of nodes: f1 = Mz x, f2 = (Kz + c Mz) x of a layer,
 *        plus the contribution of the layer below                                              -> F
 *   | x  a cell of a row: g1 = Mx f1, g2 = Mx f2 + Kx f1, for its nodes but the last,
 *        then the last nodes of all cells                                                      F -> G
 *   | y  a column of cells: My g2 + Ky g1                                                      G -> y
 * Two barriers per layer; the next layer's nodes are loaded during the last two stages.
 *
 * Shared memory: two arrays each of K NY NX (F) and K NY (TILE_X N) numbers (G). Multiply-adds per point: about
 * 7 N / 2 + 8. separable.cu repeats work in its halo, 1.5 to 2.2 times; this kernel has 8 numbers of traffic per node
 * of a block's faces instead.
 * Macros: real, DIM = 3, DEGREE, TILE_X, TILE_Y, HALO, THREADS, MIN_BLOCKS, RESIDUAL. Tables:
 * src/basis/kernel_tables.h. */
#include "kernel.h"
#include "tables.h"
#include "separable_arguments.h"
#include "separable_lines.h"
#define ARGUMENTS TeskLaplace
#include "tile_faces.h"

#define N (K + 1)
#define PITCH_F (NX | 1)
#define PLANE_F (NY * PITCH_F)
#define PITCH_G (TILE_X * N | 1)
/* Planes of G go on in the bank where the columns of the plane before end. */
#define PLANE_G (NY * PITCH_G + (32 + NX - NY * PITCH_G % 16) % 16)
#define SIZE_F (K * PLANE_F)
#define SIZE_G (K * PLANE_G)

/* A column of nodes. */
typedef struct Column {
  const real *x;   /* bottom of the next layer to load; NULL outside the box */
  real last, m, k; /* of the layer below: top value and contribution to the shared plane */
  real next[K];
} Column;

TESK_DEVICE void load_layer(const TeskLaplace *a, Column *c) {
  TESK_UNROLL
  for (int l = 0; l < K; l++) c->next[l] = c->x ? TESK_READ(c->x + (l + 1) * a->plane) : 0;
  if (c->x) c->x += K * a->plane;
}

TESK_DEVICE void start_column(const TeskLaplace *a, const Block *block, const real *x, int t, Column *c) {
  const int ix = block->x0 * K + t % NX, iy = block->y0 * K + t / NX;
  const int inside = t < NX * NY && ix >= 0 && ix < block->nodes[0] && iy < block->nodes[1];
  c->x = inside ? x + (long long)block->z0 * K * a->plane + (long long)iy * a->pitch + ix : 0;
  c->last = inside ? TESK_READ(c->x) : 0;
  c->m = c->k = 0;
  load_layer(a, c);
}

TESK_DEVICE void z_stage(const TeskLaplace *a, Column *c, real *f1, real *f2) {
  real v[N], e[H], o[O], m[N], k[N];
  v[0] = c->last;
  TESK_UNROLL
  for (int l = 0; l < K; l++) v[l + 1] = c->next[l];
  c->last = v[K];
  fold(v, e, o);
  mass(e, o, 1, 0, m);
  stiffness(e, o, (real)a->zk, 0, k);
  TESK_UNROLL
  for (int l = 0; l < N; l++) k[l] += (real)a->zc * m[l];
  m[0] += c->m;
  k[0] += c->k;
  c->m = m[K];
  c->k = k[K];
  TESK_UNROLL
  for (int l = 0; l < K; l++) {
    f1[l * PLANE_F] = m[l];
    f2[l * PLANE_F] = k[l];
  }
}

/* One cell of a row of the first `planes` planes. */
TESK_DEVICE void x_stage(const TeskLaplace *a, int t, int planes, const real *F, real *G) {
  const int row = t % (planes * NY), c = t / (planes * NY), at = row / NY * PLANE_G + row % NY * PITCH_G;
  real v[N], e1[H], o1[O], e2[H], o2[O], m[N], k[N];
  if (t >= planes * NY * TILE_X) return;
  F += row * PITCH_F + c * K;
  G += at;
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = F[l];
  fold(v, e1, o1);
  stiffness(e1, o1, 1, 0, k);
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = F[SIZE_F + l];
  fold(v, e2, o2);
  mass_twice(e1, o1, (real)a->xr, m, e2, o2, 1, k);
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
    const int to = l < K ? c * K + l : TILE_X * K + c;
    G[to] = m[l];
    G[SIZE_G + to] = k[l];
  }
}

/* A line in y: values at x-nodes that two cells share are the sum of two. */
TESK_DEVICE void load_sums(const real *from, int ix, real *v) {
  const int last = TILE_X * K + ix / K - 1; /* of the cell to the left */
  const int own = ix < NX - 1 ? ix : last;
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = from[l * PITCH_G + own];
  if (ix > 0 && ix < NX - 1 && ix % K == 0) {
    TESK_UNROLL
    for (int l = 0; l < N; l++) v[l] += from[l * PITCH_G + last];
  }
}

/* Column t of the `planes` planes of nodes from iz on, counted from the block's first. */
TESK_DEVICE void y_stage(const TeskLaplace *a, const Block *block, int t, int planes, int iz, const real *G,
                         real *y, const real *b) {
  const int ix = t % NX, plane = t / NX;
  if (t >= planes * NX || block->x0 * K + ix >= block->nodes[0]) return;
  if (HALO && (ix < K || (ix == NX - 1 && block->inner[0]))) return; /* a neighbour's */
  Target target = make_target(a, block, ix, iz + plane, y, b);
  const real scale = (real)a->scale;
  real carry = 0;
  G += plane * PLANE_G;
  TESK_UNROLL
  for (int c = 0; c < TILE_Y; c++) {
    real v[N], e[H], o[O], out[N];
    load_sums(G + SIZE_G + c * K * PITCH_G, ix, v);
    fold(v, e, o);
    mass(e, o, 1, 0, out);
    load_sums(G + c * K * PITCH_G, ix, v);
    fold(v, e, o);
    stiffness(e, o, 1, 1, out);
    out[0] += carry;
    carry = out[K];
    TESK_UNROLL
    for (int l = 0; l < K; l++) out[l] *= scale;
    put_cell(a, block, &target, (block->y0 + c) * K, out);
  }
  put_top(a, block, &target, scale * carry);
}

TESK_KERNEL(tesk_separable_tiles, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y,
            (const real *)b, (real *)faces, (TeskLaplace)a) {
  TESK_SHARED(F);
  real *const G = F + 2 * SIZE_F;
  const int t = (int)threadIdx.x, at = t / NX * PITCH_F + t % NX, on = t < NX * NY;
  const Block block = make_block(&a, faces);
  Column column;
  start_column(&a, &block, x, t, &column);
  for (int layer = block.z0; layer < block.z1; layer++) {
    if (on) z_stage(&a, &column, F + at, F + SIZE_F + at);
    __syncthreads();
    if (layer + 1 < block.z1) load_layer(&a, &column);
    x_stage(&a, t, K, F, G);
    __syncthreads();
    y_stage(&a, &block, t, K, (layer - block.z0) * K, G, y, b);
  }
  if (on) { /* the upper plane of the last layer */
    F[at] = column.m;
    F[SIZE_F + at] = column.k;
  }
  __syncthreads();
  x_stage(&a, t, 1, F, G);
  __syncthreads();
  y_stage(&a, &block, t, 1, (block.z1 - block.z0) * K, G, y, b);
}
