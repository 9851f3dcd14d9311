/* Forces on bodies by the residual of the equation, K u - F at nodes: of order 2 k, where integrals of stresses are of
 * order k. */
#include <math.h>
#include "functional/functional.h"
#include "operator/elasticity/elasticity.h"
#include "operator/mapped/mapped_robin.h"
#include "problem/elastic.h"
#include "problem/in_time.h"

/* y <- K u + M u_tt at all nodes, given ones too, without springs. */
static TesStatus apply_whole(const TesProblem *p, TesVector *y) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  TES_TRY(tesi_elasticity_apply_whole(p->op, p->u, y));
  if (!it) goto done;
  TES_TRY(tes_vector_copy(p->u, -it->sigma, it->d)); /* the operator has sigma M in it */
  TES_TRY(tes_vector_axpy(1, it->stepper->second, it->d));
  TES_TRY(tes_operator_apply(it->mass, it->d, it->r));
  TES_TRY(tes_vector_axpy(1, it->r, y));
done:
  return status;
}

/* b <- int f phi + sum over boundaries other than `left_out` (-1: none) int g phi of a component, at all nodes. */
static TesStatus load_whole(const TesProblem *p, int component, int left_out, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesBoundary *boundary = p->numbered.boundary;
  const int names = tes_mesh_boundaries(p->mesh);
  const TesFunction **g = NULL;
  TES_ALLOC(&g, names + 1);
  for (int i = 0; boundary && i < names; i++)
    if (i != left_out && !tesi_problem_given(p, i, component)) g[i] = boundary[i].g[component];
  TES_TRY(tesi_functional_load(&(TesiLoad){.space = p->space->part[component],
                                           .f = p->numbered.data.f[component],
                                           .material_f = p->numbered.f[component],
                                           .g = g},
                               true, b));
done:
  tesi_free(ctx, &g);
  return status;
}

/* y += alpha u of a component, at given nodes too; on the host. */
static TesStatus add_springs(const TesProblem *p, int component, TesVector *y) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = tesi_elasticity_of(p->op);
  const TesVector of_u = tesi_space_range(p->space, p->u, component);
  double *u = NULL, *values = NULL;
  if (!e->springs[component]) return TES_OK;
  TES_ALLOC(&u, y->length);
  TES_ALLOC(&values, y->length);
  TES_TRY(tes_vector_get(&of_u, u));
  TES_TRY(tes_vector_get(y, values));
  tesi_robin_add(e->springs[component], TES_DOUBLE, 1, true, u, values);
  TES_TRY(tes_vector_set(y, values));
done:
  tesi_free(ctx, &u);
  tesi_free(ctx, &values);
  return status;
}

/* residual <- K u + springs - F of a component; springs not where the boundary has some itself. */
static TesStatus find_residual(const TesProblem *p, int component, int boundary, TesVector *residual) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool own =
      boundary >= 0 && p->numbered.boundary && p->numbered.boundary[boundary].condition == TES_ROBIN;
  TesVector *whole = NULL, *load = NULL;
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &whole));
  TES_TRY(tes_vector_create(ctx, residual->length, TES_DOUBLE, &load));
  TES_TRY(apply_whole(p, whole));
  const TesVector part = tesi_space_range(p->space, whole, component);
  TES_TRY(tes_vector_copy(&part, 1, residual));
  if (!own) TES_TRY(add_springs(p, component, residual));
  TES_TRY(load_whole(p, component, boundary, load));
  TES_TRY(tes_vector_axpy(-1, load, residual));
done:
  tes_vector_destroy(&whole);
  tes_vector_destroy(&load);
  return status;
}

/* on[length] <- 1 at the nodes of a boundary, else 0. */
static TesStatus find_nodes(const TesSpace *part, int boundary, int32_t *on) {
  TesContext *ctx = part->context;
  TesStatus status = TES_OK;
  const TesValue value = {.kind = TES_VALUE_INTEGRAL, .where = TES_ON_BOUNDARY, .number = boundary};
  const TesiCellView *view;
  TesVector *weight = NULL;
  int32_t *number = NULL;
  double *w = NULL, most = 0;
  if (tesi_mesh_is_group(part->mesh, boundary)) {
    TES_TRY(tesi_space_cells(part, &view));
    TES_ALLOC(&number, tes_mesh_boundaries(part->mesh));
    number[boundary] = 1;
    tesi_cells_mark_groups(view, number, on);
    goto done;
  }
  TES_TRY(tes_vector_create(ctx, part->length, TES_DOUBLE, &weight));
  TES_TRY(tesi_functional_weights(part, &value, weight));
  TES_ALLOC(&w, part->length);
  TES_TRY(tes_vector_get(weight, w));
  for (int64_t i = 0; i < part->length; i++) most = fmax(most, fabs(w[i]));
  for (int64_t i = 0; i < part->length; i++) on[i] = fabs(w[i]) > 1e-13 * most;
done:
  tes_vector_destroy(&weight);
  tesi_free(ctx, &number);
  tesi_free(ctx, &w);
  return status;
}

TesStatus tesi_elasticity_force(const TesProblem *p, int boundary, int direction, double *force) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *part = p->space->part[direction];
  TesVector *residual = NULL;
  int32_t *on = NULL;
  double *r = NULL;
  TES_TRY(tes_vector_create(ctx, part->length, TES_DOUBLE, &residual));
  TES_TRY(find_residual(p, direction, boundary, residual));
  TES_ALLOC(&on, part->length);
  TES_ALLOC(&r, part->length);
  TES_TRY(find_nodes(part, boundary, on));
  TES_TRY(tes_vector_get(residual, r));
  *force = 0;
  for (int64_t i = 0; i < part->length; i++)
    if (on[i]) *force += r[i];
done:
  tesi_free(ctx, &on);
  tesi_free(ctx, &r);
  tes_vector_destroy(&residual);
  return status;
}

static TesStatus find_totals(const TesProblem *p, int component, double *load, double *reaction) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = tesi_elasticity_of(p->op);
  const int64_t first = p->space->part_first[component], end = p->space->part_first[component + 1];
  TesVector *v = NULL;
  double *values = NULL;
  TES_TRY(tes_vector_create(ctx, end - first, TES_DOUBLE, &v));
  TES_ALLOC(&values, end - first);
  TES_TRY(load_whole(p, component, -1, v));
  TES_TRY(tes_vector_get(v, values));
  *load = tesi_host_product(end - first, values, NULL);
  TES_TRY(find_residual(p, component, -1, v));
  TES_TRY(tes_vector_get(v, values));
  *reaction = 0;
  for (int64_t i = 0; i < e->constrained; i++)
    if (e->list[i] >= first && e->list[i] < end) *reaction += values[e->list[i] - first];
  TES_TRY(tes_vector_fill(v, 0));
  TES_TRY(add_springs(p, component, v));
  TES_TRY(tes_vector_get(v, values));
  *reaction -= tesi_host_product(end - first, values, NULL);
done:
  tesi_free(ctx, &values);
  tes_vector_destroy(&v);
  return status;
}

TesStatus tesi_elasticity_totals(const TesProblem *p, double load[TESI_AXES], double reaction[TESI_AXES]) {
  TesStatus status = TES_OK;
  for (int c = 0; c < p->mesh->dim && status == TES_OK; c++)
    status = find_totals(p, c, &load[c], &reaction[c]);
  return status;
}
