#include "functional/quantity_batches.h"

enum { FIXED = 6 }; /* arrays [points][lane]: coordinates, weights, values, scratch */

TesStatus tesi_quantity_batches_create(const TesiQuantity *q, const TesSpace *space, int material,
                                       TesiPointRule rule, int points, TesiQuantityBatches *batches) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  *batches = (TesiQuantityBatches){.quantity = q, .material = material};
  for (int s = 0; s < q->sources; s++) {
    if (q->source[s].coefficient) continue;
    TES_TRY(tesi_batches_create_values(q->source[s].space, rule, points, q->source[s].part,
                                       q->source[s].nodes, &batches->batches[s]));
  }
  TES_TRY(tesi_batches_create_values(space, rule, points, 0, NULL, &batches->batches[TESI_SOURCES]));
  batches->at = batches->batches[TESI_SOURCES];
done:
  return status;
}

void tesi_quantity_batches_free(TesiQuantityBatches *batches) {
  for (int s = 0; s <= TESI_SOURCES; s++) tesi_batches_destroy(&batches->batches[s]);
}

int64_t tesi_quantity_batches_memory(const TesiQuantityBatches *batches) {
  const TesiBatches *b = batches->at;
  return (FIXED + 9 + 4 * batches->quantity->sources) * tesi_batches_array(b) + tesi_batches_work(b);
}

/* Sets the weights in cells of other materials to zero. */
static void leave_out(const TesiQuantityBatches *batches, const TesiBatch *batch, double *weight) {
  for (int l = 0; batches->material >= 0 && l < batch->count; l++) {
    if (tes_mesh_material(batches->quantity->mesh, batch->first + l) == batches->material) continue;
    for (int64_t p = 0; p < batches->at->points; p++) weight[p * TESI_BATCH + l] = 0;
  }
}

/* values <- a source that is a coefficient. */
static TesStatus coefficient_values(const TesiQuantityBatches *batches, int source, const TesiBatch *batch,
                                    const TesiBatchPoints *at, double *values, double *scratch) {
  const TesFunction *of[TESI_BATCH];
  for (int l = 0; l < TESI_BATCH; l++)
    of[l] = tesi_quantity_coefficient(batches->quantity, source, batch->first + tesi_min(l, batch->count - 1));
  return tesi_batch_values(batches->at, batch, of, at, values, scratch);
}

TesStatus tesi_quantity_batch(const TesiQuantityBatches *batches, const TesiBatch *batch, double *memory,
                              TesiBatchPoints *at, double **values) {
  const TesiQuantity *q = batches->quantity;
  const TesiBatches *b = batches->at;
  const int64_t n = tesi_batches_array(b);
  const int jacobians = b->geometry ? b->dim * b->dim : 0;
  *at = (TesiBatchPoints){.x = {memory, memory + n, memory + 2 * n},
                          .weight = memory + 3 * n,
                          .J = b->geometry ? memory + FIXED * n : NULL};
  double *scratch = memory + 5 * n, *next = memory + (FIXED + jacobians) * n;
  const double *value[TESI_SOURCES], *gradient[TESI_SOURCES][3] = {{NULL}};
  *values = memory + 4 * n;
  b->kind->points(b, batch, true, at, next + 4 * q->sources * n);
  for (int s = 0; s < q->sources; s++, next += 4 * n) {
    double *const slopes[3] = {next + n, next + 2 * n, next + 3 * n};
    value[s] = next;
    if (q->source[s].coefficient) {
      const TesStatus status = coefficient_values(batches, s, batch, at, next, scratch);
      if (status != TES_OK) return status;
      continue;
    }
    tesi_batch_evaluate(batches->batches[s], batch, q->source[s].values, next, scratch);
    if (q->source[s].gradient) tesi_batch_differentiate(batches->batches[s], batch, at, next, slopes);
    for (int d = 0; d < 3; d++) gradient[s][d] = slopes[d];
  }
  leave_out(batches, batch, at->weight);
  tesi_quantity_values(q, n, (const double *const[3]){at->x[0], at->x[1], at->x[2]}, NULL, value,
                       (const double *const(*)[3])gradient, *values);
  return TES_OK;
}
