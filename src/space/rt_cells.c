/* Cells of Raviart-Thomas spaces: numbers, tables, points. */
#include <math.h>
#include <string.h>
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "space/rt_cells.h"
#include "tensor/contract.h"

void tesi_rt_tables_at(int n, int points, const double *x, TesiRtTables *t) {
  double nodes[TESI_MAX_POINTS];
  t->n = n, t->points = points;
  tesi_gauss_lobatto(n + 1, nodes, NULL);
  memcpy(t->x, x, sizeof *x * (size_t)points);
  tesi_lagrange(n + 1, nodes, points, x, t->nodal[0], t->nodal[1]);
  for (int q = 0; q < points; q++) tesi_rt_legendre(n, 1, x[q], t->modal[0] + q * n, t->modal[1] + q * n);
}

void tesi_rt_tables(int n, int points, TesiRtTables *t) {
  double x[TESI_MAX_POINTS];
  tesi_gauss(points, x, t->w);
  tesi_rt_tables_at(n, points, x, t);
}

static bool has_modes(const TesSpace *space, int part, int d) {
  return space->scalar[part]->axis[d].basis == TESI_MODES;
}

/* 1D table of a part in a direction. */
static const double *table_of(const TesSpace *space, const TesiRtTables *t, int part, int d, bool derivative) {
  return (has_modes(space, part, d) ? t->modal : t->nodal)[derivative];
}

enum { LOCAL = TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL };

/* Numbers of the entries of a part in a cell. Returns how many. */
static int list(const TesSpace *space, int part, const int cell[3], int64_t *number) {
  const TesiAxis *a = space->scalar[part]->axis;
  const int64_t nx = a[0].nodes, ny = a[1].nodes, first = space->first[part];
  int count = 0;
  for (int z = 0; z <= a[2].degree; z++)
    for (int y = 0; y <= a[1].degree; y++) {
      const int64_t row =
          first + nx * (tesi_axis_node(&a[1], cell[1], y) + ny * tesi_axis_node(&a[2], cell[2], z));
      for (int x = 0; x <= a[0].degree; x++) number[count++] = row + tesi_axis_node(&a[0], cell[0], x);
    }
  return count;
}

/* The Legendre polynomials of a cell of width h are the polynomials of the unit cell over sqrt(h). */
static double scale_of(const TesSpace *space, int part, const int cell[3]) {
  double square = 1;
  for (int d = 0; d < space->dim; d++)
    if (has_modes(space, part, d)) square *= tesi_modal(space, d)->h[cell[d]];
  return 1 / sqrt(square);
}

int tesi_rt_read(const TesSpace *space, int part, const int cell[3], const double *u, double *local) {
  int64_t number[LOCAL];
  const int count = list(space, part, cell, number);
  const double scale = scale_of(space, part, cell);
  for (int i = 0; i < count; i++) local[i] = scale * u[number[i]];
  return count;
}

void tesi_rt_add(const TesSpace *space, int part, const int cell[3], const double *local, double *u) {
  int64_t number[LOCAL];
  const int count = list(space, part, cell, number);
  const double scale = scale_of(space, part, cell);
  for (int i = 0; i < count; i++) u[number[i]] += scale * local[i];
}

void tesi_rt_clear_cell(const TesSpace *space, int part, const int cell[3], double *u) {
  int64_t number[LOCAL];
  const int count = list(space, part, cell, number);
  for (int i = 0; i < count; i++) u[number[i]] = 0;
}

enum { MOST = TESI_RT_POINTS * TESI_RT_POINTS * TESI_RT_POINTS };

void tesi_rt_values(const TesSpace *space, const TesiRtTables *t, int part, int derivative,
                    const double *local, double *values) {
  double work[2][MOST];
  int e[3];
  const double *from = local;
  for (int d = 0; d < 3; d++) e[d] = tesi_rt_extent(space, part, d);
  for (int d = 0; d < space->dim; d++) {
    const double *A = table_of(space, t, part, d, d == derivative);
    double *to = d == space->dim - 1 ? values : work[d % 2];
    tesi_contract(A, t->points, e[d], false, e, d, from, to);
    from = to;
  }
}

void tesi_rt_node_tables(int n, TesiRtTables *t) {
  double nodes[TESI_MAX_POINTS];
  tesi_gauss_lobatto(n + 1, nodes, NULL);
  tesi_rt_tables_at(n, n + 1, nodes, t);
}

void tesi_rt_node_values(const TesSpace *space, const TesiRtTables *t, int part, int64_t cell,
                         const double *u, double *nodes) {
  double local[TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL];
  int place[3];
  tesi_rt_cell(space, cell, place);
  tesi_rt_read(space, part, place, u, local);
  tesi_rt_values(space, t, part, -1, local, nodes);
}

/* z first, since its lines are the longest; the x direction, whose entries are not contiguous, comes last with the
 * least data. */
void tesi_rt_moments(const TesSpace *space, const TesiRtTables *t, int part, const double *values,
                     double *local) {
  double work[2][MOST];
  int e[3] = {1, 1, 1};
  const double *from = values;
  for (int d = 0; d < space->dim; d++) e[d] = t->points;
  for (int d = space->dim - 1; d >= 0; d--) {
    double *to = d == 0 ? local : work[d % 2];
    tesi_contract(table_of(space, t, part, d, false), t->points, tesi_rt_extent(space, part, d), true, e, d,
                  from, to);
    from = to;
  }
}

int tesi_rt_points(const TesSpace *space, const TesiRtTables *t, const int cell[3], double *x,
                   double *weights) {
  double at[3][TESI_RT_POINTS] = {{0}}, w[3][TESI_RT_POINTS] = {{1}, {1}, {1}};
  int q[3] = {1, 1, 1}, i = 0;
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *a = tesi_modal(space, d);
    const double h = a->vertices[cell[d] + 1] - a->vertices[cell[d]];
    q[d] = t->points;
    for (int p = 0; p < q[d]; p++) {
      at[d][p] = a->vertices[cell[d]] + t->x[p] * h;
      if (weights) w[d][p] = t->w[p] * h;
    }
  }
  const int count = q[0] * q[1] * q[2];
  double *const y = x + count, *const z = y + count;
  for (int c = 0; c < q[2]; c++)
    for (int b = 0; b < q[1]; b++)
      for (int a = 0; a < q[0]; a++, i++) {
        x[i] = at[0][a], y[i] = at[1][b], z[i] = at[2][c];
        if (weights) weights[i] = w[0][a] * w[1][b] * w[2][c];
      }
  return count;
}
