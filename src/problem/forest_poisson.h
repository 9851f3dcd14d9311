/* The problem over a forest as the adaptive loop sees it. */
#ifndef TESI_FOREST_POISSON_H
#define TESI_FOREST_POISSON_H

#include "tessera/forest_poisson.h"

/* The solution where it was computed; tes_forest_poisson_solution() is its copy on the host. */
const TesVector *tesi_forest_poisson_vector(const TesForestPoisson *poisson);
/* Bytes that it took on the device only because there was room: tesi_solver_spare(). */
size_t tesi_forest_poisson_spare(const TesForestPoisson *poisson);

#endif
