/* Goals that are an expression at a point, linear in the solution and its derivatives, such as a stress. J(u) is the
 * mean of the expression over the cells that have the point. Its right-hand side holds J of each basis function. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functional/functional.h"
#include "problem/adapt/estimate.h"

/* For each component: a number for its value, then a number for each derivative. */
typedef struct Numbers {
  double of[TESI_AXES][1 + TESI_AXES];
} Numbers;

/* The expression in one cell, evaluated at a point for given values of the solution. */
typedef struct Expression {
  const TesProblem *problem;
  TesiQuantity *quantity;
  const char *text;
  int64_t cell;
  double x[3];
} Expression;

bool tesi_goal_is_expression(const TesValue *goal) {
  return goal->kind == TES_VALUE_POINT && (goal->of[1] || !strchr("uvw", goal->of[0]));
}

static int components_of(const TesProblem *p) {
  return p->equation->vector ? p->space->parts : 1;
}

/* The component to which a source belongs; -1: it is a coefficient. */
static int component_of(const TesProblem *p, const TesVector *vector) {
  for (int c = 0; c < components_of(p); c++)
    if (vector && vector == (p->equation->vector ? p->component[c] : p->u)) return c;
  return -1;
}

static TesStatus create(const TesProblem *p, const TesValue *goal, Expression *e) {
  TesiField field[TESI_FIELDS];
  const int fields = tesi_problem_fields(p, field);
  *e = (Expression){.problem = p, .text = goal->of};
  memcpy(e->x, goal->point, sizeof e->x);
  return tesi_quantity_create(p->mesh, goal->of, false, fields, field, &e->quantity);
}

static double evaluate(const Expression *e, const Numbers *given) {
  const TesiQuantity *q = e->quantity;
  double coefficient[TESI_SOURCES], out;
  const double *value[TESI_SOURCES] = {NULL}, *gradient[TESI_SOURCES][3] = {{NULL}};
  for (int s = 0; s < q->sources; s++) {
    const int c = component_of(e->problem, q->source[s].vector);
    if (c < 0)
      tesi_function_values(tesi_quantity_coefficient(q, s, e->cell), 1, &e->x[0], &e->x[1], &e->x[2], 0,
                           &coefficient[s]);
    value[s] = c < 0 ? &coefficient[s] : &given->of[c][0];
    for (int d = 0; d < 3 && c >= 0; d++) gradient[s][d] = &given->of[c][1 + d];
  }
  tesi_quantity_values(q, 1, (const double *const[3]){&e->x[0], &e->x[1], &e->x[2]},
                       (const double *const[3]){NULL}, value, (const double *const(*)[3])gradient, &out);
  return out;
}

/* part[component] <- the coefficients of value and derivatives. Errors: TES_INVALID_INPUT if the expression is not
 * linear. */
static TesStatus find_parts(const Expression *e, Numbers *part) {
  TesContext *ctx = e->problem->context;
  TesStatus status = TES_OK;
  Numbers given = {{{0}}};
  double sum = 0, size = 0;
  const double none = evaluate(e, &given);
  for (int i = 0; i < TESI_AXES * (1 + TESI_AXES); i++) {
    const int c = i / (1 + TESI_AXES), d = i % (1 + TESI_AXES);
    given.of[c][d] = 1;
    part->of[c][d] = evaluate(e, &given) - none;
    given.of[c][d] = 0;
  }
  for (int i = 0; i < TESI_AXES * (1 + TESI_AXES); i++) {
    const int c = i / (1 + TESI_AXES), d = i % (1 + TESI_AXES);
    given.of[c][d] = 2 + sin(3 * i);
    sum += part->of[c][d] * given.of[c][d], size += fabs(part->of[c][d]);
  }
  TES_CHECK(size > 0 && fabs(evaluate(e, &given) - none - sum) <= 1e-9 * (size + fabs(none)),
            "adapt.goal.of: '%.100s' is not linear in the solution and its derivatives", e->text);
done:
  return status;
}

