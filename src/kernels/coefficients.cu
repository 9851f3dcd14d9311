/* out <- w |J| f(x, y, z, time) at the Gauss points of all cells of a box, or of all sides of a face: an expression of
 * the user's, as text in "tables.h" (tesk_f), in float64. A block takes cells in turn, and its threads take the points
 * of a cell. For set-up: its cost is the bytes of the result, and the evaluations of f. notes[0] becomes the smallest
 * number of a point whose value is refused (NaN, infinity, negative; with `positive` also zero). notes[1] becomes 1 if
 * a value is not zero. Macros: real, POINTS (per direction). Tables: tesk_f, tesk_point, tesk_w. */
#include "kernel.h"
#include "tables.h"

typedef struct TeskPoints {
  int cells[3], there[3]; /* 0: the direction has one point, at `level` */
  double level[3];
  const double *x[3], *h[3]; /* lower ends and widths of the cells */
} TeskPoints;

TESK_KERNEL(tesk_coefficient, 128, 1, (real *)out, (TeskPoints)p, (double)time, (int)positive,
            (long long *)notes) {
  const long long cells = (long long)p.cells[0] * p.cells[1] * p.cells[2];
  int points = 1;
  for (int d = 0; d < 3; d++) points *= p.there[d] ? POINTS : 1;
  for (long long cell = blockIdx.x; cell < cells; cell += gridDim.x) {
    const int at[3] = {(int)(cell % p.cells[0]), (int)(cell / p.cells[0] % p.cells[1]),
                       (int)(cell / p.cells[0] / p.cells[1])};
    for (int q = (int)threadIdx.x; q < points; q += 128) {
      double x[3], weight = 1;
      int rest = q;
      for (int d = 0; d < 3; d++) {
        x[d] = p.level[d];
        if (!p.there[d]) continue;
        const double h = p.h[d][at[d]];
        x[d] = p.x[d][at[d]] + h * tesk_point(rest % POINTS);
        weight *= tesk_w(rest % POINTS) * h;
        rest /= POINTS;
      }
      const double value = tesk_f(x[0], x[1], x[2], time);
      const int good = value - value == 0 && (positive ? value > 0 : value >= 0);
      if (!good) TESK_LOWER(notes, cell * points + q);
      if (value != 0) notes[1] = 1;
      out[cell * points + q] = (real)(weight * value);
    }
  }
}
