#include "device/cuda/driver.h"
#include "device/library.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static TesiCuDriver entries;
static bool opened;

static TesStatus open_library(TesContext *ctx) {
  TesStatus status = TES_OK;
  static const char *const names[] = {"libcuda.so.1", NULL};
  void *library = tesi_library_open(getenv("TESSERA_LIBCUDA"), names);
  if (!library)
    TES_FAIL(TES_MISSING,
             "no NVIDIA driver (%s): install it, set TESSERA_LIBCUDA to libcuda.so.1, or use --device cpu",
             dlerror());
#define X(name, symbol, arguments)                                                                           \
  if (!tesi_library_find(library, symbol, &entries.name))                                                    \
    TES_FAIL(TES_MISSING, "the NVIDIA driver is too old: it lacks %s (CUDA 12.0 or newer is needed)", symbol);
  TESI_CU_LIST(X)
#undef X
#define X(name, symbol, arguments) tesi_library_find(library, symbol, &entries.name);
  TESI_CU_LOOPS(X)
#undef X
  const int error = entries.init(0);
  if (error)
    TES_FAIL(TES_MISSING, "the NVIDIA driver found no usable GPU: %s (%s)", tesi_cu_name(&entries, error),
             tesi_cu_text(&entries, error));
  opened = true;
done:
  return status;
}

TesStatus tesi_cu_open(TesContext *ctx, const TesiCuDriver **driver) {
  pthread_mutex_lock(&lock);
  const TesStatus status = opened ? TES_OK : open_library(ctx);
  pthread_mutex_unlock(&lock);
  *driver = &entries;
  return status;
}

bool tesi_cu_has_loops(const TesiCuDriver *driver) {
  bool all = true;
#define X(name, symbol, arguments) all = all && driver->name;
  TESI_CU_LOOPS(X)
#undef X
  return all;
}

const char *tesi_cu_name(const TesiCuDriver *driver, int error) {
  const char *name = NULL;
  return driver->error_name(error, &name) || !name ? "unknown error" : name;
}

const char *tesi_cu_text(const TesiCuDriver *driver, int error) {
  const char *text = NULL;
  return driver->error_text(error, &text) || !text ? "no explanation" : text;
}
