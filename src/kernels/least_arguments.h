/* A start of least residual (krylov/least.h): its vectors, and the small problem for its coefficients. The host
 * includes this text too. */
#ifndef TESK_LEAST_ARGUMENTS_H
#define TESK_LEAST_ARGUMENTS_H

#ifdef TESK_DEVICE
#define TESK_LEAST_FUNCTION TESK_DEVICE
#else
#include <math.h>
#define TESK_LEAST_FUNCTION static inline
#endif

/* The largest number of directions; products [count][TESK_LEAST_ROW]: a_i . a_j for j <= i, and a_i . r in the
 * last place. */
enum { TESK_LEAST = 3, TESK_LEAST_ROW = TESK_LEAST + 1 };

typedef struct TeskLeast {
  int count;
  const double *image[TESK_LEAST], *solution[TESK_LEAST + 1];
} TeskLeast;

/* c <- the minimizer of |r - sum c_i a_i| by Cholesky's factors of the products. An image that the images before it
 * nearly span gets the coefficient 0, as the rest of its square is round-off. */
TESK_LEAST_FUNCTION void least_coefficients(int count, const double *product, double *c) {
  double factor[TESK_LEAST][TESK_LEAST] = {{0}};
  int used[TESK_LEAST] = {0};
  for (int i = 0; i < count; i++) {
    const double *row = product + TESK_LEAST_ROW * i;
    double square = row[i];
    c[i] = row[TESK_LEAST];
    for (int j = 0; j < i; j++) {
      if (!used[j]) continue;
      double sum = row[j];
      for (int k = 0; k < j; k++) sum -= factor[i][k] * factor[j][k];
      factor[i][j] = sum / factor[j][j];
      square -= factor[i][j] * factor[i][j];
      c[i] -= factor[i][j] * c[j];
    }
    used[i] = square > 1e-12 * row[i] && row[i] <= 1e300;
    factor[i][i] = used[i] ? sqrt(square) : 1;
    c[i] = used[i] ? c[i] / factor[i][i] : 0;
  }
  for (int i = count - 1; i >= 0; i--) {
    if (!used[i]) continue;
    for (int j = i + 1; j < count; j++) c[i] -= factor[j][i] * c[j];
    c[i] /= factor[i][i];
  }
}

#endif
