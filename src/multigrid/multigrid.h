/* Multigrid as the solvers see it. */
#ifndef TESI_MULTIGRID_H
#define TESI_MULTIGRID_H

#include "tessera/multigrid.h"

enum { TESI_MULTIGRID_LEVELS = 72 }; /* each direction of a box may be halved by itself */

/* Full multigrid without its last V-cycle: x is the prolongated solution of the level below the finest. */
TesStatus tesi_multigrid_start(TesMultigrid *multigrid, const TesVector *b, TesVector *x);

/* Whether conjugate gradients may use its cycle. */
bool tesi_multigrid_symmetric(const TesMultigrid *multigrid);

/* For the start around a float32 cycle (full.h): right-hand side and solution of the cycles on a level below the
 * finest, one cycle from zero there, and the coarsest level's solver. */
void tesi_multigrid_vectors(TesMultigrid *multigrid, int level, TesVector **b, TesVector **x);
TesStatus tesi_multigrid_cycle_level(TesMultigrid *multigrid, int level, const TesVector *b, TesVector *x);
struct TesiCoarse *tesi_multigrid_coarse(const TesMultigrid *multigrid);

/* Every level but the coarsest multiplies with an assembled matrix from now on, in smoothers and residuals: to compare
 * with. Its smoothers must be jacobi or chebyshev. */
TesStatus tesi_multigrid_assemble(TesMultigrid *multigrid);

/* Bytes that a multigrid will allocate, roughly (within 10 % on large meshes); varies: the operator's coefficients
 * do. */
size_t tesi_multigrid_memory(const TesSpace *space, bool varies, TesPrecision precision,
                             TesSmootherKind smoother);

/* The spaces of the levels, coarsest first; levels.c. */
TesStatus tesi_multigrid_spaces(const TesMultigridDesc *desc, TesSpace *space[TESI_MULTIGRID_LEVELS],
                                int *count);

#endif
