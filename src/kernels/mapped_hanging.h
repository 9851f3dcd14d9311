/* Hanging nodes of the cells of mapped.cu, which includes this file: the steps of include/tessera/space.h.
 *
 *Lines along the direction of a thread's own line are interpolated in its registers. For the other two directions all
 *nodes go to shared memory and back; moving only the affected nodes is up to 17 % slower. Only lines in the three
 *planes in which a child touches its parent's boundary can be interpolated. A cell and direction have 2 N such lines,
 *N in each of the two planes along the direction (the first plane has the line in both); a thread takes one of them.
 *Upper children are lower children seen from the other end, so one matrix W serves both: lines of upper children are
 *read and written backwards.
 *The mask of a block's first cell says in which directions any line of the block is interpolated (bit DIRECTIONS +
 *d); the host puts cells with the same directions together. Most blocks of an adapted mesh have two directions, one
 *of them in registers. */
#ifndef TESK_MAPPED_HANGING_H
#define TESK_MAPPED_HANGING_H

#include "hanging_lines.h"

#define OWN (COLLOCATED ? 2 : 1)    /* the direction of a thread's own line */
#define ACROSS (COLLOCATED ? 1 : 2) /* lines of a thread are numbered along x, then along this direction */
#define SIDE(mask, d) ((mask) >> (d)&1 ? N - 1 : 0)

typedef struct Hanging {
  int directions; /* of the block */
  int own;        /* whether the thread's own line is interpolated: 1 of a lower child, 2 of an upper one */
  int mask, plane, at; /* of its line in the sweeps */
  real *cube;
} Hanging;

TESK_DEVICE int mask_of(const TeskMapped *a, Cell cell) {
  return cell.valid ? TESK_READ(a->masks + cell.number) : 0;
}

TESK_DEVICE Hanging find_hanging(const TeskMapped *a, long long first, int t, Cell cell, real *s) {
  Hanging h;
  const int c = t / (2 * N), l = t % (2 * N), line = t % LINES;
  h.directions = mask_of(a, find_cell(a, (long long)blockIdx.x * GROUPS * CELLS, 0)) >> TESK_DIRECTIONS;
  h.own = 0;
  h.plane = l / N;
  h.at = l % N;
  h.cube = s + c * PC;
  /* read before `directions` is known: waiting for it would cost a block one more latency of memory */
  const int mask = t < CELLS * LINES ? mask_of(a, cell) : 0;
  h.mask = t < CELLS * 2 * N ? mask_of(a, find_cell(a, first, c)) : 0;
  const int on_x = line % N == SIDE(mask, 0), on_across = line / N == SIDE(mask, ACROSS);
  if (tesk_mask_line(mask, OWN, on_x, on_across)) h.own = 1 + (mask >> OWN & 1);
  return h;
}

/* in <- W in, or W' in, with W for lower children, whose first row is a unit vector. */
#define MULTIPLY_BY_W(in, result)                                                                            \
  TESK_UNROLL                                                                                                \
  for (int i = 0; i < N; i++) {                                                                              \
    real sum = i == 0 ? in[0] : 0;                                                                           \
    TESK_UNROLL                                                                                              \
    for (int j = transposed ? 1 : 0; j < N && (transposed || i > 0); j++)                                    \
      sum += (transposed ? tesk_w(j * N + i) : tesk_w(i * N + j)) * in[j];                                   \
    result = sum;                                                                                            \
  }

TESK_DEVICE void hang_own(const Hanging *h, const int transposed, real v[N]) {
  real in[N], out[N];
  if (!h->own) return;
  TESK_UNROLL
  for (int l = 0; l < N; l++) in[l] = h->own == 2 ? v[N - 1 - l] : v[l];
  MULTIPLY_BY_W(in, out[i])
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = h->own == 2 ? out[N - 1 - l] : out[l];
}

TESK_DEVICE void hang_line(const Hanging *h, const int d, const int transposed) {
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2, stride[3] = {1, PY, PZ};
  const int side_e = SIDE(h->mask, e), side_f = SIDE(h->mask, f);
  const int at_e = h->plane ? h->at : side_e, at_f = h->plane ? side_f : h->at;
  if ((h->plane && at_e == side_e) || !tesk_mask_line(h->mask, d, at_e == side_e, at_f == side_f)) return;
  const int upper = h->mask >> d & 1, step = upper ? -stride[d] : stride[d];
  real *const line = h->cube + at_e * stride[e] + at_f * stride[f] + upper * (N - 1) * stride[d];
  real in[N];
  READ_LINE(N, line, step, in)
  MULTIPLY_BY_W(in, line[i * step])
}

/* Interpolates from nodes of the coarse side to the cell's own nodes, or applies the transpose. v is the thread's line,
 * and `own` is the place of the line in shared memory. The order of the directions does not matter. */
TESK_DEVICE void hang(const Hanging *h, const int transposed, int t, real *own, const int step, real v[N]) {
  hang_own(h, transposed, v);
  if (!(h->directions & (1 | 1 << ACROSS))) return;
  if (t < CELLS * LINES) {
    WRITE_LINE(N, own, step, v)
  }
  BARRIER();
  if (h->directions & 1) {
    hang_line(h, 0, transposed);
    BARRIER();
  }
  if (h->directions >> ACROSS & 1) {
    hang_line(h, ACROSS, transposed);
    BARRIER();
  }
  if (t < CELLS * LINES) {
    READ_LINE(N, own, step, v)
  }
}

#endif
