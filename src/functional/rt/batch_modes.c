/* Batches of element dg: modes by strides, points and widths from the axes of a box. */
#include <math.h>
#include "functional/batch.h"
#include "space/rt.h"

/* Number of the first mode of the first cell, and the scale of each lane: the Legendre polynomials of a cell are the
 * polynomials of the unit cell divided by the root of the cell's volume. */
static int64_t begin(const TesiBatches *b, const TesiBatch *batch, double scale[TESI_BATCH]) {
  const TesiRt *rt = b->rt;
  const int *extent = rt->extent[rt->dim];
  double rest = 1;
  for (int d = 1; d < b->dim; d++) rest *= rt->axis[d].h[batch->at[d]];
  for (int l = 0; l < TESI_BATCH; l++)
    scale[l] = 1 / sqrt(rest * rt->axis[0].h[batch->at[0] + tesi_min(l, batch->count - 1)]);
  const int64_t row = (int64_t)batch->at[2] * (b->dim == 3 ? b->n : 1) * extent[1] + batch->at[1] * b->n;
  return rt->offset[rt->dim] + row * extent[0] + (int64_t)batch->at[0] * b->n;
}

static void dg_read(const TesiBatches *b, const TesiBatch *batch, const double *u, double *local) {
  const int *extent = b->rt->extent[b->dim], nz = b->dim == 3 ? b->n : 1;
  double scale[TESI_BATCH];
  u += begin(b, batch, scale);
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < b->n; y++) {
      const double *row = u + ((int64_t)z * extent[1] + y) * extent[0];
      for (int x = 0; x < b->n; x++)
        for (int l = 0; l < TESI_BATCH; l++)
          *local++ = scale[l] * row[x + tesi_min(l, batch->count - 1) * b->n];
    }
}

static void dg_add(TesiSums *sums, int64_t task, const TesiBatch *batch, const double *local) {
  const TesiBatches *b = sums->batches;
  const int *extent = b->rt->extent[b->dim], nz = b->dim == 3 ? b->n : 1;
  double scale[TESI_BATCH], *values = sums->values + begin(b, batch, scale);
  (void)task;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < b->n; y++) {
      double *row = values + ((int64_t)z * extent[1] + y) * extent[0];
      for (int x = 0; x < b->n; x++, local += TESI_BATCH)
        for (int l = 0; l < batch->count; l++) row[x + l * b->n] += scale[l] * local[l];
    }
}

static int64_t dg_node(const TesiBatches *b, int64_t cell, int p, bool *given) {
  const TesiRt *rt = b->rt;
  int64_t number = rt->offset[rt->dim], stride = 1;
  *given = false;
  for (int d = 0; d < b->dim; d++, p /= b->n) {
    number += (cell % rt->axis[d].cells * b->n + p % b->n) * stride;
    cell /= rt->axis[d].cells;
    stride *= rt->axis[d].modes;
  }
  return number;
}

/* Its axes alone are used: degree 1, no rings, which element q does not have. */
static TesStatus create_axes(const TesSpace *space, TesSpace **axes) {
  static const uint8_t none[6];
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = space->dim};
  for (int d = 0; d < space->dim; d++)
    desc.cells[d] = space->mesh->box[d], desc.coordinates[d] = space->mesh->coordinates[d];
  TES_TRY(tes_mesh_create(ctx, &desc, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = none}, axes));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

TesStatus tesi_batches_take_modes(TesiBatches *b) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TES_TRY(create_axes(b->space, &b->axes));
  b->own = tesi_batch_box;
  b->own.read = dg_read, b->own.add = dg_add, b->own.node = dg_node;
  b->rt = tesi_space_rt(b->space);
  for (int q = 0; q < b->q; q++) tesi_rt_legendre(b->n, 1, b->point[q], b->B + q * b->n, NULL);
done:
  return status;
}
