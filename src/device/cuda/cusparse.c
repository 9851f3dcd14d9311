#include "device/cuda/cusparse.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda/driver.h"
#include "device/device.h"

/* From the library's public header: enumerators that stay as they are. */
enum { INDEX_32 = 2, BASE_ZERO = 0, REAL_64 = 1, NO_TRANSPOSE = 0, FIRST_ALGORITHM = 2, LAST_ALGORITHM = 3 };

/* X(name here, exported symbol, arguments) */
#define CUSPARSE_LIST(X)                                                                                     \
  X(create, "cusparseCreate", (void **))                                                                     \
  X(destroy, "cusparseDestroy", (void *))                                                                    \
  X(create_csr, "cusparseCreateCsr",                                                                         \
    (void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int))                        \
  X(create_vector, "cusparseCreateDnVec", (void **, int64_t, void *, int))                                   \
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
  int algorithm;
};

#define CUSPARSE(call)                                                                                       \
  do {                                                                                                       \
    const int error_ = (call);                                                                               \
    if (error_) TES_FAIL(TES_INTERNAL, "cuSPARSE: error %d in %s", error_, #call);                           \
  } while (0)

static TesStatus open_library(TesContext *ctx, TesiSpmv *s) {
  static const char *const names[] = {"libcusparse.so.12", "libcusparse.so",
                                      "/usr/local/cuda/lib64/libcusparse.so"};
  TesStatus status = TES_OK;
  const char *given = getenv("TESSERA_LIBCUSPARSE");
  if (given && *given) s->library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; !s->library && !(given && *given) && i < sizeof names / sizeof *names; i++)
    s->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!s->library)
    TES_FAIL(TES_MISSING,
             "no libcusparse for the assembled comparison (%s): install it, or set TESSERA_LIBCUSPARSE",
             dlerror());
#define X(name, symbol, arguments)                                                                           \
  {                                                                                                          \
    void *address = dlsym(s->library, symbol);                                                               \
    if (!address) TES_FAIL(TES_MISSING, "libcusparse is too old: it lacks %s", symbol);                      \
    memcpy(&s->name, &address, sizeof address);                                                              \
  }
  CUSPARSE_LIST(X)
#undef X
done:
  return status;
}

/* Makes the algorithm the one in use. */
static TesStatus prepare(TesContext *ctx, TesiSpmv *s, int algorithm) {
  TesStatus status = TES_OK;
  size_t bytes = 0;
  const double one = 1, zero = 0;
  tesi_context_device(ctx)->release(ctx, &s->buffer);
  s->algorithm = algorithm;
  CUSPARSE(s->buffer_size(s->handle, NO_TRANSPOSE, &one, s->matrix, s->x, &zero, s->y, REAL_64, algorithm,
                          &bytes));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, bytes, &s->buffer));
  CUSPARSE(s->preprocess(s->handle, NO_TRANSPOSE, &one, s->matrix, s->x, &zero, s->y, REAL_64, algorithm,
                         s->buffer));
done:
  return status;
}

/* Seconds of the fastest of a few products. */
static TesStatus time_product(TesContext *ctx, const TesiSpmv *s, double *seconds) {
  enum { TIMES = 4 };
  TesStatus status = TES_OK;
  *seconds = INFINITY;
  for (int i = 0; i <= TIMES; i++) {
    const double start = tesi_now();
    TES_TRY(tesi_spmv_run(ctx, s));
    TES_TRY(tesi_spmv_wait(ctx));
    if (i) *seconds = fmin(*seconds, tesi_now() - start);
  }
done:
  return status;
}

static TesStatus choose(TesContext *ctx, TesiSpmv *s) {
  TesStatus status = TES_OK;
  double seconds, fastest = INFINITY;
  int best = FIRST_ALGORITHM;
  for (int algorithm = FIRST_ALGORITHM; algorithm <= LAST_ALGORITHM; algorithm++) {
    TES_TRY(prepare(ctx, s, algorithm));
    TES_TRY(time_product(ctx, s, &seconds));
    if (seconds < fastest) fastest = seconds, best = algorithm;
  }
  if (s->algorithm != best) TES_TRY(prepare(ctx, s, best));
done:
  return status;
}

TesStatus tesi_spmv_create(TesContext *ctx, int64_t rows, int64_t entries, void *row, void *column,
                           void *value, void *x, void *y, TesiSpmv **spmv) {
  TesStatus status = TES_OK;
  TesiSpmv *s = NULL;
  *spmv = NULL;
  TES_NEW(&s);
  TES_TRY(open_library(ctx, s));
  CUSPARSE(s->create(&s->handle));
  CUSPARSE(s->create_csr(&s->matrix, rows, rows, entries, row, column, value, INDEX_32, INDEX_32, BASE_ZERO,
                         REAL_64));
  CUSPARSE(s->create_vector(&s->x, rows, x, REAL_64));
  CUSPARSE(s->create_vector(&s->y, rows, y, REAL_64));
  TES_TRY(choose(ctx, s));
  *spmv = s;
  s = NULL;
done:
  tesi_spmv_destroy(ctx, &s);
  return status;
}

TesStatus tesi_spmv_run(TesContext *ctx, const TesiSpmv *s) {
  TesStatus status = TES_OK;
  const double one = 1, zero = 0;
  CUSPARSE(
      s->spmv(s->handle, NO_TRANSPOSE, &one, s->matrix, s->x, &zero, s->y, REAL_64, s->algorithm, s->buffer));
done:
  return status;
}

TesStatus tesi_spmv_wait(TesContext *ctx) {
  TesStatus status = TES_OK;
  const TesiCuDriver *cu;
  TES_TRY(tesi_cu_open(ctx, &cu));
  CUSPARSE(cu->stream_synchronize(NULL));
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
