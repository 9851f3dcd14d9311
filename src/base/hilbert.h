/* The Hilbert curve: points that are close on the curve are close in space. */
#ifndef TESI_HILBERT_H
#define TESI_HILBERT_H

#include "base/base.h"

enum { TESI_HILBERT_BITS = 20 };

/* The cube that the curve fills: lowest corner `low`, edge length `size`. */
typedef struct TesiHilbert {
  int dim;
  double low[3], size;
} TesiHilbert;

/* The smallest cube, from the lowest corner of the points, that contains points x[n][stride], of which the first dim
 * numbers are coordinates. */
TesiHilbert tesi_hilbert_around(int dim, int64_t n, const double *x, int stride);
/* Position of a point of the cube along the curve. */
uint64_t tesi_hilbert_key(const TesiHilbert *curve, const double x[]);

#endif
