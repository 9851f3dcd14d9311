/* Embeddings of nested Raviart-Thomas spaces in 3D and their transposes, all directions in one launch, where cells
 * are halved equally in all directions. A part of a vector (a component, or the pressure) has nodes along its own
 * direction and modes across; the tables are the same in all cells.
 *
 * Prolongation: a block owns CELLS_X x CELLS_Y x CELLS_Z coarse cells of a part. Their numbers are loaded into shared
 * memory, transformed there along x and y to fine numbers, and along z in registers, one fine column per thread, and
 * written. A fine number is written once, and read once where it is added to; coarse nodes between blocks are read
 * twice.
 * When writing in the order of sweeps, the kernel leaves out the upper nodes of the last cells, which are known.
 * Restriction: a thread reads a fine column of the cells (along its own direction of the cells before, too) and sums
 * it in registers, then y and x in shared memory. A fine number is read once, along the own direction up to
 * 1 + 1 / CELLS times.
 *
 * Threads: 256, x fastest. Registers: 40 to 60. Shared memory: below 30 KiB in float32. Bytes per fine number:
 * prolongation 4.5 in float32 (8.5 if it adds), restriction 4.5; flops: about 2 (n + n / 2 + n / 4).
 * Macros: real, N1, CELLS_X, CELLS_Y, CELLS_Z. Tables: tesk_modes [2 N1][N1], tesk_nodes [2 N1 + 1][N1 + 1]. */
#include "kernel.h"
#include "stokes_arguments.h"
#include "tables.h"

#define THREADS 256
#define F (2 * N1)
#define MODE(f, j) tesk_modes((f)*N1 + (j))
#define NODE(f, j) tesk_nodes((f) * (N1 + 1) + (j))
#define NX (CELLS_X * N1 + 1) /* coarse nodes of a block; it has one mode less */
#define NY (CELLS_Y * N1 + 1)
#define NZ (CELLS_Z * N1 + 1)
#define FX (CELLS_X * F + 1) /* fine ones */
#define FY (CELLS_Y * F + 1)
#define WX (CELLS_X * F + F) /* fine numbers that a block sums */
#define WY (CELLS_Y * F + F)
#define FOR_TASKS(id, count) for (int id = (int)threadIdx.x; id < (count); id += THREADS)

/* A block's part and first coarse cells. */
typedef struct Tile {
  int part, cell[3];
} Tile;

TESK_DEVICE Tile tile_of(const TeskRtBox *box) {
  const int across = (box->cells[0] + CELLS_X - 1) / CELLS_X;
  Tile t;
  t.part = (int)blockIdx.z;
  t.cell[0] = (int)blockIdx.x % across * CELLS_X;
  t.cell[1] = (int)blockIdx.x / across * CELLS_Y;
  t.cell[2] = (int)blockIdx.y * CELLS_Z;
  return t;
}

/* In a periodic direction the first nodes follow the last nodes; -1: there is no such number. */
TESK_DEVICE int place_in(const TeskRtBox *box, int d, int extent, int at) {
  if (box->periodic[d]) at = at < 0 ? at + extent : at >= extent ? at - extent : at;
  return at < extent ? at : -1;
}

/* ---- prolongation -------------------------------------------------------------------------------------- */

/* The fine numbers of a cell, with the upper node if it is the last cell. */
TESK_DEVICE void embed(int nodes, const real *from, int step, real *to, int to_step, int last) {
  real v[N1 + 1];
  TESK_UNROLL
  for (int j = 0; j <= N1; j++) v[j] = j < N1 || nodes ? from[j * step] : 0;
  TESK_UNROLL
  for (int f = 0; f < F; f++) {
    real sum = 0;
    if (nodes) {
      TESK_UNROLL
      for (int j = 0; j <= N1; j++) sum += NODE(f, j) * v[j];
    } else {
      TESK_UNROLL
      for (int j = 0; j < N1; j++) sum += MODE(f, j) * v[j];
    }
    to[f * to_step] = sum;
  }
  if (nodes && last) to[F * to_step] = v[N1];
}

