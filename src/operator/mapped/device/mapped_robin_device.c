#include "operator/mapped/device/mapped_robin_device.h"
#include <stdio.h>
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"

enum { THREADS = 128 };

struct TesiRobinKernel {
  TesiKernel kernel, columns;
  TesPrecision precision;
  int64_t faces;
  size_t shared;
  void *face, *index, *mask, *weight, *tables; /* device */
};

static TesStatus upload_tables(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel *k) {
  const TesiFaceRule *rule = desc->rule;
  const int n = rule->n, q = rule->q;
  double tables[TESI_FACE_POINTS * TESI_HANGING_NODES + 2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  memcpy(tables, rule->B, (size_t)(q * n) * sizeof *tables);
  memcpy(tables + q * n, desc->space->halves, (size_t)(2 * n * n) * sizeof *tables);
  k->shared = (size_t)(q * n + 2 * n * n + desc->space->cell_nodes + 2 * rule->points) *
              (k->precision == TES_DOUBLE ? sizeof(double) : sizeof(float));
  return tesi_upload_numbers(ctx, tables, q * n + 2 * n * n, k->precision, &k->tables);
}

/* Nodes and masks of the cells of the faces. */
static TesStatus upload_cells(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel *k) {
  TesStatus status = TES_OK;
  const TesiCellView *s = desc->space;
  int32_t *index = NULL;
  uint16_t *mask = NULL;
  TES_ALLOC(&index, desc->faces * s->cell_nodes);
  TES_ALLOC(&mask, desc->faces);
  for (int64_t i = 0; i < desc->faces; i++) {
    memcpy(index + i * s->cell_nodes, s->index + desc->cell[i] * (int64_t)s->cell_nodes,
           (size_t)s->cell_nodes * sizeof *index);
    mask[i] = s->mask[desc->cell[i]];
  }
  TES_TRY(tesi_upload(ctx, index, (size_t)(desc->faces * s->cell_nodes) * sizeof *index, &k->index));
  TES_TRY(tesi_upload(ctx, mask, (size_t)desc->faces * sizeof *mask, &k->mask));
done:
  tesi_free(ctx, &index);
  tesi_free(ctx, &mask);
  return status;
}

static TesStatus get_kernel(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel *k) {
  TesStatus status = TES_OK;
  char text[3][24];
  TesiProgram *program;
  snprintf(text[0], sizeof text[0], "DIM=%d", desc->rule->dim);
  snprintf(text[1], sizeof text[1], "N=%d", desc->rule->n);
  snprintf(text[2], sizeof text[2], "Q=%d", desc->rule->q);
  const TesiProgramDesc program_desc = {
      .file = "mapped_faces.cu",
      .options = {k->precision == TES_SINGLE ? "real=float" : "real=double", text[0], text[1], text[2]}};
  TES_TRY(tesi_program_get(ctx, &program_desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_robin", k->shared, &k->kernel));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_robin_columns", k->shared, &k->columns));
done:
  return status;
}

TesStatus tesi_robin_kernel_create(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel **kernel) {
  TesStatus status = TES_OK;
  TES_NEW(kernel);
  TesiRobinKernel *k = *kernel;
  k->precision = desc->precision;
  k->faces = desc->faces;
  TES_TRY(upload_tables(ctx, desc, k));
  TES_TRY(tesi_upload(ctx, desc->face, (size_t)desc->faces * sizeof *desc->face, &k->face));
  TES_TRY(tesi_upload_numbers(ctx, desc->weight, desc->faces * desc->rule->points, k->precision, &k->weight));
  TES_TRY(upload_cells(ctx, desc, k));
  TES_TRY(get_kernel(ctx, desc, k));
done:
  return status;
}

void tesi_robin_kernel_destroy(TesContext *ctx, TesiRobinKernel **kernel) {
  const TesiDevice *device = tesi_context_device(ctx);
  TesiRobinKernel *k = *kernel;
  if (!k) return;
  void **all[] = {&k->face, &k->index, &k->mask, &k->weight, &k->tables};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_free(ctx, kernel);
}

TesStatus tesi_robin_kernel_add(TesContext *ctx, const TesiRobinKernel *kernel, double sign, const void *x,
                                void *y) {
  const TesiRobinKernel *k = kernel;
  float single = (float)sign;
  void *arguments[] = {&x,
                       &y,
                       (void *)&k->face,
                       (void *)&k->index,
                       (void *)&k->mask,
                       (void *)&k->weight,
                       (void *)&k->tables,
                       k->precision == TES_DOUBLE ? (void *)&sign : (void *)&single};
  return tesi_kernel_launch(ctx, &k->kernel, (TesiGrid){.x = (unsigned)k->faces, .y = 1, .z = 1}, THREADS,
                            k->shared, arguments);
}

TesStatus tesi_robin_kernel_columns(TesContext *ctx, const TesiRobinKernel *kernel, void *d,
                                    const TesiDeviceMatrix *matrix) {
  const TesiRobinKernel *k = kernel;
  TesiDeviceMatrix to = {0};
  if (matrix) to = *matrix;
  void *arguments[] = {
      (void *)&k->face, (void *)&k->index, (void *)&k->mask, (void *)&k->weight, (void *)&k->tables, &d,
      &to.row,          &to.column,        &to.value};
  return tesi_kernel_launch(ctx, &k->columns, (TesiGrid){.x = (unsigned)k->faces, .y = 1, .z = 1}, THREADS,
                            k->shared, arguments);
}
