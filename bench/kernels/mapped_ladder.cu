/* The ladder of Swirydowicz et al. (2019): benchmark operators on element vectors as their paper improves them,
 * step by step, so that its figures can be redrawn beside mapped.cu. A block has one cell, and thread (j, i) has the
 * column of nodes above point (j, i). These are the planes of threads in the paper's Figures 3, 7 and 9;
 * mapped_ladder_cube.cu has one thread per point.
 *   LEVEL 0 global      every contraction reads and writes a work array in global memory, the matrices too
 *         1 shared      work arrays in shared memory
 *         2 registers   columns in registers, layers in shared memory one by one, matrices in shared memory
 *         3 constant    the same; inputs are declared constant and without aliases
 *         4 padded      the same; rows of shared arrays whose length is a multiple of 8 are one longer
 *         5 unrolled    the same, all loops unrolled
 *         6 barriers    whole cells in shared memory: one barrier per direction instead of several per layer
 *         7 symmetric   the same; a matrix entry of the z-direction is loaded once for I[r][c] and I[Q-1-r][N-1-c],
 *                       entries of the other directions once for all layers
 * Shared memory: 0: none; 1: 4 Q^3; 2 to 5: 3 Q Q' + Q N' + Q Q'; 6, 7: 3 Q^2 Q' + Q N' + Q Q' numbers; Q' and N' are
 * Q and N with their gap. Registers of BP3 in float64 on sm_90: 48 if loops are not unrolled, with columns in local
 * memory; 240 to 255 in levels 5 to 7 (Q = 8 to 10). Bytes and flops: as in mapped.cu, without even and odd halves.
 * Macros: real, N, Q, COLLOCATED, MASS, STIFFNESS, LEVEL. */
#include "kernel.h"

#define THREADS (Q * Q)
#define FACTORS (6 * STIFFNESS + MASS)
#define POINTS (Q * Q * Q)
#define NODES (N * N * N)
#if LEVEL >= 3
#define INPUT const real *TESK_RESTRICT
#else
#define INPUT real *
#endif
#define PADDED(n)                                                                                            \
  ((n) + (LEVEL >= 4 && (n) % 8 == 0)) /* 8 or 16 threads would access the same banks of memory */
#define QP PADDED(Q)
#define NP PADDED(N)
#if LEVEL >= 5
#define UNROLL TESK_UNROLL
#elif defined(TESK_EMULATOR)
#define UNROLL
#else
#define UNROLL _Pragma("unroll 1")
#endif

/* w <- G g at a point; returns the factor of the mass. */
TESK_DEVICE real apply_factors(const real *geometry, int point, real lambda, real g[3]) {
#if STIFFNESS
  const real m0 = geometry[point], m1 = geometry[POINTS + point], m2 = geometry[2 * POINTS + point],
             m3 = geometry[3 * POINTS + point], m4 = geometry[4 * POINTS + point],
             m5 = geometry[5 * POINTS + point], x = g[0], y = g[1], z = g[2];
  g[0] = m0 * x + m1 * y + m2 * z;
  g[1] = m1 * x + m3 * y + m4 * z;
  g[2] = m2 * x + m4 * y + m5 * z;
#endif
  return MASS ? lambda * geometry[6 * STIFFNESS * POINTS + point] : 0;
}

#if LEVEL <= 1
/* ---- cubes [Q][Q][Q] in memory ------------------------------------------------------------------------- */
/* out (+)= the matrix applied along the direction of `stride`: nx x ny x nz results, sums over `length`; entry
 * (row, l) is matrix[row * by_row + l * by_l]. */
TESK_DEVICE void contract(const real *matrix, int by_row, int by_l, int length, int stride, int nx, int ny,
                          int nz, int add, const real *in, real *out) {
  const int i = (int)threadIdx.x % Q, j = (int)threadIdx.x / Q;
  if (i < nx && j < ny)
    for (int k = 0; k < nz; k++) {
      const int at = (k * Q + j) * Q + i, row = stride == 1 ? i : stride == Q ? j : k;
      real sum = add ? out[at] : 0;
      for (int l = 0; l < length; l++) sum += matrix[row * by_row + l * by_l] * in[at + (l - row) * stride];
      out[at] = sum;
    }
  __syncthreads();
}

