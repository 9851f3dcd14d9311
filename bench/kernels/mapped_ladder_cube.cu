/* The ladder of Swirydowicz et al. (2019) in blocks of threads with three directions, their Figures 8 (BP3.5) and 11
 * (BP3.0): benchmark operators on element vectors. A block has one cell. Thread (k, j, i) has the point (k, j, i), i
 * fastest, and also a node if k, j, i < N. So Q is at most 10.
 *   LEVEL 0 global      every contraction reads and writes a work array in global memory; its matrices are in shared
 *                       memory. A launch does interpolation, derivatives and projection as `parts` says: all, or
 *                       one of them per launch ("split")
 *         1 unrolled    the same; inputs are declared constant, loops are unrolled
 *         2 factors     the same; the factors of a point are loaded once, not for each direction
 *         3 registers   the same; a point's result is summed in a register, not in global memory
 *         4 shared      values in one shared array, a barrier before it is read and one before it is written
 *         5 arrays      four shared arrays, written in turn: one barrier per contraction, two for all derivatives
 * Shared memory: Q N + Q^2 numbers, and Q^3 (4) or 4 Q^3 (5). Registers of BP3 in float64 on sm_90: 48 (0), 100 to 122
 * at Q = 8, where launch bounds allow 128, and 64 at Q = 10, where they allow no more. Bytes: levels 0 to 3 read and
 * write 4 to 12 numbers per point more than mapped.cu, in caches if they fit. Flops: as in mapped.cu, without even and
 * odd halves.
 * Macros: real, N, Q, COLLOCATED, MASS, STIFFNESS, LEVEL. */
#include "kernel.h"

#define FACTORS (6 * STIFFNESS + MASS)
#define POINTS (Q * Q * Q)
#define NODES (N * N * N)
#if LEVEL >= 1
#define INPUT const real *TESK_RESTRICT
#define UNROLL TESK_UNROLL
#else
#define INPUT real *
#define UNROLL TESK_ROLL
#endif

enum { INTERPOLATE = 1, DIFFERENTIATE = 2, PROJECT = 4 }; /* bits of `parts` */

typedef struct Cell {
  int i, j, k, at; /* the thread's point; its place in an array [Q][Q][Q] */
  const real *I, *D, *factors;
  real lambda;
} Cell;

/* Row `row` of a matrix, whose entry (row, l) is matrix[row * by_row + l * by_l], times a line of `length` numbers. */
TESK_DEVICE real along(const real *matrix, int row, int by_row, int by_l, int length, const real *line,
                       int stride) {
  real sum = 0;
  UNROLL
  for (int l = 0; l < length; l++) sum += matrix[row * by_row + l * by_l] * line[l * stride];
  return sum;
}

/* The lines of an array [Q][Q][Q] through the thread's point. */
#define LINE_X(a) (a) + (c.k * Q + c.j) * Q, 1
#define LINE_Y(a) (a) + c.k *Q *Q + c.i, Q
#define LINE_Z(a) (a) + c.j *Q + c.i, Q *Q
/* A row of I or D, or of their transposes. */
#define OF_I(row) c.I, (row), N, 1, N
#define OF_IT(row) c.I, (row), 1, N, Q
#define OF_D(row) c.D, (row), Q, 1, Q
#define OF_DT(row) c.D, (row), 1, Q, Q

/* Row d of the factors, m0 m1 m2 | m1 m3 m4 | m2 m4 m5, times g. */
TESK_DEVICE real row_of_factors(const Cell c, int d, const real g[3]) {
  const int first = d == 0 ? 0 : d, second = d == 0 ? 1 : d + 2, third = d == 0 ? 2 : d + 3;
  return c.factors[first * POINTS + c.at] * g[0] + c.factors[second * POINTS + c.at] * g[1] +
         c.factors[third * POINTS + c.at] * g[2];
}

#if LEVEL <= 3
/* ---- work arrays A, B, C, R [Q][Q][Q] in global memory ------------------------------------------------- */
TESK_DEVICE void interpolate(const Cell c, const real *x, real *A, real *B, real *C) {
  if (c.i < N && c.j < N) B[c.at] = along(OF_I(c.k), x + c.j * N + c.i, N * N);
  __syncthreads();
  if (c.i < N) C[c.at] = along(OF_I(c.j), LINE_Y(B));
  __syncthreads();
  A[c.at] = along(OF_I(c.i), LINE_X(C));
  __syncthreads();
}

/* R <- (D' G D + lambda J) A, in the points; w: a work array. */
TESK_DEVICE void differentiate(const Cell c, const real *A, real *R, real *w) {
  real sum = MASS ? c.lambda * c.factors[6 * STIFFNESS * POINTS + c.at] * A[c.at] : 0;
#if STIFFNESS
  const real g[3] = {along(OF_D(c.i), LINE_X(A)), along(OF_D(c.j), LINE_Y(A)), along(OF_D(c.k), LINE_Z(A))};
  real flux[3] = {0, 0, 0};
  for (int d = 0; LEVEL >= 2 && d < 3; d++) flux[d] = row_of_factors(c, d, g);
  if (LEVEL < 3) R[c.at] = sum;
  UNROLL
  for (int d = 0; d < 3; d++) {
    w[c.at] = LEVEL >= 2 ? flux[d] : row_of_factors(c, d, g);
    __syncthreads();
    const real part = d == 0   ? along(OF_DT(c.i), LINE_X(w))
                      : d == 1 ? along(OF_DT(c.j), LINE_Y(w))
                               : along(OF_DT(c.k), LINE_Z(w));
    if (LEVEL < 3)
      R[c.at] += part;
    else
      sum += part;
    __syncthreads();
  }
  if (LEVEL < 3) return;
#endif
  R[c.at] = sum;
  __syncthreads();
}

