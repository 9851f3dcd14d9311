/** \file functional.h
 *  Integrals over a mesh of any kind: right-hand sides, boundary values, errors and values of finite element functions.
 *
 *  Vectors are float64 where they are written, over all nodes of the space, boundary values included. Sums have one
 *  order for every number of threads. On devices with kernels the integrals run there where the functions are
 *  expressions or constants; callbacks are evaluated on the host. There sums over cells that are no box come as the
 *  device adds them, which moves the last bits.
 *
 *  Spaces have any number of components; those of element rt are refused: TesProblem knows the integrals of flows.
 *
 *  Boundaries and materials go by the mesh's numbers. Arrays over them may be NULL, and NULL inside: nothing given. */
#ifndef TESSERA_FUNCTIONAL_H
#define TESSERA_FUNCTIONAL_H

#include "function.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/** b_i = int f phi_i + sum over boundaries int_F g phi_i, with degree + 3 Gauss points a direction: on affine cells
 *  exact for polynomial data up to degree degree + 5, and to round-off for smooth data where the solution is
 *  resolved. Entries at Dirichlet nodes are zero. */
typedef struct TesLoadDesc {
  const TesSpace *space;
  /* By component. */
  const TesFunction *f[TES_COMPONENTS];                 /**< NULL: 0 */
  const TesFunction *const *material_f[TES_COMPONENTS]; /**< [materials]; NULL inside: f */
  const TesFunction *const *g[TES_COMPONENTS]; /**< [boundaries]; only those without given values may have one */
} TesLoadDesc;
/** Errors: TES_NAN with the point where a function is not finite; TES_INVALID_INPUT. Cost: (degree+3)^dim
 * evaluations of f a cell. */
TesStatus tes_functional_load(const TesLoadDesc *desc, TesVector *b);

/** u <- values of g[component][boundary] at the nodes of Dirichlet boundaries, zero at all others. Where boundaries
 *  with a function meet, the one of larger number holds. */
TesStatus tes_functional_lifting(const TesSpace *space, const TesFunction *const *const *g, TesVector *u);

/** l2 <- |u - exact|, h1 <- |grad (u - exact)|, both in L2 of the domain, of all components together;
 *  exact[components], NULL: the norms of u. cell_l2, cell_h1 [cells] <- the squares cell by cell. Any of the four may
 *  be NULL; without h1 and cell_h1 no gradient is computed. Host arrays.
 *
 *  Where `exact` is an expression its gradient is by symbolic differentiation, and the rule has degree + 3 points.
 *  A callback cannot be differentiated: then the rule has degree + 6 points, and the gradient is that of the
 *  polynomial through the values of u - exact at these, on affine cells exact for u and of error O(h^(degree+5))
 *  for `exact`, five orders above that of u.
 *  Cost: (points a cell) evaluations of `exact`, and of its gradient. */
TesStatus tes_functional_error(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                               double *l2, double *h1, double *cell_l2, double *cell_h1);

typedef enum TesValueKind {
  TES_VALUE_INTEGRAL,
  TES_VALUE_MEAN, /**< the integral over volume or area */
  TES_VALUE_POINT,
  TES_VALUE_FORCE,   /**< on a boundary; flows and elasticity */
  TES_VALUE_ERROR,   /**< a norm of the error, of problems with an exact solution */
  TES_VALUE_MAXIMUM, /**< the largest over nodes and Gauss points, degree + 1 of each per direction */
  TES_VALUE_MINIMUM
} TesValueKind;
typedef enum TesWhere { TES_ON_DOMAIN, TES_ON_BOUNDARY, TES_ON_MATERIAL } TesWhere;
/** A number that is told of a function u. */
typedef struct TesValue {
  TesValueKind kind;
  TesWhere where;
  int number;      /**< of the boundary or material, in the mesh's order */
  double point[3]; /**< in the closed domain */
  /** An expression in u, ux, uy, uz (in problems: TesProblemInfo.field; of the second and third component: v, vx ..,
   *  w, wx ..), x, y, z, r and, on a boundary, nx, ny, nz; NULL: u.
   *  Error: "l2" (or NULL) or "h1". Force: "x", "y" or "z". */
  const char *of;
} TesValue;
/** value <- that of u; u NULL: of the function 1, so that integrals are volume or area. Integrals with degree + 3
 *  points a direction, exact on affine cells for polynomials to degree 2 degree + 5 in each direction, so for u,
 *  and u^2 where degree is 1 and more; else up to that quadrature. At a point on a face an expression with
 *  derivatives is the mean over the cells that have the point. Expressions are evaluated on the host, from one copy
 *  of u. Errors: TES_INVALID_INPUT (a number that no boundary or material has, a point outside, an expression that
 *  is none, force or error: they need a problem), TES_NAN. */
TesStatus tes_functional_value(const TesSpace *space, const TesVector *u, const TesValue *what, double *value);

#ifdef __cplusplus
}
#endif
#endif