TESK_DEVICE void apply_cell(const real *x, real *y, const real *geometry, const real *I, const real *D,
                            real lambda, real *A) {
  real *const B = A + POINTS, *const C = B + POINTS, *const E = C + POINTS;
  const int i = (int)threadIdx.x % Q, j = (int)threadIdx.x / Q;
  if (i < N && j < N)
    for (int k = 0; k < N; k++) A[(k * Q + j) * Q + i] = x[(k * N + j) * N + i];
  __syncthreads();
#if !COLLOCATED
  contract(I, N, 1, N, Q * Q, N, N, Q, 0, A, B);
  contract(I, N, 1, N, Q, N, Q, Q, 0, B, C);
  contract(I, N, 1, N, 1, Q, Q, Q, 0, C, A);
#endif
#if STIFFNESS
  contract(D, Q, 1, Q, 1, Q, Q, Q, 0, A, B);
  contract(D, Q, 1, Q, Q, Q, Q, Q, 0, A, C);
  contract(D, Q, 1, Q, Q * Q, Q, Q, Q, 0, A, E);
#endif
  for (int k = 0; k < Q; k++) {
    const int at = (k * Q + j) * Q + i;
    real g[3] = {STIFFNESS ? B[at] : 0, STIFFNESS ? C[at] : 0, STIFFNESS ? E[at] : 0};
    const real m = apply_factors(geometry, at, lambda, g);
    A[at] = MASS ? m * A[at] : 0;
    if (STIFFNESS) {
      B[at] = g[0];
      C[at] = g[1];
      E[at] = g[2];
    }
  }
  __syncthreads();
#if STIFFNESS
  contract(D, 1, Q, Q, 1, Q, Q, Q, 1, B, A);
  contract(D, 1, Q, Q, Q, Q, Q, Q, 1, C, A);
  contract(D, 1, Q, Q, Q * Q, Q, Q, Q, 1, E, A);
#endif
#if !COLLOCATED
  contract(I, 1, N, Q, 1, N, Q, Q, 0, A, B);
  contract(I, 1, N, Q, Q, N, N, Q, 0, B, C);
  contract(I, 1, N, Q, Q * Q, N, N, N, 0, C, A);
#endif
  if (i < N && j < N)
    for (int k = 0; k < N; k++) y[(k * N + j) * N + i] = A[(k * Q + j) * Q + i];
}

#else
/* ---- columns in registers ------------------------------------------------------------------------------ */
/* The z-direction: out[rows] <- matrix in[columns]; sign: of the symmetry matrix[opposite][opposite] = sign matrix. */
#define COLUMN(rows, columns, entry, sign, in, out)                                                          \
  UNROLL                                                                                                     \
  for (int r = 0; r < (rows); r++) out[r] = 0;                                                               \
  if (LEVEL < 7) {                                                                                           \
    UNROLL                                                                                                   \
    for (int r = 0; r < (rows); r++) UNROLL                                                                  \
    for (int l = 0; l < (columns); l++) out[r] += (entry)*in[l];                                             \
  } else {                                                                                                   \
    UNROLL                                                                                                   \
    for (int r = 0; r < (rows) / 2; r++) UNROLL                                                              \
    for (int l = 0; l < (columns); l++) {                                                                    \
      const real m = entry;                                                                                  \
      out[r] += m * in[l];                                                                                   \
      out[(rows)-1 - r] += (sign)*m * in[(columns)-1 - l];                                                   \
    }                                                                                                        \
    if ((rows) % 2) {                                                                                        \
      const int r = (rows) / 2;                                                                              \
      UNROLL                                                                                                 \
      for (int l = 0; l < (columns); l++) out[r] += (entry)*in[l];                                           \
    }                                                                                                        \
  }

/* A sum along x or y of a layer, for layer k of a column: v[k] (+)= sum over l of entry(l) s[k][l stride]. */
#define LAYER(length, entry, from, stride, k, result)                                                        \
  UNROLL                                                                                                     \
  for (int l = 0; l < (length); l++) result += (entry) * (from)[(LEVEL >= 6 ? (k)*Q * QP : 0) + l * (stride)];

/* For all layers at once, if whole cells are in shared memory, so that an entry is loaded once. */
#define LAYERS(layers, length, entry, from, stride, out)                                                     \
  if (LEVEL >= 7) {                                                                                          \
    UNROLL                                                                                                   \
    for (int l = 0; l < (length); l++) {                                                                     \
      const real m = entry;                                                                                  \
      UNROLL                                                                                                 \
      for (int k = 0; k < (layers); k++) out[k] += m * (from)[k * Q * QP + l * (stride)];                    \
    }                                                                                                        \
  } else {                                                                                                   \
    UNROLL                                                                                                   \
    for (int k = 0; k < (layers); k++) LAYER(length, entry, from, stride, k, out[k])                         \
  }

#define AT(k) ((LEVEL >= 6 ? (k)*Q * QP : 0) + j * QP + i)

#if !COLLOCATED
/* v[Q] of all layers along one direction. `s` stores the layers; `mine` says which threads have a result. */
#define ALONG(owner, mine, length, entry, from, stride)                                                      \
  if (LEVEL >= 6) {                                                                                          \
    real sum[Q];                                                                                             \
    UNROLL                                                                                                   \
    for (int k = 0; k < Q; k++) {                                                                            \
      if (owner) s[AT(k)] = v[k];                                                                            \
      sum[k] = 0;                                                                                            \
    }                                                                                                        \
    __syncthreads();                                                                                         \
    if (mine) {                                                                                              \
      LAYERS(Q, length, entry, from, stride, sum)                                                            \
    }                                                                                                        \
    __syncthreads();                                                                                         \
    UNROLL                                                                                                   \
    for (int k = 0; k < Q; k++) v[k] = sum[k];                                                               \
  } else {                                                                                                   \
    UNROLL                                                                                                   \
    for (int k = 0; k < Q; k++) {                                                                            \
      real sum = 0;                                                                                          \
      if (owner) s[AT(k)] = v[k];                                                                            \
      __syncthreads();                                                                                       \
      if (mine) {                                                                                            \
        LAYER(length, entry, from, stride, k, sum)                                                           \
      }                                                                                                      \
      __syncthreads();                                                                                       \
      v[k] = sum;                                                                                            \
    }                                                                                                        \
  }
