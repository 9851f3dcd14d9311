/* The contraction of cell_batch.h: T along one direction, eight cells at once whatever the width of the registers. */
#include <stdbool.h>
#include "tensor/simd.h"

typedef double Lanes __attribute__((vector_size(64), may_alias));

void TESI_SIMD(tesi_batch_contract)(const int size[3], int d, int rows, int columns, bool transposed,
                                    const double *T, const double *in, double *out);

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
