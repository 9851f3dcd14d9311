#include "operator/assembled/block_matrix.h"
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"

TesStatus tesi_block_allocate(TesContext *ctx, TesiBlockMatrix *A) {
  TesStatus status = TES_OK;
  TES_ALLOC(&A->column, A->row[A->rows]);
  TES_ALLOC(&A->value, A->row[A->rows] * A->high * A->wide);
done:
  return status;
}

static void round_span(const void *data, TesiSpan span) {
  const TesiBlockMatrix *A = data;
  for (int64_t i = span.first; i < span.end; i++) A->rounded[i] = (float)A->value[i];
}

TesStatus tesi_block_round(TesContext *ctx, TesiBlockMatrix *A) {
  TesStatus status = TES_OK;
  const int64_t numbers = A->row[A->rows] * A->high * A->wide;
  TES_ALLOC(&A->rounded, numbers);
  tesi_team_for(tesi_team_threads(ctx, numbers), numbers, round_span, A);
done:
  return status;
}

void tesi_block_free(TesContext *ctx, TesiBlockMatrix *A) {
  tesi_free(ctx, &A->row);
  tesi_free(ctx, &A->column);
  tesi_free(ctx, &A->value);
  tesi_free(ctx, &A->rounded);
  *A = (TesiBlockMatrix){0};
}

double tesi_block_bytes(const TesiBlockMatrix *A) {
  const double blocks = A->row ? (double)A->row[A->rows] : 0;
  return blocks * (4 + (A->rounded ? 12.0 : 8.0) * A->high * A->wide) + 8 * (double)(A->rows + 1);
}

/* ---- products with vectors ----------------------------------------------------------------------------- */
extern TesiBlockRows tesi_block_rows_128, tesi_block_rows_256, tesi_block_rows_512;

typedef struct Run {
  const TesiBlockTask *task;
  TesiBlockRows *rows;
} Run;

static void run_span(const void *data, TesiSpan span) {
  const Run *run = data;
  run->rows(run->task, span.first, span.end);
}

static int threads_of(const TesContext *ctx, const TesiBlockMatrix *A) {
  return tesi_team_threads(ctx, A->row[A->rows] * A->high * A->wide);
}

void tesi_block_run(const TesContext *ctx, const TesiBlockTask *task) {
  TesiBlockRows *const rows = TESI_SIMD_PICK(tes_context_simd_bits(ctx), tesi_block_rows);
  tesi_team_for(threads_of(ctx, task->A), task->A->rows, run_span, &(Run){task, rows});
}

/* ---- products of matrices ------------------------------------------------------------------------------ */
typedef struct Product {
  const TesiBlockMatrix *A, *B;
  TesiBlockMatrix *C;
  int32_t *mark; /* [threads][columns of B] */
} Product;

/* mark: the row that met the column last, and 1. */
static void count_span(const void *data, TesiSpan span) {
  const Product *p = data;
  const TesiBlockMatrix *A = p->A, *B = p->B;
  int32_t *mark = p->mark + span.thread * B->columns;
  for (int64_t I = span.first; I < span.end; I++) {
    int64_t count = 0;
    for (int64_t k = A->row[I]; k < A->row[I + 1]; k++)
      for (int64_t j = B->row[A->column[k]]; j < B->row[A->column[k] + 1]; j++)
        if (mark[B->column[j]] != (int32_t)I + 1) mark[B->column[j]] = (int32_t)I + 1, count++;
    p->C->row[I + 1] = count;
  }
}

/* C's row += a B's row. `wide` is known at compile time in the sizes that matter. */
static inline void add_scaled(int wide, int64_t count, double a, const double *b, const int32_t *column,
                              const int32_t *place, double *c) {
  for (int64_t j = 0; j < count; j++, b += wide) {
    double *to = c + (int64_t)(place[column[j]] - 1) * wide;
    for (int i = 0; i < wide; i++) to[i] += a * b[i];
  }
}

/* C's block row += block k of A's block row I times B's block row. */
static void add_block(const Product *p, int64_t I, int64_t k, const int32_t *place, double *c) {
  const TesiBlockMatrix *A = p->A, *B = p->B;
  const int64_t K = A->column[A->row[I] + k], first = B->row[K], count = B->row[K + 1] - first,
                blocks = A->row[I + 1] - A->row[I], length = (p->C->row[I + 1] - p->C->row[I]) * B->wide;
  const int32_t *column = B->column + first;
  for (int r = 0; r < A->high; r++)
    for (int i = 0; i < A->wide; i++) {
      const double a = tesi_block_at(A, I)[(r * blocks + k) * A->wide + i];
      const double *b = tesi_block_at(B, K) + i * count * B->wide;
      double *to = c + r * length;
      if (B->wide == 1)
        add_scaled(1, count, a, b, column, place, to);
      else if (B->wide == 3)
        add_scaled(3, count, a, b, column, place, to);
      else if (B->wide == 6)
        add_scaled(6, count, a, b, column, place, to);
      else
        add_scaled(B->wide, count, a, b, column, place, to);
    }
}

