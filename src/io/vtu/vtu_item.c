/* The contents of the arrays: from Gauss-Lobatto nodes, lexicographic, components slowest, to VTK's equispaced nodes
 * in VTK's order, components fastest. As the points are written in VTK's order, the connectivity is 0, 1, 2, ... */
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/team.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "io/vtu/vtu.h"

enum { LARGEST_CHUNK = 1 << 16 }; /* doubles requested from `fill` at a time, unless a cell has more */

static TesStatus make_matrix(TesiVtuCells *cells) {
  TesContext *ctx = cells->ctx;
  TesStatus status = TES_OK;
  const int n = cells->desc->degree + 1;
  double lobatto[TESI_MAX_DEGREE + 1], equispaced[TESI_MAX_DEGREE + 1];
  tesi_gauss_lobatto(n, lobatto, NULL);
  for (int i = 0; i < n; i++) equispaced[i] = (double)i / (n - 1);
  TES_ALLOC(&cells->matrix, n * n);
  tesi_lagrange(n, cells->desc->nodes ? cells->desc->nodes : lobatto, n, equispaced, cells->matrix, NULL);
done:
  return status;
}

TesStatus tesi_vtu_cells_create(TesContext *ctx, const TesVtuDesc *desc, TesiVtuCells *cells) {
  TesStatus status = TES_OK;
  const int n = desc->degree + 1, nz = desc->dim == 3 ? n : 1;
  *cells = (TesiVtuCells){.ctx = ctx, .desc = desc, .nodes = n * n * nz};
  cells->wide = desc->cells > INT32_MAX / cells->nodes;
  TES_TRY(make_matrix(cells));
  TES_ALLOC(&cells->order, cells->nodes);
  for (int k = 0; k < nz; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        cells->order[tesi_vtu_node(desc->dim, desc->degree, i, j, k)] = i + n * (j + n * k);
done:
  if (status) tesi_vtu_cells_free(cells);
  return status;
}

void tesi_vtu_cells_free(TesiVtuCells *cells) {
  tesi_free(cells->ctx, &cells->matrix);
  tesi_free(cells->ctx, &cells->order);
}

TesiVtuItem tesi_vtu_item(const TesiVtuCells *cells, TesiVtuKind kind, const TesVtuArray *array,
                          int components) {
  const size_t real = cells->desc->precision == TES_SINGLE ? 4 : 8, index = cells->wide ? 8 : 4;
  TesiVtuItem item = {.kind = kind, .array = array, .components = components};
  item.written = components == 2 ? 3 : components;
  switch (kind) {
  case TESI_VTU_POINTS:
    item.bytes = (size_t)cells->nodes * (size_t)item.written * real;
    break;
  case TESI_VTU_CELLS:
    item.bytes = (size_t)item.written * real;
    break;
  case TESI_VTU_CONNECTIVITY:
    item.bytes = (size_t)cells->nodes * index;
    break;
  case TESI_VTU_OFFSETS:
    item.bytes = index;
    break;
  case TESI_VTU_TYPES:
    item.bytes = 1;
    break;
  }
  return item;
}

/* y[o][i][s] = sum_j A[i][j] x[o][j][s], s fastest, on an array of n^dim numbers. */
static void apply_1d(int n, const double *A, int outer, int stride, const double *x, double *y) {
  for (int o = 0; o < outer; o++)
    for (int i = 0; i < n; i++)
      for (int s = 0; s < stride; s++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += A[i * n + j] * x[(o * n + j) * stride + s];
        y[(o * n + i) * stride + s] = sum;
      }
}

/* Interpolates to equispaced nodes, in place; `work` has the size of x. */
static void interpolate(const TesiVtuCells *cells, double *x, double *work) {
  const int n = cells->desc->degree + 1, nodes = cells->nodes;
  double *from = x, *to = work;
  for (int d = 0, stride = 1; d < cells->desc->dim; d++, stride *= n) {
    apply_1d(n, cells->matrix, nodes / (n * stride), stride, from, to);
    double *swap = from;
    from = to, to = swap;
  }
  if (from != x) memcpy(x, from, (size_t)nodes * sizeof *x);
}

static void store(const TesiVtuCells *cells, unsigned char *out, size_t i, double value) {
  const float single = (float)value;
  if (cells->desc->precision == TES_SINGLE)
    memcpy(out + 4 * i, &single, 4);
  else
    memcpy(out + 8 * i, &value, 8);
}

/* One cell: values[components][nodes], overwritten, become out[nodes][written]. */
static void put_points(const TesiVtuCells *cells, const TesiVtuItem *item, double *values, double *work,
                       unsigned char *out) {
  const size_t nodes = (size_t)cells->nodes, written = (size_t)item->written;
  for (int c = 0; c < item->components; c++) {
    double *x = values + (size_t)c * nodes;
    interpolate(cells, x, work);
    for (size_t v = 0; v < nodes; v++) store(cells, out, v * written + (size_t)c, x[cells->order[v]]);
  }
  for (size_t v = 0; v < nodes; v++)
    if (item->components == 2) store(cells, out, v * written + 2, 0);
}

static void put_cell_values(const TesiVtuCells *cells, const TesiVtuItem *item, const double *values,
                            unsigned char *out) {
  for (int c = 0; c < item->written; c++) store(cells, out, (size_t)c, c < item->components ? values[c] : 0);
}

static void put_index(const TesiVtuCells *cells, unsigned char *out, size_t i, int64_t value) {
  const int32_t narrow = (int32_t)value;
  if (cells->wide)
    memcpy(out + 8 * i, &value, 8);
  else
    memcpy(out + 4 * i, &narrow, 4);
}

/* VTK_LAGRANGE_QUADRILATERAL and VTK_LAGRANGE_HEXAHEDRON of vtkCellType.h. */
unsigned char tesi_vtu_type(int dim) {
  return dim == 2 ? 70 : 72;
}

static void put_topology(const TesiVtuCells *cells, const TesiVtuItem *item, int64_t cell, unsigned char *out) {
  if (item->kind == TESI_VTU_TYPES)
    *out = tesi_vtu_type(cells->desc->dim);
  else if (item->kind == TESI_VTU_OFFSETS)
    put_index(cells, out, 0, (cells->first + cell + 1) * cells->nodes);
  else
    for (int v = 0; v < cells->nodes; v++)
      put_index(cells, out, (size_t)v, (cells->first + cell) * cells->nodes + v);
}

/* Buffers of one chunk of cells. */
typedef struct Chunk {
  int64_t first, count;
  size_t numbers;        /* doubles a cell */
  double *values, *work; /* work: [threads][nodes] */
  unsigned char *out;
} Chunk;

static TesStatus fill_values(const TesiVtuCells *cells, const TesiVtuItem *item, Chunk *chunk) {
  TesContext *ctx = cells->ctx;
  TesStatus status = TES_OK;
  const TesVtuArray *a = item->array;
  if (a->values)
    memcpy(chunk->values, a->values + (size_t)chunk->first * chunk->numbers,
           (size_t)chunk->count * chunk->numbers * sizeof(double));
  else
    TES_TRY(a->fill(a->user, chunk->first, chunk->count, chunk->values));
done:
  return status;
}

typedef struct Put {
  const TesiVtuCells *cells;
  const TesiVtuItem *item;
  const Chunk *chunk;
} Put;

static void put_cells(const void *data, TesiSpan span) {
  const TesiVtuCells *cells = ((const Put *)data)->cells;
  const TesiVtuItem *item = ((const Put *)data)->item;
  const Chunk *chunk = ((const Put *)data)->chunk;
  for (int64_t i = span.first; i < span.end; i++) {
    unsigned char *out = chunk->out + (size_t)i * item->bytes;
    double *values = chunk->values + (size_t)i * chunk->numbers;
    if (item->kind == TESI_VTU_POINTS)
      put_points(cells, item, values, chunk->work + (size_t)i * (size_t)cells->nodes, out);
    else if (item->kind == TESI_VTU_CELLS)
      put_cell_values(cells, item, values, out);
    else
      put_topology(cells, item, chunk->first + i, out);
  }
}

static TesStatus put_chunk(const TesiVtuCells *cells, const TesiVtuItem *item, Chunk *chunk) {
  TesContext *ctx = cells->ctx;
  TesStatus status = TES_OK;
  if (item->array) TES_TRY(fill_values(cells, item, chunk));
  tesi_team_for(tesi_team_threads(ctx, chunk->count * cells->nodes), chunk->count, put_cells,
                &(Put){cells, item, chunk});
done:
  return status;
}

void tesi_vtu_function(const TesFunction *function, int n, const double *x, double *values) {
  tesi_function_values(function, n, x, x + n, x + 2 * n, 0, values);
  for (int i = 0; i < n; i++)
    if (!isfinite(values[i])) values[i] = NAN;
}

int64_t tesi_vtu_item_piece(const TesiVtuCells *cells, const TesiVtuItem *item, int64_t count) {
  const int64_t per_cell = cells->nodes * (item->components ? item->components : 1);
  const int64_t most = per_cell < LARGEST_CHUNK ? LARGEST_CHUNK / per_cell : 1;
  return count < most ? count : most;
}

TesStatus tesi_vtu_item_write(const TesiVtuCells *cells, const TesiVtuItem *item, TesiVtuTake take,
                              void *user) {
  TesContext *ctx = cells->ctx;
  TesStatus status = TES_OK;
  const size_t values_per_node = (size_t)item->components;
  Chunk chunk = {.numbers = item->kind == TESI_VTU_POINTS ? values_per_node * (size_t)cells->nodes
                                                          : values_per_node};
  const int64_t size = tesi_vtu_item_piece(cells, item, cells->desc->cells);
  TES_ALLOC(&chunk.values, size * (int64_t)chunk.numbers + 1);
  TES_ALLOC(&chunk.work, item->kind == TESI_VTU_POINTS ? size * cells->nodes : 1);
  TES_ALLOC(&chunk.out, size * (int64_t)item->bytes);
  for (; chunk.first < cells->desc->cells; chunk.first += size) {
    chunk.count = cells->desc->cells - chunk.first < size ? cells->desc->cells - chunk.first : size;
    TES_TRY(put_chunk(cells, item, &chunk));
    TES_TRY(take(user, chunk.out, (size_t)chunk.count * item->bytes));
  }
done:
  tesi_free(ctx, &chunk.values);
  tesi_free(ctx, &chunk.work);
  tesi_free(ctx, &chunk.out);
  return status;
}
