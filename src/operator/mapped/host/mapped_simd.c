/* The kernels of this SIMD width. */
#include "operator/mapped/host/mapped_host.h"
#include "tensor/simd.h"

TesiMappedKernels TESI_SIMD(tesi_mapped_kernels_double)(const TesiMappedHost *plan);
TesiMappedKernels TESI_SIMD(tesi_mapped_kernels_float)(const TesiMappedHost *plan);

TesiMappedKernels TESI_SIMD(tesi_mapped_kernels)(const TesiMappedHost *plan, TesPrecision precision) {
  return precision == TES_DOUBLE ? TESI_SIMD(tesi_mapped_kernels_double)(plan)
                                 : TESI_SIMD(tesi_mapped_kernels_float)(plan);
}
