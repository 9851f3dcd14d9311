/* The exact solution of the local problems of all lanes, by eigenvectors and S^+ (operator/stokes/stokes_local.h).
 * Arrays are [z][y][x] of SIMD vectors; n, and N modes of an interval, n or 2 n, are constants in the loops of a
 * degree. Part of stokes_patch_body.h. */
#ifndef TESI_STOKES_PATCH_SOLVE_H
#define TESI_STOKES_PATCH_SOLVE_H

#include "smoother/stokes_patch/stokes_patch_lines.h"

enum { MOST = 2 * 16 + 1 };

/* Patches of a task while they are solved. */
typedef struct Patch {
  const TesiStokesPatchPlan *plan;
  const TesiStokesPatchTable *t[3];
  const Real *numbers[3]; /* of the tables */
  const TesiStokesPatchKind *kind;
  const Real *kind_numbers;
  Lines lines[TESI_RT_PARTS];
  V *F[3], *schur, *pressure, *W, *U, *spare, *step;
} Patch;

/* Lines along a direction of an array: `inner` of them side by side, `outer` times. */
typedef struct Along {
  int outer, inner;
} Along;

TESI_INLINE Along along(int d, const int extent[3]) {
  return (Along){.outer = d == 0   ? extent[1] * extent[2]
                          : d == 1 ? extent[2]
                                   : 1,
                 .inner = d == 0   ? 1
                          : d == 1 ? extent[0]
                                   : extent[0] * extent[1]};
}

/* y[rows] <- A[rows][columns] x[columns]. */
TESI_INLINE void multiply(const Real *A, int rows, int columns, const V *x, V *y) {
  TESI_UNROLL for (int r = 0; r < rows; r++) {
    V sum = A[r * columns] * x[0];
    TESI_UNROLL for (int c = 1; c < columns; c++) sum += A[r * columns + c] * x[c];
    y[r] = sum;
  }
}

/* The same for any size. */
static void multiply_any(const Real *A, int rows, int columns, const V *x, V *y) {
  int r = 0;
  for (; r + 4 <= rows; r += 4) {
    const Real *const row = A + r * columns;
    V s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int c = 0; c < columns; c++) {
      s0 += row[c] * x[c], s1 += row[columns + c] * x[c];
      s2 += row[2 * columns + c] * x[c], s3 += row[3 * columns + c] * x[c];
    }
    y[r] = s0, y[r + 1] = s1, y[r + 2] = s2, y[r + 3] = s3;
  }
  for (; r < rows; r++) {
    const Real *const row = A + (size_t)r * (size_t)columns;
    V sum = {0};
    for (int c = 0; c < columns; c++) sum += row[c] * x[c];
    y[r] = sum;
  }
}

/* The same of an interval of N modes; those of one cell are short enough for loops of their own. */
TESI_INLINE void multiply_line(const Real *A, int rows, int columns, int n, int N, const V *x, V *y) {
  if (N == n && rows == n && columns == n)
    multiply(A, n, n, x, y);
  else if (N == n && rows == n + 1 && columns == n + 1)
    multiply(A, n + 1, n + 1, x, y);
  else if (N == n && rows == n && columns == n + 1)
    multiply(A, n, n + 1, x, y);
  else if (N == n && rows == n + 1 && columns == n)
    multiply(A, n + 1, n, x, y);
  else
    multiply_any(A, rows, columns, x, y);
}

/* A line to its even and odd parts, and back. */
TESI_INLINE void split(bool node, int n, const V *line, V *even, V *odd) {
  const int pairs = node ? n - 1 : n;
  TESI_UNROLL for (int j = 0; j < pairs; j++) {
    const V a = line[j], b = line[node ? 2 * n - 2 - j : n + j];
    const bool changes = !node && j % 2;
    even[j] = changes ? a - b : a + b;
    odd[j] = changes ? a + b : a - b;
  }
  if (node) even[n - 1] = line[n - 1];
}

TESI_INLINE void join(bool node, int n, const V *even, const V *odd, V *line) {
  const int pairs = node ? n - 1 : n;
  TESI_UNROLL for (int j = 0; j < pairs; j++) {
    line[j] = even[j] + odd[j];
    line[node ? 2 * n - 2 - j : n + j] = !node && j % 2 ? odd[j] - even[j] : even[j] - odd[j];
  }
  if (node) line[n - 1] = even[n - 1];
}

