/** \file multigrid.h
 *  Geometric multigrid: the V-cycle (patch-smoothers-cui-2024, algorithm 1; full multigrid, algorithm 2:
 *  TES_METHOD_FMG in solver.h).
 *
 *  Levels are numbered from the coarsest, 0. Each level has the operator discretised anew on its mesh (which for nested
 *  spaces and exact integration is the Galerkin product P'AP), restriction is the transpose of the embedding. The
 *  coarsest level is solved directly: by fast diagonalization over a box in the separable form; by conjugate
 *  gradients, preconditioned with the fast diagonalization of the mean coefficient, scaled node by node, to 1e-8
 *  over a box with coefficients that vary; and over other meshes as TesCoarseKind says.
 */
#ifndef TESSERA_MULTIGRID_H
#define TESSERA_MULTIGRID_H

#include "operator.h"
#include "smoother.h"
#include "transfer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesMultigrid TesMultigrid;

/** How the coarsest level is solved. */
typedef enum TesCoarseKind {
  /** a box: as the head of this file says. Else on the host direct up to 800 unknowns, then sparse up to some 20000
   *  where that is predicted to cost less than aggregation, then aggregation; on devices with kernels a dense inverse
   *  up to 2500 unknowns, then aggregation. Where aggregation refuses: amg, or cg in a build without it */
  TES_COARSE_AUTO,
  TES_COARSE_DIRECT, /**< dense Cholesky factorization: n^2 numbers, n^3/3 flops once */
  TES_COARSE_AMG, /**< conjugate gradients to 1e-10 with BoomerAMG of hypre, an optional part; on the host */
  TES_COARSE_CG, /**< conjugate gradients with the diagonal, to 1e-10; on devices with loops to 1e-4, recorded */
  TES_COARSE_SPARSE, /**< sparse factors by MUMPS, an optional part; on the host */
  /** a fixed number of V-cycles of smoothed aggregation, with constants or rigid motions as near-null space, about the
   *  cost of 10 products with the level's matrix each; on devices by kernels that wait for nothing. Symmetric
   *  operators of one component, and elasticity */
  TES_COARSE_AGGREGATION
} TesCoarseKind;

/** What is coarsened first. Auto: the mesh; in problems the degree, from 5 on, over meshes of trees whose cells are
 *  sheared. The mesh: as often as it can be (tes_mesh_coarsen(), each level covers the domain: global coarsening,
 *  adaptive-multigrid-liebchen), then over meshes other than boxes the degree is halved until the coarsest problem is
 *  small. The degree: halved on the finest mesh down to 1, before meshes are coarsened. */
typedef enum TesCoarsening {
  TES_COARSEN_AUTO,
  TES_COARSEN_MESH,
  TES_COARSEN_DEGREE,
  TES_COARSEN_NONE /**< no level but the finest, which is solved directly */
} TesCoarsening;

typedef struct TesMultigridDesc {
  const TesOperator *op; /**< the operator of the finest level, in any precision: each level has the same form */
  TesPrecision precision; /**< of the cycle */
  /** Its `op` is ignored: every level gets its own operator. Auto over meshes other than boxes: chebyshev. */
  TesSmootherDesc smoother;
  TesCoarsening coarsening;
  /** Cells are much longer than thick: degrees end at 2, lower ones do not bend */
  bool thin;
  TesCoarseKind coarse;
  int pre, post; /**< smoothing steps before and after; 0 means 1, -1 means none */
  /** smoothing steps after the coarse correction on levels below the finest; 0 means post. More steps there make the
   *  coarse correction better for little: in 3D a step costs an eighth of a step on the finest level */
  int post_below;
  /** full multigrid: smoothing steps before and after the coarse correction in the cycles of its start, which make
   *  that by two cycles of the next coarser level. One such cycle is enough where two of the usual ones are not: the
   *  second would smooth, which is done, and reduce what the coarse correction left. 0: usual cycles */
  int full_steps;
  /** smooth backward after: the cycle is then a symmetric operator, as CG needs. Over meshes other than
   *  boxes it always is */
  bool symmetric;
  /** end coarsening at the first level of at most so many unknowns; 0: coarsen as far as the mesh allows. On boxes
   *  with constant coefficients the coarse solver is a fast diagonalization, which costs 2 n (n_1 + .. + n_dim)
   *  flops in few launches: on a GPU it is faster than cycles up to some ten thousand unknowns. Elsewhere it is a
   *  dense inverse of the free entries, one launch, on devices with kernels to 2500 entries */
  int64_t coarse_dofs;
  /** On several ranks with devices that have kernels, levels of at most 2^20 unknowns of one component are whole on
   *  every rank, which takes less time than the exchanges between parts of them; true: each rank has its part of all
   *  levels */
  bool spread;
} TesMultigridDesc;

/** Errors: the errors of operators, smoothers and transfers; TES_OUT_OF_MEMORY, returned before anything large is
 *  allocated; TES_INVALID_INPUT (a coarse solver that is not for this mesh); TES_MISSING: amg in a build without
 *  hypre, sparse in one without MUMPS. */
TesStatus tes_multigrid_create(TesContext *context, const TesMultigridDesc *desc, TesMultigrid **multigrid);
void tes_multigrid_destroy(TesMultigrid **multigrid);

/** Number of levels; the finest is the last one. */
int tes_multigrid_levels(const TesMultigrid *multigrid);
/** What a level consists of, owned by the multigrid. */
typedef struct TesMultigridLevel {
  const TesSpace *space;
  const TesOperator *op;
  const TesSmoother *smoother; /**< NULL on level 0 */
} TesMultigridLevel;
TesMultigridLevel tes_multigrid_level(const TesMultigrid *multigrid, int level);

/** One V-cycle for A x = b on the finest level, vectors of the cycle's precision. zero_guess: x is taken as zero. */
TesStatus tes_multigrid_cycle(TesMultigrid *multigrid, const TesVector *b, TesVector *x, bool zero_guess);

/** Where the time of the cycles went: seconds in smoothing, residuals, transfers, coarse solves, summed over levels.
 * Trials in the set-up of a problem are left out. */
typedef struct TesMultigridTimes {
  double smooth, residual, transfer, coarse;
} TesMultigridTimes;
TesMultigridTimes tes_multigrid_times(const TesMultigrid *multigrid);

#ifdef __cplusplus
}
#endif
#endif
