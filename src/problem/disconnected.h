/* Parts of a forest that hang together by vertices of its coarse mesh. */
#ifndef TESI_DISCONNECTED_H
#define TESI_DISCONNECTED_H

#include "tessera/forest_poisson.h"

/* In each of several parts the solution must be determined by itself: by a Dirichlet or Robin boundary or by c. TES_INVALID_INPUT names a
 * cell of the first part where it is not. A mesh of one part is always accepted: its constant is fixed by the mean. */
TesStatus tesi_forest_parts_check(const TesForestPoissonDesc *desc);

#endif
