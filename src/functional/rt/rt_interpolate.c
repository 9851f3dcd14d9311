/* The interpolant of Raviart and Thomas, cell by cell. Along a component's own direction, with the orthonormal Legendre
 * polynomials l_j of [0, 1], the derivative of the interpolant is the projection of f':
 *   (I f)(x) = f(0) + sum over j <= k of (f(1) l_j(1) - f(0) l_j(0) - int f l_j') int over (0, x) of l_j,
 * in the other directions it is the L2 projection. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "basis/gauss.h"
#include "functional/rt/rt_functional.h"
#include "tensor/contract.h"

enum { LINE = TESI_RT_POINTS + 2, MOST = LINE * LINE * LINE, TABLE = TESI_RT_LOCAL * LINE };

typedef struct Interpolant {
  const TesSpace *space;
  int n, q;
  double x[LINE];                   /* Gauss points, then 0 and 1 */
  double own[TABLE], across[TABLE]; /* [n + 1][q + 2], [n][q] */
  TesiRtTables tables;              /* at these points; of squares */
  double at[3 * MOST], values[MOST], work[2][MOST];
} Interpolant;

/* int over (0, x) of l_j */
static double integral(int n, int j, double x) {
  double point[TESI_MAX_POINTS], weight[TESI_MAX_POINTS], l[TESI_RT_LOCAL], sum = 0;
  tesi_gauss(n, point, weight);
  for (int q = 0; q < n; q++) {
    tesi_rt_legendre(n, 1, x * point[q], l, NULL);
    sum += x * weight[q] * l[j];
  }
  return sum;
}

static void fill_tables(const TesSpace *space, int points, Interpolant *p) {
  double weight[TESI_MAX_POINTS], nodes[TESI_MAX_POINTS], l[TESI_RT_LOCAL], slope[TESI_RT_LOCAL];
  const int n = space->degree + 1, all = points + 2;
  p->space = space, p->n = n, p->q = points;
  tesi_gauss(points, p->x, weight);
  p->x[points] = 0, p->x[points + 1] = 1;
  tesi_gauss_lobatto(n + 1, nodes, NULL);
  memset(p->own, 0, sizeof p->own);
  for (int q = 0; q < all; q++) {
    tesi_rt_legendre(n, 1, p->x[q], l, slope);
    for (int i = 0; i <= n; i++)
      for (int j = 0; j < n; j++) {
        const double factor = q < points ? -weight[q] * slope[j] : q == points ? -l[j] : l[j];
        p->own[i * all + q] += factor * integral(n, j, nodes[i]);
      }
    for (int j = 0; j < n && q < points; j++) p->across[j * points + q] = weight[q] * l[j];
  }
  for (int i = 0; i <= n; i++) p->own[i * all + points] += 1;
}

static bool has_nodes(const TesSpace *space, int part, int d) {
  return space->scalar[part]->axis[d].basis == TESI_NODES;
}

/* Points of a cell for a part: Gauss points, and the ends of its own direction. Returns how many. */
static int set_points(Interpolant *p, int part, const int cell[3], int extent[3]) {
  const TesSpace *space = p->space;
  int count = 1;
  for (int d = 0; d < 3; d++) {
    extent[d] = d >= space->dim ? 1 : has_nodes(space, part, d) ? p->q + 2 : p->q;
    count *= extent[d];
  }
  for (int i = 0; i < count; i++) {
    int rest = i;
    for (int d = 0; d < 3; d++) {
      const double *x = tesi_modal(space, d)->vertices, xi = p->x[rest % extent[d]];
      p->at[d * count + i] = d >= space->dim ? 0
                             : xi == 1       ? x[cell[d] + 1]
                                             : x[cell[d]] + xi * (x[cell[d] + 1] - x[cell[d]]);
      rest /= extent[d];
    }
  }
  return count;
}

/* p->values <- the squares of a part of v at the points. */
static void square(Interpolant *p, int part, const int cell[3], const double *v, int count) {
  const TesSpace *space = p->space;
  double local[TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL];
  const double *from = local;
  int extent[3];
  tesi_rt_read(space, part, cell, v, local);
  for (int d = 0; d < 3; d++) extent[d] = tesi_rt_extent(space, part, d);
  for (int d = 0; d < space->dim; d++) {
    const bool nodes = has_nodes(space, part, d);
    const double *table = nodes ? p->tables.nodal[0] : p->tables.modal[0];
    tesi_contract(table, nodes ? p->q + 2 : p->q, extent[d], false, extent, d, from, p->work[d % 2]);
    from = p->work[d % 2];
  }
  for (int i = 0; i < count; i++) p->values[i] = from[i] * from[i];
}

