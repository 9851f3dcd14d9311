/* The basis functions of a cell of element dg at a point, one at a time, for plain versions. */
#ifndef TESI_DG_MODES_H
#define TESI_DG_MODES_H

#include "basis/gauss.h"
#include "space/space.h"

/* Values of the modes of a cell at a point, and their derivatives, by direction. */
typedef struct TesiDgModes {
  const TesSpace *space;
  int cell[3];
  double value[3][TESI_MAX_POINTS], slope[3][TESI_MAX_POINTS];
} TesiDgModes;

/* xi: the point, in [0, 1] in each direction. */
void tesi_dg_modes(const TesSpace *space, const int cell[3], const double xi[3], TesiDgModes *modes);
/* y (may be NULL) += factor times each function, or its derivative in direction `slope` (-1: none). Returns the
 * value, at the point, of the function with coefficients x (NULL: 0). */
double tesi_dg_visit(const TesiDgModes *modes, int slope, const double *x, double factor, double *y);

#endif
