/* Convection from its definition, by interior faces with jumps and means and a dense product over basis functions:
 *   (u . grad u, v) over cells - <(u.n) [u], {v}> + 1/2 <|u.n| [u], [v]> over inner faces,
 *   - <min(u.n, 0)(u - g), v> over faces with given velocities, - 1/2 <min(u.n, 0) u, v> over outflows. */
#include <math.h>
#include <string.h>
#include "basis/gauss.h"
#include "operator/rt_convection/rt_convection.h"

typedef struct Form {
  const TesiRtConvection *c;
  int points;
  const double *u;
  double *b;
} Form;

/* One point of a cell: reference coordinates, and values of its basis. */
typedef struct At {
  const TesSpace *space;
  int cell[3];
  double nodal[3][2][TESI_RT_LOCAL], modal[3][2][TESI_RT_LOCAL];
} At;

static void set_at(const TesSpace *space, const int cell[3], const double xi[3], At *at) {
  double nodes[TESI_RT_LOCAL];
  at->space = space;
  memcpy(at->cell, cell, sizeof at->cell);
  tesi_gauss_lobatto(space->degree + 2, nodes, NULL);
  for (int d = 0; d < space->dim; d++) {
    const double h = tesi_modal(space, d)->h[cell[d]];
    for (int j = 0; j <= space->degree + 1; j++) {
      double value = 1, slope = 0;
      for (int k = 0; k <= space->degree + 1; k++) {
        if (k == j) continue;
        const double factor = 1 / (nodes[j] - nodes[k]);
        slope = (slope * (xi[d] - nodes[k]) + value) * factor;
        value *= (xi[d] - nodes[k]) * factor;
      }
      at->nodal[d][0][j] = value, at->nodal[d][1][j] = slope / h;
    }
    tesi_rt_legendre(space->degree + 1, h, xi[d], at->modal[d][0], at->modal[d][1]);
  }
}

/* Basis function k of component i, or its derivative; *entry <- its number. */
static double basis(const At *at, int i, int k, int derivative, int64_t *entry) {
  const TesSpace *space = at->space;
  double value = 1;
  int64_t stride = 1;
  *entry = space->first[i];
  for (int d = 0; d < space->dim; d++) {
    const int e = tesi_rt_extent(space, i, d), j = k % e;
    const TesiAxis *a = &space->scalar[i]->axis[d];
    value *= d == i ? at->nodal[d][d == derivative][j] : at->modal[d][d == derivative][j];
    *entry += stride * tesi_axis_node(a, at->cell[d], j);
    stride *= a->nodes;
    k /= e;
  }
  return value;
}

static int functions(const TesSpace *space, int i) {
  return tesi_rt_extent(space, i, 0) * tesi_rt_extent(space, i, 1) * tesi_rt_extent(space, i, 2);
}

static double value_at(const Form *f, const At *at, int i, int derivative) {
  double sum = 0;
  int64_t entry;
  for (int k = 0; k < functions(at->space, i); k++) {
    const double v = basis(at, i, k, derivative, &entry);
    sum += v * f->u[entry];
  }
  return sum;
}

static void test_at(const Form *f, const At *at, int i, double factor) {
  int64_t entry;
  for (int k = 0; k < functions(at->space, i); k++) {
    const double v = basis(at, i, k, -1, &entry);
    f->b[entry] += factor * v;
  }
}

/* Point p of a cell (face -1) or of its face normal to `face` at `end`; its weight. */
static double set_point(const Form *f, const int cell[3], int face, double end, int p, double xi[3]) {
  double x[TESI_RT_POINTS], w[TESI_RT_POINTS], weight = 1;
  tesi_gauss(f->points, x, w);
  for (int d = 0; d < f->c->space->dim; d++) {
    xi[d] = d == face ? end : x[p % f->points];
    if (d == face) continue;
    weight *= w[p % f->points] * tesi_modal(f->c->space, d)->h[cell[d]];
    p /= f->points;
  }
  return weight;
}

