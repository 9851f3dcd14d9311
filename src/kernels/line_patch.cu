/* Patches that are lines of cells (src/smoother/line_patch/line_patch.h): the contribution of a line to sum R_l' A_l^-1
 * R_l W r, in three kernels; gather.cu then sums node by node:
 *   tesk_line_to_modes   values <- (S (x) S)' W r       a thread: a position of a line
 *   tesk_line_solve      values <- (L D L')^-1 values   a thread: a mode of a line, from end to end and back
 *   tesk_line_to_nodes   values <- (S (x) S) values     a thread: a position of a line
 *
 * Lines are in batches of 32. The lane, thread % 32, is the line, so that all arrays are read in rows of 32 numbers. In
 * the first and the third kernel thread / 32 is the position, counted through all batches; in the second kernel it is
 * batch * MODES + mode. No shared memory. Registers: MODES values of a position (N in 2D, N^2 in 3D: they spill from
 * degree 7 on), in the second kernel the K values before or after, through the first cache.
 *
 * Per place, with s bytes per number: first and third kernel 4 (DIM - 1) N flops, 3 s + 4 + 2 s bytes from main
 * memory, S from caches; second kernel 4 K + 1 flops, 2 (N + 2) s bytes. The limit is main memory if there are about
 * 10^4 lines, else the length of the second kernel: 2 positions times the latency of a load.
 *
 * Macros: real, DIM, N (nodes per direction). */
#include "kernel.h"

#define THREADS 128
#define LANES 32
#define K (N - 1)
#if DIM == 3
#define MODES (N * N)
#else
#define MODES N
#endif

/* line[N], its entries `step` apart <- S' line or S line; S [N node][N mode], LANES apart. */
TESK_DEVICE void multiply(const real *S, int transposed, real *line, int step) {
  real own[N];
  TESK_UNROLL
  for (int i = 0; i < N; i++) own[i] = line[i * step];
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    real sum = 0;
    TESK_UNROLL
    for (int j = 0; j < N; j++) sum += TESK_READ(S + (transposed ? j * N + i : i * N + j) * LANES) * own[j];
    line[i * step] = sum;
  }
}

/* Transforms v[MODES] of a position in all directions across. S: of the batch, at the lane. */
TESK_DEVICE void turn(const real *S, int transposed, real v[MODES]) {
#if DIM == 3
  TESK_UNROLL
  for (int j = 0; j < N; j++) multiply(S, transposed, v + j * N, 1);
  TESK_UNROLL
  for (int j = 0; j < N; j++) multiply(S + N * N * LANES, transposed, v + j, N);
#else
  multiply(S, transposed, v, 1);
#endif
}

/* index [positions][MODES][LANES]; batch [positions]; S [batches][DIM - 1][N][N][LANES]. */
TESK_KERNEL(tesk_line_to_modes, THREADS, 1, (const real *TESK_RESTRICT)r, (real *)values,
            (const int *TESK_RESTRICT)index, (const real *TESK_RESTRICT)weight,
            (const int *TESK_RESTRICT)batch, (const real *TESK_RESTRICT)S, (int)positions) {
  const int thread = (int)(blockIdx.x * THREADS + threadIdx.x), lane = thread % LANES,
            position = thread / LANES;
  if (position >= positions) return;
  const long long first = (long long)position * MODES * LANES + lane;
  real v[MODES];
  TESK_UNROLL
  for (int m = 0; m < MODES; m++) {
    const int at = TESK_READ(index + first + m * LANES);
    v[m] = at < 0 ? 0 : TESK_READ(weight + at) * TESK_READ(r + at);
  }
  turn(S + (long long)TESK_READ(batch + position) * (DIM - 1) * N * N * LANES + lane, 1, v);
  TESK_UNROLL
  for (int m = 0; m < MODES; m++) values[first + m * LANES] = v[m];
}

/* first [batches + 1]: positions; factor [positions][MODES][N][LANES]: 1 / D, then L with the K positions before.
 * Position i is coupled with earlier positions of its cell: with K positions at the end of a cell, with i % K
 * inside. */
TESK_KERNEL(tesk_line_solve, THREADS, 1, (real *)values, (const real *TESK_RESTRICT)factor,
            (const int *TESK_RESTRICT)first, (int)batches) {
  const int thread = (int)(blockIdx.x * THREADS + threadIdx.x), lane = thread % LANES,
            mode = thread / LANES % MODES, batch = thread / LANES / MODES;
  if (batch >= batches) return;
  const int begin = TESK_READ(first + batch), count = TESK_READ(first + batch + 1) - begin,
            step = MODES * LANES;
  const long long place = ((long long)begin * MODES + mode) * LANES + lane;
  real *const u = values + place;
  const real *const f = factor + ((long long)begin * MODES + mode) * N * LANES + lane;
  for (int i = 1; i < count; i++) {
    const int before = (i - 1) % K + 1;
    const real *const of = f + (long long)i * N * step;
    real sum = u[(long long)i * step];
    for (int j = 1; j <= before; j++) sum -= TESK_READ(of + j * LANES) * u[(long long)(i - j) * step];
    u[(long long)i * step] = sum;
  }
  for (int i = count - 1; i >= 0; i--) {
    const int after = i == count - 1 ? 0 : K - i % K;
    real sum = u[(long long)i * step] * TESK_READ(f + (long long)i * N * step);
    for (int j = 1; j <= after; j++)
      sum -= TESK_READ(f + (long long)(i + j) * N * step + j * LANES) * u[(long long)(i + j) * step];
    u[(long long)i * step] = sum;
  }
}

TESK_KERNEL(tesk_line_to_nodes, THREADS, 1, (real *)values, (const int *TESK_RESTRICT)batch,
            (const real *TESK_RESTRICT)S, (int)positions) {
  const int thread = (int)(blockIdx.x * THREADS + threadIdx.x), lane = thread % LANES,
            position = thread / LANES;
  if (position >= positions) return;
  const long long first = (long long)position * MODES * LANES + lane;
  real v[MODES];
  TESK_UNROLL
  for (int m = 0; m < MODES; m++) v[m] = values[first + m * LANES];
  turn(S + (long long)TESK_READ(batch + position) * (DIM - 1) * N * N * LANES + lane, 0, v);
  TESK_UNROLL
  for (int m = 0; m < MODES; m++) values[first + m * LANES] = v[m];
}
