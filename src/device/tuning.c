#include "device/tuning.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/cache.h"
#include "device/cuda/cuda.h"
#include "device/kernel.h"
#include "device/sha256.h"

enum { FORMAT = 2 };

bool tesi_tuning_is_on(const TesContext *ctx) {
  const char *given = getenv("TESSERA_TUNE");
  if (!tesi_has_kernels(ctx) || tesi_context_deterministic(ctx)) return false;
  if (given && !strcmp(given, "off")) return false;
  return !strcmp(tesi_context_device(ctx)->kind, "cuda") || (given && !strcmp(given, "on"));
}

const char *tesi_tuning_class(int64_t length, int *nodes) {
  static const struct {
    int64_t below;
    const char *name;
    int nodes;
  } classes[] = {{8000, "tiny", 16}, {60000, "small", 32}, {3000000, "medium", 64}, {INT64_MAX, "large", 384}};
  int c = 0;
  while (length >= classes[c].below && c < 3) c++;
  *nodes = classes[c].nodes;
  return classes[c].name;
}

int tesi_tuning_cells(int nodes, int degree) {
  const int n = nodes / degree;
  return n < 32 ? tesi_max(2, n / 2 * 2) : (n + 8) / 16 * 16;
}

TesStatus tesi_tuning_time(TesContext *ctx, TesStatus (*queue)(void *data), void *data, double *seconds) {
  enum { BATCHES = 5, MOST = 200 };
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TES_TRY(queue(data));
  TES_TRY(device->synchronize(ctx));
  double start = tesi_now();
  TES_TRY(queue(data));
  TES_TRY(device->synchronize(ctx));
  const double once = tesi_now() - start;
  const int repeats = tesi_max(1, (int)fmin(MOST, 1e-3 / fmax(once, 1e-9)));
  *seconds = INFINITY;
  for (int b = 0; b < BATCHES; b++) {
    start = tesi_now();
    for (int r = 0; r < repeats; r++) TES_TRY(queue(data));
    TES_TRY(device->synchronize(ctx));
    *seconds = fmin(*seconds, (tesi_now() - start) / repeats);
  }
done:
  return status;
}

/* Compiler, target, GPU, name and candidates: if one of them changes, the choice is made again. */
static TesStatus make_key(TesContext *ctx, const TesiTuning *tuning, char key[65]) {
  TesStatus status = TES_OK;
  char text[256];
  TesiSha256 sha;
  tesi_sha256_init(&sha);
  TES_TRY(tesi_context_device(ctx)->kernels->describe(ctx, text, sizeof text));
  tesi_sha256_add(&sha, text, strlen(text) + 1);
  snprintf(text, sizeof text, "tuning %d on %s", FORMAT,
           tesi_context_device(ctx) == &tesi_device_cuda ? tesi_cuda_model(ctx)
                                                         : tesi_context_device(ctx)->kind);
  tesi_sha256_add(&sha, text, strlen(text) + 1);
  tesi_sha256_add(&sha, tuning->name, strlen(tuning->name) + 1);
  for (const char *const *c = tuning->candidate; *c; c++) tesi_sha256_add(&sha, *c, strlen(*c) + 1);
  tesi_sha256_hex(&sha, key);
done:
  return status;
}

/* The remembered choice, or -1. */
static int recall(TesContext *ctx, const TesiTuning *tuning, const char *key, int count) {
  char *record = NULL, text[64] = "";
  size_t bytes = 0;
  int choice = -1;
  if (tesi_cache_read(ctx, tuning->name, key, &record, &bytes) != TES_OK || !record) return -1;
  memcpy(text, record, bytes < sizeof text - 1 ? bytes : sizeof text - 1);
  if (sscanf(text, "choice %d", &choice) != 1 || choice < 0 || choice >= count) choice = -1;
  tesi_free(ctx, &record);
  return choice;
}

/* Times all candidates, chooses one and records the times. If a candidate fails, the others are still timed. */
static int time_all(TesContext *ctx, const TesiTuning *tuning, int count, char *record, size_t size) {
  double best = INFINITY;
  int choice = 0;
  char times[1024] = "";
  for (int c = 0; c < count; c++) {
    double seconds = NAN;
    const size_t used = strlen(times);
    if (tuning->time(tuning->data, c, &seconds) != TES_OK) {
      tesi_context_forget(ctx);
      seconds = NAN;
    }
    snprintf(times + used, sizeof times - used, "%s: %.4g us\n", tuning->candidate[c], 1e6 * seconds);
    if (seconds < 0.97 * best || (c == 0 && seconds < best)) { /* differences within the noise do not count */
      best = seconds;
      choice = c;
    }
  }
  snprintf(record, size, "choice %d\n%s", choice, times);
  return choice;
}

int tesi_tune(TesContext *ctx, const TesiTuning *tuning) {
  char key[65], record[1200];
  int count = 0;
  if (!tesi_tuning_is_on(ctx)) return 0;
  while (count < TESI_TUNING_CANDIDATES && tuning->candidate[count]) count++;
  if (make_key(ctx, tuning, key) != TES_OK) {
    tesi_context_forget(ctx);
    return 0;
  }
  int choice = recall(ctx, tuning, key, count);
  if (choice >= 0) {
    tesi_log(ctx, TES_LOG_DETAIL, "%s: %s, as timed before", tuning->name, tuning->candidate[choice]);
    return choice;
  }
  const double start = tesi_now();
  if (tuning->prepare) tuning->prepare(tuning->data);
  choice = time_all(ctx, tuning, count, record, sizeof record);
  tesi_log(ctx, TES_LOG_DETAIL, "%s: %s, the fastest of %d, timed in %.2f s", tuning->name,
           tuning->candidate[choice], count, tesi_now() - start);
  tesi_cache_write(tuning->name, key, record, strlen(record));
  return choice;
}
