/* Vectors of which each rank has a part, whole on every rank: each rank puts the entries that it is to put into the
 * memory of all others in one exchange (links.h). */
#ifndef TESI_GATHERED_H
#define TESI_GATHERED_H

#include "device/device.h"

typedef struct TesiGathered TesiGathered;

/* The whole has the entries of all ranks, and one rank owns each entry. This rank owns `own` entries: entry
 * own_entry[i] of its vectors has the number own_first + i. place[length]: the place in the whole of every entry here.
 * number[all]: the number of every entry of the whole; NULL: numbers are places. The lists are to stay as long as the
 * object. All ranks call this, and the first function below. */
TesStatus tesi_gathered_create(TesContext *ctx, int64_t own, int64_t own_first, const int32_t *own_entry,
                               int64_t length, const int32_t *place, int64_t all, const int32_t *number,
                               TesiGathered **gathered);
void tesi_gathered_destroy(TesiGathered **gathered);
/* whole <- the parts of all ranks; x <- this rank's entries of it. Device memory. */
TesStatus tesi_gathered_collect(TesiGathered *gathered, TesPrecision precision, const void *x, void *whole);
TesStatus tesi_gathered_cut(TesiGathered *gathered, TesPrecision precision, const void *whole, void *x);

#endif
