#include "operator/cell_rows.h"
#include <string.h>
#include "basis/lagrange.h"

void tesi_cell_rows_init(const TesSpace *space, int points, TesiCellRows *rows) {
  double nodes[TESI_MAX_POINTS];
  const int n = space->degree + 1;
  rows->space = space;
  tesi_gauss_lobatto(n, nodes, NULL);
  tesi_gauss(points, rows->point, rows->weight);
  tesi_lagrange(n, nodes, points, rows->point, rows->B, rows->G);
  for (int d = 0; d < 3; d++) {
    rows->q[d] = d < space->dim ? points : 1;
    rows->p[d] = d < space->dim ? n : 1;
  }
  rows->length = space->axis[0].cells * points;
  rows->points = (int64_t)rows->length * rows->q[1] * rows->q[2];
}

/* Coordinate of point q of a cell; the middle of directions that do not exist is of no interest: 0. */
static double coordinate(const TesiCellRows *rows, int d, int cell, int q) {
  const TesiAxis *axis = &rows->space->axis[d];
  return axis->degree == 0 ? 0 : axis->x[cell * axis->degree] + rows->point[q] * axis->h[cell];
}

static double measure(const TesiCellRows *rows, int d, int cell, int q) {
  const TesiAxis *axis = &rows->space->axis[d];
  return axis->degree == 0 ? 1 : rows->weight[q] * axis->h[cell];
}

#define FOR_EACH_POINT(rows)                                                                                 \
  for (int qz = 0, at = 0; qz < (rows)->q[2]; qz++)                                                          \
    for (int qy = 0; qy < (rows)->q[1]; qy++)                                                                \
      for (int i = 0; i < (rows)->length; i++, at++)

void tesi_cell_rows_coordinates(const TesiCellRows *rows, int cy, int cz, double *x, double *y, double *z) {
  FOR_EACH_POINT(rows) {
    x[at] = coordinate(rows, 0, i / rows->q[0], i % rows->q[0]);
    y[at] = coordinate(rows, 1, cy, qy);
    z[at] = coordinate(rows, 2, cz, qz);
  }
}

void tesi_cell_rows_weights(const TesiCellRows *rows, int cy, int cz, double *w) {
  FOR_EACH_POINT(rows)
  w[at] =
      measure(rows, 0, i / rows->q[0], i % rows->q[0]) * measure(rows, 1, cy, qy) * measure(rows, 2, cz, qz);
}

/* Table of direction d: values, or derivatives with respect to the coordinate (1/h is applied by the caller). */
static const double *table(const TesiCellRows *rows, int d, int derivative) {
  return d == derivative ? rows->G : rows->B;
}

/* Lines of nodes in x, to lines of points: [length]. */
static void evaluate_x(const TesiCellRows *rows, const double *T, const double *u, double *out) {
  const int n = rows->p[0], q = rows->q[0], k = n - 1;
  for (int c = 0; c < rows->space->axis[0].cells; c++)
    for (int i = 0; i < q; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += T[i * n + j] * u[c * k + j];
      out[c * q + i] = sum;
    }
}

/* out[i] <- sum_j T[i][j] in[j] over blocks of `block` values, i < q, j < n; one value where n = 1 = q. */
static void contract(int q, int n, const double *T, int64_t block, const double *in, double *out) {
  for (int i = 0; i < q; i++) {
    double *to = out + i * block;
    memset(to, 0, (size_t)block * sizeof *to);
    for (int j = 0; j < n; j++) {
      const double t = n == 1 ? 1 : T[i * n + j];
      const double *from = in + j * block;
      for (int64_t x = 0; x < block; x++) to[x] += t * from[x];
    }
  }
}

void tesi_cell_rows_evaluate(const TesiCellRows *rows, int cy, int cz, const double *u, int derivative,
                             double *values, double *scratch) {
  const TesiAxis *axis = rows->space->axis;
  const int64_t length = rows->length;
  double *lines = scratch, *planes = values; /* [pz][py][length], [pz][qy][length] */
  for (int pz = 0; pz < rows->p[2]; pz++)
    for (int py = 0; py < rows->p[1]; py++) {
      const int64_t row = (int64_t)(cz * axis[2].degree + pz) * axis[1].nodes + cy * axis[1].degree + py;
      evaluate_x(rows, table(rows, 0, derivative), u + row * axis[0].nodes,
                 lines + (pz * rows->p[1] + py) * length);
    }
  for (int pz = 0; pz < rows->p[2]; pz++)
    contract(rows->q[1], rows->p[1], table(rows, 1, derivative), length, lines + pz * rows->p[1] * length,
             planes + pz * rows->q[1] * length);
  memcpy(lines, planes, (size_t)(rows->p[2] * rows->q[1] * length) * sizeof *lines);
  contract(rows->q[2], rows->p[2], table(rows, 2, derivative), length * rows->q[1], lines, values);
  if (derivative < 0) return;
  FOR_EACH_POINT(rows) {
    const int cell = derivative == 0 ? i / rows->q[0] : derivative == 1 ? cy : cz;
    values[at] /= axis[derivative].h[cell];
  }
}

/* out[j] <- sum_i T[i][j] in[i]: the transpose of contract. */
static void contract_transposed(int q, int n, const double *T, int64_t block, const double *in, double *out) {
  for (int j = 0; j < n; j++) {
    double *to = out + j * block;
    memset(to, 0, (size_t)block * sizeof *to);
    for (int i = 0; i < q; i++) {
      const double t = n == 1 ? 1 : T[i * n + j];
      const double *from = in + i * block;
      for (int64_t x = 0; x < block; x++) to[x] += t * from[x];
    }
  }
}

void tesi_cell_rows_integrate(const TesiCellRows *rows, int cy, int cz, const double *values, double *b,
                              double *scratch) {
  const TesiAxis *axis = rows->space->axis;
  const int64_t length = rows->length;
  const int n = rows->p[0], q = rows->q[0];
  double *planes = scratch, *lines = scratch + rows->points;
  contract_transposed(rows->q[2], rows->p[2], rows->B, length * rows->q[1], values, planes);
  for (int pz = 0; pz < rows->p[2]; pz++)
    contract_transposed(rows->q[1], rows->p[1], rows->B, length, planes + pz * rows->q[1] * length,
                        lines + pz * rows->p[1] * length);
  for (int pz = 0; pz < rows->p[2]; pz++)
    for (int py = 0; py < rows->p[1]; py++) {
      const int64_t row = (int64_t)(cz * axis[2].degree + pz) * axis[1].nodes + cy * axis[1].degree + py;
      const double *line = lines + (pz * rows->p[1] + py) * length;
      for (int c = 0; c < axis[0].cells; c++)
        for (int i = 0; i < q; i++)
          for (int j = 0; j < n; j++)
            b[row * axis[0].nodes + c * (n - 1) + j] += rows->B[i * n + j] * line[c * q + i];
    }
}
