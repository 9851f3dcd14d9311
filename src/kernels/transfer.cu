/* The embedding of nested spaces and its transpose along one direction of an array [outer][nodes][inner]; a transfer
 * has one pass per refined direction. A thread owns one coarse cell of one line; with inner > 1 neighbours in a warp
 * are neighbours in memory.
 * Macros: real, DEGREE, STEP (2 DEGREE), LAST_STEP (DEGREE or 3 DEGREE where the last coarse cell covers one or three),
 * UNIFORM, ODD_END.
 * Tables: tesk_e [STEP + 1][DEGREE + 1] where UNIFORM; otherwise tables in memory, of all cells, or where ODD_END of
 * the last cell.
 * transfer_box.cu has all directions in one pass. */
#include "kernel.h"
#include "tables.h"

#define K DEGREE
#define THREADS 256
/* At high degrees the embedding is applied row by row: with all rows unrolled, 2 K^2 statements, compilation takes a
 * minute. */
#if DEGREE <= 8
#define UNROLL_ROWS TESK_UNROLL
#else
#define UNROLL_ROWS TESK_ROLL
#endif
#if UNIFORM
#define E(cell, f, p) tesk_e((f) * (K + 1) + (p))
#else
#define E(cell, f, p) embedding[((cell) * (STEP + 1) + (f)) * (K + 1) + (p)]
#endif
#if UNIFORM
#define LAST embedding
#else
#define LAST (embedding + (long long)(cells - 1) * (STEP + 1) * (K + 1))
#endif
#define FINE ((long long)(cells - 1) * STEP + LAST_STEP + 1) /* nodes of a line */
#define FOR_EACH_CELL                                                                                        \
  for (long long id = (long long)blockIdx.x * THREADS + threadIdx.x; id < inner * cells * outer;             \
       id += (long long)gridDim.x * THREADS)

#if ODD_END
/* The last coarse cell of a line, which has its own table E. */
TESK_DEVICE void prolongate_last(const real *v, const real *E, real *to, long long inner, int add) {
  TESK_ROLL
  for (int f = 0; f <= LAST_STEP; f++) {
    real sum = f == 0 ? v[0] : f == LAST_STEP ? v[K] : 0;
    if (f > 0 && f < LAST_STEP) {
      TESK_UNROLL
      for (int p = 0; p <= K; p++) sum += E[f * (K + 1) + p] * v[p];
    }
    to[f * inner] = add ? to[f * inner] + sum : sum;
  }
}

TESK_DEVICE void restrict_last(const real *from, const real *E, long long inner, real *sum) {
  TESK_UNROLL
  for (int p = 0; p <= K; p++) sum[p] = p == 0 ? from[0] : p == K ? from[LAST_STEP * inner] : 0;
  TESK_ROLL
  for (int f = 1; f < LAST_STEP; f++) {
    const real v = from[f * inner];
    TESK_UNROLL
    for (int p = 0; p <= K; p++) sum[p] += E[f * (K + 1) + p] * v;
  }
}
#endif

/* fine <- E coarse, or fine + E coarse. */
TESK_KERNEL(tesk_prolongate, THREADS, 1, (const real *TESK_RESTRICT)coarse, (real *)fine,
            (const real *TESK_RESTRICT)embedding, (long long)inner, (int)cells, (long long)outer, (int)add) {
  FOR_EACH_CELL {
    const long long i = id % inner, rest = id / inner, o = rest / cells;
    const int c = (int)(rest % cells);
    const real *from = coarse + (o * (cells * K + 1) + c * K) * inner + i;
    real *to = fine + (o * FINE + c * STEP) * inner + i, v[K + 1];
    TESK_UNROLL
    for (int p = 0; p <= K; p++) v[p] = from[p * inner];
#if ODD_END
    if (c == cells - 1) {
      prolongate_last(v, LAST, to, inner, add);
      continue;
    }
#endif
    UNROLL_ROWS
    for (int f = 0; f <= STEP; f++) {
      real sum = f == 0 ? v[0] : f == STEP ? v[K] : 0;
      if (f > 0 && f < STEP) {
        TESK_UNROLL
        for (int p = 0; p <= K; p++) sum += E(c, f, p) * v[p];
      }
      if (f < STEP || c == cells - 1) to[f * inner] = add ? to[f * inner] + sum : sum;
    }
  }
}

TESK_DEVICE void restrict_cell(const real *from, const real *embedding, int c, long long inner, real *sum) {
  (void)embedding, (void)c;
#if DEGREE <= 8
  real v[STEP + 1];
  TESK_UNROLL
  for (int f = 0; f <= STEP; f++) v[f] = from[f * inner];
  TESK_UNROLL
  for (int p = 0; p <= K; p++) {
    sum[p] = p == 0 ? v[0] : p == K ? v[STEP] : 0;
    TESK_UNROLL
    for (int f = 1; f < STEP; f++) sum[p] += E(c, f, p) * v[f];
  }
#else
  TESK_UNROLL
  for (int p = 0; p <= K; p++) sum[p] = p == 0 ? from[0] : p == K ? from[STEP * inner] : 0;
  TESK_ROLL
  for (int f = 1; f < STEP; f++) {
    const real v = from[f * inner];
    TESK_UNROLL
    for (int p = 0; p <= K; p++) sum[p] += E(c, f, p) * v;
  }
#endif
}

/* coarse <- E' fine; zero at Dirichlet ends. */
TESK_KERNEL(tesk_restrict, THREADS, 1, (const real *TESK_RESTRICT)fine, (real *)coarse,
            (const real *TESK_RESTRICT)embedding, (long long)inner, (int)cells, (long long)outer,
            (int)natural_lower, (int)natural_upper) {
  FOR_EACH_CELL {
    const long long i = id % inner, rest = id / inner, o = rest / cells;
    const int c = (int)(rest % cells);
    const real *from = fine + (o * FINE + c * STEP) * inner + i;
    real *to = coarse + (o * (cells * K + 1) + c * K) * inner + i, sum[K + 1];
#if ODD_END
    if (c == cells - 1)
      restrict_last(from, LAST, inner, sum);
    else
#endif
      restrict_cell(from, embedding, c, inner, sum);
    if (c > 0) {
      UNROLL_ROWS
      for (int f = 1; f < STEP; f++) sum[0] += E(c - 1, f, K) * from[(f - STEP) * inner];
    } else if (!natural_lower) {
      sum[0] = 0;
    }
    TESK_UNROLL
    for (int p = 0; p < K; p++) to[p * inner] = sum[p];
    if (c == cells - 1) to[K * inner] = natural_upper ? sum[K] : 0;
  }
}
