#include "smoother/patch/patch.h"

int tesi_patch_intervals(const TesiAxis *axis, TesiPatchInterval *intervals) {
  const int k = axis->degree, cells = axis->cells;
  int count = 0;
  if (k == 0) { /* a direction that does not exist: one node */
    intervals[0] = (TesiPatchInterval){0, 1, 0};
    return 1;
  }
  for (int v = 1; v <= cells && axis->periodic; v++)
    intervals[count++] =
        (TesiPatchInterval){(v - 1) * k + 1, (v + 1) * k, v == cells && cells % 2 ? 2 : (v + 1) % 2};
  for (int v = 0; v <= cells && !axis->periodic; v++) {
    if ((v == 0 && axis->end[0] == TESI_STRONG) || (v == cells && axis->end[1] == TESI_STRONG)) continue;
    intervals[count++] = (TesiPatchInterval){
        .first = v == 0 ? 0 : (v - 1) * k + 1,
        .end = v == cells ? axis->nodes : (v + 1) * k,
        .colour = (v + 1) % 2,
    };
  }
  if (count == 0) intervals[count++] = (TesiPatchInterval){1, k, 0};
  return count;
}
