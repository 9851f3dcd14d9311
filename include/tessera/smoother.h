/** \file smoother.h
 *  Smoothers: x <- x + S (b - A x), one step of an iteration that damps oscillating errors.
 *
 *  - patch: multiplicative over the colours of vertex patches (patch-smoothers-cui-2024, section 3). The colour of a
 *    patch is the parity of (vertex index - 1) per direction, x fastest. Local problems are solved by fast
 *    diagonalization.
 *  - patch_additive: all patches at once from one residual, scaled by omega.
 *  - jacobi: omega D^-1.
 *  - chebyshev: a polynomial of D^-1 A, of the fourth kind (Lottes 2023) on [0, 1.05 lambda_max], or, given a ratio, of
 *    the first kind on [lambda_max/ratio, 1.2 lambda_max].
 *  - cell_patch: the same polynomial with B in the place of D^-1. B is the sum over cells of the inverses of separable
 *    surrogates of the assembled operator on the nodes of the cell, weighted symmetrically. Meshes of trees, to degree
 *    8, all devices; for stretched cells. Stokes with a constant viscosity: exact solves on closed cells (pressure, and
 *    velocity with the nodes of the cell's faces) in two colours, with a residual before each; 2^dim colours and more
 *    where a periodic direction has an odd number of cells. A sweep is cheaper than a sweep of vertex patches, and
 *  takes more iterations. - line_patch: cell_patch, but stretched cells are joined to lines along their short
 *    direction, which are solved whole. A cell is stretched if it is coupled 4 times as strongly in one direction as
 *    in all others. The number of iterations does not depend on how far cells are stretched in one direction. To
 *  degree 8, all devices. - ordered_cells: incomplete LU factors, without fill, of the assembled matrix of transport
 *    with element q, with the unknowns cell by cell in the order of the velocity. Any mesh, float64. The sweep is
 *    sequential and runs on the host for every device; several ranks sweep side by side, each its own cells, with
 *    values from before across cuts. 24 bytes per entry of the matrix (docs/time.md,
 *  "Steady transport"). - gauss_seidel: forward (or backward) sweeps over dofs in lexicographic order, or cell by
 *    cell in Morton order (in a cell: vertices, lines, faces, interior).
 */
#ifndef TESSERA_SMOOTHER_H
#define TESSERA_SMOOTHER_H

#include "operator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesSmoother TesSmoother;

typedef enum TesSmootherKind {
  /** On a box: patch; chebyshev if a jumps so much that nodal patches do not contract. Transport with its velocity:
   *  ordered_cells, with discontinuous elements cell_patch. Else chebyshev. */
  TES_SMOOTHER_AUTO,
  TES_SMOOTHER_PATCH,
  TES_SMOOTHER_PATCH_ADDITIVE,
  TES_SMOOTHER_JACOBI,
  TES_SMOOTHER_CHEBYSHEV,
  TES_SMOOTHER_GAUSS_SEIDEL,
  TES_SMOOTHER_CELL_PATCH,
  TES_SMOOTHER_LINE_PATCH,
  TES_SMOOTHER_ORDERED_CELLS,
  TES_SMOOTHER_GAUSS_SEIDEL_MORTON,
  TES_SMOOTHER_COUNT /**< how many there are, not a smoother */
} TesSmootherKind;

/** Local solvers of the patch smoothers. exact: for the separable form. The others are surrogates for coefficients that
 *  vary:
 *  - nodal: D^1/2 A_0 D^1/2 stands for A, with D = diag(A) / diag(A_0) and A_0 of constant coefficients. Nearly exact
 *    if sqrt(a) is smooth on the scale of a cell. Cheapest: one residual and one separable sweep. Not for jumps.
 *  - rank1: 1D matrices per patch from a fit a ~ a_x(x) a_y(y) a_z(z). For jumps along mesh planes.
 *  - scaled: one eigenbasis, scaled by max(mean, 0.6 max) of a on the patch. Safe and slow.
 *  - mean: scaled by the mean of a. Diverges for degree >= 4 and strong variation.
 *  The last three need a residual for each of the 2^dim colours. */
