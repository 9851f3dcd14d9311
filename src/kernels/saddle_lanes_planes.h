/* Planes of saddle_lanes.cu, included with its macros, where a thread holds a whole one, N x N numbers in registers:
 * both directions across are turned without a barrier. Right where they fit: n = 2 and 3. */
#include "saddle_lanes_tables.h"

/* A plane w[N][N], directions d and e, to modes. */
TESK_DEVICE void plane_to_modes(const Place *p, int d, int e, real *w) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    real out[N];
    to_modes(p, e, w + i * N, out);
    TESK_UNROLL
    for (int j = 0; j < N; j++) w[i * N + j] = out[j];
  }
  FORGET();
  TESK_UNROLL
  for (int j = 0; j < N; j++) {
    real in[N], out[N];
    TESK_UNROLL
    for (int i = 0; i < N; i++) in[i] = w[i * N + j];
    to_modes(p, d, in, out);
    TESK_UNROLL
    for (int i = 0; i < N; i++) w[i * N + j] = out[i];
  }
}

/* And back. */
TESK_DEVICE void plane_from_modes(const Place *p, int d, int e, real *w) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    real out[N];
    from_modes(p, e, w + i * N, out);
    TESK_UNROLL
    for (int j = 0; j < N; j++) w[i * N + j] = out[j];
  }
  FORGET();
  TESK_UNROLL
  for (int j = 0; j < N; j++) {
    real in[N], out[N];
    TESK_UNROLL
    for (int i = 0; i < N; i++) in[i] = w[i * N + j];
    from_modes(p, d, in, out);
    TESK_UNROLL
    for (int i = 0; i < N; i++) w[i * N + j] = out[i];
  }
}

/* ---- in -------------------------------------------------------------------------------------------------- */

/* Four cells of a plane, [N][N] in registers. */
TESK_DEVICE void read_plane(const real *from, const int a[2], const int b[2], real *w) {
  TESK_UNROLL
  for (int h = 0; h < 4; h++) {
    const real *q = from + a[h / 2] + b[h % 2];
    TESK_UNROLL
    for (int i = 0; i < N1; i++) {
      TESK_UNROLL
      for (int j = 0; j < N1; j++) w[(h / 2 * N1 + i) * N + h % 2 * N1 + j] = TESK_READ(q + (i * N1 + j) * G);
    }
  }
}

/* The neighbours across in a (above or below, at cell offset `from`), then those in b. */
TESK_DEVICE void couple_a(const real *x, int from, const int b[2], const real *A, int high, real *w) {
  TESK_UNROLL
  for (int h = 0; h < 2; h++) {
    TESK_UNROLL
    for (int j = 0; j < N1; j++) {
      real line[N1];
      TESK_UNROLL
      for (int i = 0; i < N1; i++) line[i] = TESK_READ(x + from + b[h] + (i * N1 + j) * G);
      subtract(A, line, w, high * N1 * N + h * N1 + j, N);
    }
  }
}
TESK_DEVICE void couple_b(const real *x, int from, const int a[2], const real *A, int high, real *w) {
  TESK_UNROLL
  for (int h = 0; h < 2; h++) {
    TESK_UNROLL
    for (int i = 0; i < N1; i++) {
      real line[N1];
      TESK_UNROLL
      for (int j = 0; j < N1; j++) line[j] = TESK_READ(x + from + a[h] + (i * N1 + j) * G);
      subtract(A, line, w, (h * N1 + i) * N + high * N1, 1);
    }
  }
}

/* Plane `pl` of component c: 0 .. N the nodes, N + 1 and N + 2 the velocity at both ends. */
TESK_DEVICE void load_velocity(const Place *p, int c, int pl, const real *x, const real *b, real *U) {
  const int d = c == 2 ? 0 : c + 1, e = c == 0 ? 2 : c - 1, end = pl > N,
            at = plane_at(p, c,
                          pl == N + 1   ? 0
                          : pl == N + 2 ? N
                                        : pl);
  const int a[2] = {offset_of(p, d, 0), offset_of(p, d, 1)}, bb[2] = {offset_of(p, e, 0), offset_of(p, e, 1)};
  real w[N * N];
  if (pl == 0 || pl == N) {
    TESK_UNROLL
    for (int i = 0; i < N * N; i++) w[i] = 0;
  } else {
    read_plane((end ? x : b) + at, a, bb, w);
  }
  if (!end) {
    TESK_UNROLL
    for (int h = 0; h < 2; h++) {
      TESK_ROLL
      for (int s = 0; s < sources_of(p, d, h); s++)
        couple_a(x + at, offset_of(p, d, source_cell(h, s)), bb, matrix_of(p, d, source_table(h, s)), h, w);
    }
    FORGET();
    TESK_UNROLL
    for (int h = 0; h < 2; h++) {
      TESK_ROLL
      for (int s = 0; s < sources_of(p, e, h); s++)
        couple_b(x + at, offset_of(p, e, source_cell(h, s)), a, matrix_of(p, e, source_table(h, s)), h, w);
    }
  }
  FORGET();
  plane_to_modes(p, d, e, w);
  real *to = U + (c * PLANES + pl * PLANE) * LANES + p->lane;
  TESK_UNROLL
  for (int i = 0; i < N * N; i++) to[i * LANES] = w[i];
}