/* place: 1 + the place of a column in the row; 0: the row does not have it. */
static void fill_span(const void *data, TesiSpan span) {
  const Product *p = data;
  const TesiBlockMatrix *A = p->A, *B = p->B, *C = p->C;
  int32_t *place = p->mark + span.thread * B->columns;
  for (int64_t I = span.first; I < span.end; I++) {
    int32_t *column = C->column + C->row[I], count = 0;
    for (int64_t k = A->row[I]; k < A->row[I + 1]; k++)
      for (int64_t j = B->row[A->column[k]]; j < B->row[A->column[k] + 1]; j++)
        if (!place[B->column[j]]) column[count] = B->column[j], place[B->column[j]] = ++count;
    for (int64_t k = 0; k < A->row[I + 1] - A->row[I]; k++) add_block(p, I, k, place, tesi_block_at(C, I));
    for (int32_t j = 0; j < count; j++) place[column[j]] = 0;
  }
}

TesStatus tesi_block_multiply(TesContext *ctx, const TesiBlockMatrix *A, const TesiBlockMatrix *B,
                              TesiBlockMatrix *C) {
  TesStatus status = TES_OK;
  enum { ROWS = 64 /* that a thread takes at a time */ };
  const int threads = tesi_team_threads(ctx, A->row[A->rows] * A->high * A->wide * B->wide);
  Product p = {A, B, C, NULL};
  *C = (TesiBlockMatrix){.rows = A->rows, .columns = B->columns, .high = A->high, .wide = B->wide};
  TES_ALLOC(&p.mark, threads * B->columns);
  TES_ALLOC(&C->row, C->rows + 1);
  tesi_team_share(threads, C->rows, ROWS, count_span, &p);
  for (int64_t I = 0; I < C->rows; I++) C->row[I + 1] += C->row[I];
  TES_TRY(tesi_block_allocate(ctx, C));
  memset(p.mark, 0, (size_t)(threads * B->columns) * sizeof *p.mark);
  tesi_team_share(threads, C->rows, ROWS, fill_span, &p);
done:
  tesi_free(ctx, &p.mark);
  return status;
}

/* ---- the transpose ------------------------------------------------------------------------------------- */
typedef struct Turn {
  const TesiBlockMatrix *A;
  TesiBlockMatrix *T;
  const int64_t *from; /* [blocks of T] place of the block in A */
} Turn;

static void turn_span(const void *data, TesiSpan span) {
  const Turn *t = data;
  const TesiBlockMatrix *A = t->A, *T = t->T;
  for (int64_t J = span.first; J < span.end; J++) {
    const int64_t count = T->row[J + 1] - T->row[J];
    double *to = tesi_block_at(T, J);
    for (int64_t k = 0; k < count; k++) {
      const int64_t I = T->column[T->row[J] + k], first = A->row[I], blocks = A->row[I + 1] - first,
                    at = t->from[T->row[J] + k] - first;
      const double *a = tesi_block_at(A, I);
      for (int r = 0; r < A->high; r++)
        for (int c = 0; c < A->wide; c++)
          to[(c * count + k) * A->high + r] = a[(r * blocks + at) * A->wide + c];
    }
  }
}

TesStatus tesi_block_transpose(TesContext *ctx, const TesiBlockMatrix *A, TesiBlockMatrix *T) {
  TesStatus status = TES_OK;
  int64_t *from = NULL, *at = NULL;
  *T = (TesiBlockMatrix){.rows = A->columns, .columns = A->rows, .high = A->wide, .wide = A->high};
  TES_ALLOC(&T->row, T->rows + 1);
  for (int64_t e = 0; e < A->row[A->rows]; e++) T->row[A->column[e] + 1]++;
  for (int64_t J = 0; J < T->rows; J++) T->row[J + 1] += T->row[J];
  TES_TRY(tesi_block_allocate(ctx, T));
  TES_ALLOC(&from, T->row[T->rows]);
  TES_ALLOC(&at, T->rows);
  for (int64_t I = 0; I < A->rows; I++)
    for (int64_t e = A->row[I]; e < A->row[I + 1]; e++) {
      const int64_t J = A->column[e], place = T->row[J] + at[J]++;
      T->column[place] = (int32_t)I, from[place] = e;
    }
  tesi_team_for(threads_of(ctx, A), T->rows, turn_span, &(Turn){A, T, from});
done:
  tesi_free(ctx, &from);
  tesi_free(ctx, &at);
  return status;
}

typedef struct Diagonal {
  const TesiBlockMatrix *A;
  double *d;
} Diagonal;

static void diagonal_span(const void *data, TesiSpan span) {
  const TesiBlockMatrix *A = ((const Diagonal *)data)->A;
  double *const d = ((const Diagonal *)data)->d;
  for (int64_t I = span.first; I < span.end; I++) {
    const int64_t count = A->row[I + 1] - A->row[I];
    for (int64_t k = 0; k < count; k++)
      for (int r = 0; r < A->high && A->column[A->row[I] + k] == I; r++)
        d[I * A->high + r] = tesi_block_at(A, I)[(r * count + k) * A->wide + r];
  }
}

void tesi_block_diagonal(const TesContext *ctx, const TesiBlockMatrix *A, double *d) {
  tesi_team_for(threads_of(ctx, A), A->rows, diagonal_span, &(Diagonal){A, d});
}
