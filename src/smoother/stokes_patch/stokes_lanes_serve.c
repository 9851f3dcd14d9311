/* The problems for which patches in lanes can be used: see stokes_lanes.h. */
#include <limits.h>
#include <stdlib.h>
#include "kernels/stokes_arguments.h"
#include "smoother/stokes_patch/stokes_lanes.h"

enum { G = TESK_LANES_GROUP };

static bool serves_axis(const TesiAxis *a) {
  const bool closed =
      a->periodic ? a->cells % 2 == 0 && a->cells >= 4 : a->end[0] == TESI_STRONG && a->end[1] == TESI_STRONG;
  bool equal = true;
  for (int c = 1; c < a->cells; c++) equal = equal && a->h[c] == a->h[0];
  return closed && equal; /* at most three kinds of intervals: inside, and at both ends */
}

/* Walls must hold tangential velocities too: with slip the local matrix would be too soft at the other end. */
bool tesi_stokes_lanes_mirrors(const TesOperator *op) {
  const TesSpace *space = tesi_stokes_of(op)->space;
  bool held = true;
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *a = tesi_modal(space, d);
    held = held && (a->periodic || (a->end[0] == TESI_WEAK && a->end[1] == TESI_WEAK));
  }
  return held;
}

/* Numbers of the vectors by classes: in x whole groups of cells. */
double tesi_lanes_count(const TesSpace *space, int half[3]) {
  double count = 32.0 * (space->degree + 1) * (space->degree + 1) * (space->degree + 1);
  for (int d = 0; d < 3; d++) {
    half[d] = (tesi_modal(space, d)->cells + 1) / 2;
    if (d == 0) half[d] = (half[d] + G - 1) / G * G;
    count *= half[d];
  }
  return count;
}

bool tesi_stokes_lanes_serve(const TesOperator *op) {
  const TesSpace *space = tesi_stokes_of(op)->space;
  int half[3];
  if (space->dim != 3 || (space->degree + 1) > TESI_LANES_DEGREES + 1 || getenv("TESSERA_PATCH_GLOBAL"))
    return false; /* for tests */
  for (int d = 0; d < 3; d++)
    if (!serves_axis(tesi_nodal(space, d))) return false;
  return tesi_lanes_count(space, half) < INT_MAX;
}
