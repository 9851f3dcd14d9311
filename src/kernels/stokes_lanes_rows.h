/* Planes of stokes_lanes.cu for n = 4 and 5, where whole planes do not fit into registers; included with its macros.
 * A thread holds two rows of a plane, row i of both cells. The second direction across is transformed in shared
 * memory, after a barrier. */
#include "stokes_lanes_tables.h"

/* ---- in -------------------------------------------------------------------------------------------------- */

/* Row i of the lines of cell h in direction d: w -= A[l] times line l of the cell at `beside`. */
TESK_DEVICE void couple_rows(const real *A, const real *beside, const int b[2], real *w) {
  TESK_UNROLL
  for (int l = 0; l < N1; l++) {
    TESK_UNROLL
    for (int j = 0; j < N; j++) w[j] -= A[l] * TESK_READ(beside + b[j / N1] + (l * N1 + j % N1) * G);
  }
}

/* Half g of the row: w -= B (the line of the cell at `beside`). */
TESK_DEVICE void couple_line(const real *B, const real *beside, real *w) {
  real line[N1];
  TESK_UNROLL
  for (int j = 0; j < N1; j++) line[j] = TESK_READ(beside + j * G);
  subtract(B, line, w, 0, 1);
}

/* Adds the sources from `first` on, or only the first, to the rows w[2][N] of a plane. */
TESK_DEVICE void couple_sources(const Place *p, int d, int e, int i, int first, int alone, const real *plane,
                                const int aa[2], const int bb[2], real *w) {
  const real *const A = table_of(p, d, i * ROW_1), *const B = matrix_of(p, e, 0);
  TESK_UNROLL
  for (int h = 0; h < 2; h++) {
    TESK_ROLL
    for (int s = first; s < (alone ? 1 : sources_of(p, d, h)); s++)
      couple_rows(A + source_table(h, s), plane + offset_of(p, d, source_cell(h, s)), bb, w + h * N);
  }
  TESK_UNROLL
  for (int k = 0; k < 4; k++) {
    TESK_ROLL
    for (int s = first; s < (alone ? 1 : sources_of(p, e, k % 2)); s++)
      couple_line(B + source_table(k % 2, s), plane + aa[k / 2] + offset_of(p, e, source_cell(k % 2, s)),
                  w + k * N1);
  }
}

/* The neighbours are coupled before the terms that only few lanes have, so that their loads need not wait for a
 * decision; with n = 5 more loads under way would spill registers. */
#define EARLY (N1 < 5)

/* Rows i < N1 of plane `pl` of component c: 0 .. N are the nodes, N + 1 and N + 2 the velocity at both ends, which is
 * transformed to modes of b only. b 0: the right-hand side is zero. */
TESK_DEVICE void load_rows(const Place *p, int c, int pl, int i, const real *x, const real *b, real *U) {
  const int d = c == 2 ? 0 : c + 1, e = c == 0 ? 2 : c - 1, end = pl > N,
            zero = pl == 0 || pl == N || (!end && !b);
  const int at = plane_at(p, c, pl == N + 1 ? 0 : pl == N + 2 ? N : pl);
  const int bb[2] = {offset_of(p, e, 0), offset_of(p, e, 1)},
            aa[2] = {offset_of(p, d, 0) + i * N1 * G, offset_of(p, d, 1) + i * N1 * G};
  const real *const from = end ? x : b, *const plane = x + at;
  real w[2 * N], out[2 * N];
  TESK_UNROLL
  for (int k = 0; k < 2 * N; k++)
    w[k] = zero ? 0 : TESK_READ(from + at + aa[k / N] + bb[k % N / N1] + k % N1 * G);
  if (!end) couple_sources(p, d, e, i, 0, EARLY, plane, aa, bb, w);
  if (!end && EARLY && EVEN && !p->one) couple_sources(p, d, e, i, 1, 0, plane, aa, bb, w);
  FORGET();
  pair_to_modes(p, e, w, out);
  real *to = U + (c * PLANES + pl * PLANE + i * PITCH) * LANES + p->lane;
  TESK_UNROLL
  for (int j = 0; j < 2 * N; j++) to[(j / N * N1 * PITCH + j % N) * LANES] = out[j];
}

/* Rows j < N1 of plane i of g, x fixed. */
TESK_DEVICE void load_pressure_rows(const Place *p, int i, int j, const real *b, real *Q) {
  const int cell = i >= N1, at = offset_of(p, 0, cell) + (3 * CUBE + ((i - cell * N1) * N1 + j) * N1) * G;
  real w[2 * N], out[2 * N];
  TESK_UNROLL
  for (int k = 0; k < 2 * N; k++)
    w[k] = TESK_READ(b + at + offset_of(p, 1, k / N) + offset_of(p, 2, k % N / N1) + k % N1 * G);
  pair_to_modes(p, 2, w, out);
  TESK_UNROLL
  for (int k = 0; k < 2 * N; k++) Q[(i * SX + (j + k / N * N1) * SY + k % N * SZ) * LANES + p->lane] = out[k];
}

