/* Points found one at a time in a mesh that stays: where many small sets of points are asked for, as functions are. */
#ifndef TESI_LOCATOR_H
#define TESI_LOCATOR_H

#include "geometry/locate.h"

/* Cells by the bins that their boxes meet; over a grid nothing. 12 to 30 bytes a cell. Reading it from several threads
 * is safe. The mesh must live as long. */
typedef struct TesiLocator TesiLocator;

TesStatus tesi_locator_create(const TesMesh *mesh, TesiLocator **locator);
void tesi_locator_destroy(TesiLocator **locator);
/* The cell that has x[dim], or else the one from which it is less than `reach` lengths of the cell away, and the point
 * in it, in [0, 1]^dim. On faces the cell of the smallest number. False: there is none. */
bool tesi_locator_find(const TesiLocator *locator, const double *x, double reach, int64_t *cell, double *xi);

#endif
