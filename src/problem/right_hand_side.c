/* The right-hand side of u_0: loads, what the caller adds, boundary values, and the balance of singular problems. */
#include <math.h>
#include "device/kernel.h"
#include "functional/functional.h"
#include "operator/operator.h"
#include "problem/below.h"
#include "problem/problem.h"
#include "space/rt_device.h"
#include "space/slip.h"

/* The g of a component, on boundaries with values or with fluxes; [boundaries + 1]. */
static TesStatus pick(const TesProblem *p, const TesiNumbered *numbered, int component, bool given,
                      const TesFunction ***g) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_ALLOC(g, tes_mesh_boundaries(p->mesh) + 1);
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    if (tesi_problem_given(p, i, component) == given) (*g)[i] = numbered->given[i].g[component];
done:
  return status;
}

TesStatus tesi_problem_fluxes(const TesProblem *p, const TesiNumbered *numbered, int component,
                              const TesFunction ***flux) {
  const TesStatus status = pick(p, numbered, component, false, flux);
  for (int i = 0; status == TES_OK && i < tes_mesh_boundaries(p->mesh); i++)
    if (tesi_function_is_zero((*flux)[i])) (*flux)[i] = NULL;
  return status;
}

static TesStatus clear_component(const TesSpace *space, TesVector *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiCellView *s = space->view;
  double *values = NULL;
  if (tesi_space_axes(space)) return tesi_functional_clear(space, v);
  TES_TRY(tesi_vector_read(v, &values));
  for (int64_t i = 0; i < s->cells * s->cell_nodes; i++)
    if (s->index[i] < 0) values[~s->index[i]] = 0;
  TES_TRY(tes_vector_set(v, values));
done:
  tesi_free(ctx, &values);
  return status;
}

static TesStatus clear_components(const TesSpace *space, TesVector *v) {
  TesStatus status = TES_OK;
  for (int c = 0; c < space->parts && status == TES_OK; c++) {
    TesVector of_v = tesi_space_range(space, v, c);
    status = clear_component(space->part[c], &of_v);
  }
  return status;
}

TesStatus tesi_problem_clear_on(const TesProblem *p, const TesSpace *space, TesVector *v) {
  if (space->element->weak || (space->element->nodal && !p->lifting.some_given)) return TES_OK;
  if (!space->element->nodal) return tesi_rt_clear_on(space->context, space, v->precision, v->data);
  const TesStatus status = clear_components(space, v);
  return status != TES_OK ? status : tesi_space_project(space, v->precision, v->data);
}

TesStatus tesi_problem_clear(const TesProblem *p, TesVector *v) {
  if (!p->lifting.free || v->precision != TES_DOUBLE) return tesi_problem_clear_on(p, p->space, v);
  const TesStatus status =
      tesi_device_multiply(p->context, TES_DOUBLE, v->length, 1, v->data, p->lifting.free->data, v->data);
  return status != TES_OK ? status : tesi_space_project(p->space, TES_DOUBLE, v->data);
}

TesStatus tesi_problem_load(const TesProblem *p, const TesFunction *const *f,
                            const TesFunction **const *material_f, bool all, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesLoadDesc load = {.space = p->space};
  const TesFunction **flux[TES_COMPONENTS] = {NULL};
  for (int c = 0; c < p->space->scalars; c++) {
    TES_TRY(tesi_problem_fluxes(p, &p->numbered, c, &flux[c]));
    load.f[c] = f[c], load.material_f[c] = material_f[c], load.g[c] = flux[c];
  }
  TES_TRY(all ? tesi_functional_load_all(&load, true, b) : tes_functional_load(&load, b));
done:
  for (int c = 0; c < TES_COMPONENTS; c++) tesi_free(ctx, &flux[c]);
  return status;
}

/* ---- boundary values ----------------------------------------------------------------------------------- */

/* u <- values at the nodes of boundaries of this priority; other nodes keep u. For one component. */
static TesStatus overlay(const TesProblem *p, const TesSpace *space, const TesFunction *const *g,
                         const TesFunction *one, int priority, TesVector *u) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(p->mesh);
  const int64_t n = space->length;
  const TesFunction **some = NULL;
  TesVector *v = NULL;
  double *values[3] = {NULL};
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &v));
  TES_ALLOC(&some, names + 1);
  for (int pass = 0; pass < 2; pass++) { /* values, then marks of their nodes */
    for (int i = 0; i < names; i++)
      some[i] = g[i] && p->numbered.given[i].priority == priority ? pass ? one : g[i] : NULL;
    TES_TRY(tes_functional_lifting(space, (const TesFunction *const *[]){some}, v));
    TES_ALLOC(&values[pass], n);
    TES_TRY(tes_vector_get(v, values[pass]));
  }
  TES_ALLOC(&values[2], n);
  TES_TRY(tes_vector_get(u, values[2]));
  for (int64_t i = 0; i < n; i++)
    if (values[1][i] > 0) values[2][i] = values[0][i];
  TES_TRY(tes_vector_set(u, values[2]));
