/** \file operator.h
 *  Discrete operators, applied matrix-free by sum factorization: a form, discretised on a space.
 *
 *      (A u, v) = sum over the terms of the form:   int a grad u . grad v  (diffusion),  int c u v  (mass),
 *                                                   int_F alpha u v over a part F of the boundary  (Robin)
 *
 *  for u, v in the space (patch-smoothers-cui-2024, section 2, generalised; tensor-product-bp-swirydowicz-2019).
 *  Entries at Dirichlet nodes are zero in the vectors that an operator gets and gives; its diagonal is 1 there.
 *
 *  Kinds, in the order in which they are tried. Every kind runs in kernels on devices that have them, with the limits
 *  named here.
 *  - separable: boxes, all coefficients constant. A = sum over d of K_d (x) M_(others), 1D matrices K_d, M_d; exact.
 *    A mass term alone is taken where `kind` names it; such an operator has no vertex patches.
 *  - quadrature: boxes, coefficients that are functions. (degree + 1)^dim Gauss points per cell, at which a and c are
 *    stored.
 *  - mapped: meshes of any kind, curved cells, a may be a matrix. Hanging faces and edges are interpolated inside the
 *    kernels (adaptive-matrix-free-ljungkvist-2017, section 3). Degrees 1 to 15, with hanging nodes 1 to 8.
 *  - transport: a form with a transport term, which is not symmetric, over element q on any mesh. The transport term is
 *    integrated with degree + 2 Gauss points per direction, in float64; the other terms are an operator of a kind
 *    above. Kernels to degree 8. It has no diagonal.
 *  - elasticity: spaces of dim components, element q on any mesh, with a strain term and grad-div, mass and Robin
 *    terms. All components together, degree + 1 Gauss points per direction, hanging nodes. Kernels for degrees 1 to 8.
 *  - parts: spaces of several components, and products, with forms that do not couple the parts. Each part has its own
 *  operator, of the first kind above that takes it; equal components share an operator.
 *  - stokes: velocity and pressure of element rt over a box (space.h), constant viscosity and mass. Diffusion of
 *  tangential components is discretised by symmetric interior penalties. K = [A, -B'; -B, 0], products of banded 1D
 *  matrices.
 *  - stokes_varying: the same with a viscosity that is a function, or with the symmetric gradient (strain), by
 *    quadrature with (degree + 3)^dim Gauss points per cell, at which nu is stored; nu > 0 (TES_INVALID_INPUT names the
 *    point).
 *  - dg: diffusion and mass with constant coefficients over element dg, by symmetric interior penalties; values on
 *    boundaries are given weakly.
 *  - assembled, assembled_hanging: sparse matrices of element q, for comparisons; taken only if the name is given. The
 *    matrices are stored in compressed rows of int32 columns and of values in the operator's precision (assembled in
 *    float64, then rounded), on the device of the context. Forms that kind mapped takes are assembled cell by cell.
 *    The matrix of other forms (transport, elasticity, several components) is read off products with sums of unit
 *    vectors, some (2k + 1)^dim per component; `assembled` and one rank only. Products by the context's threads; on a
 *    GPU by cuSPARSE if it is installed (TESSERA_LIBCUSPARSE names its file), else by a kernel. Bytes: 12 per entry
 *    (8 in float32) and 4 per row (8 on the host). Each pair of nodes that share a cell has an entry: about (2k +
 *    1)^dim entries per row, times the number of coupled components. `assembled` eliminates hanging nodes cell by
 *    cell; `assembled_hanging` is y = H' (A (H x)) with the matrix H of hanging nodes (adaptive-multigrid-liebchen).
 */
#ifndef TESSERA_OPERATOR_H
#define TESSERA_OPERATOR_H

#include "function.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesOperator TesOperator;

