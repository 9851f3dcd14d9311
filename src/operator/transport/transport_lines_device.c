/* The kernel of src/kernels/transport_lines.cu. */
#include <stdio.h>
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "operator/transport/transport_lines.h"

enum { TX = 32, THREADS = 256, TASKS = 16 /* rows of 2D tiles, and planes of a block */ };

struct TesiLinesDevice {
  TesiKernel kernel;
  TesiGrid grid;
  size_t shared;
  int planes;
  void *tables; /* device */
};

static int tile_rows(const TesiLines *l) {
  return l->dim == 3 ? THREADS / TX : TASKS;
}

static TesStatus upload_tables(TesContext *ctx, const TesiLines *l, TesPrecision precision,
                               TesiLinesDevice *d) {
  TesStatus status = TES_OK;
  double *tables = NULL, *to;
  int64_t count = 0;
  for (int e = 0; e < l->dim; e++) count += 2 * (int64_t)l->width * l->nodes[e];
  TES_ALLOC(&tables, count);
  to = tables;
  for (int e = 0; e < l->dim; e++) {
    const int64_t n = (int64_t)l->width * l->nodes[e];
    memcpy(to, l->mass[e], (size_t)n * sizeof *to);
    memcpy(to + n, l->slope[e], (size_t)n * sizeof *to);
    to += 2 * n;
  }
  TES_TRY(tesi_upload_numbers(ctx, tables, count, precision, &d->tables));
done:
  tesi_free(ctx, &tables);
  return status;
}

static TesStatus get_kernel(TesContext *ctx, const TesiLines *l, TesPrecision precision, TesiLinesDevice *d) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {
      .file = "transport_lines.cu",
      .real = precision,
      .macros = {{"DIM", l->dim}, {"K", l->degree}, {"TX", TX}, {"TY", tile_rows(l)}, {"THREADS", THREADS}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_transport_lines", d->shared, &d->kernel));
done:
  return status;
}

TesStatus tesi_lines_device_create(TesContext *ctx, const TesiLines *l, TesPrecision precision,
                                   TesiLinesDevice **device) {
  TesStatus status = TES_OK;
  TesiLinesDevice *d;
  const int k = l->degree, rows = tile_rows(l);
  const size_t plane = (size_t)((rows + 2 * k) * (3 * TX + 2 * k)),
               ring = l->dim == 3 ? (size_t)(2 * l->width * TX * rows) : 0;
  TES_NEW(&d);
  *device = d;
  d->planes = TASKS;
  d->grid = (TesiGrid){(unsigned)((l->nodes[0] + TX - 1) / TX), (unsigned)((l->nodes[1] + rows - 1) / rows),
                       l->dim == 3 ? (unsigned)((l->nodes[2] + TASKS - 1) / TASKS) : 1};
  d->shared = (plane + ring) * tesi_precision_size(precision);
  TES_TRY(upload_tables(ctx, l, precision, d));
  TES_TRY(get_kernel(ctx, l, precision, d));
done:
  return status;
}

void tesi_lines_device_destroy(TesContext *ctx, TesiLinesDevice **device) {
  if (!*device) return;
  tesi_context_device(ctx)->release(ctx, &(*device)->tables);
  tesi_free(ctx, device);
}

TesStatus tesi_lines_device_run(TesContext *ctx, const TesiLines *l, const void *x, const void *b, void *y) {
  const TesiLinesDevice *d = l->device;
  int n[3] = {l->nodes[0], l->nodes[1], l->nodes[2]}, planes = d->planes;
  void *arguments[] = {&x, &b, &y, (void *)&d->tables, &n[0], &n[1], &n[2], &planes};
  return tesi_kernel_launch(ctx, &d->kernel, d->grid, THREADS, d->shared, arguments);
}
