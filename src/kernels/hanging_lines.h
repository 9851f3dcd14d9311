/* Interpolation of hanging nodes of cells in shared memory, as include/tessera/space.h describes it, one line per
 * thread. Define `real` before. */
#ifndef TESK_HANGING_LINES_H
#define TESK_HANGING_LINES_H

#ifndef HANG_NUMBER
#define HANG_NUMBER real /* the type of the numbers of tesk_hang_line() */
#endif

/* tes_mask_line(), from space.h. */
TESK_DEVICE int tesk_mask_line(int mask, int d, int first, int second) {
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  return (first && (mask >> (3 + e) & 1)) || (second && (mask >> (3 + f) & 1)) ||
         (first && second && (mask >> (6 + d) & 1));
}

/* u <- W u, or W' u, on line `line` of direction d of a cell u[m^dim], if the mask says that the line is
 * interpolated. W[2][m][m]. */
TESK_DEVICE void tesk_hang_line(int dim, const int m, int mask, int d, int line, int transposed,
                                const HANG_NUMBER *W, HANG_NUMBER *u) {
  const int a = line % m, b = line / m, e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  const int step = d == 0 ? 1 : d == 1 ? m : m * m, step_e = e == 0 ? 1 : m, step_f = f == 1 ? m : m * m;
  const int first = a == (mask >> e & 1 ? m - 1 : 0), second = dim == 3 && b == (mask >> f & 1 ? m - 1 : 0);
  HANG_NUMBER v[9], *const at = u + a * step_e + b * step_f;
  if (!tesk_mask_line(mask, d, first, second)) return;
  W += (mask >> d & 1) * m * m;
  TESK_UNROLL
  for (int i = 0; i < m; i++) v[i] = at[i * step];
  for (int i = 0; i < m; i++) {
    HANG_NUMBER sum = 0;
    TESK_UNROLL
    for (int j = 0; j < m; j++) sum += (transposed ? W[j * m + i] : W[i * m + j]) * v[j];
    at[i * step] = sum;
  }
}

#endif
