/* The limit of float64. A computed residual b - A x does not fall below about eps (|A| |x| + |b|). If this floor is
 * above the tolerance, an iteration ends there.
 *
 * |A| |x| is measured rather than bounded by norms: rounding changes each entry of x by about eps with a random sign.
 * So eps A (s x), with random signs s, has the size of the error of A x. The expected square of |A (s x)| is sum_j |A
 * e_j|^2 x_j^2, and only products with A are needed. Rounding inside operators is of the same size.
 *
 * An iteration is at its floor if three conditions hold in each group of unknowns with its own unit: |r| is at most
 * TESI_FLOOR_ROUNDINGS times the error of rounding; |r| does not fall over some iterations; x does not move in them.
 * The last condition excludes slow iterations of ill-conditioned systems. */
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

/* State of the test for an iteration; begins as {0}. */
typedef struct TesiFloor {
  int best_at; /* the last iteration whose recorded residual was much lower than those before */
  double best;
  int next;                /* no look before this iteration */
  TesVector *x;            /* x when the residual seemed to stop falling; NULL: it still falls */
  int since;               /* the iteration of x */
  double before;           /* the norm of its residual */
  double reached, allowed; /* norms at the last look: of the residual, and of the error of rounding */
} TesiFloor;

typedef enum TesiFloorState {
  TESI_FLOOR_ABOVE, /* or it was too early to look */
  TESI_FLOOR_WATCHED, /* perhaps: the iteration must go on from the recomputed residual, without earlier directions */
  TESI_FLOOR_REACHED
} TesiFloorState;

/* The groups of vectors over a space, NULL: one group. The parts of a product have their own units; so have the
 * velocities and the pressures of element rt. */
void tesi_floor_groups(const TesSpace *space, TesiFloorSystem *system);
void tesi_floor_begin(TesiFloor *floor);
void tesi_floor_end(TesiFloor *floor);
/* Whether recorded residuals have not fallen for some iterations; to be called for each iteration in turn. */
bool tesi_floor_stalls(TesiFloor *floor, int iteration, double residual);
/* Whether the residual of x is at most the error of rounding, in each group. Two products with A. */
TesStatus tesi_floor_below(const TesiFloorSystem *system, const TesVector *x, bool *below);
/* Looks at x after an iteration whose residual seems not to fall. `claimed`: the norm of its residual by a recurrence,
 * INFINITY: there is none; last: no iteration follows. Two products with A. */
TesStatus tesi_floor_look(TesiFloor *floor, const TesiFloorSystem *system, const TesVector *x, int iteration,
                          double claimed, bool last, TesiFloorState *state);

#endif
