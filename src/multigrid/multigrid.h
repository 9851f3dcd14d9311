/* Multigrid as the solvers see it. */
#ifndef TESI_MULTIGRID_H
#define TESI_MULTIGRID_H

#include "tessera/multigrid.h"

/* Full multigrid without its last V-cycle: x is the prolongated solution of the level below the finest. */
TesStatus tesi_multigrid_start(TesMultigrid *multigrid, const TesVector *b, TesVector *x);

#endif
