/* A velocity that is the same everywhere, over discontinuous elements on devices with kernels: modes are orthonormal on
 * boxes, so that its term and the upwind traces are sums of 1D matrices as diffusion is, and one launch (dg.cu) does the
 * whole operator. */
#ifndef TESI_UPWIND_CONSTANT_H
#define TESI_UPWIND_CONSTANT_H

#include "operator/transport/transport_operator.h"

/* transport->constant of the operator's term: made, given other numbers, or taken away where the velocity varies. */
TesStatus tesi_upwind_constant_fill(const TesOperator *op, TesiTransport *transport);

#endif
