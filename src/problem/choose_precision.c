/* The precision of the cycle: float32 where it holds lengths and coefficients, and what is made of them. */
#include <math.h>
#include "functional/functional.h"
#include "operator/operator.h"
#include "parallel/comm.h"
#include "problem/problem.h"

/* Lengths whose squares and cubes float32 holds, and what is made of their quotients. */
#define MOST_LENGTH 1e9
/* Coefficients times these; float32 ends at 1e-38 and 3e38. */
#define MOST 1e34

static bool in_range(double length) {
  return length == 0 || (length > 1 / MOST_LENGTH && length < MOST_LENGTH);
}

/* The value of a term's coefficient at the middle of a cell; NaN: not known before. */
static double coefficient_at(const TesMesh *mesh, int64_t cell, const double *x, const TesTermDesc *t) {
  const int material = t->a.material ? tes_mesh_material(mesh, cell) : -1;
  const TesFunction *f = material >= 0 && t->a.material[material] ? t->a.material[material] : t->a.all;
  double value = 1;
  if (tesi_function_is_matrix(f)) return NAN;
  if (f && !tes_function_constant(f, &value)) tesi_function_values(f, 1, &x[0], &x[1], &x[2], 0, &value);
  return fabs(value) * (t->factor > 0 ? t->factor : 1);
}

/* Whether the largest entry that a form has in a cell of length h is held: of second order a h^-2 to a h, of order 0
 * from c to c h^3, by element and dimension. */
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

/* *h <- the longest difference of two opposite corners of a cell in one direction, and its middle. */
static TesStatus measure_cell(const TesMesh *mesh, int64_t cell, double *h, double middle[3]) {
  static const double corners[9] = {0, 0, 0, 1, 1, 1, 0.5, 0.5, 0.5}, flat[6] = {0, 0, 1, 1, 0.5, 0.5};
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int dim = mesh->dim;
  double x[9] = {0};
  int at[3];
  *h = 0;
  if (mesh->kind == TES_MESH_BOX) { /* which keeps no geometry */
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

/* Of some of the cells. */
static TesStatus check_cells(const TesProblem *p, bool *held) {
  enum { SAMPLE = 64 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = p->mesh;
  const TesForm *form = p->op ? &p->op->desc.form : &p->form;
  const int64_t stride = 1 + mesh->cells / SAMPLE;
  for (int64_t c = 0; c < mesh->cells; c += stride) {
    double middle[3] = {0}, h;
    TES_TRY(measure_cell(mesh, c, &h, middle));
    *held = *held && in_range(h) && (h == 0 || holds_form(form, mesh, c, middle, h));
  }
done:
  return status;
}

TesStatus tesi_problem_choose_precision(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = tesi_space_axes(p->space);
  const TesiRt *rt = tesi_space_rt(p->space);
  bool held = true;
  for (int d = 0; (axis || rt) && d < p->space->dim; d++) {
    const double *h = axis ? axis[d].h : rt->axis[d].h;
    for (int i = 0; i < (axis ? axis[d].cells : rt->axis[d].cells); i++) held = held && in_range(h[i]);
  }
  TES_TRY(check_cells(p, &held));
  held = !tesi_reduce_any(ctx, !held);
  p->cycle = p->options.precision == TES_SOLVE_DOUBLE || p->options.method == TES_METHOD_DIRECT || !held
                 ? TES_DOUBLE
                 : TES_SINGLE;
done:
  return status;
}
