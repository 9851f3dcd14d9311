/* The Stokes operator K = [A, -B'; -B, 0] on boxes with any cells, ends and degree
 * (src/operator/stokes/stokes_operator.h), in two launches: 2D, and degrees that stokes_tiles.cu does not serve. One
 * thread per entry, x fastest, so that neighbouring threads read neighbouring numbers.
 *   across: w_i = nu (sum over a /= i of Ld in direction a) u_i + alpha u_i
 *   rows:   y_i = Mc w_i + nu Lc u_i - D' p along i,   y_p = -sum over i of D u_i
 * No shared memory, about 40 registers. An entry of a velocity takes 2 (3 n (dim - 1) + 2 (2 n + 1) + 2 n) flops and
 * as many reads, which but for the first come from the caches; bytes: x, w twice each, and y: 40 per entry in
 * float64, 28 with x and y in float32.
 * Of flows in time, any degree:
 *   mass:       y_i += factor Mc x_i along i: 3 numbers per entry
 *   divergence: y = sum over i of D u_i, parts of sum over i of |D u_i|^2: 2 numbers an entry of the pressure and
 *               1 of a velocity; shared memory: a double per thread
 * Macros: real; of `across` and `rows` in_real and out_real, the types of x and y. */
#include "kernel.h"

#define THREADS 256
#include "rt_entries.h"
#include "band_rows.h"
TESK_BAND_ROW(band_row_in, in_real)
#include "sums.h"

/* Grid: blocks of entries, components. */
TESK_KERNEL(tesk_stokes_across, THREADS, 1, (const in_real *TESK_RESTRICT)x, (real *)w, (TeskStokes)s) {
  const int i = (int)blockIdx.y;
  FOR_ENTRIES(id, size_of(&s.parts, i)) {
    const TeskEntry e = entry_of(&s.parts, i, id);
    real sum = 0;
    for (int a = 0; a < s.parts.dim; a++)
      if (a != i) sum += band_row_in(&s.penalty[a], e.at[a], x + e.place - e.at[a] * e.step[a], e.step[a]);
    w[e.place] = (real)s.nu * sum + (real)s.alpha * (real)x[e.place];
  }
}

/* y <- keep b + sign K x; y may be b. Grid: blocks of entries, parts. */
TESK_KERNEL(tesk_stokes_rows, THREADS, 1, (const in_real *TESK_RESTRICT)x, (const real *TESK_RESTRICT)w,
            (const real *)b, (out_real *)y, (TeskStokes)s, (int)keep, (real)sign) {
  const int i = (int)blockIdx.y, p = s.parts.dim;
  FOR_ENTRIES(id, size_of(&s.parts, i)) {
    const TeskEntry e = entry_of(&s.parts, i, id);
    real sum = 0;
    if (i < p) {
      const long long line = e.place - e.at[i] * e.step[i];
      sum = band_row(&s.mass[i], e.at[i], w + line, e.step[i]) +
            (real)s.nu * band_row_in(&s.stiffness[i], e.at[i], x + line, e.step[i]) -
            band_row_in(&s.transposed[i], e.at[i], x + line_of(&s.parts, p, i, e.at), step_of(&s.parts, p, i));
    } else {
      for (int d = 0; d < p; d++)
        sum -= band_row_in(&s.derivative[d], e.at[d], x + line_of(&s.parts, d, d, e.at),
                           step_of(&s.parts, d, d));
    }
    y[e.place] = (out_real)((keep ? b[e.place] : 0) + sign * sum);
  }
}

/* Grid: blocks of entries, components. */
TESK_KERNEL(tesk_stokes_mass, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskStokes)s,
            (real)factor) {
  const int i = (int)blockIdx.y;
  FOR_ENTRIES(id, size_of(&s.parts, i)) {
    const TeskEntry e = entry_of(&s.parts, i, id);
    y[e.place] += factor * band_row(&s.mass[i], e.at[i], x + e.place - e.at[i] * e.step[i], e.step[i]);
  }
}

/* y: the pressures alone; roots[block]: the root of its part, so that their squares add up. */
TESK_KERNEL(tesk_stokes_divergence, THREADS, 1, (const real *TESK_RESTRICT)u, (real *)y, (double *)roots,
            (TeskStokes)s) {
  TESK_SHARED(memory);
  const int p = s.parts.dim;
  double squares = 0;
  FOR_ENTRIES(id, size_of(&s.parts, p)) {
    const TeskEntry e = entry_of(&s.parts, p, id);
    real sum = 0;
    for (int d = 0; d < p; d++) {
      const real slope =
          band_row(&s.derivative[d], e.at[d], u + line_of(&s.parts, d, d, e.at), step_of(&s.parts, d, d));
      sum += slope;
      squares += (double)slope * (double)slope;
    }
    y[id] = sum;
  }
  squares = add_threads(squares, (double *)memory);
  if (threadIdx.x == 0) roots[blockIdx.x] = sqrt(squares);
}
