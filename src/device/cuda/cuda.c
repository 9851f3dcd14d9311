#include "device/cuda/cuda.h"
#include <stdio.h>
#include <string.h>
#include "device/blocks.h"
#include "device/cuda/compiler.h"
#include "device/cuda/driver.h"
#include "device/cuda/loop.h"
#include "device/cuda/nccl.h"
#include "device/cuda/nvrtc.h"
#include "device/cuda/staged.h"
#include "device/kernel.h"

typedef struct CudaState {
  TesiKernelState kernels; /* first: see kernel.h */
  const TesiCuDriver *cu;
  int device, max_shared, multiprocessors, compiler; /* the driver's version: 1000 major + 10 minor */
  TesiCuContext context;
  TesiCuStream stream;
  TesiCudaLoops loops;
  TesiStaged staged;
  TesiNccl *nccl; /* NULL: not connected */
  char target[32], name[192], short_name[16], model[96];
} CudaState;

static CudaState *state_of(const TesContext *ctx) {
  return tesi_context_device_state(ctx);
}

/* Calls of the driver that can fail; the message names the call. */
#define CU(state, call)                                                                                      \
  do {                                                                                                       \
    const int error_ = (state)->cu->call;                                                                    \
    if (error_)                                                                                              \
      TES_FAIL(error_ == TESI_CU_OUT_OF_MEMORY ? TES_OUT_OF_MEMORY : TES_INTERNAL, "GPU: %s (%s) in %s",     \
               tesi_cu_name((state)->cu, error_), tesi_cu_text((state)->cu, error_), #call);                 \
  } while (0)

/* ---- memory -------------------------------------------------------------------------------------------- */
static size_t available(TesContext *ctx) {
  const CudaState *s = state_of(ctx);
  size_t free_bytes = 0, total = 0;
  s->cu->context_set(s->context);
  return s->cu->memory_info(&free_bytes, &total) ? SIZE_MAX : free_bytes;
}

static TesiCuAddress address_of(const void *pointer) {
  return (TesiCuAddress)(uintptr_t)pointer;
}

static void release(TesContext *ctx, void **address) {
  CudaState *s = state_of(ctx);
  if (!*address) return;
  s->cu->context_set(s->context);
  s->cu->release(address_of(*address));
  tesi_blocks_remove(&s->kernels.blocks, *address);
  *address = NULL;
}

/* Calls that wait are refused here during a recording. The driver would refuse them too, but would spoil the recording,
 * perhaps of a loop's body. */
static TesStatus refuse_in_recording(TesContext *ctx, const char *what) {
  TesStatus status = TES_OK;
  if (state_of(ctx)->kernels.recording) TES_FAIL(TES_INTERNAL, "%s while work is recorded", what);
done:
  return status;
}

static TesStatus allocate(TesContext *ctx, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TesiCuAddress where = 0;
  *address = NULL;
  TES_TRY(refuse_in_recording(ctx, "an allocation"));
  s->kernels.counts.allocations++;
  CU(s, context_set(s->context));
  const int error = s->cu->allocate(&where, bytes ? bytes : 1);
  if (error == TESI_CU_OUT_OF_MEMORY)
    TES_FAIL(
        TES_OUT_OF_MEMORY,
        "the GPU has no room for %.3g GiB more; %.3g GiB are free: take a smaller problem or a coarser mesh",
        (double)bytes / (1 << 30), (double)available(ctx) / (1 << 30));
  if (error) TES_FAIL(TES_INTERNAL, "GPU: %s in cuMemAlloc", tesi_cu_name(s->cu, error));
  memcpy(address, &where, sizeof *address);
  TES_TRY(tesi_blocks_add(ctx, &s->kernels.blocks, *address, bytes));
  if (bytes) CU(s, set_bytes(where, 0, bytes, s->stream));
done:
  if (status != TES_OK) release(ctx, address);
  return status;
}

static TesStatus to_device(TesContext *ctx, void *device, const void *host, size_t bytes) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TES_TRY(refuse_in_recording(ctx, "a copy to the device"));
  s->kernels.counts.to_device++;
  CU(s, context_set(s->context));
  const int error = tesi_staged_to_device(ctx, s->cu, s->stream, &s->staged, address_of(device), host, bytes);
  if (error) TES_FAIL(TES_INTERNAL, "GPU: %s in a copy to it", tesi_cu_name(s->cu, error));
done:
  return status;
}

static TesStatus to_host(TesContext *ctx, void *host, const void *device, size_t bytes) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TES_TRY(refuse_in_recording(ctx, "a copy to the host"));
  s->kernels.counts.to_host++;
  CU(s, context_set(s->context));
  const int error = tesi_staged_to_host(ctx, s->cu, s->stream, &s->staged, host, address_of(device), bytes);
  if (error) TES_FAIL(TES_INTERNAL, "GPU: %s in a copy to the host", tesi_cu_name(s->cu, error));
