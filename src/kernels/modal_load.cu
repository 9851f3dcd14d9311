/* Loads over discontinuous Q_k (functional/rt/rt_load_device.h), 2D and 3D: functions at Gauss points, tested
 * with the Legendre modes of cells, one block per cell; the time is in `when`.
 *   tesk_modal_cells     b <- int f v, the whole vector
 *   tesk_modal_faces     b += int over an end of the box of g (weight v), in the cells there
 *   tesk_modal_inflow    the same of (b.n)- g, with the speeds of src/kernels/upwind.cu at its points
 * A thread evaluates the functions at points, then contracts lines of points with the modes, one direction after the
 * other, through two arrays of shared memory. An entry has one writer. Flops per cell: 2 N Q^DIM, and Q^DIM
 * evaluations of the function. Bytes: b once; at faces b of their cells twice.
 * Macros: real = double, DIM, N (modes of a cell), Q (points), THREADS. Tables: modal [Q][N], point [Q], weight [Q];
 * tesk_value(number, x, y, z, t), f number 0. */
#include "kernel.h"
#include "tables.h"
#include "clock.h"
#include "modal_load_arguments.h"
#include "cell_sizes.h"

#define EACH(id, count) TESK_ROLL for (int id = (int)threadIdx.x; id < (count); id += THREADS)

/* to <- the moments of lines of points: from [outer][Q][inner] to [outer][N][inner]. */
TESK_DEVICE void contract(int inner, int outer, const real *from, real *to) {
  EACH(line, inner * outer) {
    const int o = line / inner, i = line - o * inner;
    const real *const in = from + o * Q * inner + i;
    real value[Q];
    TESK_UNROLL
    for (int q = 0; q < Q; q++) value[q] = in[q * inner];
    TESK_UNROLL
    for (int m = 0; m < N; m++) {
      real sum = 0;
      TESK_UNROLL
      for (int q = 0; q < Q; q++) sum += tesk_modal(q * N + m) * value[q];
      to[(o * N + m) * inner + i] = sum;
    }
  }
  __syncthreads();
}

/* The place of a cell's first mode; the step from one mode to the next of direction d. */
TESK_DEVICE long long far_of(const TeskModal *s, int d) {
  const long long row = s->cells[0] * N;
  return d == 0 ? 1 : d == 1 ? row : row * s->cells[1] * N;
}

TESK_DEVICE long long place_of(const TeskModal *s, const int at[3], const int m[3]) {
  long long place = 0;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) place += (at[d] * N + m[d]) * far_of(s, d);
  return place;
}

/* Function `number` at a point of a cell, with indices q per direction; where = d: at an end of direction d. */
TESK_DEVICE real value_at(const TeskModal *s, const int at[3], const int q[3], int where, int end, int number,
                          TeskClock *when) {
  double x[3] = {0, 0, 0};
  TESK_UNROLL
  for (int d = 0; d < DIM; d++)
    x[d] = d == where ? s->x[d][at[d] + end] : s->x[d][at[d]] + tesk_point(q[d]) * s->h[d][at[d]];
  const double value = tesk_value(number, x[0], x[1], x[2], when->time);
  if (!(value - value == 0)) when->refused = 1;
  return value;
}

TESK_KERNEL(tesk_modal_cells, THREADS, 1, (double *)b, (TeskModal)s, (TeskClock *)when) {
  TESK_SHARED(A);
  real *const B = A + POINTS;
  const int number = (int)blockIdx.x, row = number / s.cells[0], layer = row / s.cells[1];
  const int at[3] = {number - row * s.cells[0], row - layer * s.cells[1], layer};
  real scale = 1;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) scale *= s.h[d][at[d]];
  scale = sqrt(scale);
  EACH(id, POINTS) {
    const int q[3] = {id % Q, id / Q % Q, id / Q / Q};
    real w = 1;
    TESK_UNROLL
    for (int d = 0; d < DIM; d++) w *= tesk_weight(q[d]);
    A[id] = w * value_at(&s, at, q, -1, 0, 0, when);
  }
  __syncthreads();
#if DIM == 3
  contract(Q * Q, 1, A, B);
  contract(Q, N, B, A);
  contract(1, N * N, A, B);
