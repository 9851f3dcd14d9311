/* Goals of dual-weighted residuals: their numbers, and right-hand sides of dual problems. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functional/functional.h"
#include "problem/adapt/estimate.h"
#include "mesh/inner_faces.h"

static const char *const components_of[] = {"u", "v", "w"}, *const directions[] = {"x", "y", "z"};

/* *name <- a lasting text of the component; `of` NULL: the first component. */
static TesStatus find_component(const TesMesh *mesh, int components, const TesGoal *goal, const char **name) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const bool force = goal->kind == TES_GOAL_FORCE;
  const char *const *known = force ? directions : components_of;
  *name = NULL;
  for (int i = 0; i < components; i++)
    if (goal->of ? !strcmp(goal->of, known[i]) : i == 0) *name = known[i];
  const bool letter = goal->of && strlen(goal->of) == 1 && strchr("uvw", goal->of[0]);
  if (!*name && goal->kind == TES_GOAL_POINT && !letter) *name = goal->of; /* an expression */
  TES_CHECK(*name, "adapt.goal: the goal is of '%.60s', expected %s", goal->of,
            components == 1   ? "u"
            : components == 2 ? force ? "x or y" : "u or v"
            : force           ? "x, y or z"
                              : "u, v or w");
done:
  return status;
}

/* The message about a name, with its key. */
static TesStatus tell_unknown(const TesMesh *mesh, const char *what, const char *name) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  char text[900];
  int number;
  const TesStatus found = tes_mesh_find_boundary(mesh, name, &number);
  if (found != TES_INVALID_INPUT) return found;
  snprintf(text, sizeof text, "%s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  TES_FAIL(found, "adapt.goal.%s: %s", what, text);
done:
  return status;
}

/* The name is a boundary, else a material, else the domain. */
static TesStatus find_place(const TesMesh *mesh, const TesGoal *goal, TesValue *value) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const bool force = goal->kind == TES_GOAL_FORCE;
  const char *what = goal->kind == TES_GOAL_MEAN       ? "mean"
                     : goal->kind == TES_GOAL_INTEGRAL ? "integral"
                                                       : "force";
  const char *name = goal->where && strcmp(goal->where, "domain") != 0 ? goal->where : NULL;
  TES_CHECK(name || !force, "adapt.goal: the goal is a force: on which boundary?");
  if (!force) TES_TRY(tesi_mesh_refuse_two(mesh, name ? name : "domain"));
  for (int i = 0; name && i < tes_mesh_materials(mesh) && !force; i++)
    if (!strcmp(tes_mesh_material_name(mesh, i), name)) value->where = TES_ON_MATERIAL, value->number = i;
  for (int i = 0; name && i < tes_mesh_boundaries(mesh); i++)
    if (!strcmp(tes_mesh_boundary_name(mesh, i), name)) value->where = TES_ON_BOUNDARY, value->number = i;
  if (name && value->where == TES_ON_DOMAIN) TES_TRY(tell_unknown(mesh, what, name));
  if (value->where != TES_ON_BOUNDARY) goto done;
  const bool group = tesi_mesh_is_group(mesh, value->number) && !tesi_mesh_is_inner(mesh, value->number);
  TES_CHECK(force || !group,
            "adapt.goal: the goal is the %s on %s, a group of curves or points: only forces are taken there",
            what, name);
  TES_CHECK(
      group || tesi_mesh_boundary_faces(mesh, value->number) > 0,
      "adapt.goal: the goal is the %s on %s, whose faces all lie between cells: choose one of the boundary",
      what, name);
done:
  return status;
}

TesStatus tesi_goal_number(const TesMesh *mesh, int components, const TesGoal *goal, TesValue *value) {
  static const TesValueKind kinds[] = {[TES_GOAL_POINT] = TES_VALUE_POINT,
                                       [TES_GOAL_MEAN] = TES_VALUE_MEAN,
                                       [TES_GOAL_INTEGRAL] = TES_VALUE_INTEGRAL,
                                       [TES_GOAL_FORCE] = TES_VALUE_FORCE};
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TES_CHECK((int)goal->kind >= 0 && goal->kind <= TES_GOAL_FORCE,
            "adapt.goal: the goal is of kind %d, expected 0..%d", (int)goal->kind, TES_GOAL_FORCE);
  TES_CHECK(goal->kind != TES_GOAL_FORCE || components > 1,
            "adapt.goal.force: a force is a goal of elasticity alone");
  *value = (TesValue){.kind = kinds[goal->kind], .point = {goal->point[0], goal->point[1], goal->point[2]}};
  TES_TRY(find_component(mesh, components, goal, &value->of));
  if (goal->kind != TES_GOAL_POINT) TES_TRY(find_place(mesh, goal, value));
done:
  return status;
}

