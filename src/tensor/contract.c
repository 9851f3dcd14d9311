#include "tensor/contract.h"
#include <string.h>

void tesi_contract(const double *A, int rows, int columns, bool transposed, int extent[3], int d,
                   const double *x, double *y) {
  const int out = transposed ? columns : rows, in = transposed ? rows : columns;
  int inner = 1, outer = 1;
  for (int e = 0; e < d; e++) inner *= extent[e];
  for (int e = d + 1; e < 3; e++) outer *= extent[e];
  memset(y, 0, sizeof *y * (size_t)(inner * outer * out));
  for (int o = 0; o < outer; o++)
    for (int r = 0; r < out; r++)
      for (int c = 0; c < in; c++) {
        const double a = transposed ? A[c * columns + r] : A[r * columns + c];
        const double *from = x + (o * in + c) * inner;
        double *to = y + (o * out + r) * inner;
        for (int i = 0; i < inner; i++) to[i] += a * from[i];
      }
  extent[d] = out;
}
