#include "functional/cell_rule.h"
#include "basis/lagrange.h"

TesStatus tesi_cell_rule(const TesiCellView *space, int q, TesiCellRule *rule) {
  const TesiGeometry *geometry;
  double node[TESI_HANGING_NODES];
  const TesStatus status = tesi_mesh_geometry(space->mesh, &geometry);
  if (status != TES_OK) return status;
  *rule = (TesiCellRule){.space = space, .geometry = geometry, .dim = space->dim, .n = space->n, .q = q};
  rule->nodes = space->cell_nodes;
  rule->points = space->dim == 3 ? q * q * q : q * q;
  tesi_gauss(q, rule->point, rule->weight);
  tesi_gauss_lobatto(rule->n, node, NULL);
  tesi_lagrange(rule->n, node, q, rule->point, rule->B, rule->G);
  tesi_geometry_tables(geometry, q, rule->point, rule->geometry_B, rule->geometry_G);
  return TES_OK;
}

void tesi_cell_points(const TesiCellRule *rule, int64_t cell, TesiCellPoints *at) {
  const int q = rule->q;
  tesi_geometry_tensor(rule->geometry, cell, 1, q, rule->geometry_B, rule->geometry_G, at->x, at->J);
  tesi_geometry_determinant(rule->dim, rule->points, at->J, at->det);
  for (int64_t p = 0; p < rule->points; p++)
    at->weight[p] = at->det[p] * rule->weight[p % q] * rule->weight[p / q % q] *
                    (rule->dim == 3 ? rule->weight[p / q / q] : 1);
}

/* out[o][r][i] = sum over c of T[r][c] in[o][c][i]. */
static void contract(int rows, int columns, int inner, int outer, const double *T, const double *in,
                     double *out) {
  for (int o = 0; o < outer; o++, in += columns * inner)
    for (int r = 0; r < rows; r++, out += inner)
      for (int i = 0; i < inner; i++) {
        double sum = 0;
        for (int c = 0; c < columns; c++) sum += T[r * columns + c] * in[c * inner + i];
        out[i] = sum;
      }
}

void tesi_cell_evaluate(const TesiCellRule *rule, int d, const double *u, double *out) {
  const int n = rule->n, q = rule->q;
  double a[TESI_CELL_POINTS], b[TESI_CELL_POINTS];
  const double *T[3];
  for (int e = 0; e < 3; e++) T[e] = e == d ? rule->G : rule->B;
  if (rule->dim == 2) {
    contract(q, n, 1, n, T[0], u, a);
    contract(q, n, q, 1, T[1], a, out);
    return;
  }
  contract(q, n, 1, n * n, T[0], u, a);
  contract(q, n, q, n, T[1], a, b);
  contract(q, n, q * q, 1, T[2], b, out);
}

void tesi_cell_inverse(const TesiCellRule *rule, const TesiCellPoints *at, int64_t p, double inverse[9]) {
  const int64_t n = rule->points;
  const double *J = at->J + p, s = 1 / at->det[p];
  if (rule->dim == 2) {
    inverse[0] = s * J[3 * n], inverse[1] = -s * J[n], inverse[2] = -s * J[2 * n], inverse[3] = s * J[0];
    return;
  }
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    for (int r = 0; r < 3; r++) {
      const int i = (r + 1) % 3, k = (r + 2) % 3;
      inverse[c * 3 + r] =
          s * (J[(i * 3 + d) * n] * J[(k * 3 + e) * n] - J[(k * 3 + d) * n] * J[(i * 3 + e) * n]);
    }
  }
}

void tesi_cell_gradient(const TesiCellRule *rule, const TesiCellPoints *at, const double *reference,
                        double *gradient) {
  const int dim = rule->dim;
  const int64_t n = rule->points;
  for (int64_t p = 0; p < n; p++) {
    double inverse[9], in[3];
    tesi_cell_inverse(rule, at, p, inverse);
    for (int c = 0; c < dim; c++) in[c] = reference[c * n + p];
    for (int r = 0; r < dim; r++) {
      double sum = 0;
      for (int c = 0; c < dim; c++) sum += inverse[c * dim + r] * in[c];
      gradient[r * n + p] = sum;
    }
  }
}
