/* Run: ctest -R t1_device_missing. What a machine without GPU, driver, compiler or memory is told: cause, remedy
 * and exit status. Drivers and compilers that fail in one way each are made here by the C compiler; every case runs
 * in a process of its own, as libraries stay open. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device/cuda/driver.h"
#include "testing.h"
#include "tessera/tessera.h"

static char folder[] = "/tmp/tessera-missing-XXXXXX";

static const char *const driver_symbols[] = {
#define X(name, symbol, arguments) symbol,
    TESI_CU_LIST(X)
#undef X
};
static const char *const nvrtc_symbols[] = {"nvrtcVersion",           "nvrtcGetNumSupportedArchs",
                                            "nvrtcGetSupportedArchs", "nvrtcCreateProgram",
                                            "nvrtcCompileProgram",    "nvrtcDestroyProgram",
                                            "nvrtcGetCUBINSize",      "nvrtcGetCUBIN",
                                            "nvrtcGetPTXSize",        "nvrtcGetPTX",
                                            "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"};

/* A library with these symbols but `without`: functions return 0 unless `special` defines them. */
static void make_library(const char *name, const char *const *symbols, size_t count, const char *without,
                         const char *special) {
  char path[256], command[600];
  snprintf(path, sizeof path, "%s/%s.c", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "#include <stddef.h>\n#include <string.h>\n%s\n", special);
  for (size_t i = 0; i < count; i++) {
    char definition[64];
    snprintf(definition, sizeof definition, "int %s(", symbols[i]);
    if (!strstr(special, definition) && strcmp(symbols[i], without) != 0)
      fprintf(file, "%svoid) { return 0; }\n", definition);
  }
  fclose(file);
  snprintf(command, sizeof command, "cc -w -shared -fPIC -o %s/%s.so %s", folder, name, path);
  assert_int_equal(system(command), 0);
}

#define DRIVER(major)                                                                                        \
  "int cuDeviceGetCount(int *n) { *n = 1; return 0; }\n"                                                     \
  "int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 76 ? 0 : a == 97 ? 232448 : " #major           \
  "; return 0; }\n"                                                                                          \
  "int cuMemGetInfo_v2(size_t *f, size_t *t) { *f = *t = 3221225472u; return 0; }\n"                         \
  "int cuMemAlloc_v2(unsigned long long *a, size_t n) { *a = 64; return n > 3221225472u ? 2 : 0; }\n"        \
  "int cuDeviceGetPCIBusId(char *s, int n, int d) { strcpy(s, \"bus\"); return 0; }\n"                       \
  "int cuDeviceGetName(char *s, int n, int d) { strcpy(s, \"Fake\"); return 0; }\n"
#define NVRTC(result)                                                                                        \
  "int nvrtcVersion(int *a, int *b) { *a = 13, *b = 0; return 0; }\n"                                        \
  "int nvrtcGetNumSupportedArchs(int *n) { *n = 1; return 0; }\n"                                            \
  "int nvrtcGetSupportedArchs(int *n) { *n = 90; return 0; }\n"                                              \
  "int nvrtcCompileProgram(void) { return " #result "; }\n"                                                  \
  "int nvrtcGetProgramLogSize(void *p, size_t *n) { *n = 16; return 0; }\n"                                  \
  "int nvrtcGetProgramLog(void *p, char *s) { strcpy(s, \"line 7: no way\"); return 0; }\n"

static const char *const nvml_symbols[] = {"nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2",
                                           "nvmlDeviceGetTotalEnergyConsumption"};
/* It counts 12.5 J, of one GPU. */
#define NVML                                                                                                 \
  "int nvmlDeviceGetHandleByPciBusId_v2(const char *s, void **d) { *d = 0; return strcmp(s, \"bus\"); }\n"   \
  "int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *e) { *e = 12500; return 0; }\n"

static int set_up(void **state) {
  (void)state;
  enum {
    D = sizeof driver_symbols / sizeof *driver_symbols,
    R = sizeof nvrtc_symbols / sizeof *nvrtc_symbols
  };
  assert_non_null(mkdtemp(folder));
  make_library("old", driver_symbols, D, "cuGraphInstantiateWithFlags", "");
  make_library("no_gpu", driver_symbols, D, "",
               "int cuInit(unsigned f) { return 100; }\n"
               "int cuGetErrorName(int e, const char **s) { *s = \"NO_DEVICE\"; return 0; }\n");
  make_library("weak", driver_symbols, D, "", DRIVER(7));
  make_library("driver", driver_symbols, D, "", DRIVER(9));
  make_library("nvrtc", nvrtc_symbols, R, "", NVRTC(6));
  make_library("nvml", nvml_symbols, 3, "", NVML);
  make_library("old_nvml", nvml_symbols, 3, nvml_symbols[2], "");
  make_library("old_nvrtc", nvrtc_symbols, R, "nvrtcGetCUBIN", NVRTC(0));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

typedef enum Work { OPEN, VECTOR, KERNEL, PROBLEM, ENERGY } Work;

static TesStatus create_problem(TesContext *ctx) {
  TesMesh *mesh;
  TesProblem *problem;
  TesStatus status = tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {200, 200, 200}}, &mesh);
  if (status == TES_OK)
    status = tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .degree = 4}, &problem);
  return status;
}

