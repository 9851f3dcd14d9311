/* y <- A x, or r <- b - A x, for the separable operator on a box, gathered: every block writes complete results, no
 * atomics.
 *
 *   A = My Mx (Kz + c Mz) + Ky Mx Mz + My Kx Mz     (constants and cell widths folded in, see TeskLaplace)
 *
 * A block owns TILE_X x TILE_Y columns of cells, with one more row of cells below each (their part of the shared
 * nodes is computed twice), and marches up through `layers` cell layers:
 *   z: a thread owns NODES node columns: f1 = Mz x, f2 = (Kz + c Mz) x of one layer in registers, into shared memory
 *   x: g1 = Mx f1, g2 = Mx f2 + Kx f1                y: out = My g2 + Ky g1
 * by even-odd products of cells. Two barriers per layer: the x-stage reads one buffer and writes the other. IN_PLACE:
 * a thread takes a whole row of the x-stage and overwrites numbers that it has read: 0.6 of the shared memory, so
 * more blocks at a time, for a third barrier.
 *
 * Floor: x read once, y written once. Multiply-adds per point: about 7 (k + 1)/2 + 8.
 * Macros: real, DIM, DEGREE, TILE_X, TILE_Y, NODES, THREADS, MIN_BLOCKS, RESIDUAL, GRADED, NATURAL, IN_PLACE,
 * TASK_Y (cells of a column a thread takes in the y-stage), JOINT (mass products in x share the
 * matrix: fewer instructions, more registers), PAD (rows of an odd number of values in shared memory), SKEW.
 * Tables: src/basis/kernel_tables.h. */
#include "kernel.h"
#include "tables.h"
#include "separable_arguments.h"
#include "separable_lines.h"

#define NX ((TILE_X + 1) * K + 1)
#define NY ((TILE_Y + 1) * K + 1)
#define OX (TILE_X * K)
/* With PAD rows have an odd number of values, so that threads on different rows use different banks. */
#define PITCH_F (NX | PAD)
#if IN_PLACE
#define PITCH_G PITCH_F
#else
#define PITCH_G (OX | PAD)
#endif
#if DIM == 3
#define PLANES K
#else
#define PLANES 1
#endif
/* cells a thread takes in a row */
#if IN_PLACE
#define TASK_X TILE_X
#else
#define TASK_X (TILE_X % 2 ? 1 : 2)
#endif
/* Planes are SKEW numbers further apart than their rows need, so that threads at the end of a plane's last row and
 * threads at the start of the next plane use different banks. */
#if IN_PLACE
#define PLANE_F (NY * PITCH_F + SKEW)
#else
#define PLANE_F (NY * PITCH_F)
#endif
#define PLANE_G (NY * PITCH_G + SKEW)
#define SIZE_F (PLANES * PLANE_F) /* two of these, then two of SIZE_G where not in place */
#define SIZE_G (PLANES * PLANE_G)

/* (M v)[K] and (K v)[K], the last rows alone. */
TESK_DEVICE real last_mass(const real *v) {
  real sum = 0;
  TESK_UNROLL
  for (int j = 0; j <= K; j++) sum += tesk_mlast(j) * v[j];
  return sum;
}

TESK_DEVICE real last_stiffness(const real *v) {
  real sum = 0;
  TESK_UNROLL
  for (int j = 0; j < K; j++) sum += tesk_klast(j) * (v[j] - v[K]);
  return sum;
}

/* Data common to all threads of a block, in the kernel's precision. */
typedef struct Block {
  int x0, y0, z0, z1; /* first cells; end of the layers */
  int nodes[3];
  int at_face; /* whether it has nodes on the boundary in x or y, or next to it */
  real scale, xr, zk, zc, robin[6];
} Block;

#if GRADED
#define SCALE(list, cell, otherwise) ((const real *)(list))[cell]
#else
#define SCALE(list, cell, otherwise) (otherwise)
#endif
/* Cells outside the box contribute nothing. If all faces are Dirichlet faces, no test is needed, since these cells
 * read zeros. */
#if NATURAL
#define IF_INSIDE(condition) (condition)
#else
#define IF_INSIDE(condition) 1
#endif

