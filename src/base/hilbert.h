/* The Hilbert curve: points near one another on it are near one another in space. */
#ifndef TESI_HILBERT_H
#define TESI_HILBERT_H

#include "base/base.h"

enum { TESI_HILBERT_BITS = 20 };

/* The cube that the curve fills: from `low`, `size` long. */
typedef struct TesiHilbert {
  int dim;
  double low[3], size;
} TesiHilbert;

/* The smallest cube from the lowest corner that has points x[n][stride], of which the first dim numbers count. */
TesiHilbert tesi_hilbert_around(int dim, int64_t n, const double *x, int stride);
/* How far along the curve a point of the cube lies. */
uint64_t tesi_hilbert_key(const TesiHilbert *curve, const double x[]);

#endif
