/* x_I <- x_I + omega A_p^-1 r_I for vertex patches of one colour by fast diagonalization, with 1D eigenbases that
 * differ from patch to patch: graded cells, natural and Robin faces, surrogate local matrices of varying coefficients.
 *
 *   A_p^-1 = (S_x (x) S_y (x) S_z) (lambda_x + lambda_y + lambda_z)^-1 (S_x (x) S_y (x) S_z)'
 *
 * A patch has m_d <= NODES = 2 degree - 1 nodes per direction; S_d and lambda_d are padded to NODES, S with zeros and
 * lambda with ones, so that all loops have a fixed length and the padding contributes nothing. A table: S
 * [NODES][ROW] (node, mode), then lambda [ROW], ROW = NODES rounded up to 16 bytes.
 *
 * A block works on PATCHES patches, a thread on lines: z (load, S'), y (S'), x (S', divide, S), y (S), z (S, add);
 * shared memory, or with GLOBAL_WORK global memory for the largest degrees, is the transpose between directions:
 * NODES^DIM values per patch in rows of NODES | 1.
 * Work per node: 4 DIM NODES flops. Bytes: r once, x read and written, and the tables where they are the patch's own.
 *
 * Macros: real, DIM, NODES, PATCHES, THREADS, GLOBAL_WORK. */
#include "kernel.h"

#define CHUNK (16 / (int)sizeof(real))
#define ROW ((NODES + CHUNK - 1) / CHUNK * CHUNK)
#define TABLE (NODES * ROW + ROW)
#define PX (NODES | 1)
#if DIM == 3
#define LINES (NODES * NODES)
#else
#define LINES NODES
#endif
#define SIZE (LINES * PX)

/* Tables row by row at the highest degrees: whole, their 31^2 terms a use keep the compiler for ten seconds and
 * spill more than they hold. */
#if NODES <= 19
#define UNROLL_ROWS TESK_UNROLL
#else
#define UNROLL_ROWS TESK_ROLL
#endif

typedef struct TeskPatch {
  long long node;     /* its first */
  long long table[3]; /* number of its table in each direction */
  int m[3], unused;
} TeskPatch;

typedef struct TESK_ALIGNED(16) Chunk {
  real v[16 / sizeof(real)];
} Chunk;

/* out <- S' in */
TESK_DEVICE void to_modes(const real *S, const real *in, real *out) {
  TESK_UNROLL
  for (int j = 0; j < ROW; j++) out[j] = 0;
  UNROLL_ROWS
  for (int i = 0; i < NODES; i++) {
    TESK_UNROLL
    for (int j = 0; j < ROW; j += CHUNK) {
      const Chunk s = *(const Chunk *)(S + i * ROW + j);
      TESK_UNROLL
      for (int e = 0; e < CHUNK; e++) out[j + e] += s.v[e] * in[i];
    }
  }
}

/* out <- S in; in has ROW values. */
TESK_DEVICE void to_nodes(const real *S, const real *in, real *out) {
  UNROLL_ROWS
  for (int i = 0; i < NODES; i++) {
    real sum = 0;
    TESK_UNROLL
    for (int j = 0; j < ROW; j += CHUNK) {
      const Chunk s = *(const Chunk *)(S + i * ROW + j);
      TESK_UNROLL
      for (int e = 0; e < CHUNK; e++) sum += s.v[e] * in[j + e];
    }
    out[i] = sum;
  }
}

/* One line of the slowest direction: (i, j) are its place in the others. */
TESK_DEVICE void load_line(const TeskPatch *p, const real *r, const real *S, int i, int j, int pitch,
                           long long plane, real *u) {
  real v[ROW], w[ROW];
  const long long step = DIM == 3 ? plane : pitch;
  const real *from = r + p->node + (DIM == 3 ? (long long)j * pitch : 0) + i;
  const int valid = i < p->m[0] && (DIM == 2 || j < p->m[1]);
  TESK_UNROLL
  for (int l = 0; l < NODES; l++) v[l] = valid && l < p->m[DIM - 1] ? TESK_READ(from + l * step) : 0;
  to_modes(S, v, w);
  TESK_UNROLL
  for (int l = 0; l < NODES; l++) u[l * (DIM == 3 ? NODES * PX : PX)] = w[l];
}