/* Messages about the expression begin with its key. */
static TesStatus name_key(TesContext *ctx, TesStatus found) {
  TesStatus status = TES_OK;
  char text[600];
  if (found != TES_INVALID_INPUT) return found;
  snprintf(text, sizeof text, "%s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  TES_FAIL(TES_INVALID_INPUT, "adapt.goal.of: %s", text);
done:
  return status;
}

TesStatus tesi_goal_check_expression(const TesProblem *p, const TesValue *goal) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Expression e;
  Numbers part;
  double xi[3];
  TES_TRY(name_key(ctx, create(p, goal, &e)));
  TES_TRY(tesi_goal_find_cell(p->space->part[0], goal->point, &e.cell, xi));
  e.cell = e.cell >= 0 ? e.cell : 0; /* ranks without the point find the same errors */
  TES_TRY(tesi_agree(ctx, p->mesh->cells > 0 ? find_parts(&e, &part) : TES_OK));
done:
  tesi_quantity_destroy(&e.quantity);
  return status;
}

/* local[nodes] <- for each basis function at the point: part[0] times its value + part[1 + d] times its derivatives. */
static void functions_at(const TesiCellView *space, const double *xi, const double *J,
                         const double part[1 + TESI_AXES], double share, double *local) {
  const int dim = space->dim;
  double unit[TESI_CELL_MOST], transposed[9];
  for (int i = 0; i < dim * dim; i++) transposed[i] = J[i % dim * dim + i / dim];
  for (int p = 0; p < space->cell_nodes; p++) {
    double value, slope[3], turned[3] = {0};
    memset(unit, 0, sizeof unit);
    unit[p] = 1;
    tesi_local_values(dim, space->degree, unit, 1, xi, &value, slope);
    tesi_solve_small(dim, transposed, slope, turned);
    local[p] = part[0] * value;
    for (int d = 0; d < dim; d++) local[p] += part[1 + d] * turned[d];
    local[p] *= share;
  }
}

static TesStatus add_hit(const Expression *e, const TesSpace *space, const TesiHit *hit, double share,
                         double *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Numbers part;
  double local[TESI_CELL_MOST], x[3], J[9];
  int64_t first = 0;
  TES_TRY(find_parts(e, &part));
  TES_TRY(tesi_mesh_points(space->mesh, hit->cell, 1, hit->xi, x, J));
  for (int c = 0; c < components_of(e->problem); c++) {
    const TesiCellView *view = space->part[c]->view;
    functions_at(view, hit->xi, J, part.of[c], share, local);
    tesi_cells_add(view, hit->cell, local, b + first);
    first += space->part[c]->length;
  }
done:
  return status;
}

TesStatus tesi_goal_add_expression(const TesProblem *p, const TesSpace *space, const TesValue *goal,
                                   TesVector *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Expression e;
  TesiHit *hit = NULL;
  int64_t count, all;
  double *sum = NULL;
  TesVector *part = NULL;
  TES_TRY(create(p, goal, &e));
  TES_TRY(tesi_point_hits(space->mesh, goal->point, 0.01, &hit, &count, &all));
  TES_ALLOC(&sum, b->length);
  if (tesi_ranks(ctx) > 1)
    TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &part));
  else
    TES_TRY(tes_vector_get(b, sum));
  for (int64_t i = 0; i < count; i++) {
    e.cell = hit[i].cell;
    TES_TRY(add_hit(&e, space, &hit[i], 1 / (double)all, sum));
  }
  tesi_exchange_sum(space->layout->shared, TES_DOUBLE, sum);
  TES_TRY(tes_vector_set(part ? part : b, sum));
  if (part) TES_TRY(tes_vector_axpy(1, part, b));
done:
  tes_vector_destroy(&part);
  tesi_quantity_destroy(&e.quantity);
  tesi_free(ctx, &hit);
  tesi_free(ctx, &sum);
  return status;
}

TesStatus tesi_goal_exact_expression(const TesProblem *p, const TesValue *goal, double *exact) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Expression e;
  TesFunction *slope = NULL;
  Numbers given = {{{0}}};
  double xi[3];
  const double *x = goal->point;
  TES_TRY(create(p, goal, &e));
  TES_TRY(tesi_goal_find_cell(p->space->part[0], x, &e.cell, xi));
  for (int c = 0; c < components_of(p); c++)
    for (int d = 0; d <= p->mesh->dim; d++) {
      if (d) TES_TRY(tes_function_create_derivative(p->exact[c], d - 1, &slope));
      TES_TRY(tes_function_evaluate(d ? slope : p->exact[c], 1, &x[0], &x[1], &x[2], 0, &given.of[c][d]));
      tes_function_destroy(&slope);
    }
  *exact = e.cell >= 0 ? evaluate(&e, &given) : 0;
  tesi_reduce(ctx, TESI_SUM, 1, exact);
done:
  tesi_quantity_destroy(&e.quantity);
  tes_function_destroy(&slope);
  return status;
}
