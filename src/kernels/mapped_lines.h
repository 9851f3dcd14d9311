/* Contractions of a line in registers with the 1D matrices of mapped.cu, which includes this: values I (tesk_ie,
 * tesk_io), derivatives at the points D (tesk_de, tesk_do), and their transposes, by even-odd halves. */
#ifndef TESK_MAPPED_LINES_H
#define TESK_MAPPED_LINES_H

/* ---- contractions along a line ------------------------------------------------------------------------- */
/* Sums and differences of opposite values; in an odd length the middle value stands alone. */
#define FOLD(length, in, e, o)                                                                               \
  TESK_UNROLL                                                                                                \
  for (int l = 0; l < (length) / 2; l++) {                                                                   \
    e[l] = in[l] + in[(length)-1 - l];                                                                       \
    o[l] = in[l] - in[(length)-1 - l];                                                                       \
  }                                                                                                          \
  if ((length) % 2) e[(length) / 2] = in[(length) / 2];

#if !COLLOCATED
TESK_DEVICE void interpolate(const real in[N], real out[Q]) {
  real e[HN], o[GN];
  FOLD(N, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HQ; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < HN; l++) even += tesk_ie(r * HN + l) * e[l];
    TESK_UNROLL
    for (int l = 0; l < GN && r < GQ; l++) odd += tesk_io(r * GN + l) * o[l];
    out[r] = even + odd;
    if (r < GQ) out[Q - 1 - r] = even - odd;
  }
}

TESK_DEVICE void interpolate_transposed(const real in[Q], real out[N]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HN; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < HQ; l++) even += tesk_ie(l * HN + r) * e[l];
    TESK_UNROLL
    for (int l = 0; l < GQ && r < GN; l++) odd += tesk_io(l * GN + r) * o[l];
    out[r] = even + odd;
    if (r < GN) out[N - 1 - r] = even - odd;
  }
}
#endif

#if STIFFNESS
/* Differentiation turns even into odd. */
TESK_DEVICE void differentiate(const real in[Q], real out[Q]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HQ; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < GQ; l++) even += tesk_do(r * GQ + l) * o[l];
    TESK_UNROLL
    for (int l = 0; l < HQ && r < GQ; l++) odd += tesk_de(r * HQ + l) * e[l];
    out[r] = even + odd;
    if (r < GQ) out[Q - 1 - r] = even - odd;
  }
}

/* out <- D' in, or out += D' in */
TESK_DEVICE void differentiate_transposed(const real in[Q], const int add, real out[Q]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  TESK_UNROLL
  for (int r = 0; r < HQ; r++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int l = 0; l < GQ; l++) even += tesk_de(l * HQ + r) * o[l];
    TESK_UNROLL
    for (int l = 0; l < HQ && r < GQ; l++) odd += tesk_do(l * GQ + r) * e[l];
    out[r] = add ? out[r] + (even + odd) : even + odd;
    if (r < GQ) out[Q - 1 - r] = add ? out[Q - 1 - r] + (even - odd) : even - odd;
  }
}
#endif

#endif
