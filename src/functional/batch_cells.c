/* Batches of mapped cells in their order: nodes by their numbers, with interpolation at hanging nodes; points and
 * Jacobians from the cells' polynomials. */
#include <string.h>
#include "functional/batch_faces.h"

enum { CELL_NODES = 16 * 16 * 16 };

static TesiBatch cells_batch(const TesiBatches *b, int64_t number) {
  const int64_t first = number * TESI_BATCH, left = b->cells - first;
  return (TesiBatch){.first = first, .count = left < TESI_BATCH ? (int)left : TESI_BATCH};
}

static void take_cells(const TesiBatch *batch, int32_t cell[TESI_BATCH]) {
  for (int l = 0; l < TESI_BATCH; l++) cell[l] = (int32_t)(batch->first + tesi_min(l, batch->count - 1));
}

static void cells_read(const TesiBatches *b, const TesiBatch *batch, const double *u, double *local) {
  int32_t cell[TESI_BATCH];
  take_cells(batch, cell);
  tesi_cells_read_lanes(b->view, cell, 1, u, local);
}

static void cells_add(TesiSums *sums, int64_t task, const TesiBatch *batch, const double *local) {
  const TesiCellView *s = sums->batches->view;
  const int64_t floor = sums->floor[task];
  int64_t *const at = &sums->at[task];
  double v[CELL_NODES];
  for (int l = 0; l < batch->count; l++) {
    const int64_t cell = batch->first + l;
    const int32_t *index = s->index + cell * s->cell_nodes;
    for (int p = 0; p < s->cell_nodes; p++) v[p] = local[p * TESI_BATCH + l];
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], v);
    for (int p = 0; p < s->cell_nodes; p++) {
      const int32_t node = tesi_cells_node(index[p]);
      if (index[p] < 0 && !sums->given) continue;
      if (node >= floor) {
        sums->values[node] += v[p];
      } else {
        sums->node[*at] = node;
        sums->aside[(*at)++] = v[p];
      }
    }
  }
}

int64_t tesi_batches_work(const TesiBatches *b) {
  return b->geometry ? (b->geometry->cell_nodes + b->dim * b->points) * b->dim * TESI_BATCH : 0;
}

/* work: the nodes of the geometry, then J if the caller does not need it (at->J NULL). */
static void cells_points(const TesiBatches *b, const TesiBatch *batch, bool positions,
                         const TesiBatchPoints *at, double *work) {
  int32_t cell[TESI_BATCH];
  double *J = at->J ? at->J : work + b->geometry->cell_nodes * b->dim * TESI_BATCH;
  (void)positions;
  take_cells(batch, cell);
  tesi_lanes_points(b->geometry, b->lanes, cell, b->q, b->geometry_B, b->geometry_G, work, at->x[0], J);
  b->loops.weigh(b->dim, b->points, J, b->w, at->weight);
  for (int64_t p = 0; batch->count < TESI_BATCH && p < b->points; p++)
    for (int l = batch->count; l < TESI_BATCH; l++) at->weight[p * TESI_BATCH + l] = 0;
}

static void cells_gradient(const TesiBatches *b, const TesiBatch *batch, const TesiBatchPoints *at,
                           double *const gradient[3]) {
  (void)batch;
  b->loops.turn(b->dim, b->points, at->J, gradient);
}

static int64_t cells_node(const TesiBatches *b, int64_t cell, int p, bool *given) {
  const int32_t index = b->view->index[cell * b->view->cell_nodes + p];
  *given = index < 0;
  return tesi_cells_node(index);
}

static void cells_face(const TesiBatches *b, const TesiFaceRule *rule, int64_t cell, int face, double *x,
                       double *weight, double *normal) {
  tesi_face_points(rule, b->geometry, cell, face, x, weight, normal);
}

/* A face on the boundary is part of a face of the parent: its hanging nodes are interpolated from nodes of this
 * face. */
static void cells_constrain(const TesiBatches *b, const TesiFaceRule *rule, int64_t cell, int face,
                            double *local) {
  const TesiCellView *s = b->view;
  double v[CELL_NODES];
  if (!s->mask[cell]) return;
  memset(v, 0, (size_t)s->cell_nodes * sizeof *v);
  for (int i = 0; i < rule->nodes; i++) v[tesi_face_node(s->dim, s->n, face, i)] = local[i];
  tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], v);
  for (int i = 0; i < rule->nodes; i++) local[i] = v[tesi_face_node(s->dim, s->n, face, i)];
}

const TesiBatchKind tesi_batch_cells = {.batch = cells_batch,
                                        .read = cells_read,
                                        .add = cells_add,
                                        .points = cells_points,
                                        .gradient = cells_gradient,
                                        .node = cells_node,
                                        .face = cells_face,
                                        .constrain = cells_constrain};
