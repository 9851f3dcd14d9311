/* Joules: NVML's counter of a GPU, and RAPL's counters of processor packages. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda/cuda.h"
#include "device/library.h"
#include "tessera/devices.h"

/* ---- GPUs ---------------------------------------------------------------------------------------------- */

typedef struct Nvml {
  void *library;
  int (*init)(void), (*find)(const char *, void **), (*energy)(void *, unsigned long long *);
} Nvml;

/* The reason why there is no counter; NULL: it is open. */
static const char *open_nvml(Nvml *n) {
  static const char *const names[] = {"libnvidia-ml.so.1", NULL};
  n->library = tesi_library_open(getenv("TESSERA_LIBNVML"), names);
  if (!n->library) return "no NVML (libnvidia-ml.so.1, or TESSERA_LIBNVML)";
  if (!tesi_library_find(n->library, "nvmlInit_v2", &n->init) ||
      !tesi_library_find(n->library, "nvmlDeviceGetHandleByPciBusId_v2", &n->find) ||
      !tesi_library_find(n->library, "nvmlDeviceGetTotalEnergyConsumption", &n->energy))
    return "this NVML counts no energy";
  return n->init() == 0 ? NULL : "NVML does not start";
}

static double read_gpu(const TesContext *ctx, const char **reason) {
  static Nvml nvml;
  static const char *missing;
  char bus[32];
  void *device;
  unsigned long long millijoules;
  *reason = "no GPU computes";
  if (strcmp(tesi_context_device(ctx)->kind, "cuda") != 0) return NAN;
  if (!nvml.library && !missing) missing = open_nvml(&nvml);
  *reason = missing;
  if (missing) return NAN;
  *reason = "this GPU counts no energy";
  if (!tesi_cuda_bus(ctx, sizeof bus, bus) || nvml.find(bus, &device) != 0 ||
      nvml.energy(device, &millijoules) != 0)
    return NAN;
  *reason = NULL;
  return 1e-3 * (double)millijoules;
}

/* ---- processors ---------------------------------------------------------------------------------------- */

enum { PACKAGES = 64 };

/* A number of a package's folder. */
static bool read_number(int package, const char *name, double *value) {
  const char *given = getenv("TESSERA_RAPL");
  char path[512];
  snprintf(path, sizeof path, "%s/intel-rapl:%d/%s", given && *given ? given : "/sys/class/powercap", package,
           name);
  FILE *file = fopen(path, "r");
  const bool read = file && fscanf(file, "%lf", value) == 1;
  if (file) fclose(file);
  return read;
}

/* Counters, in microjoules, begin again at 0 above max_energy_range_uj. */
static double read_packages(const char **reason) {
  static double last[PACKAGES], sum;
  static int count;
  double now, range;
  int package = 0;
  for (; package < PACKAGES && read_number(package, "energy_uj", &now); package++) {
    if (package < count)
      sum += now - last[package] +
             (now < last[package] && read_number(package, "max_energy_range_uj", &range) ? range : 0);
    last[package] = now;
  }
  count = package;
  *reason = package ? NULL : "no /sys/class/powercap/intel-rapl:0/energy_uj that this user may read";
  return package ? 1e-6 * sum : NAN;
}

TesEnergy tes_context_energy(TesContext *context) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool told;
  const char *no_gpu, *no_cpu;
  pthread_mutex_lock(&lock);
  const TesEnergy energy = {read_gpu(context, &no_gpu), read_packages(&no_cpu)};
  const bool tells = !told && (no_gpu || no_cpu);
  told = true;
  pthread_mutex_unlock(&lock);
  if (tells)
    tesi_log(context, TES_LOG_DETAIL, "energy    cannot be read: %s%s%s", no_gpu ? no_gpu : "",
             no_gpu && no_cpu ? "; " : "", no_cpu ? no_cpu : "");
  return energy;
}
