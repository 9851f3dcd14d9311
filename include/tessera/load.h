/** \file load.h
 *  Right-hand sides and boundary values.
 *
 *      b_i = int f phi_i + sum over natural faces F of int_F g_F phi_i
 *
 *  with degree + 3 Gauss points a direction: exact for polynomial data up to degree degree + 5, and to round-off for smooth data where
 *  the solution is resolved. Entries at Dirichlet nodes are zero. Cost: (degree+3)^dim evaluations of f a cell. */
#ifndef TESSERA_LOAD_H
#define TESSERA_LOAD_H

#include "function.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/** b <- load of f (NULL: 0) and of g[face] (NULL: 0; only natural faces may have one). b is float64. Errors: TES_NAN with the
 *  point where a function is not finite. */
TesStatus tes_load_assemble(const TesSpace *space, const TesFunction *f, const TesFunction *const g[6],
                            TesVector *b);

/** u <- values of g[face] at the nodes of Dirichlet faces (NULL: 0), zero elsewhere. Where faces meet the later face in
 *  the order of TesFace wins. u is float64. */
TesStatus tes_load_lifting(const TesSpace *space, const TesFunction *const g[6], TesVector *u);

#ifdef __cplusplus
}
#endif
#endif
