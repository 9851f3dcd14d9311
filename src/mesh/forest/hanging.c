/* See hanging.h. */
#include "mesh/forest/hanging.h"
#include <math.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"

void tesi_hanging_halves(int n, double *W) {
  double node[TESI_HANGING_NODES], half[TESI_HANGING_NODES];
  tesi_gauss_lobatto(n, node, NULL);
  for (int c = 0; c < 2; c++) {
    for (int i = 0; i < n; i++) half[i] = 0.5 * (c + node[i]);
    tesi_lagrange(n, node, n, half, W + c * n * n, NULL);
  }
}

/* Whether a node stands on the side of direction d where the child touches its parent's boundary. */
static bool on_side(int n, unsigned mask, int d, int i) {
  return i == (mask >> d & 1 ? n - 1 : 0);
}

unsigned tesi_hanging_directions(int dim, int n, unsigned mask, const int i[3]) {
  unsigned directions = 0;
  if (!mask) return 0;
  for (int d = 0; d < dim; d++) {
    const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
    if (tes_mask_line(mask, d, on_side(n, mask, e, i[e]), f < dim && on_side(n, mask, f, i[f])))
      directions |= 1u << d;
  }
  return directions;
}

/* u <- W u, or W' u, on the lines along d that the mask names. */
static void sweep(int dim, int n, const double *W, unsigned mask, int d, bool transpose, double *u) {
  const int step[3] = {1, n, n * n}, e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2, nf = f < dim ? n : 1;
  W += (mask >> d & 1) * (unsigned)(n * n);
  for (int b = 0; b < nf; b++)
    for (int a = 0; a < n; a++) {
      double line[TESI_HANGING_NODES];
      if (!tes_mask_line(mask, d, on_side(n, mask, e, a), f < dim && on_side(n, mask, f, b))) continue;
      double *v = u + a * step[e] + b * step[f];
      for (int i = 0; i < n; i++) line[i] = v[i * step[d]];
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += (transpose ? W[j * n + i] : W[i * n + j]) * line[j];
        v[i * step[d]] = sum;
      }
    }
}

void tesi_hanging_read(int dim, int n, const double *W, unsigned mask, double *u) {
  for (int d = 0; mask && d < dim; d++) sweep(dim, n, W, mask, d, false, u);
}

void tesi_hanging_write(int dim, int n, const double *W, unsigned mask, double *u) {
  for (int d = dim - 1; mask && d >= 0; d--) sweep(dim, n, W, mask, d, true, u);
}

void tesi_hanging_positions(const TesMesh *f, int64_t cell, unsigned mask, int n, const double *node,
                            const double *W, double *x) {
  enum { MOST = TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES };
  const int dim = f->dim, nz = dim == 3 ? n : 1, points = n * n * nz, child = f->leaves.child[cell];
  const double h = ldexp(1, -f->leaves.level[cell]);
  double origin[3], xi[3 * MOST], u[MOST];
  tesi_mesh_origin(f, cell, origin);
  for (int p = 0; p < points; p++) {
    const int i[3] = {p % n, p / n % n, p / n / n};
    const unsigned coarse = tesi_hanging_directions(dim, n, mask, i);
    for (int d = 0; d < dim; d++)
      xi[p * dim + d] = coarse >> d & 1 ? origin[d] - (child >> d & 1) * h + 2 * h * node[i[d]]
                                        : origin[d] + h * node[i[d]];
  }
  tesi_forest_evaluate_tree(f, cell, points, xi, x);
  for (int r = 0; mask && r < dim; r++) {
    for (int p = 0; p < points; p++) u[p] = x[p * dim + r];
    tesi_hanging_read(dim, n, W, mask, u);
    for (int p = 0; p < points; p++) x[p * dim + r] = u[p];
  }
}