typedef enum TesTerm {
  TES_TERM_DIFFUSION,
  TES_TERM_MASS,
  TES_TERM_ROBIN,
  TES_TERM_DIVERGENCE, /**< element rt: - int p div v - int q div u, without a coefficient */
  TES_TERM_STRAIN, /**< int 2 a eps(u) : eps(v), the symmetric gradient; element rt: in the place of diffusion; element
                    *   q: with dim components */
  TES_TERM_TRANSPORT, /**< int (b . grad u) v, and the terms of `streamline`; needs a diffusion term */
  /** Element q with dim components, together with a strain term: int a div u div v. With a = lambda here and a = mu in
   *  the strain term this is linear elasticity: mu > 0 and 2 mu + dim lambda > 0. */
  TES_TERM_GRAD_DIV
} TesTerm;

/** Streamline terms (SUPG): the residual inside cells is tested with tau b . grad v as well, which adds int tau (c u +
 *  b . grad u - a Lap u) b . grad v with c the mass term. auto: only if the largest cell Peclet number |b| h / (2 k a)
 *  is above 1. */
typedef enum TesStreamline { TES_STREAMLINE_AUTO, TES_STREAMLINE_NONE, TES_STREAMLINE_ALWAYS } TesStreamline;

/** Coefficients as functions of space; no function means 1. They are referenced as long as needed. */
typedef struct TesCoefficient {
  const TesFunction *all;
  const TesFunction *const
      *material; /**< [tes_mesh_materials()], by number; NULL inside means `all`. NULL: `all` everywhere */
} TesCoefficient;

typedef struct TesTermDesc {
  TesTerm term;
  /** Over a product of spaces: u is part `trial`, v is part `test`. Over other spaces both are 0, and the term acts on
   *  every component; a Robin term acts on the components that have no given values on its boundary. */
  int trial, test;
  double factor; /**< positive; 0 means 1 */
  /** Diffusion: a > 0, or a matrix (function.h); strain: a > 0; mass: c >= 0; Robin: alpha >= 0; grad-div: lambda */
  TesCoefficient a;
  int boundary;             /**< Robin: its number */
  const TesFunction *b[3];  /**< transport: the velocity; NULL: 0 */
  TesStreamline streamline; /**< transport */
  /** Transport: - int u b . grad v in the place of int (b . grad u) v, and div (b u) in the residual. */
  bool conservative;
  /** Transport: [boundaries], 1 or -1: the term + or - int (b . n) u v over this boundary is added; NULL: nothing.
   *  Copied. */
  const signed char *through;
  double rate; /**< tau^-2 = rate^2 + (2 k |b| / h)^2 + (12 k^2 a / h^2)^2; 2 / dt in time */
} TesTermDesc;

/** Discontinuous functions: the penalty of jumps, where h is the width of the cells across a face. */
typedef enum TesPenalty {
  TES_PENALTY_AUTO, /**< standard, but 8 / h at boundaries for k = 1, so that iteration counts do not grow with the
                     *   mesh */
  /** k (k + 1) / h inside, the mean of both sides; 2 k (k + 1) / h where tangential values are given */
  TES_PENALTY_STANDARD,
  TES_PENALTY_PAPER /**< (k + 1)(k + 2) / h inside, and twice as much where tangential values are given
                     *   (stokes-multigrid-cui-2025) */
} TesPenalty;

/** At most one diffusion term and one mass term between two parts, and one Robin term per boundary. No term at all
 * means diffusion with a = 1. */
typedef struct TesForm {
  int terms;
  const TesTermDesc *term;
  TesPenalty penalty;
} TesForm;

