/* Whom patches in lanes serve: see saddle_lanes.h. */
#include <limits.h>
#include <stdlib.h>
#include "kernels/saddle_arguments.h"
#include "smoother/saddle_patch/saddle_lanes.h"

enum { G = TESK_LANES_GROUP };

static bool serves_axis(const TesiRtAxis *a) {
  const bool closed = a->periodic ? a->cells % 2 == 0 && a->cells >= 4 : a->normal[0] && a->normal[1];
  bool equal = true;
  for (int c = 1; c < a->cells; c++) equal = equal && a->h[c] == a->h[0];
  return closed && equal; /* at most three kinds of intervals: inside, and at both ends */
}

/* Where walls hold the velocity across, too: where it slips the other end would be too soft. */
bool tesi_saddle_lanes_mirrors(const TesOperator *op) {
  const TesiRt *rt = tesi_saddle_of(op)->rt;
  bool held = true;
  for (int d = 0; d < rt->dim; d++) {
    const TesiRtAxis *a = &rt->axis[d];
    held = held && (a->periodic || (a->tangential[0] && a->tangential[1]));
  }
  return held;
}

/* Numbers of the vectors by classes: in x whole groups of cells. */
double tesi_lanes_count(const TesiRt *rt, int half[3]) {
  double count = 32.0 * rt->n * rt->n * rt->n;
  for (int d = 0; d < 3; d++) {
    half[d] = (rt->axis[d].cells + 1) / 2;
    if (d == 0) half[d] = (half[d] + G - 1) / G * G;
    count *= half[d];
  }
  return count;
}

bool tesi_saddle_lanes_serve(const TesOperator *op) {
  const TesiRt *rt = tesi_saddle_of(op)->rt;
  int half[3];
  if (rt->dim != 3 || rt->n > TESI_LANES_DEGREES + 1 || getenv("TESSERA_PATCH_GLOBAL"))
    return false; /* for tests */
  for (int d = 0; d < 3; d++)
    if (!serves_axis(&rt->axis[d])) return false;
  return tesi_lanes_count(rt, half) < INT_MAX;
}