TESK_DEVICE void make_block(const TeskLaplace *a, Block *block) {
  block->x0 = (int)blockIdx.x * TILE_X;
  block->y0 = (int)blockIdx.y * TILE_Y;
  TESK_UNROLL
  for (int d = 0; d < 3; d++) block->nodes[d] = d < DIM ? a->cells[d] * K + 1 : 1;
  block->z0 = (int)blockIdx.z * a->layers;
  block->z1 = block->z0 + a->layers < a->layers_total ? block->z0 + a->layers : a->layers_total;
  block->at_face = block->x0 == 0 || block->y0 == 0 || block->x0 + TILE_X >= a->cells[0] ||
                   block->y0 + TILE_Y >= a->cells[1];
  block->scale = (real)a->scale;
  block->xr = (real)a->xr;
  block->zk = (real)a->zk;
  block->zc = (real)a->zc;
  TESK_UNROLL
  for (int i = 0; i < 6; i++) block->robin[i] = (real)a->robin[i];
}

/* ---- z ------------------------------------------------------------------------------------------------- */
typedef struct Column {
  const real *x;   /* bottom of the next layer to load, NULL outside the box */
  real last, m, k; /* of the layer below: top value and contribution to the shared plane */
} Column;

#if DIM == 3
/* Values above the bottom plane of layer `cell`: zero outside. */
TESK_DEVICE void load_layer(const TeskLaplace *a, Column *c, int cell, real *next) {
  const int inside = c->x && cell < a->cells[2];
  TESK_UNROLL
  for (int l = 0; l < K; l++) next[l] = inside ? TESK_READ(c->x + (l + 1) * a->plane) : 0;
  c->x += inside ? K * a->plane : 0;
}

/* The contribution of the layer below the block's first layer to the shared plane. */
TESK_DEVICE void start_column(const TeskLaplace *a, const Block *block, Column *c) {
  c->m = c->k = 0;
  c->last = c->x ? c->x[0] : 0;
  if (block->z0 == 0) {
    c->k = block->robin[4] * c->last;
    return;
  }
  real v[K + 1];
  TESK_UNROLL
  for (int l = 0; l < K; l++) v[l] = c->x ? c->x[(l - K) * a->plane] : 0;
  v[K] = c->last;
  c->m = SCALE(a->mass[2], block->z0 - 1, 1) * last_mass(v);
  c->k = SCALE(a->stiffness[2], block->z0 - 1, block->zk) * last_stiffness(v) + block->zc * c->m;
  if (block->z0 == a->cells[2]) c->k += block->robin[5] * c->last;
}

TESK_DEVICE void z_stage(const TeskLaplace *a, const Block *block, Column *c, int cell, const real *next,
                         real *f1, real *f2) {
  real v[K + 1], e[H], o[O], m[K + 1], k[K + 1];
  const int inside = cell < a->cells[2], at = inside ? cell : 0;
  (void)at;
  v[0] = inside ? c->last : 0;
  TESK_UNROLL
  for (int l = 0; l < K; l++) v[l + 1] = next[l];
  fold(v, e, o);
  mass(e, o, SCALE(a->mass[2], at, 1), 0, m);
  stiffness(e, o, SCALE(a->stiffness[2], at, block->zk), 0, k);
  TESK_UNROLL
  for (int l = 0; l <= K; l++) k[l] += block->zc * m[l];
  m[0] += c->m;
  k[0] += c->k;
  TESK_UNROLL
  for (int l = 0; l < K; l++) {
    f1[l * PLANE_F] = m[l];
    f2[l * PLANE_F] = k[l];
  }
  c->m = m[K];
  c->k = k[K];
  c->last = v[K];
  if (cell == a->cells[2] - 1) c->k += block->robin[5] * v[K];
}
#endif

