/* tessera info: describes this program and this machine. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include "scaling.h"

static const char help[] =
    "usage: tessera info [--cache] [--clear-cache] [--json] [--support]\n\n"
    "Tells the version, the parts built in, the processor, its SIMD width, threads and memory.\n\n"
    "  --cache        about the cache of compiled GPU kernels instead: folder, entries, bytes, bound\n"
    "  --clear-cache  remove all its entries\n"
    "  --support      what each problem has with each element instead: meshes, degrees, conditions, methods\n"
    "  --json         as JSON\n  --help         this text\n";

/* Optional parts of a build, and their purpose. */
static const char *const parts[][2] = {
    {"p4est", "meshes of trees"}, {"mpi", "several ranks: --ranks N, mpirun (docs/parallel.md)"},
    {"hdf5", "checkpoints"},      {"hypre", "algebraic coarse solver"},
    {"mumps", "sparse factors"},  {"png", "pictures"}};
enum { PARTS = sizeof parts / sizeof *parts, TEXT = CLI_DEVICE_NAME };

/* Whether both this processor and this build have SIMD vectors of that width. */
static bool has_simd(int bits) {
  TesContext *ctx;
  const TesContextDesc desc = {.device = "cpu", .simd_bits = bits, .verbosity = TES_QUIET};
  if (tes_context_create(&desc, &ctx, NULL, 0) != TES_OK) return false;
  tes_context_destroy(&ctx);
  return true;
}

static const int widths[] = {128, 256, 512};
enum { WIDTHS = sizeof widths / sizeof *widths };

static void print_simd(const TesContext *ctx) {
  const char *before = " (of";
  printf("SIMD          %d bits", tes_context_simd_bits(ctx));
  for (int i = 0; i < WIDTHS; i++)
    if (has_simd(widths[i])) printf("%s %d", before, widths[i]), before = ",";
  puts(")");
}

static const char *core_of_blas(void) {
  const char *const core = tes_blas_core();
  return core ? core : "none";
}

static void print_text(TesContext *ctx, const char *processor, double gib) {
  char gpu[TEXT];
  const bool found = cli_find_gpu("cuda", gpu);
  printf("tessera       %s%s\nprocessor     %s\nthreads       %d\n", tes_version(),
         tes_has_part("quick") ? " (quick build)" : "", processor, tes_context_threads(ctx));
  print_simd(ctx);
  printf("OpenBLAS      %s\nmemory free   %.1f GiB\n", core_of_blas(), gib);
  printf("devices       cpu%s\nGPU           %s%s\n", found ? " cuda" : "", found ? "" : "none: ", gpu);
  if (tes_gpu_count() > 1)
    printf("GPUs          %d: --device cuda:all, or mpirun, a rank each (docs/parallel.md)\n"
           "transports    peer on one host, nccl where libnccl.so.2 is, else mpi: solve --verbose tells\n",
           tes_gpu_count());
  if (tes_has_part("mpi"))
    printf("second GPU    worth it from some %.2g unknowns on: 1.5 times as fast (tessera check --ranks)\n",
           cli_scaling_worth(ctx));
  const char *wish = getenv("TESSERA_DEVICE");
  if (wish && *wish && !cli_find_gpu(wish, gpu))
    printf("wish          TESSERA_DEVICE is %.60s: %s\n", wish, gpu);
  for (int i = 0; i < PARTS; i++)
    printf("%-13s %s: %s\n", parts[i][0], tes_has_part(parts[i][0]) ? "built in" : "not built in",
           parts[i][1]);
}

static int print_json(cJSON *root) {
  char *text = cJSON_Print(root);
  cJSON_Delete(root);
  if (!text) return tes_status_exit(TES_OUT_OF_MEMORY);
  puts(text);
  free(text);
  return 0;
}

