#include "functional/device_text.h"
#include <stdio.h>
#include <string.h>
#include "device/upload.h"

/* Appends tesk_f<number>, or only counts (size 0); -1 where the function has no text. */
static int put_function(const TesFunction *f, int number, char *buffer, size_t size) {
  double value = 0;
  char declaration[48];
  snprintf(declaration, sizeof declaration, "TESK_DEVICE double tesk_f%d", number);
  if (!f || tes_function_constant(f, &value))
    return snprintf(buffer, size, "%s(double x, double y, double z, double t) {\n  return %.17g;\n}\n",
                    declaration, value);
  return tesi_function_emit(f, declaration, "double", buffer, size);
}

double tesi_device_time(int count, const TesFunction *const *f) {
  double time = 0;
  for (int i = 0; i < count && time == 0; i++)
    if (f[i]) (void)tesi_function_inner(f[i], &time);
  return time;
}

TesStatus tesi_device_text(TesContext *ctx, int count, const TesFunction *const *f, size_t spare, char **text) {
  TesStatus status = TES_OK;
  size_t used = 0, size = spare + 1;
  *text = NULL;
  for (int i = 0; i < count; i++) {
    const int length = put_function(f[i], i, NULL, 0);
    if (length < 0) return TES_OK;
    size += (size_t)length;
  }
  TES_TRY(tesi_alloc(ctx, size, 1, text));
  for (int i = 0; i < count; i++) used += (size_t)put_function(f[i], i, *text + used, size - used);
done:
  return status;
}

TesStatus tesi_device_values_text(TesContext *ctx, int count, const TesFunction *const *f, char **text) {
  TesStatus status = TES_OK;
  const size_t spare = 160 + 64 * (size_t)count;
  TES_TRY(tesi_device_text(ctx, count, f, spare, text));
  if (!*text) goto done;
  char *at = *text + strlen(*text);
  at += sprintf(at, "TESK_DEVICE double tesk_value(int number, double x, double y, double z, double t) {\n");
  for (int i = 0; i < count; i++)
    at += sprintf(at, "  if (number == %d) return tesk_f%d(x, y, z, t);\n", i, i);
  sprintf(at, "  return 0;\n}\n");
done:
  return status;
}

TesStatus tesi_clock_create(TesContext *ctx, double time, void **clock) {
  return tesi_upload(ctx, &(TeskClock){.time = time}, sizeof(TeskClock), clock);
}

TesStatus tesi_clock_set(TesContext *ctx, void *clock, double time) {
  return tesi_context_device(ctx)->fill(ctx, TES_DOUBLE, 1, time, &((TeskClock *)clock)->time);
}

TesStatus tesi_clock_refused(TesContext *ctx, const void *clock, bool *refused) {
  TeskClock now = {0};
  const TesStatus status = tesi_context_device(ctx)->to_host(ctx, &now, clock, sizeof now);
  *refused = now.refused != 0;
  return status;
}
