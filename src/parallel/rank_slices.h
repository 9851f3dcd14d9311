/* Arrays that are distributed over ranks: the parts follow one another in the order of the ranks. */
#ifndef TESI_RANK_SLICES_H
#define TESI_RANK_SLICES_H

#include "parallel/comm.h"

typedef struct TesiSlices {
  TesContext *context;
  int64_t first, count, all; /* the part of this rank, and the whole */
  double *begin;             /* [ranks + 1] exact, as integers below 2^53 */
} TesiSlices;

/* Every rank calls these functions. count: the number of entries on this rank. */
TesStatus tesi_slices_create(TesContext *ctx, int64_t count, TesiSlices *parts);
void tesi_slices_free(TesiSlices *parts);
/* slice of rank 0 <- entries first .. first + count - 1, `size` bytes each; `part` is this rank's part. A failure on
 * any rank is returned by all ranks. */
TesStatus tesi_slices_collect(const TesiSlices *parts, size_t size, const void *part, int64_t first,
                              int64_t count, void *slice);

#endif
