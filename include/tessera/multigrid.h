/** \file multigrid.h
 *  Geometric multigrid: the V-cycle (patch-smoothers-cui-2024, algorithm 1; full multigrid, algorithm 2:
 *  TES_METHOD_FMG in solver.h).
 *
 *  Levels are numbered from the coarsest, 0. Each level discretises the operator anew on its mesh; for nested spaces
 *  and exact integration this is the Galerkin product P'AP. Restriction is the transpose of the embedding. Over a box
 *  with constant coefficients the coarsest level is solved directly, by fast diagonalization. Over a box with varying
 *  coefficients it is solved to 1e-8 by conjugate gradients; the preconditioner is the fast diagonalization of the mean
 *  coefficient, scaled node by node. For other meshes see TesCoarseKind.
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
  /** Boxes: as the head of this file says. Other meshes on the host: direct up to 800 unknowns; then sparse, up to
   *  about 20000 unknowns, if it is predicted to cost less than aggregation; then aggregation. Other meshes on devices
   *  with kernels: a dense inverse up to 2500 unknowns, then aggregation. If aggregation refuses the operator: amg, or
   *  cg in a build without amg */
  TES_COARSE_AUTO,
  TES_COARSE_DIRECT, /**< dense Cholesky factorization: n^2 numbers, n^3/3 flops at set-up */
  TES_COARSE_AMG, /**< conjugate gradients to 1e-10 with BoomerAMG of hypre, an optional part of a build; on the host */
  TES_COARSE_CG, /**< conjugate gradients with the diagonal, to 1e-10; on devices with kernels to 1e-4, in a recorded
                  *   graph */
  TES_COARSE_SPARSE, /**< sparse factors by MUMPS, an optional part of a build; on the host */
  /** a fixed number of V-cycles of smoothed aggregation, with constants or rigid motions as near-null space. Each cycle
   *  costs about 10 products with the level's matrix. Devices run it in kernels without synchronisation. For symmetric
   *  operators of one component, and for elasticity */
  TES_COARSE_AGGREGATION
} TesCoarseKind;

/** What is coarsened first. Auto: the mesh. Problems of degree 5 and more over meshes of trees with sheared cells
 *  coarsen the degree first. Mesh: it is coarsened as often as possible (tes_mesh_coarsen(); each level covers the
 *  domain: global coarsening, adaptive-multigrid-liebchen). Over meshes other than boxes the degree is then halved
 *  until the coarsest problem is small. Degree: it is halved on the finest mesh down to 1, before meshes are
 *  coarsened. */
typedef enum TesCoarsening {
  TES_COARSEN_AUTO,
  TES_COARSEN_MESH,
  TES_COARSEN_DEGREE,
  TES_COARSEN_NONE /**< one level alone, which is solved directly */
} TesCoarsening;

typedef struct TesMultigridDesc {
  const TesOperator *op; /**< the operator of the finest level, in any precision: each level has the same form */
  TesPrecision precision; /**< of the cycle */
  /** Its `op` is ignored: every level gets its own operator. Auto over meshes other than boxes means chebyshev. */
  TesSmootherDesc smoother;
  TesCoarsening coarsening;
  /** Cells are much longer than thick: the lowest degree of a level is 2, since elements of degree 1 cannot bend */
  bool thin;
  TesCoarseKind coarse;
  int pre, post; /**< smoothing steps before and after; 0 means 1, -1 means none */
  /** smoothing steps after the coarse correction on levels below the finest; 0 means post. Additional steps there
   *  improve the coarse correction at little cost: in 3D a step costs an eighth of a step on the finest level */
  int post_below;
  /** full multigrid: smoothing steps before and after the coarse correction in the cycles of its start. They improve
   *  the result of the next coarser level by two cycles. One such cycle replaces two of the usual cycles: the second of
   *  these would smooth, which is already done, and reduce the error that the coarse correction left. 0: usual
   *  cycles */
  int full_steps;
  /** reverse the order of smoothing after the coarse correction: the cycle is then a symmetric operator, which CG
   *  needs. Over meshes other than boxes the cycle is always symmetric */
  bool symmetric;
  /** end coarsening at the first level with at most so many unknowns; 0: coarsen as far as the mesh allows. On boxes
   *  with constant coefficients the coarse solver is a fast diagonalization, which costs 2 n (n_1 + .. + n_dim) flops
   *  in few launches: on a GPU it is faster than cycles up to some ten thousand unknowns. In other cases devices with
   *  kernels use a dense inverse of the free entries, one launch, up to 2500 entries */
  int64_t coarse_dofs;
  /** Several ranks with devices that have kernels: by default every rank holds the whole level if the level has one
   *  component and at most 2^20 unknowns, which takes less time than exchanges between parts. true: each rank has its
   *  part of all levels */
  bool spread;
} TesMultigridDesc;

/** Errors: the errors of operators, smoothers and transfers; TES_OUT_OF_MEMORY, returned before anything large is
 *  allocated; TES_INVALID_INPUT (a coarse solver that is not for this mesh); TES_MISSING: amg in a build without
 *  hypre, sparse in one without MUMPS. */
TesStatus tes_multigrid_create(TesContext *context, const TesMultigridDesc *desc, TesMultigrid **multigrid);
void tes_multigrid_destroy(TesMultigrid **multigrid);

/** Number of levels; the finest is the last one. */
int tes_multigrid_levels(const TesMultigrid *multigrid);
/** The objects of a level, owned by the multigrid. */
typedef struct TesMultigridLevel {
  const TesSpace *space;
  const TesOperator *op;
  const TesSmoother *smoother; /**< NULL on level 0 */
} TesMultigridLevel;
TesMultigridLevel tes_multigrid_level(const TesMultigrid *multigrid, int level);

/** One V-cycle for A x = b on the finest level. Vectors have the cycle's precision. zero_guess: x is taken as zero. */
TesStatus tes_multigrid_cycle(TesMultigrid *multigrid, const TesVector *b, TesVector *x, bool zero_guess);

/** Time of the cycles by part: seconds in smoothing, residuals, transfers, coarse solves, summed over levels. Trials in
 * the set-up of a problem are not counted. */
typedef struct TesMultigridTimes {
  double smooth, residual, transfer, coarse;
} TesMultigridTimes;
TesMultigridTimes tes_multigrid_times(const TesMultigrid *multigrid);

#ifdef __cplusplus
}
#endif
#endif
