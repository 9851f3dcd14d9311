#include "multigrid/coarse/aggregation/hierarchy.h"
#include <lapacke.h>
#include "base/team.h"
#include "basis/blas.h"

/* Chebyshev polynomials of the fourth kind (Lottes): they need no lower end of the spectrum. */
static void fill_steps(TesiAggregationLevel *level) {
  for (int k = 1; k <= TESI_AGGREGATION_STEPS; k++) {
    level->c[k - 1] = k > 1 ? (2. * k - 3) / (2 * k + 1) : 0;
    level->s[k - 1] = (8. * k - 4) / (2 * k + 1) / level->lambda;
  }
}

TesStatus tesi_hierarchy_accelerate(TesiHierarchy *h, int l, int cycles, double least, double largest) {
  TesContext *ctx = h->context;
  TesStatus status = TES_OK;
  TesiAggregationLevel *level = &h->level[l];
  const double middle = (largest + least) / 2, half = (largest - least) / 2;
  double ratio = half / middle;
  level->cycles = cycles;
  level->gain[0] = 1 / middle, level->keep[0] = 0;
  for (int k = 1; k < cycles; k++) {
    const double next = 1 / (2 * middle / half - ratio);
    level->gain[k] = 2 * next / half, level->keep[k] = next * ratio;
    ratio = next;
  }
  double **const arrays[] = {&level->sum, &level->r, &level->q};
  for (size_t i = 0; cycles > 1 && i < sizeof arrays / sizeof *arrays; i++)
    if (!*arrays[i]) TES_ALLOC(arrays[i], level->length);
done:
  return status;
}

static TesStatus complete(TesContext *ctx, TesiAggregationLevel *level, bool finest) {
  TesStatus status = TES_OK;
  level->length = level->A.rows * level->A.high;
  TES_ALLOC(&level->inverse, level->length);
  if (!finest) TES_ALLOC(&level->b, level->length);
  TES_ALLOC(&level->x, level->length);
  TES_ALLOC(&level->y, level->length);
  TES_ALLOC(&level->p, level->length);
  tesi_block_diagonal(ctx, &level->A, level->inverse);
  for (int64_t i = 0; i < level->length; i++) {
    if (!(level->inverse[i] > 0))
      TES_FAIL(TES_NAN,
               "a matrix of the coarsest level has %g on its diagonal, expected > 0: is a coefficient "
               "finite and positive?",
               level->inverse[i]);
    level->inverse[i] = 1 / level->inverse[i];
  }
  TES_TRY(tesi_aggregation_largest(ctx, &level->A, level->inverse, &level->lambda));
  fill_steps(level);
done:
  return status;
}

/* 1 where a column of P is empty. */
static void complete_diagonal(TesiBlockMatrix *A) {
  for (int64_t i = 0; i < A->rows; i++) {
    const int64_t count = A->row[i + 1] - A->row[i];
    for (int64_t k = 0; k < count; k++)
      for (int r = 0; r < A->high && A->column[A->row[i] + k] == i; r++) {
        double *d = &tesi_block_at(A, i)[(r * count + k) * A->wide + r];
        if (*d == 0) *d = 1;
      }
  }
}

/* Makes the next level below `fine`, and its near-null vectors. *made: whether there is such a level. */
static TesStatus coarsen(TesContext *ctx, TesiAggregationLevel *fine, int vectors, const double *B,
                         TesiBlockMatrix *A, double **C, bool *made) {
  TesStatus status = TES_OK;
  TesiAggregates aggregates = {0};
  TesiBlockMatrix T = {0}, AP = {0};
  *made = false;
  TES_TRY(tesi_aggregates_create(ctx, &fine->A, &aggregates));
  if (aggregates.count == 0 || 5 * aggregates.count * vectors > 4 * fine->length) goto done;
  TES_TRY(tesi_prolongation_tentative(ctx, &aggregates, fine->A.rows, fine->A.high, vectors, B, &T, C));
  TES_TRY(tesi_prolongation_smooth(ctx, &fine->A, fine->inverse, 4 / (3 * fine->lambda), &T, &fine->P));
  TES_TRY(tesi_block_transpose(ctx, &fine->P, &fine->R));
  TES_TRY(tesi_block_multiply(ctx, &fine->A, &fine->P, &AP));
  TES_TRY(tesi_block_multiply(ctx, &fine->R, &AP, A));
  complete_diagonal(A);
  *made = true;
done:
  tesi_aggregates_free(ctx, &aggregates);
  tesi_block_free(ctx, &T);
  tesi_block_free(ctx, &AP);
  return status;
}

static void fill_dense(const TesiBlockMatrix *A, double *dense) {
  const int64_t n = A->rows * A->high;
  for (int64_t i = 0; i < A->rows; i++) {
    const int64_t count = A->row[i + 1] - A->row[i];
    for (int r = 0; r < A->high; r++)
      for (int64_t k = 0; k < count; k++)
        for (int c = 0; c < A->wide; c++)
          dense[(i * A->high + r) * n + (int64_t)A->column[A->row[i] + k] * A->wide + c] =
              tesi_block_at(A, i)[(r * count + k) * A->wide + c];
  }
}

