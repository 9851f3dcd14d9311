#include "device/laps.h"
#include <stdio.h>
#include "base/work.h"
#include "device/device.h"

void tesi_laps_begin(TesContext *ctx, int count, const char *const *name, TesiLaps *laps) {
  *laps = (TesiLaps){.name = name, .count = count, .on = tesi_tells_details(ctx), .start = tesi_now()};
}

TesStatus tesi_lap(TesContext *ctx, TesiLaps *laps, int part) {
  if (!laps || !laps->on) return TES_OK;
  const TesStatus status = tesi_context_device(ctx)->synchronize(ctx);
  const double now = tesi_now();
  laps->seconds[part] += now - laps->start;
  laps->start = now;
  return status;
}

void tesi_laps_tell(TesContext *ctx, const TesiLaps *laps) {
  char text[400] = "";
  int at = 0;
  if (!laps->on) return;
  for (int i = 0; i < laps->count; i++)
    if (laps->seconds[i] >= 5e-5)
      at += snprintf(text + at, sizeof text - (size_t)at, "%s%s %.4f s", at ? ", " : "", laps->name[i],
                     laps->seconds[i]);
  tesi_log(ctx, TES_LOG_DETAIL, "parts     %s", text);
}
