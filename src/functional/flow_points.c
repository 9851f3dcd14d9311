/* Values of velocity and pressure at points. */
#include <math.h>
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "functional/flow.h"

/* The cells of a direction that hold x, one or two; 0: outside by more than round-off. */
static int find_cells(const TesiRtAxis *a, double x, int cell[2]) {
  const double *v = a->x, near = 1e-12 * (v[a->cells] - v[0]);
  int low = 0, high = a->cells;
  if (!(x >= v[0] - near && x <= v[a->cells] + near)) return 0;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (x >= v[middle])
      low = middle;
    else
      high = middle;
  }
  cell[0] = low;
  if (fabs(x - v[low]) <= near && (low > 0 || a->periodic)) {
    cell[1] = low > 0 ? low - 1 : a->cells - 1;
    return 2;
  }
  if (fabs(x - v[low + 1]) <= near && (low + 1 < a->cells || a->periodic)) {
    cell[1] = low + 1 < a->cells ? low + 1 : 0;
    return 2;
  }
  return 1;
}

/* Where x lies in a cell, which may be that on the other side of a ring. */
static double place_in(const TesiRtAxis *a, int cell, double x) {
  const double length = a->x[a->cells] - a->x[0], h = a->x[cell + 1] - a->x[cell];
  double t = (x - a->x[cell]) / h;
  if (a->periodic && t > 1.5) t -= length / h;
  if (a->periodic && t < -0.5) t += length / h;
  return fmin(fmax(t, 0), 1);
}

/* Part `part` of u in a cell at t[dim] of [0, 1]. */
static double value_in(const TesiRt *rt, int part, const int cell[3], const double *t, const double *u,
                       double *local) {
  double basis[3][TESI_FLOW_LOCAL] = {{1}, {1}, {1}}, nodes[TESI_MAX_POINTS], sum = 0;
  int e[3];
  tesi_gauss_lobatto(rt->n + 1, nodes, NULL);
  for (int d = 0; d < 3; d++) {
    e[d] = tesi_flow_extent(rt, part, d);
    if (d < rt->dim && d == part) tesi_lagrange(rt->n + 1, nodes, 1, &t[d], basis[d], NULL);
    if (d < rt->dim && d != part) tesi_rt_legendre(rt->n, 1, t[d], basis[d], NULL);
  }
  const int count = tesi_flow_read(rt, part, cell, u, local);
  for (int i = 0; i < count; i++)
    sum += local[i] * basis[0][i % e[0]] * basis[1][i / e[0] % e[1]] * basis[2][i / e[0] / e[1]];
  return sum;
}

/* values[dim + 1] at x[dim]; false: outside. */
static bool evaluate(const TesiRt *rt, const double *u, const double *x, double *local, double *values) {
  int cells[3][2] = {{0}}, count[3] = {1, 1, 1};
  for (int d = 0; d < rt->dim; d++) {
    count[d] = find_cells(&rt->axis[d], x[d], cells[d]);
    if (!count[d]) return false;
  }
  const int sides = count[0] * count[1] * count[2];
  for (int p = 0; p <= rt->dim; p++) values[p] = 0;
  for (int s = 0; s < sides; s++) {
    const int cell[3] = {cells[0][s % count[0]], cells[1][s / count[0] % count[1]],
                         cells[2][s / count[0] / count[1]]};
    double t[3] = {0};
    for (int d = 0; d < rt->dim; d++) t[d] = place_in(&rt->axis[d], cell[d], x[d]);
    for (int p = 0; p <= rt->dim; p++) values[p] += value_in(rt, p, cell, t, u, local) / sides;
  }
  return true;
}

TesStatus tesi_flow_evaluate(const TesSpace *space, const TesVector *u, int n, const double *x,
                             double *velocity, double *pressure) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *all = NULL, *local = NULL, values[TESI_RT_PARTS];
  const int dim = space->dim;
  TES_ALLOC(&all, space->length);
  TES_ALLOC(&local, TESI_FLOW_LOCAL * TESI_FLOW_LOCAL * TESI_FLOW_LOCAL);
  TES_TRY(tes_vector_get(u, all));
  for (int i = 0; i < n; i++) {
    TES_CHECK(evaluate(space->rt, all, x + (int64_t)i * dim, local, values),
              "point %d, (%g, %g, %g), is outside of the mesh", i, x[i * dim], x[i * dim + 1],
              dim == 3 ? x[i * dim + 2] : 0);
    for (int d = 0; d < dim && velocity; d++) velocity[i * dim + d] = values[d];
    if (pressure) pressure[i] = values[dim];
  }
done:
  tesi_free(ctx, &all);
  tesi_free(ctx, &local);
  return status;
}
