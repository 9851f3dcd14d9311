/* Rows of banded matrices times lines of a tensor. */
#ifndef TESK_BAND_ROWS_H
#define TESK_BAND_ROWS_H

#include "band_arguments.h"

/* sum over c of b[row][c] x[c step]; in a periodic direction columns continue at the beginning. x: of type
 * `number`. */
#define TESK_BAND_ROW(name, number)                                                                          \
  TESK_DEVICE real name(const TeskBand *b, int row, const number *TESK_RESTRICT x, long long step) {         \
    const real *const value = (const real *)b->value + (long long)row * b->width;                            \
    const int count = b->count[row];                                                                         \
    int column = b->first[row];                                                                              \
    real sum = 0;                                                                                            \
    for (int j = 0; j < count; j++) {                                                                        \
      sum += TESK_READ(value + j) * (real)x[column * step];                                                  \
      column = column + 1 == b->columns ? 0 : column + 1;                                                    \
    }                                                                                                        \
    return sum;                                                                                              \
  }
TESK_BAND_ROW(band_row, real)

#endif