/* Plane i of -g, x fixed. */
TESK_DEVICE void load_pressure(const Place *p, int i, const real *b, real *Q) {
  const int cell = i / N1;
  const int a[2] = {offset_of(p, 1, 0), offset_of(p, 1, 1)}, bb[2] = {offset_of(p, 2, 0), offset_of(p, 2, 1)};
  real w[N * N];
  read_plane(b + offset_of(p, 0, cell) + (3 * CUBE + (i - cell * N1) * N1 * N1) * G, a, bb, w);
  plane_to_modes(p, 1, 2, w);
  TESK_UNROLL
  for (int j = 0; j < N; j++) {
    TESK_UNROLL
    for (int k = 0; k < N; k++) Q[(i * SX + j * SY + k * SZ) * LANES + p->lane] = -w[j * N + k];
  }
}

TESK_DEVICE void load_planes(const Place *p, const TeskLanesVectors *v, real *U, real *Q) {
  const real *const x = (const real *)v->x, *const b0 = (const real *)v->b[0],
                    *const b1 = (const real *)v->b[1];
  const int odd = v->odd;
  for (int t = p->task; t < 3 * (N + 3) + N; t += TASKS) {
    if (t < 3 * (N + 3))
      load_velocity(p, t % 3, t / 3, x, odd >> (t % 3) & 1 ? b1 : b0, U);
    else
      load_pressure(p, t - 3 * (N + 3), b0, Q);
  }
}

/* ---- out ------------------------------------------------------------------------------------------------- */

TESK_DEVICE void write_plane(const real *w, const int a[2], const int b[2], real *to) {
  TESK_UNROLL
  for (int h = 0; h < 4; h++) {
    real *q = to + a[h / 2] + b[h % 2];
    TESK_UNROLL
    for (int i = 0; i < N1; i++) {
      TESK_UNROLL
      for (int j = 0; j < N1; j++) q[(i * N1 + j) * G] = w[(h / 2 * N1 + i) * N + h % 2 * N1 + j];
    }
  }
}

/* Plane j < N of component c; the first, which is of no patch, as it was. */
TESK_DEVICE void store_velocity(const Place *p, int c, int j, const real *x, const real *U, real *y) {
  const int d = c == 2 ? 0 : c + 1, e = c == 0 ? 2 : c - 1, at = plane_at(p, c, j);
  const int a[2] = {offset_of(p, d, 0), offset_of(p, d, 1)}, b[2] = {offset_of(p, e, 0), offset_of(p, e, 1)};
  real w[N * N];
  if (j == 0) {
    read_plane(x + at, a, b, w);
  } else {
    const real *from = U + (c * PLANES + j * PLANE) * LANES + p->lane;
    TESK_UNROLL
    for (int i = 0; i < N * N; i++) w[i] = from[i * LANES];
    plane_from_modes(p, d, e, w);
  }
  write_plane(w, a, b, y + at);
}

/* Plane i of the pressure, x fixed. The mean of the patch stays: its coefficients are those of the first modes. */
TESK_DEVICE void store_pressure(const Place *p, int i, const real *x, const real *Q, real *y) {
  const int cell = i / N1, at = offset_of(p, 0, cell) + (3 * CUBE + (i - cell * N1) * N1 * N1) * G;
  const int a[2] = {offset_of(p, 1, 0), offset_of(p, 1, 1)}, b[2] = {offset_of(p, 2, 0), offset_of(p, 2, 1)};
  real w[N * N];
  TESK_UNROLL
  for (int j = 0; j < N; j++) {
    TESK_UNROLL
    for (int k = 0; k < N; k++) w[j * N + k] = Q[(i * SX + j * SY + k * SZ) * LANES + p->lane];
  }
  plane_from_modes(p, 1, 2, w);
  const real mean = i % N1 == 0 ? mean_of(p, x) : 0;
  w[0] += mean, w[N1] += mean, w[N1 * N] += mean, w[N1 * N + N1] += mean;
  write_plane(w, a, b, y + at);
}

/* writes: whether the lane has a patch. */
TESK_DEVICE void store_planes(const Place *p, int writes, const TeskLanesVectors *v, real *U, real *Q) {
  const real *const x = (const real *)v->x;
  real *const y = (real *)v->y;
  for (int t = p->task; t < 4 * N && writes; t += TASKS) {
    if (t < 3 * N)
      store_velocity(p, t / N, t % N, x, U, y);
    else
      store_pressure(p, t - 3 * N, x, Q, y);
  }
}
