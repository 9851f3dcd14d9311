/* tes_context_create: a bare context, then its device and its SIMD width. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/context_new.h"
#include "base/simd_builds.h"
#include "device/cuda/cuda.h"
#include "device/cuda/rehearsal.h"
#include "device/device.h"
#include "device/emulator/emulator.h"
#include "device/links.h"
#include "parallel/host.h"
#include "tessera/devices.h"

static int widest_simd(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return 512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 256;
#endif
  return 128;
}

/* The width requested by the caller or by TESSERA_SIMD; 0: none. */
static TesStatus asked_simd(TesContext *ctx, int *bits) {
  TesStatus status = TES_OK;
  const char *wish = getenv("TESSERA_SIMD");
  *bits = tes_context_simd_bits(ctx);
  if (*bits == 0 && wish && *wish) {
    TES_CHECK(!strcmp(wish, "128") || !strcmp(wish, "256") || !strcmp(wish, "512"),
              "TESSERA_SIMD is '%s', expected 128, 256 or 512", wish);
    *bits = atoi(wish);
  }
  TES_CHECK(*bits == 0 || *bits == 128 || *bits == 256 || *bits == 512,
            "SIMD width %d, expected 128, 256 or 512", *bits);
done:
  return status;
}

/* The largest width that both the processor and this library have, or the smaller width that was requested. */
static TesStatus choose_simd(TesContext *ctx) {
  TesStatus status = TES_OK;
  const int processor = widest_simd();
  int bits;
  TES_TRY(asked_simd(ctx, &bits));
  TES_CHECK(bits <= processor, "SIMD vectors of %d bits are asked for, this processor has %d", bits,
            processor);
  if (tesi_simd_built(processor) > processor)
    TES_FAIL(TES_MISSING, "this library was built for SIMD vectors of %d bits, this processor has %d",
             tesi_simd_built(processor), processor);
  TES_CHECK(bits == 0 || bits == tesi_simd_built(bits),
            "SIMD vectors of %d bits are asked for, this build lacks them; it has%s%s%s", bits,
            tesi_simd_built(128) == 128 ? " 128" : "", tesi_simd_built(256) == 256 ? " 256" : "",
            tesi_simd_built(512) == 512 ? " 512" : "");
  tesi_context_set_simd_bits(ctx, bits ? bits : tesi_simd_built(processor));
done:
  return status;
}

static TesStatus choose_device(TesContext *ctx, const char *name);

int tes_gpu_count(void) {
  TesContext *ctx;
  int count = 0;
  if (tesi_context_new(NULL, &ctx) != TES_OK) return 0;
  if (tesi_cuda_count(ctx, &count) != TES_OK) count = 0;
  tes_context_destroy(&ctx);
  return count;
}

/* The GPU of this rank: by the rank's number among the ranks of the host, in the order of the GPUs or of a list "0,2".
 * All ranks call it, and all fail if one fails. */
static TesStatus open_own_gpu(TesContext *ctx, const char *list) {
  TesStatus status = TES_OK;
  int rank, ranks, count, number = 0, end = 0, listed = 0;
  tesi_communicator_host(tesi_context_communicator(ctx), &rank, &ranks);
  TES_TRY(tesi_cuda_count(ctx, &count));
  number = rank;
  for (const char *at = list; at && sscanf(at, "%d%n", &count, &end) == 1; at += end + (at[end] == ','))
    if (listed++ == rank) number = count;
  if (list) count = listed;
  if (ranks > count)
    TES_FAIL(TES_MISSING,
             "%d ranks of one host take a GPU each, and %s: begin fewer ranks, or take --device cpu", ranks,
             list        ? "fewer are named"
             : count > 1 ? "it has fewer"
                         : "it has one");
  TES_TRY(tesi_cuda_open(ctx, number));
done:
  return tesi_agree(ctx, status);
}

/* auto: the device that TESSERA_DEVICE names; else a GPU if everything it needs is there; else the processor. Verbose
 * mode reports what was missing. */
