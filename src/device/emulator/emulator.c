#include "device/emulator/emulator.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device/blocks.h"
#include "device/emulator/fiber.h"
#include "device/emulator/graph.h"
#include "device/emulator/guard.h"
#include "device/kernel.h"

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- memory ---------------------------------------------------------------------------------------------- */
typedef struct EmulatorState {
  TesiKernelState kernels; /* first: see kernel.h */
  TesiEmulatedGraph *recording;
  size_t memory; /* size of the memory in bytes */
} EmulatorState;

static EmulatorState *state_of(const TesContext *ctx) {
  return tesi_context_device_state(ctx);
}

/* As on a GPU, calls that wait are refused during a recording. */
static TesStatus refuse_in_recording(TesContext *ctx, const char *what) {
  TesStatus status = TES_OK;
  if (state_of(ctx)->recording) TES_FAIL(TES_INTERNAL, "%s while work is recorded", what);
done:
  return status;
}

static size_t available(TesContext *ctx) {
  const EmulatorState *s = state_of(ctx);
  const size_t host = tes_memory_available(), own = s->memory - s->kernels.blocks.held;
  return own < host ? own : host;
}

/* The host's free memory is checked for large blocks only, since the check reads some files of the system. */
static bool fits(TesContext *ctx, size_t bytes) {
  enum { LARGE = 1 << 28 };
  const EmulatorState *s = state_of(ctx);
  return bytes <= s->memory - s->kernels.blocks.held && (bytes < LARGE || bytes < tes_memory_available());
}

static size_t bytes_of(const TesiBlocks *blocks, const void *address) {
  for (size_t i = blocks->count; i-- > 0;)
    if (blocks->block[i].address == address) return blocks->block[i].bytes;
  return 0;
}

static void release(TesContext *ctx, void **address) {
  TesiBlocks *blocks = &state_of(ctx)->kernels.blocks;
  if (!*address) return;
  const size_t bytes = bytes_of(blocks, *address);
  tesi_blocks_remove(blocks, *address);
  tesi_guard_unmap(*address, bytes);
  *address = NULL;
}

/* Pages come from the system. A tiny block is also requested from the context's allocator, so that an allocator that
 * refuses does so here too. */
static TesStatus ask_allocator(TesContext *ctx) {
  TesStatus status = TES_OK;
  char *asked = NULL;
  TES_ALLOC(&asked, 1);
done:
  tesi_free(ctx, &asked);
  return status;
}

static TesStatus allocate(TesContext *ctx, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  EmulatorState *s = state_of(ctx);
  *address = NULL;
  TES_TRY(refuse_in_recording(ctx, "an allocation"));
  s->kernels.counts.allocations++;
  TES_TRY(ask_allocator(ctx));
  if (fits(ctx, bytes)) *address = tesi_guard_map(bytes);
  if (!*address)
    TES_FAIL(TES_OUT_OF_MEMORY,
             "the emulator has no room for %.3g GiB more; %.3g GiB are free (TESSERA_EMULATOR_MIB)",
             (double)bytes / (1 << 30), (double)available(ctx) / (1 << 30));
  TES_TRY(tesi_blocks_add(ctx, &s->kernels.blocks, *address, bytes));
done:
  if (status != TES_OK && *address) {
    tesi_guard_unmap(*address, bytes);
    *address = NULL;
  }
  return status;
}

/* The host's side of a copy must not be device memory: a GPU refuses it or reads other data. */
static TesStatus check_host(TesContext *ctx, const void *host) {
  TesStatus status = TES_OK;
  const TesiBlocks *blocks = &state_of(ctx)->kernels.blocks;
  const uintptr_t at = (uintptr_t)host;
  for (size_t i = 0; i < blocks->count; i++)
    if (at - (uintptr_t)blocks->block[i].address < blocks->block[i].bytes)
      TES_FAIL(TES_INTERNAL, "the host's side of a copy is device memory");
done:
  return status;
}

static TesStatus move(TesContext *ctx, void *to, const void *from, size_t bytes, const void *host) {
  TesStatus status = TES_OK;
  const TesiBlocks *blocks = &state_of(ctx)->kernels.blocks;
  TES_TRY(check_host(ctx, host));
  tesi_guard_open(blocks);
  memcpy(to, from, bytes);
  tesi_guard_close(blocks);
done:
  return status;
}

static TesStatus to_device(TesContext *ctx, void *device, const void *host, size_t bytes) {
  const TesStatus status = refuse_in_recording(ctx, "a copy to the device");
  state_of(ctx)->kernels.counts.to_device++;
  return status == TES_OK ? move(ctx, device, host, bytes, host) : status;
}

