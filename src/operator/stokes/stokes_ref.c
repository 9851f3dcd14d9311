/* Stokes operators from their definition: quadrature over cells and faces, basis function by basis function. It
 * shares no matrix with the bands, and no loop with the sum factorisation for varying viscosities. */
#include <string.h>
#include "basis/gauss.h"
#include "functional/rt/rt_functional.h"
#include "operator/form.h"
#include "operator/stokes_varying/stokes_varying.h"

enum {
  LOCAL = TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL,
  POINTS = TESI_RT_POINTS * TESI_RT_POINTS * TESI_RT_POINTS,
  FACE = TESI_RT_POINTS * TESI_RT_POINTS
};

/* The form and its vectors. */
typedef struct Form {
  TesContext *context;
  const TesSpace *space;
  double alpha, constant; /* viscosity, where nu is NULL */
  const TesFunction *nu;
  bool symmetric;
  TesPenalty penalty;
  int points; /* a direction */
  const double *x;
  double *y;
} Form;

/* Points of a cell or of one of its faces: per direction the coordinates, and the basis functions there. */
typedef struct Points {
  const TesSpace *space;
  int cell[3], count[3], all;
  TesiRtTables table[3];
  double w[POINTS], nu[POINTS], at[3 * POINTS];
} Points;

/* nu at the points; points of a face with a neighbour lie slightly inside the cell. */
static TesStatus take_nu(const Form *f, int face, double t, bool inner, Points *p) {
  const TesSpace *space = f->space;
  for (int q = 0; q < p->all; q++) {
    int rest = q;
    p->nu[q] = f->constant;
    for (int d = 0; d < 3; d++) {
      const double xi =
          d == face ? t + (inner ? (t > 0.5 ? -1e-9 : 1e-9) : 0) : p->table[d].x[rest % p->count[d]];
      p->at[d * p->all + q] = d < space->dim ? tesi_modal(space, d)->vertices[p->cell[d]] +
                                                   xi * tesi_modal(space, d)->h[p->cell[d]]
                                             : 0;
      rest /= p->count[d];
    }
  }
  return f->nu ? tes_function_evaluate(f->nu, p->all, p->at, p->at + p->all, p->at + 2 * p->all, 0, p->nu)
               : TES_OK;
}

/* At Gauss points, except for direction `face` (-1: none), which is at t. */
static TesStatus set_points(const Form *f, const int cell[3], int face, double t, bool inner, Points *p) {
  const TesSpace *space = f->space;
  double x[TESI_MAX_POINTS], w[TESI_MAX_POINTS];
  p->space = space;
  p->all = 1;
  tesi_gauss(f->points, x, w);
  for (int d = 0; d < 3; d++) {
    p->cell[d] = cell[d];
    p->count[d] = d >= space->dim || d == face ? 1 : f->points;
    for (int q = 0; q < p->count[d]; q++) p->table[d].x[q] = x[q];
    if (d < space->dim) tesi_rt_tables_at(space->degree + 1, p->count[d], d == face ? &t : x, &p->table[d]);
    p->all *= p->count[d];
  }
  for (int q = 0; q < p->all; q++) {
    int rest = q;
    p->w[q] = 1;
    for (int d = 0; d < space->dim; d++) {
      if (d != face) p->w[q] *= w[rest % p->count[d]] * tesi_modal(space, d)->h[cell[d]];
      rest /= p->count[d];
    }
  }
  return take_nu(f, face, t, inner, p);
}

/* Basis function `i` of a part, or its derivative in a direction (-1: none), at point q. */
static double basis(const Points *p, int part, int derivative, int i, int q) {
  double value = 1;
  for (int d = 0; d < p->space->dim; d++) {
    const int e = tesi_rt_extent(p->space, part, d);
    const double *table = (d == part ? p->table[d].nodal : p->table[d].modal)[d == derivative];
    value *= table[q % p->count[d] * e + i % e];
    if (d == derivative) value /= tesi_modal(p->space, d)->h[p->cell[d]];
    q /= p->count[d], i /= e;
  }
  return value;
}

