#include "multigrid/coarse/coarse_lu.h"
#include <lapacke.h>
#include <string.h>
#include "basis/blas.h"
#include "multigrid/coarse/coarse.h"
#include "smoother/smoother.h"

struct TesiCoarseLu {
  TesContext *context;
  int n;
  double *A; /* its factors, by columns */
  lapack_int *pivot;
  TesSmoother *smoother; /* instead of these */
};

static TesStatus factorize(const TesOperator *op, TesiCoarseLu *lu) {
  TesContext *ctx = lu->context;
  TesStatus status = TES_OK;
  const int n = lu->n;
  double *unit = NULL;
  TES_ALLOC(&unit, n);
  TES_ALLOC(&lu->A, (int64_t)n * n);
  TES_ALLOC(&lu->pivot, n);
  for (int j = 0; j < n; j++) {
    unit[j] = 1;
    TES_TRY(op->table->apply(op, unit, lu->A + (int64_t)j * n));
    unit[j] = 0;
  }
  TES_TRY(tesi_blas_begin(ctx, n));
  TES_CHECK(LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, lu->A, n, lu->pivot) == 0,
            "the operator of the coarsest mesh has no inverse");
done:
  tesi_free(ctx, &unit);
  return status;
}

TesStatus tesi_coarse_lu_create(TesContext *ctx, const TesOperator *op, TesiCoarseLu **result) {
  TesStatus status = TES_OK;
  TesiCoarseLu *lu = NULL;
  *result = NULL;
  TES_NEW(&lu);
  lu->context = tesi_context_retain(ctx);
  lu->n = (int)op->length;
  TES_TRY(op->length <= TESI_DENSE ? factorize(op, lu)
                                   : tes_smoother_create(ctx, &(TesSmootherDesc){.op = op}, &lu->smoother));
  *result = lu;
  lu = NULL;
done:
  tesi_coarse_lu_destroy(&lu);
  return status;
}

void tesi_coarse_lu_destroy(TesiCoarseLu **result) {
  TesiCoarseLu *lu = *result;
  if (!lu) return;
  TesContext *ctx = lu->context;
  *result = NULL;
  tesi_free(ctx, &lu->A);
  tesi_free(ctx, &lu->pivot);
  tes_smoother_destroy(&lu->smoother);
  tesi_free(ctx, &lu);
  tes_context_destroy(&ctx);
}

const char *tesi_coarse_lu_describe(const TesiCoarseLu *lu) {
  return lu->smoother ? "20 steps of the smoother" : "solved directly";
}

TesStatus tesi_coarse_lu_solve(TesiCoarseLu *lu, const double *b, double *x) {
  enum { STEPS = 20 };
  TesContext *ctx = lu->context;
  TesStatus status = TES_OK;
  if (!lu->smoother) {
    memcpy(x, b, (size_t)lu->n * sizeof *x);
    TES_TRY(tesi_blas_begin(ctx, lu->n));
    LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', lu->n, 1, lu->A, lu->n, lu->pivot, x, lu->n);
    return TES_OK;
  }
  for (int i = 0; i < STEPS; i++)
    TES_TRY(lu->smoother->table->apply(lu->smoother, b, x, TES_FORWARD, i == 0));
done:
  return status;
}
