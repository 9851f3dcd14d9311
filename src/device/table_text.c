#include "device/table_text.h"
#include <stdio.h>
#include <string.h>
#include "base/grow.h"

void tesi_table_text_put(TesiTableText *t, const char *more) {
  const int64_t length = (int64_t)strlen(more);
  if (t->status == TES_OK)
    t->status = tesi_grow(t->context, &t->text, 1, t->used, t->used + length + 1, &t->room);
  if (t->status != TES_OK) return;
  memcpy(t->text + t->used, more, (size_t)length + 1);
  t->used += length;
}

void tesi_table_text_weigh(TesiTableText *t, const char *name, const double *values, const double *weights,
                           int rows, int columns) {
  char piece[80];
  const int count = rows * columns;
  snprintf(piece, sizeof piece, "TESK_TABLE(%s, tesk_%s, {", t->type, name);
  tesi_table_text_put(t, piece);
  for (int i = 0; i < count || i < 1; i++) {
    snprintf(piece, sizeof piece, "%s%.17g", i ? ", " : "",
             i < count ? values[i] * (weights ? weights[i / columns] : 1) : 0.0);
    tesi_table_text_put(t, piece);
  }
  tesi_table_text_put(t, "})\n");
}

void tesi_table_text_add(TesiTableText *t, const char *name, const double *values, int count) {
  tesi_table_text_weigh(t, name, values, NULL, 1, count);
}

TesStatus tesi_table_text_end(TesiTableText *t, char **result) {
  if (t->status != TES_OK) tesi_free(t->context, &t->text);
  *result = t->text;
  return t->status;
}
