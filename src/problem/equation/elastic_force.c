/* Forces of elasticity (forces.h), and the sums of loads and reactions. */
#include <math.h>
#include <stdio.h>
#include "device/copies.h"
#include "functional/functional.h"
#include "operator/elasticity/elasticity.h"
#include "operator/mapped/mapped_robin.h"
#include "problem/equation/elastic.h"
#include "problem/forces.h"
#include "problem/in_time.h"
#include "problem/variation.h"
#include "space/slip.h"

/* y <- K u + M u_tt without springs, at all nodes, given nodes included; of all ranks. */
static TesStatus apply_whole(const TesProblem *p, TesVector *y) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  TES_TRY(tesi_elasticity_apply_whole(p->op, p->u, y));
  TES_TRY(tesi_sum_copies(ctx, p->space->layout->shared, TES_DOUBLE, y->data));
  if (!it) goto done;
  TES_TRY(tes_vector_copy(p->u, -it->sigma, it->d)); /* the operator contains sigma M */
  TES_TRY(tes_vector_axpy(1, it->stepper->second, it->d));
  TES_TRY(tes_operator_apply(it->mass, it->d, it->r));
  TES_TRY(tes_vector_axpy(1, it->r, y));
done:
  return status;
}

/* g[boundaries] <- the given tractions of a component, of one boundary or (-1) of all boundaries. */
static TesStatus find_tractions(const TesProblem *p, int component, int boundary, const TesFunction ***g) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(p->mesh);
  TES_ALLOC(g, names + 1);
  for (int i = 0; i < names; i++)
    if ((boundary < 0 || i == boundary) && !tesi_problem_given(p, i, component))
      (*g)[i] = p->numbered.given[i].g[component];
done:
  return status;
}

/* b <- int f phi + int g phi of a component, at all nodes. */
static TesStatus load_whole(const TesProblem *p, int component, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesFunction **g = NULL;
  TES_TRY(find_tractions(p, component, -1, &g));
  TES_TRY(tesi_functional_load(&(TesiLoad){.space = p->space->part[component],
                                           .f = p->numbered.data.f[component],
                                           .material_f = p->numbered.f[component],
                                           .g = g},
                               true, b));
  TES_TRY(tesi_thermal_load(p, component, true, b));
done:
  tesi_free(ctx, &g);
  return status;
}

/* values += absolute loads of a component. boundary -1: int f phi; -2: the thermal load; otherwise int g phi. */
static TesStatus add_size(const TesProblem *p, int component, int boundary, TesVector *v, double *values) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *part = p->space->part[component];
  const TesFunction **g = NULL;
  double *own = NULL;
  TesiLoad load = {.space = part};
  if (boundary == -1)
    load.f = p->numbered.data.f[component], load.material_f = p->numbered.f[component];
  else if (boundary >= 0)
    TES_TRY(find_tractions(p, component, boundary, &g));
  load.g = g;
  if (g && !g[boundary]) goto done;
  TES_TRY(tesi_functional_load(&load, true, v));
  if (boundary == -2) TES_TRY(tesi_thermal_load(p, component, true, v));
  TES_TRY(tesi_vector_read(v, &own));
  for (int64_t i = 0; i < part->length; i++) values[i] += fabs(own[i]);
done:
  tesi_free(ctx, &g);
  tesi_free(ctx, &own);
  return status;
}

TesStatus tesi_elasticity_load_size(const TesProblem *p, double *size) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *v = NULL;
  for (int64_t i = 0; i < p->space->length; i++) size[i] = 0;
  for (int c = 0; c < p->mesh->dim; c++) {
    TES_TRY(tes_vector_create(ctx, p->space->part[c]->length, TES_DOUBLE, &v));
    for (int b = -2; b < tes_mesh_boundaries(p->mesh); b++)
      TES_TRY(add_size(p, c, b, v, size + p->space->part_first[c]));
    tes_vector_destroy(&v);
  }
done:
  tes_vector_destroy(&v);
  return status;
}

/* values += int alpha u phi of a component over the springs of a boundary, -1: of all boundaries; of all ranks. */
static TesStatus add_springs(const TesProblem *p, int component, int boundary, double *values) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = tesi_elasticity_of(p->op);
  const TesVector of_u = tesi_space_range(p->space, p->u, component);
  double *u = NULL, *added = NULL;
  if (!e->springs[component]) return TES_OK;
  TES_ALLOC(&added, of_u.length);
  TES_TRY(tesi_vector_read(&of_u, &u));
  tesi_robin_add_whole(e->springs[component], boundary, u, added);
  tesi_exchange_sum(p->space->part[component]->layout->shared, TES_DOUBLE, added);
  for (int64_t i = 0; i < of_u.length; i++) values[i] += added[i];
done:
  tesi_free(ctx, &u);
  tesi_free(ctx, &added);
  return status;
}

/* r <- K u + springs - F of a component. */
static TesStatus find_residual(const TesProblem *p, int component, double *r) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *whole = NULL, *load = NULL;
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &whole));
  TES_TRY(tes_vector_create(ctx, p->space->part[component]->length, TES_DOUBLE, &load));
  TES_TRY(apply_whole(p, whole));
  TES_TRY(load_whole(p, component, load));
  TesVector part = tesi_space_range(p->space, whole, component);
  TES_TRY(tes_vector_axpy(-1, load, &part));
  TES_TRY(tes_vector_get(&part, r));
  TES_TRY(add_springs(p, component, -1, r));
done:
  tes_vector_destroy(&whole);
  tes_vector_destroy(&load);
  return status;
}

