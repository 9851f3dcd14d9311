/* Long work: shows its progress, and ends after an interruption. */
#include "base/work.h"
#include <stdarg.h>
#include <stdio.h>
#include "base/context_impl.h"

bool tesi_tells_details(const TesContext *ctx) {
  return ctx->verbosity >= TES_VERBOSE && !ctx->silent;
}

/* Seconds of the part that ends. */
static void tell_seconds(TesContext *ctx) {
  const double least = 0.02, now = tesi_now(), seconds = now - ctx->work_since;
  if (*ctx->work_part && seconds > least)
    tesi_log(ctx, TES_LOG_DETAIL, "%-9.3f s in %s: %s", seconds, ctx->work_title, ctx->work_part);
  ctx->work_since = now;
}

static void begin(TesContext *ctx, bool waits, const char *title_format, va_list arguments) {
  if (ctx->work++) return;
  vsnprintf(ctx->work_title, sizeof ctx->work_title, title_format, arguments);
  ctx->work_part[0] = 0;
  ctx->work_since = tesi_now();
  ctx->work_waits = waits;
}

void tesi_work_begin(TesContext *ctx, const char *title_format, ...) {
  va_list arguments;
  va_start(arguments, title_format);
  begin(ctx, false, title_format, arguments);
  va_end(arguments);
}

void tesi_work_begin_results(TesContext *ctx, bool waits, const char *title_format, ...) {
  va_list arguments;
  va_start(arguments, title_format);
  begin(ctx, waits || ctx->heard, title_format, arguments);
  va_end(arguments);
}

void tesi_work_end(TesContext *ctx) {
  if (--ctx->work == 0) tell_seconds(ctx);
}

static bool is_asked_to_stop(const TesContext *ctx) {
  return ctx->interrupted && ctx->work && !ctx->work_waits;
}

TesStatus tesi_work_go_on(TesContext *ctx) {
  if (!is_asked_to_stop(ctx)) return TES_OK;
  const char *part = ctx->work_part;
  return tesi_fail(ctx, TES_INTERRUPTED, __FILE__, __LINE__, __func__, "interrupted in %s%s%s%s",
                   ctx->work_title, *part ? " (" : "", part, *part ? ")" : "");
}

TesStatus tesi_work_on(TesContext *ctx, const char *format, ...) {
  if (!ctx->work) return TES_OK;
  va_list arguments;
  tell_seconds(ctx);
  va_start(arguments, format);
  vsnprintf(ctx->work_part, sizeof ctx->work_part, format, arguments);
  va_end(arguments);
  tesi_log(ctx, TES_LOG_PROGRESS, "%s: %s", ctx->work_title, ctx->work_part);
  return tesi_work_go_on(ctx);
}

enum { PIECES = 64 }; /* of a thread's span */

typedef struct Loop {
  const TesContext *context;
  TesiLoop *loop;
  const void *data;
} Loop;

static void run_pieces(const void *data, TesiSpan span) {
  const Loop *l = data;
  const int64_t count = span.end - span.first, piece = (count + PIECES - 1) / PIECES;
  for (int64_t first = span.first; first < span.end && !is_asked_to_stop(l->context); first += piece)
    l->loop(l->data, (TesiSpan){first, first + piece < span.end ? first + piece : span.end, span.thread});
}

static void run_chunk(const void *data, TesiSpan span) {
  const Loop *l = data;
  if (!is_asked_to_stop(l->context)) l->loop(l->data, span);
}

TesStatus tesi_work_for(TesContext *ctx, int threads, int64_t count, TesiLoop *loop, const void *data) {
  tesi_team_for(threads, count, run_pieces, &(Loop){ctx, loop, data});
  return tesi_work_go_on(ctx);
}

TesStatus tesi_work_share(TesContext *ctx, int threads, int64_t count, int64_t chunk, TesiLoop *loop,
                          const void *data) {
  tesi_team_share(threads, count, chunk, run_chunk, &(Loop){ctx, loop, data});
  return tesi_work_go_on(ctx);
}
