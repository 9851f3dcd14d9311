/* What faces at cuts between ranks need of the cells behind them: estimate.h. */
#include <string.h>
#include "mesh/inner_faces.h"
#include "problem/adapt/estimate.h"

TesStatus tesi_residual_read_across(const TesiResidual *s, const TesiCellView *view, int components,
                                    const double *x, double **local) {
  TesContext *ctx = view->context;
  TesStatus status = TES_OK;
  const int64_t size = (int64_t)components * view->cell_nodes;
  double *shown = NULL;
  TES_ALLOC(&shown, s->across.shown * size);
  for (int64_t i = 0; i < s->across.shown; i++)
    for (int c = 0; c < components; c++)
      tesi_cells_read(view, s->across.cell[i], x + c * view->length, shown + i * size + c * view->cell_nodes);
  TES_TRY(tesi_across_values(s->space, &s->across, (size_t)size * sizeof *shown, shown, local));
done:
  tesi_free(ctx, &shown);
  return status;
}

static TesStatus take_geometry(TesiResidual *s) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const int64_t size = s->geometry->cell_nodes * s->geometry->dim;
  double *shown = NULL;
  s->geometry_across = *s->geometry;
  s->geometry_across.nodes = NULL;
  TES_ALLOC(&shown, s->across.shown * size);
  for (int64_t i = 0; i < s->across.shown; i++)
    memcpy(shown + i * size, s->geometry->nodes + s->across.cell[i] * size, (size_t)size * sizeof *shown);
  TES_TRY(tesi_across_values(s->space, &s->across, (size_t)size * sizeof *shown, shown,
                             &s->geometry_across.nodes));
done:
  tesi_free(ctx, &shown);
  return status;
}

static TesStatus take_names(TesiResidual *s) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = s->space->mesh;
  int32_t(*shown)[2] = NULL;
  TES_ALLOC(&shown, s->across.shown);
  for (int64_t i = 0; i < s->across.shown; i++) {
    int name;
    const bool named = tesi_mesh_has_name(mesh, s->across.cell[i], s->across.face[i], &name);
    shown[i][0] = tes_mesh_material(mesh, s->across.cell[i]);
    shown[i][1] = named ? name : -1;
  }
  TES_TRY(tesi_across_values(s->space, &s->across, sizeof *s->names_across, shown, &s->names_across));
done:
  tesi_free(ctx, &shown);
  return status;
}

TesStatus tesi_residual_take_across(TesiResidual *s) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_residual_read_across(s, s->space, s->components, s->u, &s->u_across));
  TES_TRY(take_geometry(s));
  TES_TRY(take_names(s));
done:
  return status;
}
