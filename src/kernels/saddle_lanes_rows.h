/* Planes of saddle_lanes.cu, included with its macros, where a thread holds a row of one: the second direction
 * across is turned in shared memory, behind a barrier. Where whole planes do not fit into registers: n = 4 and 5. */
#include "saddle_lanes_tables.h"

/* ---- in -------------------------------------------------------------------------------------------------- */

/* One row of a plane, as load_velocity; then the rows are only in modes of b. */
TESK_DEVICE void load_row(const Place *p, int c, int pl, int i, const real *x, const real *b, real *U) {
  const int d = c == 2 ? 0 : c + 1, e = c == 0 ? 2 : c - 1, end = pl > N, cell = i >= N1, row = i - cell * N1;
  const int at = plane_at(p, c,
                          pl == N + 1   ? 0
                          : pl == N + 2 ? N
                                        : pl),
            own = offset_of(p, d, cell) + row * N1 * G;
  const int bb[2] = {offset_of(p, e, 0), offset_of(p, e, 1)};
  const real *from = (end ? x : b) + at + own;
  real w[N], line[N1], out[N];
  TESK_UNROLL
  for (int j = 0; j < N; j++) w[j] = pl == 0 || pl == N ? 0 : TESK_READ(from + bb[j / N1] + j % N1 * G);
  if (!end) {
    const real *A = p->table + d * TABLE + (cell ? AT_HIGH : AT_LOW) + row * ROW_1, *B = p->table + e * TABLE,
               *beside = x + at + offset_of(p, d, cell ? 2 : -1);
    TESK_UNROLL
    for (int l = 0; l < N1; l++) {
      TESK_UNROLL
      for (int j = 0; j < N; j++) w[j] -= A[l] * TESK_READ(beside + bb[j / N1] + (l * N1 + j % N1) * G);
    }
    TESK_UNROLL
    for (int j = 0; j < N1; j++) line[j] = TESK_READ(x + at + own + offset_of(p, e, -1) + j * G);
    subtract(B + AT_LOW, line, w, 0, 1);
    TESK_UNROLL
    for (int j = 0; j < N1; j++) line[j] = TESK_READ(x + at + own + offset_of(p, e, 2) + j * G);
    subtract(B + AT_HIGH, line, w, N1, 1);
  }
  multiply(p->table + e * TABLE + AT_FORWARD, N, N, ROW_N, w, out);
  real *to = U + (c * PLANES + pl * PLANE + i * PITCH) * LANES + p->lane;
  TESK_UNROLL
  for (int j = 0; j < N; j++) to[j * LANES] = out[j];
}

/* Row j of plane i of -g, x fixed. */
TESK_DEVICE void load_pressure_row(const Place *p, int i, int j, const real *b, real *Q) {
  const int cell = i >= N1, row = j >= N1;
  const real *from = b + offset_of(p, 0, cell) + offset_of(p, 1, row) +
                     (3 * CUBE + ((i - cell * N1) * N1 + j - row * N1) * N1) * G;
  real w[N], out[N];
  TESK_UNROLL
  for (int k = 0; k < N; k++) w[k] = TESK_READ(from + offset_of(p, 2, k / N1) + k % N1 * G);
  multiply(p->table + 2 * TABLE + AT_FORWARD, N, N, ROW_N, w, out);
  TESK_UNROLL
  for (int k = 0; k < N; k++) Q[(i * SX + j * SY + k * SZ) * LANES + p->lane] = -out[k];
}

/* A line in shared memory <- A times it. */
TESK_DEVICE void turn_line(const real *A, int step, real *line) {
  real in[N], out[N];
  TESK_UNROLL
  for (int i = 0; i < N; i++) in[i] = line[i * step * LANES];
  multiply(A, N, N, ROW_N, in, out);
  TESK_UNROLL
  for (int i = 0; i < N; i++) line[i * step * LANES] = out[i];
}

/* Line t along a of the planes from `first` on of the components (count a component), then of the pressure. */
TESK_DEVICE void turn_rows(const Place *p, int t, int first, int count, int table, real *U, real *Q) {
  const int pl = t / N, c = pl / count, j = t % N, d = c == 2 ? 0 : c + 1;
  if (c < 3)
    turn_line(p->table + d * TABLE + table, PITCH,
              U + (c * PLANES + (first + pl - c * count) * PLANE + j) * LANES + p->lane);
  else
    turn_line(p->table + TABLE + table, SY, Q + ((pl - 3 * count) * SX + j * SZ) * LANES + p->lane);
}

TESK_DEVICE void load_planes(const Place *p, const real *x, const real *const b[2], int odd, real *U,
                             real *Q) {
  for (int t = p->task; t < 3 * (N + 3) * N; t += TASKS)
    load_row(p, t / N % 3, t / N / 3, t % N, x, b[odd >> (t / N % 3) & 1], U);
  for (int t = p->task; t < N * N; t += TASKS) load_pressure_row(p, t / N, t % N, b[0], Q);
  __syncthreads();
  for (int t = p->task; t < (3 * (N + 3) + N) * N; t += TASKS) turn_rows(p, t, 0, N + 3, AT_FORWARD, U, Q);
}

/* ---- out ------------------------------------------------------------------------------------------------- */

/* Row i of plane j of a component, or of the pressure (c = 3): along b, and written; the rest as above. */
TESK_DEVICE void store_row(const Place *p, int c, int j, int i, const real *x, const real *U, const real *Q,
                           real *y) {
  const int own = c % 3, d = own == 2 ? 0 : own + 1, e = own == 0 ? 2 : own - 1, cell = i >= N1, of = j >= N1;
  const int at = offset_of(p, own, of) + offset_of(p, d, cell) +
                 (c * CUBE + ((j - of * N1) * N1 + i - cell * N1) * N1) * G;
  const int bb[2] = {offset_of(p, e, 0), offset_of(p, e, 1)};
  real w[N], out[N];
  if (j == 0 && c < 3) {
    TESK_UNROLL
    for (int k = 0; k < N; k++) out[k] = TESK_READ(x + at + bb[k / N1] + k % N1 * G);
  } else {
    const real *from =
        c < 3 ? U + (c * PLANES + j * PLANE + i * PITCH) * LANES : Q + (j * SX + i * SY) * LANES;
    TESK_UNROLL
    for (int k = 0; k < N; k++) w[k] = from[k * LANES + p->lane];
    multiply(p->table + e * TABLE + AT_BACK, N, N, ROW_N, w, out);
  }
  const real mean = c == 3 && j % N1 == 0 && i % N1 == 0 ? mean_of(p, x) : 0;
  out[0] += mean;
  out[N1] += mean;
  TESK_UNROLL
  for (int k = 0; k < N; k++) y[at + bb[k / N1] + k % N1 * G] = out[k];
}

/* writes: whether the lane has a patch. */
TESK_DEVICE void store_planes(const Place *p, int writes, const real *x, real *U, real *Q, real *y) {
  for (int t = p->task; t < (3 * M + N) * N; t += TASKS) turn_rows(p, t, 1, M, AT_BACK, U, Q);
  __syncthreads();
  for (int t = p->task; t < 4 * N * N && writes; t += TASKS)
    store_row(p, t / (N * N), t / N % N, t % N, x, U, Q, y);
}
