/* SIMD vectors for the files *_simd.c, which are compiled once per vector width (TESI_SIMD_BITS = 128, 256, 512).
 * TESI_SIMD(name) gives each build's functions their own name: name_128, name_256, name_512.
 * Vectors are GCC vector extensions: + - * work lane by lane, a scalar operand is used in all lanes. Code with one text
 * for both precisions uses tensor/simd_real.h. */
#ifndef TESI_SIMD_H
#define TESI_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/simd_builds.h"

#define TESI_PASTE2(a, b) a##_##b
#define TESI_PASTE(a, b) TESI_PASTE2(a, b)
#define TESI_SIMD(name) TESI_PASTE(name, TESI_SIMD_BITS)

#define TESI_INLINE static inline __attribute__((always_inline))

/* Marks functions that are called rarely and that the compiler would otherwise inline into every loop. */
#define TESI_APART static __attribute__((noinline))

/* Before a loop over a literal range: unrolls it completely, whatever its length, so that small arrays become
 * registers. */
#if defined(__clang__)
#define TESI_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TESI_UNROLL _Pragma("GCC unroll 32")
#endif

#ifdef TESI_SIMD_BITS

/* TESI_EACH_DEGREE(F): F(1) F(2) ... for the degrees with specialised loops in this build; _8, _4: up to this
 * degree. */
#if TESI_SIMD_BITS > 128
#define TESI_DEGREES TESI_SIMD_DEGREES
#else
#define TESI_DEGREES TESI_SIMD_NARROW_DEGREES
#endif
#if TESI_DEGREES > 8
#define TESI_DEGREES_8 8
#else
#define TESI_DEGREES_8 TESI_DEGREES
#endif
#define TESI_EACH_DEGREE(F) TESI_PASTE(TESI_EACH, TESI_DEGREES)(F)
#if TESI_DEGREES > 4
#define TESI_DEGREES_4 4
#else
#define TESI_DEGREES_4 TESI_DEGREES
#endif
#define TESI_EACH_DEGREE_8(F) TESI_PASTE(TESI_EACH, TESI_DEGREES_8)(F)
#define TESI_EACH_DEGREE_4(F) TESI_PASTE(TESI_EACH, TESI_DEGREES_4)(F)
#define TESI_EACH_0(F)
#define TESI_EACH_1(F) F(1)
#define TESI_EACH_2(F) TESI_EACH_1(F) F(2)
#define TESI_EACH_3(F) TESI_EACH_2(F) F(3)
#define TESI_EACH_4(F) TESI_EACH_3(F) F(4)
#define TESI_EACH_5(F) TESI_EACH_4(F) F(5)
#define TESI_EACH_6(F) TESI_EACH_5(F) F(6)
#define TESI_EACH_7(F) TESI_EACH_6(F) F(7)
#define TESI_EACH_8(F) TESI_EACH_7(F) F(8)
#define TESI_EACH_9(F) TESI_EACH_8(F) F(9)
#define TESI_EACH_10(F) TESI_EACH_9(F) F(10)

enum {
  TESI_SIMD_BYTES = TESI_SIMD_BITS / 8,
  TESI_DOUBLES = TESI_SIMD_BITS / 64, /* lanes */
  TESI_FLOATS = TESI_SIMD_BITS / 32
};

typedef double TesiDoubles __attribute__((vector_size(TESI_SIMD_BYTES), may_alias));
typedef float TesiFloats __attribute__((vector_size(TESI_SIMD_BYTES), may_alias));
/* The same at any address of a number. */
typedef double TesiDoublesAnywhere __attribute__((vector_size(TESI_SIMD_BYTES), may_alias, aligned(8)));
typedef float TesiFloatsAnywhere __attribute__((vector_size(TESI_SIMD_BYTES), may_alias, aligned(4)));

/* ---- in-register transposes -------------------------------------------------------------------------------------
 * SHUFFLE(a, b, F): the vector with lanes F(0), F(1), ... of a followed by b. */
#define TESI_LIST_2(F) F(0), F(1)
#define TESI_LIST_4(F) TESI_LIST_2(F), F(2), F(3)
#define TESI_LIST_8(F) TESI_LIST_4(F), F(4), F(5), F(6), F(7)
#define TESI_LIST_16(F) TESI_LIST_8(F), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15)

