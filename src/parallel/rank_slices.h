/* Arrays that are distributed over ranks: the parts follow one another in the order of the ranks. */
#ifndef TESI_RANK_SLICES_H
#define TESI_RANK_SLICES_H

#include "parallel/comm.h"

typedef struct TesiSlices {
  TesContext *context;
  int64_t first, count, all; /* the part of this rank, and the whole */
  double *begin;             /* [ranks + 1] exact, as integers below 2^53 */
} TesiSlices;

/* Every rank calls these; count: here. */
TesStatus tesi_slices_create(TesContext *ctx, int64_t count, TesiSlices *parts);
void tesi_slices_free(TesiSlices *parts);
/* slice of rank 0 <- entries first .. first + count - 1 of `size` bytes each; `part` is what this rank has. Ranks agree
 * in failures. */
TesStatus tesi_slices_collect(const TesiSlices *parts, size_t size, const void *part, int64_t first,
                              int64_t count, void *slice);

#endif