/* Transforms two lines of direction d in shared memory, `other` apart, to modes or `back`. */
TESK_DEVICE void turn_lines(const Place *p, int d, int back, int step, int other, real *line) {
  real in[2 * N], out[2 * N];
  TESK_UNROLL
  for (int i = 0; i < 2 * N; i++) in[i] = line[(i / N * other + i % N * step) * LANES];
  if (back)
    pair_from_modes(p, d, in, out);
  else
    pair_to_modes(p, d, in, out);
  TESK_UNROLL
  for (int i = 0; i < 2 * N; i++) line[(i / N * other + i % N * step) * LANES] = out[i];
}

/* Transforms lines t along a, for the planes from `first` on: of the components (count planes each), then of the
 * pressure. */
TESK_DEVICE void turn_rows(const Place *p, int t, int first, int count, int back, real *U, real *Q) {
  const int pl = t / N1, c = pl < 3 * count ? pl / count : 3, j = t % N1, i = pl - c * count,
            in_q = c == 3 && !back;
  real *const line = in_q ? Q + (i * SX + j * SZ) * LANES
                          : U + ((c < 3 ? c * PLANES + (first + i) * PLANE : spare_plane(i)) + j) * LANES;
  turn_lines(p, c == 2 ? 0 : c == 3 ? 1 : c + 1, back, in_q ? SY : PITCH, N1, line + p->lane);
}

TESK_DEVICE void load_planes(const Place *p, const TeskLanesVectors *v, real *U, real *Q) {
  const real *const x = (const real *)v->x, *const b0 = (const real *)v->b[0], *const b1 = (const real *)v->b[1];
  const int odd = v->odd;
  for (int t = p->task; t < (3 * (N + 3) + N) * N1; t += TASKS) {
    const int pl = t / N1, c = pl % 3;
    if (pl < 3 * (N + 3))
      load_rows(p, c, pl / 3, t % N1, x, v->still ? 0 : odd >> c & 1 ? b1 : b0, U);
    else
      load_pressure_rows(p, pl - 3 * (N + 3), t % N1, b0, Q);
  }
  __syncthreads();
  for (int t = p->task; t < (3 * (N + 3) + N) * N1; t += TASKS) turn_rows(p, t, 0, N + 3, 0, U, Q);
}

/* ---- out ------------------------------------------------------------------------------------------------- */

/* Transforms rows i < N1 of plane j of component c, or of the pressure (c = 3), along b and writes them. The first
 * plane of a component belongs to no patch: its values are copied. The mean of the pressure stays as it was. */
TESK_DEVICE void store_rows(const Place *p, int c, int j, int i, const real *x, const real *U, real *y) {
  const int own = c % 3, d = own == 2 ? 0 : own + 1, e = own == 0 ? 2 : own - 1, of = j >= N1;
  const int at = offset_of(p, own, of) + (c * CUBE + ((j - of * N1) * N1 + i) * N1) * G;
  const int a[2] = {offset_of(p, d, 0), offset_of(p, d, 1)}, b[2] = {offset_of(p, e, 0), offset_of(p, e, 1)};
  real w[2 * N], out[2 * N];
  if (j == 0 && c < 3) {
    TESK_UNROLL
    for (int k = 0; k < 2 * N; k++) out[k] = TESK_READ(x + at + a[k / N] + b[k % N / N1] + k % N1 * G);
  } else {
    const real *from = U + ((c < 3 ? c * PLANES + j * PLANE : spare_plane(j)) + i * PITCH) * LANES + p->lane;
    TESK_UNROLL
    for (int k = 0; k < 2 * N; k++) w[k] = from[(k / N * N1 * PITCH + k % N) * LANES];
    pair_from_modes(p, e, w, out);
  }
  if (c == 3 && j % N1 == 0 && i == 0) {
    const real mean = mean_of(p, x);
    out[0] += mean, out[N1] += mean, out[N] += mean, out[N + N1] += mean;
  }
  TESK_UNROLL
  for (int k = 0; k < 2 * N; k++) y[at + a[k / N] + b[k % N / N1] + k % N1 * G] = out[k];
}

/* writes: whether the lane has a patch. */
TESK_DEVICE void store_planes(const Place *p, int writes, const TeskLanesVectors *v, real *U) {
  const real *const x = (const real *)v->x;
  real *const y = (real *)v->y;
  for (int t = p->task; t < (3 * M + N) * N1; t += TASKS) turn_rows(p, t, 1, M, 1, U, U);
  __syncthreads();
  for (int t = p->task; t < 4 * N * N1 && writes; t += TASKS)
    store_rows(p, t / (N * N1), t / N1 % N, t % N1, x, U, y);
}
