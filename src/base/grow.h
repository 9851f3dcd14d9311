/* Arrays that grow. */
#ifndef TESI_GROW_H
#define TESI_GROW_H

#include "base/base.h"

/* Makes room for `need` entries of array *pointer, of which the first `used` are kept; an array that is too small is at
 * least doubled. *room: entries that there is room for. */
TesStatus tesi_grow(TesContext *ctx, void *pointer_to_pointer, size_t size, int64_t used, int64_t need,
                    int64_t *room);
#define TES_GROW(pointer, used, need, room)                                                                  \
  TES_TRY(tesi_grow(ctx, (pointer), sizeof **(pointer), (used), (need), (room)))

#endif
