#include "operator/elasticity/elasticity_device.h"
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "kernels/elasticity_arguments.h"
#include "mesh/forest/hanging.h"
#include "operator/elasticity/elasticity.h"
#include "operator/elasticity/elasticity_blocks.h"

enum { DEGREE = 8, BLOCK = 128, NODES = DEGREE + 1 }; /* BLOCK: of the diagonal, THREADS of mapped_points.h */

struct TesiElasticityDevice {
  TesiKernel apply, diagonal, ones;
  TesPrecision precision;
  TeskElastic arguments;
  int dim, n, points, each, threads; /* nodes per direction, points per cell, cells and threads per block */
  bool hanging;
  int64_t cells, length;
  size_t shared, of_diagonal;
  int colours;    /* 1: all at once, by atomics */
  int64_t *first; /* of a colour; NULL: one colour */
  bool corners;   /* elasticity_corners.cu */
  TesiElasticityBlocks blocks;
  void *order, *index, *masks, *given, *row, *numbers, *tables, *squares; /* device */
};

/* The nodes of cells, as ~node where a component is given; given[node] tells which components. */
static TesStatus upload_index(const TesOperator *op, TesiElasticityDevice *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiCellView *view[3];
  int32_t *index = NULL, *order = NULL;
  uint8_t *given = NULL;
  for (int c = 0; c < d->dim; c++) TES_TRY(tesi_space_cells(op->space->part[c], &view[c]));
  const int64_t entries = view[0]->cells * view[0]->cell_nodes;
  d->cells = view[0]->cells, d->length = view[0]->length, d->colours = 1;
  TES_ALLOC(&index, entries);
  TES_ALLOC(&given, d->length);
  for (int64_t i = 0; i < entries; i++) {
    const int32_t node = tesi_cells_node(view[0]->index[i]);
    for (int c = 0; c < d->dim; c++) given[node] |= (uint8_t)((view[c]->index[i] < 0) << c);
    index[i] = given[node] ? ~node : node;
  }
  for (int64_t i = 0; i < d->cells; i++) d->hanging = d->hanging || view[0]->mask[i] >> 3;
  TES_TRY(tesi_upload(ctx, index, (size_t)entries * sizeof *index, &d->index));
  TES_TRY(tesi_upload(ctx, given, (size_t)d->length, &d->given));
  TES_TRY(tesi_upload(ctx, view[0]->mask, (size_t)d->cells * sizeof *view[0]->mask, &d->masks));
  if (d->corners)
    TES_TRY(tesi_elasticity_blocks_create(ctx, d->cells, d->points, index, d->length, &d->blocks));
  if (!tesi_context_deterministic(ctx) && op->desc.conflicts != TES_CONFLICTS_COLOURS) goto done;
  TES_TRY(tesi_colour_cells(ctx, d->cells, view[0]->cell_nodes, index, d->length, &d->colours, &d->first,
                            &order));
  TES_TRY(tesi_upload(ctx, order, (size_t)d->cells * sizeof *order, &d->order));
done:
  tesi_free(ctx, &index);
  tesi_free(ctx, &order);
  tesi_free(ctx, &given);
  return status;
}

/* [points][nodes] <- I and I' (derivatives), of the cell's own functions or (child 0, 1) of the coarse side's. */
static void values_in(const TesiBatches *b, const double *W, int child, double *I, double *G) {
  const int n = b->n;
  double own[NODES * NODES];
  for (int i = 0; i < n * n; i++) {
    own[i] = 0;
    for (int j = 0; j < n; j++)
      own[i] += b->B[i / n * n + j] * (child < 0 ? j == i % n : W[(child * n + j) * n + i % n]);
  }
  for (int i = 0; i < n * n; i++) {
    I[i] = own[i], G[i] = 0;
    for (int s = 0; s < n; s++) G[i] += b->D[i / n * n + s] * own[s * n + i % n];
  }
}

