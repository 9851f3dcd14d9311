/* Positions and Jacobians: the polynomial of a cell by sum factorization, then the analytic map. */
#include <string.h>
#include "basis/lagrange.h"
#include "geometry/cell_line.h"

void tesi_geometry_tables(const TesiGeometry *g, int q, const double *points, double *B, double *G) {
  tesi_lagrange(g->degree + 1, tesi_line(g->degree)->point, q, points, B, G);
}

/* out[q][inner] <- sum over j of T[q][j] in[j][inner] */
static void contract(int q, int n, int inner, const double *T, const double *in, double *out) {
  for (int p = 0; p < q; p++)
    for (int i = 0; i < inner; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += T[p * n + j] * in[j * inner + i];
      out[p * inner + i] = sum;
    }
}

/* Coordinate r of one cell: values [q^dim] and derivatives d[c][q^dim], at strides of `stride` between derivatives.
 * Directions are contracted from the last to the first; nodes have coordinates fastest. */
static void coordinate(const TesiGeometry *g, int q, const double *B, const double *G, const double *nodes,
                       int r, double *value, double *d, int64_t stride) {
  enum { N = TESI_GEOMETRY_DEGREE + 1, Q = TESI_GEOMETRY_POINTS };
  const int n = g->degree + 1, dim = g->dim, plane = dim == 3 ? n * n : n;
  double u[N * N * N], a[2][Q * N * N], b[3][Q * N];
  for (int p = 0; p < g->cell_nodes; p++) u[p] = nodes[p * dim + r];
  contract(q, n, plane, B, u, a[0]);
  contract(q, n, plane, G, u, a[1]);
  for (int s = 0; s < q; s++) { /* the last direction: s */
    if (dim == 2) {
      double *const to[3] = {value + s * q, d + s * q, d + stride + s * q};
      contract(q, n, 1, B, a[0] + s * n, to[0]);
      contract(q, n, 1, G, a[0] + s * n, to[1]);
      contract(q, n, 1, B, a[1] + s * n, to[2]);
      continue;
    }
    contract(q, n, n, B, a[0] + s * plane, b[0]);
    contract(q, n, n, G, a[0] + s * plane, b[1]);
    contract(q, n, n, B, a[1] + s * plane, b[2]);
    for (int j = 0; j < q; j++) {
      const int64_t at = (int64_t)(s * q + j) * q;
      contract(q, n, 1, B, b[0] + j * n, value + at);
      contract(q, n, 1, G, b[0] + j * n, d + at);
      contract(q, n, 1, B, b[1] + j * n, d + stride + at);
      contract(q, n, 1, B, b[2] + j * n, d + 2 * stride + at);
    }
  }
}

void tesi_geometry_map(const TesiGeometry *g, int64_t n, double *x, double *J) {
  enum { CHUNK = 64 };
  const int dim = g->dim;
  for (int64_t p = 0; p < n; p += CHUNK) {
    const int64_t count = p + CHUNK < n ? CHUNK : n - p;
    double to[3][CHUNK], D[9][CHUNK];
    for (int r = 0; r < dim; r++) {
      tesi_function_values(g->map[r], count, x + p, x + n + p, x + 2 * n + p, 0, to[r]);
      for (int c = 0; c < dim; c++)
        tesi_function_values(g->gradient[r][c], count, x + p, x + n + p, x + 2 * n + p, 0, D[r * dim + c]);
    }
    for (int64_t i = 0; i < count; i++) {
      double old[9];
      for (int e = 0; e < dim * dim; e++) old[e] = J[e * n + p + i];
      for (int r = 0; r < dim; r++) {
        x[r * n + p + i] = to[r][i];
        for (int c = 0; c < dim; c++) {
          double sum = 0;
          for (int e = 0; e < dim; e++) sum += D[r * dim + e][i] * old[e * dim + c];
          J[(r * dim + c) * n + p + i] = sum;
        }
      }
    }
  }
}

void tesi_geometry_tensor(const TesiGeometry *g, int64_t first, int64_t count, int q, const double *B,
                          const double *G, double *x, double *J) {
  const int dim = g->dim, points = dim == 3 ? q * q * q : q * q;
  const int64_t n = count * points;
  if (dim == 2) memset(x + 2 * n, 0, (size_t)n * sizeof *x);
  for (int64_t c = 0; c < count; c++)
    for (int r = 0; r < dim; r++)
      coordinate(g, q, B, G, g->nodes + (first + c) * g->cell_nodes * dim, r, x + r * n + c * points,
                 J + r * dim * n + c * points, n);
  if (g->map[0]) tesi_geometry_map(g, n, x, J);
}

void tesi_geometry_face(const TesiGeometry *g, int64_t cell, int face, const TesiFaceTables *tables,
                        double *x, double *J) {
  const int dim = g->dim, n = dim == 3 ? tables->q * tables->q : tables->q;
  if (dim == 2) memset(x + 2 * n, 0, (size_t)n * sizeof *x);
  for (int r = 0; r < dim; r++)
    tesi_tensor_face(dim, face, tables, g->nodes + cell * g->cell_nodes * dim + r, dim, x + r * n,
                     J + r * dim * n, n);
  if (g->map[0]) tesi_geometry_map(g, n, x, J);
}