#else
  contract(Q, 1, A, B);
  contract(1, N, B, A);
#endif
  const real *const sums = DIM == 3 ? B : A;
  EACH(id, SIZE) {
    const int m[3] = {id % N, id / N % N, id / N / N};
    b[place_of(&s, at, m)] = scale * sums[id];
  }
}

/* The cell of a block at an end: its numbers in the other directions, x fastest. */
TESK_DEVICE void cell_at(const TeskModal *s, int d, int end, int at[3]) {
  int rest = (int)blockIdx.x;
  TESK_UNROLL
  for (int e = 0; e < 3; e++) {
    if (e == d) {
      at[e] = end ? s->cells[e] - 1 : 0;
    } else {
      at[e] = rest % s->cells[e];
      rest /= s->cells[e];
    }
  }
}

/* b += weight times the moments across of A [FACE]. */
TESK_DEVICE void add_face(const TeskModal *s, const TeskModalFace *f, const int at[3], real scale, real *A,
                          double *b) {
  real *const B = A + POINTS;
  __syncthreads();
#if DIM == 3
  contract(Q, 1, A, B);
  contract(1, N, B, A);
#else
  contract(1, 1, A, B);
#endif
  const real *const sums = DIM == 3 ? A : B;
  EACH(id, SIZE) {
    const int m[3] = {id % N, id / N % N, id / N / N}, d = f->d;
    const int first = d == 0 ? m[1] : m[0],
              second = DIM == 2 ? 0
                       : d == 2 ? m[1]
                                : m[2],
              along = d == 0   ? m[0]
                      : d == 1 ? m[1]
                               : m[2];
    b[place_of(s, at, m)] += scale * f->weight[along] * sums[second * N + first];
  }
}

/* The indices of point `id` of a face, by direction. */
TESK_DEVICE void point_of(int id, int d, int q[3]) {
  const int first = id % Q, second = id / Q;
  q[0] = d == 0 ? 0 : first;
  q[1] = d == 0 ? first : d == 1 ? 0 : second;
  q[2] = d == 2 ? 0 : second;
}

/* Grid: cells of the end. */
TESK_KERNEL(tesk_modal_faces, THREADS, 1, (double *)b, (TeskModal)s, (TeskModalFace)f, (TeskClock *)when) {
  TESK_SHARED(A);
  int at[3];
  real scale = 1;
  cell_at(&s, f.d, f.end, at);
  TESK_UNROLL
  for (int d = 0; d < DIM; d++)
    if (d != f.d) scale *= s.h[d][at[d]];
  EACH(id, FACE) {
    int q[3];
    point_of(id, f.d, q);
    real w = 1;
    TESK_UNROLL
    for (int d = 0; d < DIM; d++)
      if (d != f.d) w *= tesk_weight(q[d]);
    A[id] = w * value_at(&s, at, q, f.d, f.end, f.number, when);
  }
  add_face(&s, &f, at, sqrt(scale), A, b);
}

/* speed[cells, or 1][2 DIM][FACE] contains the weights of the points; step: from one cell to the next. */
TESK_KERNEL(tesk_modal_inflow, THREADS, 1, (double *)b, (TeskModal)s, (TeskModalFace)f,
            (const double *TESK_RESTRICT)speed, (long long)step, (TeskClock *)when) {
  TESK_SHARED(A);
  int at[3];
  real scale = 1;
  cell_at(&s, f.d, f.end, at);
  TESK_UNROLL
  for (int d = 0; d < DIM; d++)
    if (d != f.d) scale *= s.h[d][at[d]];
  const long long cell = at[0] + (long long)s.cells[0] * (at[1] + (long long)s.cells[1] * at[2]);
  const double *const own = speed + cell * step + (2 * f.d + f.end) * FACE;
  EACH(id, FACE) {
    int q[3];
    point_of(id, f.d, q);
    const real in = own[id] < 0 ? own[id] : 0;
    A[id] = in * value_at(&s, at, q, f.d, f.end, f.number, when);
  }
  add_face(&s, &f, at, 1 / sqrt(scale), A, b);
}
