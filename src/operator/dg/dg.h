/* Diffusion and mass over discontinuous Q_k by symmetric interior penalties (SIPG):
 *   a(u, v) = sum over cells int nu grad u . grad v + alpha u v
 *           + sum over faces nu int gamma J(u) J(v) - A(u) J(v) - J(u) A(v),
 * J = v- - v+, A = the mean of dv/dx_d on both sides. At faces with given values J = +-v, A = dv/dx_d; other boundary
 * faces have no term. With Legendre modes, orthonormal on their cells, the matrix is nu (sum over directions of Ld) +
 * alpha. Ld and gamma are defined in operator/stokes/stokes_operator.h. Its struct is used here too, without the
 * other matrices. stokes-multigrid-cui-2025, section 4. */
#ifndef TESI_DG_H
#define TESI_DG_H

#include "functional/rt/rt_functional.h"
#include "operator/stokes/stokes_operator.h"

typedef struct TesiDgDevice TesiDgDevice;
typedef struct TesiDg {
  TesiStokes stokes;    /* must be first: tesi_stokes_of() returns it */
  TesiDgDevice *device; /* NULL on the host */
} TesiDg;

static inline const TesiDg *tesi_dg_of(const TesOperator *op) {
  return op->data;
}
static inline bool tesi_is_dg(const TesOperator *op) {
  return op->kind == &tesi_operator_dg;
}
/* By quadrature, basis function by basis function (dg_ref.c). */
TesStatus tesi_dg_apply_ref(const TesOperator *op, const double *x, double *y);

#endif