/* Writes the column of a coarse cell in z. Old values are loaded before the first is written. */
TESK_DEVICE void embed_column(int nodes, const real *from, int step, real *to, long long plane, int last,
                              int add) {
  real sum[F + 1], old[F + 1];
  TESK_UNROLL
  for (int f = 0; f <= F; f++) old[f] = add && (f < F || last) ? to[f * plane] : 0;
  sum[F] = 0;
  embed(nodes, from, step, sum, 1, last);
  TESK_UNROLL
  for (int f = 0; f < F; f++) to[f * plane] = old[f] + sum[f];
  if (last) to[F * plane] = old[F] + sum[F];
}

/* B <- the numbers of a tile, fine along x and y: [NZ][FY][FX]; before, B holds the coarse numbers [NZ][NY][NX]. A:
 * [NZ][NY][FX]. */
TESK_DEVICE void embed_tile(const TeskRtBox *box, const Tile *t, const real *coarse, real *A, real *B) {
  const int p = t->part, *const nc = box->coarse.extent[p];
  FOR_TASKS(id, NZ * NY * NX) {
    const int x = place_in(box, 0, nc[0], t->cell[0] * N1 + id % NX),
              y = place_in(box, 1, nc[1], t->cell[1] * N1 + id / NX % NY),
              z = place_in(box, 2, nc[2], t->cell[2] * N1 + id / NX / NY);
    B[id] = x >= 0 && y >= 0 && z >= 0 ? coarse[box->coarse.offset[p] + ((long long)z * nc[1] + y) * nc[0] + x]
                                       : 0;
  }
  __syncthreads();
  FOR_TASKS(id, NZ * NY * CELLS_X) {
    const int c = id % CELLS_X, line = id / CELLS_X;
    embed(p == 0, B + line * NX + c * N1, 1, A + line * FX + c * F, 1, c == CELLS_X - 1);
  }
  __syncthreads();
  FOR_TASKS(id, NZ * CELLS_Y * FX) {
    const int x = id % FX, c = id / FX % CELLS_Y, z = id / FX / CELLS_Y;
    embed(p == 1, A + (z * NY + c * N1) * FX + x, FX, B + (z * FY + c * F) * FX + x, FX, c == CELLS_Y - 1);
  }
  __syncthreads();
}

/* fine <- E coarse, or fine + E coarse. Grid: tiles in x and y, in z, parts. */
TESK_KERNEL(tesk_prolongate_rt_box, THREADS, 1, (TeskRtBox)box, (const real *TESK_RESTRICT)coarse,
            (real *)fine, (int)add) {
  TESK_SHARED(A);
  real *const B = A + NZ * NY * FX;
  const Tile t = tile_of(&box);
  const int p = t.part, *const nf = box.fine.extent[p];
  if (box.coarse.extent[p][0] == 0) return; /* the whole block */
  embed_tile(&box, &t, coarse, A, B);
  const long long plane = (long long)nf[0] * nf[1];
  FOR_TASKS(id, FY * FX) {
    const int ix = id % FX, iy = id / FX, x = t.cell[0] * F + ix, y = t.cell[1] * F + iy;
    /* the next block writes the upper nodes, if there is one */
    if ((ix == FX - 1 && x < box.cells[0] * F) || (iy == FY - 1 && y < box.cells[1] * F)) continue;
    if (x >= nf[0] || y >= nf[1]) continue;
    for (int c = 0; c < CELLS_Z && t.cell[2] + c < box.cells[2]; c++) {
      const int z = t.cell[2] + c;
      embed_column(p == 2, B + (c * N1 * FY + iy) * FX + ix, FY * FX,
                   fine + box.fine.offset[p] + z * F * plane + (long long)y * nf[0] + x, plane,
                   p == 2 && z == box.cells[2] - 1 && !box.periodic[2], add);
    }
  }
}

/* The same into the order of sweeps (stokes_arguments.h): one thread per column, cells of a class side by side, so that
 * CELLS_X numbers are written side by side. A number's place in its cell begins with its index in its own direction. */
