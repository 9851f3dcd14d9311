/* Rows of numbers that are read four at a time. */
#ifndef TESK_FOUR_H
#define TESK_FOUR_H

typedef struct TESK_ALIGNED(16) Four {
  real v[4];
} Four;

/* out <- A in; A[rows][row], of which `columns` count. */
TESK_DEVICE void multiply(const real *A, int rows, int columns, int row, const real *in, real *out) {
  TESK_UNROLL
  for (int r = 0; r < rows; r++) {
    real sum = 0;
    TESK_UNROLL
    for (int c = 0; c < columns; c += 4) {
      const Four a = *(const Four *)(A + r * row + c);
      TESK_UNROLL
      for (int e = 0; e < 4; e++)
        if (c + e < columns) sum += a.v[e] * in[c + e];
    }
    out[r] = sum;
  }
}

#endif
