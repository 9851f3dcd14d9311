/* Vectors for the nested sweep on top of tensor/simd_real.h: unzip gathers every p-th number of p vectors into a
 * vector, zip does the reverse, and vertices are split by parity.
 * Index lists are compile-time constants, so the compiler
 * chooses the shuffles. */
#ifndef TESI_PATCH_VECTOR_H
#define TESI_PATCH_VECTOR_H

#include "tensor/simd_real.h"

#ifdef TESI_REAL_SINGLE
#define PATCH_LANES (TESI_SIMD_BITS / 32)
typedef int32_t Index;
#else
#define PATCH_LANES (TESI_SIMD_BITS / 64)
typedef int64_t Index;
#endif
typedef Index Mask __attribute__((vector_size(TESI_SIMD_BYTES), may_alias));

#define LIST_1(F, ...) F(0, __VA_ARGS__)
#define LIST_2(F, ...) LIST_1(F, __VA_ARGS__), F(1, __VA_ARGS__)
#define LIST_4(F, ...) LIST_2(F, __VA_ARGS__), F(2, __VA_ARGS__), F(3, __VA_ARGS__)
#define LIST_8(F, ...)                                                                                       \
  LIST_4(F, __VA_ARGS__), F(4, __VA_ARGS__), F(5, __VA_ARGS__), F(6, __VA_ARGS__), F(7, __VA_ARGS__)
#define LIST_16(F, ...)                                                                                      \
  LIST_8(F, __VA_ARGS__), F(8, __VA_ARGS__), F(9, __VA_ARGS__), F(10, __VA_ARGS__), F(11, __VA_ARGS__),      \
      F(12, __VA_ARGS__), F(13, __VA_ARGS__), F(14, __VA_ARGS__), F(15, __VA_ARGS__)
#if (TESI_SIMD_BITS == 512 && !defined(TESI_REAL_SINGLE)) ||                                                 \
    (TESI_SIMD_BITS == 256 && defined(TESI_REAL_SINGLE))
#define LIST LIST_8
#define LIST_HALF LIST_4
#elif TESI_SIMD_BITS == 512
#define LIST LIST_16
#define LIST_HALF LIST_8
#elif TESI_SIMD_BITS == 256 || defined(TESI_REAL_SINGLE)
#define LIST LIST_4
#define LIST_HALF LIST_2
#else
#define LIST LIST_2
#define LIST_HALF LIST_1
#endif

/* The vector whose lane l is number F(l, ...) of a followed by b. */
#define PICK(a, b, F, ...) __builtin_shufflevector(a, b, LIST(F, __VA_ARGS__))

/* Output s of unzip: its lane l is number f = l p + s of the p vectors. The first two vectors, then one more a step. */
#define UNZIP_FIRST(l, p, s) (((l) * (p) + (s)) < 2 * PATCH_LANES ? ((l) * (p) + (s)) : (l))
#define UNZIP_NEXT(l, p, s, i)                                                                               \
  (((l) * (p) + (s)) / PATCH_LANES == (i) ? PATCH_LANES + ((l) * (p) + (s)) % PATCH_LANES : (l))
#define UNZIP_2(v, p, s) PICK((v)[0], (v)[1], UNZIP_FIRST, p, s)
#define UNZIP_3(v, p, s) PICK(UNZIP_2(v, p, s), (v)[2], UNZIP_NEXT, p, s, 2)
#define UNZIP_4(v, p, s) PICK(UNZIP_3(v, p, s), (v)[3], UNZIP_NEXT, p, s, 3)
#define UNZIP_5(v, p, s) PICK(UNZIP_4(v, p, s), (v)[4], UNZIP_NEXT, p, s, 4)
#define UNZIP_6(v, p, s) PICK(UNZIP_5(v, p, s), (v)[5], UNZIP_NEXT, p, s, 5)
#define UNZIP_7(v, p, s) PICK(UNZIP_6(v, p, s), (v)[6], UNZIP_NEXT, p, s, 6)