static int print(TesContext *ctx, bool json) {
  char processor[256], gpu[TEXT];
  cli_processor_name(sizeof processor, processor);
  const double gib = (double)tes_memory_available() / (1 << 30);
  if (!json) {
    print_text(ctx, processor, gib);
    return 0;
  }
  const bool found = cli_find_gpu("cuda", gpu);
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "version", tes_version());
  cJSON_AddStringToObject(root, "processor", processor);
  cJSON_AddNumberToObject(root, "threads", tes_context_threads(ctx));
  cJSON_AddNumberToObject(root, "simd_bits", tes_context_simd_bits(ctx));
  cJSON *simd = cJSON_AddArrayToObject(root, "simd_widths");
  for (int i = 0; i < WIDTHS; i++)
    if (has_simd(widths[i])) cJSON_AddItemToArray(simd, cJSON_CreateNumber(widths[i]));
  cJSON_AddStringToObject(root, "openblas", core_of_blas());
  cJSON_AddBoolToObject(root, "quick_build", tes_has_part("quick"));
  cJSON_AddNumberToObject(root, "memory_free_gib", gib);
  cJSON *devices = cJSON_AddArrayToObject(root, "devices");
  cJSON_AddItemToArray(devices, cJSON_CreateString("cpu"));
  if (found) cJSON_AddItemToArray(devices, cJSON_CreateString("cuda"));
  cJSON_AddStringToObject(root, found ? "gpu" : "gpu_missing", gpu);
  cJSON_AddNumberToObject(root, "gpus", tes_gpu_count());
  if (tes_has_part("mpi")) cJSON_AddNumberToObject(root, "second_gpu_worth_unknowns", cli_scaling_worth(ctx));
  cJSON *built = cJSON_AddObjectToObject(root, "parts");
  for (int i = 0; i < PARTS; i++) cJSON_AddBoolToObject(built, parts[i][0], tes_has_part(parts[i][0]));
  return print_json(root);
}

/* The cache of compiled kernels; its entries are removed before, if the user wants it. */
static int print_cache(bool clear, bool json) {
  TesCache cache;
  const int removed = clear ? tes_cache_clear() : 0;
  tes_cache_describe(&cache);
  const bool there = cache.folder[0];
  if (!there && !json)
    printf("cache         none: switched off (TESSERA_CACHE_DIR=none), or its folder cannot be written\n");
  if (there && !json) {
    if (clear) printf("removed       %d entries\n", removed);
    printf("folder        %s\nentries       %d\nbytes         %zu (%.1f MiB)\nbound         %.0f MiB\n",
           cache.folder, cache.entries, cache.bytes, (double)cache.bytes / (1 << 20),
           (double)cache.bound / (1 << 20));
  }
  if (json) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "folder", cache.folder);
    cJSON_AddNumberToObject(root, "entries", cache.entries);
    cJSON_AddNumberToObject(root, "bytes", (double)cache.bytes);
    cJSON_AddNumberToObject(root, "bound", (double)cache.bound);
    if (clear) cJSON_AddNumberToObject(root, "removed", removed);
    print_json(root);
  }
  return clear && cache.entries > 0 ? tes_status_exit(TES_IO) : 0;
}

static int print_support(void) {
  static char text[65536];
  return tes_case_help("", TES_CASE_HELP_SUPPORT, text, sizeof text) >= sizeof text || fputs(text, stdout) < 0;
}

int cli_info(int argc, char **argv) {
  static const struct option options[] = {
      {"json", no_argument, NULL, 'j'},    {"cache", no_argument, NULL, 'c'},
      {"support", no_argument, NULL, 's'}, {"clear-cache", no_argument, NULL, 'C'},
      {"help", no_argument, NULL, 'h'},    {0}};
  bool json = false, cache = false, clear = false;
  for (int c; (c = cli_next_option(argc, argv, options)) != -1;) {
    if (c == 'h') return fputs(help, stdout) < 0;
    if (c == 's') return print_support();
    if (c == '?') return tes_status_exit(TES_INVALID_INPUT);
    json = json || c == 'j';
    cache = cache || c == 'c' || c == 'C';
    clear = clear || c == 'C';
  }
  if (optind < argc) return cli_usage_error("info takes no argument '%s'", argv[optind]);
  if (cache) return print_cache(clear, json);
  TesContext *ctx;
  const TesStatus status = cli_context_create(&(CliCommon){.device = "cpu"}, &ctx);
  if (status != TES_OK) return tes_status_exit(status);
  const int exit_status = print(ctx, json);
  tes_context_destroy(&ctx);
  return exit_status;
}
