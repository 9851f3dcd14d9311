/* Conversion of Stokes vectors between the usual order and the order of stokes_lanes.cu (stokes_arguments.h), and
 * preparation of the right-hand side for its patches. No shared memory.
 *   in, prepare  a block has 32 cells of a row, 16 of each class in x, of one component or the pressure. A thread has
 *                a line of N1 numbers (prepare: 2 N1 - 1) along the component's direction; for pressures along x. So
 *                a block uses all of the sectors that it reads, although a line across x has the numbers of N1 other
 *                lines between its own. About 40 and 60 registers.
 *   out          a block has the rows of entries of a row of cells, a thread N1 entries side by side in y. About 25
 *                registers.
 * Bytes: each number is read and written once; prepare reads once and writes twice, with 2 (2 n - 1) flops per
 * number. Macros: real, N1. */
#include "kernel.h"
#include "four.h"
#include "stokes_arguments.h"

#define M (2 * N1 - 1)
#define ROW_M ((M + 3) / 4 * 4)
#define SQUARE (N1 * N1)
#define THREADS (2 * G * SQUARE) /* in, prepare: all lines of a part, 16 cells of both classes */
#define THREADS_OUT 128
#define CUBE (N1 * N1 * N1)
#define VALUES (4 * CUBE)
#define G TESK_LANES_GROUP

/* Where a cell begins. */
TESK_DEVICE int place_of(const TeskLanes *s, const int cell[3]) {
  const int row = s->half[0] * VALUES, half = cell[0] / 2;
  return ((cell[0] & 1) + 2 * (cell[1] & 1) + 4 * (cell[2] & 1)) * s->class_size + half / G * (VALUES * G) +
         half % G + (cell[2] / 2 * s->half[1] + cell[1] / 2) * row;
}

/* A line of a cell along the direction c of its component: its start in both orders, and the steps in them. */
typedef struct Line {
  int cell[3], part, c, exists, place, value;
  long long entry, step;
} Line;

/* The thread's line in a piece of a row of cells; pieces go through the four parts in turn. exists: -1 behind the
 * last line of the row, 0 in the cells that fill up a group. */
TESK_DEVICE Line line_of(const TeskLanes *s, unsigned piece) {
  Line l;
  const unsigned id = piece * THREADS + threadIdx.x, row = blockIdx.x, rows = 2 * (unsigned)s->half[1];
  const int task = (int)(id / (2 * G) % (4 * SQUARE)), a = task / N1 % N1, b = task % N1;
  l.part = task / SQUARE;
  l.c = l.part % 3; /* the pressure is stored like component 0 */
  l.cell[0] = (int)(id / (2 * G * 4 * SQUARE) * (2 * G) + id % (2 * G));
  l.cell[1] = (int)(row % rows);
  l.cell[2] = (int)(row / rows);
  l.exists = 1;
  int at[3];
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    l.exists = l.exists && l.cell[d] < s->cells[d];
    at[d] = l.cell[d] * N1 + (d == l.c ? 0 : d == (l.c + 1) % 3 ? a : b);
  }
  if (l.cell[0] >= 2 * s->half[0]) l.exists = -1;
  const int *const e = s->parts.extent[l.part];
  l.value = l.part * CUBE + a * N1 + b;
  l.place = place_of(s, l.cell) + l.value * G;
  l.step = l.c == 0 ? 1 : l.c == 1 ? e[0] : (long long)e[0] * e[1];
  l.entry = s->parts.offset[l.part] + ((long long)at[2] * e[1] + at[1]) * e[0] + at[0];
  return l;
}

/* Grid: rows of cells, pieces. */
TESK_KERNEL(tesk_lanes_in, THREADS, 1, (TeskLanes)s, (const real *TESK_RESTRICT)x, (real *)y) {
  const Line l = line_of(&s, blockIdx.y);
  if (l.exists < 0) return;
  TESK_UNROLL
  for (int i = 0; i < N1; i++) y[l.place + i * SQUARE * G] = l.exists ? x[l.entry + i * l.step] : 0;
}

/* i[d], by comparisons: an array with a variable index would be in local memory. */
TESK_DEVICE int pick(const int i[3], int d) {
  return d == 0 ? i[0] : d == 1 ? i[1] : i[2];
}