static TesStatus to_host(TesContext *ctx, void *host, const void *device, size_t bytes) {
  const TesStatus status = refuse_in_recording(ctx, "a copy to the host");
  state_of(ctx)->kernels.counts.to_host++;
  return status == TES_OK ? move(ctx, host, device, bytes, host) : status;
}

static TesStatus synchronize(TesContext *ctx) {
  return refuse_in_recording(ctx, "a wait");
}

/* ---- memory that processes share: a file without a name, opened by the number of the owning process ---- */
static TesStatus map_file(TesContext *ctx, int file, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  *address = file < 0 ? NULL : tesi_guard_map_file(file, bytes);
  if (!*address) TES_FAIL(TES_MISSING, "memory cannot be shared with other processes: %s", strerror(errno));
  status = tesi_blocks_add(ctx, &state_of(ctx)->kernels.blocks, *address, bytes);
done:
  return status;
}

static TesStatus share_memory(TesContext *ctx, size_t bytes, TesiShared *name, void **address) {
  const int file = memfd_create("tessera", MFD_CLOEXEC);
  *name = (TesiShared){.bytes = bytes, .device = file};
  snprintf(name->name, sizeof name->name, "/proc/%d/fd/%d", (int)getpid(), file);
  const bool good = file >= 0 && ftruncate(file, (off_t)bytes) == 0;
  return map_file(ctx, good ? file : -1, bytes, address);
}

static void unshare_memory(TesContext *ctx, TesiShared *name, void **address) {
  release(ctx, address);
  if (name->name[0] && name->device >= 0) close(name->device);
  name->name[0] = 0;
}

static TesStatus open_shared(TesContext *ctx, const TesiShared *name, void **address) {
  const int file = open(name->name, O_RDWR | O_CLOEXEC);
  const TesStatus status = map_file(ctx, file, name->bytes, address);
  if (file >= 0) close(file);
  return status;
}

static void close_shared(TesContext *ctx, const TesiShared *name, void **address) {
  (void)name;
  release(ctx, address);
}

/* ---- compiling ----------------------------------------------------------------------------------------- */
static const char *compiler(void) {
  const char *given = getenv("TESSERA_EMULATOR_CC");
  return given && *given ? given : "cc";
}

/* Machines with different processors may share the folder of compiled kernels. */
static TesStatus describe(TesContext *ctx, char *text, size_t size) {
  struct utsname machine;
  (void)ctx;
  snprintf(text, size, "emulator %s %s", compiler(), uname(&machine) == 0 ? machine.machine : "");
  return TES_OK;
}

static bool write_text(const char *folder, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) return false;
  const bool good = fputs(text, file) >= 0;
  return fclose(file) == 0 && good;
}

static void remove_folder(const char *folder, const TesiCompilation *c) {
  char path[512];
  for (int i = 0; i < c->count; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, c->texts[i].name);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/kernel.so", folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/log", folder);
  unlink(path);
  rmdir(folder);
}

