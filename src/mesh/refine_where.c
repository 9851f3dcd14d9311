/* Cells are refined where a function is positive. */
#include "base/integer.h"
#include "base/work.h"
#include "mesh/forest/forest.h"

enum { BLOCK = 16384 /* cells whose points are evaluated together */ };

/* The points of cells first .. : at[dim][cells][points]. */
typedef struct Points {
  const TesMesh *mesh;
  int64_t first;
  int points;
  double xi[27], *at[3];
} Points;

static void map_span(const void *data, TesiSpan span) {
  const Points *p = data;
  const int dim = p->mesh->dim;
  double x[27];
  for (int64_t c = span.first; c < span.end; c++) {
    tesi_mesh_map(p->mesh, p->first + c, p->points, p->xi, x);
    for (int i = 0; i < p->points; i++)
      for (int d = 0; d < dim; d++) p->at[d][c * p->points + i] = x[i * dim + d];
  }
}

/* Marks the cells in which the function is positive at a vertex or the middle. */
static TesStatus mark(const TesMesh *mesh, const TesFunction *where, int8_t *marks) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  Points p = {.mesh = mesh, .points = (1 << mesh->dim) + 1};
  double *value = NULL;
  for (int i = 0; i < p.points; i++)
    for (int d = 0; d < mesh->dim; d++) p.xi[i * mesh->dim + d] = i == p.points - 1 ? 0.5 : i >> d & 1;
  const int64_t most = tesi_min64(mesh->cells, BLOCK);
  for (int d = 0; d < 3; d++) TES_ALLOC(&p.at[d], most * p.points);
  TES_ALLOC(&value, most * p.points);
  for (; p.first < mesh->cells; p.first += BLOCK) {
    const int64_t cells = tesi_min64(mesh->cells - p.first, BLOCK), points = cells * p.points;
    TES_TRY(tesi_work_for(ctx, tesi_team_threads(ctx, 32 * points), cells, map_span, &p));
    TES_TRY(tes_function_evaluate(where, points, p.at[0], p.at[1], p.at[2], 0, value));
    for (int64_t i = 0; i < points; i++)
      if (value[i] > 0) marks[p.first + i / p.points] = 1;
  }
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &p.at[d]);
  tesi_free(ctx, &value);
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