/* A line times Z' or Z. */
TESI_INLINE void transform_line(const Real *A, bool node, bool symmetric, int length, bool back, int n, int N,
                                const V *x, V *y) {
  V even[MOST], odd[MOST];
  if (!symmetric) {
    multiply_line(A, length, length, n, N, x, y);
  } else if (!back) {
    split(node, n, x, even, odd);
    multiply(A, n, n, even, y);
    multiply(A + n * n, node ? n - 1 : n, node ? n - 1 : n, odd, y + n);
  } else {
    multiply(A, n, n, x, even);
    multiply(A + n * n, node ? n - 1 : n, node ? n - 1 : n, x + n, odd);
    join(node, n, even, odd, y);
  }
}

/* x <- Z' x or Z x in direction d, among modes. */
TESI_INLINE void transform(const Patch *p, int d, bool back, const int extent[3], int n, int N, V *x) {
  const TesiStokesPatchTable *const t = p->t[d];
  const Real *const A = p->numbers[d] + (back ? t->Zd_back : t->Zd_forward);
  const Along a = along(d, extent);
  for (int o = 0; o < a.outer; o++)
    for (int i = 0; i < a.inner; i++) {
      V line[MOST], out[MOST], *const at = x + o * N * a.inner + i;
      for (int j = 0; j < N; j++) line[j] = at[j * a.inner];
      transform_line(A, false, t->symmetric, N, back, n, N, line, out);
      for (int j = 0; j < N; j++) at[j * a.inner] = out[j];
    }
}

/* r[modes] <- r - G f[nodes]; f[nodes] <- G' p[modes]. */
TESI_INLINE void subtract_divergence(const Real *G, const TesiStokesPatchTable *t, int n, int N, int inner,
                                     const V *f, V *r) {
  V g[MOST];
  if (t->symmetric) {
    multiply(G, n, n - 1, f + n, g);
    multiply(G + n * (n - 1), n, n, f, g + n);
  } else {
    multiply_line(G, N, t->nodes, n, N, f, g);
  }
  for (int q = 0; q < N; q++) r[q * inner] -= g[q];
}

TESI_INLINE void gradient(const Real *G, const TesiStokesPatchTable *t, int n, int N, const V *p, V *f) {
  if (t->symmetric) {
    multiply(G, n - 1, n, p, f + n);
    multiply(G + n * (n - 1), n, n, p + n, f);
  } else {
    multiply_line(G, t->nodes, N, n, N, p, f);
  }
}

/* F_i <- Lam_i^-1 Z' F_i; schur <- schur - G F_i. */
TESI_INLINE void component_forward(const Patch *p, int i, int dim, int n, int N) {
  const TesiStokesPatchTable *const t = p->t[i];
  const int M = t->symmetric ? 2 * n - 1 : t->nodes;
  int extent[3];
  for (int d = 0; d < 3; d++) extent[d] = d >= dim ? 1 : d == i ? M : N;
  for (int d = 0; d < dim; d++)
    if (d != i) transform(p, d, false, extent, n, N, p->F[i]);
  const Along a = along(i, extent);
  const Real *const reciprocal = p->kind_numbers + p->kind->reciprocal[i];
  for (int o = 0; o < a.outer; o++)
    for (int j = 0; j < a.inner; j++) {
      const int first = o * M * a.inner + j;
      V line[MOST], out[MOST];
      for (int m = 0; m < M; m++) line[m] = p->F[i][first + m * a.inner];
      transform_line(p->numbers[i] + t->Zc_forward, true, t->symmetric, M, false, n, N, line, out);
      for (int m = 0; m < M; m++) {
        out[m] *= reciprocal[first + m * a.inner];
        p->F[i][first + m * a.inner] = out[m];
      }
      subtract_divergence(p->numbers[i] + t->G, t, n, N, a.inner, out, p->schur + o * N * a.inner + j);
    }
}

/* F_i <- Z (F_i + Lam_i^-1 G' pressure). */
TESI_INLINE void component_back(const Patch *p, int i, int dim, int n, int N) {
  const TesiStokesPatchTable *const t = p->t[i];
  const int M = t->symmetric ? 2 * n - 1 : t->nodes;
  int extent[3];
  for (int d = 0; d < 3; d++) extent[d] = d >= dim ? 1 : d == i ? M : N;
  const Along a = along(i, extent);
  const Real *const reciprocal = p->kind_numbers + p->kind->reciprocal[i];
  for (int o = 0; o < a.outer; o++)
    for (int j = 0; j < a.inner; j++) {
      const int first = o * M * a.inner + j;
      const V *const pressure = p->pressure + o * N * a.inner + j;
      V line[MOST], out[MOST];
      for (int q = 0; q < N; q++) line[q] = pressure[q * a.inner];
      gradient(p->numbers[i] + t->G_transposed, t, n, N, line, out);
      for (int m = 0; m < M; m++)
        line[m] = p->F[i][first + m * a.inner] + reciprocal[first + m * a.inner] * out[m];
      transform_line(p->numbers[i] + t->Zc_back, true, t->symmetric, M, true, n, N, line, out);
      for (int m = 0; m < M; m++) p->F[i][first + m * a.inner] = out[m];
    }
  for (int d = 0; d < dim; d++)
    if (d != i) transform(p, d, true, extent, n, N, p->F[i]);
}

