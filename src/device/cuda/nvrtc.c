#include "device/cuda/nvrtc.h"
#include "device/library.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Program_ *Program;

/* X(name here, exported symbol, arguments) */
#define NVRTC_LIST(X)                                                                                        \
  X(version, "nvrtcVersion", (int *, int *))                                                                 \
  X(target_count, "nvrtcGetNumSupportedArchs", (int *))                                                      \
  X(targets, "nvrtcGetSupportedArchs", (int *))                                                              \
  X(create, "nvrtcCreateProgram",                                                                            \
    (Program *, const char *, const char *, int, const char *const *, const char *const *))                  \
  X(compile, "nvrtcCompileProgram", (Program, int, const char *const *))                                     \
  X(destroy, "nvrtcDestroyProgram", (Program *))                                                             \
  X(cubin_size, "nvrtcGetCUBINSize", (Program, size_t *))                                                    \
  X(cubin, "nvrtcGetCUBIN", (Program, char *))                                                               \
  X(ptx_size, "nvrtcGetPTXSize", (Program, size_t *))                                                        \
  X(ptx, "nvrtcGetPTX", (Program, char *))                                                                   \
  X(log_size, "nvrtcGetProgramLogSize", (Program, size_t *))                                                 \
  X(log, "nvrtcGetProgramLog", (Program, char *))

enum { MAX_TARGETS = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
#define X(name, symbol, arguments) int(*name) arguments;
  NVRTC_LIST(X)
#undef X
  bool opened;
  int major, minor, count, target[MAX_TARGETS];
} rtc;

static void *open_library(void) {
  const char *home = getenv("CUDA_HOME");
  char path[1024];
  snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", home ? home : "");
  const char *const names[] = {"libnvrtc.so.13",   "libnvrtc.so.12",
                               "libnvrtc.so",      "/usr/local/cuda/lib64/libnvrtc.so",
                               home ? path : NULL, NULL};
  return tesi_library_open(getenv("TESSERA_LIBNVRTC"), names);
}

bool tesi_nvrtc_path(char *path, size_t size) {
  void *address;
  Dl_info info;
  memcpy(&address, &rtc.version, sizeof address);
  if (!address || !dladdr(address, &info) || !info.dli_fname || !strchr(info.dli_fname, '/')) return false;
  return snprintf(path, size, "%s", info.dli_fname) < (int)size;
}

/* libnvrtc looks for its builtins in the system's folders only: they are opened here from libnvrtc's own folder. */
static void open_builtins(void) {
  char path[2048], own[1900];
  if (!tesi_nvrtc_path(own, sizeof own)) return;
  snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", (int)(strrchr(own, '/') - own), own,
           rtc.major, rtc.minor);
  dlopen(path, RTLD_NOW | RTLD_LOCAL); /* a failure appears when a program is compiled */
}

static TesStatus open_once(TesContext *ctx) {
  TesStatus status = TES_OK;
  void *library = open_library();
  if (!library)
    TES_FAIL(TES_MISSING,
             "no run-time compiler for kernels (%s): install the CUDA toolkit's libnvrtc, or set "
             "TESSERA_LIBNVRTC to "
             "libnvrtc.so",
             dlerror());
#define X(name, symbol, arguments)                                                                           \
  if (!tesi_library_find(library, symbol, &rtc.name))                                                        \
    TES_FAIL(TES_MISSING, "libnvrtc is too old: it lacks %s (CUDA 12.0 or newer)", symbol);
  NVRTC_LIST(X)
#undef X
  rtc.version(&rtc.major, &rtc.minor);
  if (rtc.target_count(&rtc.count) || rtc.count > MAX_TARGETS || rtc.targets(rtc.target))
    TES_FAIL(TES_MISSING, "libnvrtc %d.%d does not tell its targets", rtc.major, rtc.minor);
  open_builtins();
  rtc.opened = true;
done:
  return status;
}

TesStatus tesi_nvrtc_open(TesContext *ctx, int *version) {
  pthread_mutex_lock(&lock);
  const TesStatus status = rtc.opened ? TES_OK : open_once(ctx);
  pthread_mutex_unlock(&lock);
  *version = 1000 * rtc.major + 10 * rtc.minor;
  return status;
}

