/* After P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid by smoothed aggregation", Computing 56 (1996),
 * algorithm 2, with the threshold 0. */
#include "multigrid/coarse/aggregation/aggregates.h"

static bool is_free(const TesiBlockMatrix *A, const int32_t *of, int64_t I) {
  if (of[I] >= 0) return false;
  for (int64_t e = A->row[I]; e < A->row[I + 1]; e++)
    if (of[A->column[e]] >= 0) return false;
  return true;
}

static bool is_alone(const TesiBlockMatrix *A, int64_t I) {
  return A->row[I + 1] - A->row[I] <= 1;
}

/* Node I and its neighbours that have no aggregate. */
static void gather(const TesiBlockMatrix *A, int64_t I, int32_t number, int32_t *of) {
  of[I] = number;
  for (int64_t e = A->row[I]; e < A->row[I + 1]; e++)
    if (of[A->column[e]] < 0) of[A->column[e]] = number;
}

/* The aggregate below `count` that most neighbours of I have; -1: no neighbour has an aggregate. */
static int32_t most_common(const TesiBlockMatrix *A, const int32_t *of, int64_t I, int64_t count) {
  int32_t best = -1;
  int64_t most = 0;
  for (int64_t e = A->row[I]; e < A->row[I + 1]; e++) {
    const int32_t a = of[A->column[e]];
    int64_t votes = 0;
    if (a < 0 || a >= count) continue;
    for (int64_t f = A->row[I]; f < A->row[I + 1]; f++) votes += of[A->column[f]] == a;
    if (votes > most || (votes == most && a < best)) best = a, most = votes;
  }
  return best;
}

static TesStatus list_members(TesContext *ctx, int64_t rows, TesiAggregates *a) {
  TesStatus status = TES_OK;
  int64_t *at = NULL;
  TES_ALLOC(&a->first, a->count + 1);
  TES_ALLOC(&a->member, rows);
  TES_ALLOC(&at, a->count);
  for (int64_t i = 0; i < rows; i++)
    if (a->of[i] >= 0) a->first[a->of[i] + 1]++;
  for (int64_t k = 0; k < a->count; k++) a->first[k + 1] += a->first[k];
  for (int64_t i = 0; i < rows; i++)
    if (a->of[i] >= 0) a->member[a->first[a->of[i]] + at[a->of[i]]++] = (int32_t)i;
done:
  tesi_free(ctx, &at);
  return status;
}

TesStatus tesi_aggregates_create(TesContext *ctx, const TesiBlockMatrix *A, TesiAggregates *aggregates) {
  TesStatus status = TES_OK;
  TesiAggregates *a = aggregates;
  int32_t *joined = NULL;
  *a = (TesiAggregates){0};
  TES_ALLOC(&a->of, A->rows);
  TES_ALLOC(&joined, A->rows);
  for (int64_t i = 0; i < A->rows; i++) a->of[i] = -1;
  for (int64_t i = 0; i < A->rows; i++)
    if (!is_alone(A, i) && is_free(A, a->of, i)) gather(A, i, (int32_t)a->count++, a->of);
  for (int64_t i = 0; i < A->rows; i++)
    joined[i] = a->of[i] < 0 && !is_alone(A, i) ? most_common(A, a->of, i, a->count) : -1;
  for (int64_t i = 0; i < A->rows; i++)
    if (joined[i] >= 0) a->of[i] = joined[i];
  for (int64_t i = 0; i < A->rows; i++)
    if (a->of[i] < 0 && !is_alone(A, i)) gather(A, i, (int32_t)a->count++, a->of);
  TES_TRY(list_members(ctx, A->rows, a));
done:
  tesi_free(ctx, &joined);
  if (status != TES_OK) tesi_aggregates_free(ctx, a);
  return status;
}

void tesi_aggregates_free(TesContext *ctx, TesiAggregates *aggregates) {
  tesi_free(ctx, &aggregates->of);
  tesi_free(ctx, &aggregates->first);
  tesi_free(ctx, &aggregates->member);
  *aggregates = (TesiAggregates){0};
}
