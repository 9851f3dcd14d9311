/* The data of cells behind faces at cuts between ranks: see estimate.h. */
#include <string.h>
#include "basis/gauss.h"
#include "mesh/inner_faces.h"
#include "parallel/comm.h"
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

/* Cells of another rank may be curved even if this rank has none: all cells are sent in the most general form. */
static TesStatus take_geometry(TesiResidual *s) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const TesiGeometry *own = s->geometry;
  const int dim = own->dim;
  double most[2] = {own->degree, own->kind}, point[TESI_GEOMETRY_DEGREE + 1], weight[TESI_GEOMETRY_DEGREE + 1];
  double *shown = NULL, *B = NULL;
  tesi_reduce(ctx, TESI_MAXIMUM, 2, most);
  const int n = (int)most[0] + 1;
  TesiGeometry *across = &s->geometry_across;
  *across = *own;
  across->nodes = NULL, across->degree = n - 1, across->kind = (TesiGeometryKind)most[1];
  across->cell_nodes = (int64_t)n * n * (dim == 3 ? n : 1);
  const int64_t size = across->cell_nodes * dim;
  TES_ALLOC(&shown, s->across.shown * size);
  TES_ALLOC(&B, n * (own->degree + 1));
  tesi_gauss_lobatto(n, point, weight);
  tesi_geometry_tables(own, n, point, B, NULL);
  for (int64_t i = 0; i < s->across.shown; i++)
    if (across->degree == own->degree)
      memcpy(shown + i * size, own->nodes + s->across.cell[i] * size, (size_t)size * sizeof *shown);
    else
      tesi_geometry_grid(own, s->across.cell[i], n, B, shown + i * size);
  TES_TRY(tesi_across_values(s->space, &s->across, (size_t)size * sizeof *shown, shown, &across->nodes));
done:
  tesi_free(ctx, &shown);
  tesi_free(ctx, &B);
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
