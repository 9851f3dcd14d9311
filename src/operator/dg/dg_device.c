#include "operator/dg/dg_device.h"
#include <limits.h>
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "kernels/dg_arguments.h"
#include "operator/stokes/stokes_faces.h"

enum { MOST = TESI_MAX_POINTS, ACROSS = 32 /* numbers in x per tile, about; twice as many in 2D */ };

struct TesiDgDevice {
  TesPrecision precision;
  TesiKernel kernel;
  TeskDg arguments;
  double modes[2 * MOST + MOST * MOST]; /* numbers of the precision */
  void *numbers[3], *velocity[3];       /* device */
  int64_t held[3];                      /* numbers of the velocity */
  unsigned threads;
  size_t shared;
  TesiGrid grid;
};

static TesStatus get_kernel(const TesOperator *op, TesiDgVelocity velocity, TesiDgDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = tesi_stokes_of(op)->space;
  TesiProgram *program;
  const int n = space->degree + 1, layers = space->dim == 3 ? n : 1,
            cells = tesi_max(1, (space->dim == 3 ? ACROSS : 2 * ACROSS) / n);
  const double blocks =
      (double)((space->axis[0].cells + cells - 1) / cells) * space->axis[1].cells * space->axis[2].cells;
  TES_CHECK(blocks < INT_MAX, "kernels number at most 2^31 - 1 rows of cells");
  device->grid = (TesiGrid){(unsigned)blocks, 1, 1};
  device->threads = (unsigned)tesi_min(256, (cells * n * layers + 31) / 32 * 32);
  device->shared = (size_t)(2 * (cells * n | 1) * n * layers) * tesi_precision_size(op->precision);
  const TesiProgramDesc desc = {.file = "dg.cu",
                                .real = op->precision,
                                .macros = {{"DIM", space->dim},
                                           {"N", n},
                                           {"CELLS", cells},
                                           {"THREADS", (int)device->threads},
                                           {"VELOCITY", (int)velocity}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_dg", device->shared, &device->kernel));
done:
  return status;
}

TesStatus tesi_dg_device_create(const TesOperator *op, TesiDgVelocity velocity, TesiDgDevice **result) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiDgDevice *device = NULL;
  *result = NULL;
  TES_NEW(&device);
  device->precision = op->precision;
  device->arguments.alpha = s->alpha;
  for (int d = 0; d < 3; d++) {
    device->arguments.cells[d] = s->space->axis[d].cells;
    device->arguments.periodic[d] = s->space->axis[d].periodic;
    if (d >= s->space->dim) continue;
    TES_TRY(tesi_stokes_faces_upload(op, d, &device->numbers[d]));
    device->arguments.numbers[d] = device->numbers[d];
  }
  const int count = tesi_stokes_faces_modes(s->space->degree + 1, device->modes);
  for (int i = 0; i < count && op->precision == TES_SINGLE; i++) {
    const float narrow = (float)device->modes[i];
    memcpy((float *)device->modes + i, &narrow, sizeof narrow);
  }
  TES_TRY(get_kernel(op, velocity, device));
  *result = device;
  device = NULL;
done:
  tesi_dg_device_destroy(ctx, &device);
  return status;
}

void tesi_dg_device_destroy(TesContext *ctx, TesiDgDevice **device) {
  TesiDgDevice *d = *device;
  if (!d) return;
  for (int i = 0; i < 3; i++) tesi_context_device(ctx)->release(ctx, &d->numbers[i]);
  for (int i = 0; i < 3; i++) tesi_context_device(ctx)->release(ctx, &d->velocity[i]);
  tesi_free(ctx, device);
}

TesStatus tesi_dg_device_velocity(TesContext *ctx, const TesSpace *space, TesiDgDevice *device,
                                  const double *const *numbers) {
  TesStatus status = TES_OK;
  bool renewed; /* true only on first use, when nothing is recorded */
  for (int d = 0; d < space->dim; d++) {
    TES_TRY(tesi_upload_over(ctx, numbers[d], (int64_t)TESK_DG_VELOCITY * space->axis[d].cells,
                             device->precision, &device->held[d], &device->velocity[d], &renewed));
    device->arguments.velocity[d] = device->velocity[d];
  }
done:
  return status;
}

TesStatus tesi_dg_device_add(TesContext *ctx, TesiDgDevice *d, const void *b, double sign, const void *x,
                             void *y) {
  int keep = b != NULL;
  float single = (float)sign;
  const void *old = b ? b : y;
  void *arguments[] = {&x,
                       &old,
                       &y,
                       &d->arguments,
                       d->modes,
                       &keep,
                       d->precision == TES_SINGLE ? (void *)&single : (void *)&sign};
  return tesi_kernel_launch(ctx, &d->kernel, d->grid, d->threads, d->shared, arguments);
}
