#include "operator/iso/iso_device.h"
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "kernels/iso_arguments.h"

enum { WIDE = 32, HIGH = 8, BLOCK = 128, WHOLE = 256 /* threads, as in iso.cu */, MOST_SHARED = 64 << 10 };

struct TesiIsoDevice {
  TesContext *context;
  TesiKernel momentum, halve, divergence, pressure, embed;
  TeskIso arguments;
  void *numbers[6];
  unsigned threads;
  size_t shared;
  int rows; /* of the pressure in a block of the divergence */
  size_t of_rows;
};

static TesStatus upload(TesiIsoDevice *self, int length, double *const *array, int count, int at,
                        const double **address) {
  TesContext *ctx = self->context;
  TesStatus status = TES_OK;
  double *numbers = NULL;
  TES_ALLOC(&numbers, count * length);
  for (int j = 0; j < count; j++) memcpy(numbers + j * length, array[j], (size_t)length * sizeof *numbers);
  TES_TRY(tesi_upload(ctx, numbers, (size_t)(count * length) * sizeof *numbers, &self->numbers[at]));
  *address = self->numbers[at];
done:
  tesi_free(ctx, &numbers);
  return status;
}

static TesStatus upload_axis(TesiIsoDevice *self, const TesiIso *iso, int d) {
  const TesiIsoAxis *a = &iso->axis[d];
  double *const fine[] = {a->M[0], a->M[1], a->M[2], a->K[0], a->K[1],
                          a->K[2], a->C[0], a->C[1], a->C[2], a->divided};
  double *const coarse[] = {a->RM[0], a->RM[1], a->RM[2], a->RM[3], a->RM[4],         a->RC[0],
                            a->RC[1], a->RC[2], a->RC[3], a->RC[4], a->coarse_divided};
  TeskIso *to = &self->arguments;
  to->fine[d] = a->fine, to->coarse[d] = a->coarse;
  const TesStatus status = upload(self, a->fine, fine, TESK_ISO_FINE, d, &to->of_fine[d]);
  return status ? status : upload(self, a->coarse, coarse, TESK_ISO_COARSE, 3 + d, &to->of_coarse[d]);
}

/* Shared memory of a block of the divergence. */
static size_t of_rows(const TesiIso *iso, int rows) {
  return sizeof(double) * (size_t)((iso->dim * (2 * rows + 3) + 2 * rows) * iso->axis[0].fine);
}

/* Tiles of about WIDE x HIGH nodes, as few as possible and equally wide; chunks of at least 8 planes. There are at
 * most two blocks per multiprocessor, which runs two at a time. */
static void cut(TesiIsoDevice *self, const TesiIso *iso) {
  TeskIso *a = &self->arguments;
  const int nx = iso->axis[0].fine, ny = iso->axis[1].fine, nz = iso->axis[2].fine;
  a->tiles[0] = tesi_max((nx + WIDE / 2) / WIDE, 1);
  a->tile[0] = (nx + a->tiles[0] - 1) / a->tiles[0];
  a->tile[1] = HIGH;
  a->tiles[1] = (ny + HIGH - 1) / HIGH;
  const int wanted = 2 * tesi_kernel_multiprocessors(self->context), across = a->tiles[0] * a->tiles[1];
  const int chunks = tesi_max(tesi_min(wanted / across, nz / 8), 1);
  a->planes = (nz + chunks - 1) / chunks;
  self->threads = (unsigned)(a->tile[0] * (a->tile[1] + 2));
  const int around = (a->tile[0] + 2) * (a->tile[1] + 2),
            pressures = (a->tile[0] / 2 + 3) * (a->tile[1] / 2 + 3);
  self->shared = sizeof(double) * (size_t)(2 * iso->dim * around + pressures +
                                           4 * iso->dim * a->tile[0] * (a->tile[1] + 2)); /* iso.cu */
  self->rows = tesi_min(6, iso->axis[1].coarse);
  while (self->rows > 1 && of_rows(iso, self->rows) > MOST_SHARED) self->rows--;
  self->of_rows = of_rows(iso, self->rows);
}

