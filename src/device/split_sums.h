/* Two sums of vectors whose entries are of two kinds, in one pass. */
#ifndef TESI_SPLIT_SUMS_H
#define TESI_SPLIT_SUMS_H

#include "device/vector.h"

/* sums[0] <- x.(b - r) over the entries before `split`, sums[1] <- r.r over the others; float64, of one length. Of
 * owned entries of all ranks, as the layout of r says. */
TesStatus tesi_vector_split_sums(const TesVector *x, const TesVector *b, const TesVector *r, int64_t split,
                                 double sums[2]);

#endif