done:
  for (int i = 0; i < 3; i++) tesi_free(ctx, &values[i]);
  tesi_free(ctx, &some);
  tes_vector_destroy(&v);
  return status;
}

/* Boundaries of lower priority come first. If all have the same priority, as is usual, all are done at once. */
static TesStatus lift(const TesProblem *p, const TesSpace *space, const TesFunction *const *g, TesVector *u) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *one = NULL;
  const TesiGiven *given = p->numbered.given;
  const int names = tes_mesh_boundaries(p->mesh);
  int least = INT32_MAX, largest = INT32_MIN;
  for (int i = 0; i < names; i++)
    if (g[i]) least = tesi_min(least, given[i].priority), largest = tesi_max(largest, given[i].priority);
  if (least >= largest) return tes_functional_lifting(space, &g, u);
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  for (int64_t now = least; now <= largest;) {
    int64_t next = (int64_t)INT32_MAX + 1;
    TES_TRY(overlay(p, space, g, one, (int)now, u));
    for (int i = 0; i < names; i++)
      if (g[i] && given[i].priority > now && given[i].priority < next) next = given[i].priority;
    now = next;
  }
done:
  tes_function_destroy(&one);
  return status;
}

/* Zero is a value too: at nodes of two boundaries the value of the later one holds. */
static TesStatus lift_component(const TesProblem *p, const TesSpace *space, int component,
                                const TesFunction *zero, TesVector *u) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesFunction **g = NULL;
  TES_TRY(pick(p, &p->numbered, component, true, &g));
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    if (!g[i] && tesi_problem_given(p, i, component)) g[i] = zero;
  TES_TRY(lift(p, space->part[component], g, u));
done:
  tesi_free(ctx, &g);
  return status;
}

TesStatus tesi_problem_mark_given(const TesProblem *p, int component, double *mark) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(p->mesh);
  const TesFunction **g = NULL;
  TesFunction **number = NULL;
  TesVector *v = NULL;
  TES_ALLOC(&g, names + 1);
  TES_ALLOC(&number, names + 1);
  TES_TRY(tesi_vector_create_on(p->space->part[component]->layout, TES_DOUBLE, &v));
  for (int i = 0; i < names; i++) {
    if (!tesi_problem_given(p, i, component)) continue;
    TES_TRY(tes_function_create_constant(ctx, i + 1, &number[i]));
    g[i] = number[i];
  }
  TES_TRY(lift(p, p->space->part[component], g, v));
  TES_TRY(tes_vector_get(v, mark));
done:
  for (int i = 0; number && i < names; i++) tes_function_destroy(&number[i]);
  tesi_free(ctx, &number);
  tesi_free(ctx, &g);
  tes_vector_destroy(&v);
  return status;
}

/* u += the displacement given on faces with slip. */
static TesStatus push(const TesProblem *p, const TesSpace *space, TesVector *u) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(p->mesh);
  const TesFunction **g = NULL;
  bool any = false;
  TES_ALLOC(&g, names + 1);
  for (int i = 0; i < names; i++)
    if (p->numbered.given[i].how[0] == TESI_NORMAL)
      g[i] = p->numbered.given[i].g[TESI_AXES], any = any || g[i];
  if (any) TES_TRY(tesi_slip_push(space, g, u));
done:
  tesi_free(ctx, &g);
  return status;
}

TesStatus tesi_problem_values(const TesProblem *p, const TesSpace *space, TesVector *u) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *zero = NULL;
  TES_TRY(tes_function_create_constant(ctx, 0, &zero));
  for (int c = 0; c < space->parts; c++) {
    TesVector of_u = tesi_space_range(space, u, c);
    TES_TRY(lift_component(p, space, c, zero, &of_u));
  }
  if (space->slip) TES_TRY(tesi_slip_lift(space->slip, u));
  if (space->slip) TES_TRY(push(p, space, u));
done:
  tes_function_destroy(&zero);
  return status;
}

