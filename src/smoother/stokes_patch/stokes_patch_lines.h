/* Boxes of entries of all lanes' patches, between a vector of the space and arrays [z][y][x] of SIMD vectors. Places
 * count from the lower end of the intervals of N modes: nodes 0 .. N, modes -n .. N + n - 1. Part of
 * stokes_patch_body.h. */
#ifndef TESI_STOKES_PATCH_LINES_H
#define TESI_STOKES_PATCH_LINES_H

#include "smoother/stokes_patch/stokes_patch.h"
#include "tensor/simd_real.h"

typedef struct Lines {
  int64_t origin[LANES], step[3]; /* of place 0 in all directions; from place to place */
  const int *place[3][LANES];
  int count; /* lanes that are patches; the others repeat the first one */
  bool wraps;
} Lines;

typedef struct Box {
  int first[3], extent[3];
} Box;

TESI_APART void find_lines(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task, int part,
                           Lines *l) {
  const int n = plan->space->degree + 1, N = plan->modes;
  int64_t step = 1;
  l->wraps = task->wraps;
  l->count = task->count;
  memset(l->origin, 0, sizeof l->origin);
  for (int d = 0; d < 3; d++) {
    const TesiStokesPatchAxis *a = &plan->axis[d];
    l->step[d] = step;
    for (int lane = 0; lane < LANES; lane++) {
      const int64_t v = task->vertex[lane < task->count ? lane : 0][d];
      l->place[d][lane] = d >= plan->space->dim ? a->mode_at
                          : d == part           ? a->node_at + v * (N + 1)
                                                : a->mode_at + v * (N + 2 * n) + n;
      l->origin[lane] += l->place[d][lane][0] * step;
    }
    step *= plan->space->scalar[part]->axis[d].nodes;
  }
}

/* Entry of a place of a lane. */
static int64_t place_at(const Lines *l, int lane, int x, int y, int z) {
  return l->place[0][lane][x] * l->step[0] + l->place[1][lane][y] * l->step[1] +
         l->place[2][lane][z] * l->step[2];
}

TESI_APART void gather_wrapped(const Lines *l, const Box *b, const Real *from, V *to) {
  for (int z = b->first[2]; z < b->first[2] + b->extent[2]; z++)
    for (int y = b->first[1]; y < b->first[1] + b->extent[1]; y++)
      for (int x = b->first[0]; x < b->first[0] + b->extent[0]; x++, to++)
        for (int lane = 0; lane < LANES; lane++) ((Real *)to)[lane] = from[place_at(l, lane, x, y, z)];
}

TESI_APART void scatter_wrapped(const Lines *l, const Box *b, bool add, const V *from, Real *to) {
  for (int z = b->first[2]; z < b->first[2] + b->extent[2]; z++)
    for (int y = b->first[1]; y < b->first[1] + b->extent[1]; y++)
      for (int x = b->first[0]; x < b->first[0] + b->extent[0]; x++, from++)
        for (int lane = 0; lane < l->count; lane++) {
          Real *const entry = to + place_at(l, lane, x, y, z);
          *entry = ((const Real *)from)[lane] + (add ? *entry : 0);
        }
}

TESI_INLINE void gather(const Lines *l, const Box *b, const Real *from, V *to) {
  if (l->wraps) {
    gather_wrapped(l, b, from, to);
    return;
  }
  for (int z = 0; z < b->extent[2]; z++)
    for (int y = 0; y < b->extent[1]; y++, to += b->extent[0]) {
      const Real *const line =
          from + b->first[0] + (y + b->first[1]) * l->step[1] + (z + b->first[2]) * l->step[2];
      for (int lane = 0; lane < LANES; lane++) {
        const Real *const in = line + l->origin[lane];
        Real *const out = (Real *)to + lane;
        for (int x = 0; x < b->extent[0]; x++) out[x * LANES] = in[x];
      }
    }
}

TESI_INLINE void scatter(const Lines *l, const Box *b, bool add, const V *from, Real *to) {
  if (l->wraps) {
    scatter_wrapped(l, b, add, from, to);
    return;
  }
  for (int z = 0; z < b->extent[2]; z++)
    for (int y = 0; y < b->extent[1]; y++, from += b->extent[0]) {
      Real *const line = to + b->first[0] + (y + b->first[1]) * l->step[1] + (z + b->first[2]) * l->step[2];
      for (int lane = 0; lane < l->count; lane++) {
        const Real *const in = (const Real *)from + lane;
        Real *const out = line + l->origin[lane];
        for (int x = 0; x < b->extent[0]; x++) out[x] = in[x * LANES] + (add ? out[x] : 0);
      }
    }
}

#endif
