#include "base/context_new.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "base/context_impl.h"

#define TESI_STRINGIFY2(x) #x
#define TESI_STRINGIFY(x) TESI_STRINGIFY2(x)

const char *tes_version(void) {
  return TESI_STRINGIFY(TESI_VERSION);
}

/* For blocks that are too small for memory.c to take them directly from the system. */
static void *default_allocate(void *user, size_t bytes) {
  (void)user;
  return bytes > SIZE_MAX - 64 ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void default_release(void *user, void *block) {
  (void)user;
  free(block);
}

static void default_log(void *user, TesLogLevel level, const char *line) {
  (void)user;
  FILE *out = level == TES_LOG_WARNING ? stderr : stdout;
  if (level == TES_LOG_PROGRESS) return; /* for callers who know when the next line comes */
  fprintf(out, "%s\n", line);
  fflush(out);
}

static int default_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

TesStatus tesi_context_new(const TesContextDesc *desc, TesContext **context) {
  static const TesContextDesc defaults;
  *context = NULL;
  if (!desc) desc = &defaults;
  TesAllocator allocator = desc->allocator;
  if (!allocator.allocate) allocator = (TesAllocator){default_allocate, default_release, NULL};
  TesContext *c = allocator.allocate(allocator.user, sizeof *c);
  if (!c) return TES_OUT_OF_MEMORY;
  memset(c, 0, sizeof *c);
  atomic_init(&c->references, 1);
  atomic_flag_clear(&c->kept.lock);
  c->allocator = allocator;
  c->maps = !desc->allocator.allocate;
  c->verbosity = desc->verbosity;
  c->threads = desc->threads > 0 ? desc->threads : default_threads();
  c->simd_bits = desc->simd_bits;
  c->unordered = desc->unordered != 0;
  c->deterministic = desc->deterministic != 0;
  c->communicator = desc->communicator;
  c->log = desc->log ? desc->log : default_log;
  c->log_user = desc->log_user;
  *context = c;
  return TES_OK;
}

TesStatus tesi_context_create_alone(TesContext *ctx, TesContext **alone) {
  TesStatus status = TES_OK;
  const TesContextDesc desc = {.threads = ctx->threads,
                               .verbosity = TES_QUIET,
                               .allocator = ctx->allocator,
                               .deterministic = ctx->deterministic,
                               .simd_bits = ctx->simd_bits};
  if (tesi_context_new(&desc, alone) != TES_OK) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a context");
  (*alone)->maps = ctx->maps;
  (*alone)->silent = true;
  (*alone)->device = ctx->device;
  (*alone)->device_state = ctx->device_state; /* its programs and its queue */
  (*alone)->lender = tesi_context_retain(ctx);
done:
  return status;
}

TesContext *tesi_context_retain(TesContext *ctx) {
  atomic_fetch_add(&ctx->references, 1);
  return ctx;
}

void tes_context_destroy(TesContext **context) {
  if (!context || !*context) return;
  TesContext *c = *context;
  *context = NULL;
  if (atomic_fetch_sub(&c->references, 1) != 1) return;
  tesi_context_set_words(c, NULL, NULL);
  if (c->device_destroy) c->device_destroy(c->device_state);
  tesi_kept_give(&c->kept, NULL, 0, 0);
  tes_context_destroy(&c->lender);
  TesAllocator allocator = c->allocator;
  allocator.release(allocator.user, c);
}

const char *tes_context_message(const TesContext *context) {
  return context->message;
}

const char *tes_context_trace(const TesContext *context) {
  return context->trace;
}

void tesi_context_forget(TesContext *ctx) {
  ctx->failure = TES_OK;
  ctx->message[0] = ctx->trace[0] = 0;
}

void tes_context_clear(TesContext *context) {
  tesi_context_forget(context);
  context->interrupted = 0;
  context->heard = false;
}

void tes_context_interrupt(TesContext *context) {
  context->interrupted = 1;
}

void tesi_fail_before(TesContext *ctx, const char *text) {
  char message[TESI_MESSAGE_SIZE];
  snprintf(message, sizeof message, "%s", ctx->message);
  snprintf(ctx->message, sizeof ctx->message, "%.200s%.*s", text, TESI_MESSAGE_SIZE - 201, message);
}

bool tesi_context_interrupted(const TesContext *ctx) {
  return ctx->interrupted != 0;
}

size_t tes_context_memory(const TesContext *context) {
  return atomic_load(&context->memory);
}

size_t tes_context_memory_peak(const TesContext *context) {
  return atomic_load(&context->memory_peak);
}

int tes_context_threads(const TesContext *context) {
  return context->threads;
}

int tes_context_simd_bits(const TesContext *context) {
  return context->simd_bits;
}

void tesi_context_set_simd_bits(TesContext *ctx, int bits) {
  ctx->simd_bits = bits;
}

void tesi_context_set_deterministic(TesContext *ctx) {
  ctx->deterministic = true;
}

void tesi_context_set_words(TesContext *ctx, void *words, void (*release)(void *words)) {
  if (ctx->words) ctx->words_release(ctx->words);
  ctx->words = words;
  ctx->words_release = release;
}

const void *tesi_context_words(const TesContext *ctx) {
  return ctx->words;
}

bool tesi_context_deterministic(const TesContext *ctx) {
  return ctx->deterministic;
}

bool tesi_context_unordered(const TesContext *ctx) {
  return ctx->unordered;
}

const TesCommunicator *tesi_context_communicator(const TesContext *ctx) {
  return ctx->communicator;
}

void tesi_context_silence(TesContext *ctx) {
  ctx->silent = true;
}

const struct TesiDevice *tesi_context_device(const TesContext *ctx) {
  return ctx->device;
}

void *tesi_context_device_state(const TesContext *ctx) {
  return ctx->device_state;
}

void tesi_context_set_device(TesContext *ctx, const struct TesiDevice *device, void *state,
                             void (*destroy)(void *state)) {
  ctx->device = device;
  ctx->device_state = state;
  ctx->device_destroy = destroy;
}

/* Control characters, which may come from files, become text: "\\x1b". Line ends and tabs stay; U+0080..U+009F are
 * replaced too, since terminals obey them. */
static void show_controls(char *text, size_t size) {
  size_t length = strlen(text);
  for (char *at = text; *at; at++) {
    const unsigned char byte = (unsigned char)*at, next = (unsigned char)at[1];
    const bool wide = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    const size_t old = wide ? 2 : 1, from = (size_t)(at - text);
    char shown[5];
    if (!wide && ((byte >= 32 && byte != 127) || byte == '\n' || byte == '\t')) continue;
    if (length + 4 - old >= size) {
      *at = 0; /* cut short */
      return;
    }
    snprintf(shown, sizeof shown, "\\x%02x", wide ? next : byte);
    memmove(at + 4, at + old, length - from - old + 1);
    memcpy(at, shown, 4);
    length += 4 - old, at += 3;
  }
}

/* "-nan", which the C library prints for half of the NaN values, becomes "nan". */
static void show_numbers(char *text) {
  for (char *at = text; (at = strstr(at, "-nan")); at++) {
    const bool begins = at == text || strchr(" (,=[", at[-1]), ends = !at[4] || strchr(" ),:;]%\n", at[4]);
    if (begins && ends) memmove(at, at + 1, strlen(at));
  }
}

void tesi_log(TesContext *ctx, TesLogLevel level, const char *format, ...) {
  const bool wanted = level == TES_LOG_WARNING || (level == TES_LOG_DETAIL ? ctx->verbosity >= TES_VERBOSE
                                                                           : ctx->verbosity >= TES_NORMAL);
  if (!wanted || ctx->silent) return;
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  show_numbers(line);
  show_controls(line, sizeof line);
  ctx->log(ctx->log_user, level, line);
}

/* Failures may come from several threads at once. */
static atomic_flag failing = ATOMIC_FLAG_INIT;

static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&failing, memory_order_acquire)) {
  }
}

static void unlock(void) {
  atomic_flag_clear_explicit(&failing, memory_order_release);
}

static void trace(TesContext *ctx, const char *file, int line, const char *function) {
  const size_t used = strlen(ctx->trace);
  snprintf(ctx->trace + used, sizeof ctx->trace - used, "%s:%d %s\n", file, line, function);
}

TesStatus tesi_fail(TesContext *ctx, TesStatus status, const char *file, int line, const char *function,
                    const char *format, ...) {
  lock();
  if (status == TES_INTERRUPTED) ctx->heard = true;
  if (!ctx->message[0]) {
    ctx->failure = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
    va_end(arguments);
    show_numbers(ctx->message);
    show_controls(ctx->message, sizeof ctx->message);
  }
  trace(ctx, file, line, function);
  unlock();
  return status;
}

TesStatus tesi_fail_null(TesContext *ctx, const char *file, int line, const char *function) {
  if (!ctx) return TES_INVALID_INPUT;
  return tesi_fail(ctx, TES_INVALID_INPUT, file, line, function,
                   "%s: the description, or the place of the result, is NULL", function);
}

void tesi_trace(TesContext *ctx, const char *file, int line, const char *function) {
  lock();
  trace(ctx, file, line, function);
  unlock();
}