#endif

TESK_DEVICE void apply_cell(const real *x, real *y, const real *geometry, const real *I, const real *D,
                            real lambda, real *s) {
  enum { CUBE = LEVEL >= 6 ? Q * Q * QP : Q * QP };
  const int i = (int)threadIdx.x % Q, j = (int)threadIdx.x / Q, node = i < N && j < N;
  real *const s1 = s + CUBE, *const s2 = s1 + CUBE, *const mi = s2 + CUBE, *const md = mi + Q * NP;
  real u[N], v[Q], w[Q];
  (void)w, (void)s1, (void)s2;
  for (int l = (int)threadIdx.x; l < Q * N; l += THREADS) mi[l / N * NP + l % N] = I[l];
  md[j * QP + i] = D[threadIdx.x];
  UNROLL
  for (int k = 0; k < N; k++) u[k] = node ? x[(k * N + j) * N + i] : 0;
  __syncthreads();
#if COLLOCATED
  UNROLL
  for (int k = 0; k < Q; k++) v[k] = u[k];
#else
  COLUMN(Q, N, mi[r * NP + l], 1, u, v)
  ALONG(node, i < N, N, mi[j * NP + l], s + i, QP)
  ALONG(i < N, 1, N, mi[i * NP + l], s + j * QP, 1)
#endif
#if STIFFNESS
  COLUMN(Q, Q, md[r * QP + l], -1, v, w)
  real r1[Q], r2[Q];
  UNROLL
  for (int k = 0; k < Q; k++) r1[k] = r2[k] = 0;
  if (LEVEL >= 6) {
    UNROLL
    for (int k = 0; k < Q; k++) s[AT(k)] = v[k];
    __syncthreads();
    LAYERS(Q, Q, md[i * QP + l], s + j * QP, 1, r1)
    LAYERS(Q, Q, md[j * QP + l], s + i, QP, r2)
  }
  UNROLL
  for (int k = 0; k < Q; k++) {
    if (LEVEL < 6) {
      s[AT(k)] = v[k];
      __syncthreads();
      LAYER(Q, md[i * QP + l], s + j * QP, 1, k, r1[k])
      LAYER(Q, md[j * QP + l], s + i, QP, k, r2[k])
    }
    real g[3] = {r1[k], r2[k], w[k]};
    const real m = apply_factors(geometry, (k * Q + j) * Q + i, lambda, g);
    s1[AT(k)] = g[0];
    s2[AT(k)] = g[1];
    w[k] = g[2];
    v[k] = MASS ? m * v[k] : 0;
    if (LEVEL < 6) {
      __syncthreads();
      LAYER(Q, md[l * QP + i], s1 + j * QP, 1, k, v[k])
      LAYER(Q, md[l * QP + j], s2 + i, QP, k, v[k])
    }
  }
  if (LEVEL >= 6) {
    __syncthreads();
    LAYERS(Q, Q, md[l * QP + i], s1 + j * QP, 1, v)
    LAYERS(Q, Q, md[l * QP + j], s2 + i, QP, v)
  }
  COLUMN(Q, Q, md[l * QP + r], -1, w, r1)
  UNROLL
  for (int k = 0; k < Q; k++) v[k] += r1[k];
#else
  UNROLL
  for (int k = 0; k < Q; k++) {
    real g[3];
    v[k] *= apply_factors(geometry, (k * Q + j) * Q + i, lambda, g);
  }
#endif
#if COLLOCATED
  UNROLL
  for (int k = 0; k < N; k++) u[k] = v[k];
#else
  __syncthreads();
  ALONG(1, i < N, Q, mi[l * NP + i], s + j * QP, 1)
  ALONG(i < N, node, Q, mi[l * NP + j], s + i, QP)
  COLUMN(N, Q, mi[l * NP + r], 1, v, u)
#endif
  UNROLL
  for (int k = 0; k < N; k++)
    if (node) y[(k * N + j) * N + i] = u[k];
}
#endif

TESK_KERNEL(tesk_mapped_ladder, THREADS, 1, (INPUT)x, (real *)y, (INPUT)geometry, (INPUT)I, (INPUT)D,
            (double)lambda, (real *)work) {
  TESK_SHARED(memory);
  const long long cell = blockIdx.x;
  apply_cell(x + cell * NODES, y + cell * NODES, geometry + cell * FACTORS * POINTS, I, D, (real)lambda,
             LEVEL == 0 ? work + cell * 4 * POINTS : memory);
}
