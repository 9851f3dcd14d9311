/* Conjugate gradients preconditioned by the diagonal, for systems that need few iterations: mass matrices, possibly
 * with a little diffusion. */
#ifndef TESI_DIAGONAL_CG_H
#define TESI_DIAGONAL_CG_H

#include "operator/operator.h"

/* Device form: scalars stay on the device, which also decides when the iteration ends. One recorded loop runs, and
 * one answer returns to the host. On devices without such loops (tesi_recorded_can_loop()) one iteration is recorded,
 * and each iteration returns a number. */
typedef struct TesiJacobiDevice TesiJacobiDevice;

typedef struct TesiJacobi {
  const TesOperator *op;
  const TesVector *inverse; /* of the diagonal */
  TesVector *z, *q, *p;     /* scratch; z is not used with `device` */
  TesiJacobiDevice *device; /* NULL: vector by vector, on any device */
  /* y += the matrix beside op times x; NULL: nothing. Only without `device`. */
  TesStatus (*add)(void *user, const TesVector *x, TesVector *y);
  void *user;
} TesiJacobi;

/* Solves A d = r approximately until |r| <= target; r becomes the residual. norm: |r|. All vectors have the
 * operator's precision, which is float64 without `device`. Errors: TES_NOT_CONVERGED after `most` iterations,
 * TES_NAN. */
TesStatus tesi_jacobi_cg(const TesiJacobi *jacobi, double norm, double target, int most, TesVector *r,
                         TesVector *d);

/* The same until |r| has fallen to a share of its first value, only with `device`. No number returns to the host, so
 * that a recording can contain it. It ends after `most` iterations in any case. */
TesStatus tesi_jacobi_queue(const TesiJacobi *jacobi, double share, int most, TesVector *r, TesVector *d);

/* For vectors of this layout on a device with kernels; on several ranks only where ranks share memory
 * (device/links.h). Elsewhere *device stays NULL. */
TesStatus tesi_jacobi_device_create(const TesiLayout *layout, TesPrecision precision,
                                    TesiJacobiDevice **device);
void tesi_jacobi_device_destroy(TesContext *ctx, TesiJacobiDevice **device);
/* To be called when the operator or its address has changed. NULL is allowed. */
void tesi_jacobi_device_forget(TesContext *ctx, TesiJacobiDevice *device);

#endif
