/* The inverse of a coarsest level without tensor structure. The operator's own kernels compute the columns of the
 * matrix, and kernels invert it. A solve is one matrix-vector product, in one launch. The matrix has free entries only,
 * in the precision of the cycle; the other entries are 0. A singular operator gets sigma 1 1' / n, sigma its mean
 * diagonal, which leaves solutions of mean zero as they are. */
#include "base/random.h"
#include "device/kernel.h"
#include "device/upload.h"
#include "multigrid/coarse/coarse_device.h"
#include "operator/elasticity/elasticity_motions.h"

struct TesiCoarseDense {
  TesContext *context;
  TesiKernel solve, take;
  int length, n; /* number of entries, and of free entries */
  int *entry;    /* host [n] list of the free entries */
  void *entries; /* device: the same */
  void *place;   /* device [length]: index of an entry in the list, -1: the entry is given */
  void *inverse; /* device [n][n] */
};

/* The entries that are not zero in every product: these are free. */
static TesStatus find_free(TesContext *ctx, const TesOperator *op, TesiCoarseDense *d) {
  TesStatus status = TES_OK;
  TesVector *x = NULL, *y = NULL;
  double *values = NULL;
  int *place = NULL;
  TES_ALLOC(&values, d->length);
  TES_ALLOC(&place, d->length);
  TES_ALLOC(&d->entry, d->length);
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &x));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &y));
  for (int i = 0; i < d->length; i++) values[i] = 1 + tesi_random_unit((uint64_t)i); /* no product vanishes */
  TES_TRY(tes_vector_set(x, values));
  TES_TRY(tes_operator_apply(op, x, y));
  TES_TRY(tes_vector_get(y, values));
  for (int i = 0; i < d->length; i++) {
    place[i] = values[i] != 0 ? d->n : -1;
    if (values[i] != 0) d->entry[d->n++] = i;
  }
  TES_TRY(tesi_upload(ctx, place, (size_t)d->length * sizeof *place, &d->place));
  TES_TRY(tesi_upload(ctx, d->entry, (size_t)d->length * sizeof *d->entry, &d->entries));
done:
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tesi_free(ctx, &values);
  tesi_free(ctx, &place);
  return status;
}

/* columns[n][n] on the device; nothing waits for the host. */
static TesStatus fill_columns(TesiCoarseDense *d, const TesOperator *op, double *columns) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TesVector *x = NULL, *y = NULL;
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &x));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &y));
  for (int j = 0; j < d->n; j++) {
    double *const unit = (double *)x->data + d->entry[j], *column = columns + (size_t)j * (size_t)d->n;
    void *arguments[] = {&y->data, &d->entries, &column, &d->n};
    TES_TRY(device->fill(ctx, TES_DOUBLE, 1, 1, unit));
    TES_TRY(tes_operator_apply(op, x, y));
    TES_TRY(tesi_kernel_launch(ctx, &d->take, tesi_grid(d->n, 128), 128, 0, arguments));
    TES_TRY(device->fill(ctx, TES_DOUBLE, 1, 0, unit));
  }
done:
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  return status;
}

/* A <- A + weight v v', v by the entries that are free. */
static void add_square(const TesiCoarseDense *d, double weight, const double *v, double *A) {
  for (int i = 0; i < d->n; i++)
    for (int j = 0; j < d->n; j++) A[(int64_t)i * d->n + j] += weight * v[d->entry[i]] * v[d->entry[j]];
}

/* Constants and rigid motions in the null space get the mean of the diagonal, on the host, since they are rare. */
static TesStatus hold(const TesiCoarseDense *d, const TesOperator *op, double *columns) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t n = d->n;
  double *motion = NULL, *A = NULL, *ones = NULL, mean = 0;
  int motions;
  TES_TRY(tesi_elasticity_motions(op, &motions, &motion));
  if (!op->singular && motions == 0) goto done;
  TES_ALLOC(&A, n * n);
  TES_ALLOC(&ones, d->length);
  for (int i = 0; i < d->length; i++) ones[i] = 1;
  TES_TRY(device->to_host(ctx, A, columns, (size_t)(n * n) * sizeof *A));
  for (int64_t i = 0; i < n; i++) mean += A[i * n + i] / (double)n;
  if (op->singular) add_square(d, mean / (double)n, ones, A);
  for (int k = 0; k < motions; k++) add_square(d, mean, motion + (int64_t)k * d->length, A);
  TES_TRY(device->to_device(ctx, columns, A, (size_t)(n * n) * sizeof *A));
done:
  tesi_free(ctx, &motion);
  tesi_free(ctx, &A);
  tesi_free(ctx, &ones);
  return status;
}

/* The inverse in the precision of the cycle. */
static TesStatus invert(TesiCoarseDense *d, const TesOperator *op, TesPrecision precision) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t count = (int64_t)d->n * d->n;
  void *A = NULL;
  bool definite;
  TES_TRY(device->allocate(ctx, (size_t)count * sizeof(double), &A));
  TES_TRY(fill_columns(d, op, A));
  TES_TRY(hold(d, op, A));
  TES_TRY(tesi_coarse_invert(ctx, d->n, 1, A, &definite));
  if (!definite)
    TES_FAIL(
        TES_NAN,
        "the matrix of the coarsest level (%d nodes) is not positive definite: is the coefficient a finite?",
        d->n);
  if (precision == TES_DOUBLE) {
    d->inverse = A, A = NULL;
  } else {
    TES_TRY(device->allocate(ctx, (size_t)count * sizeof(float), &d->inverse));
    TES_TRY(device->copy(ctx, count, 1, TES_DOUBLE, A, TES_SINGLE, d->inverse));
  }
done:
  device->release(ctx, &A);
  return status;
}

static TesStatus get_kernels(TesiCoarseDense *d, TesPrecision precision) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "contract.cu", .real = precision};
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
  *dense = NULL;
  TES_NEW(&d);
  d->context = tesi_context_retain(ctx);
  d->length = (int)op->length;
  TES_TRY(get_kernels(d, precision));
  TES_TRY(find_free(ctx, op, d));
  TES_TRY(invert(d, op, precision));
  *dense = d;
  d = NULL;
done:
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