/* If all values are zero, there is nothing to lift. */
TesStatus tesi_problem_lift(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  p->lifting.lifted = false;
  if (p->equation->flow) return TES_OK; /* theirs */
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    for (int c = 0; c < p->space->parts; c++)
      p->lifting.lifted = p->lifting.lifted ||
                          (tesi_problem_given(p, i, c) && !tesi_function_is_zero(p->numbered.given[i].g[c]));
  for (int i = 0; p->space->slip && i < tes_mesh_boundaries(p->mesh); i++)
    p->lifting.lifted = p->lifting.lifted || (p->numbered.given[i].how[0] == TESI_NORMAL &&
                                              !tesi_function_is_zero(p->numbered.given[i].g[TESI_AXES]));
  if (!p->lifting.lifted) goto done;
  if (!p->lifting.shift) TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->lifting.shift));
  TES_TRY(tesi_problem_values(p, p->space, p->lifting.shift));
done:
  return status;
}

static TesStatus subtract_lifting(TesProblem *p) {
  const TesStatus status = tesi_problem_lift(p);
  return status == TES_OK && p->lifting.lifted ? tes_operator_lift(p->op, p->lifting.shift, p->b) : status;
}

/* ---- balance ------------------------------------------------------------------------------------------- */

/* A singular problem has a solution only if its data are in balance: the sum of b, which is int f + int g, must be
 * 0. */
static TesStatus check_balance(TesProblem *p, int component) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *space = p->space->part[component];
  const TesVector b = tesi_space_range(p->space, p->b, component);
  TesVector weights = tesi_space_range(p->space, p->constants.weights, component),
            one = tesi_space_range(p->space, p->lifting.shift, component);
  double sum, size;
  TES_TRY(tes_vector_fill(&one, 1));
  TES_TRY(tesi_functional_weights(space, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &weights));
  TES_TRY(tes_vector_dot(&weights, &one, &p->constants.volume[component]));
  TES_TRY(tes_vector_dot(&b, &one, &sum));
  TES_TRY(tes_vector_norm(&b, &size));
  size *= sqrt((double)space->layout->global);
  TES_CHECK(fabs(sum) <= 1e-8 * size || size == 0,
            "boundary: only fluxes are given and c = 0, so a solution exists only if int f + int g = "
            "0; here it is %.6g. "
            "Change f or g, or give a Dirichlet value on a %s",
            sum, p->mesh->kind == TES_MESH_BOX ? "face" : "boundary");
  if (p->exact[component]) {
    TesVector *exact = NULL;
    TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &exact));
    status = tes_functional_load(&(TesLoadDesc){.space = space, .f = {p->exact[component]}}, exact);
    if (status == TES_OK) status = tes_vector_dot(exact, &one, &p->constants.mean[component]);
    tes_vector_destroy(&exact);
  }
done:
  return status;
}

static TesStatus check_balances(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (!p->op->singular) return TES_OK;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->constants.weights));
  if (!p->lifting.shift) TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->lifting.shift));
  for (int c = 0; c < p->space->parts; c++)
    if (p->op->singular >> c & 1) TES_TRY(check_balance(p, c));
done:
  return status;
}

/* On devices given nodes are set to zero by a product if that is done often: in time, and with guesses, as problems
 * within other problems have. */
static TesStatus mark_free(TesProblem *p, bool often) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *space = p->space;
  TesVector *marks = NULL;
  if (!tesi_has_kernels(ctx) || !often || !p->lifting.some_given || !space->element->nodal ||
      (tesi_space_box(space->part[0]) && space->parts == 1))
    return TES_OK;
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &marks));
  TES_TRY(tes_vector_fill(marks, 1));
  TES_TRY(clear_components(space, marks));
  p->lifting.free = marks, marks = NULL;
done:
  tes_vector_destroy(&marks);
  return status;
}

TesStatus tesi_problem_create_right_hand_side(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double start = tesi_now();
  TES_TRY(mark_free(p, p->in_time || desc->guess));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->b));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->u));
  for (int c = 0; c < p->space->parts && p->equation->vector; c++)
    TES_TRY(tes_vector_part(p->space, p->u, c, &p->component[c]));
  if (p->in_time && p->equation->balance && !p->before) TES_TRY(p->equation->balance(p));
  if (p->in_time) goto done;
  TES_TRY(p->equation->load(p, p->b));
  if (desc->add_load) {
    TES_TRY(desc->add_load(desc->add_load_user, p->space, p->b));
    TES_TRY(tesi_problem_clear(p, p->b));
  }
  if (p->equation->flow) {
    TES_TRY(p->equation->flow->lift(p));
  } else {
    TES_TRY(subtract_lifting(p));
    TES_TRY(p->equation->balance ? p->equation->balance(p) : check_balances(p));
  }
  TES_TRY(tesi_below_create(p));
  p->times.right_hand_side = tesi_now() - start;
done:
  return status;
}
