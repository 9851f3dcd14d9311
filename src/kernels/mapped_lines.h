/* Contractions of a line in registers with the 1D matrices of mapped.cu, which includes this: values I (tesk_ie,
 * tesk_io), derivatives at the points D (tesk_de, tesk_do), and their transposes, by even-odd halves. */
#ifndef TESK_MAPPED_LINES_H
#define TESK_MAPPED_LINES_H

#include "even_odd.h"

#if !COLLOCATED
TESK_DEVICE void interpolate(const real in[N], real out[Q]) {
  real e[HN], o[GN];
  FOLD(N, in, e, o)
  UNFOLD(Q, ADD_TERMS(even, HN, tesk_ie, r * HN + l, e), ADD_TERMS(sum, GN, tesk_io, r * GN + l, o), SET_OUT)
}

TESK_DEVICE void interpolate_transposed(const real in[Q], real out[N]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  UNFOLD(N, ADD_TERMS(even, HQ, tesk_ie, l * HN + r, e), ADD_TERMS(sum, GQ, tesk_io, l * GN + r, o), SET_OUT)
}
#endif

#if STIFFNESS
/* Differentiation turns even into odd. */
TESK_DEVICE void differentiate(const real in[Q], real out[Q]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  UNFOLD(Q, ADD_TERMS(even, GQ, tesk_do, r * GQ + l, o), ADD_TERMS(sum, HQ, tesk_de, r * HQ + l, e), SET_OUT)
}

/* out <- D' in, or out += D' in */
TESK_DEVICE void differentiate_transposed(const real in[Q], const int add, real out[Q]) {
  real e[HQ], o[GQ];
  FOLD(Q, in, e, o)
  if (add) {
    UNFOLD(Q, ADD_TERMS(even, GQ, tesk_de, l * HQ + r, o), ADD_TERMS(sum, HQ, tesk_do, l * GQ + r, e), ADD_OUT)
  } else {
    UNFOLD(Q, ADD_TERMS(even, GQ, tesk_de, l * HQ + r, o), ADD_TERMS(sum, HQ, tesk_do, l * GQ + r, e), SET_OUT)
  }
}
#endif

#endif
