#include "base/grow.h"
#include <string.h>

TesStatus tesi_grow(TesContext *context, void *pointer_to_pointer, size_t size, int64_t used, int64_t need,
                    int64_t *room) {
  enum { LEAST = 16 };
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  void **pointer = pointer_to_pointer, *larger = NULL;
  if (need <= *room) return TES_OK;
  const int64_t twice = 2 * *room > LEAST ? 2 * *room : LEAST, wanted = need > twice ? need : twice;
  TES_TRY(tesi_alloc(ctx, (size_t)wanted, size, &larger));
  if (used) memcpy(larger, *pointer, (size_t)used * size);
  tesi_free(ctx, pointer);
  *pointer = larger;
  *room = wanted;
done:
  return status;
}
