/* See vtu_values.h. */
#include "io/vtu/vtu_values.h"
#include <string.h>
#include "base/team.h"

enum {
  WORK = 16 /* numbers of tesi_team_threads() a value */,
  MOST = 1 << 22 /* values of all arrays at once */
};

/* The batch of a cell. */
static TesiBatch batch_with(const TesiBatches *b, int64_t cell) {
  if (!b->box) return b->kind->batch(b, cell / TESI_BATCH);
  const int64_t along = b->box->axis[0].cells;
  return b->kind->batch(b, cell / along * b->task_batches + cell % along / TESI_BATCH);
}

/* Some arrays in cells from `begin` on: to[components][nodes] a cell, one array after the other, `cells` each. */
typedef struct Fill {
  const TesiVtuValues *values;
  const TesiVtuExpression *array;
  int arrays;
  int64_t begin, cells;
  double *to;
} Fill;

static void put_lanes(const Fill *f, const TesiBatch *batch, int64_t first, int64_t end, double *const *from) {
  const int64_t nodes = f->values->batches.at->points;
  double *to = f->to;
  for (int i = 0; i < f->arrays; i++) {
    const int components = f->array[i].components;
    for (int64_t cell = first; cell < end; cell++)
      for (int c = 0; c < components; c++) {
        double *at = to + ((cell - f->begin) * components + c) * nodes;
        const double *lane = from[c] + (cell - batch->first);
        for (int64_t p = 0; p < nodes; p++) at[p] = lane[p * TESI_BATCH];
      }
    to += f->cells * components * nodes, from += components;
  }
}

static int components_of(const Fill *f) {
  int sum = 0;
  for (int i = 0; i < f->arrays; i++) sum += f->array[i].components;
  return sum;
}

static void fill_span(const void *data, TesiSpan span) {
  const Fill *f = data;
  const TesiVtuValues *v = f->values;
  double *from[TESI_QUANTITIES];
  for (int64_t cell = f->begin + span.first, end = f->begin + span.end; cell < end;) {
    const TesiBatch batch = batch_with(v->batches.at, cell);
    const int64_t last = batch.first + batch.count < end ? batch.first + batch.count : end;
    /* it cannot fail: coefficients may be infinite */
    (void)tesi_quantity_batch(&v->batches, &batch, f->array->first, components_of(f),
                              v->memory + v->share * span.thread, NULL, from);
    put_lanes(f, &batch, cell, last, from);
    cell = last;
  }
}

static void run(const Fill *f) {
  const TesiVtuValues *v = f->values;
  const int64_t work = f->cells * v->batches.at->points * components_of(f) * WORK;
  tesi_team_for(tesi_team_threads(v->context, work), f->cells, fill_span, f);
}

static TesStatus fill(void *user, int64_t first, int64_t count, double *to) {
  const TesiVtuExpression *a = user;
  run(&(Fill){a->of, a, 1, first, count, to});
  return TES_OK;
}

TesStatus tesi_vtu_values_add(TesiVtuValues *v, const TesMesh *mesh, const char *name, int components,
                              const char *const *of, int fields, const TesiField *field) {
  TesContext *ctx = v->context = mesh->context;
  TesStatus status = TES_OK;
  TES_CHECK(v->quantities + components <= TESI_QUANTITIES, "%d expressions in a file, at most %d",
            v->quantities + components, TESI_QUANTITIES);
  v->array[v->arrays++] = (TesiVtuExpression){v, name, v->quantities, components};
  for (int i = 0; i < components; i++)
    TES_TRY(tesi_quantity_create(mesh, of[i], false, fields, field, &v->quantity[v->quantities++]));
done:
  return status;
}

TesStatus tesi_vtu_values_begin(TesiVtuValues *v, const TesSpace *space, int degree, TesVtuArray *array) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  if (!v->arrays) return TES_OK;
  TES_TRY(tesi_quantity_batches_create(v->quantities, (const TesiQuantity *const *)v->quantity, space, -1,
                                       TESI_LOBATTO, degree + 1, &v->batches));
  v->batches.at->lenient = true;
  v->share = tesi_quantity_batches_memory(&v->batches);
  TES_ALLOC(&v->memory, v->share * tes_context_threads(ctx));
  const int64_t cells = space->mesh->cells, values = cells * v->batches.at->points;
  if (!v->apart && values * v->quantities <= MOST) TES_ALLOC(&v->all, values * v->quantities + 1);
  if (v->all) run(&(Fill){v, v->array, v->arrays, 0, cells, v->all});
  for (int i = 0; i < v->arrays; i++) {
    TesiVtuExpression *a = &v->array[i];
    array[i] = (TesVtuArray){.name = a->name, .components = a->components};
    if (v->all)
      array[i].values = v->all + values * a->first;
    else
      array[i].fill = fill, array[i].user = a;
  }
done:
  return status;
}

void tesi_vtu_values_free(TesiVtuValues *v) {
  if (!v->context) return;
  tesi_free(v->context, &v->memory);
  tesi_free(v->context, &v->all);
  tesi_quantity_batches_free(&v->batches);
  for (int i = 0; i < v->quantities; i++) tesi_quantity_destroy(&v->quantity[i]);
}
