/* Mapped operators from the definition: dense application. */
#include <string.h>
#include "basis/lagrange.h"
#include "mesh/forest/hanging.h"
#include "operator/mapped/host/mapped_dense.h"

enum { MOST_NODES = TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES };

void tesi_mapped_functions(const TesiMapped *m, const double xi[3], double *f) {
  double B[3][TESI_MAPPED_POINTS], G[3][TESI_MAPPED_POINTS];
  const int n = m->n;
  for (int d = 0; d < m->dim; d++) tesi_lagrange(n, m->node, 1, &xi[d], B[d], G[d]);
  for (int64_t a = 0; a < m->cell_nodes; a++) {
    const int i[3] = {(int)(a % n), (int)(a / n % n), (int)(a / n / n)};
    for (int k = 0; k <= m->dim; k++) {
      double value = 1;
      for (int d = 0; d < m->dim; d++) value *= (k == d + 1 ? G : B)[d][i[d]];
      f[k * m->cell_nodes + a] = value;
    }
  }
}

/* inverse[c][r] = d xi_c / d x_r; returns det J. */
static double invert(int dim, const double *J, double *inverse) {
  if (dim == 2) {
    const double det = J[0] * J[3] - J[1] * J[2];
    inverse[0] = J[3] / det, inverse[1] = -J[1] / det, inverse[2] = -J[2] / det, inverse[3] = J[0] / det;
    return det;
  }
  const double det = J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) +
                     J[2] * (J[3] * J[7] - J[4] * J[6]);
  inverse[0] = (J[4] * J[8] - J[5] * J[7]) / det, inverse[1] = (J[2] * J[7] - J[1] * J[8]) / det;
  inverse[2] = (J[1] * J[5] - J[2] * J[4]) / det, inverse[3] = (J[5] * J[6] - J[3] * J[8]) / det;
  inverse[4] = (J[0] * J[8] - J[2] * J[6]) / det, inverse[5] = (J[2] * J[3] - J[0] * J[5]) / det;
  inverse[6] = (J[3] * J[7] - J[4] * J[6]) / det, inverse[7] = (J[1] * J[6] - J[0] * J[7]) / det;
  inverse[8] = (J[0] * J[4] - J[1] * J[3]) / det;
  return det;
}

static double value_at(const TesFunction *f, const double x[3], double otherwise) {
  double value = otherwise;
  if (f) tesi_function_values(f, 1, &x[0], &x[1], &x[2], 0, &value);
  return value;
}

/* The coefficient as a full matrix a[dim][dim]. */
static void tensor_at(const TesiMapped *m, int64_t cell, const double x[3], double *a) {
  const int dim = m->dim;
  for (int r = 0; r < dim; r++)
    for (int c = r; c < dim; c++) {
      double otherwise;
      const TesFunction *entry = tesi_function_entry(tesi_mapped_a(m, cell), r, c, &otherwise);
      a[r * dim + c] = a[c * dim + r] = value_at(entry, x, otherwise);
    }
}

void tesi_mapped_weights(const TesiMapped *m, int64_t cell, int64_t p, double xi[3], double metric[9],
                         double *mass) {
  const int dim = m->dim, q = m->q;
  const int i[3] = {(int)(p % q), (int)(p / q % q), (int)(p / q / q)};
  double x[3] = {0}, J[9], inverse[9], a[9], weight = 1;
  for (int d = 0; d < dim; d++) xi[d] = m->point[i[d]], weight *= m->weight[i[d]];
  tesi_geometry_evaluate(m->geometry, cell, 1, xi, x, J);
  const double det = invert(dim, J, inverse);
  tensor_at(m, cell, x, a);
  for (int c = 0; c < dim; c++)
    for (int e = 0; e < dim; e++) {
      double sum = 0;
      for (int r = 0; r < dim; r++)
        for (int s = 0; s < dim; s++) sum += inverse[c * dim + r] * a[r * dim + s] * inverse[e * dim + s];
      metric[c * dim + e] = m->stiffness ? weight * det * sum : 0;
    }
  *mass = m->mass ? m->lambda * weight * det * value_at(tesi_mapped_c(m, cell), x, 1) : 0;
}

/* y += K x of one cell and component, with x and y of stride `stride` at the nodes index[] (NULL: 0, 1, ...), without
 * constrained nodes. */
static void apply_cell(const TesiMapped *m, int64_t cell, const int32_t *index, int stride, const double *x,
                       double *y, double *f) {
  const int dim = m->dim;
  for (int64_t p = 0; p < m->cell_points; p++) {
    double xi[3], metric[9], mass, u[4] = {0}, flux[4] = {0};
    tesi_mapped_weights(m, cell, p, xi, metric, &mass);
    tesi_mapped_functions(m, xi, f);
    for (int64_t a = 0; a < m->cell_nodes; a++) {
      if (index && index[a] < 0) continue;
      const double value = x[(index ? index[a] : a) * stride];
      for (int k = 0; k <= dim; k++) u[k] += f[k * m->cell_nodes + a] * value;
    }
    flux[0] = mass * u[0];
    for (int c = 0; c < dim; c++)
      for (int e = 0; e < dim; e++) flux[c + 1] += metric[c * dim + e] * u[e + 1];
    for (int64_t a = 0; a < m->cell_nodes; a++) {
      double sum = 0;
      if (index && index[a] < 0) continue;
      for (int k = 0; k <= dim; k++) sum += f[k * m->cell_nodes + a] * flux[k];
      y[(index ? index[a] : a) * stride] += sum;
    }
  }
}

/* The same for a cell with hanging nodes (one component): y += C' K C x, interpolated line by line. */
static void apply_hanging(const TesiMapped *m, int64_t cell, const double *x, double *y, double *f) {
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES], u[MOST_NODES], v[MOST_NODES] = {0};
  const int32_t *index = m->index + cell * m->cell_nodes;
  tesi_hanging_halves(m->n, W);
  for (int64_t p = 0; p < m->cell_nodes; p++) u[p] = index[p] < 0 ? 0 : x[index[p]];
  tesi_hanging_read(m->dim, m->n, W, m->mask[cell], u);
  apply_cell(m, cell, NULL, 1, u, v, f);
  tesi_hanging_write(m->dim, m->n, W, m->mask[cell], v);
  for (int64_t p = 0; p < m->cell_nodes; p++)
    if (index[p] >= 0) y[index[p]] += v[p];
}

TesStatus tesi_mapped_apply_ref(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  const int C = m->components;
  double *f = NULL;
  TES_ALLOC(&f, (m->dim + 1) * m->cell_nodes);
  memset(y, 0, (size_t)m->length * sizeof *y);
  for (int64_t cell = 0; cell < m->cells; cell++)
    for (int c = 0; c < C; c++) {
      const int64_t at = (cell * C + c) * m->cell_nodes;
      if (tesi_mapped_hangs(m, cell)) {
        apply_hanging(m, cell, x, y, f);
        continue;
      }
      if (m->global)
        apply_cell(m, cell, m->index + cell * m->cell_nodes, C, x + c, y + c, f);
      else
        apply_cell(m, cell, NULL, 1, x + at, y + at, f);
    }
  for (int64_t i = 0; i < m->constrained; i++)
    for (int c = 0; c < C; c++)
      y[(int64_t)m->constrained_nodes[i] * C + c] = x[(int64_t)m->constrained_nodes[i] * C + c];
done:
  tesi_free(ctx, &f);
  return status;
}