/* ---- x ------------------------------------------------------------------------------------------------- */
/* TASK_X cells of one row: g1, g2 at their nodes except the last, with the contribution of the cell to the left. */
TESK_DEVICE void x_stage(const TeskLaplace *a, const Block *block, int task, const real *f1, const real *f2,
                         real *g1, real *g2) {
  const int c = task % (TILE_X / TASK_X) * TASK_X, row = task / (TILE_X / TASK_X) % NY,
            plane = task / (TILE_X / TASK_X) / NY;
  real v[K + 1], s[K + 1], e[H], o[O], m[K + 1], k[K + 1];
  int cell = block->x0 + c;
  f1 += plane * PLANE_F + row * PITCH_F + c * K;
  f2 += plane * PLANE_F + row * PITCH_F + c * K;
  g1 += plane * PLANE_G + row * PITCH_G + c * K;
  g2 += plane * PLANE_G + row * PITCH_G + c * K;
  TESK_UNROLL
  for (int l = 0; l <= K; l++) {
    v[l] = IF_INSIDE(cell > 0) ? f1[l] : 0;
    s[l] = IF_INSIDE(cell > 0) ? f2[l] : 0;
  }
  const int left = cell > a->cells[0] ? a->cells[0] - 1 : cell > 0 ? cell - 1 : 0;
  (void)left;
  real m_left = SCALE(a->mass[0], left, block->xr) * last_mass(v);
  real k_left =
      SCALE(a->mass[0], left, 1) * last_mass(s) + SCALE(a->stiffness[0], left, 1) * last_stiffness(v);
  TESK_UNROLL
  for (int i = 0; i < TASK_X; i++, cell++) {
    const int inside = cell < a->cells[0], at = inside ? cell : 0;
    (void)at;
    const real end = f1[(i + 1) * K]; /* this cell's first node */
    v[0] = IF_INSIDE(inside) ? end : 0;
    TESK_UNROLL
    for (int l = 1; l <= K; l++) v[l] = f1[(i + 1) * K + l];
    fold(v, e, o);
#if !JOINT
    mass(e, o, SCALE(a->mass[0], at, block->xr), 0, m);
#endif
    stiffness(e, o, SCALE(a->stiffness[0], at, 1), 0, k);
    s[0] = IF_INSIDE(inside) ? f2[(i + 1) * K] : 0;
    TESK_UNROLL
    for (int l = 1; l <= K; l++) s[l] = f2[(i + 1) * K + l];
#if JOINT
    real e2[H], o2[O];
    fold(s, e2, o2);
    mass_twice(e, o, SCALE(a->mass[0], at, block->xr), m, e2, o2, SCALE(a->mass[0], at, 1), k);
#else
    fold(s, e, o);
    mass(e, o, SCALE(a->mass[0], at, 1), 1, k);
#endif
    m[0] += m_left;
    k[0] += k_left;
    if (cell == 0) k[0] += block->robin[0] * end;
    if (cell == a->cells[0]) k[0] += block->robin[1] * end;
    TESK_UNROLL
    for (int l = 0; l < K; l++) {
      g1[i * K + l] = m[l];
      g2[i * K + l] = k[l];
    }
    m_left = m[K];
    k_left = k[K];
  }
}

/* ---- y ------------------------------------------------------------------------------------------------- */
/* Zeros at the upper Dirichlet faces next to node (x, y, z): nobody owns these nodes. */
TESK_DEVICE void close_faces(const TeskLaplace *a, const Block *block, real *out, int x, int y, int z) {
  const int dx = a->dirichlet[1] && x == block->nodes[0] - 2, dy = a->dirichlet[3] && y == block->nodes[1] - 2,
            dz = DIM == 3 && a->dirichlet[5] && z == block->nodes[2] - 2;
  if (!(dx | dy | dz)) return;
  for (int i = 1; i < 8; i++)
    if (((i & 1) <= dx) && ((i / 2 & 1) <= dy) && (i / 4 <= dz))
      out[(i & 1) + (i / 2 & 1) * a->pitch + i / 4 * a->plane] = 0;
}

