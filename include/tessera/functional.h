/** \file functional.h
 *  Integrals over a mesh of any kind: right-hand sides, boundary values, errors and values of finite element functions.
 *
 *  Vectors are float64 where they are written, over all nodes of the space, boundary values included. The order of sums
 *  does not depend on the number of threads. A device with kernels computes integrals of expressions and constants;
 *  callbacks are evaluated on the host. On meshes other than boxes the device sums over cells in no fixed order, so
 *  that the last bits vary.
 *
 *  Spaces have any number of components. Spaces of element rt are refused: TesProblem computes the integrals of flows.
 *
 *  Boundaries and materials are counted by the mesh's numbers. An array over them, or an element of it, may be NULL:
 *  then nothing is given. */
#ifndef TESSERA_FUNCTIONAL_H
#define TESSERA_FUNCTIONAL_H

#include "function.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/** b_i = int f phi_i + sum over boundaries int_F g phi_i, with degree + 3 Gauss points per direction. On affine cells
 *  this is exact for polynomial data up to degree degree + 5, and exact to round-off for smooth data if the mesh
 *  resolves the solution. Entries at Dirichlet nodes are zero. */
typedef struct TesLoadDesc {
  const TesSpace *space;
  /* By component. */
  const TesFunction *f[TES_COMPONENTS];                 /**< NULL: 0 */
  const TesFunction *const *material_f[TES_COMPONENTS]; /**< [materials]; NULL inside: f */
  const TesFunction *const *g[TES_COMPONENTS]; /**< [boundaries]; only boundaries without given values may have a
                                                *   function */
} TesLoadDesc;
/** Errors: TES_NAN with the point where a function is not finite; TES_INVALID_INPUT. Cost: (degree+3)^dim
 * evaluations of f per cell. */
TesStatus tes_functional_load(const TesLoadDesc *desc, TesVector *b);

/** u <- values of g[component][boundary] at the nodes of Dirichlet boundaries, zero at all others. Where two boundaries
 *  with a function meet, the function of the boundary with the larger number is used. */
TesStatus tes_functional_lifting(const TesSpace *space, const TesFunction *const *const *g, TesVector *u);

/** l2 <- |u - exact|, h1 <- |grad (u - exact)|, both in L2 of the domain, of all components together;
 *  exact[components], NULL: the norms of u. cell_l2, cell_h1 [cells] <- the squares cell by cell. Any of the four may
 *  be NULL; without h1 and cell_h1 no gradient is computed. Host arrays.
 *
 *  If `exact` is an expression, its gradient is found by symbolic differentiation, and the quadrature rule has degree +
 *  3 points. A callback cannot be differentiated: the rule then has degree + 6 points, and the gradient is taken of the
 *  polynomial through the values of u - exact at these points. On affine cells this gradient is exact for u, and its
 *  error for `exact` is O(h^(degree+5)), five orders above the error of u.
 *  Cost: (points per cell) evaluations of `exact`, and of its gradient. */
TesStatus tes_functional_error(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                               double *l2, double *h1, double *cell_l2, double *cell_h1);

typedef enum TesValueKind {
  TES_VALUE_INTEGRAL,
  TES_VALUE_MEAN, /**< the integral over volume or area */
  TES_VALUE_POINT,
  TES_VALUE_FORCE, /**< on a boundary; flows and elasticity */
  TES_VALUE_ERROR, /**< a norm of the error, for problems with an exact solution */
  /** the largest value over the nodes and the Gauss points, degree + 1 of each per direction; elements dg and rt:
   *  degree + 2 */
  TES_VALUE_MAXIMUM,
  TES_VALUE_MINIMUM
} TesValueKind;
typedef enum TesWhere { TES_ON_DOMAIN, TES_ON_BOUNDARY, TES_ON_MATERIAL } TesWhere;
/** A number computed from a function u. */
typedef struct TesValue {
  TesValueKind kind;
  TesWhere where;
  int number;      /**< number of the boundary or material, in the mesh's order */
  double point[3]; /**< in the closed domain */
  /** An expression in u, ux, uy, uz (in problems: TesProblemInfo.field; second and third component: v, vx .., w, wx
   *  ..), x, y, z, r and, on a boundary, nx, ny, nz; NULL: u.
   *  Error: "l2" (or NULL) or "h1". Force: "x", "y" or "z". */
  const char *of;
} TesValue;
/** value <- the number for u. If u is NULL, it is the number for the function 1, so that integrals are volumes or
 *  areas. Integrals use degree + 3 Gauss points per direction. On affine cells they are exact for polynomials up to
 *  degree 2 degree + 5 in each direction, hence for u and, from degree 1 on, for u^2. At a point on a face an
 *  expression with
 *  derivatives is the mean over the cells that have the point. Expressions are evaluated on the host, from one copy
 *  of u. Errors: TES_INVALID_INPUT (a number that no boundary or material has, a point outside, a wrong expression,
 *  kinds force and error, which need a problem), TES_NAN. */
TesStatus tes_functional_value(const TesSpace *space, const TesVector *u, const TesValue *what, double *value);

#ifdef __cplusplus
}
#endif
#endif
