/* The inverse of a coarsest level whose coefficients vary: its columns by the operator's own kernels, inverted on
 * the host at set-up, one matrix-vector product a solve. With Dirichlet nodes as unit rows; a singular operator
 * gets sigma 1 1' / n, sigma its mean diagonal, which leaves solutions of mean zero as they are. */
#include <lapacke.h>
#include "device/kernel.h"
#include "multigrid/coarse/coarse_device.h"
#include "basis/blas.h"
#include "operator/elasticity/elasticity_motions.h"

struct TesiCoarseDense {
  TesContext *context;
  TesiKernel kernel;
  int n;
  void *inverse; /* device */
};

static TesStatus fill_columns(TesContext *ctx, const TesOperator *op, double *A) {
  TesStatus status = TES_OK;
  const int64_t n = op->length;
  TesVector *x = NULL, *y = NULL;
  double *unit = NULL;
  TES_ALLOC(&unit, n);
  TES_TRY(tes_vector_create(ctx, n, TES_DOUBLE, &x));
  TES_TRY(tes_vector_create(ctx, n, TES_DOUBLE, &y));
  for (int64_t j = 0; j < n; j++) {
    unit[j] = 1;
    TES_TRY(tes_vector_set(x, unit));
    TES_TRY(tes_operator_apply(op, x, y));
    TES_TRY(tes_vector_get(y, A + j * n));
    unit[j] = 0;
    if (A[j * n + j] == 0) A[j * n + j] = 1;
  }
done:
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tesi_free(ctx, &unit);
  return status;
}

/* Rigid motions that nothing holds get what constants get. */
static TesStatus hold_motions(TesContext *ctx, const TesOperator *op, int n, double *A) {
  TesStatus status = TES_OK;
  int motions;
  double *motion = NULL, trace = 0;
  TES_TRY(tesi_elasticity_motions(op, &motions, &motion));
  for (int i = 0; i < n; i++) trace += A[(int64_t)i * n + i];
  for (int k = 0; k < motions; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[(int64_t)i * n + j] += trace / n * motion[k * n + i] * motion[k * n + j];
done:
  tesi_free(ctx, &motion);
  return status;
}

static TesStatus invert(TesContext *ctx, const TesOperator *op, int n, double *A) {
  TesStatus status = TES_OK;
  double sigma = 0;
  TES_TRY(hold_motions(ctx, op, n, A));
  for (int i = 0; i < n && op->singular; i++) sigma += A[(int64_t)i * n + i] / n;
  for (int64_t i = 0; i < (int64_t)n * n && op->singular; i++) A[i] += sigma / n;
  TES_TRY(tesi_blas_begin(ctx, n));
  int info = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', n, A, n);
  if (info == 0) info = LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'U', n, A, n);
  if (info != 0)
    TES_FAIL(
        TES_NAN,
        "the matrix of the coarsest level (%d nodes) is not positive definite: is the coefficient a finite?",
        n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) A[(int64_t)i * n + j] = A[(int64_t)j * n + i];
done:
  return status;
}

TesStatus tesi_coarse_dense_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                   TesiCoarseDense **dense) {
  TesStatus status = TES_OK;
  TesiCoarseDense *d = NULL;
  TesiProgram *program;
  double *A = NULL;
  const int n = (int)op->length;
  const size_t bytes = (size_t)n * (size_t)n * sizeof *A;
  const TesiProgramDesc desc = {.file = "contract.cu",
                                .options = {precision == TES_SINGLE ? "real=float" : "real=double"}};
  *dense = NULL;
  TES_NEW(&d);
  d->context = tesi_context_retain(ctx);
  d->n = n;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_dense", 0, &d->kernel));
  TES_ALLOC(&A, (int64_t)n * n);
  TES_TRY(fill_columns(ctx, op, A));
  TES_TRY(invert(ctx, op, n, A));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, bytes, &d->inverse));
  TES_TRY(tesi_context_device(ctx)->to_device(ctx, d->inverse, A, bytes));
  *dense = d;
  d = NULL;
done:
  tesi_free(ctx, &A);
  tesi_coarse_dense_destroy(&d);
  return status;
}

void tesi_coarse_dense_destroy(TesiCoarseDense **dense) {
  if (!dense || !*dense) return;
  TesiCoarseDense *d = *dense;
  TesContext *ctx = d->context;
  *dense = NULL;
  tesi_context_device(ctx)->release(ctx, &d->inverse);
  tesi_free(ctx, &d);
  tes_context_destroy(&ctx);
}

TesStatus tesi_coarse_dense_solve(TesiCoarseDense *dense, const void *b, void *x) {
  const void *A = dense->inverse;
  int n = dense->n;
  void *arguments[] = {&A, &b, &x, &n};
  return tesi_kernel_launch(dense->context, &dense->kernel, (TesiGrid){(unsigned)n, 1, 1}, 128,
                            128 * sizeof(double), arguments);
}