done:
  return status;
}

static TesStatus synchronize(TesContext *ctx) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TES_TRY(refuse_in_recording(ctx, "waiting for the device"));
  CU(s, context_set(s->context));
  CU(s, stream_synchronize(s->stream));
done:
  return status;
}

static TesStatus pin(TesContext *ctx, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  *address = NULL;
  CU(s, context_set(s->context));
  CU(s, pin(address, bytes ? bytes : 1));
done:
  return status;
}

static void unpin(TesContext *ctx, void **address) {
  const CudaState *s = state_of(ctx);
  if (!*address) return;
  s->cu->context_set(s->context);
  s->cu->unpin(*address);
  *address = NULL;
}

/* Sizes are multiples of the driver's unit of sharing; small blocks share a unit. */
static TesStatus share(TesContext *ctx, size_t bytes, TesiShared *name, void **address) {
  enum { UNIT = 2 << 20 };
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TesiCuShared handle;
  *name = (TesiShared){.bytes = (bytes + UNIT - 1) / UNIT * UNIT, .device = s->device};
  TES_TRY(allocate(ctx, name->bytes, address));
  CU(s, stream_synchronize(s->stream)); /* the zeros must be there before others write */
  const int error = s->cu->share(&handle, address_of(*address));
  if (error)
    TES_FAIL(TES_MISSING, "GPU: %s: its memory cannot be shared with other processes",
             tesi_cu_name(s->cu, error));
  memcpy(name->name, handle.bytes, sizeof handle.bytes);
done:
  if (status != TES_OK) release(ctx, address);
  return status;
}

static void unshare(TesContext *ctx, TesiShared *name, void **address) {
  (void)name;
  release(ctx, address);
}

static TesStatus open_shared(TesContext *ctx, const TesiShared *name, void **address) {
  enum { WITH_PEER_ACCESS = 1 };
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TesiCuShared handle;
  TesiCuAddress where = 0;
  *address = NULL;
  memcpy(handle.bytes, name->name, sizeof handle.bytes);
  CU(s, context_set(s->context));
  const int error = s->cu->open_shared(&where, handle, WITH_PEER_ACCESS);
  if (error)
    TES_FAIL(TES_MISSING, "GPU: %s: memory of GPU %d cannot be reached", tesi_cu_name(s->cu, error),
             name->device);
  memcpy(address, &where, sizeof *address);
done:
  return status;
}

static void close_shared(TesContext *ctx, const TesiShared *name, void **address) {
  const CudaState *s = state_of(ctx);
  (void)name;
  if (!*address) return;
  s->cu->context_set(s->context);
  s->cu->close_shared(address_of(*address));
  *address = NULL;
}

static TesStatus connect_ranks(TesContext *ctx) {
  CudaState *s = state_of(ctx);
  s->cu->context_set(s->context);
  return tesi_nccl_create(ctx, &s->nccl);
}

static TesStatus send_messages(TesContext *ctx, int n, const TesiMessage *message) {
  const CudaState *s = state_of(ctx);
  s->cu->context_set(s->context);
  return tesi_nccl_send(ctx, s->nccl, s->stream, n, message);
}

/* The driver sets long vectors to zero, a fifth faster than a kernel; for short vectors it would take 3 us more. */
static TesStatus fill(TesContext *ctx, TesPrecision precision, int64_t n, double a, void *y) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  enum { LONG = 1 << 21 };
  if (a != 0 || n < LONG) return tesi_kernel_fill(ctx, precision, n, a, y);
  CU(s, context_set(s->context));
  CU(s, set_bytes(address_of(y), 0, (size_t)n * (precision == TES_DOUBLE ? sizeof(double) : sizeof(float)),
                  s->stream));
done:
  return status;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */
static TesStatus describe(TesContext *ctx, char *text, size_t size) {
  const CudaState *s = state_of(ctx);
  snprintf(text, size, "nvrtc %d.%d %s", s->compiler / 1000, s->compiler / 10 % 100, s->target);
  return TES_OK;
}

static TesStatus compile(TesContext *ctx, const TesiCompilation *compilation, char **image, size_t *bytes) {
  return tesi_nvrtc_compile(ctx, compilation, strrchr(compilation->description, ' ') + 1, image, bytes, NULL);
}

static TesStatus load(TesContext *ctx, const char *image, size_t bytes, void **module) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TesiCuModule m = NULL;
  (void)bytes;
  CU(s, context_set(s->context));
  CU(s, module_load(&m, image, 0, NULL, NULL));
  *module = m;
