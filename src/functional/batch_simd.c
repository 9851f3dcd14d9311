/* The loops of batch.h: eight cells at once whatever the width of the registers. */
#include <stdbool.h>
#include "tensor/simd.h"

typedef double Lanes __attribute__((vector_size(64), may_alias));

void TESI_SIMD(tesi_batch_contract)(const int size[3], int d, int rows, int columns, bool transposed,
                                    const double *T, const double *in, double *out);
void TESI_SIMD(tesi_batch_weigh)(int dim, int64_t points, const double *J, const double *w, double *out);
void TESI_SIMD(tesi_batch_turn)(int dim, int64_t points, const double *J, double *const g[3]);
void TESI_SIMD(tesi_batch_squares)(int64_t points, const double *w, const double *v, double sums[8]);

void TESI_SIMD(tesi_batch_contract)(const int size[3], int d, int rows, int columns, bool transposed,
                                    const double *T, const double *in, double *out) {
  const Lanes *from = (const Lanes *)in;
  Lanes *to = (Lanes *)out;
  const int inputs = transposed ? rows : columns, outputs = transposed ? columns : rows;
  const int inner = d == 0   ? 1
                    : d == 1 ? size[0]
                             : size[0] * size[1],
            outer = size[0] * size[1] * size[2] / inner / size[d];
  const int next_output = transposed ? 1 : columns, next_input = transposed ? columns : 1;
  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++) {
      const Lanes *line = from + (int64_t)o * inputs * inner + i;
      for (int r = 0; r < outputs; r++) {
        const double *t = T + r * next_output;
        Lanes sum = t[0] * line[0];
        for (int c = 1; c < inputs; c++) sum += t[c * next_input] * line[c * inner];
        to[((int64_t)o * outputs + r) * inner + i] = sum;
      }
    }
}

/* c <- the cofactors of J at a point: J^-1 is c' / det J, column by row; *det <- det J. */
TESI_INLINE void cofactors(int dim, const Lanes *J, int64_t stride, Lanes c[9], Lanes *det) {
  if (dim == 2) {
    c[0] = J[3 * stride], c[1] = -J[2 * stride], c[2] = -J[stride], c[3] = J[0];
    *det = J[0] * c[0] + J[stride] * c[1];
    return;
  }
  TESI_UNROLL
  for (int r = 0; r < 3; r++) {
    const int s = (r + 1) % 3, t = (r + 2) % 3;
    TESI_UNROLL
    for (int e = 0; e < 3; e++) {
      const int f = (e + 1) % 3, g = (e + 2) % 3;
      c[r * 3 + e] = J[(s * 3 + f) * stride] * J[(t * 3 + g) * stride] -
                     J[(s * 3 + g) * stride] * J[(t * 3 + f) * stride];
    }
  }
  *det = J[0] * c[0] + J[stride] * c[1] + J[2 * stride] * c[2];
}

TESI_INLINE void weigh(int dim, int64_t points, const double *J, const double *w, double *out) {
  for (int64_t p = 0; p < points; p++) {
    Lanes c[9], det;
    cofactors(dim, (const Lanes *)J + p, points, c, &det);
    ((Lanes *)out)[p] = w[p] * det;
  }
}

void TESI_SIMD(tesi_batch_weigh)(int dim, int64_t points, const double *J, const double *w, double *out) {
  if (dim == 3)
    weigh(3, points, J, w, out);
  else
    weigh(2, points, J, w, out);
}

TESI_INLINE void turn(int dim, int64_t points, const double *J, double *const g[3]) {
  const Lanes *j = (const Lanes *)J;
  for (int64_t p = 0; p < points; p++) {
    Lanes c[9], in[3], det;
    cofactors(dim, j + p, points, c, &det);
    const Lanes scale = 1 / det;
    TESI_UNROLL
    for (int e = 0; e < dim; e++) in[e] = ((const Lanes *)g[e])[p];
    TESI_UNROLL
    for (int r = 0; r < dim; r++) {
      Lanes sum = c[r * dim] * in[0];
      TESI_UNROLL
      for (int e = 1; e < dim; e++) sum += c[r * dim + e] * in[e];
      ((Lanes *)g[r])[p] = scale * sum;
    }
  }
}

void TESI_SIMD(tesi_batch_turn)(int dim, int64_t points, const double *J, double *const g[3]) {
  if (dim == 3)
    turn(3, points, J, g);
  else
    turn(2, points, J, g);
}

void TESI_SIMD(tesi_batch_squares)(int64_t points, const double *w, const double *v, double sums[8]) {
  const Lanes *weight = (const Lanes *)w, *value = (const Lanes *)v;
  Lanes sum;
  memcpy(&sum, sums, sizeof sum);
  for (int64_t p = 0; p < points; p++) sum += weight[p] * value[p] * value[p];
  memcpy(sums, &sum, sizeof sum);
}
