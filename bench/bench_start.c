/* The time of a process before its first kernel, without Tessera's own work: opening the NVIDIA driver, cuInit, the
 * primary context, a stream, memory, and giving these back; then opening NVRTC, which a start with a filled kernel
 * cache omits.
 * bench_start [--csv FILE] [--keep]. One process per measurement: start it several times. --keep: it ends without
 * giving anything back or opening NVRTC, for a clock around the process. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "device/cuda/driver.h"

enum { STEPS = 8 };
static const char *const names[STEPS] = {"open_driver", "init",    "context",    "stream",
                                         "memory",      "release", "open_nvrtc", "total_without_nvrtc"};

/* ISO C has no cast from a pointer to data to a pointer to a function. */
static bool find(void *library, const char *symbol, void *function) {
  void *address = library ? dlsym(library, symbol) : NULL;
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

static void lap(double *mark, double *seconds) {
  const double now = tesi_now();
  *seconds = now - *mark;
  *mark = now;
}

static bool measure(bool keep, double seconds[STEPS]) {
  TesiCuDriver cu;
  TesiCuContext context;
  TesiCuStream stream;
  TesiCuAddress memory;
  int device;
  const double start = tesi_now();
  double mark = start;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
#define X(name, symbol, arguments)                                                                           \
  if (!find(library, symbol, &cu.name)) return false;
  TESI_CU_LIST(X)
#undef X
  lap(&mark, &seconds[0]);
  if (cu.init(0) || cu.device_get(&device, 0)) return false;
  lap(&mark, &seconds[1]);
  if (cu.context_retain(&context, device) || cu.context_set(context)) return false;
  lap(&mark, &seconds[2]);
  if (cu.stream_create(&stream, 1)) return false;
  lap(&mark, &seconds[3]);
  if (cu.allocate(&memory, 1 << 20) || cu.set_bytes(memory, 0, 1 << 20, stream) ||
      cu.stream_synchronize(stream))
    return false;
  lap(&mark, &seconds[4]);
  if (keep) return true;
  cu.release(memory);
  cu.stream_destroy(stream);
  cu.context_release(device);
  lap(&mark, &seconds[5]);
  seconds[STEPS - 1] = mark - start;
  dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
  lap(&mark, &seconds[6]);
  return true;
}

int main(int argc, char **argv) {
  double seconds[STEPS] = {0};
  const bool keep = argc > 1 && !strcmp(argv[argc - 1], "--keep");
  argc -= keep;
  if (argc != 1 && !(argc == 3 && !strcmp(argv[1], "--csv")))
    return fprintf(stderr, "usage: bench_start [--csv FILE] [--keep]\n"), 2;
  if (!measure(keep, seconds)) return fprintf(stderr, "there is no GPU with its driver here\n"), 3;
  FILE *file = argc == 3 ? fopen(argv[2], "a") : stdout;
  if (!file) return 6;
  for (int i = 0; i < STEPS; i++) fprintf(file, "%s%s", names[i], i + 1 < STEPS ? "," : "\n");
  for (int i = 0; i < STEPS; i++) fprintf(file, "%.4f%s", seconds[i], i + 1 < STEPS ? "," : "\n");
  return fclose(file) != 0;
}
