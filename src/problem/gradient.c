/* Derivatives of values with respect to data: gradient.h. */
#include <string.h>
#include "base/work.h"
#include "functional/functional.h"
#include "krylov/solver.h"
#include "operator/transport/transport_operator.h"
#include "parallel/comm.h"
#include "problem/adapt/dual.h"
#include "problem/balance.h"
#include "problem/below.h"
#include "problem/field_rows.h"
#include "problem/gradient.h"
#include "problem/variation.h"

/* The reason why a problem, or a value, cannot be differentiated; NULL: it can be. */
static const char *refused_problem(const TesProblem *p) {
  const TesiTransport *transport = p->op ? tesi_transport_of(p->op) : NULL;
  const TesiAdjointOf *of = p->equation->adjoint;
  if (p->in_time) return "the problem is in time, and gradients are those of steady problems";
  if (p->equation->flow || (p->equation->own && !of))
    return "gradients are there for poisson, transport, elasticity and stokes with space.element: q";
  if (of && of->refused) return of->refused(p);
  if (p->op->singular)
    return "boundary: only fluxes are given and c = 0, so the solution is determined up to a constant, and "
           "so is the "
           "gradient. Give a Dirichlet or Robin condition somewhere, or c > 0";
  if (p->motions)
    return "boundary: rigid motions are held by no boundary, and so the gradient is not determined";
  if (transport && transport->streamline)
    return "space.stabilization: streamline terms depend on the data in ways that are not differentiated. "
           "Take a mesh "
           "on which the cell Peclet number is at most 1, and stabilization none";
  return NULL;
}

static const char *refused_force(const TesProblem *p, const TesValue *what) {
  const int axis = tesi_force_axis(what);
  if (!p->equation->adjoint || !p->equation->adjoint->forces)
    return "there are forces of flows and elasticity";
  if (what->where != TES_ON_BOUNDARY || axis < 0 || axis >= p->mesh->dim)
    return "a force is on a boundary, in direction x, y or z";
  return tesi_force_is_support(p, what->number, axis)
             ? NULL
             : "the stresses on this boundary are given, and the force is their integral, which is not "
               "differentiated";
}

static const char *refused_value(const TesProblem *p, const TesValue *what) {
  switch (what->kind) {
  case TES_VALUE_INTEGRAL:
  case TES_VALUE_MEAN:
  case TES_VALUE_POINT:
    return NULL;
  case TES_VALUE_FORCE:
    return refused_force(p, what);
  case TES_VALUE_ERROR:
    return "a norm of the error is not differentiated; an integral of a square of the solution is";
  case TES_VALUE_MAXIMUM:
  case TES_VALUE_MINIMUM:
    break;
  }
  return "a largest or smallest value has kinks; the integral of a high power is differentiable";
}

/* ---- the adjoint solution ------------------------------------------------------------------------------ */

static void name_fields(TesiAdjoint *s) {
  static const char *const names[3][4] = {
      {"zu", "zux", "zuy", "zuz"}, {"zv", "zvx", "zvy", "zvz"}, {"zw", "zwx", "zwy", "zwz"}};
  const TesProblem *p = s->problem;
  const int dim = p->mesh->dim, components = tesi_adjoint_components(p);
  const TesVector *u[TESI_AXES], *z[TESI_AXES];
  const TesSpace *const *part = p->space->scalar;
  for (int c = 0; c < components; c++) {
    s->of[c] = tesi_space_scalar_range(p->space, s->z, c);
    u[c] = components > 1 ? p->component[c] : p->u, z[c] = &s->of[c];
  }
  s->fields = tesi_fields_of(dim, components, part, u, s->field);
  TesiField *behind = s->field + s->fields;
  const int more = tesi_fields_of(dim, components, part, z, behind);
  for (int i = 0; i < more; i++) behind[i].name = names[i / (dim + 1)][i % (dim + 1)];
  s->fields += more;
}

/* The vector of a scalar of the space: a component, or the pressure, which is the last one. */
static const TesVector *unknown_of(const TesProblem *p, int fields, const TesiField *field, int scalar) {
  if (p->space->scalars == 1) return p->u;
  for (int i = 0; i < fields && scalar == p->mesh->dim; i++)
    if (!strcmp(field[i].name, "p")) return field[i].vector;
  return p->component[scalar];
}

/* slope <- the derivative of the parts by u_i */
static TesStatus find_slope(TesiAdjoint *s) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  double *b = NULL;
  const int own = tesi_problem_fields(p, field);
  TES_ALLOC(&b, p->space->length);
  for (const TesiAdjointPart *part = s->part; part < s->part + s->parts; part++) {
    const int fields = tesi_adjoint_part_fields(s, part, own, field);
    for (int c = 0; c < p->space->scalars; c++)
      TES_TRY(tesi_functional_slope(p->space->scalar[0], fields, field, &part->what,
                                    unknown_of(p, own, field, c), p->space->scalar[c], b + p->space->first[c]));
  }
  tesi_exchange_sum(p->space->layout->shared, TES_DOUBLE, b);
  TES_TRY(tes_vector_set(s->slope, b));
done:
  tesi_free(ctx, &b);
  return status;
}

/* b <- the slope of the value: of its parts, and of residuals. */
static TesStatus right_hand_side(const TesiAdjoint *s, TesVector *b) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  if (!s->weight) return tes_vector_copy(s->slope, 1, b);
  TES_TRY(s->problem->equation->adjoint->apply(s->problem, s->weight, b));
  TES_TRY(tes_vector_axpy(1, s->slope, b));