/* Output t of zip: its lane l is lane f / p of input f % p, f = t LANES + l. */
#define ZIP_AT(l, t) ((t)*PATCH_LANES + (l))
#define ZIP_FIRST(l, p, t)                                                                                   \
  (ZIP_AT(l, t) % (p) == 0   ? ZIP_AT(l, t) / (p)                                                            \
   : ZIP_AT(l, t) % (p) == 1 ? PATCH_LANES + ZIP_AT(l, t) / (p)                                              \
                             : (l))
#define ZIP_NEXT(l, p, t, i) (ZIP_AT(l, t) % (p) == (i) ? PATCH_LANES + ZIP_AT(l, t) / (p) : (l))
#define ZIP_2(v, p, t) PICK((v)[0], (v)[1], ZIP_FIRST, p, t)
#define ZIP_3(v, p, t) PICK(ZIP_2(v, p, t), (v)[2], ZIP_NEXT, p, t, 2)
#define ZIP_4(v, p, t) PICK(ZIP_3(v, p, t), (v)[3], ZIP_NEXT, p, t, 3)
#define ZIP_5(v, p, t) PICK(ZIP_4(v, p, t), (v)[4], ZIP_NEXT, p, t, 4)
#define ZIP_6(v, p, t) PICK(ZIP_5(v, p, t), (v)[5], ZIP_NEXT, p, t, 5)
#define ZIP_7(v, p, t) PICK(ZIP_6(v, p, t), (v)[6], ZIP_NEXT, p, t, 6)

#define OUTPUTS_2(S, v, p) S(v, p, 0), S(v, p, 1)
#define OUTPUTS_3(S, v, p) OUTPUTS_2(S, v, p), S(v, p, 2)
#define OUTPUTS_5(S, v, p) OUTPUTS_3(S, v, p), S(v, p, 3), S(v, p, 4)
#define OUTPUTS_7(S, v, p) OUTPUTS_5(S, v, p), S(v, p, 5), S(v, p, 6)

