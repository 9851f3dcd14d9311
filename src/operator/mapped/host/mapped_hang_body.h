/* Hanging nodes of a batch: in each direction the lines on hanging faces and edges are multiplied by W of the
 * lane's child, in the lanes that have such a line there; the transposed tables give the transpose (the order of
 * directions does not matter).
 * Included like mapped_lines_body.h.
 * Cost: per direction n^2 blends for the table, and n^2 multiply-adds per line that hangs in any lane. For one face
 * in 3D this is 4 n^3 in all; the cell takes about 24 n^4. */

#ifndef MAPPED_SECOND
#if TESI_SIMD_BITS == 512 && defined(__AVX512F__)
typedef unsigned Flags;
TESI_INLINE Flags mapped_flags(unsigned bits) {
  return bits;
}
#else
typedef LaneMask Flags;
TESI_INLINE Flags mapped_flags(unsigned bits) {
  return mapped_lanes(bits);
}
#endif

/* a in the lanes that are flagged, b in others. */
TESI_INLINE V mapped_blend(V a, V b, Flags flags) {
#if TESI_SIMD_BITS == 512 && defined(__AVX512F__) && !defined(TESI_REAL_SINGLE)
  return (V)_mm512_mask_mov_pd((__m512d)b, (__mmask8)flags, (__m512d)a);
#elif TESI_SIMD_BITS == 512 && defined(__AVX512F__)
  return (V)_mm512_mask_mov_ps((__m512)b, (__mmask16)flags, (__m512)a);
#else
  return blend(flags, a, b);
#endif
}
#endif

TESI_INLINE void LINE(hang_line)(int n, int stride, const V *W, Flags flags, V *u) {
  V line[TESI_HANGING_LINE], sum[TESI_HANGING_LINE];
  LINE_UNROLL for (int i = 0; i < n; i++) line[i] = u[i * stride];
  LINE_UNROLL for (int i = 0; i < n; i++) sum[i] = W[i * n] * line[0];
  LINE_UNROLL for (int j = 1; j < n; j++) {
    LINE_UNROLL for (int i = 0; i < n; i++) sum[i] += W[i * n + j] * line[j];
  }
  LINE_UNROLL for (int i = 0; i < n; i++) u[i * stride] = mapped_blend(sum[i], line[i], flags);
}

TESI_INLINE void LINE(hang)(int n, const TesiMappedHost *plan, const TesiMappedBatch *batch, bool transposed,
                            V *u, V *W) {
  const int dim = plan->dim;
  const TesiMappedHanging *h = &plan->hanging[batch->hanging];
  const Real *halves = (const Real *)plan->halves + (transposed ? 2 * n * n : 0);
  const int stride[3] = {1, n, n * n};
  for (int d = 0; d < dim; d++) {
    const int e = stride[d == 0 ? 1 : 0], f = stride[d == 2 ? 1 : 2];
    if (!(h->directions >> d & 1)) continue;
    const Flags upper = mapped_flags(h->upper[d]);
    for (int i = 0; i < n * n; i++)
      W[i] = mapped_blend((V){0} + halves[n * n + i], (V){0} + halves[i], upper);
    for (int b = 0; b < (dim == 3 ? n : 1); b++)
      for (int a = 0; a < n; a++) {
        const unsigned bits = h->line[d][a == 0 ? 0 : a == n - 1 ? 2 : 1][b == 0 ? 0 : b == n - 1 ? 2 : 1];
        if (bits) LINE(hang_line)(n, stride[d], W, mapped_flags(bits), u + a * e + b * f);
      }
  }
}
