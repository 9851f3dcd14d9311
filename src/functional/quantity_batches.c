#include "functional/quantity_batches.h"

enum { FIXED = 5 + 9 }; /* arrays [points][lane]: coordinates, weights, scratch, J */

/* Whether sources of two quantities are one. */
static bool is_same(const TesiQuantity *q, int source, const TesiQuantity *other, int number) {
  return q->source[source].vector == other->source[number].vector &&
         q->source[source].space == other->source[number].space &&
         q->source[source].part == other->source[number].part &&
         q->source[source].coefficient == other->source[number].coefficient &&
         q->source[source].by_material == other->source[number].by_material &&
         q->source[source].rate.is == other->source[number].rate.is;
}

/* The number of a source among the different ones. */
static int add_source(TesiQuantityBatches *batches, const TesiQuantity *q, int source) {
  int i = 0;
  while (i < batches->sources && !is_same(q, source, batches->source[i].quantity, batches->source[i].number))
    i++;
  if (i == batches->sources)
    batches->source[batches->sources++].quantity = q, batches->source[i].number = source;
  return i;
}

TesStatus tesi_quantity_batches_create(int quantities, const TesiQuantity *const *quantity,
                                       const TesSpace *space, int material, TesiPointRule rule, int points,
                                       TesiQuantityBatches *batches) {
  TesStatus status = TES_OK;
  TesContext *ctx = space->context;
  *batches = (TesiQuantityBatches){.quantities = quantities, .material = material};
  for (int i = 0; i < quantities; i++) {
    batches->quantity[i] = quantity[i];
    for (int s = 0; s < quantity[i]->sources; s++)
      batches->source_of[i][s] = add_source(batches, quantity[i], s);
  }
  for (int i = 0; i < batches->sources; i++) {
    const TesiQuantity *q = batches->source[i].quantity;
    const int s = batches->source[i].number;
    if (q->source[s].coefficient) continue;
    TES_TRY(tesi_batches_create_values(q->source[s].space, rule, points, q->source[s].part,
                                       q->source[s].nodes, &batches->source[i].batches));
  }
  TES_TRY(tesi_batches_create_values(space, rule, points, 0, NULL, &batches->at));
done:
  return status;
}

void tesi_quantity_batches_free(TesiQuantityBatches *batches) {
  for (int i = 0; i < batches->sources; i++) tesi_batches_destroy(&batches->source[i].batches);
  tesi_batches_destroy(&batches->at);
}

int64_t tesi_quantity_batches_memory(const TesiQuantityBatches *batches) {
  const TesiBatches *b = batches->at;
  return (FIXED + batches->quantities + 4 * batches->sources) * tesi_batches_array(b) + tesi_batches_work(b);
}

/* Sets the weights in cells of other materials to zero. */
static void leave_out(const TesiQuantityBatches *batches, const TesiBatch *batch, double *weight) {
  for (int l = 0; batches->material >= 0 && l < batch->count; l++) {
    if (tes_mesh_material(batches->quantity[0]->mesh, batch->first + l) == batches->material) continue;
    for (int64_t p = 0; p < batches->at->points; p++) weight[p * TESI_BATCH + l] = 0;
  }
}

/* values <- a source that is a coefficient. */
static TesStatus coefficient_values(const TesiQuantityBatches *batches, int source, const TesiBatch *batch,
                                    const TesiBatchPoints *at, double *values, double *scratch) {
  const TesFunction *of[TESI_BATCH];
  for (int l = 0; l < TESI_BATCH; l++)
    of[l] = tesi_quantity_coefficient(batches->source[source].quantity, batches->source[source].number,
                                      batch->first + tesi_min(l, batch->count - 1));
  return tesi_batch_values(batches->at, batch, of, at, values, scratch);
}

/* A source: its values, and its gradient behind them where it is needed, to[4][points]. */
static TesStatus evaluate(const TesiQuantityBatches *batches, int source, bool gradient,
                          const TesiBatch *batch, const TesiBatchPoints *at, double *to, double *scratch) {
  const TesiBatches *b = batches->source[source].batches;
  const TesiQuantity *q = batches->source[source].quantity;
  const int64_t n = tesi_batches_array(batches->at);
  if (!b) return coefficient_values(batches, source, batch, at, to, scratch);
  tesi_batch_evaluate(b, batch, q->source[batches->source[source].number].values, to, scratch);
  if (gradient)
    tesi_batch_differentiate(b, batch, at, to, (double *const[3]){to + n, to + 2 * n, to + 3 * n});
  return TES_OK;
}

/* values[points] <- a quantity, from its sources. */
static void combine(const TesiQuantityBatches *batches, int quantity, const TesiBatchPoints *at,
                    const double *sources, double *values) {
  const TesiQuantity *q = batches->quantity[quantity];
  const int64_t n = tesi_batches_array(batches->at);
  const double *value[TESI_SOURCES], *gradient[TESI_SOURCES][3];
  for (int s = 0; s < q->sources; s++) {
    value[s] = sources + 4 * n * batches->source_of[quantity][s];
    for (int d = 0; d < 3; d++) gradient[s][d] = value[s] + (1 + d) * n;
  }
  tesi_quantity_values(q, n, (const double *const[3]){at->x[0], at->x[1], at->x[2]}, NULL, value,
                       (const double *const(*)[3])gradient, values);
}

/* What some quantities need of the sources. */
typedef struct Need {
  bool value, gradient;
} Need;

/* Returns whether they need points. */
static bool find_needs(const TesiQuantityBatches *batches, int first, int count, Need *need) {
  bool points = false;
  for (int i = first; i < first + count; i++) {
    points = points || !batches->quantity[i]->plain || batches->quantity[i]->source[0].coefficient;
    for (int s = 0; s < batches->quantity[i]->sources; s++) {
      Need *of = &need[batches->source_of[i][s]];
      of->value = true;
      of->gradient = of->gradient || batches->quantity[i]->source[s].gradient;
    }
  }
  return points;
}

TesStatus tesi_quantity_batch(const TesiQuantityBatches *batches, const TesiBatch *batch, int first,
                              int count, double *memory, TesiBatchPoints *at, double **values) {
  const TesiBatches *b = batches->at;
  const int64_t n = tesi_batches_array(b);
  Need need[TESI_QUANTITIES * TESI_SOURCES] = {{false}};
  TesStatus status = TES_OK;
  const TesiBatchPoints points = {.x = {memory, memory + n, memory + 2 * n},
                                  .weight = memory + 3 * n,
                                  .J = b->geometry ? memory + 5 * n : NULL};
  double *scratch = memory + 4 * n, *sources = memory + (FIXED + batches->quantities) * n;
  if (find_needs(batches, first, count, need) || at)
    b->kind->points(b, batch, true, &points, sources + 4 * batches->sources * n);
  for (int s = 0; s < batches->sources && status == TES_OK; s++)
    if (need[s].value)
      status = evaluate(batches, s, need[s].gradient, batch, &points, sources + 4 * s * n, scratch);
  if (at) leave_out(batches, batch, points.weight);
  if (at) *at = points;
  for (int i = 0; i < count; i++) {
    const bool plain = batches->quantity[first + i]->plain && !at;
    values[i] = plain ? sources + 4 * n * batches->source_of[first + i][0] : memory + (FIXED + first + i) * n;
    if (status == TES_OK && !plain) combine(batches, first + i, &points, sources, values[i]);
  }
  return status;
}
