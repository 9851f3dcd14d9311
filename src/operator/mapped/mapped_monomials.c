/* Cells of first or second degree as polynomials of the reference coordinates, from which kernels compute Jacobians
 * if factors come from weights. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/integer.h"
#include "base/team.h"
#include "geometry/geometry.h"
#include "operator/mapped/mapped.h"

enum { MOST = 3 * 27 };

/* For the geometry's own degree: direction by direction from the values at the nodes 0, (1/2,) 1. */
static void all_monomials(const TesiGeometry *g, int64_t cell, double *c) {
  static const double to[2][3][3] = {{{1, 0}, {-1, 1}}, {{1, 0, 0}, {-3, 4, -1}, {2, -4, 2}}};
  const int dim = g->dim, m = g->degree, numbers = (int)g->cell_nodes * dim;
  double x[MOST];
  memcpy(c, g->nodes + cell * numbers, (size_t)numbers * sizeof *c);
  for (int d = 0, stride = dim; d < dim; d++, stride *= m + 1) {
    memcpy(x, c, (size_t)numbers * sizeof *x);
    for (int p = 0; p < numbers; p++) {
      const int i = p / stride % (m + 1), base = p - i * stride;
      c[p] = 0;
      for (int s = 0; s <= m; s++) c[p] += to[m - 1][i][s] * x[base + s * stride];
    }
  }
}

/* Whether monomial i, of (m+1)^dim, contains a square. */
static bool has_square(int i, int m) {
  for (; m == 2 && i; i /= 3)
    if (i % 3 == 2) return true;
  return false;
}

static bool is_multilinear(const TesiGeometry *g, int64_t cell) {
  const double *x = g->nodes + cell * g->cell_nodes * g->dim;
  double c[MOST], size = 0, square = 0;
  all_monomials(g, cell, c);
  for (int i = 0; i < g->cell_nodes * g->dim; i++) {
    size = fmax(size, fabs(x[i]));
    if (has_square(i / g->dim, g->degree)) square = fmax(square, fabs(c[i]));
  }
  return square <= 64 * DBL_EPSILON * size; /* round-off of 27 such numbers, 64 times at most */
}

typedef struct Search {
  const TesiGeometry *g;
  atomic_bool *curved;
} Search;

static void find_curved(const void *data, TesiSpan span) {
  const Search *s = data;
  for (int64_t c = span.first; c < span.end && !atomic_load_explicit(s->curved, memory_order_relaxed); c++)
    if (!is_multilinear(s->g, c)) atomic_store_explicit(s->curved, true, memory_order_relaxed);
}

int tesi_mapped_cell_degree(const TesiMapped *m) {
  const TesiGeometry *g = m->geometry;
  atomic_bool curved = false;
  if (g->degree == 1) return 1;
  tesi_team_for(tesi_team_threads(g->context, g->cells * g->cell_nodes * g->dim), g->cells, find_curved,
                &(Search){g, &curved});
  return curved ? g->degree : 1;
}

void tesi_mapped_monomials(const TesiMapped *m, int64_t cell, int degree, double *c) {
  const TesiGeometry *g = m->geometry;
  const int dim = g->dim, count = tesi_power(g->degree + 1, dim);
  double all[MOST];
  all_monomials(g, cell, all);
  for (int i = 0, at = 0; i < count; i++)
    if (g->degree == degree || !has_square(i, g->degree))
      memcpy(c + dim * at++, all + dim * i, (size_t)dim * sizeof *c);
}
