#include "device/cuda/cusparse.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda/cuda.h"
#include "device/cuda/driver.h"
#include "device/library.h"

/* From the library's public header: enumerators that do not change between versions. */
enum {
  INDEX_32 = 2,
  BASE_ZERO = 0,
  REAL_32 = 0,
  REAL_64 = 1,
  NO_TRANSPOSE = 0,
  FIRST_ALGORITHM = 2,
  LAST_ALGORITHM = 3
};

/* X(name here, exported symbol, arguments) */
#define CUSPARSE_LIST(X)                                                                                     \
  X(create, "cusparseCreate", (void **))                                                                     \
  X(destroy, "cusparseDestroy", (void *))                                                                    \
  X(set_stream, "cusparseSetStream", (void *, void *))                                                       \
  X(create_csr, "cusparseCreateCsr",                                                                         \
    (void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int))                        \
  X(create_vector, "cusparseCreateDnVec", (void **, int64_t, void *, int))                                   \
  X(set_vector, "cusparseDnVecSetValues", (void *, void *))                                                  \
  X(destroy_matrix, "cusparseDestroySpMat", (void *))                                                        \
  X(destroy_vector, "cusparseDestroyDnVec", (void *))                                                        \
  X(buffer_size, "cusparseSpMV_bufferSize",                                                                  \
    (void *, int, const void *, void *, void *, const void *, void *, int, int, size_t *))                   \
  X(preprocess, "cusparseSpMV_preprocess",                                                                   \
    (void *, int, const void *, void *, void *, const void *, void *, int, int, void *))                     \
  X(spmv, "cusparseSpMV", (void *, int, const void *, void *, void *, const void *, void *, int, int, void *))

struct TesiSpmv {
#define X(name, symbol, arguments) int(*name) arguments;
  CUSPARSE_LIST(X)
#undef X
  void *library, *handle, *matrix, *x, *y, *buffer;
  int algorithm, type;
  double one[1], zero[1]; /* constants 1 and 0 of the matrix's type */
};

#define CUSPARSE(call)                                                                                       \
  do {                                                                                                       \
    const int error_ = (call);                                                                               \
    if (error_) TES_FAIL(TES_INTERNAL, "cuSPARSE: error %d in %s", error_, #call);                           \
  } while (0)

static void *find_library(void) {
  static const char *const names[] = {"libcusparse.so.12", "libcusparse.so",
                                      "/usr/local/cuda/lib64/libcusparse.so", NULL};
  return tesi_library_open(getenv("TESSERA_LIBCUSPARSE"), names);
}

bool tesi_spmv_available(void) {
  void *library = find_library();
  if (library) dlclose(library);
  return library != NULL;
}

static TesStatus open_library(TesContext *ctx, TesiSpmv *s) {
  TesStatus status = TES_OK;
  s->library = find_library();
  if (!s->library)
    TES_FAIL(TES_MISSING,
             "no libcusparse for assembled operators (%s): install it, or set TESSERA_LIBCUSPARSE", dlerror());
#define X(name, symbol, arguments)                                                                           \
  TES_TRY(tesi_library_get(ctx, s->library, "libcusparse", symbol, &s->name));
  CUSPARSE_LIST(X)
#undef X
done:
  return status;
}

/* Selects the algorithm. */
static TesStatus prepare(TesContext *ctx, TesiSpmv *s, int algorithm) {
  TesStatus status = TES_OK;
  size_t bytes = 0;
  tesi_context_device(ctx)->release(ctx, &s->buffer);
  s->algorithm = algorithm;
  CUSPARSE(s->buffer_size(s->handle, NO_TRANSPOSE, s->one, s->matrix, s->x, s->zero, s->y, s->type, algorithm,
                          &bytes));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, bytes, &s->buffer));
  CUSPARSE(s->preprocess(s->handle, NO_TRANSPOSE, s->one, s->matrix, s->x, s->zero, s->y, s->type, algorithm,
                         s->buffer));
done:
  return status;
}

