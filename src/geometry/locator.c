/* There are about as many bins as cells. A point looks at the cells of its bin, in the order of their numbers. */
#include "geometry/locator.h"
#include <math.h>
#include <string.h>

struct TesiLocator {
  TesContext *context;
  const TesMesh *mesh;
  const TesiGeometry *geometry; /* NULL over a grid */
  int bins[3];
  TesiCellBox box; /* of the mesh */
  int64_t *first;  /* bin i has cell[first[i]] .. cell[first[i + 1] - 1] */
  int64_t *cell;
  TesiCellBox *of; /* [cells] */
};

static int bin_of(const TesiLocator *l, int d, double x) {
  return tesi_box_bin(&l->box, d, l->bins[d], x);
}

/* Counts the cells of each bin (first[i + 1]), or puts them there (first[i] moves on). */
static void go_over_cells(TesiLocator *l, bool put) {
  const int dim = l->mesh->dim;
  for (int64_t cell = 0; cell < l->geometry->cells; cell++) {
    const TesiCellBox *box = &l->of[cell];
    int low[3] = {0}, high[3] = {0}, at[3];
    for (int d = 0; d < dim; d++) low[d] = bin_of(l, d, box->low[d]), high[d] = bin_of(l, d, box->high[d]);
    for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
      for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
        for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
          const int64_t bin = at[0] + (int64_t)l->bins[0] * (at[1] + (int64_t)l->bins[1] * at[2]);
          if (put)
            l->cell[l->first[bin]++] = cell;
          else
            l->first[bin + 1]++;
        }
  }
}

static TesStatus sort_cells(TesiLocator *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const int dim = l->mesh->dim;
  const int64_t cells = l->geometry->cells;
  TES_ALLOC(&l->of, cells);
  l->box = (TesiCellBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int64_t c = 0; c < cells; c++) {
    TES_TRY(tesi_cell_box(l->geometry, c, &l->of[c]));
    for (int d = 0; d < dim; d++) {
      l->box.low[d] = fmin(l->box.low[d], l->of[c].low[d]);
      l->box.high[d] = fmax(l->box.high[d], l->of[c].high[d]);
    }
  }
  for (int d = 0; d < 3; d++) l->bins[d] = d < dim ? (int)fmax(1, floor(pow((double)cells, 1. / dim))) : 1;
  const int64_t bins = (int64_t)l->bins[0] * l->bins[1] * l->bins[2];
  TES_ALLOC(&l->first, bins + 1);
  memset(l->first, 0, (size_t)(bins + 1) * sizeof *l->first);
  go_over_cells(l, false);
  for (int64_t i = 0; i < bins; i++) l->first[i + 1] += l->first[i];
  TES_ALLOC(&l->cell, l->first[bins]);
  go_over_cells(l, true);
  memmove(l->first + 1, l->first,
          (size_t)bins * sizeof *l->first); /* each had moved to the begin of the next bin */
  l->first[0] = 0;
done:
  return status;
}

TesStatus tesi_locator_create(const TesMesh *mesh, TesiLocator **locator) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiLocator *l = NULL;
  *locator = NULL;
  TES_NEW(&l);
  l->context = ctx, l->mesh = mesh;
  if (mesh->kind != TES_MESH_BOX) {
    TES_TRY(tesi_mesh_geometry(mesh, &l->geometry));
    TES_TRY(sort_cells(l));
  }
  *locator = l;
  l = NULL;
done:
  tesi_locator_destroy(&l);
  return status;
}

void tesi_locator_destroy(TesiLocator **locator) {
  TesiLocator *l = *locator;
  if (!l) return;
  TesContext *ctx = l->context;
  *locator = NULL;
  tesi_free(ctx, &l->first);
  tesi_free(ctx, &l->cell);
  tesi_free(ctx, &l->of);
  tesi_free(ctx, &l);
}

bool tesi_locator_find(const TesiLocator *l, const double *x, double reach, int64_t *cell, double *xi) {
  const int dim = l->mesh->dim;
  int64_t bin = 0;
  double nearest = INFINITY;
  for (int d = 0; d < dim; d++)
    if (!isfinite(x[d])) return false;
  if (!l->geometry) return tesi_grid_find(l->mesh, x, reach, cell, xi);
  for (int d = dim - 1; d >= 0; d--) bin = bin * l->bins[d] + bin_of(l, d, x[d]);
  for (int64_t i = l->first[bin]; i < l->first[bin + 1]; i++) {
    double at[3];
    const double moved = tesi_cell_find(l->geometry, l->cell[i], &l->of[l->cell[i]], x, at);
    if (!(moved < nearest) || moved > fmax(reach, TESI_LOCATE_ROUND_OFF)) continue;
    nearest = moved, *cell = l->cell[i];
    memcpy(xi, at, (size_t)dim * sizeof *xi);
    if (moved == 0) break;
  }
  return isfinite(nearest);
}