done:
  return status;
}

static void unload(TesContext *ctx, void *module) {
  const CudaState *s = state_of(ctx);
  s->cu->context_set(s->context);
  s->cu->module_unload(module);
}

static TesStatus get(TesContext *ctx, void *module, const char *name, size_t shared, void **function) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TesiCuFunction f = NULL;
  *function = NULL;
  if (shared > (size_t)s->max_shared)
    TES_FAIL(TES_INTERNAL, "kernel %s needs %zu bytes of shared memory, a block has %d", name, shared,
             s->max_shared);
  CU(s, context_set(s->context));
  CU(s, module_function(&f, module, name));
  if (shared > 48 * 1024) CU(s, function_set(f, TESI_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)shared));
  *function = f;
done:
  return status;
}

static TesStatus launch(TesContext *ctx, void *function, TesiGrid grid, bool together, unsigned threads,
                        size_t shared, void **arguments) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  s->kernels.counts.launches++;
  CU(s, context_set(s->context));
  if (together)
    CU(s, launch_together(function, grid.x, grid.y, grid.z, threads, 1, 1, (unsigned)shared, s->stream,
                          arguments));
  else
    CU(s,
       launch(function, grid.x, grid.y, grid.z, threads, 1, 1, (unsigned)shared, s->stream, arguments, NULL));
done:
  return status;
}

static TesStatus use(TesContext *ctx, void *function, unsigned threads, size_t shared, TesiKernelUse *use) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  CU(s, context_set(s->context));
  CU(s, function_get(&use->registers, TESI_CU_FUNCTION_REGISTERS, function));
  CU(s, function_get(&use->local_bytes, TESI_CU_FUNCTION_LOCAL_BYTES, function));
  CU(s, occupancy(&use->blocks, function, (int)threads, shared));
done:
  return status;
}

static int multiprocessors(const TesContext *ctx) {
  return state_of(ctx)->multiprocessors;
}

static const struct TesiKernelTable kernels = {.describe = describe,
                                               .compile = compile,
                                               .load = load,
                                               .unload = unload,
                                               .get = get,
                                               .launch = launch,
                                               .use = use,
                                               .multiprocessors = multiprocessors};

/* ---- graphs -------------------------------------------------------------------------------------------- */
static TesStatus graph_begin(TesContext *ctx) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  CU(s, context_set(s->context));
  CU(s, capture_begin(s->stream, 1)); /* 1: other threads are not disturbed */
done:
  return status;
}

/* graph NULL: the recording is dropped. It is not destroyed, since bodies of loops may have ended with an error, and
 * the driver would crash. */
static TesStatus graph_end(TesContext *ctx, void **graph) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  TesiCuGraph recorded = NULL;
  TesiCuGraphExec executable = NULL;
  if (!graph) return s->cu->capture_end(s->stream, &recorded) ? TES_INTERNAL : TES_OK;
  *graph = NULL;
  CU(s, capture_end(s->stream, &recorded));
  CU(s, graph_instantiate(&executable, recorded, 0));
  *graph = executable;
done:
  if (recorded) s->cu->graph_destroy(recorded);
  return status;
}

static TesStatus graph_run(TesContext *ctx, void *graph) {
  TesStatus status = TES_OK;
  CudaState *s = state_of(ctx);
  s->kernels.counts.graphs++;
  CU(s, context_set(s->context));
  CU(s, graph_launch(graph, s->stream));
done:
  return status;
}

static void graph_release(TesContext *ctx, void **graph) {
  CudaState *s = state_of(ctx);
  if (*graph) s->cu->graph_exec_destroy(*graph);
  *graph = NULL;
}

static bool loops(TesContext *ctx) {
  CudaState *s = state_of(ctx);
  s->cu->context_set(s->context);
  return tesi_cuda_loops(ctx, s->cu, &s->loops);
}

static TesStatus loop_begin(TesContext *ctx, const int *go_on) {
  CudaState *s = state_of(ctx);
  return tesi_cuda_loop_begin(ctx, s->cu, &s->loops, s->context, go_on, &s->stream);
}

static TesStatus loop_end(TesContext *ctx) {
  CudaState *s = state_of(ctx);
  return tesi_cuda_loop_end(ctx, s->cu, &s->loops, &s->stream);
}

