/* The mesh of all ranks on each of them: of levels that are small. */
#include "mesh/forest/forest.h"
#include "parallel/rank_slices.h"

TesStatus tesi_mesh_gather_vertices(const TesMesh *mesh, double **x) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int d = mesh->dim - 1, first = mesh->window[d].first;
  TES_ALLOC(x, mesh->window[d].cells + 1);
  for (int i = first > 0; i <= mesh->box[d]; i++) (*x)[first + i] = mesh->coordinates[d][i];
  tesi_reduce(ctx, TESI_SUM, mesh->window[d].cells + 1, *x);
done:
  return status;
}

static TesStatus gather_box(const TesMesh *mesh, TesContext *alone, TesMesh **whole) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = mesh->dim};
  double *vertices = NULL;
  TES_TRY(tesi_mesh_gather_vertices(mesh, &vertices));
  for (int d = 0; d < mesh->dim; d++) {
    desc.cells[d] = mesh->window[d].cells;
    desc.periodic[d] = mesh->box_periodic[d];
    desc.coordinates[d] = d + 1 == mesh->dim ? vertices : mesh->coordinates[d];
  }
  TES_TRY(tes_mesh_create(alone, &desc, whole));
done:
  tesi_free(ctx, &vertices);
  return status;
}

/* all <- the parts of all ranks, on each. */
static TesStatus gather_array(const TesiSlices *parts, size_t size, const void *part, void *all) {
  const TesStatus status = tesi_slices_collect(parts, size, part, 0, parts->all, all);
  if (status == TES_OK) tesi_broadcast(parts->context, 0, parts->all * (int64_t)size, all);
  return status;
}

static TesStatus gather_forest(const TesMesh *mesh, TesContext *alone, TesMesh **whole) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const TesiLeaves *own = &mesh->leaves;
  TesiLeaves all = {0};
  TesiSlices parts = {0};
  TES_TRY(tesi_slices_create(ctx, own->cells, &parts));
  all.cells = parts.all;
  TES_ALLOC(&all.tree, all.cells);
  TES_ALLOC(&all.level, all.cells);
  TES_ALLOC(&all.origin, 3 * all.cells);
  TES_TRY(gather_array(&parts, sizeof *all.tree, own->tree, all.tree));
  TES_TRY(gather_array(&parts, sizeof *all.level, own->level, all.level));
  TES_TRY(gather_array(&parts, 3 * sizeof *all.origin, own->origin, all.origin));
  TES_TRY(tesi_forest_rebuild(alone, mesh->coarse, mesh->geometry_degree, &all, whole));
done:
  tesi_slices_free(&parts);
  tesi_free(ctx, &all.tree);
  tesi_free(ctx, &all.level);
  tesi_free(ctx, &all.origin);
  return status;
}

TesStatus tesi_mesh_gather(const TesMesh *mesh, TesContext *alone, TesMesh **whole) {
  *whole = NULL;
  return mesh->kind == TES_MESH_BOX ? gather_box(mesh, alone, whole) : gather_forest(mesh, alone, whole);
}