static void add_cell(const Form *f, const int cell[3], int count, double *rate) {
  const TesSpace *space = f->c->space;
  for (int p = 0; p < count; p++) {
    double xi[3], u[3];
    At at;
    const double w = set_point(f, cell, -1, 0, p, xi);
    set_at(space, cell, xi, &at);
    for (int d = 0; d < space->dim; d++) {
      u[d] = value_at(f, &at, d, -1);
      *rate = fmax(*rate, fabs(u[d]) / tesi_modal(space, d)->h[cell[d]]);
    }
    for (int i = 0; i < space->dim; i++) {
      double sum = 0;
      for (int d = 0; d < space->dim; d++) sum += u[d] * value_at(f, &at, i, d);
      test_at(f, &at, i, w * sum);
    }
  }
}

/* The face above a cell in direction d, with its neighbour. */
static void add_inner(const Form *f, const int cell[3], int d, int count) {
  const TesSpace *space = f->c->space;
  int above[3] = {cell[0], cell[1], cell[2]};
  above[d] = (cell[d] + 1) % tesi_modal(space, d)->cells;
  for (int p = 0; p < count; p++) {
    double xi[3];
    At side[2];
    const double w = set_point(f, cell, d, 1, p, xi);
    set_at(space, cell, xi, &side[0]);
    xi[d] = 0;
    set_at(space, above, xi, &side[1]);
    const double normal = value_at(f, &side[0], d, -1);
    for (int i = 0; i < space->dim; i++) {
      const double jump = value_at(f, &side[0], i, -1) - value_at(f, &side[1], i, -1);
      for (int s = 0; s < 2; s++)
        test_at(f, &side[s], i, w * jump * (-normal / 2 + (s ? -1 : 1) * fabs(normal) / 2));
    }
  }
}

static void add_boundary(const Form *f, const int cell[3], int side, int count) {
  const TesSpace *space = f->c->space;
  const int d = side / 2, end = side % 2;
  const TesiHow *how = f->c->how[side];
  int64_t number = 0;
  for (int e = space->dim - 1; e >= 0; e--)
    if (e != d) number = number * tesi_modal(space, e)->cells + cell[e];
  for (int p = 0; p < count; p++) {
    double xi[3];
    At at;
    const double w = set_point(f, cell, d, end, p, xi);
    set_at(space, cell, xi, &at);
    const double enters = fmin(0, (end ? 1 : -1) * value_at(f, &at, d, -1));
    for (int i = 0; i < space->dim; i++) {
      const double *given = f->c->given[side][i];
      if (how[i] == TESI_STRONG || how[i] == TESI_FLUX) continue;
      const double g = given ? given[number * count + p] : 0, share = how[i] == TESI_OPEN ? 0.5 : 1;
      test_at(f, &at, i, -share * w * enters * (value_at(f, &at, i, -1) - g));
    }
  }
}

void tesi_rt_convection_ref(const TesiRtConvection *c, int points, const double *u, double *b, double *rate) {
  const TesSpace *space = c->space;
  const Form f = {c, points, u, b};
  const int face = space->dim == 2 ? points : points * points;
  memset(b, 0, sizeof *b * (size_t)space->first[space->parts]);
  *rate = 0;
  for (int64_t k = 0; k < c->cells; k++) {
    int cell[3];
    tesi_rt_cell(space, k, cell);
    add_cell(&f, cell, face * points, rate);
    for (int d = 0; d < space->dim; d++) {
      const TesiAxis *a = tesi_modal(space, d);
      if (cell[d] + 1 < a->cells || a->periodic)
        add_inner(&f, cell, d, face);
      else
        add_boundary(&f, cell, 2 * d + 1, face);
      if (cell[d] == 0 && !a->periodic) add_boundary(&f, cell, 2 * d, face);
    }
  }
}
