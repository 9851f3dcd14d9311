/* Cells are refined where a function is positive. */
#include "mesh/forest/forest.h"

/* At a vertex or the middle. */
static TesStatus mark(const TesMesh *mesh, const TesFunction *where, int8_t *mark) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int dim = mesh->dim, points = (1 << dim) + 1;
  double xi[27] = {0}, x[27], at[3][9] = {{0}}, value[9];
  for (int p = 0; p < points; p++)
    for (int d = 0; d < dim; d++) xi[p * dim + d] = p == points - 1 ? 0.5 : p >> d & 1;
  for (int64_t c = 0; c < mesh->cells; c++) {
    tesi_mesh_map(mesh, c, points, xi, x);
    for (int p = 0; p < points; p++)
      for (int d = 0; d < dim; d++) at[d][p] = x[p * dim + d];
    TES_TRY(tes_function_evaluate(where, points, at[0], at[1], at[2], 0, value));
    mark[c] = 0;
    for (int p = 0; p < points; p++) mark[c] = mark[c] || value[p] > 0;
  }
done:
  return status;
}

TesStatus tesi_mesh_refine_where(const TesMeshDesc *desc, TesMesh **mesh) {
  TesContext *ctx = (*mesh)->context;
  TesStatus status = TES_OK;
  int8_t *marks = NULL;
  TesMesh *next = NULL;
  const int times = desc->refine_times ? desc->refine_times : 1;
  for (int i = 0; i < times; i++) {
    TES_ALLOC(&marks, (*mesh)->cells);
    TES_TRY(mark(*mesh, desc->refine_where, marks));
    TES_TRY(tesi_forest_adapt(*mesh, marks, true, &next));
    tes_mesh_destroy(mesh);
    *mesh = next, next = NULL;
    tesi_free(ctx, &marks);
  }
done:
  tesi_free(ctx, &marks);
  if (status != TES_OK) tes_mesh_destroy(mesh);
  return status;
}
