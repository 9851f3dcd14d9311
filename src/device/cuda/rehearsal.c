#include "device/cuda/rehearsal.h"
#include <stdio.h>
#include <string.h>
#include "device/cuda/nvrtc.h"
#include "device/kernel.h"

typedef struct Rehearsal {
  TesiKernelState kernels; /* first: see kernel.h */
  char target[32];
} Rehearsal;

/* ---- memory of the host, never written by kernels ------------------------------------------------------ */
static TesStatus allocate(TesContext *ctx, size_t bytes, void **address) {
  return tesi_alloc(ctx, bytes, 1, address);
}

static void release(TesContext *ctx, void **address) {
  tesi_free(ctx, address);
}

static size_t available(TesContext *ctx) {
  (void)ctx;
  return tes_memory_available();
}

static TesStatus transfer(TesContext *ctx, void *to, const void *from, size_t bytes) {
  (void)ctx;
  memcpy(to, from, bytes);
  return TES_OK;
}

static TesStatus synchronize(TesContext *ctx) {
  (void)ctx;
  return TES_OK;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */
static TesStatus describe(TesContext *ctx, char *text, size_t size) {
  TesStatus status = TES_OK;
  int version;
  const Rehearsal *r = tesi_context_device_state(ctx);
  TES_TRY(tesi_nvrtc_open(ctx, &version));
  snprintf(text, size, "nvrtc %d.%d %s", version / 1000, version / 10 % 100, r->target);
done:
  return status;
}

/* One line per kernel: "tesk_dot sm_90 double 4: 26 registers, stack 0, spills 0 + 0", from the assembler's report. */
static void report(TesContext *ctx, const char *target, const TesiCompilation *c, const char *log) {
  char name[96] = "?", options[256] = "";
  int stack = 0, stores = 0, loads = 0, registers;
  for (int i = 0; c->options[i]; i++)
    snprintf(options + strlen(options), sizeof options - strlen(options), " %s", c->options[i]);
  for (const char *line = log; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    const char *entry = strstr(line, "entry function '"), *used = strstr(line, "Used "),
               *frame = strstr(line, "bytes stack frame"), *end = strchr(line, '\n');
    if (entry && entry < end) sscanf(entry, "entry function '%95[^']", name);
    if (frame && frame < end) /* the text before the numbers depends on the compiler */
      sscanf(line + strcspn(line, "0123456789"),
             "%d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &stack, &stores, &loads);
    if (used && used < end && sscanf(used, "Used %d registers", &registers) == 1)
      tesi_log(ctx, TES_LOG_INFO, "%s %s%s: %d registers, stack %d, spills %d + %d", name, target, options,
               registers, stack, stores, loads);
  }
}

static TesStatus compile(TesContext *ctx, const TesiCompilation *c, char **image, size_t *bytes) {
  TesStatus status = TES_OK;
  const Rehearsal *r = tesi_context_device_state(ctx);
  char *log = NULL;
  TES_TRY(tesi_nvrtc_compile(ctx, c, r->target, image, bytes, &log));
  report(ctx, r->target, c, log);
done:
  tesi_free(ctx, &log);
  return status;
}

static TesStatus load(TesContext *ctx, const char *image, size_t bytes, void **module) {
  (void)ctx, (void)image, (void)bytes;
  *module = NULL;
  return TES_OK;
}

static void unload(TesContext *ctx, void *module) {
  (void)ctx, (void)module;
}

static TesStatus get(TesContext *ctx, void *module, const char *name, size_t shared, void **function) {
  TesStatus status = TES_OK;
  (void)module, (void)name;
  if (shared > 227 * 1024) TES_FAIL(TES_INTERNAL, "kernel %s needs %zu bytes of shared memory", name, shared);
  *function = NULL;
done:
  return status;
}

static TesStatus launch(TesContext *ctx, void *function, TesiGrid grid, bool together, unsigned threads,
                        size_t shared, void **arguments) {
  (void)ctx, (void)function, (void)grid, (void)together, (void)threads, (void)shared, (void)arguments;
  return TES_OK;
}

/* Of an H200. */
static int multiprocessors(const TesContext *ctx) {
  (void)ctx;
  return 132;
}

static const struct TesiKernelTable kernels = {.describe = describe,
                                               .compile = compile,
                                               .load = load,
                                               .unload = unload,
                                               .get = get,
                                               .launch = launch,
                                               .multiprocessors = multiprocessors,
                                               .at_once = true};

static const TesiDevice device = {.kind = "nvrtc",
                                  .allocate = allocate,
                                  .release = release,
                                  .available = available,
                                  .to_device = transfer,
                                  .to_host = transfer,
                                  .synchronize = synchronize,
                                  .fill = tesi_kernel_fill,
                                  TESI_KERNEL_VECTORS,
                                  .kernels = &kernels};

static void destroy(void *state) {
  Rehearsal *r = state;
  TesContext *ctx = r->kernels.ctx;
  tesi_kernel_state_destroy(&r->kernels);
  tesi_free(ctx, &r);
}

TesStatus tesi_rehearsal_open(TesContext *ctx, const char *target) {
  TesStatus status = TES_OK;
  Rehearsal *r = NULL;
  int version;
  TES_TRY(tesi_nvrtc_open(ctx, &version));
  TES_NEW(&r);
  r->kernels.ctx = ctx;
  snprintf(r->target, sizeof r->target, "%s", target);
  tesi_context_set_device(ctx, &device, r, destroy);
done:
  return status;
}
