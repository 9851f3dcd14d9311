/* Sets of points that a mesh keeps with the cells that have them, so that later calls do not look for them again. */
#ifndef TESI_KEPT_H
#define TESI_KEPT_H

#include "geometry/locate.h"

/* How many sets a mesh keeps; one more takes the place of the oldest. */
enum { TESI_KEPT_SETS = 8 };

/* Keeps copies of the points x[n][dim] and of their hits. Nothing happens where the set is kept already. */
TesStatus tesi_kept_add(const TesMesh *mesh, int64_t n, const double *x, int64_t count, const TesiHit *hit);
/* *hit <- a copy of the hits, which the caller frees, if exactly these points are kept; else NULL. *found: whether they
 * are. */
TesStatus tesi_kept_find(const TesMesh *mesh, int64_t n, const double *x, TesiHit **hit, int64_t *count,
                         bool *found);

#endif
