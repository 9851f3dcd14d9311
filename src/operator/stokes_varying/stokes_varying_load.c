/* Given tangential velocities on the right-hand side. */
#include "functional/batch_faces.h"
#include "operator/stokes_varying/stokes_varying.h"

enum { FACE = TESI_RT_POINTS * TESI_RT_POINTS };

/* g <- values times weights at the points of a cell's face. */
static TesStatus take_values(const TesiStokesVarying *s, const TesFunction *f, const int cell[3], int d,
                             int end, double *g) {
  TesStatus status = TES_OK;
  const TesSpace *space = s->stokes.space;
  const int count = s->face_points, points = s->cell.points;
  double x[3 * FACE], normal[3 * FACE];
  for (int q = 0; q < count; q++) {
    int rest = q;
    for (int a = 0; a < 3; a++) {
      double xi = 0;
      if (a == d)
        xi = end;
      else if (a < space->dim)
        xi = s->cell.x[rest % points], rest /= points;
      x[a * count + q] =
          a < space->dim ? tesi_modal(space, a)->vertices[cell[a]] + xi * tesi_modal(space, a)->h[cell[a]] : 0;
      normal[a * count + q] = a == d ? (end ? 1 : -1) : 0;
    }
  }
  status = tesi_boundary_values(f, count, x, normal, g);
  for (int q = 0; q < count; q++) {
    int rest = q;
    for (int a = 0; a < space->dim; a++) {
      if (a == d) continue;
      g[q] *= s->cell.w[rest % points] * tesi_modal(space, a)->h[cell[a]];
      rest /= points;
    }
  }
  return status;
}

/* All cells at a face, one component. */
static TesStatus add_component(const TesOperator *op, const TesFunction *f, int d, int end, int i,
                               double *work, double *b) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesiAxis *a = tesi_space_last(s->stokes.space)->axis;
  double g[FACE];
  for (int c = 0; c < a[0].cells * a[1].cells * a[2].cells; c++) {
    const int cell[3] = {c % a[0].cells, c / a[0].cells % a[1].cells, c / a[0].cells / a[1].cells};
    if (cell[d] != (end ? a[d].cells - 1 : 0)) continue;
    TES_TRY(take_values(s, f, cell, d, end, g));
    tesi_stokes_varying_face(s, cell, d, end, i, g, work, b);
  }
done:
  return status;
}

TesStatus tesi_stokes_varying_load(const TesOperator *op, const TesiGiven *given, TesVector *b) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesSpace *space = s->stokes.space;
  double *values = NULL, *work = NULL;
  TES_ALLOC(&work, tesi_stokes_varying_work(s));
  TES_TRY(tesi_vector_read(b, &values));
  if (space->layout->sum) tesi_layout_clear_others(space->layout, values);
  for (int side = 0; side < 2 * space->dim; side++)
    for (int i = 0; i < space->dim; i++) {
      const int d = side / 2, end = side % 2;
      const TesFunction *g = given[side].how[i] == TESI_WEAK ? given[side].g[i] : NULL;
      if (g && !tesi_modal(space, d)->periodic && !tesi_mesh_cut(space->mesh, side))
        TES_TRY(add_component(op, g, d, end, i, work, values));
    }
  tesi_rt_clear(space, values);
  tesi_exchange_sum(space->layout->sum, TES_DOUBLE, values);
  TES_TRY(tes_vector_set(b, values));
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &work);
  return status;
}
