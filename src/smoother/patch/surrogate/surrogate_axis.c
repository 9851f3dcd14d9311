/* Families of intervals: patches of one direction that have the same shape and colour. */
#include "smoother/patch/surrogate/surrogate.h"

static TesiPatchFamily describe(const TesiAxis *axis, const TesiPatchInterval *interval) {
  const int k = axis->degree, cell = tesi_interval_cell(axis, interval);
  TesiPatchFamily family = {.colour = interval->colour, .m = interval->end - interval->first};
  if (k == 0) return family;
  family.cells = tesi_min((interval->end - 1) / k, axis->cells - 1) - cell + 1;
  family.skip = interval->first - cell * k;
  family.end[0] = interval->first == 0;
  family.end[1] = interval->end == axis->nodes;
  return family;
}

static bool same_family(const TesiPatchFamily *f, const TesiPatchFamily *g) {
  return f->colour == g->colour && f->m == g->m && f->cells == g->cells && f->skip == g->skip &&
         f->end[0] == g->end[0] && f->end[1] == g->end[1];
}

TesStatus tesi_surrogate_axis_create(TesContext *ctx, const TesiAxis *axis, TesiSurrogateAxis *patches) {
  TesStatus status = TES_OK;
  TES_ALLOC(&patches->interval, axis->cells + 1);
  patches->count = tesi_patch_intervals(axis, patches->interval);
  for (int p = 0; p < patches->count; p++) {
    const TesiPatchFamily described = describe(axis, &patches->interval[p]);
    int f = 0;
    while (f < patches->families && !same_family(&described, &patches->family[f])) f++;
    TesiPatchFamily *family = &patches->family[f];
    if (f == patches->families) {
      *family = described;
      patches->families++;
      TES_ALLOC(&family->interval, patches->count);
    }
    family->interval[family->count++] = p;
  }
done:
  return status;
}

void tesi_surrogate_axis_destroy(TesContext *ctx, TesiSurrogateAxis *patches) {
  for (int f = 0; f < TESI_MAX_FAMILIES; f++) tesi_free(ctx, &patches->family[f].interval);
  tesi_free(ctx, &patches->interval);
}