/* M^-1 b along the component's direction, in the patch of the line's cell and the next cell. */
TESK_DEVICE void prepare(const TeskLanes *s, const TeskLanesMass *m, const Line *l, const real *b, real *to) {
  const int v = pick(l->cell, l->c), end = s->parts.extent[l->part][l->c];
  const void *const inverse = l->c == 0 ? m->inverse[0] : l->c == 1 ? m->inverse[1] : m->inverse[2];
  const int *const kind = l->c == 0 ? m->kind[0] : l->c == 1 ? m->kind[1] : m->kind[2];
  const real *const table = (const real *)inverse + kind[v] * (M * ROW_M);
  int next[3];
  real in[M];
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    next[d] = l->cell[d] + (d == l->c);
    if (next[d] == s->cells[d]) next[d] = 0; /* in periodic directions */
  }
  const int beyond = place_of(s, next) + l->value * G;
  TESK_UNROLL
  for (int i = 0; i < M; i++) {
    const int at = v * N1 + 1 + i < end ? 1 + i : 1 + i - end;
    in[i] = b[l->entry + at * l->step];
  }
  TESK_UNROLL
  for (int i = 0; i < M; i++) {
    real sum = 0;
    TESK_UNROLL
    for (int j = 0; j < M; j += 4) {
      const Four row = *(const Four *)(table + i * ROW_M + j);
      TESK_UNROLL
      for (int e = 0; e < 4; e++)
        if (j + e < M) sum += row.v[e] * in[j + e];
    }
    to[1 + i < N1 ? l->place + (1 + i) * SQUARE * G : beyond + (1 + i - N1) * SQUARE * G] = sum;
  }
}

/* b0, b1: for patches around even and odd vertices of the component's direction; pressures in b0. Numbers of nodes
 * inside no such patch are neither written nor read. Grid: as above; pressures: only these, a fourth of the
 * pieces. */
TESK_KERNEL(tesk_lanes_prepare, THREADS, 1, (TeskLanes)s, (TeskLanesMass)m, (const real *TESK_RESTRICT)b,
            (real *)b0, (real *)b1, (int)pressures) {
  const Line l = line_of(&s, pressures ? 4 * blockIdx.y + 3 : blockIdx.y);
  if (l.exists <= 0) return;
  if (l.part < 3) {
    const int v = pick(l.cell, l.c);
    if (v < pick(m.vertices, l.c)) prepare(&s, &m, &l, b, v & 1 ? b1 : b0);
  } else {
    TESK_UNROLL
    for (int i = 0; i < N1; i++) b0[l.place + i * SQUARE * G] = b[l.entry + i];
  }
}

/* Grid: planes of cells of the largest part, (cells in y, rounded up) x (entries in z); parts. */
TESK_KERNEL(tesk_lanes_out, THREADS_OUT, 1, (TeskLanes)s, (const real *TESK_RESTRICT)x, (real *)y) {
  const int part = (int)blockIdx.y, c = part % 3;
  const int *const e = s.parts.extent[part];
  const int across = (e[1] + N1 - 1) / N1, z = (int)blockIdx.x / across, cy = (int)blockIdx.x - z * across;
  if (z >= e[2]) return;
  const int az = z % N1, rows = e[1] - cy * N1, exist = cy < s.cells[1] && z / N1 < s.cells[2];
  const int step_x = c == 0   ? SQUARE
                     : c == 1 ? 1
                              : N1,
            step_y = c == 0   ? N1
                     : c == 1 ? SQUARE
                              : 1,
            step_z = c == 0   ? 1
                     : c == 1 ? N1
                              : SQUARE;
  real *const to = y + s.parts.offset[part] + ((long long)z * e[1] + cy * N1) * e[0];
  for (int i = (int)threadIdx.x; i < e[0]; i += THREADS_OUT) {
    const int cell[3] = {i / N1, cy, z / N1}, ax = i - cell[0] * N1;
    const int exists = exist && cell[0] < s.cells[0];
    const real *const from = x + place_of(&s, cell) + (part * CUBE + ax * step_x + az * step_z) * G;
    real v[N1];
    TESK_UNROLL
    for (int j = 0; j < N1; j++) v[j] = exists ? TESK_READ(from + j * step_y * G) : 0;
    TESK_UNROLL
    for (int j = 0; j < N1; j++)
      if (j < rows) to[j * e[0] + i] = v[j];
  }
}