/* In the form that elasticity.cu and elasticity_diagonal.cu read. */
static TesStatus upload_tables(TesContext *ctx, const TesiBatches *b, TesiElasticityDevice *d) {
  TesStatus status = TES_OK;
  const int n = b->n, size = n * n;
  double tables[6 * NODES * NODES + NODES],
      squares[9 * NODES * NODES + NODES], *const W = tables + 4 * size + n;
  tesi_hanging_halves(n, W);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      tables[size + i * n + j] = tables[j * n + i] = b->B[i * n + j];
      tables[3 * size + i * n + j] = tables[2 * size + j * n + i] = b->D[i * n + j];
    }
  memcpy(tables + 4 * size, b->weight, (size_t)n * sizeof *tables);
  TES_TRY(tesi_upload_numbers(ctx, tables, 6 * size + n, d->precision, &d->tables));
  for (int child = -1; child < 2; child++)
    values_in(b, W, child, squares + (5 + 2 * child) * size, squares + (6 + 2 * child) * size);
  for (int i = 0; i < size; i++) {
    const double value = squares[3 * size + i], slope = squares[4 * size + i];
    squares[i] = value * value, squares[size + i] = value * slope, squares[2 * size + i] = slope * slope;
  }
  memcpy(squares + (d->hanging ? 9 : 3) * size, b->weight, (size_t)n * sizeof *tables);
  TES_TRY(tesi_upload(ctx, squares, (size_t)((d->hanging ? 9 : 3) * size + n) * sizeof *squares, &d->squares));
  const size_t numbers = (size_t)(6 * size + n + 2 * d->dim * d->each * d->points),
               metrics = (size_t)(d->hanging ? 10 : 3) * (size_t)d->points;
  d->shared = numbers * tesi_precision_size(d->precision);
  if (d->corners)
    d->shared = (size_t)(d->dim * (d->blocks.arguments.most + d->each * d->points)) *
                tesi_precision_size(d->precision);
  d->of_diagonal = (metrics + (size_t)n) * sizeof(double);
done:
  return status;
}

/* "elasticity.cu", "elasticity_corners.cu" or, with the macros of mapped_points.h, "elasticity_diagonal.cu". */
static TesStatus get_program(TesContext *ctx, const TesiElasticity *e, const TesiElasticityDevice *d,
                             const char *file, TesiProgram **program) {
  const bool of_diagonal = !strcmp(file, "elasticity_diagonal.cu");
  const TesiProgramDesc desc = {.file = file,
                                .real = d->precision,
                                .types = {!of_diagonal                 ? NULL
                                          : d->precision == TES_SINGLE ? "factor=float"
                                                                       : "factor=double"},
                                .macros = {{"DIM", d->dim},
                                           {"N", d->n},
                                           {"CELLS", d->each},
                                           {"NUMBERS", e->kind},
                                           {"MASS", e->mass},
                                           {"HANGING", d->hanging},
                                           {of_diagonal ? "Q" : NULL, d->n},
                                           {"STIFFNESS", 1},
                                           {"GEOMETRY", 0}}};
  return tesi_program_get(ctx, &desc, program);
}

static TesStatus get_kernels(TesContext *ctx, const TesiElasticity *e, TesiElasticityDevice *d) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  TES_TRY(get_program(ctx, e, d, d->corners ? "elasticity_corners.cu" : "elasticity.cu", &program));
  TES_TRY(tesi_kernel_get(ctx, program, d->corners ? "tesk_elasticity_corners" : "tesk_elasticity", d->shared,
                          &d->apply));
  TES_TRY(get_program(ctx, e, d, "elasticity_diagonal.cu", &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_elasticity_diagonal", d->of_diagonal, &d->diagonal));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_elasticity_ones", 0, &d->ones));
done:
  return status;
}