int tesi_goal_component(const TesValue *goal) {
  return goal->of[0] - (goal->kind == TES_VALUE_FORCE ? 'x' : 'u');
}

static TesStatus sum_entries(const TesVector *v, double *sum) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  TES_TRY(tesi_vector_read(v, &values));
  *sum = tesi_layout_product(v->layout, values, NULL);
done:
  tesi_free(ctx, &values);
  return status;
}

/* b += the functional of the mean or the integral; b: of one component. */
static TesStatus add_integral(const TesSpace *space, const TesValue *goal, TesVector *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = space->mesh;
  const bool boundary = goal->where == TES_ON_BOUNDARY;
  const TesFunction **g = NULL, **f = NULL;
  TesFunction *one = NULL;
  TesVector *load = NULL;
  double size = 1;
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  TES_ALLOC(&g, tes_mesh_boundaries(mesh) + 1);
  TES_ALLOC(&f, tes_mesh_materials(mesh) + 1);
  if (boundary) g[goal->number] = one;
  if (goal->where == TES_ON_MATERIAL) f[goal->number] = one;
  const TesiLoad all = {
      .space = space, .f = goal->where == TES_ON_DOMAIN ? one : NULL, .material_f = f, .g = g};
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &load));
  TES_TRY(tesi_functional_load(&all, true, load));
  if (goal->kind == TES_VALUE_MEAN) TES_TRY(sum_entries(load, &size));
  TES_TRY(tes_vector_axpy(1 / size, load, b));
done:
  tes_vector_destroy(&load);
  tesi_free(ctx, &g);
  tesi_free(ctx, &f);
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

TesStatus tesi_goal_find_cell(const TesSpace *space, const double *x, int64_t *cell, double *xi) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  if (tesi_ranks(ctx) == 1) return tesi_functional_locate(space, x, cell, xi);
  const double own = -tes_communicator_rank(tesi_context_communicator(ctx));
  TES_TRY(tes_mesh_locate(space->mesh, 1, x, cell, xi));
  double first = *cell >= 0 ? own : -INFINITY;
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &first);
  if (first == -INFINITY)
    TES_FAIL(TES_INVALID_INPUT, "the point (%g, %g, %g) lies in no cell", x[0], x[1],
             space->dim == 3 ? x[2] : 0);
  if (first > own) *cell = -1;
done:
  return status;
}

/* b += the values of the functions at the point; b: of one component. */
static TesStatus add_point(const TesSpace *of, const TesValue *goal, TesVector *b) {
  TesContext *ctx = of->context;
  TesStatus status = TES_OK;
  double local[TESI_CELL_MOST], xi[3], *sum = NULL, *added = NULL;
  int64_t cell;
  TES_TRY(tesi_goal_find_cell(of, goal->point, &cell, xi));
  TES_ALLOC(&added, of->length);
  if (cell >= 0) functions_at(of->view, xi, local);
  if (cell >= 0) tesi_cells_add(of->view, cell, local, added);
  tesi_exchange_sum(of->layout->shared, TES_DOUBLE, added);
  TES_TRY(tesi_vector_read(b, &sum));
  for (int64_t i = 0; i < of->length; i++) sum[i] += added[i];
  TES_TRY(tes_vector_set(b, sum));
done:
  tesi_free(ctx, &sum);
  tesi_free(ctx, &added);
  return status;
}

TesStatus tesi_goal_load(const TesSpace *space, const TesValue *goal, TesVector *b) {
  const int component = tesi_goal_component(goal);
  const TesSpace *part = space->part[component];
  TesVector of_b = tesi_space_range(space, b, component);
  if (goal->kind == TES_VALUE_FORCE) return TES_OK; /* the dual solution has a value on this boundary */
  return goal->kind == TES_VALUE_POINT ? add_point(part, goal, &of_b) : add_integral(part, goal, &of_b);
}
