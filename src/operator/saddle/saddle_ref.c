/* The operator from its definition: quadrature over cells and faces, basis function by basis function. Shares no
 * matrix with the bands. */
#include <string.h>
#include "basis/gauss.h"
#include "functional/flow.h"
#include "operator/saddle/saddle.h"

enum { LOCAL = TESI_FLOW_LOCAL * TESI_FLOW_LOCAL * TESI_FLOW_LOCAL };

/* Points of a cell or a face of it: in each direction where, and the basis functions there. */
typedef struct Points {
  const TesiRt *rt;
  int cell[3], count[3], all;
  TesiFlowTables table[3];
  double w[LOCAL];
} Points;

/* At Gauss points, but for direction `face` (-1: none) at t. */
static void set_points(const TesiRt *rt, const int cell[3], int face, double t, Points *p) {
  double x[TESI_MAX_POINTS], w[TESI_MAX_POINTS];
  p->rt = rt;
  p->all = 1;
  tesi_gauss(rt->n + 1, x, w);
  for (int d = 0; d < 3; d++) {
    p->cell[d] = cell[d];
    p->count[d] = d >= rt->dim || d == face ? 1 : rt->n + 1;
    if (d < rt->dim) tesi_flow_tables_at(rt->n, p->count[d], d == face ? &t : x, &p->table[d]);
    p->all *= p->count[d];
  }
  for (int q = 0; q < p->all; q++) {
    int rest = q;
    p->w[q] = 1;
    for (int d = 0; d < rt->dim; d++) {
      if (d != face) p->w[q] *= w[rest % p->count[d]] * rt->axis[d].h[cell[d]];
      rest /= p->count[d];
    }
  }
}

/* Basis function `i` of a part, or its derivative in a direction (-1: none), at point q. */
static double basis(const Points *p, int part, int derivative, int i, int q) {
  double value = 1;
  for (int d = 0; d < p->rt->dim; d++) {
    const int e = tesi_flow_extent(p->rt, part, d);
    const double *table = (d == part ? p->table[d].nodal : p->table[d].modal)[d == derivative];
    value *= table[q % p->count[d] * e + i % e];
    if (d == derivative) value /= p->rt->axis[d].h[p->cell[d]];
    q /= p->count[d], i /= e;
  }
  return value;
}

static int functions(const TesiRt *rt, int part) {
  return tesi_flow_extent(rt, part, 0) * tesi_flow_extent(rt, part, 1) * tesi_flow_extent(rt, part, 2);
}

static void evaluate(const Points *p, int part, int derivative, const double *u, double *values) {
  double local[LOCAL];
  const int n = tesi_flow_read(p->rt, part, p->cell, u, local);
  for (int q = 0; q < p->all; q++) {
    values[q] = 0;
    for (int i = 0; i < n; i++) values[q] += local[i] * basis(p, part, derivative, i, q);
  }
}

/* y <- y + factor int values (test function, or its derivative). */
static void test(const Points *p, int part, int derivative, double factor, const double *values, double *y) {
  double local[LOCAL];
  const int n = functions(p->rt, part);
  for (int i = 0; i < n; i++) {
    local[i] = 0;
    for (int q = 0; q < p->all; q++)
      local[i] += factor * p->w[q] * values[q] * basis(p, part, derivative, i, q);
  }
  tesi_flow_add(p->rt, part, p->cell, local, y);
}

static void add_cell(const TesiSaddle *s, const int cell[3], const double *x, double *y, Points *p,
                     double *values) {
  const int dim = s->rt->dim;
  set_points(s->rt, cell, -1, 0, p);
  for (int i = 0; i < dim; i++) {
    for (int d = 0; d < dim; d++) {
      evaluate(p, i, d, x, values);
      test(p, i, d, s->nu, values, y);
      if (d == i) test(p, dim, -1, -1, values, y);
    }
    evaluate(p, i, -1, x, values);
    test(p, i, -1, s->alpha, values, y);
    evaluate(p, dim, -1, x, values);
    test(p, i, i, -1, values, y);
  }
}

/* Both sides of a face with normal d; side NULL: there is none. */
typedef struct Sides {
  Points *side[2]; /* below, above */
  int d;
  double gamma;
} Sides;

static void add_face(const TesiSaddle *s, const Sides *f, const double *x, double *y) {
  double jump[LOCAL], mean[LOCAL], values[LOCAL];
  const double share = f->side[0] && f->side[1] ? 0.5 : 1;
  for (int i = 0; i < s->rt->dim; i++) {
    if (i == f->d) continue;
    memset(jump, 0, sizeof jump);
    memset(mean, 0, sizeof mean);
    for (int side = 0; side < 2; side++) {
      const Points *p = f->side[side];
      if (!p) continue;
      evaluate(p, i, -1, x, values);
      for (int q = 0; q < p->all; q++) jump[q] += side ? -values[q] : values[q];
      evaluate(p, i, f->d, x, values);
      for (int q = 0; q < p->all; q++) mean[q] += share * values[q];
    }
    for (int side = 0; side < 2; side++) {
      const Points *p = f->side[side];
      const double sign = side ? -1 : 1;
      if (!p) continue;
      for (int q = 0; q < p->all; q++) values[q] = f->gamma * jump[q] - mean[q];
      test(p, i, -1, s->nu * sign, values, y);
      test(p, i, f->d, -s->nu * share, jump, y);
    }
  }
}

/* The face below a cell in direction d, and the one above it where that is the last. */
static void add_faces(const TesiSaddle *s, TesPenalty penalty, const int cell[3], int d, const double *x,
                      double *y, Points *points) {
  const TesiRtAxis *a = &s->rt->axis[d];
  const int k = s->rt->n - 1, c = cell[d], last = a->cells - 1;
  int below[3] = {cell[0], cell[1], cell[2]};
  below[d] = c > 0 ? c - 1 : last;
  Sides f = {.side = {NULL, &points[1]}, .d = d, .gamma = tesi_saddle_boundary_penalty(penalty, k, a->h[c])};
  set_points(s->rt, cell, d, 0, &points[1]);
  if (c > 0 || a->periodic) {
    set_points(s->rt, below, d, 1, &points[0]);
    f.side[0] = &points[0];
    f.gamma = tesi_saddle_penalty(penalty, k, a->h[below[d]], a->h[c]);
  }
  if (f.side[0] || a->tangential[0]) add_face(s, &f, x, y);
  if (c < last || a->periodic || !a->tangential[1]) return;
  set_points(s->rt, cell, d, 1, &points[0]);
  add_face(s, &(Sides){{&points[0], NULL}, d, tesi_saddle_boundary_penalty(penalty, k, a->h[c])}, x, y);
}

TesStatus tesi_saddle_apply_ref(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSaddle *s = tesi_saddle_of(op);
  const TesiRtAxis *a = s->rt->axis;
  Points *points = NULL;
  double *values = NULL;
  TES_ALLOC(&points, 2);
  TES_ALLOC(&values, LOCAL);
  memset(y, 0, sizeof *y * (size_t)op->length);
  for (int c = 0; c < a[0].cells * a[1].cells * a[2].cells; c++) {
    const int cell[3] = {c % a[0].cells, c / a[0].cells % a[1].cells, c / a[0].cells / a[1].cells};
    add_cell(s, cell, x, y, points, values);
    for (int d = 0; d < s->rt->dim; d++) add_faces(s, op->desc.form.penalty, cell, d, x, y, points);
  }
  tesi_rt_clear(s->rt, y);
done:
  tesi_free(ctx, &points);
  tesi_free(ctx, &values);
  return status;
}
