#include "operator/forest/forest_faces.h"
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"

void tesi_face_rule(int dim, int degree, int q, TesiFaceRule *rule) {
  double node[TESI_HANGING_NODES];
  *rule = (TesiFaceRule){.dim = dim, .n = degree + 1, .q = q};
  rule->nodes = dim == 3 ? rule->n * rule->n : rule->n;
  rule->points = dim == 3 ? q * q : q;
  tesi_gauss(q, rule->point, rule->weight);
  tesi_gauss_lobatto(rule->n, node, NULL);
  tesi_lagrange(rule->n, node, q, rule->point, rule->B, rule->G);
}

int tesi_face_node(int dim, int n, int face, int i) {
  const int step[3] = {1, n, n * n}, d = face / 2;
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  return (face & 1 ? n - 1 : 0) * step[d] + i % n * step[e] + (dim == 3 ? i / n * step[f] : 0);
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

TesStatus tesi_face_geometry(const TesiFaceRule *rule, const TesGeometry *geometry, int64_t cell, int face,
                             double *x, double *weight, double *normal) {
  const int dim = rule->dim, q = rule->q, d = face / 2, e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  double xi[3 * TESI_FACE_MOST], J[9 * TESI_FACE_MOST];
  for (int p = 0; p < rule->points; p++) {
    xi[p * dim + d] = face & 1;
    xi[p * dim + e] = rule->point[p % q];
    if (dim == 3) xi[p * dim + f] = rule->point[p / q];
  }
  const TesStatus status = tesi_geometry_evaluate(geometry, cell, rule->points, xi, x, J);
  for (int p = 0; status == TES_OK && p < rule->points; p++) {
    double n[3] = {0}, size = 0;
    tesi_face_normal(dim, J + p * dim * dim, face, n);
    for (int r = 0; r < dim; r++) size += n[r] * n[r];
    size = sqrt(size);
    weight[p] = rule->weight[p % q] * (dim == 3 ? rule->weight[p / q] : 1) * size;
    for (int r = 0; normal && r < dim; r++) normal[p * dim + r] = n[r] / size;
  }
  return status;
}

void tesi_face_values(const TesiFaceRule *rule, const TesFunction *f, const double *x, double *value) {
  double at[3][TESI_FACE_MOST] = {{0}};
  for (int p = 0; p < rule->points; p++)
    for (int d = 0; d < rule->dim; d++) at[d][p] = x[p * rule->dim + d];
  tesi_function_values(f, rule->points, at[0], at[1], at[2], 0, value);
}

void tesi_face_interpolate(const TesiFaceRule *rule, const double *u, double *at) {
  const int n = rule->n, q = rule->q, lines = rule->dim == 3 ? n : 1;
  double rows[TESI_FACE_MOST];
  for (int j = 0; j < lines; j++)
    for (int p = 0; p < q; p++) {
      double sum = 0;
      for (int i = 0; i < n; i++) sum += rule->B[p * n + i] * u[j * n + i];
      (lines > 1 ? rows : at)[j * q + p] = sum;
    }
  for (int s = 0; lines > 1 && s < q; s++)
    for (int p = 0; p < q; p++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += rule->B[s * n + j] * rows[j * q + p];
      at[s * q + p] = sum;
    }
}

void tesi_face_project(const TesiFaceRule *rule, const double *at, double *u) {
  const int n = rule->n, q = rule->q, lines = rule->dim == 3 ? n : 1;
  double rows[TESI_FACE_MOST];
  for (int j = 0; j < lines; j++)
    for (int p = 0; p < q; p++) {
      double sum = lines > 1 ? 0 : at[p];
      for (int s = 0; lines > 1 && s < q; s++) sum += rule->B[s * n + j] * at[s * q + p];
      rows[j * q + p] = sum;
    }
  for (int j = 0; j < lines; j++)
    for (int i = 0; i < n; i++)
      for (int p = 0; p < q; p++) u[j * n + i] += rule->B[p * n + i] * rows[j * q + p];
}