TesStatus tesi_iso_device_create(const TesiIso *iso, TesiIsoDevice **device) {
  TesContext *ctx = iso->context;
  TesStatus status = TES_OK;
  TesiIsoDevice *self = NULL;
  TesiProgram *program;
  *device = NULL;
  TES_NEW(&self);
  self->context = tesi_context_retain(ctx);
  self->arguments.nodes = iso->nodes, self->arguments.pressures = iso->pressures;
  for (int f = 0; f < 6; f++) self->arguments.given[f] = iso->given[f];
  for (int d = 0; d < 3; d++) TES_TRY(upload_axis(self, iso, d));
  cut(self, iso);
  const TesiProgramDesc desc = {.file = "iso.cu",
                                .macros = {{"DIM", iso->dim}, {"THREADS", (int)self->threads}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_iso_momentum", self->shared, &self->momentum));
  if (iso->cut[0] || iso->cut[1]) TES_TRY(tesi_kernel_get(ctx, program, "tesk_iso_halve", 0, &self->halve));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_iso_divergence", self->of_rows, &self->divergence));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_iso_pressure", 0, &self->pressure));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_iso_embed", 0, &self->embed));
  *device = self;
  self = NULL;
done:
  tesi_iso_device_destroy(&self);
  return status;
}

void tesi_iso_device_destroy(TesiIsoDevice **device) {
  if (!device || !*device) return;
  TesiIsoDevice *self = *device;
  TesContext *ctx = self->context;
  *device = NULL;
  for (int j = 0; j < 6; j++) tesi_context_device(ctx)->release(ctx, &self->numbers[j]);
  tesi_free(ctx, &self);
  tes_context_destroy(&ctx);
}

/* At cuts: see iso.c. */
static TesStatus halve(TesiIsoDevice *device, const TesiIso *iso, const TesiIsoStep *step) {
  TesStatus status = TES_OK;
  double k = step->k;
  const void *load = step->load ? step->load->data : NULL;
  long long count = iso->nodes / iso->axis[iso->dim - 1].fine;
  for (int end = 0; end < 2 && status == TES_OK; end++) {
    long long first = tesi_iso_end_node(iso, end, 0);
    void *arguments[] = {
        (void *)&step->u->data, (void *)&step->given->data, &load, &step->next->data, &k, &first, &count,
        &device->arguments};
    const TesiGrid grid = {(unsigned)((count + BLOCK - 1) / BLOCK), 1, 1};
    if (iso->cut[end])
      status = tesi_kernel_launch(device->context, &device->halve, grid, BLOCK, 0, arguments);
  }
  return status;
}

TesStatus tesi_iso_device_momentum(TesiIsoDevice *device, const TesiIso *iso, const TesiIsoStep *step) {
  TeskIso *a = &device->arguments;
  double k = step->k, nu = step->nu;
  const void *load = step->load ? step->load->data : NULL;
  void *arguments[] = {(void *)&step->u->data,
                       (void *)&step->s->data,
                       (void *)&step->given->data,
                       &load,
                       &step->next->data,
                       &k,
                       &nu,
                       a};
  const int chunks = (iso->axis[2].fine + a->planes - 1) / a->planes;
  const TesStatus status =
      tesi_kernel_launch(device->context, &device->momentum,
                         (TesiGrid){(unsigned)(a->tiles[0] * a->tiles[1]), (unsigned)chunks, 1},
                         device->threads, device->shared, arguments);
  return status == TES_OK ? halve(device, iso, step) : status;
}

static TesStatus over_pressures(TesiIsoDevice *device, const TesiKernel *kernel, void **arguments) {
  const TesiGrid grid = {(unsigned)((device->arguments.pressures + BLOCK - 1) / BLOCK), 1, 1};
  return tesi_kernel_launch(device->context, kernel, grid, BLOCK, 0, arguments);
}

TesStatus tesi_iso_device_divergence(TesiIsoDevice *device, const TesiIso *iso, double scale,
                                     const TesVector *u, TesVector *b) {
  void *arguments[] = {(void *)&u->data, &b->data, &scale, &device->rows, &device->arguments};
  const TesiGrid grid = {(unsigned)((iso->axis[1].coarse + device->rows - 1) / device->rows),
                         (unsigned)iso->axis[2].coarse, 1};
  return tesi_kernel_launch(device->context, &device->divergence, grid, WHOLE, device->of_rows, arguments);
}

TesStatus tesi_iso_device_pressure(TesiIsoDevice *device, const TesiIso *iso, double rate, const TesVector *q,
                                   const TesVector *b, TesVector *p, TesVector *s) {
  (void)iso;
  void *arguments[] = {(void *)&q->data, (void *)&b->data, &p->data, &s->data, &rate, &device->arguments};
  return over_pressures(device, &device->pressure, arguments);
}

TesStatus tesi_iso_device_embed(TesiIsoDevice *device, const TesVector *s, TesVector *w) {
  void *arguments[] = {(void *)&s->data, &w->data, &device->arguments};
  const TesiGrid grid = {(unsigned)((device->arguments.nodes + BLOCK - 1) / BLOCK), 1, 1};
  return tesi_kernel_launch(device->context, &device->embed, grid, BLOCK, 0, arguments);
}