TESK_DEVICE void project(const Cell c, const real *R, real *y, real *B, real *C) {
  if (c.i < N) B[c.at] = along(OF_IT(c.i), LINE_X(R));
  __syncthreads();
  if (c.i < N && c.j < N) C[c.at] = along(OF_IT(c.j), LINE_Y(B));
  __syncthreads();
  if (c.i < N && c.j < N && c.k < N) y[(c.k * N + c.j) * N + c.i] = along(OF_IT(c.k), LINE_Z(C));
}

TESK_DEVICE void apply_cell(const Cell c, const real *x, real *y, real *A, real *shared, int parts) {
  real *const B = A + POINTS, *const C = B + POINTS, *const R = C + POINTS;
  (void)shared;
#if COLLOCATED
  (void)parts, (void)C, (void)R;
  differentiate(c, x, y, B);
#else
  if (parts & INTERPOLATE) interpolate(c, x, A, B, C);
  if (parts & DIFFERENTIATE) differentiate(c, A, R, B);
  if (parts & PROJECT) project(c, R, y, B, C);
#endif
}

#else
/* ---- values in registers, exchanged through shared memory ---------------------------------------------- */
#define ARRAY(n) (shared + (LEVEL >= 5 ? (n)*POINTS : 0))
/* The v of all threads are in array n. READ: all threads have read it, since the same array is written next. */
#define EXCHANGE(n, v)                                                                                       \
  ARRAY(n)[c.at] = v;                                                                                        \
  __syncthreads();
#define READ()                                                                                               \
  if (LEVEL < 5) __syncthreads();

TESK_DEVICE void apply_cell(const Cell c, const real *x, real *y, real *work, real *shared, int parts) {
  const int in_x = c.i < N, in_xy = in_x && c.j < N, node = in_xy && c.k < N;
  real v = node ? x[(c.k * N + c.j) * N + c.i] : 0;
  (void)work, (void)parts, (void)in_xy;
#if !COLLOCATED
  EXCHANGE(0, v)
  if (in_xy) v = along(OF_I(c.k), LINE_Z(ARRAY(0)));
  READ()
  EXCHANGE(1, v)
  if (in_x) v = along(OF_I(c.j), LINE_Y(ARRAY(1)));
  READ()
  EXCHANGE(2, v)
  v = along(OF_I(c.i), LINE_X(ARRAY(2)));
  READ()
#endif
  const real m = MASS ? c.lambda * c.factors[6 * STIFFNESS * POINTS + c.at] : 0;
#if STIFFNESS
  EXCHANGE(0, v)
  const real g[3] = {along(OF_D(c.i), LINE_X(ARRAY(0))), along(OF_D(c.j), LINE_Y(ARRAY(0))),
                     along(OF_D(c.k), LINE_Z(ARRAY(0)))};
  const real flux[3] = {row_of_factors(c, 0, g), row_of_factors(c, 1, g), row_of_factors(c, 2, g)};
  v *= m;
  READ()
#if LEVEL >= 5
  for (int d = 0; d < 3; d++) ARRAY(1 + d)[c.at] = flux[d];
  __syncthreads();
  v += along(OF_DT(c.i), LINE_X(ARRAY(1))) + along(OF_DT(c.j), LINE_Y(ARRAY(2))) +
       along(OF_DT(c.k), LINE_Z(ARRAY(3)));
#else
  EXCHANGE(0, flux[0])
  v += along(OF_DT(c.i), LINE_X(ARRAY(0)));
  READ()
  EXCHANGE(0, flux[1])
  v += along(OF_DT(c.j), LINE_Y(ARRAY(0)));
  READ()
  EXCHANGE(0, flux[2])
  v += along(OF_DT(c.k), LINE_Z(ARRAY(0)));
  READ()
#endif
#else
  v *= m;
#endif
#if !COLLOCATED
  EXCHANGE(0, v)
  if (in_x) v = along(OF_IT(c.i), LINE_X(ARRAY(0)));
  READ()
  EXCHANGE(1, v)
  if (in_xy) v = along(OF_IT(c.j), LINE_Y(ARRAY(1)));
  READ()
  EXCHANGE(2, v)
  if (node) v = along(OF_IT(c.k), LINE_Z(ARRAY(2)));
#endif
  if (node) y[(c.k * N + c.j) * N + c.i] = v;
}
#endif

TESK_KERNEL(tesk_mapped_ladder_cube, POINTS, 1, (INPUT)x, (real *)y, (INPUT)geometry, (INPUT)I, (INPUT)D,
            (double)lambda, (real *)work, (int)parts) {
  TESK_SHARED(memory);
  const long long cell = blockIdx.x;
  const int thread = (int)threadIdx.x;
  real *const mi = memory, *const md = mi + Q * N;
  const Cell c = {
      thread % Q,  thread / Q % Q, thread / (Q * Q), thread, mi, md, geometry + cell * FACTORS * POINTS,
      (real)lambda};
  for (int l = thread; l < Q * N; l += POINTS) mi[l] = I[l];
  for (int l = thread; l < Q * Q; l += POINTS) md[l] = D[l];
  __syncthreads();
  apply_cell(c, x + cell * NODES, y + cell * NODES, work + cell * 4 * POINTS, md + Q * Q, parts);
}
