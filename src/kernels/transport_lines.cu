/* Transport with constant coefficients over a box, y <- A x or b - A x: products of 1D matrices with 2 K + 1 entries
 * per row (operator/transport/transport_lines.h), A = A_y M_x + M_y A_x, in 3D A_z M_y M_x + M_z (A_y M_x + M_y A_x).
 *
 * A block computes the results of TX x TY nodes, in 3D of `planes` such planes one after the other; a thread has one
 * column: node id % TX, row id / TX. The nodes of a plane, with K more on each side, go to shared memory, and so do t
 * = M_x x and s = A_x x of all rows. In 2D V = A_y t + M_y s is the result. In 3D V and U = M_y t stay in a ring of 2
 * K + 1 planes, from which A_z U + M_z V is computed.
 * Shared: (TX + 2 K)(TY + 2 K) + 2 TX (TY + 2 K) numbers; 3D: 2 (2 K + 1) TX TY more, 83 KiB for K = 8, float64.
 * Registers: the 4 K + 2 entries of a thread's column.
 * Flops per node: 2D 8 (2 K + 1), 3D 14 (2 K + 1); bytes: 8 or 4 for each of x, b and y; halos add 2 K rows per tile.
 *
 * Macros: real, DIM, K, TX, TY, THREADS (a multiple of TX). tables: for each direction M, then A; of x diagonals
 * [2 K + 1][nodes], of y and z rows [nodes][2 K + 1]. */
#include "kernel.h"

#define W (2 * K + 1)
#define COLUMNS (TX + 2 * K)
#define ROWS (TY + 2 * K)
#define FOR_TASKS(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

TESK_KERNEL(tesk_transport_lines, THREADS, 1, (const real *TESK_RESTRICT)x, (const real *)b, (real *)y,
            (const real *TESK_RESTRICT)tables, (int)nx, (int)ny, (int)nz, (int)planes) {
  TESK_SHARED(memory);
  real *const X = memory, *const T = X + ROWS * COLUMNS, *const S = T + ROWS * TX;
  const int x0 = (int)blockIdx.x * TX, y0 = (int)blockIdx.y * TY, column = (int)threadIdx.x % TX,
            i = x0 + column;
  const real *const My = tables + 2 * W * nx, *const Ay = My + W * ny;
  const int first = DIM == 3 ? (int)blockIdx.z * planes - K : 0,
            end = DIM == 3 ? ((int)blockIdx.z * planes + planes < nz ? first + planes + 2 * K : nz + K) : 1;
  real M[W], A[W];
  TESK_UNROLL
  for (int o = 0; o < W; o++) {
    M[o] = i < nx ? tables[o * nx + i] : 0;
    A[o] = i < nx ? tables[(W + o) * nx + i] : 0;
  }
  for (int z = first; z < end; z++) {
    const int there = z >= 0 && z < nz;
    FOR_TASKS(id, ROWS * COLUMNS) {
      const int r = y0 - K + id / COLUMNS, c = x0 - K + id % COLUMNS;
      X[id] = there && r >= 0 && r < ny && c >= 0 && c < nx ? x[((long long)z * ny + r) * nx + c] : 0;
    }
    __syncthreads();
    FOR_TASKS(id, ROWS * TX) {
      const real *const from = X + id / TX * COLUMNS + column;
      real t = 0, s = 0;
      TESK_UNROLL
      for (int o = 0; o < W; o++) {
        t += M[o] * from[o];
        s += A[o] * from[o];
      }
      T[id] = t, S[id] = s;
    }
    __syncthreads();
    FOR_TASKS(id, TY * TX) {
      const int row = y0 + id / TX;
      const long long at = ((long long)z * ny + row) * nx + i;
      if (row < ny && i < nx) {
        real V = 0;
        TESK_UNROLL
        for (int o = 0; o < W; o++)
          V += TESK_READ(Ay + row * W + o) * T[id + o * TX] + TESK_READ(My + row * W + o) * S[id + o * TX];
#if DIM == 3
        real *const ring = S + ROWS * TX;
        const real *const Mz = Ay + W * ny, *const Az = Mz + W * nz;
        const int out = z - K;
        real U = 0;
        TESK_UNROLL
        for (int o = 0; o < W; o++) U += TESK_READ(My + row * W + o) * T[id + o * TX];
        ring[2 * ((z - first) % W) * TX * TY + id] = U;
        ring[(2 * ((z - first) % W) + 1) * TX * TY + id] = V;
        if (out >= first + K) {
          const long long to = at - (long long)K * nx * ny;
          real sum = 0;
          TESK_UNROLL
          for (int o = 0; o < W; o++) {
            const real *const slot = ring + 2 * ((z - first + 1 + o) % W) * TX * TY + id;
            sum += TESK_READ(Az + out * W + o) * slot[0] + TESK_READ(Mz + out * W + o) * slot[TX * TY];
          }
          y[to] = b ? b[to] - sum : sum;
        }
#else
        y[at] = b ? b[at] - V : V;
#endif
      }
    }
  }
}
