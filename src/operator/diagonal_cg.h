/* Conjugate gradients with the diagonal, for systems that need a few iterations: mass matrices, possibly with a little
 * diffusion. */
#ifndef TESI_DIAGONAL_CG_H
#define TESI_DIAGONAL_CG_H

#include "operator/operator.h"

/* Scalars stay on the device, which ends the iteration too: one recorded loop, and one answer. Where it cannot
 * (tesi_recorded_can_loop()) an iteration is recorded, and a number comes back for each. */
typedef struct TesiJacobiDevice TesiJacobiDevice;

typedef struct TesiJacobi {
  const TesOperator *op;
  const TesVector *inverse; /* of the diagonal */
  TesVector *z, *q, *p;     /* scratch; z is not used with `device` */
  TesiJacobiDevice *device; /* NULL: vector by vector, on any device */
  /* y += what the matrix has beside op, times x; NULL: nothing. Without `device` alone. */
  TesStatus (*add)(void *user, const TesVector *x, TesVector *y);
  void *user;
} TesiJacobi;

/* d <- about A^-1 r until |r| <= target; r becomes the residual. norm: |r|. All of the operator's precision, which is
 * float64 without `device`. Errors: TES_NOT_CONVERGED after `most`
 * iterations, TES_NAN. */
TesStatus tesi_jacobi_cg(const TesiJacobi *jacobi, double norm, double target, int most, TesVector *r,
                         TesVector *d);

/* The same to a share of |r|, with `device` alone and no number for the host, so that it can stand in a recording; it
 * ends after `most` iterations whatever is left. */
TesStatus tesi_jacobi_queue(const TesiJacobi *jacobi, double share, int most, TesVector *r, TesVector *d);

/* For vectors of this layout on a device with kernels, on several ranks where these share memory (device/links.h); on
 * others *device stays NULL. */
TesStatus tesi_jacobi_device_create(const TesiLayout *layout, TesPrecision precision,
                                    TesiJacobiDevice **device);
void tesi_jacobi_device_destroy(TesContext *ctx, TesiJacobiDevice **device);
/* The operator is another one now, or another one has its address. NULL is fine. */
void tesi_jacobi_device_forget(TesContext *ctx, TesiJacobiDevice *device);

#endif