TesStatus tesi_nvrtc_target(TesContext *ctx, int capability, char target[32]) {
  TesStatus status = TES_OK;
  int version, below = 0;
  bool own = false;
  TES_TRY(tesi_nvrtc_open(ctx, &version));
  for (int i = 0; i < rtc.count; i++) {
    own = own || rtc.target[i] == capability;
    if (rtc.target[i] < capability) below = tesi_max(below, rtc.target[i]);
  }
  if (!own && !below)
    TES_FAIL(TES_MISSING,
             "libnvrtc %d.%d makes no code for a GPU of compute capability %d.%d: another version is needed",
             rtc.major, rtc.minor, capability / 10, capability % 10);
  snprintf(target, 32, "%s_%d", own ? "sm" : "compute", own ? capability : below);
done:
  return status;
}

/* nvrtc takes headers and their names as two arrays. */
static int create(const TesiCompilation *c, Program *program) {
  const char *texts[TESI_TEXTS], *names[TESI_TEXTS];
  int n = 0;
  for (int i = 1; i < c->count && n < TESI_TEXTS; i++, n++) {
    texts[n] = c->texts[i].text;
    names[n] = c->texts[i].name;
  }
  return rtc.create(program, c->texts[0].text, c->texts[0].name, n, texts, names);
}

static int run(Program program, const TesiCompilation *c, const char *target, bool report) {
  char defines[TESI_OPTIONS][160], arch[64];
  const char *options[2 * TESI_OPTIONS + 8];
  int n = 0;
  snprintf(arch, sizeof arch, "--gpu-architecture=%s", target);
  options[n++] = arch;
  options[n++] = "--std=c++17";
  options[n++] = "--extra-device-vectorization";
  options[n++] = "--no-cache"; /* ours is enough */
  if (rtc.major * 100 + rtc.minor < 1209) n--;
  if (report) options[n++] = "--ptxas-options=-v";
  for (int i = 0; i < TESI_OPTIONS && c->options[i]; i++) {
    snprintf(defines[i], sizeof defines[i], "-D%s", c->options[i]);
    options[n++] = defines[i];
    if (!strcmp(c->options[i], TESI_RELOCATABLE "=1")) options[n++] = "--relocatable-device-code=true";
  }
  return rtc.compile(program, n, options);
}

static TesStatus get_log(TesContext *ctx, Program program, char **log) {
  TesStatus status = TES_OK;
  size_t size = 0;
  rtc.log_size(program, &size);
  TES_TRY(tesi_alloc(ctx, size + 1, 1, log));
  if (size) rtc.log(program, *log);
done:
  return status;
}

TesStatus tesi_nvrtc_compile(TesContext *ctx, const TesiCompilation *c, const char *target, char **image,
                             size_t *bytes, char **log) {
  TesStatus status = TES_OK;
  Program program = NULL;
  char *messages = NULL;
  int version;
  const bool ptx = !strncmp(target, "compute_", 8);
  *image = NULL;
  TES_TRY(tesi_nvrtc_open(ctx, &version));
  if (create(c, &program)) TES_FAIL(TES_INTERNAL, "libnvrtc does not take the kernel %s", c->texts[0].name);
  const int error = run(program, c, target, log != NULL);
  TES_TRY(get_log(ctx, program, &messages));
  if (error)
    TES_FAIL(TES_INTERNAL, "kernel %s does not compile for %s:\n%s", c->texts[0].name, target, messages);
  if (ptx ? rtc.ptx_size(program, bytes) : rtc.cubin_size(program, bytes))
    TES_FAIL(TES_INTERNAL, "libnvrtc gives no code for %s", c->texts[0].name);
  TES_TRY(tesi_alloc(ctx, *bytes + 1, 1, image));
  if (ptx ? rtc.ptx(program, *image) : rtc.cubin(program, *image))
    TES_FAIL(TES_INTERNAL, "libnvrtc gives no code for %s", c->texts[0].name);
  if (log) {
    *log = messages;
    messages = NULL;
  }
done:
  if (program) rtc.destroy(&program);
  tesi_free(ctx, &messages);
  if (status != TES_OK) tesi_free(ctx, image);
  return status;
}