done:
  return status;
}

/* Uses the present multigrid. */
static TesStatus solve_again(TesiAdjoint *s, const TesVector *b) {
  TesProblem *p = s->problem;
  TesSolver *solver = p->solver;
  TesSolveResult result;
  void (*const monitor)(void *, int, double) = solver->desc.monitor;
  solver->desc.monitor = NULL;
  tesi_solver_set_below(solver, NULL);
  const TesStatus status = tes_solver_solve(solver, b, s->z, &result);
  if (p->below) tesi_solver_set_below(solver, p->below->b);
  solver->desc.monitor = monitor;
  return status;
}

static TesStatus add_slope(void *user, const TesSpace *space, TesVector *b) {
  (void)space;
  return tes_vector_axpy(1, ((const TesiAdjoint *)user)->slope, b);
}

static TesStatus solve(TesiAdjoint *s) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *b = NULL;
  TesProblem *dual = NULL;
  if (tesi_problem_transports(p)) {
    const TesiDual how = {.degree = p->space->degree,
                          .tolerance = p->chosen.tolerance,
                          .stabilization = TES_STREAMLINE_NONE,
                          .boundary = -1,
                          .add_load = add_slope,
                          .user = s};
    TES_TRY(tesi_dual_solve(p, &how, &dual));
    TES_TRY(tes_vector_copy(dual->u, 1, s->z));
  } else {
    const TesiAdjointOf *of = p->equation->adjoint;
    TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &b));
    TES_TRY(right_hand_side(s, b));
    if (!of || !of->solve) TES_TRY(tesi_problem_clear(p, b));
    TES_TRY(of && of->solve ? of->solve(s->problem, b, s->z) : solve_again(s, b));
  }
  if (s->weight) TES_TRY(tes_vector_axpy(-1, s->weight, s->z));
done:
  tes_vector_destroy(&b);
  tes_problem_destroy(&dual);
  return status;
}

/* ---- derivatives --------------------------------------------------------------------------------------- */

static bool varies_velocity(const TesVariation *v) {
  return v->data.b[0] || v->data.b[1] || v->data.b[2];
}

static TesStatus differentiate(const TesiAdjoint *s, TesVariation *variation) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiVaried varied = {.zero = NULL};
  double sum = 0, *cells = variation->cells;
  const bool apart = variation->boundaries || varies_velocity(variation) ||
                     s->what->kind == TES_VALUE_POINT || s->what->where == TES_ON_BOUNDARY;
  if (cells && (variation->boundaries || varies_velocity(variation) ||
                tesi_numbered_heated(p->mesh, &p->numbered) || (s->what->kind == TES_VALUE_FORCE && s->parts)))
    TES_FAIL(TES_INVALID_INPUT,
             "parts of cells are there for data inside the domain alone: not for boundaries, a "
             "velocity, data of heated bodies, or forces where supports meet");
  for (int64_t c = 0; cells && c < p->mesh->cells; c++) cells[c] = 0;
  TES_TRY(tesi_varied_create(p, variation, &varied));
  TES_TRY(tesi_adjoint_add_forms(s, &varied, cells, &sum));
  TES_TRY(tesi_adjoint_add_loads(s, &varied, cells, &sum));
  TES_TRY(tesi_adjoint_add_given(s, &varied, &sum));
  TES_TRY(tesi_adjoint_add_value(s, &varied, apart ? NULL : cells, &sum));
  variation->derivative = sum;
done:
  tesi_varied_free(&varied);
  return status;
}

static TesStatus check(const TesProblem *p, const TesValue *what) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const char *reason = refused_problem(p);
  if (!reason) reason = refused_value(p, what);
  if (reason) TES_FAIL(TES_INVALID_INPUT, "%s", reason);
done:
  return status;
}

TesStatus tesi_problem_value_slope(const TesProblem *p, const TesValue *what, double *slope) {
  TesiField field[TESI_FIELDS];
  const TesStatus status = check(p, what);
  *slope = 0;
  if (what->kind == TES_VALUE_FORCE) return status; /* it has no expression */
  return status == TES_OK ? tesi_functional_sum(p->space->scalar[0], tesi_problem_fields(p, field), field,
                                                what, &(TesiSumOf){.by = TESI_SLOPE_CONSTANT}, slope)
                          : status;
}

TesStatus tes_problem_gradient(TesProblem *problem, const TesValue *what, int count, TesVariation *variation) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiAdjoint s = {.problem = problem, .what = what};
  tesi_work_begin_results(ctx, problem->in_time != NULL, "a gradient");
  TES_TRY(check(problem, what));
  TES_TRY(tesi_adjoint_begin(&s));
  TES_TRY(tesi_vector_create_on(problem->space->layout, TES_DOUBLE, &s.slope));
  TES_TRY(tesi_vector_create_on(problem->space->layout, TES_DOUBLE, &s.z));
  TES_TRY(find_slope(&s));
  TES_TRY(solve(&s));
  name_fields(&s);
  for (int i = 0; i < count; i++) TES_TRY(differentiate(&s, &variation[i]));
done:
  tesi_adjoint_end(&s);
  tesi_work_end(ctx);
  return tesi_agree(ctx, status);
}