/* int (g - alpha u) of a component over a boundary, with the quadrature of load and springs. */
static TesStatus find_traction(const TesProblem *p, int boundary, int component, double *sum) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *part = p->space->part[component];
  const TesFunction **g = NULL;
  TesVector *load = NULL;
  double *values = NULL, *springs = NULL;
  TES_TRY(find_tractions(p, component, boundary, &g));
  TES_TRY(tes_vector_create(ctx, part->length, TES_DOUBLE, &load));
  TES_TRY(tesi_functional_load(&(TesiLoad){.space = part, .g = g}, true, load));
  TES_ALLOC(&springs, part->length);
  TES_TRY(tesi_vector_read(load, &values));
  TES_TRY(add_springs(p, component, boundary, springs));
  for (int64_t i = 0; i < part->length; i++) values[i] -= springs[i];
  *sum = tesi_layout_product(part->layout, values, NULL);
done:
  tes_vector_destroy(&load);
  tesi_free(ctx, &g);
  tesi_free(ctx, &values);
  tesi_free(ctx, &springs);
  return status;
}

static const TesSpace *space_of(const TesProblem *p, int component) {
  return p->space->part[component];
}

static const TesSpace *whole_of(const TesProblem *p) {
  return p->space;
}

static void write_stress(const TesProblem *p, int component, char text[TESI_STRESS_TEXT]) {
  static const char *const in_2d[] = {"sxx*nx + sxy*ny", "sxy*nx + syy*ny"}, *const in_3d[] = {
                                                                                 "sxx*nx + sxy*ny + sxz*nz",
                                                                                 "sxy*nx + syy*ny + syz*nz",
                                                                                 "sxz*nx + syz*ny + szz*nz"};
  snprintf(text, TESI_STRESS_TEXT, "%s", (p->mesh->dim == 2 ? in_2d : in_3d)[component]);
}

static const TesiForces forces = {.sign = 1,
                                  .space = space_of,
                                  .residual = find_residual,
                                  .traction = find_traction,
                                  .stress = write_stress,
                                  .whole = whole_of};

TesStatus tesi_elasticity_force(const TesProblem *p, int boundary, int direction, double *force) {
  return tesi_force_on(p, &forces, boundary, direction, force);
}

/* ---- gradients of forces (variation.h) -------------------------------------------------------------------------- */

static TesStatus apply_to(TesProblem *p, const TesVector *x, TesVector *y) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesProblem of = *p;
  double *values = NULL;
  of.u = (TesVector *)x; /* as a solution */
  TES_TRY(apply_whole(&of, y));
  TES_TRY(tesi_vector_read(y, &values));
  for (int c = 0; c < p->mesh->dim; c++) TES_TRY(add_springs(&of, c, -1, values + p->space->part_first[c]));
  TES_TRY(tes_vector_set(y, values));
done:
  tesi_free(ctx, &values);
  return status;
}

static TesStatus load_to(const TesProblem *like, TesVector *b) {
  TesStatus status = TES_OK;
  for (int c = 0; c < like->mesh->dim && status == TES_OK; c++) {
    TesVector part = tesi_space_range(like->space, b, c);
    status = load_whole(like, c, &part);
  }
  return status;
}

const TesiAdjointOf tesi_elasticity_adjoint = {.forces = &forces, .apply = apply_to, .load = load_to};

/* Sums residuals r of a component over the nodes with slip of this rank, where the component is not given. */
static double slip_reaction(const TesProblem *p, int component, const double *r) {
  const TesiSlip *slip = p->space->slip;
  const TesSpace *part = p->space->part[component];
  double sum = 0;
  for (int64_t i = 0; slip && i < slip->count; i++)
    if (tesi_layout_owns(part->layout, slip->node[i]) && !tesi_slip_given(slip, i, component))
      sum += r[slip->node[i]];
  return sum;
}

static TesStatus find_totals(const TesProblem *p, int component, double *load, double *reaction) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = tesi_elasticity_of(p->op);
  const TesiLayout *layout = p->space->part[component]->layout;
  const int64_t first = p->space->part_first[component], end = p->space->part_first[component + 1];
  TesVector *v = NULL;
  double *values = NULL, *springs = NULL;
  TES_TRY(tes_vector_create(ctx, end - first, TES_DOUBLE, &v));
  TES_ALLOC(&values, end - first);
  TES_ALLOC(&springs, end - first);
  TES_TRY(load_whole(p, component, v));
  TES_TRY(tes_vector_get(v, values));
  *load = tesi_layout_product(layout, values, NULL);
  TES_TRY(find_residual(p, component, values));
  *reaction = 0;
  for (int64_t i = 0; i < e->constrained; i++)
    if (e->list[i] >= first && e->list[i] < end && tesi_layout_owns(layout, e->list[i] - first))
      *reaction += values[e->list[i] - first];
  *reaction += slip_reaction(p, component, values);
  tesi_reduce(ctx, TESI_SUM, 1, reaction);
  TES_TRY(add_springs(p, component, -1, springs));
  *reaction -= tesi_layout_product(layout, springs, NULL);
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &springs);
  tes_vector_destroy(&v);
  return status;
}

TesStatus tesi_elasticity_totals(const TesProblem *p, double load[TESI_AXES], double reaction[TESI_AXES]) {
  TesStatus status = TES_OK;
  for (int c = 0; c < p->mesh->dim && status == TES_OK; c++)
    status = find_totals(p, c, &load[c], &reaction[c]);
  return status;
}
