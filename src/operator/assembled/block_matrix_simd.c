/* Products of rows with a vector, whose entries are gathered, up to PIECE blocks at a time. */
#include "operator/assembled/block_matrix.h"
#include "tensor/simd.h"

enum { LANES = 8, PIECE = 64 };

typedef double V __attribute__((vector_size(8 * LANES), may_alias));
typedef float Rounded __attribute__((vector_size(4 * LANES), may_alias));

TESI_INLINE void read(const TesiBlockMatrix *A, bool rounded, int64_t i, V *v) {
  if (rounded) {
    Rounded narrow;
    memcpy(&narrow, A->rounded + i, sizeof narrow);
    *v = __builtin_convertvector(narrow, V);
  } else {
    memcpy(v, A->value + i, sizeof *v);
  }
}

/* to[count][wide] <- the entries of x. */
TESI_INLINE void gather(int wide, int64_t count, const int32_t *column, const double *x, double *to) {
  for (int64_t k = 0; k < count; k++)
    for (int c = 0; c < wide; c++) to[k * wide + c] = x[(int64_t)column[k] * wide + c];
}

/* The sum of n products with the values from `at` on. */
TESI_INLINE double multiply(const TesiBlockMatrix *A, bool rounded, int64_t at, int n, const double *x) {
  V lane = {0}, v;
  double sum = 0;
  int i = 0;
  for (; i + LANES <= n; i += LANES) {
    read(A, rounded, at + i, &v);
    lane += v * *(const V *)(x + i);
  }
  for (; i < n; i++) sum += (rounded ? (double)A->rounded[at + i] : A->value[at + i]) * x[i];
  return sum + (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7])));
}

/* sums[high] <- block row I of A x. */
TESI_INLINE void multiply_row(const TesiBlockMatrix *A, bool rounded, int high, int wide, int64_t I,
                              const double *x, double *sums) {
  const int64_t first = A->row[I], count = A->row[I + 1] - first, step = count * wide;
  _Alignas(64) double gathered[PIECE * TESI_BLOCK_MOST];
  for (int r = 0; r < high; r++) sums[r] = 0;
  for (int64_t k = 0; k < count; k += PIECE) {
    const int64_t piece = count - k < PIECE ? count - k : PIECE;
    gather(wide, piece, A->column + first + k, x, gathered);
    for (int r = 0; r < high; r++)
      sums[r] += multiply(A, rounded, first * high * wide + r * step + k * wide, (int)piece * wide, gathered);
  }
}

TESI_INLINE void use_row(const TesiBlockTask *t, int64_t i, double q) {
  switch (t->way) {
  case TESI_BLOCK_MULTIPLY:
    t->y[i] = q;
    break;
  case TESI_BLOCK_RESIDUAL:
    t->y[i] = t->b[i] - q;
    break;
  case TESI_BLOCK_ADD:
    t->y[i] += q;
    break;
  case TESI_BLOCK_STEP:
    t->p[i] = (t->c != 0 ? t->c * t->p[i] : 0) + t->s * t->d[i] * (t->b[i] - q);
    t->y[i] = t->x[i] + t->p[i];
  }
}

TESI_INLINE void run_rows(const TesiBlockTask *t, bool rounded, int high, int wide, int64_t first,
                          int64_t end) {
  double q[TESI_BLOCK_MOST];
  for (int64_t I = first; I < end; I++) {
    multiply_row(t->A, rounded, high, wide, I, t->x, q);
    for (int r = 0; r < high; r++) use_row(t, I * high + r, q[r]);
  }
}

/* Blocks of one component and of three are compiled separately. */
TESI_INLINE void run_blocks(const TesiBlockTask *t, bool rounded, int64_t first, int64_t end) {
  const int high = t->A->high, wide = t->A->wide;
  if (high == 1 && wide == 1)
    run_rows(t, rounded, 1, 1, first, end);
  else if (high == 3 && wide == 3)
    run_rows(t, rounded, 3, 3, first, end);
  else
    run_rows(t, rounded, high, wide, first, end);
}

TesiBlockRows TESI_SIMD(tesi_block_rows);
void TESI_SIMD(tesi_block_rows)(const TesiBlockTask *t, int64_t first, int64_t end) {
  if (t->rounded)
    run_blocks(t, true, first, end);
  else
    run_blocks(t, false, first, end);
}
