/* Conjugate gradients with the diagonal in float32, inside an iteration in float64: half the bytes. For systems of a
 * few iterations, on devices with kernels. */
#ifndef TESI_REFINED_CG_H
#define TESI_REFINED_CG_H

#include "operator/diagonal_cg.h"

/* State for one operator; begins as {0}. */
typedef struct TesiRefined {
  TesOperator *op; /* float32; NULL: there is none, as on the host */
  TesVector *inverse, *r, *d, *p, *q;
  TesiJacobiDevice *device;
} TesiRefined;

/* Vectors of this layout. Nothing where tesi_jacobi_device_create() makes nothing. */
TesStatus tesi_refined_create(const TesiLayout *layout, TesiRefined *refined);
void tesi_refined_destroy(TesiRefined *refined);
/* The operator in float32, its unknowns and terms, and the inverse of its diagonal in float64. */
TesStatus tesi_refined_use(TesiRefined *refined, const TesOperator *op, const TesVector *inverse);

/* r <- the residual of x, and its norm. */
typedef TesStatus (*TesiRefinedResidual)(void *user, const TesVector *x, TesVector *r, double *norm);
/* x <- x + about A^-1 r until |r| <= target; r is the residual of x, and norm is |r|. A pass in float32 reduces the
 * residual by at most four digits. Its own residual is trusted during the pass, and the true residual is recomputed
 * after it. r is overwritten. If the residual no longer falls and has the size of rounding (floor.h), the call
 * succeeds. Errors: as tesi_jacobi_cg(). */
TesStatus tesi_refined_solve(const TesiRefined *refined, TesiRefinedResidual residual, void *user,
                             double norm, double target, int most, TesVector *r, TesVector *x);

#endif
