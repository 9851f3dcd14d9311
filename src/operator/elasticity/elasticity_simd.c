/* The kernels of this SIMD width. */
#include "operator/elasticity/elasticity.h"
#include "tensor/simd.h"

TesiMappedKernels TESI_SIMD(tesi_elasticity_kernels_double)(const TesiMappedHost *plan);
TesiMappedKernels TESI_SIMD(tesi_elasticity_kernels_float)(const TesiMappedHost *plan);

TesiMappedKernels TESI_SIMD(tesi_elasticity_kernels)(const TesiMappedHost *plan, TesPrecision precision) {
  return precision == TES_DOUBLE ? TESI_SIMD(tesi_elasticity_kernels_double)(plan)
                                 : TESI_SIMD(tesi_elasticity_kernels_float)(plan);
}
