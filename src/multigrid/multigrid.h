/* Multigrid as the solvers see it. */
#ifndef TESI_MULTIGRID_H
#define TESI_MULTIGRID_H

#include "tessera/multigrid.h"

/* Full multigrid without its last V-cycle: x is the prolongated solution of the level below the finest. */
TesStatus tesi_multigrid_start(TesMultigrid *multigrid, const TesVector *b, TesVector *x);

/* For the start around a float32 cycle (full.h): right-hand side and solution of the cycles on a level below the finest, one cycle
 * from zero there, and the coarsest level's solver. */
void tesi_multigrid_vectors(TesMultigrid *multigrid, int level, TesVector **b, TesVector **x);
TesStatus tesi_multigrid_cycle_level(TesMultigrid *multigrid, int level, const TesVector *b, TesVector *x);
struct TesiCoarse *tesi_multigrid_coarse(const TesMultigrid *multigrid);
/* A multigrid of given levels, coarsest first; transfer[l] leads from level l - 1 to l, transfer[0] is NULL. What it takes over it
 * replaces by NULL. */
struct TesiCoarse;
typedef struct TesiMultigridLevels {
  int count;
  TesOperator **op;       /* [count] */
  TesTransfer **transfer; /* [count] */
  TesSpace **space;       /* [count] */
  struct TesiCoarse *coarse;
  TesSmootherDesc smoother; /* its `op` is ignored */
  int pre, post;            /* as in TesMultigridDesc */
  bool symmetric;
} TesiMultigridLevels;
TesStatus tesi_multigrid_create_levels(TesContext *ctx, TesiMultigridLevels *levels,
                                       TesMultigrid **multigrid);

#endif