/* ---- opening ------------------------------------------------------------------------------------------- */
const TesiDevice tesi_device_cuda = {.kind = "cuda",
                                     .allocate = allocate,
                                     .release = release,
                                     .available = available,
                                     .to_device = to_device,
                                     .to_host = to_host,
                                     .synchronize = synchronize,
                                     .pin = pin,
                                     .unpin = unpin,
                                     .share = share,
                                     .unshare = unshare,
                                     .open = open_shared,
                                     .close = close_shared,
                                     .connect = connect_ranks,
                                     .send = send_messages,
                                     .fill = fill,
                                     TESI_KERNEL_VECTORS,
                                     .kernels = &kernels,
                                     .graph_begin = graph_begin,
                                     .graph_end = graph_end,
                                     .graph_run = graph_run,
                                     .graph_release = graph_release,
                                     .loops = loops,
                                     .loop_begin = loop_begin,
                                     .loop_end = loop_end};

static void destroy(void *state) {
  CudaState *s = state;
  TesContext *ctx = s->kernels.ctx;
  if (s->context) {
    tesi_kernel_state_destroy(&s->kernels);
    tesi_cuda_loops_destroy(s->cu, &s->loops);
    tesi_staged_destroy(s->cu, &s->staged);
    tesi_nccl_destroy(ctx, &s->nccl);
    if (s->stream) s->cu->stream_destroy(s->stream);
    s->cu->context_release(s->device);
  }
  tesi_free(ctx, &s);
}

/* Name, capability and target of the GPU. */
static TesStatus identify(TesContext *ctx, CudaState *s, int number) {
  TesStatus status = TES_OK;
  int major = 0, minor = 0, version = 0;
  char name[96] = "";
  CU(s, device_attribute(&major, TESI_CU_COMPUTE_MAJOR, s->device));
  CU(s, device_attribute(&minor, TESI_CU_COMPUTE_MINOR, s->device));
  CU(s, device_attribute(&s->max_shared, TESI_CU_DEVICE_MAX_SHARED_OPTIN, s->device));
  CU(s, device_attribute(&s->multiprocessors, TESI_CU_MULTIPROCESSORS, s->device));
  CU(s, device_name(name, (int)sizeof name, s->device));
  CU(s, driver_version(&version));
  if (major < 8)
    TES_FAIL(TES_MISSING, "GPU %d (%s) has compute capability %d.%d; 8.0 or newer is needed", number, name,
             major, minor);
  TES_TRY(tesi_compiler_find(ctx, 10 * major + minor, &s->compiler, s->target));
  snprintf(s->model, sizeof s->model, "%s", name);
  snprintf(s->short_name, sizeof s->short_name, "cuda:%d", number);
  snprintf(s->name, sizeof s->name, "cuda:%d (%s, compute capability %d.%d, driver for CUDA %d.%d)", number,
           name, major, minor, version / 1000, version / 10 % 100);
done:
  return status;
}

TesStatus tesi_cuda_open(TesContext *ctx, int number) {
  TesStatus status = TES_OK;
  CudaState *s = NULL;
  int count = 0;
  const double start = tesi_now();
  TES_NEW(&s);
  s->kernels.ctx = ctx;
  TES_TRY(tesi_cu_open(ctx, &s->cu));
  const double driver = tesi_now();
  CU(s, device_count(&count));
  if (number < 0 || number >= count)
    TES_FAIL(TES_MISSING, "GPU %d is asked for, this machine has %d", number, count);
  CU(s, device_get(&s->device, number));
  TES_TRY(identify(ctx, s, number));
  const double identified = tesi_now();
  CU(s, context_retain(&s->context, s->device));
  CU(s, context_set(s->context));
  CU(s, stream_create(&s->stream, 1)); /* 1: not ordered with the default stream */
  tesi_context_set_device(ctx, &tesi_device_cuda, s, destroy);
  tesi_log(ctx, TES_LOG_DETAIL, "device %s", s->name);
  tesi_log(ctx, TES_LOG_DETAIL, "driver opened in %.0f ms, compiler found in %.0f ms, context made in %.0f ms",
           1e3 * (driver - start), 1e3 * (identified - driver), 1e3 * (tesi_now() - identified));
  s = NULL;
done:
  if (s && s->context) s->cu->context_release(s->device);
  tesi_free(ctx, &s);
  return status;
}

TesStatus tesi_cuda_count(TesContext *ctx, int *count) {
  TesStatus status = TES_OK;
  CudaState s = {0};
  *count = 0;
  TES_TRY(tesi_cu_open(ctx, &s.cu));
  CU(&s, device_count(count));
done:
  return status;
}

const char *tesi_cuda_name(const TesContext *ctx) {
  return state_of(ctx)->short_name;
}

const char *tesi_cuda_model(const TesContext *ctx) {
  return state_of(ctx)->model;
}

bool tesi_cuda_bus(const TesContext *ctx, int size, char *bus) {
  const CudaState *s = state_of(ctx);
  return s->cu->device_bus(bus, size, s->device) == 0;
}

void *tesi_cuda_stream(const TesContext *ctx) {
  return state_of(ctx)->stream;
}
