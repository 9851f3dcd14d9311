/* Products of a line of DEGREE + 1 values in registers with mass and stiffness of a cell of width 1, by even-odd
 * halves. Tables: tesk_me, tesk_mo, tesk_ke, tesk_ko (src/basis/kernel_tables.h). Before it: real, DEGREE. */
#ifndef TESK_SEPARABLE_LINES_H
#define TESK_SEPARABLE_LINES_H

#define K DEGREE
#define H ((K + 2) / 2) /* even half */
#define O ((K + 1) / 2) /* odd half */

TESK_DEVICE void fold(const real *v, real *e, real *o) {
  TESK_UNROLL
  for (int i = 0; i < O; i++) {
    e[i] = v[i] + v[K - i];
    o[i] = v[i] - v[K - i];
  }
  if (K % 2 == 0) e[K / 2] = v[K / 2];
}

/* out <- scale M v from the folded v; with `add` the result is added to out. */
TESK_DEVICE void mass(const real *e, const real *o, real scale, int add, real *out) {
  TESK_UNROLL
  for (int i = 0; i < H; i++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int j = 0; j < H; j++) even += tesk_me(i * H + j) * e[j];
    if (2 * i != K) {
      TESK_UNROLL
      for (int j = 0; j < O; j++) odd += tesk_mo(i * O + j) * o[j];
      const real upper = scale * (even - odd);
      out[K - i] = add ? out[K - i] + upper : upper;
    }
    const real lower = scale * (even + odd);
    out[i] = add ? out[i] + lower : lower;
  }
}

/* Two products at once, so that the matrix is loaded once: out1 <- scale1 M v1, out2 <- out2 + scale2 M v2. */
TESK_DEVICE void mass_twice(const real *e1, const real *o1, real scale1, real *out1, const real *e2,
                            const real *o2, real scale2, real *out2) {
  TESK_UNROLL
  for (int i = 0; i < H; i++) {
    real even1 = 0, odd1 = 0, even2 = 0, odd2 = 0;
    TESK_UNROLL
    for (int j = 0; j < H; j++) {
      const real entry = tesk_me(i * H + j);
      even1 += entry * e1[j];
      even2 += entry * e2[j];
    }
    if (2 * i != K) {
      TESK_UNROLL
      for (int j = 0; j < O; j++) {
        const real entry = tesk_mo(i * O + j);
        odd1 += entry * o1[j];
        odd2 += entry * o2[j];
      }
      out1[K - i] = scale1 * (even1 - odd1);
      out2[K - i] += scale2 * (even2 - odd2);
    }
    out1[i] = scale1 * (even1 + odd1);
    out2[i] += scale2 * (even2 + odd2);
  }
}

/* The same with K. Its rows sum to zero: it is applied to differences, so that cancellation costs no digits in
 * float32. */
TESK_DEVICE void stiffness(const real *e, const real *o, real scale, int add, real *out) {
  real d[H];
  TESK_UNROLL
  for (int j = 0; j < H - 1; j++) d[j] = e[j] - (K % 2 ? e[H - 1] : 2 * e[H - 1]);
  TESK_UNROLL
  for (int i = 0; i < H; i++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int j = 0; j < H - 1; j++) even += tesk_ke(i * H + j) * d[j];
    if (2 * i != K) {
      TESK_UNROLL
      for (int j = 0; j < O; j++) odd += tesk_ko(i * O + j) * o[j];
      const real upper = scale * (even - odd);
      out[K - i] = add ? out[K - i] + upper : upper;
    }
    const real lower = scale * (even + odd);
    out[i] = add ? out[i] + lower : lower;
  }
}

#endif
