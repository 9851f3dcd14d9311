#include "operator/transport/upwind_device.h"
#include <math.h>
#include "device/kernel.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "kernels/upwind_arguments.h"
#include "operator/transport/transport_operator.h"

enum { DEGREE = 8, THREADS = 128, MOST_CELLS = 16 };

struct TesiUpwindDevice {
  TesPrecision precision;
  TesiKernel kernel;
  TeskUpwind arguments;
  void *root[3], *velocity, *speed; /* device */
  int64_t velocities, speeds;       /* numbers there */
  unsigned blocks;
  size_t shared;
};

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* to[cells or 1][each] <- the numbers of the lanes of batches, from[each][lane]. */
static void spread(const TesiBatches *b, bool uniform, int64_t number, int64_t each, const double *from,
                   double *to) {
  const TesiBatch batch = b->kind->batch(b, number);
  for (int l = 0; l < (uniform ? 1 : batch.count); l++)
    for (int64_t i = 0; i < each; i++)
      to[(uniform ? 0 : batch.first + l) * each + i] = from[i * TESI_BATCH + l];
}

/* w|J| B in all directions, at the points of cells. */
static TesStatus fill_velocity(TesContext *ctx, TesiTransport *t, TesiUpwindDevice *d) {
  TesStatus status = TES_OK;
  const TesiBatches *b = t->batches;
  const int64_t n = tesi_batches_array(b), each = b->dim * b->points, cells = t->uniform ? 1 : b->cells;
  double *values = NULL, *batch = NULL;
  TES_ALLOC(&values, cells * each);
  TES_ALLOC(&batch, b->dim * n);
  for (int64_t k = 0; k < (t->uniform ? 1 : b->batches); k++) {
    const double *w = t->numbers + k * t->arrays * n, *B = w + n;
    for (int64_t i = 0; i < b->dim * n; i++) batch[i] = w[i % n] * B[i];
    spread(b, t->uniform, k, each, batch, values);
  }
  TES_TRY(tesi_upload_over(ctx, values, cells * each, d->precision, &d->velocities, &d->velocity, &t->renewed));
  d->arguments.velocity = d->velocity;
  d->arguments.velocity_step = t->uniform ? 0 : each;
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &batch);
  return status;
}

