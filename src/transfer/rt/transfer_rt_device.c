/* Transfers of Raviart-Thomas spaces as kernels: a launch a direction, x first on the way up and last on the way
 * down. */
#include "device/kernel.h"
#include "space/rt_device.h"
#include "tensor/band_device.h"
#include "transfer/rt/transfer_rt.h"

enum { THREADS = 256, UP = 0, DOWN = 1 };

struct TesiTransferRtDevice {
  TesiKernel kernel;
  TeskRtPass pass[2][3]; /* up and down, in their order */
  void *memory[2][3][2]; /* device: bands by direction; nodes, modes */
  void *work[2];         /* device: between the directions */
};

/* from becomes what it is after direction d. */
static void turn(const TesiRt *to, int d, TeskParts *parts) {
  for (int p = 0; p < to->parts; p++) {
    parts->extent[p][d] = to->extent[p][d];
    const int *e = parts->extent[p];
    parts->offset[p + 1] = parts->offset[p] + (long long)e[0] * e[1] * e[2];
  }
}

static TesStatus fill_passes(const TesTransfer *t, TesiTransferRtDevice *device, int way, int64_t *most) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const TesiTransferRt *plan = t->plan;
  const TesiRt *coarse = tesi_space_rt(t->coarse), *fine = tesi_space_rt(t->fine);
  const int dim = fine->dim;
  TeskParts parts;
  TES_TRY(tesi_rt_parts(ctx, way == UP ? coarse : fine, &parts));
  for (int i = 0; i < dim; i++) {
    TeskRtPass *pass = &device->pass[way][i];
    const int d = way == UP ? i : dim - 1 - i;
    const TesiBand *band = way == UP ? plan->up[d] : plan->down[d];
    void **memory = device->memory[way][d];
    pass->direction = d;
    pass->from = parts;
    turn(way == UP ? fine : coarse, d, &parts);
    pass->to = parts;
    TES_TRY(tesi_band_upload(ctx, &band[TESI_RT_NODES], t->precision, &pass->nodes, &memory[TESI_RT_NODES]));
    TES_TRY(tesi_band_upload(ctx, &band[TESI_RT_MODES], t->precision, &pass->modes, &memory[TESI_RT_MODES]));
    if (i < dim - 1 && parts.offset[fine->parts] > *most) *most = parts.offset[fine->parts];
  }
done:
  return status;
}

TesStatus tesi_transfer_rt_device_create(const TesTransfer *t, TesiTransferRtDevice **result) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  TesiTransferRtDevice *device = NULL;
  TesiProgram *program;
  int64_t most = 0;
  const TesiProgramDesc desc = {.file = "transfer_rt.cu",
                                .options = {t->precision == TES_SINGLE ? "real=float" : "real=double"}};
  *result = NULL;
  TES_NEW(&device);
  TES_TRY(fill_passes(t, device, UP, &most));
  TES_TRY(fill_passes(t, device, DOWN, &most));
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_transfer_rt", 0, &device->kernel));
  for (int i = 0; i < tesi_space_rt(t->fine)->dim - 1; i++)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)most * tesi_precision_size(t->precision),
                                               &device->work[i]));
  *result = device;
  device = NULL;
done:
  tesi_transfer_rt_device_destroy(ctx, &device);
  return status;
}

void tesi_transfer_rt_device_destroy(TesContext *ctx, TesiTransferRtDevice **device) {
  TesiTransferRtDevice *d = *device;
  const TesiDevice *table = tesi_context_device(ctx);
  if (!d) return;
  for (int i = 0; i < 12; i++) table->release(ctx, &d->memory[i / 6][i / 2 % 3][i % 2]);
  for (int i = 0; i < 2; i++) table->release(ctx, &d->work[i]);
  tesi_free(ctx, device);
}

static TesStatus run(const TesTransfer *t, int way, const void *from, bool add, void *to) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  TesiTransferRtDevice *device = ((const TesiTransferRt *)t->plan)->device;
  const int dim = t->fine->dim;
  for (int i = 0; i < dim; i++) {
    TeskRtPass *pass = &device->pass[way][i];
    void *target = i == dim - 1 ? to : device->work[i];
    int keep = i == dim - 1 && add;
    long long most = 0;
    for (int p = 0; p <= dim; p++) {
      const long long size = pass->to.offset[p + 1] - pass->to.offset[p];
      most = size > most ? size : most;
    }
    void *arguments[] = {&from, &target, pass, &keep};
    TES_TRY(tesi_kernel_launch(ctx, &device->kernel,
                               (TesiGrid){(unsigned)((most + THREADS - 1) / THREADS), (unsigned)dim + 1, 1},
                               THREADS, 0, arguments));
    from = target;
  }
done:
  return status;
}

TesStatus tesi_transfer_rt_device_prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  return run(t, UP, coarse, add, fine);
}

TesStatus tesi_transfer_rt_device_restrict(const TesTransfer *t, const void *fine, void *coarse) {
  return run(t, DOWN, fine, false, coarse);
}
