/* One text, two precisions: a *_simd.c file defines TESI_REAL_SINGLE or not and includes this header once.
 *   Real, V, VAnywhere   number, vector, vector at any address
 *   LANES                numbers per vector
 *   REAL_NAME(name)      name_double_512, name_float_256, ... */
#ifndef TESI_SIMD_REAL_H
#define TESI_SIMD_REAL_H

#include "tensor/simd.h"

#ifdef TESI_REAL_SINGLE
typedef float Real;
typedef TesiFloats V;
typedef TesiFloatsAnywhere VAnywhere;
enum { LANES = TESI_FLOATS };
#define REAL_NAME(name) TESI_SIMD(TESI_PASTE(name, float))
#else
typedef double Real;
typedef TesiDoubles V;
typedef TesiDoublesAnywhere VAnywhere;
enum { LANES = TESI_DOUBLES };
#define REAL_NAME(name) TESI_SIMD(TESI_PASTE(name, double))
#endif

TESI_INLINE V load(const Real *address) {
  return *(const VAnywhere *)address;
}

TESI_INLINE void store(Real *address, V v) {
  *(VAnywhere *)address = v;
}

TESI_INLINE void transpose(V v[LANES]) {
#ifdef TESI_REAL_SINGLE
  tesi_transpose_floats(v);
#else
  tesi_transpose_doubles(v);
#endif
}

#endif