/* Of f, or of the square of v. False where f is not finite at a point. */
static bool interpolate_cell(Interpolant *p, int part, const int cell[3], const TesFunction *f,
                             const double *v, double *u) {
  const TesSpace *space = p->space;
  int extent[3];
  double volume = 1;
  const int count = set_points(p, part, cell, extent);
  if (f)
    tesi_function_values(f, count, p->at, p->at + count, p->at + 2 * count, 0, p->values);
  else
    square(p, part, cell, v, count);
  for (int i = 0; i < count; i++)
    if (!isfinite(p->values[i])) return false;
  const double *from = p->values;
  for (int d = 0; d < space->dim; d++) {
    const int rows = tesi_rt_extent(space, part, d), columns = extent[d];
    const bool nodes = has_nodes(space, part, d);
    tesi_contract(nodes ? p->own : p->across, rows, columns, false, extent, d, from, p->work[d % 2]);
    from = p->work[d % 2];
    if (!nodes) volume *= tesi_modal(space, d)->h[cell[d]];
  }
  double *local = p->work[(space->dim - 1) % 2];
  for (int i = 0; i < extent[0] * extent[1] * extent[2]; i++) local[i] *= volume;
  tesi_rt_clear_cell(space, part, cell, u);
  tesi_rt_add(space, part, cell, local, u);
  return true;
}

/* Cells of a line along a part's own direction share nodes, and each writes over the last one: a thread a line. */
typedef struct Lines {
  Interpolant *interpolant; /* [threads] */
  int part, along;
  const TesFunction *f; /* NULL: the square of v */
  const double *v;
  double *values;
  int64_t *bad; /* the first line in which f is not finite */
} Lines;

static void interpolate_lines(const void *data, TesiSpan span) {
  const Lines *l = data;
  Interpolant *p = &l->interpolant[span.thread];
  for (int64_t i = span.first; i < span.end; i++) {
    int cell[3];
    tesi_rt_line(p->space, l->along, i, cell);
    for (; cell[l->along] < tesi_modal(p->space, l->along)->cells; cell[l->along]++)
      if (!interpolate_cell(p, l->part, cell, l->f, l->v, l->values)) {
        tesi_team_least(l->bad, i);
        break;
      }
  }
}

/* The message of a function that is not finite in a line of cells. */
static TesStatus explain(TesContext *ctx, Interpolant *p, const Lines *l) {
  TesStatus status = TES_OK;
  int cell[3], extent[3];
  tesi_rt_line(p->space, l->along, *l->bad, cell);
  for (; cell[l->along] < tesi_modal(p->space, l->along)->cells; cell[l->along]++) {
    const int count = set_points(p, l->part, cell, extent);
    TES_TRY(tes_function_evaluate(l->f, count, p->at, p->at + count, p->at + 2 * count, 0, p->values));
  }
done:
  return status;
}

/* Of functions f, or of the squares of v. */
static TesStatus interpolate(const TesSpace *space, int points, const TesFunction *const *f,
                             const TesVector *v, TesVector *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int threads = tes_context_threads(ctx);
  Interpolant *p = NULL;
  double *from = NULL, *values = NULL;
  TES_TRY(tesi_alloc(ctx, (size_t)threads, sizeof *p, &p));
  TES_ALLOC(&values, space->length);
  if (v) TES_ALLOC(&from, space->length);
  if (v) TES_TRY(tes_vector_get(v, from));
  for (int t = 0; t < threads; t++) {
    fill_tables(space, points, &p[t]);
    if (v) tesi_rt_tables_at(space->degree + 1, points + 2, p[t].x, &p[t].tables);
  }
  for (int part = 0; part < space->scalars; part++) {
    const int along = part % space->dim;
    const int64_t lines = tesi_rt_lines(space, along);
    int64_t bad = lines;
    const Lines l = {p, part, along, v ? NULL : f[part], from, values, &bad};
    if (!v && !f[part]) continue;
    tesi_team_for(threads, lines, interpolate_lines, &l);
    if (bad < lines && v)
      status = tesi_fail(ctx, TES_NAN, __FILE__, __LINE__, __func__, "a mean of squares is not finite");
    else if (bad < lines)
      status = explain(ctx, p, &l);
    TES_TRY(tesi_agree(ctx, status));
  }
  if (space->layout->shared) tesi_layout_clear_others(space->layout, values);
  tesi_exchange_sum(space->layout->shared, TES_DOUBLE, values);
  TES_TRY(tes_vector_set(u, values));
done:
  tesi_free(ctx, &from);
  tesi_free(ctx, &values);
  tesi_free(ctx, &p);
  return status;
}

TesStatus tesi_rt_interpolate(const TesSpace *space, const TesFunction *const *f, TesVector *u) {
  return interpolate(space, space->degree + 5, f, NULL, u);
}

TesStatus tesi_rt_square(const TesSpace *space, const TesVector *v, TesVector *u) {
  return interpolate(space, tesi_min(space->degree + 5, TESI_RT_POINTS - 2), NULL, v, u);
}
