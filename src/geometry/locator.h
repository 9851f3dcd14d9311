/* Finds points one at a time in a mesh that stays the same: for callers with many small sets of points, such as
 * functions. */
#ifndef TESI_LOCATOR_H
#define TESI_LOCATOR_H

#include "geometry/locate.h"

/* Lists cells by the bins that their boxes meet; nothing over a grid. 12 to 30 bytes per cell. Several threads may read
 * it. The mesh must outlive it. */
typedef struct TesiLocator TesiLocator;

TesStatus tesi_locator_create(const TesMesh *mesh, TesiLocator **locator);
void tesi_locator_destroy(TesiLocator **locator);
/* The cell that contains x[dim], or else a cell that is less than `reach` cell lengths away, and the point in it, in
 * [0, 1]^dim. On faces it is the cell with the smallest number. False: there is none. */
bool tesi_locator_find(const TesiLocator *locator, const double *x, double reach, int64_t *cell, double *xi);

#endif