#if TESI_SIMD_BITS == 512
#define TESI_SHUFFLE_D(a, b, F) __builtin_shufflevector(a, b, TESI_LIST_8(F))
#define TESI_SHUFFLE_F(a, b, F) __builtin_shufflevector(a, b, TESI_LIST_16(F))
#elif TESI_SIMD_BITS == 256
#define TESI_SHUFFLE_D(a, b, F) __builtin_shufflevector(a, b, TESI_LIST_4(F))
#define TESI_SHUFFLE_F(a, b, F) __builtin_shufflevector(a, b, TESI_LIST_8(F))
#else
#define TESI_SHUFFLE_D(a, b, F) __builtin_shufflevector(a, b, TESI_LIST_2(F))
#define TESI_SHUFFLE_F(a, b, F) __builtin_shufflevector(a, b, TESI_LIST_4(F))
#endif

/* Lane lists: lanes inside blocks of G lanes (128 bits) interleaved, as unpcklo (H = 0) and unpckhi (H = 1) do ... */
#define TESI_UNPACK(L, G, H, l) ((l) / (G) * (G) + (l) % (G) / 2 + (H) * ((G) / 2) + ((l) % 2 ? (L) : 0))
/* ... and the even (H = 0) or odd (H = 1) blocks of G lanes of a, then of b. */
#define TESI_BLOCKS(L, G, H, l)                                                                              \
  (((l) / (G)*2 + (H)) * (G) % (L) + (l) % (G) + ((l) / (G)*2 >= (L) / (G) ? (L) : 0))

#define TESI_D_LOW(l) TESI_UNPACK(TESI_SIMD_BITS / 64, 2, 0, l)
#define TESI_D_HIGH(l) TESI_UNPACK(TESI_SIMD_BITS / 64, 2, 1, l)
#define TESI_D_EVEN(l) TESI_BLOCKS(TESI_SIMD_BITS / 64, 2, 0, l)
#define TESI_D_ODD(l) TESI_BLOCKS(TESI_SIMD_BITS / 64, 2, 1, l)
#define TESI_F_LOW(l) TESI_UNPACK(TESI_SIMD_BITS / 32, 4, 0, l)
#define TESI_F_HIGH(l) TESI_UNPACK(TESI_SIMD_BITS / 32, 4, 1, l)
#define TESI_F_EVEN(l) TESI_BLOCKS(TESI_SIMD_BITS / 32, 4, 0, l)
#define TESI_F_ODD(l) TESI_BLOCKS(TESI_SIMD_BITS / 32, 4, 1, l)

/* Replaces pairs of vectors at distance d by two shuffles of each pair. */
#define TESI_STAGE(V, v, lanes, d, SHUFFLE, LOW, HIGH)                                                       \
  TESI_UNROLL for (int i_ = 0; i_ < (lanes); i_++) if (!(i_ & (d))) {                                        \
    const V a_ = v[i_], b_ = v[i_ + (d)];                                                                    \
    v[i_] = SHUFFLE(a_, b_, LOW);                                                                            \
    v[i_ + (d)] = SHUFFLE(a_, b_, HIGH);                                                                     \
  }

/* v[i][j] <- v[j][i]: lanes inside blocks of 128 bits first, then the blocks. log2(lanes) shuffles per vector. */
TESI_INLINE void tesi_transpose_doubles(TesiDoubles v[TESI_DOUBLES]) {
  TESI_STAGE(TesiDoubles, v, TESI_DOUBLES, 1, TESI_SHUFFLE_D, TESI_D_LOW, TESI_D_HIGH)
#if TESI_SIMD_BITS >= 256
  TESI_STAGE(TesiDoubles, v, TESI_DOUBLES, 2, TESI_SHUFFLE_D, TESI_D_EVEN, TESI_D_ODD)
#endif
#if TESI_SIMD_BITS >= 512
  TESI_STAGE(TesiDoubles, v, TESI_DOUBLES, 4, TESI_SHUFFLE_D, TESI_D_EVEN, TESI_D_ODD)
#endif
}

TESI_INLINE void tesi_transpose_floats(TesiFloats v[TESI_FLOATS]) {
  TESI_STAGE(TesiFloats, v, TESI_FLOATS, 2, TESI_SHUFFLE_F, TESI_F_LOW, TESI_F_HIGH)
  TESI_STAGE(TesiFloats, v, TESI_FLOATS, 1, TESI_SHUFFLE_F, TESI_F_LOW, TESI_F_HIGH)
#if TESI_SIMD_BITS >= 256
  TESI_STAGE(TesiFloats, v, TESI_FLOATS, 4, TESI_SHUFFLE_F, TESI_F_EVEN, TESI_F_ODD)
#endif
#if TESI_SIMD_BITS >= 512
  TESI_STAGE(TesiFloats, v, TESI_FLOATS, 8, TESI_SHUFFLE_F, TESI_F_EVEN, TESI_F_ODD)
#endif
}

#endif
#endif