static int functions(const TesSpace *space, int part) {
  return tesi_rt_extent(space, part, 0) * tesi_rt_extent(space, part, 1) * tesi_rt_extent(space, part, 2);
}

static void evaluate(const Points *p, int part, int derivative, const double *u, double *values) {
  double local[LOCAL];
  const int n = tesi_rt_read(p->space, part, p->cell, u, local);
  for (int q = 0; q < p->all; q++) {
    values[q] = 0;
    for (int i = 0; i < n; i++) values[q] += local[i] * basis(p, part, derivative, i, q);
  }
}

/* y <- y + factor int values (test function, or its derivative). */
static void test(const Points *p, int part, int derivative, double factor, const double *values, double *y) {
  double local[LOCAL];
  const int n = functions(p->space, part);
  for (int i = 0; i < n; i++) {
    local[i] = 0;
    for (int q = 0; q < p->all; q++)
      local[i] += factor * p->w[q] * values[q] * basis(p, part, derivative, i, q);
  }
  tesi_rt_add(p->space, part, p->cell, local, y);
}

/* to <- values times nu at each point. */
static void weigh(const Points *p, const double *values, double *to) {
  for (int q = 0; q < p->all; q++) to[q] = p->nu[q] * values[q];
}

static TesStatus add_cell(const Form *f, const int cell[3], Points *p, double *values, double *weighted) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const int dim = f->space->dim;
  TES_TRY(set_points(f, cell, -1, 0, false, p));
  for (int i = 0; i < dim; i++) {
    for (int d = 0; d < dim; d++) {
      evaluate(p, i, d, f->x, values);
      weigh(p, values, weighted);
      test(p, i, d, 1, weighted, f->y);
      if (f->symmetric) test(p, d, i, 1, weighted, f->y);
      if (d == i) test(p, dim, -1, -1, values, f->y);
    }
    evaluate(p, i, -1, f->x, values);
    test(p, i, -1, f->alpha, values, f->y);
    evaluate(p, dim, -1, f->x, values);
    test(p, i, i, -1, values, f->y);
  }
done:
  return status;
}

/* Both sides of a face with normal d; side NULL: there is none. */
typedef struct Sides {
  Points *side[2]; /* below, above */
  int d;
  double gamma;
} Sides;

/* mean <- mean + share t_i(u). */
static void add_stress(const Form *f, const Points *p, int d, int i, double share, double *values,
                       double *mean) {
  evaluate(p, i, d, f->x, values);
  for (int q = 0; q < p->all; q++) mean[q] += share * values[q];
  if (!f->symmetric) return;
  evaluate(p, d, i, f->x, values);
  for (int q = 0; q < p->all; q++) mean[q] += share * values[q];
}

static void add_face(const Form *f, const Sides *s, double *values) {
  double jump[FACE], mean[FACE], nu[FACE], weighted[FACE];
  const bool two = s->side[0] && s->side[1];
  const double share = two ? 0.5 : 1;
  const Points *any = s->side[0] ? s->side[0] : s->side[1];
  for (int q = 0; q < any->all; q++)
    nu[q] = two ? 2 / (1 / s->side[0]->nu[q] + 1 / s->side[1]->nu[q]) : any->nu[q];
  for (int i = 0; i < f->space->dim; i++) {
    if (i == s->d) continue;
    memset(jump, 0, sizeof jump);
    memset(mean, 0, sizeof mean);
    for (int side = 0; side < 2; side++) {
      const Points *p = s->side[side];
      if (!p) continue;
      evaluate(p, i, -1, f->x, values);
      for (int q = 0; q < p->all; q++) jump[q] += side ? -values[q] : values[q];
      add_stress(f, p, s->d, i, share, values, mean);
    }
    for (int side = 0; side < 2; side++) {
      const Points *p = s->side[side];
      if (!p) continue;
      for (int q = 0; q < p->all; q++) weighted[q] = nu[q] * (s->gamma * jump[q] - mean[q]);
      test(p, i, -1, side ? -1 : 1, weighted, f->y);
      for (int q = 0; q < p->all; q++) weighted[q] = nu[q] * jump[q];
      test(p, i, s->d, -share, weighted, f->y);
      if (f->symmetric) test(p, s->d, i, -share, weighted, f->y);
    }
  }
}