TesStatus tesi_elasticity_device_create(const TesOperator *op, const void *g, TesiElasticityDevice **device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  TesiBatches *batches = NULL;
  TesiElasticityDevice *d;
  if (op->space->degree > DEGREE)
    TES_FAIL(TES_MISSING, "elasticity has kernels up to degree %d, got %d", DEGREE, op->space->degree);
  TES_NEW(&d);
  *device = d;
  d->precision = op->precision;
  d->dim = op->space->dim, d->n = op->space->degree + 1;
  d->points = d->n * d->n * (d->dim == 3 ? d->n : 1);
  d->each = tesi_max(1, BLOCK / d->points);
  d->threads = (d->each * d->points + 31) / 32 * 32;
  d->corners = d->n == 2 && e->kind == TESI_ELASTIC_ALIGNED && !tesi_context_deterministic(ctx) &&
               op->desc.conflicts != TES_CONFLICTS_COLOURS;
  if (d->corners) d->each = d->threads = TESK_ELASTIC_BLOCK;
  TES_TRY(tesi_batches_create(op->space->part[0], d->n, &batches));
  TES_TRY(upload_index(op, d));
  TES_TRY(upload_tables(ctx, batches, d));
  TES_TRY(tesi_upload(ctx, e->list, (size_t)e->constrained * sizeof *e->list, &d->row));
  TES_TRY(tesi_upload(ctx, g,
                      (size_t)(d->cells * e->entries * (e->kind == TESI_ELASTIC_POINTS ? d->points : 1)) *
                          tesi_precision_size(d->precision),
                      &d->numbers));
  TES_TRY(get_kernels(ctx, e, d));
  d->arguments = (TeskElastic){.cells = d->cells,
                               .rows = e->constrained,
                               .length = d->length,
                               .index = d->index,
                               .row = d->row,
                               .given = d->given,
                               .masks = d->masks,
                               .numbers = d->numbers,
                               .tables = d->tables};
done:
  tesi_batches_destroy(&batches);
  return status;
}

void tesi_elasticity_device_destroy(TesContext *ctx, TesiElasticityDevice **device) {
  TesiElasticityDevice *d = *device;
  if (!d) return;
  void **all[] = {&d->order, &d->index, &d->masks, &d->given, &d->row, &d->numbers, &d->tables, &d->squares};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_elasticity_blocks_destroy(ctx, &d->blocks);
  tesi_free(ctx, &d->first);
  tesi_free(ctx, device);
}

/* The arguments of a colour. */
static TeskElastic of_colour(const TesiElasticityDevice *d, int colour) {
  TeskElastic a = d->arguments;
  if (!d->first) return a;
  a.order = (const int *)d->order + d->first[colour];
  a.cells = d->first[colour + 1] - d->first[colour];
  return a;
}

static unsigned blocks_of(int64_t n, int each) {
  return (unsigned)((n + each - 1) / each);
}

TesStatus tesi_elasticity_device_add(TesContext *ctx, const TesiElasticityDevice *device, bool every,
                                     double sign, const void *x, void *y) {
  const TesiElasticityDevice *d = device;
  TesStatus status = TES_OK;
  for (int c = 0; c < d->colours; c++) {
    TeskElastic a = of_colour(d, c);
    a.sign = sign, a.every = every;
    if (every || c) a.rows = 0;
    a.blocks = blocks_of(a.cells, d->each);
    const TesiGrid grid = {(unsigned)a.blocks + blocks_of(a.rows, d->threads), 1, 1};
    TeskElasticBlocks blocks = d->blocks.arguments;
    TES_TRY(tesi_kernel_launch(ctx, &d->apply, grid, (unsigned)d->threads, d->shared,
                               (void *[]){&x, &y, &a, &blocks}));
  }
done:
  return status;
}

TesStatus tesi_elasticity_device_diagonal(TesContext *ctx, const TesiElasticityDevice *device, void *diagonal) {
  const TesiElasticityDevice *d = device;
  TesStatus status = TES_OK;
  TES_TRY(tesi_context_device(ctx)->fill(ctx, d->precision, d->dim * d->length, 0, diagonal));
  for (int c = 0; c < d->colours; c++) {
    TeskElastic a = of_colour(d, c);
    a.tables = d->squares;
    const TesiGrid grid = {(unsigned)(a.cells * d->dim), 1, 1};
    TES_TRY(tesi_kernel_launch(ctx, &d->diagonal, grid, BLOCK, d->of_diagonal, (void *[]){&diagonal, &a}));
  }
  TeskElastic a = d->arguments;
  TES_TRY(tesi_kernel_launch(ctx, &d->ones, (TesiGrid){blocks_of(a.rows, BLOCK), 1, 1}, BLOCK, 0,
                             (void *[]){&diagonal, &a}));
done:
  return status;
}

void tesi_elasticity_device_cut(const TesiElasticityDevice *device, int *cells, int *threads) {
  *cells = device->each, *threads = device->threads;
}