/* In the child: prints the message and ends with the exit status of the program. */
static void fail_in_child(Work work, int output) {
  TesContext *ctx;
  TesVector *v;
  char message[2048];
  TesStatus status = tes_context_create(&(TesContextDesc){.device = "cuda"}, &ctx, message, sizeof message);
  if (status == TES_OK && work == VECTOR) status = tes_vector_create(ctx, (int64_t)1 << 30, TES_DOUBLE, &v);
  if (status == TES_OK && work == KERNEL) status = tes_vector_create(ctx, 100, TES_DOUBLE, &v);
  if (status == TES_OK && work == KERNEL) status = tes_vector_fill(v, 1);
  if (status == TES_OK && work == PROBLEM) status = create_problem(ctx);
  if (ctx) snprintf(message, sizeof message, "%s", tes_context_message(ctx));
  if (status == TES_OK && work == ENERGY)
    snprintf(message, sizeof message, "%g J", tes_context_energy(ctx).gpu);
  dprintf(output, "%s", message);
  _exit(tes_status_exit(status));
}

static void expect(const char *driver, const char *nvrtc, Work work, int exit_status, const char *cause,
                   const char *remedy) {
  char message[4096], path[300];
  int ends[2], status;
  size_t length = 0;
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    setenv("TESSERA_CACHE_DIR", "none", 1);
    snprintf(path, sizeof path, "%s/%s.so", folder, driver);
    setenv("TESSERA_LIBCUDA", path, 1);
    snprintf(path, sizeof path, "%s/%s.so", folder, nvrtc);
    setenv("TESSERA_LIBNVRTC", path, 1);
    fail_in_child(work, ends[1]);
  }
  close(ends[1]);
  for (ssize_t got; (got = read(ends[0], message + length, sizeof message - 1 - length)) > 0;)
    length += (size_t)got;
  message[length] = 0;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != exit_status || !strstr(message, cause) ||
      !strstr(message, remedy))
    fail_msg("driver %s, compiler %s: exit status %d of %d, '%s' and '%s' are expected in: %s", driver, nvrtc,
             WEXITSTATUS(status), exit_status, cause, remedy, message);
}

static void what_is_missing_is_told(void **state) {
  (void)state;
  expect("none", "nvrtc", OPEN, 3, "no NVIDIA driver", "--device cpu");
  expect("old", "nvrtc", OPEN, 3, "driver is too old: it lacks cuGraphInstantiateWithFlags",
         "CUDA 12.0 or newer");
  expect("no_gpu", "nvrtc", OPEN, 3, "no usable GPU", "NO_DEVICE");
  expect("weak", "nvrtc", OPEN, 3, "compute capability 7.0", "8.0 or newer is needed");
  expect("driver", "none", OPEN, 3, "no run-time compiler", "TESSERA_LIBNVRTC");
  expect("driver", "old_nvrtc", OPEN, 3, "libnvrtc is too old: it lacks nvrtcGetCUBIN", "CUDA 12.0 or newer");
}

static void kernels_that_do_not_compile_are_told(void **state) {
  (void)state;
  expect("driver", "nvrtc", KERNEL, 1, "vector.cu does not compile for sm_90", "line 7: no way");
}

/* Before anything is allocated for a problem; and where a vector alone is too large. */
static void memory_that_is_missing_is_told_in_gib(void **state) {
  (void)state;
  expect("driver", "nvrtc", VECTOR, 4, "8 GiB", "3 GiB are free");
  expect("driver", "nvrtc", PROBLEM, 4, "unknowns need about", "3 GiB are free: use a coarser mesh");
}

static void energy_is_counted_where_it_can_be(void **state) {
  (void)state;
  char path[300];
  const char *const libraries[] = {"nvml", "old_nvml", "none"}, *const told[] = {"12.5 J", "nan J", "nan J"};
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s.so", folder, libraries[i]);
    setenv("TESSERA_LIBNVML", path, 1);
    expect("driver", "nvrtc", ENERGY, 0, told[i], "J");
  }
}

/* Counters of two packages, one of which starts anew. */
static void packages_are_added(void **state) {
  (void)state;
  char command[600];
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  setenv("TESSERA_RAPL", folder, 1);
  assert_true(isnan(tes_context_energy(ctx).cpu));
  const char *const microjoules[2][2] = {{"7000000", "1000000"}, {"9000000", "500000"}};
  double sum[2];
  for (int i = 0; i < 2; i++) {
    for (int p = 0; p < 2; p++) {
      snprintf(command, sizeof command,
               "cd %s && mkdir -p intel-rapl:%d && echo %s > intel-rapl:%d/energy_uj && "
               "echo 2000000 > intel-rapl:%d/max_energy_range_uj",
               folder, p, microjoules[i][p], p, p);
      assert_int_equal(system(command), 0);
    }
    sum[i] = tes_context_energy(ctx).cpu;
  }
  assert_near(sum[1] - sum[0], 2 + 1.5, 1e-12);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_counted_where_it_can_be), cmocka_unit_test(packages_are_added),
      cmocka_unit_test(what_is_missing_is_told), cmocka_unit_test(kernels_that_do_not_compile_are_told),
      cmocka_unit_test(memory_that_is_missing_is_told_in_gib)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
