/* The loops of expressions: one per operation, over a block of points.
 *
 * Cost: 2 or 3 streams of the first-level cache per operation. gcc calls the vector variants of glibc's functions
 * (libmvec, error at most 4 units in the last place) if they exist; else there is one scalar call per number. The
 * number of points is a multiple of 8, so that a value never depends on its place in the block. */
#include <math.h>
#include "io/expression/expression.h"
#include "tensor/simd.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define VECTOR1(f) double f(double) __attribute__((simd("notinbranch")));
#define VECTOR2(f) double f(double, double) __attribute__((simd("notinbranch")));
// clang-format off
VECTOR1(sin) VECTOR1(cos) VECTOR1(tan) VECTOR1(asin) VECTOR1(acos) VECTOR1(atan) VECTOR2(atan2)
VECTOR1(sinh) VECTOR1(cosh) VECTOR1(tanh) VECTOR1(asinh) VECTOR1(acosh) VECTOR1(atanh)
VECTOR1(exp) VECTOR1(exp2) VECTOR1(expm1) VECTOR1(log) VECTOR1(log2) VECTOR1(log10) VECTOR1(log1p)
VECTOR1(cbrt) VECTOR2(pow) VECTOR2(hypot) VECTOR1(erf) VECTOR1(erfc)
// clang-format on
#endif
#endif

#define lgamma tesi_lgamma

// clang-format off
#define OP(constant, operands, name, value)                                                                  \
  static void run_##constant(int n, const double *pa, const double *pb, const double *pc, double *out) {     \
    const int m = n & ~7;                                                                                    \
    _Pragma("omp simd") for (int i = 0; i < m; i++) {                                                        \
      const double a = pa[i], b = pb[i], c = pc[i];                                                          \
      (void)a, (void)b, (void)c;                                                                             \
      out[i] = value;                                                                                        \
    }                                                                                                        \
  }
TESI_OP_LIST(OP)
#undef OP

const TesiKernel TESI_SIMD(tesi_expression_kernels)[TESI_OPS] = {
#define OP(constant, operands, name, value) [TESI_OP_##constant] = run_##constant,
    TESI_OP_LIST(OP)
#undef OP
};
// clang-format on