TESK_DEVICE void add_line(const TeskPatch *p, real *x, const real *S, int i, int j, int pitch,
                          long long plane, real omega, const real *u) {
  real v[ROW], w[ROW];
  const long long step = DIM == 3 ? plane : pitch;
  real *to = x + p->node + (DIM == 3 ? (long long)j * pitch : 0) + i;
  if (i >= p->m[0] || (DIM == 3 && j >= p->m[1])) return;
  TESK_UNROLL
  for (int l = 0; l < ROW; l++) w[l] = l < NODES ? u[l * (DIM == 3 ? NODES * PX : PX)] : 0;
  to_nodes(S, w, v);
  TESK_UNROLL
  for (int l = 0; l < NODES; l++)
    if (l < p->m[DIM - 1]) to[l * step] += omega * v[l];
}

/* The middle direction in place. */
TESK_DEVICE void middle_line(const real *S, int back, real *u) {
  real v[ROW], w[ROW];
  TESK_UNROLL
  for (int l = 0; l < ROW; l++) v[l] = l < NODES ? u[l * PX] : 0;
  if (back)
    to_nodes(S, v, w);
  else
    to_modes(S, v, w);
  TESK_UNROLL
  for (int l = 0; l < NODES; l++) u[l * PX] = w[l];
}

/* x: to modes, divided by the eigenvalues, back. `others`: their sum in the other directions. */
TESK_DEVICE void first_line(const real *S, real others, real *u) {
  real v[ROW], w[ROW];
  const real *lambda = S + NODES * ROW;
  TESK_UNROLL
  for (int l = 0; l < ROW; l++) v[l] = l < NODES ? u[l] : 0;
  to_modes(S, v, w);
  TESK_UNROLL
  for (int l = 0; l < ROW; l++) w[l] /= lambda[l] + others;
  to_nodes(S, w, v);
  TESK_UNROLL
  for (int l = 0; l < NODES; l++) u[l] = v[l];
}

#define FOR_EACH_LINE(id)                                                                                    \
  for (int id = (int)threadIdx.x; id < PATCHES * LINES; id += THREADS)                                       \
    if ((int)blockIdx.x * PATCHES + id / LINES < count)

TESK_KERNEL(tesk_patch_local, THREADS, 1, (const real *)r, (real *)x, (const TeskPatch *)patches, (int)count,
            (const real *)tables, (int)pitch, (long long)plane, (real)omega, (real *)work) {
#if GLOBAL_WORK
  real *const U = work + (long long)blockIdx.x * (PATCHES * SIZE);
#else
  TESK_SHARED(U);
  (void)work;
#endif
  const TeskPatch *const first = patches + blockIdx.x * PATCHES;
  FOR_EACH_LINE(id) {
    const TeskPatch *p = first + id / LINES;
    const int i = id % NODES, j = DIM == 3 ? id / NODES % NODES : 0;
    load_line(p, r, tables + p->table[DIM - 1] * TABLE, i, j, pitch, plane,
              U + id / LINES * SIZE + j * PX + i);
  }
  __syncthreads();
#if DIM == 3
  FOR_EACH_LINE(id)
  middle_line(tables + first[id / LINES].table[1] * TABLE, 0,
              U + id / LINES * SIZE + id / NODES % NODES * NODES * PX + id % NODES);
  __syncthreads();
#endif
  FOR_EACH_LINE(id) {
    const TeskPatch *p = first + id / LINES;
    const int j = id % NODES, l = DIM == 3 ? id / NODES % NODES : 0;
    const real ly = (tables + p->table[1] * TABLE)[NODES * ROW + j],
               lz = DIM == 3 ? (tables + p->table[2] * TABLE)[NODES * ROW + l] : 0;
    first_line(tables + p->table[0] * TABLE, ly + lz,
               U + id / LINES * SIZE + (l * NODES * (DIM == 3) + j) * PX);
  }
  __syncthreads();
#if DIM == 3
  FOR_EACH_LINE(id)
  middle_line(tables + first[id / LINES].table[1] * TABLE, 1,
              U + id / LINES * SIZE + id / NODES % NODES * NODES * PX + id % NODES);
  __syncthreads();
#endif
  FOR_EACH_LINE(id) {
    const TeskPatch *p = first + id / LINES;
    const int i = id % NODES, j = DIM == 3 ? id / NODES % NODES : 0;
    add_line(p, x, tables + p->table[DIM - 1] * TABLE, i, j, pitch, plane, omega,
             U + id / LINES * SIZE + j * PX + i);
  }
}
