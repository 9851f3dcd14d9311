/* The mesh of all ranks on each of them: of levels that are small. */
#include "mesh/forest/forest.h"
#include "parallel/rank_slices.h"

/* Of the ranks with the same part of a direction the one counts that has the first part of the others. */
void tesi_mesh_sum_parts(const TesMesh *mesh, int d, int n, double *values) {
  bool counts = true;
  for (int e = 0; e < 3; e++) counts = counts && (e == d || mesh->window[e].part == 0);
  for (int i = 0; i < n && !counts; i++) values[i] = 0;
  tesi_reduce(mesh->context, TESI_SUM, n, values);
}

TesStatus tesi_mesh_gather_vertices(const TesMesh *mesh, int d, double **x) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int first = mesh->window[d].first;
  TES_ALLOC(x, mesh->window[d].cells + 1);
  for (int i = first > 0; i <= mesh->box[d]; i++) (*x)[first + i] = mesh->coordinates[d][i];
  if (tesi_mesh_parted(mesh, d)) tesi_mesh_sum_parts(mesh, d, mesh->window[d].cells + 1, *x);
done:
  return status;
}

TesStatus tesi_mesh_gather_parts(const TesMesh *mesh, int d, int **first) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const TesiWindow *w = &mesh->window[d];
  double *begin = NULL;
  TES_ALLOC(first, w->parts + 1);
  TES_ALLOC(&begin, w->parts);
  begin[w->part] = w->first;
  if (tesi_mesh_parted(mesh, d)) tesi_mesh_sum_parts(mesh, d, w->parts, begin);
  for (int i = 0; i < w->parts; i++) (*first)[i] = (int)begin[i];
  (*first)[w->parts] = w->cells;
done:
  tesi_free(ctx, &begin);
  return status;
}

static TesStatus gather_box(const TesMesh *mesh, TesContext *alone, TesMesh **whole) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = mesh->dim};
  double *vertices[3] = {NULL, NULL, NULL};
  for (int d = 0; d < mesh->dim; d++) {
    TES_TRY(tesi_mesh_gather_vertices(mesh, d, &vertices[d]));
    desc.cells[d] = mesh->window[d].cells;
    desc.periodic[d] = mesh->box_periodic[d];
    desc.coordinates[d] = vertices[d];
  }
  TES_TRY(tes_mesh_create(alone, &desc, whole));
done:
  for (int d = 0; d < mesh->dim; d++) tesi_free(ctx, &vertices[d]);
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
