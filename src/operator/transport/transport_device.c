#include "operator/transport/transport_device.h"
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "operator/mapped/mapped.h"
#include "operator/transport/transport_operator.h"

enum { THREADS = 128, DEGREE = 8 };

struct TesiTransportDevice {
  TesiKernel kernel;
  TesPrecision precision;
  int64_t cells, stride; /* numbers from one cell to the next; 0: all cells have the same numbers */
  int64_t held;          /* numbers in all */
  int each;              /* cells per block */
  size_t shared;
  int colours;                                   /* 1: all at once, by atomics */
  int64_t *first;                                /* of a colour; NULL: one colour */
  void *order, *index, *mask, *numbers, *tables; /* device */
};

/* numbers[cells or 1][arrays][points], from batches of lanes. */
TesStatus tesi_transport_device_fill(TesContext *ctx, TesiTransport *t, TesiTransportDevice *d) {
  TesStatus status = TES_OK;
  const TesiBatches *b = t->batches;
  const int64_t each = t->arrays * b->points, cells = t->uniform ? 1 : b->cells;
  double *values = NULL;
  TES_ALLOC(&values, cells * each);
  for (int64_t k = 0; k < (t->uniform ? 1 : b->batches); k++) {
    const TesiBatch batch = b->kind->batch(b, k);
    const double *from = t->numbers + k * each * TESI_BATCH;
    for (int l = 0; l < (t->uniform ? 1 : batch.count); l++)
      for (int64_t i = 0; i < each; i++)
        values[(t->uniform ? 0 : batch.first + l) * each + i] = from[i * TESI_BATCH + l];
  }
  TES_TRY(tesi_upload_over(ctx, values, cells * each, d->precision, &d->held, &d->numbers, &t->renewed));
  d->stride = t->uniform ? 0 : each;
done:
  tesi_free(ctx, &values);
  return status;
}

static TesStatus upload_tables(TesContext *ctx, const TesiTransport *t, const TesiCellView *view,
                               TesiTransportDevice *d) {
  const TesiBatches *b = t->batches;
  const int n = b->n, q = b->q, count = q * n + q * q + 2 * n * n;
  double tables[4 * (DEGREE + 3) * (DEGREE + 3)];
  memcpy(tables, b->B, (size_t)(q * n) * sizeof *tables);
  memcpy(tables + q * n, b->D, (size_t)(q * q) * sizeof *tables);
  memcpy(tables + q * n + q * q, view->halves, (size_t)(2 * n * n) * sizeof *tables);
  d->each = (int)(THREADS / b->points > 0 ? THREADS / b->points : 1);
  d->shared = ((size_t)count + (size_t)(d->each * b->points) * (size_t)(2 + b->dim)) *
              tesi_precision_size(d->precision);
  return tesi_upload_numbers(ctx, tables, count, d->precision, &d->tables);
}

static TesStatus upload_cells(TesContext *ctx, const TesiCellView *view, TesiTransportDevice *d) {
  TesStatus status = TES_OK;
  int32_t *order = NULL;
  d->cells = view->cells;
  d->colours = 1;
  TES_TRY(tesi_upload(ctx, view->index, (size_t)(view->cells * view->cell_nodes) * sizeof *view->index,
                      &d->index));
  TES_TRY(tesi_upload(ctx, view->mask, (size_t)view->cells * sizeof *view->mask, &d->mask));
  if (!tesi_context_deterministic(ctx)) goto done;
  TES_TRY(tesi_colour_cells(ctx, view->cells, view->cell_nodes, view->index, view->length, &d->colours,
                            &d->first, &order));
  TES_TRY(tesi_upload(ctx, order, (size_t)view->cells * sizeof *order, &d->order));
done:
  tesi_free(ctx, &order);
  return status;
}

static TesStatus get_kernel(TesContext *ctx, const TesiTransport *t, TesiTransportDevice *d) {
  TesStatus status = TES_OK;
  const TesiBatches *b = t->batches;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "transport.cu",
                                .real = d->precision,
                                .macros = {{"DIM", b->dim},
                                           {"N", b->n},
                                           {"Q", b->q},
                                           {"CELLS", d->each},
                                           {"STREAMLINE", t->streamline},
                                           {"CONSERVATIVE", t->conservative}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_transport", d->shared, &d->kernel));
done:
  return status;
}

TesStatus tesi_transport_device_create(const TesOperator *op, TesiTransport *t, TesiTransportDevice **device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiCellView *view;
  TesiTransportDevice *d;
  if (op->space->degree > DEGREE)
    TES_FAIL(TES_MISSING, "transport has kernels up to degree %d, got %d", DEGREE, op->space->degree);
  TES_TRY(tesi_space_cells(op->space, &view));
  TES_NEW(&d);
  *device = d;
  d->precision = op->precision;
  TES_TRY(upload_tables(ctx, t, view, d));
  TES_TRY(upload_cells(ctx, view, d));
  TES_TRY(tesi_transport_device_fill(ctx, t, d));
  TES_TRY(get_kernel(ctx, t, d));
done:
  return status;
}

void tesi_transport_device_destroy(TesContext *ctx, TesiTransportDevice **device) {
  TesiTransportDevice *d = *device;
  if (!d) return;
  void **all[] = {&d->order, &d->index, &d->mask, &d->numbers, &d->tables};
  for (int i = 0; i < 5; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_free(ctx, &d->first);
  tesi_free(ctx, device);
}

TesStatus tesi_transport_device_add(TesContext *ctx, const TesiTransportDevice *device, bool mass, bool every,
                                    double sign, const void *x, void *y) {
  const TesiTransportDevice *d = device;
  TesStatus status = TES_OK;
  float single = (float)sign;
  int of_mass = mass, of_every = every;
  for (int c = 0; c < d->colours; c++) {
    long long first = d->first ? d->first[c] : 0, count = (d->first ? d->first[c + 1] : d->cells) - first,
              stride = d->stride;
    void *arguments[] = {&x,
                         &y,
                         (void *)&d->order,
                         (void *)&d->index,
                         (void *)&d->mask,
                         (void *)&d->numbers,
                         (void *)&d->tables,
                         &first,
                         &count,
                         &stride,
                         &of_mass,
                         &of_every,
                         d->precision == TES_DOUBLE ? (void *)&sign : (void *)&single};
    const TesiGrid grid = {(unsigned)((count + d->each - 1) / d->each), 1, 1};
    TES_TRY(tesi_kernel_launch(ctx, &d->kernel, grid, THREADS, d->shared, arguments));
  }
done:
  return status;
}