/* The face below a cell in direction d, and for the last cell also the face above. */
static TesStatus add_faces(const Form *f, const int cell[3], int d, Points *points, double *values) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const TesiAxis *a = tesi_modal(f->space, d);
  const int k = f->space->degree, c = cell[d], last = a->cells - 1;
  const bool inner = c > 0 || a->periodic;
  int below[3] = {cell[0], cell[1], cell[2]};
  below[d] = c > 0 ? c - 1 : last;
  Sides s = {.side = {NULL, &points[1]}, .d = d, .gamma = tesi_rt_boundary_penalty(f->penalty, k, a->h[c])};
  TES_TRY(set_points(f, cell, d, 0, inner, &points[1]));
  if (inner) {
    TES_TRY(set_points(f, below, d, 1, true, &points[0]));
    s.side[0] = &points[0];
    s.gamma = tesi_penalty_factor(f->penalty, k, a->h[below[d]], a->h[c]);
  }
  if (s.side[0] || a->end[0] == TESI_WEAK) add_face(f, &s, values);
  if (c < last || a->periodic || a->end[1] != TESI_WEAK) goto done;
  TES_TRY(set_points(f, cell, d, 1, false, &points[0]));
  add_face(f, &(Sides){{&points[0], NULL}, d, tesi_rt_boundary_penalty(f->penalty, k, a->h[c])}, values);
done:
  return status;
}

static TesStatus add_all(const Form *f) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const TesiAxis *a = tesi_space_last(f->space)->axis;
  Points *points = NULL;
  double *values = NULL;
  TES_ALLOC(&points, 2);
  TES_ALLOC(&values, 2 * POINTS);
  memset(f->y, 0, sizeof *f->y * (size_t)f->space->first[f->space->parts]);
  for (int c = 0; c < a[0].cells * a[1].cells * a[2].cells; c++) {
    const int cell[3] = {c % a[0].cells, c / a[0].cells % a[1].cells, c / a[0].cells / a[1].cells};
    TES_TRY(add_cell(f, cell, points, values, values + POINTS));
    for (int d = 0; d < f->space->dim; d++) TES_TRY(add_faces(f, cell, d, points, values));
  }
  tesi_rt_clear(f->space, f->y);
done:
  tesi_free(ctx, &points);
  tesi_free(ctx, &values);
  return status;
}

TesStatus tesi_stokes_apply_ref(const TesOperator *op, const double *x, double *y) {
  const TesiStokes *s = tesi_stokes_of(op);
  const Form f = {.context = op->context,
                  .space = s->space,
                  .alpha = s->alpha,
                  .constant = s->nu,
                  .penalty = op->desc.form.penalty,
                  .points = s->space->degree + 2,
                  .x = x,
                  .y = y};
  return add_all(&f);
}

TesStatus tesi_stokes_varying_apply_ref(const TesOperator *op, const double *x, double *y) {
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesTermDesc *strain = tesi_form_term(&op->desc.form, TES_TERM_STRAIN, 0),
                    *nu = strain ? strain : tesi_form_term(&op->desc.form, TES_TERM_DIFFUSION, 0);
  const Form f = {.context = op->context,
                  .space = s->stokes.space,
                  .alpha = s->stokes.alpha,
                  .constant = 1,
                  .nu = nu ? nu->a.all : NULL,
                  .symmetric = strain != NULL,
                  .penalty = s->penalty,
                  .points = s->stokes.space->degree + 3,
                  .x = x,
                  .y = y};
  return add_all(&f);
}
