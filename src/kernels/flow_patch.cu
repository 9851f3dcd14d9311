/* Cells of discontinuous elements in the order of a velocity, one layer per launch
 * (src/smoother/flow_patch/flow_patch.h):
 *   x_K <- A_KK^-1 (b_K - sum over its faces A_KN x_N)
 * with the inverse as a dense matrix. A block has one cell. Neighbours are never in the same layer, so each entry has
 * one writer.
 *
 * A thread takes one mode after the other. The steps are: traces of the neighbours across all faces with inflow; F
 * times these traces; the residual of the cell, in shared memory; the product with a row of the inverse, which is
 * stored column by column so that neighbouring threads read neighbouring numbers.
 * Shared memory: SIZE + 2 FACES ACROSS numbers. Per cell: SIZE^2 + FACES ACROSS^2 numbers read, which bound the time,
 * one multiply-add for each of them, and 2 FACES N SIZE more.
 * Macros: real, DIM, N (modes of a cell), THREADS. Tables: root [N], modes of the unit cell at its upper end. */
#include "kernel.h"
#include "tables.h"
#include "flow_patch_arguments.h"
#include "cell_sizes.h"

#define EACH(id, count) TESK_ROLL for (int id = (int)threadIdx.x; id < (count); id += THREADS)

/* Number d of three for a d that the compiler does not know: an array argument with a variable index would go to
 * local memory. */
TESK_DEVICE int pick(const int v[3], int d) {
  return d == 0 ? v[0] : d == 1 ? v[1] : v[2];
}
TESK_DEVICE const real *pick_table(const void *const v[3], int d) {
  return (const real *)(d == 0 ? v[0] : d == 1 ? v[1] : v[2]);
}

TESK_DEVICE real end_value(int mode, real upper) {
  return mode % 2 ? upper * tesk_root(mode) : tesk_root(mode);
}

/* The step from one mode to the next of direction d, in vectors. */
TESK_DEVICE long long far_of(const TeskFlowPatch *s, int d) {
  const long long row = s->cells[0] * N;
  return d == 0 ? 1 : d == 1 ? row : row * s->cells[1] * N;
}

TESK_DEVICE long long place_of(const TeskFlowPatch *s, const int at[3]) {
  long long place = 0;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) place += at[d] * N * far_of(s, d);
  return place;
}

/* The step from a cell to the cell behind a face; 0: there is no cell. */
TESK_DEVICE int behind(const TeskFlowPatch *s, const int at[3], int face) {
  const int d = face / 2, last = pick(s->cells, d) - 1, cell = pick(at, d), ring = s->periodic >> d & 1;
  if (face % 2) return cell < last ? 1 : ring ? -last : 0;
  return cell > 0 ? -1 : ring ? last : 0;
}

/* x of the cell behind a face, for the line along its normal with modes a, b across; far: step from one mode to the
 * next. */
TESK_DEVICE const real *line_behind(const TeskFlowPatch *s, const real *x, const int at[3], int face, int a,
                                    int b, long long *far) {
  const int d = face / 2;
  long long place = place_of(s, at);
  *far = far_of(s, d);
  place += behind(s, at, face) * N * *far + a * far_of(s, d == 0 ? 1 : 0);
  if (DIM == 3) place += b * far_of(s, d == 2 ? 1 : 2);
  return x + place;
}

/* trace[FACES][ACROSS] of x behind the faces where the velocity enters. */
TESK_DEVICE void take_traces(const TeskFlowPatch *s, const real *x, const int at[3],
                             const unsigned char *enters, real *trace) {
  EACH(id, FACES * ACROSS) {
    const int face = id / ACROSS, number = id - face * ACROSS, d = face / 2, step = behind(s, at, face),
              own = pick(at, d);
    real sum = 0;
    if (step && enters[face]) {
      long long far;
      const real *const root = pick_table(s->root, d);
      const real *const line = line_behind(s, x, at, face, number % N, number / N, &far);
      TESK_UNROLL
      for (int j = 0; j < N; j++) sum += end_value(j, face % 2 ? -1 : 1) * line[j * far];
      sum *= TESK_READ(root + own) * TESK_READ(root + own + step);
    }
    trace[id] = sum;
  }
  __syncthreads();
}

TESK_DEVICE void multiply_inflow(const TeskFlowPatch *s, long long cell, const unsigned char *enters,
                                 const real *trace, real *flux) {
  EACH(id, FACES * ACROSS) {
    const int face = id / ACROSS, row = id - face * ACROSS;
    const real *const F = (const real *)s->inflow + (cell * FACES + face) * ACROSS * ACROSS + row;
    real sum = 0;
    if (enters[face]) {
      TESK_ROLL
      for (int t = 0; t < ACROSS; t++) sum += TESK_READ(F + t * ACROSS) * trace[face * ACROSS + t];
    }
    flux[id] = sum;
  }
  __syncthreads();
}

/* The contribution of the neighbour behind a face to mode m: A_KN x. */
TESK_DEVICE real from_neighbour(const TeskFlowPatch *s, const real *x, const int at[3], int face,
                                const int m[3], const real *flux) {
  const int d = face / 2, side = face % 2, own = pick(at, d), i = pick(m, d), a = d == 0 ? m[1] : m[0],
            b = DIM == 3 ? (d == 2 ? m[1] : m[2]) : 0;
  long long far;
  const real *const C = pick_table(s->jump, d) + ((own * 2 + side) * N + i) * N;
  const real *const line = line_behind(s, x, at, face, a, b, &far);
  real sum = end_value(i, side ? 1 : -1) * flux[face * ACROSS + b * N + a];
  TESK_UNROLL
  for (int j = 0; j < N; j++) sum += TESK_READ(C + j) * line[j * far];
  return sum;
}

/* Cells order[first] ..., one block per cell. */
TESK_KERNEL(tesk_flow_patch, THREADS, 1, (const real *TESK_RESTRICT)b, (real *)x, (TeskFlowPatch)s,
            (int)first) {
  TESK_SHARED(r);
  real *const trace = r + SIZE, *const flux = trace + FACES * ACROSS;
  const long long cell = s.order[first + (int)blockIdx.x];
  const int row = (int)cell / s.cells[0], layer = row / s.cells[1];
  const int at[3] = {(int)cell - row * s.cells[0], row - layer * s.cells[1], layer};
  const unsigned char *const enters = s.enters + cell * FACES;
  const long long place = place_of(&s, at);
  take_traces(&s, x, at, enters, trace);
  multiply_inflow(&s, cell, enters, trace, flux);
  EACH(id, SIZE) {
    const int m[3] = {id % N, id / N % N, id / N / N};
    real sum = TESK_READ(b + place + m[0] + m[1] * far_of(&s, 1) + (DIM == 3 ? m[2] * far_of(&s, 2) : 0));
    TESK_UNROLL
    for (int f = 0; f < FACES; f++)
      if (behind(&s, at, f)) sum -= from_neighbour(&s, x, at, f, m, flux);
    r[id] = sum;
  }
  __syncthreads();
  EACH(id, SIZE) {
    const int m[3] = {id % N, id / N % N, id / N / N};
    const real *const column = (const real *)s.inverse + cell * SIZE * SIZE + id;
    real sum = 0;
    TESK_ROLL
    for (int j = 0; j < SIZE; j++) sum += TESK_READ(column + (long long)j * SIZE) * r[j];
    x[place + m[0] + m[1] * far_of(&s, 1) + (DIM == 3 ? m[2] * far_of(&s, 2) : 0)] = sum;
  }
}