static TesStatus fill_speed(TesContext *ctx, TesiTransport *t, TesiUpwindDevice *d) {
  TesStatus status = TES_OK;
  const TesiUpwind *u = &t->upwind;
  const TesiBatches *b = t->batches;
  const int64_t each = 2 * b->dim * u->points, cells = u->uniform ? 1 : b->cells;
  double *values = NULL;
  TES_ALLOC(&values, cells * each);
  for (int64_t k = 0; k < (u->uniform ? 1 : b->batches); k++)
    spread(b, u->uniform, k, each, u->speed + k * each * TESI_BATCH, values);
  TES_TRY(tesi_upload_over(ctx, values, cells * each, d->precision, &d->speeds, &d->speed, &t->renewed));
  d->arguments.speed = d->speed;
  d->arguments.speed_step = u->uniform ? 0 : each;
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tesi_upwind_device_fill(TesContext *ctx, TesiTransport *t, TesiUpwindDevice *d) {
  const TesStatus status = fill_velocity(ctx, t, d);
  return status == TES_OK ? fill_speed(ctx, t, d) : status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static TesStatus fill_arguments(TesContext *ctx, const TesiTransport *t, const TesSpace *space,
                                TesiUpwindDevice *d) {
  TesStatus status = TES_OK;
  TeskUpwind *to = &d->arguments;
  double *root = NULL;
  to->all = (int)t->batches->cells;
  for (int i = 0; i < 3; i++) {
    const TesiAxis *a = &space->axis[i];
    to->cells[i] = a->cells, to->periodic |= a->periodic << i;
    if (i >= space->dim) continue;
    tesi_free(ctx, &root);
    TES_ALLOC(&root, a->cells);
    for (int c = 0; c < a->cells; c++) root[c] = 1 / sqrt(a->h[c]);
    TES_TRY(tesi_upload_numbers(ctx, root, a->cells, d->precision, &d->root[i]));
    to->root[i] = d->root[i];
  }
  for (int i = 0; i < 2 * space->dim; i++)
    to->ends |= (t->upwind.end[i] == TESI_WEAK   ? TESK_UPWIND_GIVEN
                 : t->upwind.end[i] == TESI_OPEN ? TESK_UPWIND_OPEN
                                                 : TESK_UPWIND_CLOSED)
                << (2 * i);
done:
  tesi_free(ctx, &root);
  return status;
}

/* Numbers of shared memory per cell, as in the kernel. */
static int64_t numbers_of(const TesiTransport *t) {
  const TesiBatches *b = t->batches;
  const int64_t faces = 2 * b->dim, work = faces * (t->conservative ? 2 : 1) * t->upwind.points;
  return b->nodes + faces * b->nodes / b->n + 2 * (work > b->points ? work : b->points) + b->points;
}

static TesStatus make_tables(TesContext *ctx, const TesiTransport *t, char **tables) {
  const TesiBatches *b = t->batches;
  double root[TESI_MAX_POINTS];
  tesi_rt_legendre(b->n, 1, 1, root, NULL);
  TesiTableText text = {.context = ctx, .type = "real"};
  tesi_table_text_add(&text, "modal", b->B, b->q * b->n);
  tesi_table_text_add(&text, "slope", b->D, b->q * b->q);
  tesi_table_text_add(&text, "root", root, b->n);
  return tesi_table_text_end(&text, tables);
}

/* A block has as many cells as give each thread a line of points. */
static TesStatus get_kernel(TesContext *ctx, const TesiTransport *t, TesiUpwindDevice *d) {
  TesStatus status = TES_OK;
  const TesiBatches *b = t->batches;
  TesiProgram *program;
  const int cells = tesi_max(1, tesi_min(MOST_CELLS, THREADS / t->upwind.points));
  char *tables = NULL;
  d->blocks = (unsigned)((b->cells + cells - 1) / cells);
  d->shared = (size_t)(cells * numbers_of(t)) * tesi_precision_size(d->precision);
  TES_TRY(make_tables(ctx, t, &tables));
  const TesiProgramDesc desc = {.file = "upwind.cu",
                                .real = d->precision,
                                .macros = {{"DIM", b->dim},
                                           {"N", b->n},
                                           {"Q", b->q},
                                           {"CELLS", cells},
                                           {"THREADS", THREADS},
                                           {"CONSERVATIVE", t->conservative},
                                           {"TESK_CONSTANT_TABLES", 1}},
                                .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_upwind", d->shared, &d->kernel));
done:
  tesi_free(ctx, &tables);
  return status;
}

TesStatus tesi_upwind_device_create(const TesOperator *op, TesiTransport *t, TesiUpwindDevice **result) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiUpwindDevice *d = NULL;
  *result = NULL;
  if (op->space->degree > DEGREE)
    TES_FAIL(TES_MISSING, "transport with element dg has kernels up to degree %d, got %d", DEGREE,
             op->space->degree);
  TES_CHECK(t->batches->cells < INT32_MAX, "kernels number at most 2^31 - 1 cells");
  TES_NEW(&d);
  d->precision = op->precision;
  TES_TRY(fill_arguments(ctx, t, op->space, d));
  TES_TRY(tesi_upwind_device_fill(ctx, t, d));
  TES_TRY(get_kernel(ctx, t, d));
  *result = d;
  d = NULL;
done:
  tesi_upwind_device_destroy(ctx, &d);
  return status;
}

void tesi_upwind_device_destroy(TesContext *ctx, TesiUpwindDevice **device) {
  TesiUpwindDevice *d = *device;
  if (!d) return;
  void **all[] = {&d->root[0], &d->root[1], &d->root[2], &d->velocity, &d->speed};
  for (int i = 0; i < 5; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_free(ctx, device);
}

TesStatus tesi_upwind_device_add(TesContext *ctx, const TesiUpwindDevice *device, double sign, const void *x,
                                 void *y) {
  const TesiUpwindDevice *d = device;
  float single = (float)sign;
  void *arguments[] = {&x, &y, (void *)&d->arguments,
                       d->precision == TES_DOUBLE ? (void *)&sign : (void *)&single};
  return tesi_kernel_launch(ctx, &d->kernel, (TesiGrid){d->blocks, 1, 1}, THREADS, d->shared, arguments);
}

const void *tesi_upwind_device_speed(const TesiUpwindDevice *device, int64_t *step) {
  *step = device->arguments.speed_step;
  return device->speed;
}
