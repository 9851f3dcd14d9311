/* Goals of dual-weighted residuals: values of functions, and right-hand sides of dual problems. */
#include <string.h>
#include "functional/functional.h"
#include "problem/adapt/estimate.h"

TesStatus tesi_goal_number(const TesMesh *mesh, const TesGoal *goal, TesValue *value) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  *value = (TesValue){.kind = TES_VALUE_POINT, .point = {goal->point[0], goal->point[1], goal->point[2]}};
  if (goal->kind == TES_GOAL_POINT) return TES_OK;
  value->kind = TES_VALUE_MEAN, value->where = TES_ON_BOUNDARY;
  TES_CHECK(goal->boundary, "the goal is a mean on a boundary: which one?");
  TES_TRY(tes_mesh_find_boundary(mesh, goal->boundary, &value->number));
  TES_CHECK(tesi_mesh_boundary_faces(mesh, value->number) > 0,
            "the goal is the mean on %s, whose faces all lie between cells: choose one of the boundary",
            goal->boundary);
done:
  return status;
}

/* b += the functional of the mean. */
static TesStatus add_mean(const TesSpace *space, const TesValue *goal, TesVector *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesValue area = {.where = TES_ON_BOUNDARY, .number = goal->number};
  const TesFunction **g = NULL;
  TesFunction *one = NULL;
  TesVector *load = NULL;
  double size;
  TES_CHECK(!tes_space_given(space, goal->number),
            "the goal is the mean on %s, where the values are given: choose a boundary with a neumann or "
            "robin condition",
            tes_mesh_boundary_name(space->mesh, goal->number));
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  TES_ALLOC(&g, tes_mesh_boundaries(space->mesh));
  g[goal->number] = one;
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &load));
  TES_TRY(tes_functional_load(&(TesLoadDesc){.space = space, .g = {g}}, load));
  TES_TRY(tes_functional_value(space, NULL, &area, &size));
  TES_TRY(tes_vector_axpy(1 / size, load, b));
done:
  tes_vector_destroy(&load);
  tesi_free(ctx, &g);
  tes_function_destroy(&one);
  return status;
}

/* Products of the 1D functions at xi. */
static void functions_at(const TesiCellView *space, const double *xi, double *local) {
  double unit[TESI_CELL_MOST];
  for (int p = 0; p < space->cell_nodes; p++) {
    memset(unit, 0, sizeof unit);
    unit[p] = 1;
    tesi_local_values(space->dim, space->degree, unit, 1, xi, &local[p], NULL);
  }
}

/* b += the values of the functions at the point. */
static TesStatus add_point(const TesSpace *of, const TesValue *goal, TesVector *b) {
  TesContext *ctx = of->context;
  TesStatus status = TES_OK;
  double local[TESI_CELL_MOST], xi[3], *sum = NULL;
  int64_t cell;
  TES_TRY(tesi_functional_locate(of, goal->point, &cell, xi));
  functions_at(of->view, xi, local);
  TES_ALLOC(&sum, of->length);
  TES_TRY(tes_vector_get(b, sum));
  tesi_cells_add(of->view, cell, local, sum);
  TES_TRY(tes_vector_set(b, sum));
done:
  tesi_free(ctx, &sum);
  return status;
}

TesStatus tesi_goal_load(const TesSpace *space, const TesValue *goal, TesVector *b) {
  return goal->kind == TES_VALUE_POINT ? add_point(space, goal, b) : add_mean(space, goal, b);
}

TesStatus tesi_goal_value(const TesSpace *space, const TesValue *goal, const TesVector *u, double *value) {
  return tes_functional_value(space, u, goal, value);
}
