/* The Stokes operator over Raviart-Thomas spaces, K = [A, -B'; -B, 0]:
 *
 *   (A u)_i = nu (sum over directions a of A_a) u_i + alpha Mc u_i,   B u = sum over i of D u_i,
 *
 * For a = i, A_a is Lc in direction i; for other a it is the product of Ld in direction a and Mc in direction i.
 * Mc and D of component i act in direction i. There are four banded matrices per direction (tensor/band.h):
 *
 *   Lc, Mc: stiffness and mass of the nodes;
 *   D: (mode, derivative of a node);
 *   Ld: symmetric interior penalty among the modes,
 *       (l_i', l_j') over cells + sum over faces (penalty J_i J_j - A_i J_j - J_i A_j),
 *       with J = v- - v+ and A = (v'- + v'+) / 2.
 *
 * At an end with given tangential values J = +-v and A = v'; at other ends the face has no term. The modes are
 * orthonormal, so that their mass matrix is 1. Rows of known nodes are zero. stokes-multigrid-cui-2025, eq. 3. */
#ifndef TESI_STOKES_OPERATOR_H
#define TESI_STOKES_OPERATOR_H

#include "functional/rt/rt_functional.h"
#include "operator/operator.h"
#include "space/space.h"
#include "tensor/band.h"

typedef struct TesiStokesAxis {
  TesiAxis nodal, modal;           /* the space's arrays */
  TesiBand stiffness, mass;        /* Lc, Mc: [nodes][nodes] */
  TesiBand penalty;                /* Ld: [modes][modes] */
  TesiBand derivative, transposed; /* D: [modes][nodes], D' */
  double boundary[2];              /* penalty at the ends */
} TesiStokesAxis;

typedef struct TesiStokesDevice TesiStokesDevice;
typedef struct TesiStokes {
  const TesSpace *space;
  double nu, alpha;
  TesiStokesAxis axis[3];
  void *work;               /* one part, of the operator's precision */
  TesiStokesDevice *device; /* tables of kernels, instead of work; NULL on the host */
} TesiStokes;

static inline const TesiStokes *tesi_stokes_of(const TesOperator *op) {
  return op->data;
}
/* For operators of kinds with a TesiStokes. Sets op->null of a float64 operator to the constant pressure. */
TesStatus tesi_stokes_create_null(TesOperator *op);
/* Sets s->space, nu and alpha from the form, and checks them. Messages use the names `diffusion` and `mass`. */
TesStatus tesi_stokes_take_constants(const TesOperator *op, const char *diffusion, const char *mass,
                                     TesiStokes *s);
TesStatus tesi_stokes_check_determined(const TesOperator *op);
/* The penalty at a face between cells of these widths, for k. */
double tesi_penalty_factor(TesPenalty penalty, int k, double below, double above);
/* The matrices of a direction. fill: of s->modal, and of s->nodal where its step is not 0. */
TesStatus tesi_stokes_axis_fill(TesContext *ctx, TesPenalty penalty, TesiStokesAxis *axis);
TesStatus tesi_stokes_axis_create(const TesSpace *space, int d, TesPenalty penalty, TesiStokesAxis *axis);
void tesi_stokes_axis_free(TesContext *ctx, TesiStokesAxis *axis);
/* y <- y + factor M x with the mass matrix M of velocities; rows of known nodes and pressures get nothing. Float64. */
TesStatus tesi_stokes_add_mass(const TesOperator *op, double factor, const TesVector *x, TesVector *y);
/* The pressures of r <- B u, *stretching <- the sum over i of |d u_i / d x_i|^2 in L2. Float64. */
TesStatus tesi_stokes_divergence(const TesOperator *op, const TesVector *u, TesVector *r, double *stretching);
/* By quadrature cell by cell and face by face (stokes_ref.c). */
TesStatus tesi_stokes_apply_ref(const TesOperator *op, const double *x, double *y);

#endif
