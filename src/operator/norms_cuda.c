/* Norms of errors by kernels (src/kernels/box_norms.cu). */
#include <math.h>
#include "device/vector.h"
#include "operator/box_device.h"

static TesStatus sum(const TesiBoxDevice *box, const char *text, const double *u, double squares[2]) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiCells *c = &box->cells;
  TeskBox arguments = tesi_box_arguments(box, -1);
  TesiKernel kernel;
  void *partial = NULL;
  double *parts = NULL;
  const int64_t cells = (int64_t)arguments.cells[0] * arguments.cells[1] * arguments.cells[2];
  const int blocks = (int)(cells < TESI_BOX_BLOCKS ? cells : TESI_BOX_BLOCKS);
  const size_t shared =
      (size_t)(c->q * (2 * c->n + 2) + TESI_BOX_THREADS + c->nodes + 2 * c->points) * sizeof(double);
  void *list[] = {&u, &partial, &arguments};
  TES_ALLOC(&parts, 2 * blocks);
  TES_TRY(device->allocate(ctx, 2 * (size_t)blocks * sizeof(double), &partial));
  TES_TRY(tesi_box_kernel(box, "box_norms.cu", "tesk_norms", text, shared, &kernel));
  TES_TRY(
      tesi_kernel_launch(ctx, &kernel, (TesiGrid){(unsigned)blocks, 1, 1}, TESI_BOX_THREADS, shared, list));
  TES_TRY(device->to_host(ctx, parts, partial, 2 * (size_t)blocks * sizeof(double)));
  squares[0] = squares[1] = 0;
  for (int i = 0; i < 2 * blocks; i++) squares[i % 2] += parts[i];
done:
  tesi_free(ctx, &parts);
  device->release(ctx, &partial);
  return status;
}

TesStatus tesi_norms_error_device(const TesSpace *space, const TesVector *u, const TesFunction *const f[4],
                                  double *l2, double *h1, bool *done) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  char *text = NULL;
  double squares[2];
  *done = false;
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  if (5 * box->cells.points * (int64_t)sizeof(double) / 2 > TESI_BOX_SHARED) goto done;
  TES_TRY(tesi_box_text(box, 4, f, &text));
  if (!text) goto done;
  TES_TRY(sum(box, text, u->data, squares));
  *done = isfinite(squares[0]) && isfinite(squares[1]);
  *l2 = sqrt(squares[0]);
  *h1 = sqrt(squares[1]);
done:
  tesi_free(ctx, &text);
  tesi_box_device_destroy(&box);
  return status;
}
