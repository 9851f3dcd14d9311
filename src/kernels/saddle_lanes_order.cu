/* Vectors of Stokes between the order of all others and that of saddle_lanes.cu (saddle_arguments.h), and the
 * right-hand side as its patches want it. A thread a number, in the order of what is written; no shared memory, about
 * 40 registers. Bytes a number: read and written once; prepare writes two, and reads 2 n - 1 for each, mostly from the
 * caches, with as many multiplications. Macros: real, N1. */
#include "kernel.h"

#define THREADS 256
#include "rt_entries.h"

#define M (2 * N1 - 1)
#define CUBE (N1 * N1 * N1)
#define VALUES (4 * CUBE)
#define G TESK_LANES_GROUP

/* A number of a vector by classes: its cell, its part, and where in the cell. */
typedef struct Number {
  int cell[3], part, at[3], exists;
} Number;

TESK_DEVICE Number number_of(const TeskLanes *s, unsigned id) {
  const unsigned rows = (unsigned)s->half[0] / G;
  unsigned rest = id / (G * VALUES);
  const int value = (int)(id / G % VALUES), inside = value % CUBE;
  const int along = inside / (N1 * N1), a = inside / N1 % N1, b = inside % N1;
  Number k;
  k.cell[0] = (int)(rest % rows * G + id % G) * 2;
  rest /= rows;
  k.cell[1] = (int)(rest % (unsigned)s->half[1]) * 2;
  rest /= (unsigned)s->half[1];
  k.cell[2] = (int)(rest % (unsigned)s->half[2]) * 2;
  rest /= (unsigned)s->half[2];
  k.part = value / CUBE;
  const int c = k.part % 3; /* the pressure is stored as component 0 is */
  k.exists = 1;
  for (int d = 0; d < 3; d++) {
    k.cell[d] += (int)(rest >> d & 1);
    k.at[d] = d == c ? along : d == (c + 1) % 3 ? a : b;
    k.exists = k.exists && k.cell[d] < s->cells[d];
  }
  return k;
}

/* The entry with so many nodes or modes of direction d more, on rings going on at the beginning. */
TESK_DEVICE long long entry_at(const TeskLanes *s, const Number *k, int d, int index) {
  const int *const e = s->parts.extent[k->part];
  int at[3];
  for (int i = 0; i < 3; i++) at[i] = k->cell[i] * N1 + k->at[i];
  if (d >= 0) at[d] = index < e[d] ? index : index - e[d];
  return s->parts.offset[k->part] + ((long long)at[2] * e[1] + at[1]) * e[0] + at[0];
}

#define FOR_NUMBERS(id)                                                                                      \
  for (unsigned id = blockIdx.x * THREADS + threadIdx.x; id < 8u * (unsigned)s.class_size;                   \
       id += gridDim.x * THREADS)

TESK_KERNEL(tesk_lanes_in, THREADS, 1, (TeskLanes)s, (const real *TESK_RESTRICT)x, (real *)y) {
  FOR_NUMBERS(id) {
    const Number k = number_of(&s, id);
    y[id] = k.exists ? x[entry_at(&s, &k, -1, 0)] : 0;
  }
}

/* M^-1 b along the component's direction for the patch that has the number inside; 0 where there is none. */
TESK_DEVICE real prepared(const TeskLanes *s, const TeskLanesMass *m, const Number *k, int odd,
                          const real *b) {
  const int d = k->part, own = (k->cell[d] & 1) == odd;
  int v = own ? k->cell[d] : k->cell[d] - 1;
  const int i = k->at[d] - 1 + (own ? 0 : N1);
  if (v < 0 && s->ring[d]) v += s->cells[d];
  if (i < 0 || v < 0 || v >= m->vertices[d]) return 0;
  const real *const row = (const real *)m->inverse[d] + (m->kind[d][v] * M + i) * M;
  real sum = 0;
  TESK_UNROLL
  for (int j = 0; j < M; j++) sum += TESK_READ(row + j) * b[entry_at(s, k, d, v * N1 + 1 + j)];
  return sum;
}

TESK_KERNEL(tesk_lanes_prepare, THREADS, 1, (TeskLanes)s, (TeskLanesMass)m, (const real *TESK_RESTRICT)b,
            (real *)b0, (real *)b1) {
  FOR_NUMBERS(id) {
    const Number k = number_of(&s, id);
    real even = 0, odd = 0;
    if (k.exists && k.part < 3) {
      even = prepared(&s, &m, &k, 0, b);
      odd = prepared(&s, &m, &k, 1, b);
    } else if (k.exists) {
      even = b[entry_at(&s, &k, -1, 0)];
    }
    b0[id] = even;
    b1[id] = odd;
  }
}

TESK_DEVICE int place_in(const TeskLanes *s, const int cell[3], int value) {
  int place = value * G, row = s->half[0] * VALUES;
  for (int d = 0; d < 3; d++) {
    const int half = cell[d] / 2;
    place += ((cell[d] & 1) << d) * s->class_size;
    place += d == 0 ? half / G * (VALUES * G) + half % G : half * row;
    if (d == 1) row *= s->half[1];
  }
  return place;
}

/* Grid: blocks of entries, parts. */
TESK_KERNEL(tesk_lanes_out, THREADS, 1, (TeskLanes)s, (const real *TESK_RESTRICT)x, (real *)y) {
  const int part = (int)blockIdx.y, c = part % 3;
  FOR_ENTRIES(id, size_of(&s.parts, part)) {
    const TeskEntry e = entry_of(&s.parts, part, id);
    int cell[3], at[3], exists = 1;
    for (int d = 0; d < 3; d++) {
      cell[d] = e.at[d] / N1;
      at[d] = e.at[d] % N1;
      exists = exists && cell[d] < s.cells[d];
    }
    const int value = part * CUBE + (at[c] * N1 + at[(c + 1) % 3]) * N1 + at[(c + 2) % 3];
    y[e.place] = exists ? x[place_in(&s, cell, value)] : 0;
  }
}

/* Cells that are in no patch of a colour, by where they begin. */
TESK_KERNEL(tesk_lanes_copy, THREADS, 1, (const int *TESK_RESTRICT)cells, (int)count,
            (const real *TESK_RESTRICT)x, (real *)y) {
  for (unsigned id = blockIdx.x * THREADS + threadIdx.x; id < (unsigned)count * VALUES;
       id += gridDim.x * THREADS) {
    const int place = cells[id % (unsigned)count] + (int)(id / (unsigned)count) * G;
    y[place] = x[place];
  }
}
