#include "operator/cell_batch.h"
#include "base/simd_builds.h"
#include "basis/lagrange.h"

void tesi_batch_contract_128(const int[3], int, int, int, bool, const double *, const double *, double *);
void tesi_batch_contract_256(const int[3], int, int, int, bool, const double *, const double *, double *);
void tesi_batch_contract_512(const int[3], int, int, int, bool, const double *, const double *, double *);

void tesi_cells_init(const TesSpace *space, int q, TesiCells *cells) {
  double nodes[TESI_MAX_POINTS];
  const int n = space->degree + 1;
  *cells = (TesiCells){.space = space, .dim = space->dim, .n = n, .q = q, .nodes = 1, .points = 1};
  tesi_gauss_lobatto(n, nodes, NULL);
  tesi_gauss(q, cells->point, cells->weight);
  tesi_lagrange(n, nodes, q, cells->point, cells->B, NULL);
  tesi_lagrange(q, cells->point, q, cells->point, NULL, cells->D);
  for (int d = 0; d < cells->dim; d++) cells->nodes *= n, cells->points *= q;
  cells->rows = space->axis[1].cells * (cells->dim == 3 ? space->axis[2].cells : 1);
  cells->batches = (space->axis[0].cells + TESI_BATCH - 1) / TESI_BATCH;
  cells->contract = TESI_SIMD_PICK(tes_context_simd_bits(space->context), tesi_batch_contract);
}

TesiBatch tesi_cells_batch(const TesiCells *cells, int row, int batch) {
  const int first = batch * TESI_BATCH, rows_y = cells->space->axis[1].cells;
  return (TesiBatch){.first = first,
                     .count = tesi_min(TESI_BATCH, cells->space->axis[0].cells - first),
                     .cy = row % rows_y,
                     .cz = row / rows_y};
}

static int cell_of(const TesiBatch *batch, int d, int lane) {
  return d == 0 ? batch->first + tesi_min(lane, batch->count - 1) : d == 1 ? batch->cy : batch->cz;
}

/* Coordinates (0) and weights (1 where the direction does not exist) of one direction: [point][lane]. */
static int set_line(const TesiCells *cells, const TesiBatch *batch, int d, double (*x)[TESI_BATCH],
                    double (*w)[TESI_BATCH]) {
  const TesiAxis *axis = &cells->space->axis[d];
  const int q = d < cells->dim ? cells->q : 1;
  for (int i = 0; i < q; i++)
    for (int l = 0; l < TESI_BATCH; l++) {
      const int cell = cell_of(batch, d, l);
      x[i][l] = d < cells->dim ? axis->x[cell * axis->degree] + axis->h[cell] * cells->point[i] : 0;
      w[i][l] = d < cells->dim ? axis->h[cell] * cells->weight[i] : 1;
      if (d == 0 && l >= batch->count) w[i][l] = 0;
    }
  return q;
}

void tesi_cells_points(const TesiCells *cells, const TesiBatch *batch, double *x, double *y, double *z,
                       double *w) {
  double at[3][TESI_MAX_POINTS][TESI_BATCH], weight[3][TESI_MAX_POINTS][TESI_BATCH];
  int q[3];
  for (int d = 0; d < 3; d++) q[d] = set_line(cells, batch, d, at[d], weight[d]);
  for (int k = 0; k < q[2]; k++)
    for (int j = 0; j < q[1]; j++)
      for (int i = 0; i < q[0]; i++)
        for (int l = 0; l < TESI_BATCH; l++) {
          *x++ = at[0][i][l], *y++ = at[1][j][l], *z++ = at[2][k][l];
          *w++ = weight[0][i][l] * weight[1][j][l] * weight[2][k][l];
        }
}

/* Node 0 of the first cell. */
static int64_t corner(const TesiCells *cells, const TesiBatch *batch) {
  const TesiAxis *axis = cells->space->axis;
  const int64_t row = (int64_t)batch->cz * axis[2].degree * axis[1].nodes + batch->cy * axis[1].degree;
  return row * axis[0].nodes + (int64_t)batch->first * axis[0].degree;
}

void tesi_cells_evaluate(const TesiCells *cells, const TesiBatch *batch, const double *u, double *values,
                         double *scratch) {
  const int k = cells->n - 1;
  const TesiAxis *axis = cells->space->axis;
  /* the last contraction writes `values` */
  double *from = cells->dim == 3 ? scratch : values, *to = cells->dim == 3 ? values : scratch, *local = from;
  int size[3] = {cells->n, cells->n, cells->dim == 3 ? cells->n : 1};
  u += corner(cells, batch);
  for (int z = 0; z < size[2]; z++)
    for (int y = 0; y < size[1]; y++) {
      const double *row = u + ((int64_t)z * axis[1].nodes + y) * axis[0].nodes;
      for (int x = 0; x < size[0]; x++)
        for (int l = 0; l < TESI_BATCH; l++) *local++ = row[x + tesi_min(l, batch->count - 1) * k];
    }
  for (int d = 0; d < cells->dim; d++) {
    cells->contract(size, d, cells->q, cells->n, false, cells->B, from, to);
    size[d] = cells->q;
    double *const swap = from;
    from = to, to = swap;
  }
}

void tesi_cells_differentiate(const TesiCells *cells, const TesiBatch *batch, int d, const double *values,
                              double *out) {
  const int size[3] = {cells->q, cells->q, cells->dim == 3 ? cells->q : 1};
  double factor[TESI_BATCH];
  for (int l = 0; l < TESI_BATCH; l++) factor[l] = 1 / cells->space->axis[d].h[cell_of(batch, d, l)];
  cells->contract(size, d, cells->q, cells->q, false, cells->D, values, out);
  for (int64_t i = 0; i < cells->points; i++)
    for (int l = 0; l < TESI_BATCH; l++) out[i * TESI_BATCH + l] *= factor[l];
}

void tesi_cells_integrate(const TesiCells *cells, const TesiBatch *batch, double *values, double *b,
                          double *scratch) {
  const int k = cells->n - 1;
  int size[3] = {cells->q, cells->q, cells->dim == 3 ? cells->q : 1};
  const TesiAxis *axis = cells->space->axis;
  double *from = values, *to = scratch;
  for (int d = cells->dim - 1; d >= 0; d--) {
    cells->contract(size, d, cells->q, cells->n, true, cells->B, from, to);
    size[d] = cells->n;
    double *const swap = from;
    from = to, to = swap;
  }
  b += corner(cells, batch);
  for (int z = 0; z < size[2]; z++)
    for (int y = 0; y < size[1]; y++) {
      double *row = b + ((int64_t)z * axis[1].nodes + y) * axis[0].nodes;
      for (int x = 0; x < size[0]; x++, from += TESI_BATCH)
        for (int l = 0; l < batch->count; l++) row[x + l * k] += from[l];
    }
}