/* Runs the C compiler in `folder`; its messages go to the file `log` there. */
static int run_compiler(const char *folder, const TesiCompilation *c) {
  char defines[TESI_OPTIONS][128], include[512], source[512], output[512], log[512];
  char *argv[TESI_OPTIONS + 20];
  int n = 0;
  pid_t child;
  snprintf(include, sizeof include, "-I%s", folder);
  snprintf(source, sizeof source, "%s/%s", folder, c->texts[0].name);
  snprintf(output, sizeof output, "%s/kernel.so", folder);
  snprintf(log, sizeof log, "%s/log", folder);
  /* -O0: most kernels run for less time than their compilation takes */
  const char *fixed[] = {compiler(), "-std=gnu11",           "-O0",
                         "-w",       "-fno-tree-vectorize",  "-fPIC",
                         "-shared",  "-fno-strict-aliasing", "-DTESK_EMULATOR"};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) argv[n++] = (char *)fixed[i];
  for (int i = 0; c->options[i]; i++) {
    snprintf(defines[i], sizeof defines[i], "-D%s", c->options[i]);
    argv[n++] = defines[i];
  }
  const char *rest[] = {include, "-x", "c", source, "-o", output, "-lm"};
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) argv[n++] = (char *)rest[i];
  argv[n] = NULL;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error = posix_spawnp(&child, compiler(), &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  int result = -1;
  if (error) return -1;
  while (waitpid(child, &result, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

static void read_log(const char *folder, char *text, size_t size) {
  char path[512];
  snprintf(path, sizeof path, "%s/log", folder);
  FILE *file = fopen(path, "r");
  const size_t got = file ? fread(text, 1, size - 1, file) : 0;
  text[got] = 0;
  if (file) fclose(file);
}

static TesStatus read_image(TesContext *ctx, const char *folder, char **image, size_t *bytes) {
  TesStatus status = TES_OK;
  char path[512];
  struct stat info;
  snprintf(path, sizeof path, "%s/kernel.so", folder);
  FILE *file = fopen(path, "rb");
  if (!file || fstat(fileno(file), &info) != 0)
    TES_FAIL(TES_IO, "the compiled kernel %s cannot be read", path);
  TES_TRY(tesi_alloc(ctx, (size_t)info.st_size, 1, image));
  *bytes = (size_t)info.st_size;
  if (fread(*image, 1, *bytes, file) != *bytes)
    TES_FAIL(TES_IO, "the compiled kernel %s cannot be read", path);
done:
  if (file) fclose(file);
  if (status != TES_OK) tesi_free(ctx, image);
  return status;
}

static TesStatus compile(TesContext *ctx, const TesiCompilation *c, char **image, size_t *bytes) {
  TesStatus status = TES_OK;
  char folder[] = "/tmp/tessera-emulator-XXXXXX", log[1500];
  *image = NULL;
  if (!mkdtemp(folder))
    TES_FAIL(TES_IO, "no folder for the emulator's compiler below /tmp: %s", strerror(errno));
  for (int i = 0; i < c->count; i++)
    if (!write_text(folder, c->texts[i].name, c->texts[i].text))
      TES_FAIL(TES_IO, "the kernel text %s/%s cannot be written: %s", folder, c->texts[i].name,
               strerror(errno));
  const int result = run_compiler(folder, c);
  read_log(folder, log, sizeof log);
  if (result < 0 || result == 127)
    TES_FAIL(TES_MISSING, "the emulator needs the C compiler '%s', which does not start", compiler());
  if (result)
    TES_FAIL(TES_INTERNAL, "kernel %s does not compile for the emulator:\n%s", c->texts[0].name, log);
  TES_TRY(read_image(ctx, folder, image, bytes));
done:
  remove_folder(folder, c);
  return status;
}

/* dlopen needs a file, and treats two files of one name as the same. */
static TesStatus load(TesContext *ctx, const char *image, size_t bytes, void **module) {
  TesStatus status = TES_OK;
  char path[] = "/tmp/tessera-kernel-XXXXXX";
  void (*bind)(TeskEmulator *) = NULL;
  const int file = mkstemp(path);
  if (file < 0 || write(file, image, bytes) != (ssize_t)bytes)
    TES_FAIL(TES_IO, "the file %s for a kernel cannot be written: %s", path, strerror(errno));
  *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*module) TES_FAIL(TES_INTERNAL, "an emulated kernel does not load: %s", dlerror());
  void *symbol = dlsym(*module, "tesk_bind");
  if (!symbol) TES_FAIL(TES_INTERNAL, "an emulated kernel has no tesk_bind");
  memcpy(&bind, &symbol, sizeof bind);
  bind(tesi_fiber_emulator());
done:
  if (file >= 0) {
    close(file);
    unlink(path);
  }
  return status;
}

static void unload(TesContext *ctx, void *module) {
  (void)ctx;
  dlclose(module);
}

static TesStatus get(TesContext *ctx, void *module, const char *name, size_t shared, void **function) {
  TesStatus status = TES_OK;
  char symbol[128];
  (void)shared;
  snprintf(symbol, sizeof symbol, "tesk_kernel_%s", name);
  *function = dlsym(module, symbol);
  if (!*function) TES_FAIL(TES_INTERNAL, "there is no kernel %s", name);
done:
  return status;
}

static TesStatus launch(TesContext *ctx, void *function, TesiGrid grid, bool together, unsigned threads,
                        size_t shared, void **arguments) {
  TesStatus status = TES_OK;
  char message[512];
  EmulatorState *s = state_of(ctx);
  s->kernels.counts.launches++;
  if (together && (int64_t)grid.x * grid.y * grid.z > 1)
    TES_FAIL(TES_INTERNAL, "blocks that wait for each other, on a device that runs them in turn");
  if (s->recording)
    return tesi_emulated_graph_add(ctx, s->recording, function, grid, threads, shared, arguments);
  pthread_mutex_lock(&lock);
  tesi_guard_open(&s->kernels.blocks);
  const bool good = tesi_fiber_launch(function, (TeskDim){grid.x, grid.y, grid.z}, threads, shared, arguments,
                                      message, sizeof message);
  tesi_guard_close(&s->kernels.blocks);
  pthread_mutex_unlock(&lock);
  if (!good) TES_FAIL(TES_INTERNAL, "%s", message);
done:
  return status;
}

/* One, so that tests cover blocks that stay for many cells. */
static int multiprocessors(const TesContext *ctx) {
  (void)ctx;
  return 1;
}

static const struct TesiKernelTable kernels = {.describe = describe,
                                               .compile = compile,
                                               .load = load,
                                               .unload = unload,
                                               .get = get,
                                               .launch = launch,
                                               .multiprocessors = multiprocessors,
                                               .in_turn = true};

/* ---- messages between devices: what NCCL does on GPUs, by MPI ----------------------------------------------- */
static TesStatus connect_ranks(TesContext *ctx) {
  TesStatus status = TES_OK;
  if (!tesi_context_communicator(ctx)->table->begin) TES_FAIL(TES_MISSING, "these ranks share nothing");
done:
  return status;
}

static TesStatus send_messages(TesContext *ctx, int n, const TesiMessage *message) {
  EmulatorState *s = state_of(ctx);
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  if (s->recording) return tesi_emulated_graph_send(ctx, s->recording, n, message);
  tesi_guard_open(&s->kernels.blocks);
  communicator->table->begin(communicator, n, message);
  communicator->table->end(communicator);
  tesi_guard_close(&s->kernels.blocks);
  return TES_OK;
}

/* ---- graphs: launches with copies of their arguments --------------------------------------------------- */
static TesStatus graph_begin(TesContext *ctx) {
  return tesi_emulated_graph_create(ctx, &state_of(ctx)->recording);
}

static TesStatus graph_end(TesContext *ctx, void **graph) {
  EmulatorState *s = state_of(ctx);
  if (graph)
    *graph = s->recording;
  else
    tesi_emulated_graph_destroy(ctx, &s->recording);
  s->recording = NULL;
  return TES_OK;
}

static TesStatus graph_run(TesContext *ctx, void *graph) {
  state_of(ctx)->kernels.counts.graphs++;
  return tesi_emulated_graph_run(ctx, graph, launch, send_messages);
}

static void graph_release(TesContext *ctx, void **graph) {
  tesi_emulated_graph_destroy(ctx, (TesiEmulatedGraph **)graph);
}

static bool loops(TesContext *ctx) {
  (void)ctx;
  return true;
}

static TesStatus loop_begin(TesContext *ctx, const int *go_on) {
  EmulatorState *s = state_of(ctx);
  return tesi_emulated_graph_loop(ctx, s->recording, go_on, &s->recording);
}

static TesStatus loop_end(TesContext *ctx) {
  EmulatorState *s = state_of(ctx);
  s->recording = tesi_emulated_graph_outer(s->recording);
  return TES_OK;
}

const TesiDevice tesi_device_emulator = {.kind = "emulator",
                                         .allocate = allocate,
                                         .release = release,
                                         .available = available,
                                         .to_device = to_device,
                                         .to_host = to_host,
                                         .synchronize = synchronize,
                                         .share = share_memory,
                                         .unshare = unshare_memory,
                                         .open = open_shared,
                                         .close = close_shared,
                                         .connect = connect_ranks,
                                         .send = send_messages,
                                         .fill = tesi_kernel_fill,
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
  EmulatorState *s = state;
  TesContext *ctx = s->kernels.ctx;
  tesi_kernel_state_destroy(&s->kernels);
  tesi_free(ctx, &s);
}

/* The host's free memory, or the value of TESSERA_EMULATOR_MIB: for tests of a full device. */
static size_t memory_of_a_gpu(void) {
  const char *given = getenv("TESSERA_EMULATOR_MIB");
  char *end;
  const unsigned long long mib = given ? strtoull(given, &end, 10) : 0;
  return mib && !*end ? (size_t)mib << 20 : SIZE_MAX;
}

TesStatus tesi_emulator_open(TesContext *ctx) {
  TesStatus status = TES_OK;
  EmulatorState *state = NULL;
  TES_NEW(&state);
  state->kernels.ctx = ctx;
  state->memory = memory_of_a_gpu();
  tesi_context_set_device(ctx, &tesi_device_emulator, state, destroy);
done:
  return status;
}
