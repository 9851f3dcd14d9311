#include "multigrid/coarse/coarse_lu.h"
#include <lapacke.h>
#include <string.h>
#include "basis/blas.h"
#include "multigrid/coarse/coarse.h"
#include "multigrid/coarse/factorization.h"
#include "multigrid/coarse/modal_matrix.h"
#include "operator/transport/transport_operator.h"
#include "smoother/smoother.h"
#include "tensor/dense_device.h"

struct TesiCoarseLu {
  TesContext *context;
  int n;
  double *A; /* its factors, by columns; NULL on devices with kernels */
  lapack_int *pivot;
  TesiDenseDevice inverse;
  TesiFactorization *sparse; /* instead of these, of discontinuous elements on the host, */
  TesSmoother *smoother;     /* or this */
};

/* Rows and columns of given values become rows and columns of the identity; the operator gives 0 there. */
static void complete_given(int n, double *A) {
  for (int64_t i = 0; i < n; i++) {
    bool given = true;
    for (int64_t j = 0; j < n; j++) given = given && A[j * n + i] == 0;
    for (int64_t k = 0; given && k < n; k++) A[i * n + k] = k == i;
  }
}

/* A <- the operator's matrix, by columns. */
static TesStatus take_columns(const TesOperator *op, int n, double *A) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *unit = NULL;
  TesVector *x = NULL, *y = NULL;
  TES_ALLOC(&unit, n);
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &x));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &y));
  for (int j = 0; j < n; j++) {
    unit[j] = 1;
    TES_TRY(tes_vector_set(x, unit));
    TES_TRY(tes_operator_apply(op, x, y));
    TES_TRY(tes_vector_get(y, A + (int64_t)j * n));
    unit[j] = 0;
  }
  complete_given(n, A);
done:
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tesi_free(ctx, &unit);
  return status;
}

static TesStatus factorize(const TesOperator *op, TesiCoarseLu *lu) {
  TesContext *ctx = lu->context;
  TesStatus status = TES_OK;
  const int n = lu->n;
  TES_ALLOC(&lu->A, (int64_t)n * n);
  TES_ALLOC(&lu->pivot, n);
  TES_TRY(take_columns(op, n, lu->A));
  TES_TRY(tesi_blas_begin(ctx, n));
  TES_CHECK(LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, lu->A, n, lu->pivot) == 0,
            "the operator of the coarsest mesh has no inverse");
done:
  return status;
}

/* Copies the inverse to the device and frees the factors. */
static TesStatus invert(TesiCoarseLu *lu, TesPrecision precision) {
  TesContext *ctx = lu->context;
  TesStatus status = TES_OK;
  const int n = lu->n;
  double *rows = NULL;
  TES_ALLOC(&rows, (int64_t)n * n);
  TES_CHECK(LAPACKE_dgetri(LAPACK_COL_MAJOR, n, lu->A, n, lu->pivot) == 0,
            "the operator of the coarsest mesh has no inverse");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) rows[(int64_t)i * n + j] = lu->A[(int64_t)j * n + i];
  TES_TRY(tesi_dense_device_create(ctx, precision, n, rows, &lu->inverse));
  tesi_free(ctx, &lu->A);
done:
  tesi_free(ctx, &rows);
  return status;
}

static TesStatus create_smoother(const TesOperator *op, TesPrecision precision, TesiCoarseLu *lu) {
  TesContext *ctx = lu->context;
  TesStatus status = TES_OK;
  TesOperator *own = NULL;
  if (tesi_has_kernels(ctx) && precision != op->precision)
    TES_TRY(tesi_operator_on(op, op->space, precision, &own));
  TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = own ? own : op}, &lu->smoother));
done:
  tes_operator_destroy(&own);
  return status;
}

static bool may_be_sparse(const TesOperator *op) {
  const TesContext *ctx = op->context;
  return tesi_is_upwind(op) && !op->local && !tesi_has_kernels(ctx) && !tesi_factorization_missing(ctx);
}

static TesStatus factorize_sparse(const TesOperator *op, TesiCoarseLu *lu) {
  TesContext *ctx = lu->context;
  TesStatus status = TES_OK;
  TesiMatrix A = {0};
  TES_TRY(tesi_modal_matrix(op, &A));
  TES_TRY(tesi_factorization_create(ctx, &A, TESI_MATRIX_GENERAL, 0, NULL, &lu->sparse));
  tesi_matrix_destroy(ctx, &A);
  TES_TRY(tesi_factorization_compute(lu->sparse));
done:
  tesi_matrix_destroy(ctx, &A);
  return status;
}

TesStatus tesi_coarse_lu_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                TesiCoarseLu **result) {
  TesStatus status = TES_OK;
  TesiCoarseLu *lu = NULL;
  *result = NULL;
  TES_NEW(&lu);
  lu->context = tesi_context_retain(ctx);
  lu->n = (int)op->length;
  TES_TRY(op->length <= TESI_DENSE ? factorize(op, lu)
          : may_be_sparse(op)      ? factorize_sparse(op, lu)
                                   : create_smoother(op, precision, lu));
  if (lu->A && tesi_has_kernels(ctx)) TES_TRY(invert(lu, precision));
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
  tesi_dense_device_free(ctx, &lu->inverse);
  tesi_factorization_destroy(&lu->sparse);
  tes_smoother_destroy(&lu->smoother);
  tesi_free(ctx, &lu);
  tes_context_destroy(&ctx);
}

const char *tesi_coarse_lu_describe(const TesiCoarseLu *lu) {
  return lu->smoother ? "20 steps of the smoother"
         : lu->sparse ? "solved directly, by sparse factors"
                      : "solved directly";
}

TesStatus tesi_coarse_lu_solve(TesiCoarseLu *lu, const void *b, void *x) {
  enum { STEPS = 20 };
  TesContext *ctx = lu->context;
  TesStatus status = TES_OK;
  if (lu->inverse.matrix) return tesi_dense_device_apply(ctx, &lu->inverse, b, x);
  if (lu->sparse) {
    memcpy(x, b, (size_t)lu->n * sizeof(double));
    return tesi_factorization_solve(lu->sparse, x);
  }
  if (!lu->smoother) {
    memcpy(x, b, (size_t)lu->n * sizeof(double));
    TES_TRY(tesi_blas_begin(ctx, lu->n));
    LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', lu->n, 1, lu->A, lu->n, lu->pivot, x, lu->n);
    return TES_OK;
  }
  for (int i = 0; i < STEPS; i++)
    TES_TRY(lu->smoother->table->apply(lu->smoother, b, x, TES_FORWARD, i == 0));
done:
  return status;
}
