#include "device/cuda/cudss.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda/cuda.h"
#include "device/library.h"

/* From the library's public headers: enumerators that are the same in versions 0.7 to 1.0. */
enum { SUCCESS = 0, NO_MEMORY = 2 };
enum { REAL_64 = 1, INTEGER_32 = 10 };
enum { GENERAL = 0, DEFINITE = 3 };
enum { WHOLE = 0, LOWER = 1 };
enum { INFO = 0, ENTRIES = 1, PIVOTS = 2 };
enum { ANALYSE = 0x3, FACTORIZE = 0x4, SOLVE = 0x3f0 };
enum { MAJOR_VERSION = 0, MINOR_VERSION = 1, OLDEST = 7, ESTIMATES = 16, PEAK = 1 };

/* X(name here, exported symbol, arguments) */
#define CUDSS_LIST(X)                                                                                        \
  X(create, "cudssCreate", (void **))                                                                        \
  X(destroy, "cudssDestroy", (void *))                                                                       \
  X(set_stream, "cudssSetStream", (void *, void *))                                                          \
  X(create_config, "cudssConfigCreate", (void **))                                                           \
  X(destroy_config, "cudssConfigDestroy", (void *))                                                          \
  X(create_data, "cudssDataCreate", (void *, void **))                                                       \
  X(destroy_data, "cudssDataDestroy", (void *, void *))                                                      \
  X(get, "cudssDataGet", (void *, void *, int, void *, size_t, size_t *))                                    \
  X(create_rows, "cudssMatrixCreateCsr",                                                                     \
    (void **, int64_t, int64_t, int64_t, void *, void *, void *, void *, int, int, int, int, int))           \
  X(create_dense, "cudssMatrixCreateDn", (void **, int64_t, int64_t, int64_t, void *, int, int))             \
  X(destroy_matrix, "cudssMatrixDestroy", (void *))                                                          \
  X(execute, "cudssExecute", (void *, int, void *, void *, void *, void *, void *))

/* From version 0.8 on, the type of the row offsets is a separate argument. */
typedef int (*CreateRowsSince8)(void **, int64_t, int64_t, int64_t, void *, void *, void *, void *, int, int,
                                int, int, int, int);

struct TesiCudss {
#define X(name, symbol, arguments) int(*name) arguments;
  CUDSS_LIST(X)
#undef X
  void *library, *handle, *config, *data, *matrix, *x, *b;
  void *first, *column, *value, *solution, *load; /* of the device */
  int64_t n;
  bool since8; /* version 0.8 or newer */
};

#define CUDSS(call)                                                                                          \
  do {                                                                                                       \
    const int error_ = (call);                                                                               \
    if (error_ == NO_MEMORY) TES_FAIL(TES_OUT_OF_MEMORY, "no memory of the GPU for sparse factors");         \
    if (error_ != SUCCESS) TES_FAIL(TES_INTERNAL, "cuDSS: error %d in %s", error_, #call);                   \
  } while (0)

static void *find_library(void) {
  static const char *const names[] = {"libcudss.so.0", "libcudss.so.1", "libcudss.so", NULL};
  return tesi_library_open(getenv("TESSERA_LIBCUDSS"), names);
}

/* 100 times the major version plus the minor version; 0 if the library does not report it. */
static int version_of(void *library) {
  int (*property)(int, int *);
  int major = 0, minor = 0;
  if (!library || !tesi_library_find(library, "cudssGetProperty", &property)) return 0;
  if (property(MAJOR_VERSION, &major) != SUCCESS || property(MINOR_VERSION, &minor) != SUCCESS) return 0;
  return 100 * major + minor;
}

bool tesi_cudss_available(void) {
  void *library = find_library();
  const bool serves = version_of(library) >= OLDEST;
  if (library) dlclose(library);
  return serves;
}

static TesStatus open_library(TesContext *ctx, TesiCudss *s) {
  TesStatus status = TES_OK;
  s->library = find_library();
  if (!s->library)
    TES_FAIL(TES_MISSING, "no libcudss for sparse factors on a GPU (%s): install it, or set TESSERA_LIBCUDSS",
             dlerror());
  const int version = version_of(s->library);
#define X(name, symbol, arguments) TES_TRY(tesi_library_get(ctx, s->library, "libcudss", symbol, &s->name));
  CUDSS_LIST(X)
#undef X
  s->since8 = version >= 8;
  if (version < OLDEST)
    TES_FAIL(TES_MISSING, "libcudss is of version %d.%d: sparse factors on a GPU want 0.%d or newer",
             version / 100, version % 100, OLDEST);
done:
  return status;
}

static int create_rows(TesiCudss *s, int64_t entries, bool definite) {
  const int kind = definite ? DEFINITE : GENERAL, view = definite ? LOWER : WHOLE;
  if (!s->since8)
    return s->create_rows(&s->matrix, s->n, s->n, entries, s->first, NULL, s->column, s->value, INTEGER_32,
                          REAL_64, kind, view, 0);
  CreateRowsSince8 create;
  memcpy(&create, &s->create_rows, sizeof create);
  return create(&s->matrix, s->n, s->n, entries, s->first, NULL, s->column, s->value, INTEGER_32, INTEGER_32,
                REAL_64, kind, view, 0);
}

static TesStatus upload(TesContext *ctx, const void *from, size_t bytes, void **to) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, bytes, to));
  TES_TRY(tesi_context_device(ctx)->to_device(ctx, *to, from, bytes));