void tesi_geometry_node(const TesiGeometry *g, int64_t cell, int q, const double *B, int p, double *x) {
  const int m = g->degree + 1, nz = g->dim == 3 ? m : 1;
  const double *node = g->nodes + cell * g->cell_nodes * g->dim;
  const double *b[3] = {B + p % q * m, B + p / q % q * m, B + p / q / q * m};
  double J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  x[0] = x[1] = x[2] = 0;
  for (int k = 0; k < nz; k++)
    for (int j = 0; j < m; j++) {
      const double yz = b[1][j] * (g->dim == 3 ? b[2][k] : 1);
      for (int i = 0; i < m; i++, node += g->dim)
        for (int r = 0; r < g->dim; r++) x[r] += yz * b[0][i] * node[r];
    }
  if (g->map[0]) tesi_geometry_map(g, 1, x, J);
}

void tesi_geometry_grid(const TesiGeometry *g, int64_t cell, int q, const double *B, double *x) {
  const int dim = g->dim, m = g->degree + 1, points = dim == 3 ? q * q * q : q * q;
  for (int p = 0; p < points; p++) {
    const double *const b[3] = {B + p % q * m, B + p / q % q * m, B + p / q / q * m};
    double at[3] = {0}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int a = 0; a < g->cell_nodes; a++) {
      const double *node = g->nodes + (cell * g->cell_nodes + a) * dim;
      double value = b[0][a % m] * b[1][a / m % m];
      if (dim == 3) value *= b[2][a / m / m];
      for (int r = 0; r < dim; r++) at[r] += value * node[r];
    }
    if (g->map[0]) tesi_geometry_map(g, 1, at, J);
    memcpy(x + p * dim, at, (size_t)dim * sizeof *x);
  }
}

void tesi_geometry_determinant(int dim, int64_t n, const double *J, double *det) {
  for (int64_t p = 0; p < n; p++) {
    const double *j = J + p;
    if (dim == 2)
      det[p] = j[0] * j[3 * n] - j[n] * j[2 * n];
    else
      det[p] = j[0] * (j[4 * n] * j[8 * n] - j[5 * n] * j[7 * n]) -
               j[n] * (j[3 * n] * j[8 * n] - j[5 * n] * j[6 * n]) +
               j[2 * n] * (j[3 * n] * j[7 * n] - j[4 * n] * j[6 * n]);
  }
}

TesStatus tesi_geometry_evaluate(const TesiGeometry *geometry, int64_t cell, int n, const double *xi,
                                 double *x, double *J) {
  const TesiGeometry *g = geometry;
  TesContext *ctx = g->context;
  TesStatus status = TES_OK;
  const int dim = g->dim, m = g->degree + 1;
  const double *nodes = tesi_line(g->degree)->point;
  TES_CHECK(cell >= 0 && cell < g->cells, "cell %lld of %lld", (long long)cell, (long long)g->cells);
  for (int p = 0; p < n; p++) {
    double B[3][TESI_GEOMETRY_DEGREE + 1], D[3][TESI_GEOMETRY_DEGREE + 1], at[3] = {0}, jacobian[9] = {0};
    for (int d = 0; d < dim; d++) tesi_lagrange(m, nodes, 1, &xi[p * dim + d], B[d], D[d]);
    for (int a = 0; a < g->cell_nodes; a++) {
      const int i[3] = {a % m, a / m % m, a / m / m};
      const double *node = g->nodes + (cell * g->cell_nodes + a) * dim;
      double value = 1, slope[3] = {1, 1, 1};
      for (int d = 0; d < dim; d++) {
        value *= B[d][i[d]];
        for (int c = 0; c < dim; c++) slope[c] *= (c == d ? D : B)[d][i[d]];
      }
      for (int r = 0; r < dim; r++) {
        at[r] += value * node[r];
        for (int c = 0; c < dim; c++) jacobian[r * dim + c] += slope[c] * node[r];
      }
    }
    if (g->map[0]) tesi_geometry_map(g, 1, at, jacobian);
    memcpy(x + p * dim, at, (size_t)dim * sizeof *x);
    if (J) memcpy(J + p * dim * dim, jacobian, (size_t)(dim * dim) * sizeof *J);
  }
done:
  return status;
}

void tesi_face_normal(int dim, const double *J, int face, double *normal) {
  const int c = face / 2;
  const double sign = face & 1 ? 1 : -1;
  if (dim == 2) {
    normal[0] = sign * (c == 0 ? J[3] : -J[2]);
    normal[1] = sign * (c == 0 ? -J[1] : J[0]);
    return;
  }
  const int d = (c + 1) % 3, e = (c + 2) % 3;
  for (int r = 0; r < 3; r++) {
    const int s = (r + 1) % 3, t = (r + 2) % 3;
    normal[r] = sign * (J[s * 3 + d] * J[t * 3 + e] - J[t * 3 + d] * J[s * 3 + e]);
  }
}
