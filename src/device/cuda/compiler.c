#include "device/cuda/compiler.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "device/cache.h"
#include "device/cuda/nvrtc.h"
#include "device/sha256.h"

enum { FORMAT = 1, LONGEST = 1200 };

/* The inputs that decide which library is opened: if one of them changes, another record is used. */
static void make_key(int capability, char key[65]) {
  static const char *const names[] = {"TESSERA_LIBNVRTC", "LD_LIBRARY_PATH", "CUDA_HOME"};
  TesiSha256 sha;
  char text[64];
  snprintf(text, sizeof text, "compiler %d for %d", FORMAT, capability);
  tesi_sha256_init(&sha);
  tesi_sha256_add(&sha, text, strlen(text) + 1);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    tesi_sha256_add(&sha, value ? value : "", value ? strlen(value) + 1 : 1);
  }
  tesi_sha256_hex(&sha, key);
}

/* The record is valid as long as the library's file does not change. */
static bool recall(TesContext *ctx, const char *key, int *version, char target[32]) {
  char *record = NULL, text[LONGEST] = "", path[LONGEST];
  size_t bytes = 0;
  long long size, changed;
  struct stat info;
  if (tesi_cache_read(ctx, "compiler", key, &record, &bytes) != TES_OK) tesi_context_forget(ctx);
  if (!record) return false;
  memcpy(text, record, bytes < sizeof text - 1 ? bytes : sizeof text - 1);
  tesi_free(ctx, &record);
  return sscanf(text, "%d %31s %lld %lld %1199[^\n]", version, target, &size, &changed, path) == 5 &&
         stat(path, &info) == 0 && info.st_size == size && info.st_mtim.tv_sec == changed;
}

static void keep(const char *key, int version, const char *target) {
  char path[LONGEST - 100], text[LONGEST];
  struct stat info;
  if (!tesi_nvrtc_path(path, sizeof path) || stat(path, &info) != 0) return;
  snprintf(text, sizeof text, "%d %s %lld %lld %s\n", version, target, (long long)info.st_size,
           (long long)info.st_mtim.tv_sec, path);
  tesi_cache_write("compiler", key, text, strlen(text));
}

TesStatus tesi_compiler_find(TesContext *ctx, int capability, int *version, char target[32]) {
  TesStatus status = TES_OK;
  char key[65];
  make_key(capability, key);
  if (recall(ctx, key, version, target)) return TES_OK;
  TES_TRY(tesi_nvrtc_open(ctx, version));
  TES_TRY(tesi_nvrtc_target(ctx, capability, target));
  keep(key, *version, target);
done:
  return status;
}
