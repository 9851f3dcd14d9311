/* tessera info: what this program and machine are. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include "command.h"

static const char help[] =
    "usage: tessera info [--json]\n\n"
    "Tells the version, the parts built in, the processor, its SIMD width, threads and memory.\n\n"
    "  --json         as JSON\n  --help         this text\n";

/* "model name" of the first processor. */
static void processor_name(char *name, size_t size) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[512];
  snprintf(name, size, "unknown");
  while (file && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(name, size, "%.*s", (int)size - 1, colon + 2);
    break;
  }
  if (file) fclose(file);
}

static int print(TesContext *ctx, bool json) {
  char processor[256];
  processor_name(processor, sizeof processor);
  const double gib = (double)tesi_memory_available() / (1 << 30);
  if (!json) {
    printf("tessera       %s\nprocessor     %s\nthreads       %d\nSIMD          %d bits\nmemory free   %.1f "
           "GiB\ndevices       cpu\n",
           tes_version(), processor, tes_context_threads(ctx), tes_context_simd_bits(ctx), gib);
    return 0;
  }
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "version", tes_version());
  cJSON_AddStringToObject(root, "processor", processor);
  cJSON_AddNumberToObject(root, "threads", tes_context_threads(ctx));
  cJSON_AddNumberToObject(root, "simd_bits", tes_context_simd_bits(ctx));
  cJSON_AddNumberToObject(root, "memory_free_gib", gib);
  cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "devices"), cJSON_CreateString("cpu"));
  char *text = cJSON_Print(root);
  if (text) puts(text);
  free(text);
  cJSON_Delete(root);
  return 0;
}

int cli_info(int argc, char **argv) {
  static const struct option options[] = {
      {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
  bool json = false;
  for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    if (c == 'h') return fputs(help, stdout) < 0;
    if (c != 'j') return tes_status_exit(TES_INVALID_INPUT);
    json = true;
  }
  if (optind < argc) return cli_usage_error("info takes no argument '%s'", argv[optind]);
  TesContext *ctx;
  const TesStatus status = cli_context_create(&(CliCommon){0}, &ctx);
  if (status != TES_OK) return tes_status_exit(status);
  const int exit_status = print(ctx, json);
  tes_context_destroy(&ctx);
  return exit_status;
}