/* dense += weight v v' of the near-null vectors k < loose, B [n][vectors]. */
static void hold(int64_t n, int vectors, int loose, const double *B, double *dense) {
  double mean = 0;
  for (int64_t i = 0; i < n; i++) mean += dense[i * n + i] / (double)n;
  for (int k = 0; k < loose; k++) {
    double square = 0;
    for (int64_t i = 0; i < n; i++) square += B[i * vectors + k] * B[i * vectors + k];
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        dense[i * n + j] += mean / square * B[i * vectors + k] * B[j * vectors + k];
  }
}

static TesStatus invert_last(TesiHierarchy *h, int vectors, int loose, const double *B) {
  TesContext *ctx = h->context;
  TesStatus status = TES_OK;
  const TesiBlockMatrix *A = &h->level[h->levels - 1].A;
  const int64_t n = A->rows * A->high;
  const lapack_int size = (lapack_int)n;
  TES_ALLOC(&h->inverse, n * n);
  fill_dense(A, h->inverse);
  hold(n, vectors, loose, B, h->inverse);
  TES_TRY(tesi_blas_begin(ctx, (int)n));
  lapack_int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', size, h->inverse, size);
  if (info == 0) info = LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', size, h->inverse, size);
  if (info != 0)
    TES_FAIL(TES_NAN, "the last matrix of the coarsest level (%lld unknowns) is not positive definite",
             (long long)n);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) h->inverse[i * n + j] = h->inverse[j * n + i];
done:
  return status;
}

static TesStatus round_matrices(TesiHierarchy *h) {
  TesContext *ctx = h->context;
  TesStatus status = TES_OK;
  for (int l = 0; l + 1 < h->levels; l++) {
    TES_TRY(tesi_block_round(ctx, &h->level[l].A));
    TES_TRY(tesi_block_round(ctx, &h->level[l].P));
    TES_TRY(tesi_block_round(ctx, &h->level[l].R));
  }
done:
  return status;
}

/* Makes levels until the last level is small; *B: its near-null vectors. */
static TesStatus create_levels(TesiHierarchy *h, const TesiHierarchyDesc *desc, double **B) {
  TesContext *ctx = h->context;
  TesStatus status = TES_OK;
  double *C = NULL;
  bool more = true;
  TES_TRY(complete(ctx, &h->level[0], true));
  while (more && h->levels < TESI_AGGREGATION_LEVELS && h->level[h->levels - 1].length > desc->last) {
    TesiAggregationLevel *fine = &h->level[h->levels - 1], *coarse = fine + 1;
    TES_TRY(tesi_work_go_on(ctx));
    TES_TRY(coarsen(ctx, fine, desc->vectors, *B ? *B : desc->B, &coarse->A, &C, &more));
    if (!more) break;
    tesi_free(ctx, B);
    *B = C, C = NULL;
    h->levels++;
    TES_TRY(complete(ctx, coarse, false));
    h->complexity += (double)coarse->A.row[coarse->A.rows] * coarse->A.high * coarse->A.wide;
  }
done:
  tesi_free(ctx, &C);
  return status;
}

TesStatus tesi_hierarchy_create(TesContext *ctx, const TesiHierarchyDesc *desc, TesiHierarchy **hierarchy) {
  TesStatus status = TES_OK;
  TesiHierarchy *h = NULL;
  double *B = NULL;
  *hierarchy = NULL;
  TES_NEW(&h);
  h->context = tesi_context_retain(ctx);
  h->levels = 1;
  h->level[0].A = *desc->A;
  *desc->A = (TesiBlockMatrix){0};
  const TesiBlockMatrix *A = &h->level[0].A;
  const double entries = (double)A->row[A->rows] * A->high * A->wide;
  h->complexity = entries;
  TES_TRY(create_levels(h, desc, &B));
  h->complexity /= entries;
  h->level[0].cycles = h->level[h->levels - 1].cycles = 1;
  for (int l = 1; l + 1 < h->levels; l++) TES_TRY(tesi_hierarchy_accelerate(h, l, 2, 0.25, 1));
  TES_TRY(invert_last(h, desc->vectors, desc->loose, B ? B : desc->B));
  TES_TRY(round_matrices(h));
  *hierarchy = h;
  h = NULL;
done:
  tesi_free(ctx, &B);
  tesi_hierarchy_destroy(&h);
  return status;
}

void tesi_hierarchy_destroy(TesiHierarchy **hierarchy) {
  if (!*hierarchy) return;
  TesiHierarchy *h = *hierarchy;
  TesContext *ctx = h->context;
  *hierarchy = NULL;
  for (int l = 0; l < TESI_AGGREGATION_LEVELS; l++) {
    TesiAggregationLevel *level = &h->level[l];
    double **const arrays[] = {&level->inverse, &level->b,   &level->x, &level->y,
                               &level->p,       &level->sum, &level->r, &level->q};
    tesi_block_free(ctx, &level->A);
    tesi_block_free(ctx, &level->P);
    tesi_block_free(ctx, &level->R);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tesi_free(ctx, arrays[i]);
  }
  tesi_free(ctx, &h->inverse);
  tesi_free(ctx, &h);
  tes_context_destroy(&ctx);
}
