/* Products of a line of N = DEGREE + 1 values in registers with the 1D matrices of the quadrature form, by even-odd
 * halves:
 * B (nodes to Gauss points), B', D (derivative at the points of the polynomial through them), D'.
 * Before it: real, DEGREE. Tables: tesk_bee, tesk_beo (B, even-odd halves), tesk_bte.. (B'), tesk_dde.. (D),
 * tesk_dte.. (D'). */
#ifndef TESK_QUADRATURE_LINES_H
#define TESK_QUADRATURE_LINES_H

#define K DEGREE
#define N (K + 1)
#define H ((N + 1) / 2)
#define G (N / 2)

/* w <- T v: w_i = E e + O o, w_(N-1-i) = +-(E e - O o). In the middle of an odd length a symmetric T has no odd
 * part, an antisymmetric one no even part. */
#define DEFINE_PRODUCT(name, EVEN, ODD, SYMMETRIC)                                                           \
  TESK_DEVICE void name(const real *v, real *w) {                                                            \
    real e[H], o[H];                                                                                         \
    TESK_UNROLL                                                                                              \
    for (int i = 0; i < G; i++) {                                                                            \
      e[i] = v[i] + v[N - 1 - i];                                                                            \
      o[i] = v[i] - v[N - 1 - i];                                                                            \
    }                                                                                                        \
    if (N % 2) e[G] = v[G];                                                                                  \
    TESK_UNROLL                                                                                              \
    for (int i = 0; i < H; i++) {                                                                            \
      real even = 0, odd = 0;                                                                                \
      if (SYMMETRIC || i < G) {                                                                              \
        TESK_UNROLL                                                                                          \
        for (int j = 0; j < H; j++) even += EVEN(i * H + j) * e[j];                                          \
      }                                                                                                      \
      if (!SYMMETRIC || i < G) {                                                                             \
        TESK_UNROLL                                                                                          \
        for (int j = 0; j < G; j++) odd += ODD(i * G + j) * o[j];                                            \
      }                                                                                                      \
      w[i] = even + odd;                                                                                     \
      if (i < G) w[N - 1 - i] = SYMMETRIC ? even - odd : odd - even;                                         \
    }                                                                                                        \
  }
DEFINE_PRODUCT(to_points, tesk_bee, tesk_beo, 1)
DEFINE_PRODUCT(to_nodes, tesk_bte, tesk_bto, 1)
DEFINE_PRODUCT(derivative, tesk_dde, tesk_ddo, 0)
DEFINE_PRODUCT(derivative_transposed, tesk_dte, tesk_dto, 0)

TESK_DEVICE void load_line(const real *from, int stride, real *v) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) v[i] = from[i * stride];
}

TESK_DEVICE void store_line(const real *v, int stride, real *to) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) to[i * stride] = v[i];
}

#endif
