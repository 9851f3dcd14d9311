/* Batches along the rows of a box: nodes by strides, points and widths from the axes. Nothing is stored per cell. */
#include "functional/batch_faces.h"

static TesiBatch box_batch(const TesiBatches *b, int64_t number) {
  const TesiAxis *axis = b->box->axis;
  const int64_t row = number / b->task_batches;
  const int x = (int)(number % b->task_batches) * TESI_BATCH;
  return (TesiBatch){.first = row * axis[0].cells + x,
                     .count = tesi_min(TESI_BATCH, axis[0].cells - x),
                     .at = {x, (int)(row % axis[1].cells), (int)(row / axis[1].cells)}};
}

/* Coordinates (0) and weights (1 where the direction does not exist) of one direction: [point][lane]. */
static int set_line(const TesiBatches *b, const TesiBatch *batch, int d, double (*x)[TESI_BATCH],
                    double (*w)[TESI_BATCH]) {
  const TesiAxis *axis = &b->box->axis[d];
  const int q = d < b->dim ? b->q : 1;
  for (int i = 0; i < q; i++)
    for (int l = 0; l < TESI_BATCH; l++) {
      const int cell = tesi_batch_cell(batch, d, l);
      x[i][l] = d < b->dim ? axis->vertices[cell] + axis->h[cell] * b->point[i] : 0;
      w[i][l] = d < b->dim ? axis->h[cell] * b->weight[i] : 1;
      if (d == 0 && l >= batch->count) w[i][l] = 0;
    }
  return q;
}

static void box_points(const TesiBatches *b, const TesiBatch *batch, bool positions,
                       const TesiBatchPoints *to, double *work) {
  double at[3][TESI_MAX_POINTS][TESI_BATCH], weight[3][TESI_MAX_POINTS][TESI_BATCH];
  double *x = to->x[0], *y = to->x[1], *z = to->x[2], *w = to->weight;
  int q[3];
  (void)work;
  for (int d = 0; d < 3; d++) q[d] = set_line(b, batch, d, at[d], weight[d]);
  for (int k = 0; k < q[2]; k++)
    for (int j = 0; j < q[1]; j++)
      for (int i = 0; i < q[0]; i++)
        for (int l = 0; l < TESI_BATCH; l++) *w++ = weight[0][i][l] * weight[1][j][l] * weight[2][k][l];
  for (int k = 0; positions && k < q[2]; k++)
    for (int j = 0; j < q[1]; j++)
      for (int i = 0; i < q[0]; i++)
        for (int l = 0; l < TESI_BATCH; l++) *x++ = at[0][i][l], *y++ = at[1][j][l], *z++ = at[2][k][l];
}

int64_t tesi_batch_box_corner(const TesiBatches *b, const TesiBatch *batch) {
  const TesiAxis *axis = b->box->axis;
  const int64_t row = (int64_t)batch->at[2] * axis[2].step * axis[1].nodes + batch->at[1] * axis[1].step;
  return row * axis[0].nodes + (int64_t)batch->at[0] * axis[0].step;
}

static void box_read(const TesiBatches *b, const TesiBatch *batch, const double *u, double *local) {
  const int k = b->n - 1, nz = b->dim == 3 ? b->n : 1;
  const TesiAxis *axis = b->box->axis;
  u += tesi_batch_box_corner(b, batch);
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < b->n; y++) {
      const double *row = u + ((int64_t)z * axis[1].nodes + y) * axis[0].nodes;
      for (int x = 0; x < b->n; x++)
        for (int l = 0; l < TESI_BATCH; l++) *local++ = row[x + tesi_min(l, batch->count - 1) * k];
    }
}

/* Given nodes get sums too; tesi_sums_finish() clears them. */
static void box_add(TesiSums *sums, int64_t task, const TesiBatch *batch, const double *local) {
  const TesiBatches *b = sums->batches;
  const int k = b->n - 1, nz = b->dim == 3 ? b->n : 1;
  const TesiAxis *axis = b->box->axis;
  double *values = sums->values + tesi_batch_box_corner(b, batch);
  (void)task;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < b->n; y++) {
      double *row = values + ((int64_t)z * axis[1].nodes + y) * axis[0].nodes;
      for (int x = 0; x < b->n; x++, local += TESI_BATCH)
        for (int l = 0; l < batch->count; l++) row[x + l * k] += local[l];
    }
}

static void box_gradient(const TesiBatches *b, const TesiBatch *batch, const TesiBatchPoints *at,
                         double *const gradient[3]) {
  double factor[TESI_BATCH];
  (void)at;
  for (int d = 0; d < b->dim; d++) {
    for (int l = 0; l < TESI_BATCH; l++) factor[l] = 1 / b->box->axis[d].h[tesi_batch_cell(batch, d, l)];
    for (int64_t i = 0; i < b->points; i++)
      for (int l = 0; l < TESI_BATCH; l++) gradient[d][i * TESI_BATCH + l] *= factor[l];
  }
}

static int64_t box_node(const TesiBatches *b, int64_t cell, int p, bool *given) {
  const TesiAxis *axis = b->box->axis;
  int64_t node = 0, stride = 1;
  *given = false;
  for (int d = 0; d < b->dim; d++, p /= b->n) {
    const int i = (int)(cell % axis[d].cells) * axis[d].step + p % b->n;
    cell /= axis[d].cells;
    *given = *given || i < tesi_axis_first(&axis[d]) || i >= tesi_axis_end(&axis[d]);
    node += i * stride;
    stride *= axis[d].nodes;
  }
  return node;
}

static void box_face(const TesiBatches *b, const TesiFaceRule *rule, int64_t cell, int face, double *x,
                     double *weight, double *normal) {
  const TesiAxis *axis = b->box->axis;
  int stride = 1;
  for (int p = 0; p < rule->points; p++) weight[p] = 1, x[2 * rule->points + p] = 0;
  for (int p = 0; normal && p < 3 * rule->points; p++)
    normal[p] = p / rule->points != face / 2 ? 0 : face % 2 ? 1 : -1;
  for (int d = 0; d < b->dim; d++) {
    const int c = (int)(cell % axis[d].cells);
    double *at = x + d * rule->points;
    cell /= axis[d].cells;
    for (int p = 0; p < rule->points; p++) {
      const int i = p / stride % rule->q;
      at[p] = d == face / 2 ? axis[d].vertices[face % 2 ? axis[d].cells : 0]
                            : axis[d].vertices[c] + axis[d].h[c] * rule->point[i];
      if (d != face / 2) weight[p] *= axis[d].h[c] * rule->weight[i];
    }
    if (d != face / 2) stride *= rule->q;
  }
}

const TesiBatchKind tesi_batch_box = {.batch = box_batch,
                                      .read = box_read,
                                      .add = box_add,
                                      .points = box_points,
                                      .gradient = box_gradient,
                                      .node = box_node,
                                      .face = box_face};
