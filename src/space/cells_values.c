/* Vectors cell by cell. */
#include <math.h>
#include <string.h>
#include "base/random.h"
#include "basis/lagrange.h"
#include "space/space.h"

void tesi_cells_read(const TesiCellView *s, int64_t cell, const double *x, double *local) {
  const int32_t *index = s->index + cell * s->cell_nodes;
  for (int p = 0; p < s->cell_nodes; p++) local[p] = x[tesi_cells_node(index[p])];
  if (s->mask[cell]) tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], local);
}

void tesi_cells_read_lanes(const TesiCellView *s, const int32_t *cell, int fields, const double *x,
                           double *local) {
  double u[TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const int nodes = s->cell_nodes;
  for (int l = 0; l < TESI_LANES; l++) {
    const int32_t *index = s->index + (int64_t)cell[l] * nodes;
    for (int p = 0; p < nodes; p++)
      for (int f = 0; f < fields; f++)
        local[(f * nodes + p) * TESI_LANES + l] = x[f * s->length + tesi_cells_node(index[p])];
    for (int f = 0; s->mask[cell[l]] && f < fields; f++) {
      double *const to = local + (int64_t)f * nodes * TESI_LANES + l;
      for (int p = 0; p < nodes; p++) u[p] = to[p * TESI_LANES];
      tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell[l]], u);
      for (int p = 0; p < nodes; p++) to[p * TESI_LANES] = u[p];
    }
  }
}

void tesi_cells_add(const TesiCellView *s, int64_t cell, const double *local, double *x) {
  double u[TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const int32_t *index = s->index + cell * s->cell_nodes;
  if (s->mask[cell]) {
    memcpy(u, local, (size_t)s->cell_nodes * sizeof *u);
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], u);
    local = u;
  }
  for (int p = 0; p < s->cell_nodes; p++) x[tesi_cells_node(index[p])] += local[p];
}

void tesi_space_read_cell(const TesSpace *space, int64_t cell, const double *x, double *local) {
  const TesiAxis *axis = tesi_space_axes(space);
  if (!axis) {
    tesi_cells_read(space->view, cell, x, local);
    return;
  }
  const int at[3] = {(int)(cell % axis[0].cells), (int)(cell / axis[0].cells % axis[1].cells),
                     (int)(cell / axis[0].cells / axis[1].cells)};
  for (int k = 0; k <= axis[2].degree; k++)
    for (int j = 0; j <= axis[1].degree; j++) {
      const int64_t row =
          (int64_t)tesi_axis_node(&axis[2], at[2], k) * axis[1].nodes + tesi_axis_node(&axis[1], at[1], j);
      for (int i = 0; i <= axis[0].degree; i++)
        *local++ = x[row * axis[0].nodes + tesi_axis_node(&axis[0], at[0], i)];
    }
}

void tesi_space_add_cell(const TesSpace *space, int64_t cell, const double *local, double *x) {
  const TesiAxis *axis = tesi_space_axes(space);
  if (!axis) {
    tesi_cells_add(space->view, cell, local, x);
    return;
  }
  const int at[3] = {(int)(cell % axis[0].cells), (int)(cell / axis[0].cells % axis[1].cells),
                     (int)(cell / axis[0].cells / axis[1].cells)};
  for (int k = 0; k <= axis[2].degree; k++)
    for (int j = 0; j <= axis[1].degree; j++) {
      const int64_t row =
          (int64_t)tesi_axis_node(&axis[2], at[2], k) * axis[1].nodes + tesi_axis_node(&axis[1], at[1], j);
      for (int i = 0; i <= axis[0].degree; i++)
        x[row * axis[0].nodes + tesi_axis_node(&axis[0], at[0], i)] += *local++;
    }
}

static uint64_t entry_key(int32_t index, double value) {
  return tesi_random_mix(tesi_random_mix((uint64_t)tesi_cells_node(index) + 1) ^
                         (uint64_t)llround(ldexp(value, 30)));
}

uint64_t tesi_cells_node_key(int32_t index) {
  return entry_key(index, 1);
}

uint64_t tesi_cells_row_key(int n, const int32_t *index, const double *row) {
  uint64_t key = 0;
  for (int p = 0; p < n; p++)
    if (fabs(row[p]) >= TESI_CELLS_SMALL) key += entry_key(index[p], row[p]);
  return key;
}

void tesi_local_functions(int dim, int degree, const double *xi, double *value, double *gradient) {
  const int m = degree + 1, nz = dim == 3 ? m : 1, nodes = m * m * nz;
  double node[TESI_MAX_POINTS], B[3][TESI_MAX_POINTS] = {{1}, {1}, {1}}, G[3][TESI_MAX_POINTS] = {{0}};
  tesi_gauss_lobatto(m, node, NULL);
  for (int d = 0; d < dim; d++) tesi_lagrange(m, node, 1, &xi[d], B[d], G[d]);
  for (int p = 0; p < nodes; p++) {
    const int at[3] = {p % m, p / m % m, p / m / m};
    double b[3];
    for (int d = 0; d < 3; d++) b[d] = B[d][at[d]];
    value[p] = b[0] * b[1] * b[2];
    for (int d = 0; d < dim && gradient; d++)
      gradient[d * nodes + p] = G[d][at[d]] * b[(d + 1) % 3] * b[(d + 2) % 3];
  }
}

void tesi_local_values(int dim, int degree, const double *local, int n, const double *xi, double *values,
                       double *gradient) {
  const int m = degree + 1, nz = dim == 3 ? m : 1;
  double node[TESI_MAX_POINTS], B[3][TESI_MAX_POINTS] = {{1}, {1}, {1}}, G[3][TESI_MAX_POINTS] = {{0}};
  tesi_gauss_lobatto(m, node, NULL);
  for (int p = 0; p < n; p++) {
    double sum[4] = {0};
    for (int d = 0; d < dim; d++) tesi_lagrange(m, node, 1, &xi[p * dim + d], B[d], gradient ? G[d] : NULL);
    for (int k = 0; k < nz; k++)
      for (int j = 0; j < m; j++) {
        double v = 0, g = 0;
        const double *row = local + (k * m + j) * m;
        for (int i = 0; i < m; i++) v += B[0][i] * row[i], g += G[0][i] * row[i];
        sum[0] += B[1][j] * B[2][k] * v;
        sum[1] += B[1][j] * B[2][k] * g;
        sum[2] += G[1][j] * B[2][k] * v;
        if (dim == 3) sum[3] += B[1][j] * G[2][k] * v;
      }
    if (values) values[p] = sum[0];
    for (int d = 0; gradient && d < dim; d++) gradient[p * dim + d] = sum[d + 1];
  }
}