static TesStatus choose_automatically(TesContext *ctx) {
  const char *wish = getenv("TESSERA_DEVICE");
  if (wish && *wish && strcmp(wish, "auto") != 0) return choose_device(ctx, wish);
  if (open_own_gpu(ctx, NULL) == TES_OK) return TES_OK;
  tesi_log(ctx, TES_LOG_DETAIL, "device cpu, since %s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  tesi_context_set_device(ctx, &tesi_device_host, NULL, NULL);
  return TES_OK;
}

/* Other common names of a GPU, and misspelt names. */
static const char *meant(const char *name) {
  static const char *const known[] = {"auto", "cpu", "cuda", "emulator", NULL};
  const char *near = tes_nearest_name(name, known);
  const bool gpu =
      !strncasecmp(name, "gpu", 3) || !strncasecmp(name, "nvidia", 6) || (near && near == known[2]);
  return gpu                ? "; did you mean 'cuda'?"
         : !near            ? ""
         : near == known[0] ? "; did you mean 'auto'?"
         : near == known[1] ? "; did you mean 'cpu'?"
                            : "; did you mean 'emulator'?";
}

/* "cuda:0,2" */
static bool is_list(const char *name) {
  return !strncmp(name, "cuda:", 5) && strchr(name, ',') &&
         strspn(name + 5, "0123456789,") == strlen(name + 5);
}

static TesStatus open_listed_gpu(TesContext *ctx, const char *list) {
  TesStatus status = TES_OK;
  int number, end = 0;
  const char *at = list;
  for (; sscanf(at, "%d%n", &number, &end) == 1; at += end + (at[end] == ',')) {
    int other, length = 0;
    for (const char *before = list; before < at && sscanf(before, "%d%n", &other, &length) == 1;
         before += length + 1)
      TES_CHECK(other != number, "device cuda:%s: GPU %d is named twice", list, number);
  }
  TES_CHECK(!*at && at[-1] != ',', "device cuda:%s: expected numbers with a comma between them, as cuda:0,2",
            list);
  TES_CHECK(tesi_ranks(ctx) > 1,
            "device cuda:%s is for several ranks, a GPU each: begin them with --ranks or mpirun", list);
  TES_TRY(open_own_gpu(ctx, list));
done:
  return status;
}

static TesStatus choose_device(TesContext *ctx, const char *name) {
  TesStatus status = TES_OK;
  int number = 0, end = 0;
  if (!name || !strcmp(name, "auto"))
    TES_TRY(choose_automatically(ctx));
  else if (!strcmp(name, "cpu"))
    tesi_context_set_device(ctx, &tesi_device_host, NULL, NULL);
  else if (!strcmp(name, "emulator"))
    TES_TRY(tesi_emulator_open(ctx));
  else if (!strncmp(name, "nvrtc:", 6))
    TES_TRY(tesi_rehearsal_open(ctx, name + 6));
  else if (!strcmp(name, "cuda"))
    TES_TRY(open_own_gpu(ctx, NULL));
  else if (is_list(name))
    TES_TRY(open_listed_gpu(ctx, name + strlen("cuda:")));
  else if (sscanf(name, "cuda:%d%n", &number, &end) == 1 && !name[end])
    TES_TRY(tesi_cuda_open(ctx, number));
  else
    TES_FAIL(TES_INVALID_INPUT, "there is no device '%s'; expected auto, cpu, cuda, cuda:N or emulator%s",
             name, meant(name));
done:
  return status;
}

const char *tes_context_device(const TesContext *context) {
  const TesiDevice *device = tesi_context_device(context);
  return device == &tesi_device_cuda ? tesi_cuda_name(context) : device->kind;
}

enum { MOST_THREADS = 4096 };

/* Errors that can be found before there is a context. */
static bool is_valid(const TesContextDesc *desc, char *message, size_t size) {
  if (!desc) return true;
  const bool threads = desc->threads >= 0 && desc->threads <= MOST_THREADS,
             both = !desc->allocator.allocate == !desc->allocator.release;
  if (message && !threads)
    snprintf(message, size, "threads is %d, expected 1..%d, or 0 (all)", desc->threads, MOST_THREADS);
  else if (message && !both)
    snprintf(message, size, "the allocator has no %s: give both functions, or none for malloc and free",
             desc->allocator.allocate ? "release" : "allocate");
  return threads && both;
}

TesStatus tes_context_create(const TesContextDesc *desc, TesContext **context, char *message,
                             size_t message_size) {
  TesContext *ctx = NULL;
  TesStatus status = TES_OK;
  if (!context) return TES_INVALID_INPUT;
  *context = NULL;
  if (message && message_size) message[0] = 0;
  if (!is_valid(desc, message, message_size)) return TES_INVALID_INPUT;
  status = tesi_context_new(desc, &ctx);
  if (status != TES_OK) {
    if (message) snprintf(message, message_size, "no memory for a context");
    return status;
  }
  if (tesi_context_communicator(ctx) && tesi_context_communicator(ctx)->rank > 0) tesi_context_silence(ctx);
  TES_TRY(choose_simd(ctx));
  TES_TRY(choose_device(ctx, desc ? desc->device : NULL));
  TES_TRY(tesi_links_choose(ctx));
  *context = ctx;
  ctx = NULL;
done:
  if (ctx && message) snprintf(message, message_size, "%s", tes_context_message(ctx));
  tes_context_destroy(&ctx);
  return status;
}
