/* Steps of iso.h from their definition: all functions at Gauss points of each cell of the fine grid. */
#include <math.h>
#include <string.h>
#include "operator/iso/iso.h"

enum { POINTS = 2 };

/* Functions of one direction at a point: the functions of the cell's two nodes, and their slopes. */
static void functions(const TesiIsoAxis *axis, int cell, int point, double phi[2], double slope[2],
                      double *weight) {
  if (axis->cells == 0) {
    phi[0] = 1, phi[1] = slope[0] = slope[1] = 0, *weight = 1;
    return;
  }
  const double h = axis->x[cell + 1] - axis->x[cell], xi = 0.5 + (point ? 0.5 : -0.5) / sqrt(3);
  phi[0] = 1 - xi, phi[1] = xi;
  slope[0] = -1 / h, slope[1] = 1 / h;
  *weight = h / 2;
}

typedef struct Point {
  double weight, phi[8], slope[3][8]; /* of the corners of the cell */
  double psi[8];                      /* of the pressure's cell */
  int64_t node[8], pressure[8];
  int corners;
} Point;

/* Point p of a cell; false: there is no such point. */
static void point_of(const TesiIso *iso, const int cell[3], int p, Point *at) {
  double phi[3][2], slope[3][2], weight[3], psi[3][2];
  at->weight = 1;
  at->corners = 1 << iso->dim;
  for (int d = 0; d < 3; d++) {
    functions(&iso->axis[d], cell[d], p >> d & 1, phi[d], slope[d], &weight[d]);
    at->weight *= weight[d];
    /* On the pressure's cell [0, 2] the point is at cell mod 2 + xi. */
    psi[d][1] = iso->axis[d].cells ? (cell[d] % 2 + phi[d][1]) / 2 : 0;
    psi[d][0] = 1 - psi[d][1];
  }
  for (int c = 0; c < at->corners; c++) {
    const int i[3] = {c & 1, c >> 1 & 1, c >> 2};
    at->node[c] =
        ((int64_t)(cell[2] + i[2]) * iso->axis[1].fine + cell[1] + i[1]) * iso->axis[0].fine + cell[0] + i[0];
    at->pressure[c] =
        ((int64_t)(cell[2] / 2 + i[2]) * iso->axis[1].coarse + cell[1] / 2 + i[1]) * iso->axis[0].coarse +
        cell[0] / 2 + i[0];
    at->phi[c] = phi[0][i[0]] * phi[1][i[1]] * phi[2][i[2]];
    at->psi[c] = psi[0][i[0]] * psi[1][i[1]] * psi[2][i[2]];
    for (int d = 0; d < iso->dim; d++) {
      at->slope[d][c] = slope[d][i[d]];
      for (int e = 0; e < 3; e++)
        if (e != d) at->slope[d][c] *= phi[e][i[e]];
    }
  }
}

typedef struct Cells {
  int at[3];
  int point;
} Cells;

/* The next point of the next cell; begin with {{0}, -1}. */
static bool next_point(const TesiIso *iso, Cells *c) {
  if (++c->point < 1 << iso->dim) return true;
  c->point = 0;
  for (int d = 0; d < iso->dim; d++) {
    if (++c->at[d] < 2 * iso->axis[d].cells) return true;
    c->at[d] = 0;
  }
  return false;
}

TesStatus tesi_iso_momentum_ref(const TesiIso *iso, double k, double nu, const double *u, const double *s,
                                const double *given, const double *load, double *next) {
  TesContext *ctx = iso->context;
  TesStatus status = TES_OK;
  const int dim = iso->dim;
  const int64_t nodes = iso->nodes;
  double *sum = NULL, *mass = NULL;
  Point at;
  TES_ALLOC(&sum, dim * nodes);
  TES_ALLOC(&mass, nodes);
  for (Cells cells = {{0}, -1}; next_point(iso, &cells);) {
    double product[3][3] = {{0}}, slope[3][3] = {{0}}, pressure = 0;
    point_of(iso, cells.at, cells.point, &at);
    for (int j = 0; j < at.corners; j++) {
      pressure += at.psi[j] * s[at.pressure[j]];
      for (int c = 0; c < dim; c++)
        for (int d = 0; d < dim; d++) {
          product[c][d] += at.phi[j] * u[c * nodes + at.node[j]] * u[d * nodes + at.node[j]];
          slope[c][d] += at.slope[d][j] * u[c * nodes + at.node[j]];
        }
    }
    for (int i = 0; i < at.corners; i++) {
      mass[at.node[i]] += at.weight * at.phi[i];
      for (int c = 0; c < dim; c++) {
        double *to = &sum[c * nodes + at.node[i]];
        *to += at.weight * pressure * at.slope[c][i];
        for (int d = 0; d < dim; d++) *to += at.weight * (product[c][d] - nu * slope[c][d]) * at.slope[d][i];
      }
    }
  }
  for (int64_t i = 0; i < nodes; i++) {
    const int place[3] = {(int)(i % iso->axis[0].fine), (int)(i / iso->axis[0].fine % iso->axis[1].fine),
                          (int)(i / iso->axis[0].fine / iso->axis[1].fine)};
    for (int c = 0; c < dim; c++) {
      const int64_t j = c * nodes + i;
      next[j] =
          tesi_iso_is_given(iso, c, place) ? given[j] : u[j] + k / mass[i] * (sum[j] + (load ? load[j] : 0));
    }
  }
done:
  tesi_free(ctx, &sum);
  tesi_free(ctx, &mass);
  return status;
}

TesStatus tesi_iso_divergence_ref(const TesiIso *iso, double scale, const double *u, double *b) {
  Point at;
  memset(b, 0, (size_t)iso->pressures * sizeof *b);
  for (Cells cells = {{0}, -1}; next_point(iso, &cells);) {
    double div = 0;
    point_of(iso, cells.at, cells.point, &at);
    for (int j = 0; j < at.corners; j++)
      for (int d = 0; d < iso->dim; d++) div += at.slope[d][j] * u[d * iso->nodes + at.node[j]];
    for (int i = 0; i < at.corners; i++) b[at.pressure[i]] += scale * at.weight * div * at.psi[i];
  }
  return TES_OK;
}