/** Mapped operators: how the kernels get the factors of geometry and coefficient. */
typedef enum TesFactors {
  /** Affine if cells and coefficients allow it, else the fastest of the other choices, by timing. The CPU times them in
   *  turn, with all of them in memory until the choice is made. It takes the choice with the least storage, unless
   *  another one takes less than 97 % of its time. */
  TES_FACTORS_AUTO,
  TES_FACTORS_STORED,   /**< stored, per point: 6 numbers (3 in 2D) for stiffness, 1 for mass */
  TES_FACTORS_VERTICES, /**< recomputed from 8 (4) vertices: trilinear cells, constant scalar a, constant c */
  TES_FACTORS_AFFINE,   /**< one matrix and |J| per cell: affine cells, constant coefficients */
  TES_FACTORS_MATRIX, /**< CPU, degree 1 and 2: the symmetric matrix of each cell, which is smaller than its factors */
  /** stiffness with any scalar a: w a / |J| per point, Jacobians recomputed from cells of degree 1 or 2 (3D: 21 or 78
   *  numbers per cell; a cell of degree 2 that is multilinear up to rounding counts as degree 1) */
  TES_FACTORS_WEIGHTS,
  /** kernels, 3D, float32, stiffness: the stored factors in float16, scaled by a power of two per cell. Each term of
   *  the operator has an error of 2^-11 of |A| |x|, so it is for preconditioners only. If cells are too sheared for
   *  float16, this choice is an error, and auto (with `rough`) does not take it. */
  TES_FACTORS_HALVES
} TesFactors;

/** Mapped operators: how cells that share nodes add to them. auto: the fastest way on the device. */
typedef enum TesConflicts { TES_CONFLICTS_AUTO, TES_CONFLICTS_ATOMIC, TES_CONFLICTS_COLOURS } TesConflicts;

typedef struct TesOperatorDesc {
  const TesSpace *space; /**< a reference is kept */
  TesForm form;
  TesPrecision precision;
  int points;         /**< mapped: Gauss points per direction, degree + 1 .. degree + 3; 0 means degree + 1 */
  TesFactors factors; /**< mapped */
  TesConflicts conflicts; /**< mapped */
  bool rough;             /**< mapped: the operator is for a preconditioner, so that auto may take halves */
  /** For measurements: the kernel runs on the same cells without interpolation at hanging nodes. The result is not the
   * operator of the space. */
  bool ignore_hanging;
  const char *kind; /**< NULL: the first kind that takes the form on the space */
} TesOperatorDesc;

/** Cost of one application, counted from the algorithm, for roofline models. */
typedef struct TesCost {
  double flops; /**< additions and multiplications */
  double bytes; /**< least traffic with main memory: each input and output vector once, coefficients once */
} TesCost;

/** Errors: TES_INVALID_INPUT (a not positive, c or alpha negative: the message gives the point; a form or space that no
 *  kind takes: it gives the reason of each kind), TES_NAN, TES_OUT_OF_MEMORY, TES_MISSING. */
TesStatus tes_operator_create(TesContext *context, const TesOperatorDesc *desc, TesOperator **op);
void tes_operator_destroy(TesOperator **op);

/** Description of an operator; pointers belong to the operator. */
typedef struct TesOperatorInfo {
  const TesSpace *space;
  int64_t length; /**< of its vectors */
  TesPrecision precision;
  const char *kind;        /**< its name */
  const char *description; /**< one line: kind, kernel, specialised degree or fallback */
  TesFactors factors;      /**< the chosen factors of a mapped operator; auto for other kinds */
  TesCost cost;
  /** Component by component: whether constants are in the null space (pure Neumann, no mass). A is then singular, and b
   *  must have mean zero in this component. */
  bool singular;
} TesOperatorInfo;
TesOperatorInfo tes_operator_info(const TesOperator *op);

/** y <- A x. x and y differ and have the operator's precision. */
TesStatus tes_operator_apply(const TesOperator *op, const TesVector *x, TesVector *y);
/** r <- b - A x, in one pass. r may be b. */
TesStatus tes_operator_residual(const TesOperator *op, const TesVector *b, const TesVector *x, TesVector *r);
/** d <- diagonal of A; 1 at Dirichlet nodes, so that it can be divided by. Exact, hanging nodes included. */
TesStatus tes_operator_diagonal(const TesOperator *op, TesVector *d);
/** b <- b - A u for a u that is zero except at Dirichlet nodes; entries of b there become 0. For float64 operators that
 *  are not assembled, and float64 vectors. Over a box an operator on all nodes is applied; else only the cells that
 *  touch a Dirichlet node are visited. */
TesStatus tes_operator_lift(const TesOperator *op, const TesVector *u, TesVector *b);

#ifdef __cplusplus
}
#endif
#endif