done:
  return status;
}

static TesStatus run(TesContext *ctx, TesiCudss *s, int phase) {
  TesStatus status = TES_OK;
  CUDSS(s->set_stream(s->handle, tesi_cuda_stream(ctx)));
  CUDSS(s->execute(s->handle, phase, s->config, s->data, s->matrix, s->x, s->b));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  return status;
}

TesStatus tesi_cudss_create(TesContext *ctx, const TesiCudssDesc *desc, TesiCudss **cudss) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t n = (size_t)desc->n, entries = (size_t)desc->first[n];
  TesiCudss *s = NULL;
  *cudss = NULL;
  TES_NEW(&s);
  s->n = desc->n;
  TES_TRY(open_library(ctx, s));
  TES_TRY(upload(ctx, desc->first, (n + 1) * sizeof *desc->first, &s->first));
  TES_TRY(upload(ctx, desc->column, entries * sizeof *desc->column, &s->column));
  TES_TRY(upload(ctx, desc->value, entries * sizeof *desc->value, &s->value));
  TES_TRY(device->allocate(ctx, n * sizeof(double), &s->solution));
  TES_TRY(device->allocate(ctx, n * sizeof(double), &s->load));
  CUDSS(s->create(&s->handle));
  CUDSS(s->create_config(&s->config));
  CUDSS(s->create_data(s->handle, &s->data));
  CUDSS(create_rows(s, (int64_t)entries, desc->definite));
  CUDSS(s->create_dense(&s->x, s->n, 1, s->n, s->solution, REAL_64, 0));
  CUDSS(s->create_dense(&s->b, s->n, 1, s->n, s->load, REAL_64, 0));
  TES_TRY(run(ctx, s, ANALYSE));
  *cudss = s;
  s = NULL;
done:
  tesi_cudss_destroy(ctx, &s);
  return status;
}

void tesi_cudss_destroy(TesContext *ctx, TesiCudss **cudss) {
  TesiCudss *s = *cudss;
  if (!s) return;
  void **const memory[] = {&s->first, &s->column, &s->value, &s->solution, &s->load};
  if (s->x) s->destroy_matrix(s->x);
  if (s->b) s->destroy_matrix(s->b);
  if (s->matrix) s->destroy_matrix(s->matrix);
  if (s->data) s->destroy_data(s->handle, s->data);
  if (s->config) s->destroy_config(s->config);
  if (s->handle) s->destroy(s->handle);
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    tesi_context_device(ctx)->release(ctx, memory[i]);
  if (s->library) dlclose(s->library);
  tesi_free(ctx, cudss);
}

void tesi_cudss_cost(const TesiCudss *s, double *entries, double *bytes) {
  /* DATA_MEMORY_ESTIMATES is number 12 until 0.7 and 13 from 0.8 on. */
  int64_t count = 0, estimate[ESTIMATES] = {0};
  size_t written;
  s->get(s->handle, s->data, ENTRIES, &count, sizeof count, &written);
  s->get(s->handle, s->data, s->since8 ? 13 : 12, estimate, sizeof estimate, &written);
  *entries = (double)count, *bytes = (double)estimate[PEAK];
}

TesStatus tesi_cudss_compute(TesContext *ctx, TesiCudss *s, int *pivots) {
  TesStatus status = TES_OK;
  size_t written;
  int info = 0;
  TES_TRY(run(ctx, s, FACTORIZE));
  CUDSS(s->get(s->handle, s->data, INFO, &info, sizeof info, &written));
  CUDSS(s->get(s->handle, s->data, PIVOTS, pivots, sizeof *pivots, &written));
  if (info && !*pivots) *pivots = 1;
done:
  return status;
}

TesStatus tesi_cudss_solve(TesContext *ctx, TesiCudss *s, double *x) {
  TesStatus status = TES_OK;
  const size_t bytes = (size_t)s->n * sizeof *x;
  TES_TRY(tesi_context_device(ctx)->to_device(ctx, s->load, x, bytes));
  TES_TRY(run(ctx, s, SOLVE));
  TES_TRY(tesi_context_device(ctx)->to_host(ctx, x, s->solution, bytes));
done:
  return status;
}
