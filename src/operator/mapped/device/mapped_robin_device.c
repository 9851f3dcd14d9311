#include "operator/mapped/device/mapped_robin_device.h"
#include <string.h>
#include "base/colours.h"
#include "device/kernel.h"
#include "device/upload.h"

enum { THREADS = 128 };

struct TesiRobinKernel {
  TesiKernel kernel, columns;
  TesPrecision precision;
  int colours;    /* 1 with atomics; if results must be deterministic, faces of a colour share no node */
  int64_t *first; /* [colours + 1] face of a colour */
  int points, cell_nodes;
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

/* order[faces] by colour, k->first. If sums may have any order, all faces have one colour. */
static TesStatus order_faces(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel *k, int32_t **order) {
  TesStatus status = TES_OK;
  const TesiCellView *s = desc->space;
  const bool apart = tesi_context_deterministic(ctx);
  TesiColouring c = {0};
  int32_t *colour = NULL;
  TES_ALLOC(&colour, desc->faces);
  TES_TRY(tesi_colouring_begin(ctx, s->length, &c));
  for (int64_t i = 0; apart && i < desc->faces; i++) {
    const int32_t *index = s->index + desc->cell[i] * (int64_t)s->cell_nodes;
    for (int64_t at = 0; at < s->cell_nodes; at++)
      if (index[at] >= 0) tesi_colouring_meet(&c, index[at]);
    TES_TRY(tesi_colouring_choose(&c, &colour[i]));
    for (int64_t at = 0; at < s->cell_nodes; at++)
      if (index[at] >= 0) tesi_colouring_mark(&c, index[at], colour[i]);
  }
  k->colours = apart ? c.colours : desc->faces > 0;
  TES_TRY(tesi_colours_sort(ctx, desc->faces, k->colours, colour, &k->first, order));
done:
  tesi_colouring_end(&c);
  tesi_free(ctx, &colour);
  return status;
}

/* The data of the faces, in their order: nodes and masks of their cells, numbers of the faces, weights. */
static TesStatus upload_faces(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel *k) {
  TesStatus status = TES_OK;
  const TesiCellView *s = desc->space;
  const int points = desc->rule->points;
  int32_t *index = NULL;
  uint16_t *mask = NULL;
  int8_t *face = NULL;
  double *weight = NULL;
  int32_t *order = NULL;
  k->points = points, k->cell_nodes = (int)s->cell_nodes;
  TES_ALLOC(&face, desc->faces);
  TES_ALLOC(&weight, desc->faces * points);
  TES_ALLOC(&index, desc->faces * s->cell_nodes);
  TES_ALLOC(&mask, desc->faces);
  TES_TRY(order_faces(ctx, desc, k, &order));
  for (int64_t i = 0; i < desc->faces; i++) {
    const int64_t f = order[i], cell = desc->cell[f];
    memcpy(index + i * s->cell_nodes, s->index + cell * s->cell_nodes, (size_t)s->cell_nodes * sizeof *index);
    memcpy(weight + i * points, desc->weight + f * points, (size_t)points * sizeof *weight);
    mask[i] = s->mask[cell];
    face[i] = desc->face[f];
  }
  TES_TRY(tesi_upload(ctx, face, (size_t)desc->faces * sizeof *face, &k->face));
  TES_TRY(tesi_upload_numbers(ctx, weight, desc->faces * points, k->precision, &k->weight));
  TES_TRY(tesi_upload(ctx, index, (size_t)(desc->faces * s->cell_nodes) * sizeof *index, &k->index));
  TES_TRY(tesi_upload(ctx, mask, (size_t)desc->faces * sizeof *mask, &k->mask));
done:
  tesi_free(ctx, &order);
  tesi_free(ctx, &face);
  tesi_free(ctx, &weight);
  tesi_free(ctx, &index);
  tesi_free(ctx, &mask);
  return status;
}

static TesStatus get_kernel(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel *k) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc program_desc = {
      .file = "mapped_faces.cu",
      .real = k->precision,
      .macros = {{"DIM", desc->rule->dim}, {"N", desc->rule->n}, {"Q", desc->rule->q}}};
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
  TES_TRY(upload_tables(ctx, desc, k));
  TES_TRY(upload_faces(ctx, desc, k));
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
  tesi_free(ctx, &k->first);
  tesi_free(ctx, kernel);
}

/* The faces of a colour. */
typedef struct Part {
  void *face, *index, *mask, *weight;
  TesiGrid grid;
} Part;

static Part part_of(const TesiRobinKernel *k, int colour) {
  const int64_t first = k->first[colour];
  const size_t size = tesi_precision_size(k->precision);
  return (Part){.face = (char *)k->face + first,
                .index = (char *)k->index + (size_t)(first * k->cell_nodes) * sizeof(int32_t),
                .mask = (char *)k->mask + (size_t)first * sizeof(uint16_t),
                .weight = (char *)k->weight + (size_t)(first * k->points) * size,
                .grid = {.x = (unsigned)(k->first[colour + 1] - first), .y = 1, .z = 1}};
}

TesStatus tesi_robin_kernel_add(TesContext *ctx, const TesiRobinKernel *kernel, double sign, const void *x,
                                void *y) {
  const TesiRobinKernel *k = kernel;
  TesStatus status = TES_OK;
  float single = (float)sign;
  for (int c = 0; c < k->colours; c++) {
    Part part = part_of(k, c);
    void *arguments[] = {&x,
                         &y,
                         &part.face,
                         &part.index,
                         &part.mask,
                         &part.weight,
                         (void *)&k->tables,
                         k->precision == TES_DOUBLE ? (void *)&sign : (void *)&single};
    TES_TRY(tesi_kernel_launch(ctx, &k->kernel, part.grid, THREADS, k->shared, arguments));
  }
done:
  return status;
}

TesStatus tesi_robin_kernel_columns(TesContext *ctx, const TesiRobinKernel *kernel, void *d,
                                    const TesiDeviceMatrix *matrix) {
  const TesiRobinKernel *k = kernel;
  TesStatus status = TES_OK;
  TesiDeviceMatrix to = {0};
  if (matrix) to = *matrix;
  for (int c = 0; c < k->colours; c++) {
    Part part = part_of(k, c);
    void *arguments[] = {&part.face, &part.index, &part.mask, &part.weight, (void *)&k->tables,
                         &d,         &to.row,     &to.column, &to.value};
    TES_TRY(tesi_kernel_launch(ctx, &k->columns, part.grid, THREADS, k->shared, arguments));
  }
done:
  return status;
}
