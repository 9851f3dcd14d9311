/* Spaces over a box: 1D axes. */
#include <math.h>
#include "space/space.h"

/* Cells 0 .. count get their mean width where they are equally wide up to the round-off of the coordinates; else
 * false. */
static bool equalize(TesiAxis *axis, const double *vertices, int count) {
  const double mean = (vertices[count] - vertices[0]) / count,
               extent = fmax(fabs(vertices[0]), fabs(vertices[axis->cells]));
  for (int c = 0; c < count; c++)
    if (!(fabs(axis->h[c] - mean) <= 8e-16 * extent)) return false;
  for (int c = 0; c < count; c++) axis->h[c] = mean;
  return true;
}

/* Directions that do not exist are one cell of width 1 and degree 0, natural at both ends. */
static TesStatus fill_axis(TesSpace *space, int d) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const bool exists = d < space->dim;
  TesiAxis *axis = &space->axis[d];
  const double *vertices = space->mesh->coordinates[d];
  double points[TESI_MAX_POINTS] = {0};
  axis->degree = exists ? space->degree : 0;
  axis->cells = space->mesh->box[d];
  axis->nodes = axis->cells * axis->degree + 1;
  for (int end = 0; end < 2; end++) axis->natural[end] = !exists || !space->given[2 * d + end];
  TES_ALLOC(&axis->h, axis->cells);
  TES_ALLOC(&axis->x, axis->nodes);
  if (exists) tesi_gauss_lobatto(axis->degree + 1, points, NULL);
  for (int c = 0; c < axis->cells; c++) {
    axis->h[c] = vertices[c + 1] - vertices[c];
    for (int i = 0; i <= axis->degree; i++)
      axis->x[c * axis->degree + i] = vertices[c] + points[i] * axis->h[c];
  }
  axis->uniform = equalize(axis, vertices, axis->cells);
  axis->odd_end = !axis->uniform && equalize(axis, vertices, axis->cells - 1);
  if (exists) axis->x[axis->nodes - 1] = vertices[axis->cells];
done:
  return status;
}

TesStatus tesi_space_fill_axes(TesSpace *space) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  space->length = space->dofs = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(fill_axis(space, d));
    space->length *= space->axis[d].nodes;
    space->dofs *= tesi_axis_end(&space->axis[d]) - tesi_axis_first(&space->axis[d]);
  }
done:
  return status;
}

const TesiAxis *tesi_space_box(const TesSpace *space) {
  return space && space->mesh->kind == TES_MESH_BOX && space->scalars == 1 ? space->axis : NULL;
}
