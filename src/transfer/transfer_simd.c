/* Transfers between tensor-product spaces: see transfer_body.h. */
#include "basis/quadrature.h"
#include "tensor/simd.h"
#include "transfer/transfer_host.h"

#define REAL double
#define NAME(name) name##_double
#include "transfer/transfer_body.h"
#undef REAL
#undef NAME
#define REAL float
#define NAME(name) name##_float
#include "transfer/transfer_body.h"

const TesiTransferKernels TESI_SIMD(tesi_transfer_kernels)[2] = {{prolongate_double, restrict__double},
                                                                 {prolongate_float, restrict__float}};
