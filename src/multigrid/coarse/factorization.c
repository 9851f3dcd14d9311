#include "multigrid/coarse/factorization.h"
#include <string.h>
#include "base/afford.h"
#include "device/cuda/cudss.h"
#include "multigrid/coarse/mumps.h"

struct TesiFactorization {
  TesContext *context;
  TesiSymmetry kind;
  int64_t n, entries;
  int *row, *column; /* [entries] by rows; freed when the factors are made */
  double *value;
  TesiMumps *mumps; /* or */
  TesiCudss *cudss;
};

/* Whether the GPU can make factors of this kind. */
static bool on_device(const TesContext *ctx, TesiSymmetry kind) {
  return !strcmp(tesi_context_device(ctx)->kind, "cuda") && kind != TESI_MATRIX_SYMMETRIC &&
         !tesi_context_deterministic(ctx) && tesi_cudss_available();
}

const char *tesi_factorization_missing(const TesContext *ctx) {
  const char *reason = tesi_mumps_missing();
  return reason && on_device(ctx, TESI_MATRIX_DEFINITE) ? NULL : reason;
}

/* ---- set-up -------------------------------------------------------------------------------------------- */

/* Entries that are not zero and in no fixed row or column; for symmetric matrices only the lower triangle. */
static bool is_taken(const TesiFactorization *f, const TesiMatrix *A, const uint8_t *fixed, int64_t i,
                     int64_t e) {
  const int64_t j = A->column[e];
  if (f->kind != TESI_MATRIX_GENERAL && j > i) return false;
  return !fixed[i] && !fixed[j] && (i == j || A->value[e] != 0);
}

static TesStatus copy_entries(TesiFactorization *f, const TesiMatrix *A, const uint8_t *fixed) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  int64_t count = 0;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t e = A->row[i]; e < A->row[i + 1]; e++) count += is_taken(f, A, fixed, i, e);
  for (int64_t i = 0; i < A->rows; i++) count += fixed[i];
  f->entries = count, count = 0;
  TES_ALLOC(&f->row, f->entries);
  TES_ALLOC(&f->column, f->entries);
  TES_ALLOC(&f->value, f->entries);
  for (int64_t i = 0; i < A->rows; i++) {
    if (fixed[i]) f->row[count] = f->column[count] = (int)i, f->value[count++] = 1;
    for (int64_t e = A->row[i]; e < A->row[i + 1]; e++) {
      if (!is_taken(f, A, fixed, i, e)) continue;
      f->row[count] = (int)i, f->column[count] = A->column[e];
      f->value[count++] = A->value[e];
    }
  }
done:
  return status;
}

static TesStatus create_on_host(TesiFactorization *f) {
  for (int64_t e = 0; e < f->entries; e++) f->row[e]++, f->column[e]++; /* MUMPS counts from 1 */
  return tesi_mumps_create(f->context, f->n, f->kind, f->entries, f->row, f->column, f->value, &f->mumps);
}

static TesStatus create_on_device(TesiFactorization *f) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  int32_t *first = NULL;
  TES_CHECK(f->entries < INT32_MAX, "%lld entries are too many for cuDSS", (long long)f->entries);
  TES_ALLOC(&first, f->n + 1);
  for (int64_t e = 0; e < f->entries; e++) first[f->row[e] + 1]++;
  for (int64_t i = 0; i < f->n; i++) first[i + 1] += first[i];
  TES_TRY(tesi_cudss_create(ctx,
                            &(TesiCudssDesc){.n = f->n,
                                             .definite = f->kind == TESI_MATRIX_DEFINITE,
                                             .first = first,
                                             .column = f->column,
                                             .value = f->value},
                            &f->cudss));
done:
  tesi_free(ctx, &first);
  return status;
}

TesStatus tesi_factorization_create(TesContext *ctx, const TesiMatrix *A, TesiSymmetry kind, int fixings,
                                    const int64_t *fixed, TesiFactorization **factorization) {
  TesStatus status = TES_OK;
  TesiFactorization *f = NULL;
  uint8_t *is_fixed = NULL;
  *factorization = NULL;
  if (tesi_factorization_missing(ctx)) TES_FAIL(TES_MISSING, "%s", tesi_factorization_missing(ctx));
  TES_CHECK(A->rows < INT32_MAX, "%lld unknowns are too many for sparse factors", (long long)A->rows);
  TES_NEW(&f);
  f->context = tesi_context_retain(ctx);
  f->kind = kind;
  f->n = A->rows;
  TES_ALLOC(&is_fixed, A->rows);
  for (int i = 0; i < fixings; i++) is_fixed[fixed[i]] = 1;
  TES_TRY(copy_entries(f, A, is_fixed));
  TES_TRY(on_device(ctx, kind) ? create_on_device(f) : create_on_host(f));
  *factorization = f;
  f = NULL;
done:
  tesi_free(ctx, &is_fixed);
  tesi_factorization_destroy(&f);
  return status;
}

static void free_entries(TesiFactorization *f) {
  tesi_free(f->context, &f->row);
  tesi_free(f->context, &f->column);
  tesi_free(f->context, &f->value);
}

void tesi_factorization_destroy(TesiFactorization **factorization) {
  if (!factorization || !*factorization) return;
  TesiFactorization *f = *factorization;
  TesContext *ctx = f->context;
  *factorization = NULL;
  tesi_mumps_destroy(&f->mumps);
  tesi_cudss_destroy(ctx, &f->cudss);
  free_entries(f);
  tesi_free(ctx, &f);
  tes_context_destroy(&ctx);
}

TesiFactorizationCost tesi_factorization_cost(const TesiFactorization *f) {
  if (f->mumps) return tesi_mumps_cost(f->mumps);
  TesiFactorizationCost cost;
  tesi_cudss_cost(f->cudss, &cost.entries, &cost.bytes);
  cost.flops = cost.entries * cost.entries / (double)f->n;
  return cost;
}

/* ---- factors ------------------------------------------------------------------------------------------- */

static TesStatus check_memory(const TesiFactorization *f) {
  TesContext *ctx = f->context;
  const double free = (double)(f->cudss ? tesi_context_device(ctx)->available(ctx) : tes_memory_available());
  return tesi_afford(ctx, tesi_factorization_cost(f).bytes, free, NULL,
                     "sparse factors of %lld unknowns need%s", (long long)f->n, f->cudss ? " on the GPU" : "");
}

static TesStatus compute_on_device(TesiFactorization *f) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  int pivots = 0;
  TES_TRY(tesi_cudss_compute(ctx, f->cudss, &pivots));
  TES_CHECK(!pivots || f->kind != TESI_MATRIX_DEFINITE,
            "the matrix of %lld unknowns is not positive definite: it has %d pivots that are not",
            (long long)f->n, pivots);
  TES_CHECK(!pivots, "the matrix of %lld unknowns has no inverse", (long long)f->n);
done:
  return status;
}

TesStatus tesi_factorization_compute(TesiFactorization *f) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  TES_TRY(check_memory(f));
  TES_TRY(f->mumps ? tesi_mumps_compute(f->mumps) : compute_on_device(f));
  free_entries(f);
done:
  return status;
}

TesStatus tesi_factorization_solve(TesiFactorization *f, double *x) {
  return f->mumps ? tesi_mumps_solve(f->mumps, x) : tesi_cudss_solve(f->context, f->cudss, x);
}