/* One result, of a block at a face. */
TESK_DEVICE void store_at_face(const TeskLaplace *a, const Block *block, real *y, const real *b, int x,
                               int node, int z, real value) {
  if (x >= block->nodes[0] || node >= block->nodes[1] || z >= block->nodes[2]) return;
  const int zero =
      (a->dirichlet[0] && x == 0) || (a->dirichlet[1] && x == block->nodes[0] - 1) ||
      (a->dirichlet[2] && node == 0) || (a->dirichlet[3] && node == block->nodes[1] - 1) ||
      (DIM == 3 && ((a->dirichlet[4] && z == 0) || (a->dirichlet[5] && z == block->nodes[2] - 1)));
  const long long i = z * a->plane + (long long)node * a->pitch + x;
#if RESIDUAL
  y[i] = zero ? 0 : b[i] - value;
#else
  y[i] = zero ? 0 : value;
#endif
  close_faces(a, block, y + i, x, node, z);
}

/* TASK_Y cells of one column: results at their nodes except the last, with the contribution of the cell below. */
TESK_DEVICE void y_stage(const TeskLaplace *a, const Block *block, int layer, int task, const real *g1,
                         const real *g2, real *y, const real *b) {
  const int ix = task % OX, plane = task / OX % PLANES, c = task / OX / PLANES * TASK_Y;
  const int x = block->x0 * K + ix, z = layer * PLANES + plane;
  const int at_face = block->at_face || (DIM == 3 && (layer == 0 || layer >= a->cells[2] - 1));
  int cell = block->y0 + c;
  real v[K + 1], w[K + 1], e[H], o[O], out[K + 1];
  g1 += plane * PLANE_G + c * K * PITCH_G + ix;
  g2 += plane * PLANE_G + c * K * PITCH_G + ix;
  TESK_UNROLL
  for (int l = 0; l <= K; l++) {
    v[l] = IF_INSIDE(cell > 0) ? g1[l * PITCH_G] : 0;
    w[l] = IF_INSIDE(cell > 0) ? g2[l * PITCH_G] : 0;
  }
  const int below = cell > a->cells[1] ? a->cells[1] - 1 : cell > 0 ? cell - 1 : 0;
  (void)below;
  real left =
      SCALE(a->mass[1], below, 1) * last_mass(w) + SCALE(a->stiffness[1], below, 1) * last_stiffness(v);
  const long long first = z * a->plane + (long long)cell * K * a->pitch + x;
  real *out_y = y + first;
  const real *in_b = b + (RESIDUAL ? first : 0);
  TESK_UNROLL
  for (int i = 0; i < TASK_Y; i++, cell++) {
    const int inside = cell < a->cells[1], at = inside ? cell : 0;
    (void)at;
    const real end = g1[(i + 1) * K * PITCH_G];
    v[0] = IF_INSIDE(inside) ? end : 0;
    w[0] = IF_INSIDE(inside) ? g2[(i + 1) * K * PITCH_G] : 0;
    TESK_UNROLL
    for (int l = 1; l <= K; l++) {
      v[l] = g1[((i + 1) * K + l) * PITCH_G];
      w[l] = g2[((i + 1) * K + l) * PITCH_G];
    }
    fold(w, e, o);
    mass(e, o, SCALE(a->mass[1], at, 1), 0, out);
    fold(v, e, o);
    stiffness(e, o, SCALE(a->stiffness[1], at, 1), 1, out);
    out[0] += left;
    left = out[K];
    if (cell == 0) out[0] += block->robin[2] * end;
    if (cell == a->cells[1]) out[0] += block->robin[3] * end;
    if (at_face) {
      TESK_UNROLL
      for (int l = 0; l < K; l++) store_at_face(a, block, y, b, x, cell * K + l, z, block->scale * out[l]);
    } else {
      TESK_UNROLL
      for (int l = 0; l < K; l++) {
#if RESIDUAL
        out_y[l * a->pitch] = in_b[l * a->pitch] - block->scale * out[l];
#else
        out_y[l * a->pitch] = block->scale * out[l];
#endif
      }
      out_y += K * a->pitch;
      in_b += RESIDUAL ? K * a->pitch : 0;
    }
  }
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */
TESK_KERNEL(tesk_separable, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y, (const real *)b,
            (TeskLaplace)a) {
  TESK_SHARED(f1);
  real *const f2 = f1 + SIZE_F;
#if IN_PLACE
  real *const g1 = f1, *const g2 = f2;
#else
  real *const g1 = f2 + SIZE_F, *const g2 = g1 + SIZE_G;
#endif
  const int t = (int)threadIdx.x;
  Block block;
  make_block(&a, &block);
#if DIM == 3
  Column column[NODES];
  real next[NODES][K];
  TESK_UNROLL
  for (int r = 0; r < NODES; r++) {
    const int i = t + r * THREADS, ix = (block.x0 - 1) * K + i % NX, iy = (block.y0 - 1) * K + i / NX;
    const int inside = i < NX * NY && ix >= 0 && iy >= 0 && ix < block.nodes[0] && iy < block.nodes[1];
    column[r].x = inside ? x + (long long)block.z0 * K * a.plane + (long long)iy * a.pitch + ix : 0;
    start_column(&a, &block, &column[r]);
    load_layer(&a, &column[r], block.z0, next[r]);
  }
  for (int layer = block.z0; layer < block.z1; layer++) {
    TESK_UNROLL
    for (int r = 0; r < NODES; r++) {
      const int i = t + r * THREADS;
      const int at = i / NX * PITCH_F + i % NX;
      if (i < NX * NY) z_stage(&a, &block, &column[r], layer, next[r], f1 + at, f2 + at);
    }
    __syncthreads();
    if (layer + 1 < block.z1) {
      TESK_UNROLL
      for (int r = 0; r < NODES; r++) load_layer(&a, &column[r], layer + 1, next[r]);
    }
    for (int task = t; task < PLANES * NY * (TILE_X / TASK_X); task += THREADS)
      x_stage(&a, &block, task, f1, f2, g1, g2);
    __syncthreads();
    for (int task = t; task < PLANES * OX * (TILE_Y / TASK_Y); task += THREADS)
      y_stage(&a, &block, layer, task, g1, g2, y, b);
#if IN_PLACE
    __syncthreads();
#endif
  }
#else
  for (int i = t; i < NX * NY; i += THREADS) {
    const int ix = (block.x0 - 1) * K + i % NX, iy = (block.y0 - 1) * K + i / NX;
    const int inside = ix >= 0 && iy >= 0 && ix < block.nodes[0] && iy < block.nodes[1];
    const real value = inside ? x[(long long)iy * a.pitch + ix] : 0;
    f1[i / NX * PITCH_F + i % NX] = value;
    f2[i / NX * PITCH_F + i % NX] = block.zc * value;
  }
  __syncthreads();
  for (int task = t; task < NY * (TILE_X / TASK_X); task += THREADS)
    x_stage(&a, &block, task, f1, f2, g1, g2);
  __syncthreads();
  for (int task = t; task < OX * (TILE_Y / TASK_Y); task += THREADS)
    y_stage(&a, &block, 0, task, g1, g2, y, b);
#endif
}

/* d <- diagonal: products of 1D diagonals, mass [3] and stiffness [3] as arrays of nodes; 1 at Dirichlet nodes. */
TESK_KERNEL(tesk_separable_diagonal, 256, 1, (real *)d, (const double *)mx, (const double *)kx,
            (const double *)my, (const double *)ky, (const double *)mz, (const double *)kz, (TeskLaplace)a) {
  const long long nx = a.pitch, ny = a.plane / a.pitch, nz = DIM == 3 ? a.cells[2] * K + 1 : 1;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < nx * ny * nz;
       i += (long long)gridDim.x * blockDim.x) {
    const long long x = i % nx, y = i / nx % ny, z = i / nx / ny;
    const int zero = (a.dirichlet[0] && x == 0) || (a.dirichlet[1] && x == nx - 1) ||
                     (a.dirichlet[2] && y == 0) || (a.dirichlet[3] && y == ny - 1) ||
                     (DIM == 3 && ((a.dirichlet[4] && z == 0) || (a.dirichlet[5] && z == nz - 1)));
    const double planar = kx[x] * my[y] + mx[x] * ky[y];
    const double value = DIM == 3 ? planar * mz[z] + mx[x] * my[y] * kz[z] : planar;
    d[i] = zero ? 1 : (real)value;
  }
}
