#include "base/text.h"
#include <string.h>

TesStatus tesi_copy_text(TesContext *ctx, const char *text, void *pointer_to_pointer) {
  TesStatus status = TES_OK;
  char **copy = pointer_to_pointer;
  *copy = text ? tesi_strdup(ctx, text) : NULL;
  if (text && !*copy) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a text of %zu characters", strlen(text));
done:
  return status;
}
