#include "smoother/flow_patch/flow_patch_device.h"
#include <limits.h>
#include <math.h>
#include "device/kernel.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "kernels/flow_patch_arguments.h"

struct TesiFlowDevice {
  TesPrecision precision;
  TesiKernel kernel;
  TeskFlowPatch arguments;
  void *order, *inverse, *inflow, *enters, *jump[3], *root[3]; /* device */
  unsigned threads;
  size_t shared;
};

/* Square matrices [n][n], each in its own transpose's place. */
static void transpose(double *A, int64_t count, int n) {
  for (; count > 0; count--, A += (int64_t)n * n)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++) {
        const double keep = A[(int64_t)i * n + j];
        A[(int64_t)i * n + j] = A[(int64_t)j * n + i], A[(int64_t)j * n + i] = keep;
      }
}

static TesStatus upload_axis(TesContext *ctx, const TesiFlowPatch *p, int d, TesiFlowDevice *device) {
  TesStatus status = TES_OK;
  const TesiAxis *a = &p->space->axis[d];
  double *root = NULL;
  TES_ALLOC(&root, a->cells);
  for (int c = 0; c < a->cells; c++) root[c] = 1 / sqrt(a->h[c]);
  TES_TRY(tesi_upload_numbers(ctx, root, a->cells, device->precision, &device->root[d]));
  TES_TRY(tesi_upload_numbers(ctx, p->jump[d], 2LL * a->cells * p->n * p->n, device->precision,
                              &device->jump[d]));
  device->arguments.root[d] = device->root[d], device->arguments.jump[d] = device->jump[d];
done:
  tesi_free(ctx, &root);
  return status;
}

TesStatus tesi_flow_device_order(TesContext *ctx, TesiFlowPatch *p) {
  TesStatus status = TES_OK;
  TesiFlowDevice *device = p->device;
  int32_t *order = NULL;
  TES_ALLOC(&order, p->cells);
  for (int64_t i = 0; i < p->cells; i++) order[i] = (int32_t)p->order[i];
  tesi_context_device(ctx)->release(ctx, &device->order);
  TES_TRY(tesi_upload(ctx, order, (size_t)p->cells * sizeof *order, &device->order));
  device->arguments.order = device->order;
done:
  tesi_free(ctx, &order);
  return status;
}

static TesStatus upload(TesContext *ctx, TesiFlowPatch *p, TesiFlowDevice *device) {
  TesStatus status = TES_OK;
  TeskFlowPatch *to = &device->arguments;
  const int64_t faces = p->cells * 2 * p->space->dim, matrix = (int64_t)p->modes * p->modes,
                face = (int64_t)p->across * p->across;
  transpose(p->inverse, p->cells, p->modes);
  transpose(p->inflow, faces, p->across);
  TES_TRY(tesi_flow_device_order(ctx, p));
  TES_TRY(tesi_upload(ctx, p->enters, (size_t)faces * sizeof *p->enters, &device->enters));
  TES_TRY(tesi_upload_numbers(ctx, p->inverse, p->cells * matrix, device->precision, &device->inverse));
  TES_TRY(tesi_upload_numbers(ctx, p->inflow, faces * face, device->precision, &device->inflow));
  for (int d = 0; d < 3; d++) {
    to->cells[d] = p->space->axis[d].cells, to->periodic |= p->space->axis[d].periodic << d;
    if (d < p->space->dim) TES_TRY(upload_axis(ctx, p, d, device));
  }
  to->enters = device->enters;
  to->inverse = device->inverse, to->inflow = device->inflow;
done:
  return status;
}

static TesStatus get_kernel(TesContext *ctx, const TesiFlowPatch *p, TesiFlowDevice *device) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  char *tables = NULL;
  TesiTableText text = {.context = ctx, .type = "real"};
  device->threads = (unsigned)tesi_min(256, (p->modes + 31) / 32 * 32);
  device->shared = (size_t)(p->modes + 4 * p->space->dim * p->across) * tesi_precision_size(device->precision);
  tesi_table_text_add(&text, "root", p->ends[1], p->n);
  TES_TRY(tesi_table_text_end(&text, &tables));
  const TesiProgramDesc desc = {.file = "flow_patch.cu",
                                .real = device->precision,
                                .macros = {{"DIM", p->space->dim},
                                           {"N", p->n},
                                           {"THREADS", (int)device->threads},
                                           {"TESK_CONSTANT_TABLES", 1}},
                                .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_flow_patch", device->shared, &device->kernel));
done:
  tesi_free(ctx, &tables);
  return status;
}

TesStatus tesi_flow_device_create(const TesOperator *op, TesiFlowPatch *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_CHECK(p->cells < INT_MAX, "kernels number at most 2^31 - 1 cells");
  TES_NEW(&p->device);
  p->device->precision = op->precision;
  TES_TRY(upload(ctx, p, p->device));
  TES_TRY(get_kernel(ctx, p, p->device));
  tesi_free(ctx, &p->inverse);
  tesi_free(ctx, &p->inflow);
done:
  return status;
}

void tesi_flow_device_destroy(TesContext *ctx, TesiFlowDevice **device) {
  TesiFlowDevice *d = *device;
  if (!d) return;
  void **all[] = {&d->order,   &d->inverse, &d->inflow,  &d->enters,  &d->jump[0],
                  &d->jump[1], &d->jump[2], &d->root[0], &d->root[1], &d->root[2]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_free(ctx, device);
}

TesStatus tesi_flow_device_layer(TesContext *ctx, const TesiFlowPatch *p, int layer, const void *b, void *x) {
  const TesiFlowDevice *d = p->device;
  int first = (int)p->first[layer];
  void *arguments[] = {&b, &x, (void *)&d->arguments, &first};
  const TesiGrid grid = {(unsigned)(p->first[layer + 1] - first), 1, 1};
  return tesi_kernel_launch(ctx, &d->kernel, grid, d->threads, d->shared, arguments);
}
