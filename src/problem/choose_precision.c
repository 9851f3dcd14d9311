/* The precision of the cycle: float32 if it can represent lengths and coefficients, and the results of computing with
 * them. */
#include <float.h>
#include <math.h>
#include "functional/functional.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include "parallel/comm.h"
#include "problem/choice.h"
#include "problem/problem.h"

/* Lengths whose squares and cubes, and quotients of these, are in the range of float32. */
#define MOST_LENGTH 1e9
/* The range of coefficients times such lengths; float32 ends at 1e-38 and 3e38. */
#define MOST 1e34

static bool in_range(double length) {
  return length == 0 || (length > 1 / MOST_LENGTH && length < MOST_LENGTH);
}

/* The value of a term's coefficient at the middle of a cell; NaN: not known yet. */
static double coefficient_at(const TesMesh *mesh, int64_t cell, const double *x, const TesTermDesc *t) {
  const int material = t->a.material ? tes_mesh_material(mesh, cell) : -1;
  const TesFunction *f = material >= 0 && t->a.material[material] ? t->a.material[material] : t->a.all;
  double value = 1;
  if (tesi_function_is_matrix(f)) return NAN;
  if (f && !tes_function_constant(f, &value)) tesi_function_values(f, 1, &x[0], &x[1], &x[2], 0, &value);
  return fabs(value) * (t->factor > 0 ? t->factor : 1);
}

/* Whether float32 can represent the largest entry of a form in a cell of length h: a h^-2 to a h for terms of second
 * order, c to c h^3 for terms of order 0, by element and dimension. */
static bool holds_form(const TesForm *form, const TesMesh *mesh, int64_t cell, const double *x, double h) {
  double largest = 0, least = 0;
  bool known = false;
  for (int i = 0; i < form->terms; i++) {
    const TesTermDesc *t = &form->term[i];
    const bool mass = t->term == TES_TERM_MASS;
    if (!mass && t->term != TES_TERM_DIFFUSION && t->term != TES_TERM_STRAIN) continue;
    const double a = coefficient_at(mesh, cell, x, t), low = mass ? 1 : 1 / (h * h),
                 high = mass ? h * h * h : h;
    if (!(a > 0) || !isfinite(a)) continue;
    known = true;
    largest = fmax(largest, a * fmax(low, high)), least = fmax(least, a * fmin(low, high));
  }
  return !known || (largest < MOST && least > 1 / MOST);
}

/* *h <- the largest difference between opposite corners of a cell along one direction; also the cell's middle. */
static TesStatus measure_cell(const TesMesh *mesh, int64_t cell, double *h, double middle[3]) {
  static const double corners[9] = {0, 0, 0, 1, 1, 1, 0.5, 0.5, 0.5}, flat[6] = {0, 0, 1, 1, 0.5, 0.5};
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int dim = mesh->dim;
  double x[9] = {0};
  int at[3];
  *h = 0;
  if (mesh->kind == TES_MESH_BOX) { /* a box stores no geometry */
    tesi_mesh_at(mesh, cell, at);
    for (int d = 0; d < dim; d++) {
      x[d] = mesh->coordinates[d][at[d]], x[dim + d] = mesh->coordinates[d][at[d] + 1];
      x[2 * dim + d] = (x[d] + x[dim + d]) / 2;
    }
  } else {
    TES_TRY(tes_mesh_evaluate(mesh, cell, 3, dim == 3 ? corners : flat, x, NULL));
  }
  for (int d = 0; d < dim; d++) *h = fmax(*h, fabs(x[dim + d] - x[d])), middle[d] = x[2 * dim + d];
done:
  return status;
}

/* Looks at some of the cells. */
static TesStatus check_cells(const TesProblem *p, bool *held) {
  enum { SAMPLE = 64 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = p->mesh;
  const TesForm *form = p->op ? &p->op->desc.form : &p->form.all;
  const int64_t stride = 1 + mesh->cells / SAMPLE;
  for (int64_t c = 0; c < mesh->cells; c += stride) {
    double middle[3] = {0}, h;
    TES_TRY(measure_cell(mesh, c, &h, middle));
    *held = *held && in_range(h) && (h == 0 || holds_form(form, mesh, c, middle, h));
  }
done:
  return status;
}

/* *quotient <- 1^T A 1 / 1^T D 1, D the diagonal of A. */
static TesStatus quotient_of_constant(const TesOperator *op, double *quotient) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesVector *one = NULL, *v = NULL;
  double diagonal;
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &one));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &v));
  TES_TRY(tes_vector_fill(one, 1));
  TES_TRY(tes_operator_diagonal(op, v));
  TES_TRY(tes_vector_dot(one, v, &diagonal));
  TES_TRY(tes_operator_apply(op, one, v));
  TES_TRY(tes_vector_dot(one, v, quotient));
  *quotient /= diagonal;
done:
  tes_vector_destroy(&one);
  tes_vector_destroy(&v);
  return status;
}

/* Whether some value of every component is given, on any rank. */
static bool holds_all(const TesSpace *space) {
  for (int i = 0; i < space->scalars; i++)
    if (!tesi_reduce_any(space->context, space->scalar[i]->dofs < space->scalar[i]->length)) return false;
  return true;
}

/* If almost nothing fixes the constant of the solution, a cycle answers a residual of size 1 with a constant of size
 * 1 / q, q the quotient, which float32 rounds to epsilon / q. The residual of this rounding is of the same size.
 * Methods that minimize residuals see nothing else if q is epsilon or less (64^2 cells of degree 4: GMRES takes 17
 * iterations instead of 10 at 1e-7, 50 at 1e-8, and does not converge below). The energy of this rounding is
 * epsilon^2 / q of the constant's energy: conjugate gradients take a quarter more iterations if it is a thousandth,
 * and diverge if it is 1. V-cycles that correct the residual take no more. */
TesStatus tesi_problem_doubt_precision(TesProblem *p) {
  static const double residual = FLT_EPSILON, energy = 1e3 * FLT_EPSILON * FLT_EPSILON;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double quotient;
  const bool krylov = p->chosen.method == TES_METHOD_CG || p->chosen.method == TES_METHOD_GMRES;
  if (!krylov || p->chosen.cycle == TES_DOUBLE || p->lifting.some_given || p->op->singular || p->in_time ||
      p->equation->flow || tesi_transport_of(p->op) || (p->equation->own && holds_all(p->op->space)))
    return TES_OK;
  TES_TRY(quotient_of_constant(p->op, &quotient));
  tesi_log(ctx, TES_LOG_DETAIL, "what holds the solution is %.1e of the operator", quotient);
  p->chosen.loose = quotient < (p->chosen.method == TES_METHOD_CG ? energy : residual);
  if (p->chosen.loose) p->chosen.cycle = TES_DOUBLE;
done:
  return status;
}

TesStatus tesi_problem_choose_precision(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis =
      p->space->element->nodal ? tesi_space_axes(p->space) : tesi_space_last(p->space)->axis;
  bool held = true;
  for (int d = 0; axis && d < p->space->dim; d++) {
    const double *h = axis[d].h;
    for (int i = 0; i < axis[d].cells; i++) held = held && in_range(h[i]);
  }
  TES_TRY(check_cells(p, &held));
  held = !tesi_reduce_any(ctx, !held);
  p->chosen.cycle = p->options.precision == TES_SOLVE_DOUBLE || p->options.method == TES_METHOD_DIRECT || !held
                        ? TES_DOUBLE
                        : TES_SINGLE;
done:
  return status;
}
