#include "functional/device_text.h"
#include <stdio.h>

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

TesStatus tesi_device_text(TesContext *ctx, int count, const TesFunction *const *f, size_t spare,
                           char **text) {
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
