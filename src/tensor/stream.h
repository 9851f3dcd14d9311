/* Stores that bypass the caches, for arrays that are not read again soon. Only *_simd.c files with such arrays include
 * it, since the header of the intrinsics takes half a second to read. */
#ifndef TESI_STREAM_H
#define TESI_STREAM_H

#include "tensor/simd.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* The address is aligned. tesi_stream_fence() before another thread may read. */
TESI_INLINE void tesi_stream(void *address, const void *vector) {
#if TESI_SIMD_BITS == 512 && defined(__AVX512F__)
  _mm512_stream_si512(address, _mm512_load_si512(vector));
#elif TESI_SIMD_BITS == 256 && defined(__AVX__)
  _mm256_stream_si256(address, _mm256_load_si256(vector));
#elif TESI_SIMD_BITS == 128 && defined(__SSE2__)
  _mm_stream_si128(address, _mm_load_si128(vector));
#else
  memcpy(address, vector, TESI_SIMD_BYTES);
#endif
}

TESI_INLINE void tesi_stream_fence(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

#endif