TESK_KERNEL(tesk_prolongate_rt_classes, THREADS, 1, (TeskRtBox)box, (TeskLanes)s,
            (const real *TESK_RESTRICT)coarse, (real *)fine) {
  TESK_SHARED(A);
  real *const B = A + NZ * NY * FX;
  const Tile t = tile_of(&box);
  const int p = t.part, c = p % 3, group = TESK_LANES_GROUP;
  if (box.coarse.extent[p][0] == 0) return; /* the whole block */
  embed_tile(&box, &t, coarse, A, B);
  const int step_x = c == 0   ? N1 * N1
                     : c == 1 ? 1
                              : N1,
            step_y = c == 0   ? N1
                     : c == 1 ? N1 * N1
                              : 1,
            step_z = c == 0   ? 1
                     : c == 1 ? N1
                              : N1 * N1;
  const int values = 4 * N1 * N1 * N1, row = s.half[0] * values;
  FOR_TASKS(id, CELLS_X * F * CELLS_Y * F) {
    const int half_x = id % CELLS_X, ix = id / CELLS_X % F, iy = id / (CELLS_X * F), hx = t.cell[0] + half_x,
              hy = t.cell[1] + iy / F, ax = ix % N1, ay = iy % N1;
    if (hx >= box.cells[0] || hy >= box.cells[1]) continue;
    real *const to = fine + (long long)(ix / N1 + 2 * (iy % F / N1)) * s.class_size +
                     hx / group * (values * group) + hx % group +
                     (p * N1 * N1 * N1 + ax * step_x + ay * step_y) * group + (long long)hy * row;
    for (int cz = 0; cz < CELLS_Z && t.cell[2] + cz < box.cells[2]; cz++) {
      real sum[F];
      embed(p == 2, B + (cz * N1 * FY + iy) * FX + half_x * F + ix, FY * FX, sum, 1, 0);
      TESK_UNROLL
      for (int f = 0; f < F; f++)
        to[(long long)(f / N1 * 4) * s.class_size + (long long)(t.cell[2] + cz) * s.half[1] * row +
           f % N1 * step_z * group] = sum[f];
    }
  }
}

/* ---- restriction --------------------------------------------------------------------------------------- */

/* Coarse numbers of a cell from its fine numbers v[F]; for nodes from v[2 F], which begin behind the middle of the
 * cell before; with the upper node if it is the last cell. */
TESK_DEVICE void gather(int nodes, const real *v, real *to, int step, int last) {
  TESK_UNROLL
  for (int j = 0; j <= N1; j++) {
    real sum = 0;
    if (j == N1 && !(nodes && last)) break;
    if (nodes) {
      if (j == 0) sum = v[F - 1];
      if (j == N1) sum = v[2 * F - 1];
      TESK_UNROLL
      for (int f = 1; f < F; f++) {
        sum += NODE(f, j) * v[F - 1 + f];
        if (j == 0) sum += NODE(f, N1) * v[f - 1];
      }
    } else {
      TESK_UNROLL
      for (int f = 0; f < F; f++) sum += MODE(f, j < N1 ? j : 0) * v[f];
    }
    to[j * step] = sum;
  }
}

TESK_DEVICE void gather_line(int nodes, const real *from, int step, real *to, int to_step, int last) {
  real v[2 * F];
  TESK_UNROLL
  for (int f = 0; f < 2 * F; f++) v[f] = f < F || nodes ? from[f * step] : 0;
  gather(nodes, v, to, to_step, last);
}

/* The fine column of coarse cell `cell`. */
TESK_DEVICE void read_column(const TeskRtBox *box, int nodes, int cell, int extent, const real *from,
                             long long plane, real *v) {
  const int first = nodes ? cell * F - (F - 1) : cell * F, count = nodes ? 2 * F : F;
  if (first >= 0 && first + count <= extent) { /* all numbers exist: no place has to be searched */
    const real *const at = from + first * plane;
    TESK_UNROLL
    for (int f = 0; f < 2 * F; f++) v[f] = f < F || nodes ? TESK_READ(at + f * plane) : 0;
    return;
  }
  TESK_UNROLL
  for (int f = 0; f < 2 * F; f++) {
    const int z = nodes ? place_in(box, 2, extent, cell * F - (F - 1) + f) : f < F ? cell * F + f : -1;
    v[f] = z >= 0 && z < extent ? TESK_READ(from + z * plane) : 0;
  }
}

