/* The operator from its definition: quadrature over cells and faces, basis function by basis function. */
#include <string.h>
#include "operator/dg/dg.h"
#include "operator/dg/dg_modes.h"

enum { N = TESI_MAX_POINTS };

void tesi_dg_modes(const TesSpace *space, const int cell[3], const double xi[3], TesiDgModes *m) {
  m->space = space;
  memcpy(m->cell, cell, sizeof m->cell);
  for (int d = 0; d < 3; d++) {
    m->value[d][0] = 1, m->slope[d][0] = 0;
    if (d < space->dim)
      tesi_rt_legendre(space->degree + 1, space->axis[d].h[cell[d]], xi[d], m->value[d], m->slope[d]);
  }
}

double tesi_dg_visit(const TesiDgModes *m, int slope, const double *x, double factor, double *y) {
  const TesSpace *space = m->space;
  const int n = space->degree + 1, count[3] = {n, n, space->dim == 3 ? n : 1}, e[3] = TESI_EXTENT(space);
  double sum = 0;
  for (int j = 0; j < count[0] * count[1] * count[2]; j++) {
    const int i[3] = {j % count[0], j / count[0] % count[1], j / count[0] / count[1]};
    int64_t number = 0, step = 1;
    double value = 1;
    for (int d = 0; d < 3; d++) {
      value *= (d == slope ? m->slope : m->value)[d][i[d]];
      number += step * (m->cell[d] * count[d] + i[d]);
      step *= e[d];
    }
    if (x) sum += value * x[number];
    if (y) y[number] += factor * value;
  }
  return sum;
}

typedef struct Form {
  const TesiStokes *s;
  TesPenalty penalty;
  const double *x;
  double *y, points[N], weights[N];
  int count;
} Form;

static void add_cell(const Form *f, const int cell[3]) {
  const TesSpace *space = f->s->space;
  const int q = f->count, all = space->dim == 2 ? q * q : q * q * q;
  TesiDgModes m;
  for (int i = 0; i < all; i++) {
    const int at[3] = {i % q, i / q % q, i / q / q};
    double w = 1, xi[3];
    for (int d = 0; d < 3; d++) {
      xi[d] = f->points[at[d]];
      if (d < space->dim) w *= f->weights[at[d]] * space->axis[d].h[cell[d]];
    }
    tesi_dg_modes(space, cell, xi, &m);
    for (int d = 0; d < space->dim; d++)
      tesi_dg_visit(&m, d, NULL, w * f->s->nu * tesi_dg_visit(&m, d, f->x, 0, NULL), f->y);
    tesi_dg_visit(&m, -1, NULL, w * f->s->alpha * tesi_dg_visit(&m, -1, f->x, 0, NULL), f->y);
  }
}

/* A face with normal d: cells below and above it, NULL: none. */
static void add_face(const Form *f, const int *below, const int *above, int d, double gamma) {
  const TesSpace *space = f->s->space;
  const int q = f->count, *any = below ? below : above, all = space->dim == 2 ? q : q * q;
  const int *const cell[2] = {below, above};
  const double share = below && above ? 0.5 : 1;
  for (int i = 0; i < all; i++) {
    double w = f->s->nu, xi[3] = {0}, J = 0, A = 0;
    TesiDgModes m[2];
    for (int e = 0, rest = i; e < space->dim; e++) {
      if (e == d) continue;
      xi[e] = f->points[rest % q];
      w *= f->weights[rest % q] * space->axis[e].h[any[e]];
      rest /= q;
    }
    for (int side = 0; side < 2; side++) {
      if (!cell[side]) continue;
      xi[d] = 1 - side;
      tesi_dg_modes(space, cell[side], xi, &m[side]);
      J += (side ? -1 : 1) * tesi_dg_visit(&m[side], -1, f->x, 0, NULL);
      A += share * tesi_dg_visit(&m[side], d, f->x, 0, NULL);
    }
    for (int side = 0; side < 2; side++) {
      if (!cell[side]) continue;
      tesi_dg_visit(&m[side], -1, NULL, w * (side ? -1 : 1) * (gamma * J - A), f->y);
      tesi_dg_visit(&m[side], d, NULL, -w * share * J, f->y);
    }
  }
}

/* The face below a cell in direction d, and for the last cell also the face above. */
static void add_faces(const Form *f, const int cell[3], int d) {
  const TesiAxis *a = &f->s->space->axis[d];
  const int k = f->s->space->degree, c = cell[d], last = a->cells - 1;
  int below[3] = {cell[0], cell[1], cell[2]};
  below[d] = c > 0 ? c - 1 : last;
  const double boundary = tesi_rt_boundary_penalty(f->penalty, k, a->h[c]);
  if (c > 0 || a->periodic)
    add_face(f, below, cell, d, tesi_penalty_factor(f->penalty, k, a->h[below[d]], a->h[c]));
  else if (a->end[0] == TESI_WEAK)
    add_face(f, NULL, cell, d, boundary);
  if (c == last && !a->periodic && a->end[1] == TESI_WEAK) add_face(f, cell, NULL, d, boundary);
}

TesStatus tesi_dg_apply_ref(const TesOperator *op, const double *x, double *y) {
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiAxis *a = s->space->axis;
  Form f = {.s = s, .penalty = op->desc.form.penalty, .x = x, .y = y, .count = (s->space->degree + 1)};
  tesi_gauss(f.count, f.points, f.weights);
  memset(y, 0, sizeof *y * (size_t)op->length);
  for (int c = 0; c < a[0].cells * a[1].cells * a[2].cells; c++) {
    const int cell[3] = {c % a[0].cells, c / a[0].cells % a[1].cells, c / a[0].cells / a[1].cells};
    add_cell(&f, cell);
    for (int d = 0; d < s->space->dim; d++) add_faces(&f, cell, d);
  }
  return TES_OK;
}
