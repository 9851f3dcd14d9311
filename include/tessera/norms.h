/** \file norms.h
 *  Integrals of finite element functions. Float64 vectors over all nodes of the
 *  space, boundary values included. */
#ifndef TESSERA_NORMS_H
#define TESSERA_NORMS_H

#include "function.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/** l2 <- |u - exact|, h1 <- |grad (u - exact)|, both in L2(box); exact NULL: the norms of u.
 *
 *  Where `exact` is an expression its gradient is by symbolic differentiation, and the rule has degree + 3 points. A callback
 *  cannot be differentiated: then the rule has degree + 6 points, and the gradient is that of the polynomial through the values
 *  of u - exact at these, exact for u and of error O(h^(degree+5)) for `exact`, five orders above that of u.
 *  The same bits for every number of threads. Cost: (points a cell) evaluations of `exact`, and of its gradient. */
TesStatus tes_norms_error(const TesSpace *space, const TesVector *u, const TesFunction *exact, double *l2,
                          double *h1);
/** integral <- int u over the box, exact; the mean is that over the volume of the box. */
TesStatus tes_norms_integral(const TesSpace *space, const TesVector *u, double *integral);
/** value <- u at the point (x, y, z), which lies in the closed box. */
TesStatus tes_norms_value(const TesSpace *space, const TesVector *u, const double point[3], double *value);

#ifdef __cplusplus
}
#endif
#endif
