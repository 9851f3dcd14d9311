/* Entries of the parts of a Raviart-Thomas vector: one thread per entry, x fastest. Define before: real, THREADS. */
#ifndef TESK_RT_ENTRIES_H
#define TESK_RT_ENTRIES_H

#include "stokes_arguments.h"

typedef struct TeskEntry {
  int at[3];
  long long step[3], place; /* place: in the vector */
} TeskEntry;

TESK_DEVICE TeskEntry entry_of(const TeskParts *parts, int part, unsigned id) {
  const unsigned ex = (unsigned)parts->extent[part][0], ey = (unsigned)parts->extent[part][1];
  const unsigned row = id / ex;
  TeskEntry e;
  e.at[0] = (int)(id - row * ex);
  e.at[2] = (int)(row / ey);
  e.at[1] = (int)(row - (row / ey) * ey);
  e.step[0] = 1;
  e.step[1] = ex;
  e.step[2] = (long long)ex * ey;
  e.place = parts->offset[part] + id;
  return e;
}

TESK_DEVICE unsigned size_of(const TeskParts *parts, int part) {
  return (unsigned)(parts->offset[part + 1] - parts->offset[part]);
}

/* The first entry of a line of a part along d that passes an entry of another part, or lies beside it; and the line's
 * step. */
TESK_DEVICE long long line_of(const TeskParts *parts, int part, int d, const int at[3]) {
  const int *const e = parts->extent[part];
  const int x = d == 0 ? 0 : at[0], y = d == 1 ? 0 : at[1], z = d == 2 ? 0 : at[2];
  return parts->offset[part] + ((long long)z * e[1] + y) * e[0] + x;
}
TESK_DEVICE long long step_of(const TeskParts *parts, int part, int d) {
  const int *const e = parts->extent[part];
  return d == 0 ? 1 : d == 1 ? e[0] : (long long)e[0] * e[1];
}

#define FOR_ENTRIES(id, n)                                                                                   \
  for (unsigned id = blockIdx.x * THREADS + threadIdx.x; id < (n); id += gridDim.x * THREADS)

#endif
