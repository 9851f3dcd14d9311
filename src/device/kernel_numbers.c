#include "device/kernel_numbers.h"
#include <stdio.h>

enum { HEAD = 64, NUMBER = 26 /* characters at most */ };

static int put_table(const char *type, const TesiKernelNumbers *t, char *text, size_t size) {
  int used = snprintf(text, size, "TESK_TABLE(%s, tesk_%s, {", type, t->name);
  for (int i = 0; i < t->count; i++)
    used += snprintf(text + used, size - (size_t)used, "%s%.17g", i ? ", " : "",
                     t->values[i] * (t->weights ? t->weights[i / t->columns] : 1));
  return used + snprintf(text + used, size - (size_t)used, "})\n");
}

TesStatus tesi_kernel_numbers(TesContext *ctx, const char *type, int tables, const TesiKernelNumbers *table,
                              char **result) {
  TesStatus status = TES_OK;
  size_t size = 1;
  int used = 0;
  char *text = NULL;
  for (int i = 0; i < tables; i++) size += HEAD + NUMBER * (size_t)table[i].count;
  TES_ALLOC(&text, (int64_t)size);
  for (int i = 0; i < tables; i++) used += put_table(type, &table[i], text + used, size - (size_t)used);
  *result = text;
done:
  return status;
}
