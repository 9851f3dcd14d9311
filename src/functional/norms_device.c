/* Norms of errors by kernels (src/kernels/box_norms.cu, cells_norms.cu). */
#include <math.h>
#include "functional/box_device.h"
#include "functional/cells_device.h"
#include "functional/device_text.h"
#include "functional/functional.h"
#include "parallel/comm.h"

/* squares <- sums of the partial sums that a kernel's blocks have written. list[1] is `partial`. */
static TesStatus sum_parts(TesContext *ctx, const TesiKernel *kernel, int blocks, unsigned threads,
                           size_t shared, void **list, double squares[2]) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *partial = NULL;
  double *parts = NULL;
  TES_ALLOC(&parts, 2 * blocks);
  TES_TRY(device->allocate(ctx, 2 * (size_t)blocks * sizeof(double), &partial));
  list[1] = &partial;
  TES_TRY(tesi_kernel_launch(ctx, kernel, (TesiGrid){(unsigned)blocks, 1, 1}, threads, shared, list));
  TES_TRY(device->to_host(ctx, parts, partial, 2 * (size_t)blocks * sizeof(double)));
  squares[0] = squares[1] = 0;
  for (int i = 0; i < 2 * blocks; i++) squares[i % 2] += parts[i];
done:
  tesi_free(ctx, &parts);
  device->release(ctx, &partial);
  return status;
}

/* squares stay NaN if the host must compute them. */
static TesStatus sum_box(const TesSpace *space, const double *u, const TesFunction *const f[4],
                         double squares[2]) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  TesiKernel kernel;
  char *text = NULL;
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  const TesiBatches *b = box->batches;
  if (5 * b->points * (int64_t)sizeof(double) / 2 > TESI_BOX_SHARED) goto done;
  TES_TRY(tesi_box_text(box, 4, f, &text));
  if (!text) goto done;
  const size_t shared =
      (size_t)(b->q * (2 * b->n + 2) + TESI_BOX_THREADS + b->nodes + 2 * b->points) * sizeof(double);
  const int blocks = (int)(b->cells < TESI_BOX_BLOCKS ? b->cells : TESI_BOX_BLOCKS);
  TeskBox arguments = tesi_box_arguments(box, -1);
  double time = tesi_device_time(4, f);
  TES_TRY(tesi_box_kernel(box, "box_norms.cu", "tesk_norms", text, shared, &kernel));
  TES_TRY(sum_parts(ctx, &kernel, blocks, TESI_BOX_THREADS, shared, (void *[]){&u, NULL, &arguments, &time},
                    squares));
done:
  tesi_free(ctx, &text);
  tesi_box_device_destroy(&box);
  return status;
}

static TesStatus sum_cells(const TesSpace *space, const double *u, const TesFunction *const f[4],
                           double squares[2]) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiCellsDevice *c = NULL;
  TesiKernel kernel;
  char *text = NULL;
  size_t shared;
  TES_TRY(tesi_cells_device_create(space, space->degree + 3, &c));
  if (!c) goto done;
  const TesiBatches *b = c->batches;
  const int64_t numbers = TESI_CELLS_THREADS + b->nodes + (3 + b->dim) * b->points;
  long long cells = b->cells;
  double time = tesi_device_time(4, f);
  TES_TRY(tesi_device_text(ctx, 4, f, 0, &text));
  if (!text) goto done;
  TES_TRY(tesi_cells_kernel(c, "cells_norms.cu", "tesk_norms_cells", text, numbers, &shared, &kernel));
  if (!shared) goto done;
  TES_TRY(sum_parts(ctx, &kernel, (int)tesi_cells_grid(c).x, TESI_CELLS_THREADS, shared,
                    (void *[]){&u, NULL, &c->nodes, &c->index, &c->mask, &c->tables, &cells, &time}, squares));
done:
  tesi_free(ctx, &text);
  tesi_cells_device_destroy(&c);
  return status;
}

TesStatus tesi_error_device(const TesSpace *space, const TesVector *u, const TesFunction *const f[4],
                            double *l2, double *h1, bool *done) {
  double squares[2] = {NAN, NAN};
  const TesStatus status = (tesi_space_box(space) ? sum_box : sum_cells)(space, u->data, f, squares);
  tesi_reduce(space->context, TESI_SUM, 2, squares);
  *done = isfinite(squares[0]) && isfinite(squares[1]);
  if (l2) *l2 = sqrt(squares[0]);
  if (h1) *h1 = sqrt(squares[1]);
  return status;
}