#define SHUFFLE_CASE(STEP, p)                                                                                \
  if (count == p) {                                                                                          \
    const V out[p] = {OUTPUTS_##p(STEP##_##p, v, p)};                                                        \
    TESI_UNROLL for (int i = 0; i < p; i++) v[i] = out[i];                                                   \
  }

/* v[s] lane l <- number l * count + s of v[0..count). count: 1, 2, 3, 5 or 7. */
TESI_INLINE void unzip_prime(const int count, V *v){SHUFFLE_CASE(UNZIP, 2) SHUFFLE_CASE(UNZIP, 3)
                                                        SHUFFLE_CASE(UNZIP, 5) SHUFFLE_CASE(UNZIP, 7)}

TESI_INLINE void zip_prime(const int count, V *v){SHUFFLE_CASE(ZIP, 2) SHUFFLE_CASE(ZIP, 3)
                                                      SHUFFLE_CASE(ZIP, 5) SHUFFLE_CASE(ZIP, 7)}

/* count = p q: by the remainder modulo p, then by the quotient. */
#define UNZIP_PRODUCT(p, q, INNER)                                                                           \
  V w[(p) * (q)], t[p];                                                                                      \
  TESI_UNROLL for (int g = 0; g < (q); g++) {                                                                \
    TESI_UNROLL for (int i = 0; i < (p); i++) t[i] = v[g * (p) + i];                                         \
    unzip_prime(p, t);                                                                                       \
    TESI_UNROLL for (int i = 0; i < (p); i++) w[i * (q) + g] = t[i];                                         \
  }                                                                                                          \
  TESI_UNROLL for (int i = 0; i < (p); i++) {                                                                \
    INNER(q, w + i * (q));                                                                                   \
    TESI_UNROLL for (int g = 0; g < (q); g++) v[(p)*g + i] = w[i * (q) + g];                                 \
  }
#define ZIP_PRODUCT(p, q, INNER)                                                                             \
  V w[(p) * (q)], t[p];                                                                                      \
  TESI_UNROLL for (int i = 0; i < (p); i++) {                                                                \
    TESI_UNROLL for (int g = 0; g < (q); g++) w[i * (q) + g] = v[(p)*g + i];                                 \
    INNER(q, w + i * (q));                                                                                   \
  }                                                                                                          \
  TESI_UNROLL for (int g = 0; g < (q); g++) {                                                                \
    TESI_UNROLL for (int i = 0; i < (p); i++) t[i] = w[i * (q) + g];                                         \
    zip_prime(p, t);                                                                                         \
    TESI_UNROLL for (int i = 0; i < (p); i++) v[g * (p) + i] = t[i];                                         \
  }

TESI_INLINE void unzip_four(const int four, V *v) {
  (void)four;
  UNZIP_PRODUCT(2, 2, unzip_prime)
}

TESI_INLINE void zip_four(const int four, V *v) {
  (void)four;
  ZIP_PRODUCT(2, 2, zip_prime)
}

/* v[s] lane l <- number l * count + s of v[0..count); count = 1..10, a literal. */
TESI_INLINE void unzip(const int count, V *v) {
  if (count == 4) {
    unzip_four(4, v);
  } else if (count == 6) {
    UNZIP_PRODUCT(2, 3, unzip_prime)
  } else if (count == 8) {
    UNZIP_PRODUCT(2, 4, unzip_four)
  } else if (count == 9) {
    UNZIP_PRODUCT(3, 3, unzip_prime)
  } else if (count == 10) {
    UNZIP_PRODUCT(2, 5, unzip_prime)
  } else {
    unzip_prime(count, v);
  }
}

TESI_INLINE void zip(const int count, V *v) {
  if (count == 4) {
    zip_four(4, v);
  } else if (count == 6) {
    ZIP_PRODUCT(2, 3, zip_prime)
  } else if (count == 8) {
    ZIP_PRODUCT(2, 4, zip_four)
  } else if (count == 9) {
    ZIP_PRODUCT(3, 3, zip_prime)
  } else if (count == 10) {
    ZIP_PRODUCT(2, 5, zip_prime)
  } else {
    zip_prime(count, v);
  }
}

/* a0 b0 a1 b1 ..: the lower halves. */
#define WEAVE(l, unused) ((l) % 2 ? PATCH_LANES + (l) / 2 : (l) / 2)
TESI_INLINE V weave(V a, V b) {
  return PICK(a, b, WEAVE, 0);
}

/* even[i] <- v[2 i], odd[i] <- v[2 i + 1]: half a vector each. */
#define SPLIT(l, odd) (2 * (l) + (odd))
TESI_INLINE void store_split(V v, Real *even, Real *odd) {
#if PATCH_LANES > 2
  typedef Real Half __attribute__((vector_size(TESI_SIMD_BYTES / 2), may_alias, aligned(sizeof(Real))));
  *(Half *)even = __builtin_shufflevector(v, v, LIST_HALF(SPLIT, 0));
  *(Half *)odd = __builtin_shufflevector(v, v, LIST_HALF(SPLIT, 1));
#else
  *even = v[0], *odd = v[1];
#endif
}

/* Lanes l < count of all ones. */
#define LANE_NUMBER(l, unused) (l)
TESI_INLINE Mask lanes_below(int count) {
  const Mask number = {LIST(LANE_NUMBER, 0)};
  return number < (Index)count;
}

TESI_INLINE V keep(V v, Mask mask) {
  return (V)((Mask)v & mask);
}

/* The first count lanes only; memory behind stays. */
TESI_INLINE void store_part(Real *address, V v, int count) {
  const Mask mask = lanes_below(count);
  store(address, (V)(((Mask)v & mask) | ((Mask)load(address) & ~mask)));
}

#endif
