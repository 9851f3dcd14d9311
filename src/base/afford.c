#include "base/afford.h"
#include <stdio.h>

TesStatus tesi_afford(TesContext *ctx, double bytes, double available, const char *advice, const char *format,
                      ...) {
  TesStatus status = TES_OK;
  const double gib = 1 << 30;
  char what[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  tesi_log(ctx, TES_LOG_DETAIL, "%s %.3g GiB of %.3g GiB", what, bytes / gib, available / gib);
  if (bytes > available)
    TES_FAIL(TES_OUT_OF_MEMORY, "%s %.3g GiB, %.3g GiB are free%s%s", what, bytes / gib, available / gib,
             advice ? ": " : "", advice ? advice : "");
done:
  return status;
}