typedef enum TesLocalSolver {
  TES_LOCAL_AUTO, /**< exact; where coefficients vary the first of nodal, rank1, scaled that contracts when tried */
  TES_LOCAL_EXACT,
  TES_LOCAL_MEAN,
  TES_LOCAL_SCALED,
  TES_LOCAL_RANK1,
  TES_LOCAL_NODAL,
  /** patches of Stokes: conjugate gradients on the Schur complement, at most 15 steps to 1e-3, as in
   *  stokes-multigrid-cui-2025: for comparison. Iterates are then not free of divergence */
  TES_LOCAL_CG,
  /** vertex patches of Stokes: the pseudo-inverse of the patch's own matrix, assembled by quadrature; one for each kind
   *  of patches where nu is constant. n^2 numbers for n unknowns of a patch: to compare with */
  TES_LOCAL_DENSE
} TesLocalSolver;

/** Colours of the patches of Stokes. Parquet: 2^dim, by the parities of a patch's numbers; patches that share a face
 *  are coupled by the penalty. Red-black: each of these is two, by the parity of the sum of the numbers halved: patches
 *  of a colour share no face, and a sweep needs no second vector. In 3D a sweep takes the colours in an order that has
 *  0.3 iterations less than that of their numbers, x first, which is lexicographic, with the colours of parquet. */
typedef enum TesColours { TES_COLOURS_PARQUET, TES_COLOURS_RED_BLACK, TES_COLOURS_LEXICOGRAPHIC } TesColours;

/** Order of a sweep: as numbered, or reversed. A symmetric cycle smooths forward before and backward after. */
typedef enum TesSweep { TES_FORWARD, TES_BACKWARD } TesSweep;

/** A smoother that the calling program brings, for operators of its choice. One object serves all levels; it must
 *  outlive the smoothers that are made of it.
 *
 *  Entries at given nodes are zero in b and must be zero in x. Vectors have the operator's precision and stand on its
 *  device: the functions of vector.h and operator.h work on them, and tes_vector_get() copies to the host. */
typedef struct TesSmootherOwn {
  const char *name; /**< for descriptions; NULL: "own" */
  /** A backward sweep is the adjoint of a forward one, so that conjugate gradients may take the cycle. */
  bool symmetric;
  /** *plan <- what a step needs for this operator, which outlives the plan. NULL: nothing. After a failure there is no
   *  plan. */
  TesStatus (*create)(void *user, const TesOperator *op, void **plan);
  /** One step x <- x + S (b - A x). zero_guess: x is taken as zero whatever it holds. */
  TesStatus (*apply)(void *user, void *plan, const TesOperator *op, const TesVector *b, TesVector *x,
                     TesSweep sweep, bool zero_guess);
  void (*destroy)(void *user, void *plan); /**< releases a plan; NULL: there is nothing to release */
  void *user;                              /**< handed to the three */
} TesSmootherOwn;

typedef struct TesSmootherDesc {
  const TesOperator *op; /**< a reference is kept; precision and space are taken from it */
  TesSmootherKind kind;
  TesLocalSolver local;
  /** damping; 0: the kind's default (patch 1, additive and jacobi from an estimate of the largest
   *  eigenvalue) */
  double omega;
  /** chebyshev, cell_patch, line_patch: degree of the polynomial; 0 means 4, of elements from degree 5 on 5; of the
   *  patches 2 */
  int degree;
  double ratio; /**< the same: smoothing range of the first kind; 0: the fourth kind, which has none */
  /** the same, without ratio: the polynomial with the least max sqrt(t) |q(t)| / sqrt(1 - q(t)^2), q = 1 - t p(t),
   *  which bounds a V-cycle more sharply (Lottes 2023, section 4): some 5 % fewer iterations where they are many, more
   *  where they are few */
  bool optimal;
  TesColours colours; /**< patches of Stokes and of discontinuous elements, which have no red-black ones */
  const TesSmootherOwn *own; /**< in place of a kind, which is auto then; NULL: none */
  /** Patches of Stokes compute the residual of the whole mesh before each colour, and not inside the patches. The
   *  iterate is the same, and slower to compute: for comparison. */
  bool unfused;
} TesSmootherDesc;

/** Errors: TES_INVALID_INPUT (a local solver that does not fit the form of the operator), TES_OUT_OF_MEMORY. */
TesStatus tes_smoother_create(TesContext *context, const TesSmootherDesc *desc, TesSmoother **smoother);
void tes_smoother_destroy(TesSmoother **smoother);
/** One step. zero_guess: x is taken as zero whatever it holds (and written). */
TesStatus tes_smoother_apply(const TesSmoother *smoother, const TesVector *b, TesVector *x, TesSweep sweep,
                             bool zero_guess);
TesCost tes_smoother_cost(const TesSmoother *smoother);
const char *tes_smoother_describe(const TesSmoother *smoother);

#ifdef __cplusplus
}
#endif
#endif
