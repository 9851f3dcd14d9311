/* The inverse of a coarsest level without tensor structure: its columns by the operator's own kernels, inverted on the
 * host at set-up, one matrix-vector product, so one launch, a solve. Over free entries alone, in the precision of the
 * cycle; others are 0. A singular operator gets sigma 1 1' / n, sigma its mean diagonal, which leaves solutions of mean
 * zero as they are. */
#include <lapacke.h>
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "multigrid/coarse/coarse_device.h"
#include "basis/blas.h"
#include "operator/elasticity/elasticity_motions.h"

struct TesiCoarseDense {
  TesContext *context;
  TesiKernel solve, take;
  int length, n; /* entries, and those that are free */
  int *entry;    /* host [n] the entries that are free */
  void *entries; /* device: the same */
  void *place;   /* device [length]: an entry's number among them, -1: it is given */
  void *inverse; /* device [n][n] */
};

/* Entries whose rows are not 0. */
static TesStatus find_free(TesContext *ctx, const TesOperator *op, TesiCoarseDense *d) {
  TesStatus status = TES_OK;
  TesVector *diagonal = NULL;
  double *values = NULL;
  int *place = NULL;
  TES_ALLOC(&values, d->length);
  TES_ALLOC(&place, d->length);
  TES_ALLOC(&d->entry, d->length);
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &diagonal));
  TES_TRY(tes_operator_diagonal(op, diagonal));
  TES_TRY(tes_vector_get(diagonal, values));
  for (int i = 0; i < d->length; i++) {
    place[i] = values[i] != 0 ? d->n : -1;
    if (values[i] != 0) d->entry[d->n++] = i;
  }
  TES_TRY(tesi_upload(ctx, place, (size_t)d->length * sizeof *place, &d->place));
  TES_TRY(tesi_upload(ctx, d->entry, (size_t)d->length * sizeof *d->entry, &d->entries));
done:
  tes_vector_destroy(&diagonal);
  tesi_free(ctx, &values);
  tesi_free(ctx, &place);
  return status;
}

/* A[n][n] by columns; nothing waits for the host but the copy at the end. */
static TesStatus fill_columns(TesiCoarseDense *d, const TesOperator *op, double *A) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t bytes = (size_t)d->n * (size_t)d->n * sizeof *A;
  TesVector *x = NULL, *y = NULL;
  void *columns = NULL;
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &x));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &y));
  TES_TRY(device->allocate(ctx, bytes, &columns));
  for (int j = 0; j < d->n; j++) {
    double *const unit = (double *)x->data + d->entry[j], *column = (double *)columns + (size_t)j * d->n;
    void *arguments[] = {&y->data, &d->entries, &column, &d->n};
    TES_TRY(device->fill(ctx, TES_DOUBLE, 1, 1, unit));
    TES_TRY(tes_operator_apply(op, x, y));
    TES_TRY(tesi_kernel_launch(ctx, &d->take, (TesiGrid){(unsigned)((d->n + 127) / 128), 1, 1}, 128, 0,
                               arguments));
    TES_TRY(device->fill(ctx, TES_DOUBLE, 1, 0, unit));
  }
  TES_TRY(device->to_host(ctx, A, columns, bytes));
done:
  device->release(ctx, &columns);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  return status;
}

/* Rigid motions that nothing holds get what constants get. */
static TesStatus hold_motions(const TesiCoarseDense *d, const TesOperator *op, double *A) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const int n = d->n;
  int motions;
  double *motion = NULL, trace = 0;
  TES_TRY(tesi_elasticity_motions(op, &motions, &motion));
  for (int i = 0; i < n; i++) trace += A[(int64_t)i * n + i];
  for (int k = 0; k < motions; k++) {
    const double *of = motion + (int64_t)k * d->length;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[(int64_t)i * n + j] += trace / n * of[d->entry[i]] * of[d->entry[j]];
  }
done:
  tesi_free(ctx, &motion);
  return status;
}

static TesStatus invert(const TesiCoarseDense *d, const TesOperator *op, double *A) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const int n = d->n;
  double sigma = 0;
  TES_TRY(hold_motions(d, op, A));
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

/* The inverse in the precision of the cycle; A is lost. */
static TesStatus send(TesiCoarseDense *d, TesPrecision precision, double *A) {
  const int64_t count = (int64_t)d->n * d->n;
  float *narrow = (float *)A; /* each number behind those that are still to be read */
  for (int64_t i = 0; precision == TES_SINGLE && i < count; i++) {
    const float value = (float)A[i];
    memcpy(narrow + i, &value, sizeof value);
  }
  return tesi_upload(d->context, A, (size_t)count * tesi_precision_size(precision), &d->inverse);
}

static TesStatus get_kernels(TesiCoarseDense *d, TesPrecision precision) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "contract.cu",
                                .options = {precision == TES_SINGLE ? "real=float" : "real=double"}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_dense", 0, &d->solve));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_dense_take", 0, &d->take));
done:
  return status;
}

TesStatus tesi_coarse_dense_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                   TesiCoarseDense **dense) {
  TesStatus status = TES_OK;
  TesiCoarseDense *d = NULL;
  double *A = NULL;
  *dense = NULL;
  TES_NEW(&d);
  d->context = tesi_context_retain(ctx);
  d->length = (int)op->length;
  TES_TRY(get_kernels(d, precision));
  TES_TRY(find_free(ctx, op, d));
  TES_ALLOC(&A, (int64_t)d->n * d->n);
  TES_TRY(fill_columns(d, op, A));
  TES_TRY(invert(d, op, A));
  TES_TRY(send(d, precision, A));
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
  tesi_free(ctx, &d->entry);
  tesi_context_device(ctx)->release(ctx, &d->entries);
  tesi_context_device(ctx)->release(ctx, &d->place);
  tesi_context_device(ctx)->release(ctx, &d->inverse);
  tesi_free(ctx, &d);
  tes_context_destroy(&ctx);
}

TesStatus tesi_coarse_dense_solve(TesiCoarseDense *d, const void *b, void *x) {
  void *arguments[] = {&d->inverse, &b, &x, &d->entries, &d->place, &d->n};
  return tesi_kernel_launch(d->context, &d->solve, (TesiGrid){(unsigned)d->length, 1, 1}, 128,
                            128 * sizeof(double), arguments);
}