/* The coarse numbers of a block, in A: [NZ][NY][NX]. Before: [NZ][WY][WX]; in B [NZ][NY][WX]. */
TESK_DEVICE void restrict_tile(const TeskRtBox *box, const Tile *t, const real *fine, real *A) {
  real *const B = A + NZ * WY * WX;
  const int p = t->part, *const nf = box->fine.extent[p];
  const long long plane = (long long)nf[0] * nf[1];
  FOR_TASKS(id, WY * WX) {
    const int ix = id % WX, iy = id / WX,
              x = place_in(box, 0, nf[0], t->cell[0] * F - (p == 0 ? F - 1 : 0) + ix),
              y = place_in(box, 1, nf[1], t->cell[1] * F - (p == 1 ? F - 1 : 0) + iy);
    const real *const from = fine + box->fine.offset[p] + (long long)y * nf[0] + x;
    for (int c = 0; c < CELLS_Z; c++) {
      real v[2 * F];
      const int extent = x >= 0 && y >= 0 ? nf[2] : 0; /* 0: no number exists */
      if ((ix < CELLS_X * F || p == 0) && (iy < CELLS_Y * F || p == 1)) {
        read_column(box, p == 2, t->cell[2] + c, extent, from, plane, v);
        gather(p == 2, v, A + (c * N1 * WY + iy) * WX + ix, WY * WX, c == CELLS_Z - 1);
      }
    }
  }
  __syncthreads();
  const int planes = p == 2 ? NZ : NZ - 1, rows = p == 1 ? NY : NY - 1, width = p == 0 ? WX : CELLS_X * F;
  FOR_TASKS(id, NZ * CELLS_Y * WX) {
    const int x = id % WX, c = id / WX % CELLS_Y, z = id / WX / CELLS_Y;
    if (z < planes && x < width)
      gather_line(p == 1, A + (z * WY + c * F) * WX + x, WX, B + (z * NY + c * N1) * WX + x, WX,
                  c == CELLS_Y - 1);
  }
  __syncthreads();
  FOR_TASKS(id, NZ * NY * CELLS_X) {
    const int c = id % CELLS_X, y = id / CELLS_X % NY, z = id / CELLS_X / NY;
    if (z < planes && y < rows)
      gather_line(p == 0, B + (z * NY + y) * WX + c * F, 1, A + (z * NY + y) * NX + c * N1, 1,
                  c == CELLS_X - 1);
  }
  __syncthreads();
}

/* coarse <- E' fine, zero at known nodes, and in components with box.still. Grid: as above. */
TESK_KERNEL(tesk_restrict_rt_box, THREADS, N1 < 4 ? 4 : 1, (TeskRtBox)box, (const real *TESK_RESTRICT)fine,
            (real *)coarse) {
  TESK_SHARED(A);
  const Tile t = tile_of(&box);
  const int p = t.part, *const nc = box.coarse.extent[p];
  if (nc[0] == 0) return; /* the whole block */
  if (box.still && p < 3) {
    FOR_TASKS(id, NZ * NY * NX) A[id] = 0; /* which the same thread reads */
  } else {
    restrict_tile(&box, &t, fine, A);
  }
  FOR_TASKS(id, NZ * NY * NX) {
    const int own[3] = {id % NX, id / NX % NY, id / NX / NY}, count[3] = {NX, NY, NZ};
    int at[3], mine = 1, zero = 0;
    TESK_UNROLL
    for (int d = 0; d < 3; d++) {
      at[d] = t.cell[d] * N1 + own[d];
      mine = mine && at[d] < nc[d] && (own[d] < count[d] - 1 || at[d] == box.cells[d] * N1);
      zero = zero || (p == d && ((at[d] == 0 && (box.known[d] & 1)) ||
                                 (at[d] == box.cells[d] * N1 && (box.known[d] & 2))));
    }
    if (mine)
      coarse[box.coarse.offset[p] + ((long long)at[2] * nc[1] + at[1]) * nc[0] + at[0]] = zero ? 0 : A[id];
  }
}
