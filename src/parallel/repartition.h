/* Moves vectors with the same entries to another partition. */
#ifndef TESI_REPARTITION_H
#define TESI_REPARTITION_H

#include "parallel/layout.h"

/* y <- x, host memory: copies entries with the same number (tesi_layout_numbers()) between two layouts with equally
 * many blocks. All copies are filled. Every rank calls it. */
TesStatus tesi_layout_move(const TesiLayout *from, const double *x, const TesiLayout *to, double *y);

#endif
