/* The embedding of nested 3D spaces and its transpose, all directions in one pass, where all are refined and cells
 * are equal.
 *
 * Prolongation: a block owns CELLS_X x CELLS_Y x CELLS_Z coarse cells. Their nodes are loaded into shared memory,
 * transformed there along x and y to fine nodes, and along z in registers, one fine column per thread, and written.
 * So the fine vector is touched once; three passes would touch it once, and half and a quarter of it again. Floor:
 * the fine vector read (if added to) and written once, and an eighth of its size read.
 *
 * Restriction: a block gathers the coarse nodes of one coarse cell, except the upper nodes, from the two fine cells
 * on either side. Fine values are read up to eight times; this suits small boxes, where three launches cost more than
 * the reads.
 *
 * Macros: real, DEGREE, CELLS_X, CELLS_Y, CELLS_Z. Tables: tesk_e [2 DEGREE + 1][DEGREE + 1]. */
#include "kernel.h"
#include "tables.h"

#define K DEGREE
#define STEP (2 * K)
#define THREADS 256
#define E(f, p) tesk_e((f) * (K + 1) + (p))
#define FOR_TASKS(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

/* ---- prolongation -------------------------------------------------------------------------------------- */
#define NX (CELLS_X * K + 1) /* coarse nodes of a block */
#define NY (CELLS_Y * K + 1)
#define NZ (CELLS_Z * K + 1)
#define FX (CELLS_X * STEP + 1) /* fine ones */
#define FY (CELLS_Y * STEP + 1)
#define SIZE_A (NZ * NY * FX)

/* Nodes 0 .. STEP - 1 of one cell, and STEP if it is the last cell: E v. */
TESK_DEVICE void embed(const real *from, int from_stride, real *to, int to_stride, int last) {
  real v[K + 1];
  TESK_UNROLL
  for (int p = 0; p <= K; p++) v[p] = from[p * from_stride];
  to[0] = v[0];
  TESK_UNROLL
  for (int f = 1; f < STEP; f++) {
    real sum = 0;
    TESK_UNROLL
    for (int p = 0; p <= K; p++) sum += E(f, p) * v[p];
    to[f * to_stride] = sum;
  }
  if (last) to[STEP * to_stride] = v[K];
}

/* Writes the column of one coarse cell in z. All old values are loaded before the first is written: stores and loads
 * of one array keep their order, and waiting for each load costs more than everything else. */
TESK_DEVICE void embed_column(const real *from, int from_stride, real *to, long long plane, int last, int add) {
  real v[K + 1], old[STEP + 1];
  TESK_UNROLL
  for (int f = 0; f <= STEP; f++) old[f] = add && (f < STEP || last) ? to[f * plane] : 0;
  TESK_UNROLL
  for (int p = 0; p <= K; p++) v[p] = from[p * from_stride];
  TESK_UNROLL
  for (int f = 0; f < STEP; f++) {
    real sum = f == 0 ? v[0] : 0;
    if (f > 0) {
      TESK_UNROLL
      for (int p = 0; p <= K; p++) sum += E(f, p) * v[p];
    }
    to[f * plane] = old[f] + sum;
  }
  if (last) to[STEP * plane] = old[STEP] + v[K];
}

/* fine <- E coarse, or fine + E coarse. Cells cx, cy, cz in all; arrays of all nodes. */
TESK_KERNEL(tesk_prolongate_box, THREADS, 1, (const real *TESK_RESTRICT)coarse, (real *)fine, (int)cx,
            (int)cy, (int)cz, (int)add) {
  TESK_SHARED(A); /* [NZ][NY][FX], then the coarse nodes [NZ][NY][NX], in their place [NZ][FY][FX] */
  real *const B = A + SIZE_A;
  const int x0 = (int)blockIdx.x * CELLS_X, y0 = (int)blockIdx.y * CELLS_Y, z0 = (int)blockIdx.z * CELLS_Z;
  const long long pitch = cx * K + 1, plane = pitch * (cy * K + 1);
  FOR_TASKS(id, NZ * NY * NX) {
    const int x = x0 * K + id % NX, y = y0 * K + id / NX % NY, z = z0 * K + id / NX / NY;
    B[id] = x <= cx * K && y <= cy * K && z <= cz * K ? coarse[z * plane + y * pitch + x] : 0;
  }
  __syncthreads();
  FOR_TASKS(id, NZ * NY * CELLS_X) {
    const int c = id % CELLS_X, line = id / CELLS_X;
    embed(B + line * NX + c * K, 1, A + line * FX + c * STEP, 1, c == CELLS_X - 1);
  }
  __syncthreads();
  FOR_TASKS(id, NZ * CELLS_Y * FX) {
    const int x = id % FX, c = id / FX % CELLS_Y, z = id / FX / CELLS_Y;
    embed(A + (z * NY + c * K) * FX + x, FX, B + (z * FY + c * STEP) * FX + x, FX, c == CELLS_Y - 1);
  }
  __syncthreads();
  const long long fine_pitch = cx * STEP + 1, fine_plane = fine_pitch * (cy * STEP + 1);
  FOR_TASKS(id, FY * FX) {
    const int ix = id % FX, iy = id / FX, x = x0 * STEP + ix, y = y0 * STEP + iy;
    /* the next block writes the upper nodes, if there is one */
    if ((ix < FX - 1 || x == cx * STEP) && (iy < FY - 1 || y == cy * STEP) && x <= cx * STEP &&
        y <= cy * STEP) {
      for (int c = 0; c < CELLS_Z && z0 + c < cz; c++)
        embed_column(B + (c * K * FY + iy) * FX + ix, FY * FX,
                     fine + (long long)(z0 + c) * STEP * fine_plane + y * fine_pitch + x, fine_plane,
                     z0 + c == cz - 1, add);
    }
  }
}

