/** \file norms.h
 *  Integrals of finite element functions, with degree + 3 Gauss points a direction. Float64 vectors over all nodes of the
 *  space, boundary values included. */
#ifndef TESSERA_NORMS_H
#define TESSERA_NORMS_H

#include "function.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/** l2 <- |u - exact|, h1 <- |grad (u - exact)|, both in L2(box); exact NULL: the norms of u. The gradient of
 *  `exact` is by symbolic differentiation where it is an expression; for callbacks that of its polynomial interpolant on
 *  degree + 6 Gauss points a direction of each cell, whose error is two orders above that of u_h. */
TesStatus tes_norms_error(const TesSpace *space, const TesVector *u, const TesFunction *exact, double *l2,
                          double *h1);
/** integral <- int u over the box. */
TesStatus tes_norms_integral(const TesSpace *space, const TesVector *u, double *integral);
/** value <- u at the point (x, y, z), which lies in the closed box. */
TesStatus tes_norms_value(const TesSpace *space, const TesVector *u, const double point[3], double *value);

#ifdef __cplusplus
}
#endif
#endif