/* Seconds of the fastest of a few products. */
static TesStatus time_product(TesContext *ctx, const TesiSpmv *s, const void *x, void *y, double *seconds) {
  enum { TIMES = 4 };
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  *seconds = INFINITY;
  TES_TRY(device->synchronize(ctx));
  for (int i = 0; i <= TIMES; i++) {
    const double start = tesi_now();
    TES_TRY(tesi_spmv_run(ctx, s, x, y));
    TES_TRY(device->synchronize(ctx));
    if (i) *seconds = fmin(*seconds, tesi_now() - start);
  }
done:
  return status;
}

static TesStatus choose(TesContext *ctx, TesiSpmv *s, const void *x, void *y) {
  TesStatus status = TES_OK;
  double seconds, fastest = INFINITY;
  int best = FIRST_ALGORITHM;
  for (int algorithm = FIRST_ALGORITHM; algorithm <= LAST_ALGORITHM; algorithm++) {
    TES_TRY(prepare(ctx, s, algorithm));
    TES_TRY(time_product(ctx, s, x, y, &seconds));
    if (seconds < fastest) fastest = seconds, best = algorithm;
  }
  if (s->algorithm != best) TES_TRY(prepare(ctx, s, best));
done:
  return status;
}

static void set_type(TesiSpmv *s, TesPrecision precision) {
  const float one = 1;
  s->type = precision == TES_DOUBLE ? REAL_64 : REAL_32;
  s->one[0] = 1;
  if (precision == TES_SINGLE) memcpy(s->one, &one, sizeof one);
}

TesStatus tesi_spmv_create(TesContext *ctx, const TesiSpmvDesc *desc, TesiSpmv **spmv) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = desc->precision == TES_DOUBLE ? sizeof(double) : sizeof(float);
  TesiSpmv *s = NULL;
  void *x = NULL, *y = NULL;
  *spmv = NULL;
  TES_NEW(&s);
  set_type(s, desc->precision);
  TES_TRY(open_library(ctx, s));
  TES_TRY(device->allocate(ctx, (size_t)desc->columns * size, &x));
  TES_TRY(device->allocate(ctx, (size_t)desc->rows * size, &y));
  CUSPARSE(s->create(&s->handle));
  CUSPARSE(s->set_stream(s->handle, tesi_cuda_stream(ctx)));
  CUSPARSE(s->create_csr(&s->matrix, desc->rows, desc->columns, desc->entries, desc->row, desc->column,
                         desc->value, INDEX_32, INDEX_32, BASE_ZERO, s->type));
  CUSPARSE(s->create_vector(&s->x, desc->columns, x, s->type));
  CUSPARSE(s->create_vector(&s->y, desc->rows, y, s->type));
  TES_TRY(choose(ctx, s, x, y));
  *spmv = s;
  s = NULL;
done:
  tesi_spmv_destroy(ctx, &s);
  device->release(ctx, &x);
  device->release(ctx, &y);
  return status;
}

TesStatus tesi_spmv_run(TesContext *ctx, const TesiSpmv *s, const void *x, void *y) {
  TesStatus status = TES_OK;
  CUSPARSE(s->set_stream(s->handle, tesi_cuda_stream(ctx))); /* loops of recordings have their own streams */
  CUSPARSE(s->set_vector(s->x, (void *)x));
  CUSPARSE(s->set_vector(s->y, y));
  CUSPARSE(s->spmv(s->handle, NO_TRANSPOSE, s->one, s->matrix, s->x, s->zero, s->y, s->type, s->algorithm,
                   s->buffer));
done:
  return status;
}

void tesi_spmv_destroy(TesContext *ctx, TesiSpmv **spmv) {
  TesiSpmv *s = *spmv;
  if (!s) return;
  if (s->x) s->destroy_vector(s->x);
  if (s->y) s->destroy_vector(s->y);
  if (s->matrix) s->destroy_matrix(s->matrix);
  if (s->handle) s->destroy(s->handle);
  tesi_context_device(ctx)->release(ctx, &s->buffer);
  if (s->library) dlclose(s->library);
  tesi_free(ctx, spmv);
}
