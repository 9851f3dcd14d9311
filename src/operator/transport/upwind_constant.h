/* A constant velocity over discontinuous elements on devices with kernels. On boxes modes are orthonormal. The
 * velocity's term and the upwind traces are then sums of 1D matrices, as diffusion is, and one launch (dg.cu) does
 * the whole operator. */
#ifndef TESI_UPWIND_CONSTANT_H
#define TESI_UPWIND_CONSTANT_H

#include "operator/transport/transport_operator.h"

/* transport->constant of the operator's term: creates it, changes its numbers, or removes it where the velocity
 * varies. */
TesStatus tesi_upwind_constant_fill(const TesOperator *op, TesiTransport *transport);

#endif
