/* Sparse matrices of dense blocks in compressed rows, in host memory, for aggregation multigrid.
 *
 * Block row I has the block columns column[row[I]] .. column[row[I + 1] - 1], in any order, each `high` x `wide`. The
 * values of a scalar row are contiguous: with m blocks in row I, entry (r, c) of block k of the row is
 * value[high wide row[I] + (r m + k) wide + c].
 * So a product reads values, and gathered entries of a vector, in order, on the host and on devices.
 *
 * Every function gives the same bits for every number of threads, since one thread computes a row. */
#ifndef TESI_BLOCK_MATRIX_H
#define TESI_BLOCK_MATRIX_H

#include "base/base.h"

typedef struct TesiBlockMatrix {
  int64_t rows, columns; /* of blocks */
  int high, wide;        /* dimensions of a block, at most TESI_BLOCK_MOST */
  int64_t *row;          /* [rows + 1] */
  int32_t *column;       /* [row[rows]] */
  double *value;         /* [row[rows]][high][wide], rows as above */
  float *rounded;        /* the same in float32; NULL: not asked for */
} TesiBlockMatrix;

enum { TESI_BLOCK_MOST = 6 };

/* Values of block row i: [high][blocks of the row][wide]. */
static inline double *tesi_block_at(const TesiBlockMatrix *A, int64_t i) {
  return A->value + A->row[i] * A->high * A->wide;
}

/* Allocates columns and values, as zeros, of a matrix whose rows, columns, high, wide and row are set. */
TesStatus tesi_block_allocate(TesContext *ctx, TesiBlockMatrix *A);
/* Fills A->rounded from A->value. */
TesStatus tesi_block_round(TesContext *ctx, TesiBlockMatrix *A);
void tesi_block_free(TesContext *ctx, TesiBlockMatrix *A);
double tesi_block_bytes(const TesiBlockMatrix *A);

/* Use of row i of the product A x, q. Kernels of aggregation.cu have the same four. */
typedef enum TesiBlockWay {
  TESI_BLOCK_MULTIPLY, /* y <- q */
  TESI_BLOCK_RESIDUAL, /* y <- b - q */
  TESI_BLOCK_ADD,      /* y <- y + q */
  TESI_BLOCK_STEP      /* p <- c p + s d (b - q), y <- x + p; c = 0: p is not read */
} TesiBlockWay;

typedef struct TesiBlockTask {
  TesiBlockWay way;
  bool rounded; /* with A->rounded; sums are float64 */
  const TesiBlockMatrix *A;
  const double *x, *b, *d;
  double s, c;
  double *p, *y; /* y is not x */
} TesiBlockTask;
void tesi_block_run(const TesContext *ctx, const TesiBlockTask *task);
/* Block rows first .. end - 1 of a task (block_matrix_simd.c). */
typedef void TesiBlockRows(const TesiBlockTask *task, int64_t first, int64_t end);

/* T <- A', C <- A B. T and C begin as {0}. Columns of T ascend. */
TesStatus tesi_block_transpose(TesContext *ctx, const TesiBlockMatrix *A, TesiBlockMatrix *T);
TesStatus tesi_block_multiply(TesContext *ctx, const TesiBlockMatrix *A, const TesiBlockMatrix *B,
                              TesiBlockMatrix *C);

/* d[rows high] <- the diagonal of a square matrix. */
void tesi_block_diagonal(const TesContext *ctx, const TesiBlockMatrix *A, double *d);

#endif