/* y[ROWS] <- S[.., first row ..] x, S symmetric: rows are read as columns. The error of a float32 sum grows with the
 * root of its length, so partial sums of TERMS terms are summed. */
enum { TERMS = 16 };
#define ROWS_OF(ROWS)                                                                                        \
  TESI_INLINE void rows_##ROWS(const Real *S, int size, const V *x, V *y) {                                  \
    TESI_UNROLL for (int r = 0; r < ROWS; r++) y[r] = (V){0};                                                \
    for (int first = 0; first < size; first += TERMS) {                                                      \
      const int end = first + TERMS < size ? first + TERMS : size;                                           \
      V sum[ROWS];                                                                                           \
      TESI_UNROLL for (int r = 0; r < ROWS; r++) sum[r] = (V){0};                                            \
      for (int c = first; c < end; c++, S += size) {                                                         \
        const V value = x[c];                                                                                \
        TESI_UNROLL for (int r = 0; r < ROWS; r++) sum[r] += S[r] * value;                                   \
      }                                                                                                      \
      TESI_UNROLL for (int r = 0; r < ROWS; r++) y[r] += sum[r];                                             \
    }                                                                                                        \
  }
ROWS_OF(1)
ROWS_OF(4)
ROWS_OF(8)
ROWS_OF(9)
ROWS_OF(12)

/* Between a block of an array of pressures [modes z][y][x] and its own numbers side by side. */
static void copy_block(const TesiStokesBlock *b, int N, bool out, V *whole, V *block) {
  for (int z = 0; z < b->extent[2]; z++)
    for (int y = 0; y < b->extent[1]; y++, block += b->extent[0]) {
      V *const line = whole + b->first[0] + N * (b->first[1] + y + N * (b->first[2] + z));
      for (int x = 0; x < b->extent[0]; x++)
        if (out)
          line[x] = block[x];
        else
          block[x] = line[x];
    }
}

/* to <- S^+ from, with the table of a kind; `to` may be `from`. */
static void apply_inverse(const Patch *p, const TesiStokesPatchKind *kind, int N, V *from, V *to) {
  for (int k = 0; k < kind->blocks; k++) {
    const TesiStokesBlock *const b = &kind->block[k];
    const Real *const S = (const Real *)kind->inverses + kind->S[k];
    V *const result = p->U;
    int r = 0;
    copy_block(b, N, false, from, p->spare);
    for (; r + 12 <= b->size; r += 12) rows_12(S + r, b->size, p->spare, result + r);
    for (; r + 9 <= b->size; r += 9) rows_9(S + r, b->size, p->spare, result + r);
    for (; r + 8 <= b->size; r += 8) rows_8(S + r, b->size, p->spare, result + r);
    for (; r + 4 <= b->size; r += 4) rows_4(S + r, b->size, p->spare, result + r);
    for (; r < b->size; r++) rows_1(S + r, b->size, p->spare, result + r);
    copy_block(b, N, true, to, result);
  }
}

#include "smoother/stokes_patch/stokes_patch_iterate.h"

/* From right-hand sides in F and schur (of the pressure, with its sign) to the solution in F and pressure. */
TESI_INLINE void solve(const Patch *p, int dim, int n, int N) {
  const int extent[3] = {N, N, dim > 2 ? N : 1};
  for (int d = 0; d < dim; d++) transform(p, d, false, extent, n, N, p->schur);
  for (int i = 0; i < dim; i++) component_forward(p, i, dim, n, N);
  if (p->kind->blocks)
    apply_inverse(p, p->kind, N, p->schur, p->pressure);
  else
    iterate_pressure(p, dim, n, N);
  for (int i = 0; i < dim; i++) component_back(p, i, dim, n, N);
  for (int d = 0; d < dim; d++) transform(p, d, true, extent, n, N, p->pressure);
}

#endif
