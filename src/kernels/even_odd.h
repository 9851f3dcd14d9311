/* Contractions of a line in registers with a 1D matrix that is symmetric under reversal of its rows and columns: half
 * of the multiplications, on sums and differences of opposite values. Tables (tables.h) have the first half of the rows
 * and columns: (A_rc + A_rc') / 2 for the even part, (A_rc - A_rc') / 2 for the odd part, c' opposite to c. */
#ifndef TESK_EVEN_ODD_H
#define TESK_EVEN_ODD_H

/* Sums and differences of opposite values; in an odd length the middle value stands alone. */
#define FOLD(length, in, e, o)                                                                               \
  TESK_UNROLL                                                                                                \
  for (int l = 0; l < (length) / 2; l++) {                                                                   \
    e[l] = in[l] + in[(length)-1 - l];                                                                       \
    o[l] = in[l] - in[(length)-1 - l];                                                                       \
  }                                                                                                          \
  if ((length) % 2) e[(length) / 2] = in[(length) / 2];

/* sum += table(i) v[l] over l < count; i is an expression of l. Zeros, of which tables with a middle point have some,
 * cost nothing. */
#define ADD_TERMS(sum, count, table, i, v)                                                                   \
  TESK_UNROLL                                                                                                \
  for (int l = 0; l < (count); l++)                                                                          \
    if (!TESK_CAT(table, _is_zero)(i)) sum += table(i) * v[l];

/* out[r] and its opposite number, r < (length + 1) / 2, from their even and odd parts, even + odd and even - odd. The
 * sum continues the chain of the even part, and 2 even - sum is one operation. */
#define UNFOLD(length, even_terms, odd_terms, take)                                                          \
  TESK_UNROLL                                                                                                \
  for (int r = 0; r < ((length) + 1) / 2; r++) {                                                             \
    real even = 0, sum;                                                                                      \
    even_terms sum = even;                                                                                   \
    if (r < (length) / 2) {                                                                                  \
      odd_terms take((length)-1 - r, 2 * even - sum)                                                         \
    }                                                                                                        \
    take(r, sum)                                                                                             \
  }
#define SET_OUT(r, value) out[r] = value;
#define ADD_OUT(r, value) out[r] += value;

#endif
