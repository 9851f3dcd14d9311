/* The kernels of this SIMD width. */
#include "operator/quadrature/quadrature.h"
#include "tensor/simd.h"

TesiQuadKernels TESI_SIMD(tesi_quad_kernels_double)(int dim, int degree);
TesiQuadKernels TESI_SIMD(tesi_quad_kernels_float)(int dim, int degree);

TesiQuadKernels TESI_SIMD(tesi_quad_kernels)(int dim, int degree, TesPrecision precision) {
  return precision == TES_DOUBLE ? TESI_SIMD(tesi_quad_kernels_double)(dim, degree)
                                 : TESI_SIMD(tesi_quad_kernels_float)(dim, degree);
}
