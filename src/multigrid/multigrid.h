/* Multigrid as the solvers see it. */
#ifndef TESI_MULTIGRID_H
#define TESI_MULTIGRID_H

#include "tessera/multigrid.h"

enum {
  TESI_MULTIGRID_LEVELS = 72, /* each direction of a box may be halved by itself */
  TESI_MOST_STEPS = 100       /* of smoothing before or after, at most */
};

/* What a cycle does more than others on the level where it begins. The first of a rough residual smooths before its
 * coarse correction too. One of full multigrid smooths TesMultigridDesc.full_steps times before and after it, and
 * corrects twice by the next coarser level: after one V-cycle of that a smooth error is left whose part in L2 grows as
 * cells become smaller. */
typedef enum TesiCycleKind { TESI_CYCLE_USUAL, TESI_CYCLE_ROUGH, TESI_CYCLE_FULL } TesiCycleKind;

/* Full multigrid without its last V-cycles: x is the prolongated solution of the level below the finest, after so many
 * cycles on each level. below: the right-hand sides of the levels below the finest, and the prolongation is added to
 * x; NULL: b restricted. */
TesStatus tesi_multigrid_start(TesMultigrid *multigrid, const TesVector *b, TesVector *const *below,
                               int cycles, TesiCycleKind kind, TesVector *x);

/* Takes the memory that a cycle of kind TESI_CYCLE_ROUGH needs, so that no solve does. */
TesStatus tesi_multigrid_reserve_rough(TesMultigrid *multigrid);
/* Whether b is rough: its restriction to the next level is small, as for random numbers. */
TesStatus tesi_multigrid_is_rough(TesMultigrid *multigrid, const TesVector *b, bool *rough);
/* tes_multigrid_cycle() from zero. */
TesStatus tesi_multigrid_cycle(TesMultigrid *multigrid, TesiCycleKind kind, const TesVector *b, TesVector *x);

/* Whether cycles of full multigrid's start are TESI_CYCLE_FULL. */
bool tesi_multigrid_is_thorough(const TesMultigrid *multigrid);
/* Whether conjugate gradients may use its cycle. */
bool tesi_multigrid_symmetric(const TesMultigrid *multigrid);
/* The cycles so far, which were trials, are not those whose times are asked for. */
void tesi_multigrid_forget_times(TesMultigrid *multigrid);

/* For the start around a float32 cycle (full.h): right-hand side and solution of the cycles on a level below the
 * finest, one cycle from zero there, and the coarsest level's solver. */
void tesi_multigrid_vectors(TesMultigrid *multigrid, int level, TesVector **b, TesVector **x);
TesStatus tesi_multigrid_cycle_level(TesMultigrid *multigrid, int level, TesiCycleKind kind,
                                     const TesVector *b, TesVector *x);
struct TesiCoarse *tesi_multigrid_coarse(const TesMultigrid *multigrid);

/* Of Stokes: x <- a velocity with the divergence of b, whose rows of velocities are zero, and a pressure: a cycle that
 * smooths with the first colour of the vertex patches alone, an eighth of a sweep in 3D. The others leave a divergence
 * as it is. serves: all levels have such patches and an even number of cells per direction. */
bool tesi_multigrid_serves_divergence(const TesMultigrid *multigrid);
TesStatus tesi_multigrid_divergence(TesMultigrid *multigrid, const TesVector *b, TesVector *x);

/* How much a step of conjugate gradients with the cycle reduces, on the level below the finest, or on the finest where
 * that is the coarsest: the mean of `steps` steps (tesi_reduction()). 1: there is one level alone. */
TesStatus tesi_multigrid_reduction(TesMultigrid *multigrid, int steps, double *factor);
/* The degree of the polynomials of the finest level; 0: its smoother is none. */
int tesi_multigrid_polynomial(const TesMultigrid *multigrid);
/* Other polynomials on all levels, which have such ones; after: cycles smooth after the coarse correction alone, else
 * before it too. */
TesStatus tesi_multigrid_change(TesMultigrid *multigrid, int degree, bool optimal, bool after);

/* Every level but the coarsest multiplies with an assembled matrix from now on, in smoothers and residuals: to compare
 * with. Its smoothers must be jacobi or chebyshev. */
TesStatus tesi_multigrid_assemble(TesMultigrid *multigrid);

/* Bytes that a multigrid will allocate, roughly (within 10 % on large meshes); varies: the operator's coefficients
 * do. */
size_t tesi_multigrid_memory(const TesSpace *space, bool varies, TesPrecision precision,
                             TesSmootherKind smoother);

/* Vectors for cycles, where the smoother of the finest level has them best: cycles with other vectors, and with others
 * made here, overwrite them. Of its precision; of no use when the multigrid is gone. */
TesStatus tesi_multigrid_new_vectors(const TesMultigrid *multigrid, TesVector **b, TesVector **x);
/* The spaces of the levels, coarsest first; levels.c. On several ranks small levels are whole on every rank, in a
 * context that knows nothing of ranks; *part <- this rank's part of the largest of them, NULL: there is none. */
TesStatus tesi_multigrid_spaces(const TesMultigridDesc *desc, TesSpace *space[TESI_MULTIGRID_LEVELS],
                                int *count, TesSpace **part);
/* Unknowns of levels of transport with its velocity that are whole on every rank. */
enum { TESI_WHOLE_CARRIED = 1 << 16 };
/* The space of all ranks, in a context of one rank. All ranks call it. */
TesStatus tesi_multigrid_gather(const TesSpace *part, TesSpace **whole);
/* Between level - 1 and level. */
TesStatus tesi_multigrid_transfer(const TesMultigrid *multigrid, int level, TesPrecision precision,
                                  TesTransfer **transfer);

#endif
