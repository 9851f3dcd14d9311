/* The end of what float64 gives. A residual b - A x that is computed is not below about eps (|A| |x| + |b|); where that
 * is above the tolerance an iteration ends there, and has done what can be done.
 *
 * |A| |x| is measured rather than bounded by norms: rounding x changes each entry by a part of some eps with any sign,
 * so that A (s x), with random signs s, times eps is what rounding leaves of A x. Its square is expected to be
 * sum_j |A e_j|^2 x_j^2, of any operator that is known by products alone. Inside, operators round as much.
 *
 * An iteration is at its floor where all of this holds, in each group of unknowns that has units of its own: |r| is at
 * most TESI_FLOOR_ROUNDINGS of these; |r| does not fall over some iterations; x does not move in them, for slow
 * iterations of bad systems do not fall either. */
#ifndef TESI_FLOOR_H
#define TESI_FLOOR_H

#include "space/space.h"

enum { TESI_FLOOR_ROUNDINGS = 5, TESI_FLOOR_GROUPS = 8 };

typedef struct TesiFloorSystem {
  TesStatus (*residual)(void *user, const TesVector *x, TesVector *r); /* r <- b - A x */
  void *user;
  const TesVector *b;
  int groups; /* 0: one */
  int64_t first[TESI_FLOOR_GROUPS + 1];
} TesiFloorSystem;

/* What is known of an iteration; begins as {0}. */
typedef struct TesiFloor {
  int best_at; /* the iteration whose residual, as it was recorded, was the last to be much lower than those before */
  double best;
  int next;                /* no look before this iteration */
  TesVector *x;            /* where the residual stopped to fall, as it seems; NULL: nowhere */
  int since;               /* the iteration of x */
  double before;           /* the norm of its residual */
  double reached, allowed; /* norms: of the residual, and what rounding leaves, at the last look */
} TesiFloor;

typedef enum TesiFloorState {
  TESI_FLOOR_ABOVE, /* or it was too early to look */
  TESI_FLOOR_WATCHED, /* perhaps at it: it is to go on from the residual as it is, without directions of the past */
  TESI_FLOOR_REACHED
} TesiFloorState;

/* The groups of vectors over a space, NULL: one. The parts of a product, and of element rt the velocities and the
 * pressures, have units of their own. */
void tesi_floor_groups(const TesSpace *space, TesiFloorSystem *system);
void tesi_floor_begin(TesiFloor *floor);
void tesi_floor_end(TesiFloor *floor);
/* Whether recorded residuals have not fallen for some iterations; of each iteration in turn. */
bool tesi_floor_stalls(TesiFloor *floor, int iteration, double residual);
/* Whether the residual of x is at most what rounding leaves, in each group. Two products with A. */
TesStatus tesi_floor_below(const TesiFloorSystem *system, const TesVector *x, bool *below);
/* Looks at x after an iteration, whose residual seems not to fall. `claimed`: the norm that a recurrence has for it,
 * INFINITY: there is none; last: no iteration follows. Two products with A. */
TesStatus tesi_floor_look(TesiFloor *floor, const TesiFloorSystem *system, const TesVector *x, int iteration,
                          double claimed, bool last, TesiFloorState *state);

#endif