/* ---- restriction --------------------------------------------------------------------------------------- */
#define W (2 * STEP) /* fine nodes in reach: from node 1 of the cell before to node STEP of this cell */

/* Coarse nodes 0 .. K - 1 of a cell, and K of the last cell, from the fine nodes in reach. */
TESK_DEVICE void gather(const real *from, int from_stride, real *to, int to_stride) {
  real v[W];
  TESK_UNROLL
  for (int f = 0; f < W; f++) v[f] = from[f * from_stride];
  TESK_UNROLL
  for (int p = 0; p <= K; p++) {
    real sum = p == 0 ? v[STEP - 1] : p == K ? v[W - 1] : 0;
    TESK_UNROLL
    for (int f = 1; f < STEP; f++) {
      sum += E(f, p) * v[STEP - 1 + f];
      if (p == 0) sum += E(f, K) * v[f - 1];
    }
    to[p * to_stride] = sum;
  }
}

/* coarse <- E' fine; zero at Dirichlet ends. Bit 2 d + e of natural: end e of direction d is not a Dirichlet end. */
TESK_KERNEL(tesk_restrict_box, THREADS, 1, (const real *TESK_RESTRICT)fine, (real *)coarse, (int)cx, (int)cy,
            (int)cz, (int)natural) {
  TESK_SHARED(F); /* [W][W][W], [W][W][K + 1]; then [W][K + 1][K + 1] in place of the first */
  real *const X = F + W * W * W;
  const int cells[3] = {cx, cy, cz}, at[3] = {(int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z};
  const long long fine_pitch = cx * STEP + 1, fine_plane = fine_pitch * (cy * STEP + 1);
  FOR_TASKS(id, W * W * W) {
    const int x = (at[0] - 1) * STEP + 1 + id % W, y = (at[1] - 1) * STEP + 1 + id / W % W,
              z = (at[2] - 1) * STEP + 1 + id / W / W;
    F[id] = x >= 0 && y >= 0 && z >= 0 ? fine[z * fine_plane + y * fine_pitch + x] : 0;
  }
  __syncthreads();
  FOR_TASKS(id, W * W) gather(F + id * W, 1, X + id * (K + 1), 1);
  __syncthreads();
  FOR_TASKS(id, W * (K + 1)) {
    const int x = id % (K + 1), z = id / (K + 1);
    gather(X + z * W * (K + 1) + x, K + 1, F + z * (K + 1) * (K + 1) + x, K + 1);
  }
  __syncthreads();
  FOR_TASKS(id, (K + 1) * (K + 1)) gather(F + id, (K + 1) * (K + 1), X + id, (K + 1) * (K + 1));
  __syncthreads();
  FOR_TASKS(id, (K + 1) * (K + 1) * (K + 1)) {
    const int p[3] = {id % (K + 1), id / (K + 1) % (K + 1), id / (K + 1) / (K + 1)};
    int mine = 1, zero = 0;
    for (int d = 0; d < 3; d++) {
      const int node = at[d] * K + p[d];
      mine = mine && (p[d] < K || at[d] == cells[d] - 1);
      zero = zero || (node == 0 && !(natural >> (2 * d) & 1)) ||
             (node == cells[d] * K && !(natural >> (2 * d + 1) & 1));
    }
    const long long pitch = cx * K + 1;
    if (mine)
      coarse[((at[2] * K + p[2]) * (long long)(cy * K + 1) + at[1] * K + p[1]) * pitch + at[0] * K + p[0]] =
          zero ? 0 : X[id];
  }
}
