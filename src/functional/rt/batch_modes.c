/* Batches of element dg: modes by strides, points and widths from the axes of a box. */
#include <math.h>
#include "functional/batch.h"
#include "space/space.h"

/* Number of the first mode of the first cell, and the scale of each lane: the Legendre polynomials of a cell are the
 * polynomials of the unit cell divided by the root of the cell's volume. */
static int64_t begin(const TesiBatches *b, const TesiBatch *batch, double scale[TESI_BATCH]) {
  const TesiAxis *axis = b->space->axis;
  double rest = 1;
  for (int d = 1; d < b->dim; d++) rest *= axis[d].h[batch->at[d]];
  for (int l = 0; l < TESI_BATCH; l++)
    scale[l] = 1 / sqrt(rest * axis[0].h[batch->at[0] + tesi_min(l, batch->count - 1)]);
  return tesi_batch_box_corner(b, batch);
}

static void dg_read(const TesiBatches *b, const TesiBatch *batch, const double *u, double *local) {
  const TesiAxis *axis = b->space->axis;
  const int nz = b->dim == 3 ? b->n : 1;
  double scale[TESI_BATCH];
  u += begin(b, batch, scale);
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < b->n; y++) {
      const double *row = u + ((int64_t)z * axis[1].nodes + y) * axis[0].nodes;
      for (int x = 0; x < b->n; x++)
        for (int l = 0; l < TESI_BATCH; l++)
          *local++ = scale[l] * row[x + tesi_min(l, batch->count - 1) * b->n];
    }
}

static void dg_add(TesiSums *sums, int64_t task, const TesiBatch *batch, const double *local) {
  const TesiBatches *b = sums->batches;
  const TesiAxis *axis = b->space->axis;
  const int nz = b->dim == 3 ? b->n : 1;
  double scale[TESI_BATCH], *values = sums->values + begin(b, batch, scale);
  (void)task;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < b->n; y++) {
      double *row = values + ((int64_t)z * axis[1].nodes + y) * axis[0].nodes;
      for (int x = 0; x < b->n; x++, local += TESI_BATCH)
        for (int l = 0; l < batch->count; l++) row[x + l * b->n] += scale[l] * local[l];
    }
}

const TesiBatchKind *tesi_batches_take_modes(TesiBatches *b) {
  b->own = tesi_batch_box;
  b->own.read = dg_read, b->own.add = dg_add;
  for (int q = 0; q < b->q; q++) tesi_rt_legendre(b->n, 1, b->point[q], b->B + q * b->n, NULL);
  return &b->own;
}
