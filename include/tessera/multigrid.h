/** \file multigrid.h
 *  Geometric multigrid for the diffusion operator: the V-cycle (patch-smoothers-cui-2024, algorithm 1; full multigrid, algorithm 2: TES_METHOD_FMG in solver.h).
 *
 *  Levels are numbered from the coarsest, 0. Each level has the operator discretised anew on its mesh (which for nested
 *  spaces and exact integration is the Galerkin product P'AP), restriction is the transpose of the embedding. The coarsest level is
 *  solved directly: by fast diagonalization in the separable form; by conjugate gradients, preconditioned with the fast
 *  diagonalization of the mean coefficient, scaled node by node, to 1e-8 otherwise.
 */
#ifndef TESSERA_MULTIGRID_H
#define TESSERA_MULTIGRID_H

#include "forest_operator.h"
#include "operator.h"
#include "smoother.h"
#include "transfer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesMultigrid TesMultigrid;

typedef struct TesMultigridDesc {
  TesDiffusionDesc
      diffusion; /**< the finest operator: space, coefficients, form, and the precision of the cycle */
  TesSmootherDesc smoother; /**< its `op` is ignored: every level gets its own */
  int pre, post;            /**< smoothing steps before and after; 0 means 1, -1 means none */
  bool symmetric;           /**< smooth backward after: the cycle is then a symmetric operator, as CG needs */
} TesMultigridDesc;

/** Errors: those of the operators and smoothers; TES_OUT_OF_MEMORY, told before anything large is allocated. */
TesStatus tes_multigrid_create(TesContext *context, const TesMultigridDesc *desc, TesMultigrid **multigrid);

/** How the coarsest level of a forest is solved. */
typedef enum TesCoarseKind {
  TES_COARSE_AUTO,   /**< direct up to 3000 unknowns, then amg, or cg in a build without it */
  TES_COARSE_DIRECT, /**< dense Cholesky factorization: n^2 numbers, n^3/3 flops once */
  TES_COARSE_AMG, /**< conjugate gradients to 1e-10 with BoomerAMG of hypre, an optional part; on the host */
  TES_COARSE_CG   /**< conjugate gradients to 1e-10 with the diagonal */
} TesCoarseKind;

/** Multigrid over forests by global coarsening: on every coarser level as many refinements are taken back as possible
 *  (tes_mesh_coarsen()), so that each level covers the domain (adaptive-multigrid-liebchen); then on the trees the degree is halved until the
 *  coarsest problem is small. Operators are discretised anew on each level. Smoother: chebyshev (auto), jacobi or cell_patch. The cycle is symmetric.
 *  Coarsest level: TesCoarseKind. */
typedef struct TesForestMultigridDesc {
  TesForestDiffusionDesc diffusion; /**< the finest operator, and the precision of the cycle */
  bool
      degree_first; /**< the degree is halved on the finest mesh, before meshes are coarsened with degree 1 */
  TesSmootherDesc smoother; /**< its `op` is ignored */
  int pre, post;            /**< as above */
  TesCoarseKind coarse;
} TesForestMultigridDesc;

/** Errors: as above; TES_MISSING: amg in a build without hypre. */
TesStatus tes_multigrid_create_forest(TesContext *context, const TesForestMultigridDesc *desc,
                                      TesMultigrid **multigrid);
void tes_multigrid_destroy(TesMultigrid **multigrid);

/** Number of levels; the finest is the last one. */
int tes_multigrid_levels(const TesMultigrid *multigrid);
/** Space, operator and smoother of a level, owned by the multigrid; the smoother of level 0 is NULL. */
const TesSpace *tes_multigrid_space(const TesMultigrid *multigrid, int level);
const TesOperator *tes_multigrid_operator(const TesMultigrid *multigrid, int level);
const TesSmoother *tes_multigrid_smoother(const TesMultigrid *multigrid, int level);
bool tes_multigrid_symmetric(const TesMultigrid *multigrid);

/** One V-cycle for A x = b on the finest level, vectors of the cycle's precision. zero_guess: x is taken as zero. */
TesStatus tes_multigrid_cycle(TesMultigrid *multigrid, const TesVector *b, TesVector *x, bool zero_guess);

/** Bytes that the multigrid of this description will allocate, roughly (within 10 % on large meshes). */
TesStatus tes_multigrid_memory(TesContext *context, const TesMultigridDesc *desc, size_t *bytes);
/** Where the time of the last cycles went: seconds in smoothing, residuals, transfers, coarse solves, summed over levels. */
typedef struct TesMultigridTimes {
  double smooth, residual, transfer, coarse;
} TesMultigridTimes;
TesMultigridTimes tes_multigrid_times(const TesMultigrid *multigrid);

#ifdef __cplusplus
}
#endif
#endif
