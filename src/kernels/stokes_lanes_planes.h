/* Planes of stokes_lanes.cu, included with its macros, for n = 2 and 3. A thread holds a whole plane, N x N numbers
 * in registers, so that both directions across are transformed without a barrier. */
#include "stokes_lanes_tables.h"

TESK_DEVICE void line_to(const Place *p, int modes, int d, const real *in, real *out) {
  if (modes)
    to_modes(p, d, in, out);
  else
    from_modes(p, d, in, out);
}

/* A plane w[N][N], directions d and e, to modes, or from them. modes: a constant */
TESK_DEVICE void turn_plane(const Place *p, const int modes, int d, int e, real *w) {
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    real out[N];
    line_to(p, modes, e, w + i * N, out);
    TESK_UNROLL
    for (int j = 0; j < N; j++) w[i * N + j] = out[j];
  }
  FORGET();
  TESK_UNROLL
  for (int j = 0; j < N; j++) {
    real in[N], out[N];
    TESK_UNROLL
    for (int i = 0; i < N; i++) in[i] = w[i * N + j];
    line_to(p, modes, d, in, out);
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

/* The neighbours across: first in a (above or below, at cell offset `from`), then in b. */
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

/* Planes that are coupled to neighbours across take longest: 3 (N + 1) nodes. Then come 6 ends, and N planes of the
 * pressure. */
#define COUPLED (3 * (N + 1))
#define ENDS 6
#define PLANE_TASKS (COUPLED + ENDS + N)
#define WHOLE ((COUPLED - 1) / TASKS * TASKS) /* coupled planes in rounds that contain no others */
#define SHORT_ROOM (WHOLE + TASKS - COUPLED)  /* tasks without a coupled plane in the round after those */
#define SHORT (SHORT_ROOM < ENDS + N ? SHORT_ROOM : ENDS + N)

/* The plane of task t. Rounds of coupled planes come first. The last of these rounds is filled up with short planes,
 * and the planes that are left go to the tasks that had a short plane in it. */
TESK_DEVICE int plane_of_task(int t) {
  const int next = t - WHOLE;
  if (next < 0 || next >= SHORT + COUPLED - WHOLE) return t;
  return next < SHORT ? COUPLED + next : t - SHORT;
}

/* w += the coupling of plane `at` of x, directions d and e, to the neighbours across. In a, terms that only few lanes
 * have come last, so that loads of the other terms need not wait for a decision; in b more loads under way would
 * spill. */
TESK_DEVICE void couple_plane(const Place *p, int d, int e, const real *x, const int a[2], const int b[2],
                              real *w) {
  TESK_UNROLL
  for (int h = 0; h < 2; h++)
    couple_a(x, offset_of(p, d, source_cell(h, 0)), b, matrix_of(p, d, source_table(h, 0)), h, w);
  FORGET();
  TESK_UNROLL
  for (int h = 0; h < 2; h++) {
    TESK_ROLL
    for (int s = 0; s < sources_of(p, e, h); s++)
      couple_b(x, offset_of(p, e, source_cell(h, s)), a, matrix_of(p, e, source_table(h, s)), h, w);
  }
  TESK_UNROLL
  for (int h = 0; h < 2; h++)
    if (sources_of(p, d, h) == 2)
      couple_a(x, offset_of(p, d, source_cell(h, 1)), b, matrix_of(p, d, source_table(h, 1)), h, w);
}

/* Transforms a plane to modes: of component c, at the nodes 0 .. N, or, for x itself, at both ends; or of g, at fixed
 * x. */
TESK_DEVICE void load_plane(const Place *p, int number, const TeskLanesVectors *v, real *U, real *Q) {
  const real *const x = (const real *)v->x;
  const int coupled = number < COUPLED, pressure = number >= COUPLED + ENDS, c = pressure ? 0 : number % 3,
            node = pressure               ? number - COUPLED - ENDS
                   : coupled              ? number / 3
                   : number < COUPLED + 3 ? 0
                                          : N;
  const int d = c == 2 ? 0 : c + 1, e = c == 0 ? 2 : c - 1,
            at = plane_at(p, c, node) + (pressure ? 3 * CUBE * G : 0);
  const int a[2] = {offset_of(p, d, 0), offset_of(p, d, 1)}, b[2] = {offset_of(p, e, 0), offset_of(p, e, 1)};
  real w[N * N];
  if (coupled && (node == 0 || node == N || v->still)) {
    TESK_UNROLL
    for (int i = 0; i < N * N; i++) w[i] = 0;
  } else {
    const void *const from = pressure ? v->b[0] : !coupled ? v->x : v->odd >> c & 1 ? v->b[1] : v->b[0];
    read_plane((const real *)from + at, a, b, w);
  }
  if (coupled) couple_plane(p, d, e, x + at, a, b, w);
  FORGET();
  turn_plane(p, 1, d, e, w);
  real *const to = (pressure ? Q + node * SX * LANES
                             : U + (c * PLANES + (coupled     ? node
                                                  : node == 0 ? N + 1
                                                              : N + 2) *
                                                     PLANE) *
                                       LANES) +
                   p->lane;
  const int row = (pressure ? SY : PITCH) * LANES;
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    TESK_UNROLL
    for (int j = 0; j < N; j++) to[i * row + j * LANES] = w[i * N + j];
  }
}

TESK_DEVICE void load_planes(const Place *p, const TeskLanesVectors *v, real *U, real *Q) {
  for (int t = p->task; t < PLANE_TASKS; t += TASKS) load_plane(p, plane_of_task(t), v, U, Q);
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

/* Writes plane j < N of component c, or of the pressure (c = 3). The first plane of a component belongs to no patch
 * and is copied. The mean of the pressure in the patch, the coefficients of the first modes, stays as it was. */
TESK_DEVICE void store_plane(const Place *p, int c, int j, const real *x, const real *U, real *y) {
  const int own = c % 3, d = own == 2 ? 0 : own + 1, e = own == 0 ? 2 : own - 1,
            at = plane_at(p, own, j) + (c == 3 ? 3 * CUBE * G : 0);
  const int a[2] = {offset_of(p, d, 0), offset_of(p, d, 1)}, b[2] = {offset_of(p, e, 0), offset_of(p, e, 1)};
  real w[N * N];
  if (j == 0 && c < 3) {
    read_plane(x + at, a, b, w);
  } else {
    const real *from = U + (c < 3 ? c * PLANES + j * PLANE : spare_plane(j)) * LANES + p->lane;
    TESK_UNROLL
    for (int i = 0; i < N * N; i++) w[i] = from[i * LANES];
    turn_plane(p, 0, d, e, w);
    const real mean = c == 3 && j % N1 == 0 ? mean_of(p, x) : 0;
    w[0] += mean, w[N1] += mean, w[N1 * N] += mean, w[N1 * N + N1] += mean;
  }
  write_plane(w, a, b, y + at);
}

/* writes: whether the lane has a patch. */
TESK_DEVICE void store_planes(const Place *p, int writes, const TeskLanesVectors *v, real *U) {
  for (int t = p->task; t < 4 * N && writes; t += TASKS)
    store_plane(p, t / N, t % N, (const real *)v->x, U, (real *)v->y);
}
