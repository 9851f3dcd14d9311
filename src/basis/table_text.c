#include "basis/table_text.h"
#include <stdio.h>

void tesi_table_text_add(TesiTableText *text, const char *name, const double *values, int count) {
  text->used += (size_t)snprintf(text->data + text->used, text->size - text->used,
                                 "TESK_TABLE(%s, tesk_%s, {", text->type, name);
  for (int i = 0; i < count || i < 1; i++)
    text->used += (size_t)snprintf(text->data + text->used, text->size - text->used, "%s%.17g", i ? ", " : "",
                                   i < count ? values[i] : 0.0);
  text->used += (size_t)snprintf(text->data + text->used, text->size - text->used, "})\n");
}
