/* Diffusion of discontinuous modes in one direction by symmetric interior penalties
 * (src/operator/stokes/stokes_operator.h), cell by cell: a line of modes needs itself and the traces of its two
 * neighbours. Before: real, N (modes of a cell); in_real: the type of the vector whose traces are taken, if it is not
 * real. */
#ifndef TESK_STOKES_FACES_H
#define TESK_STOKES_FACES_H

#include "stokes_arguments.h"

#ifndef in_real
#define in_real real
#endif

/* Number k (TESK_TILES_...) of a cell of a direction with `all` cells. */
#define NUMBER(c, k, all) TESK_READ((c) + (k) * (all))

/* Of the reference cell: values and derivatives of the modes at the upper end, (l_i', l_j'). */
typedef struct Modes {
  real value[N], slope[N], bending[N * N];
} Modes;

/* A line of modes at the lower and the upper end of its reference cell. */
typedef struct Trace {
  real value[2], slope[2];
} Trace;

TESK_DEVICE Trace trace_of(const Modes *r, const real v[N]) {
  real value[2] = {0, 0}, slope[2] = {0, 0}; /* of even and odd modes */
  Trace t;
  TESK_UNROLL
  for (int j = 0; j < N; j++) {
    value[j % 2] += r->value[j] * v[j];
    if (j > 0) slope[j % 2] += r->slope[j] * v[j];
  }
  t.value[0] = value[0] - value[1];
  t.value[1] = value[0] + value[1];
  t.slope[0] = slope[1] - slope[0];
  t.slope[1] = slope[1] + slope[0];
  return t;
}

/* out <- out + nu Ld v of a line of modes of a cell; c: its first number, of `all` cells; the traces beside it. */
TESK_DEVICE void add_across(const Modes *r, const real *TESK_RESTRICT c, int all, const real v[N],
                            const Trace *below, const Trace *above, real out[N]) {
  const Trace t = trace_of(r, v);
  const real root = NUMBER(c, TESK_TILES_ROOT, all), stiffness = NUMBER(c, TESK_TILES_BENDING, all),
             own0 = NUMBER(c, TESK_TILES_OWN, all), own1 = NUMBER(c, TESK_TILES_OWN + 1, all);
  const real jump0 = NUMBER(c, TESK_TILES_BESIDE, all) * below->value[1] - root * t.value[0],
             jump1 = root * t.value[1] - NUMBER(c, TESK_TILES_BESIDE + 1, all) * above->value[0],
             mean0 = NUMBER(c, TESK_TILES_OTHER, all) * below->slope[1] + own0 * t.slope[0],
             mean1 = NUMBER(c, TESK_TILES_OTHER + 1, all) * above->slope[0] + own1 * t.slope[1],
             p0 = root * (NUMBER(c, TESK_TILES_PENALTY, all) * jump0 - mean0),
             p1 = root * (NUMBER(c, TESK_TILES_PENALTY + 1, all) * jump1 - mean1), q0 = own0 * jump0,
             q1 = own1 * jump1;
  const real p[2] = {p1 - p0, p1 + p0}, q[2] = {q0 - q1, -q0 - q1}; /* for even and odd modes */
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    real sum = 0;
    TESK_UNROLL
    for (int j = 1; j < N; j++)
      if ((i + j) % 2 == 0 && i > 0) sum += r->bending[i * N + j] * v[j];
    out[i] += r->value[i] * p[i % 2];
    if (i > 0) out[i] += r->slope[i] * q[i % 2] + stiffness * sum;
  }
}

TESK_DEVICE Trace trace_at(const Modes *r, const in_real *TESK_RESTRICT x, long long step) {
  real v[N];
  TESK_UNROLL
  for (int l = 0; l < N; l++) v[l] = (real)TESK_READ(x + l * step);
  return trace_of(r, v);
}

/* From a cell to the one below (side 0) or above, in a periodic direction the last or first; 0 where there is none. */
TESK_DEVICE int beside(const int *counts, const int *periodic, int d, int cell, int side) {
  const int cells = counts[d];
  if (cell == (side ? cells - 1 : 0)) return periodic[d] ? (side ? 1 - cells : cells - 1) : 0;
  return side ? 1 : -1;
}

#endif
