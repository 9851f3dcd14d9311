/* One-time results of kernels for a mapped operator: its diagonal and its assembled form
 * (src/kernels/mapped_diagonal.cu, mapped_csr.cu). */
#include <string.h>
#include "base/afford.h"
#include "operator/assembled/matrix.h"
#include "device/upload.h"
#include "mesh/forest/hanging.h"
#include "operator/mapped/device/mapped_device.h"

enum { THREADS = 128, CHUNK = 32 * THREADS, MOST_SHARED = 227 << 10 }; /* as the kernels have them */

/* One of the two files compiled for an operator, with a full index and separate 1D tables. */
typedef struct Once {
  const TesOperator *op;
  const TesiMapped *m;
  TeskMapped arguments;
  TesiProgram *program;
  void *index, *tables;
} Once;

static TesStatus get_program(TesContext *ctx, Once *o, const char *file) {
  const TesiMapped *m = o->m;
  const TesiMappedPlan *plan = o->op->plan;
  const TesiProgramDesc desc = {.file = file,
                                .real = m->precision,
                                .types = {m->precision == TES_SINGLE ? "factor=float" : "factor=double"},
                                .macros = {{"DIM", m->dim},
                                           {"N", m->n},
                                           {"Q", m->q},
                                           {"MASS", m->mass},
                                           {"STIFFNESS", m->stiffness},
                                           {"COMPONENTS", m->components},
                                           {"GEOMETRY", tesi_mapped_geometry_of(plan->factors)},
                                           {"GLOBAL", m->global},
                                           {"HANGING", m->mask != NULL},
                                           {"CELL_DEGREE", m->cell_degree}}};
  return tesi_program_get(ctx, &desc, &o->program);
}

/* tables: `count` numbers */
static TesStatus begin(TesContext *context, const TesOperator *op, const char *file, const double *tables,
                       int count, Once *o) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  const TesiMappedPlan *plan = op->plan;
  *o = (Once){.op = op, .m = m, .arguments = plan->arguments};
  TES_TRY(get_program(ctx, o, file));
  TES_TRY(tesi_upload(ctx, tables, (size_t)count * sizeof *tables, &o->tables));
  if (m->global && !plan->full)
    TES_TRY(tesi_mapped_upload_index(ctx, plan, m->cells, m->cell_nodes, m->index, &o->index));
  o->arguments.index = plan->full ? plan->index : o->index;
  o->arguments.cells = m->cells;
done:
  return status;
}

static void end(TesContext *ctx, Once *o) {
  tesi_context_device(ctx)->release(ctx, &o->index);
  tesi_context_device(ctx)->release(ctx, &o->tables);
}

/* Runs the kernel `name` with `blocks` blocks. */
static TesStatus launch(TesContext *context, const Once *o, const char *name, int64_t blocks, size_t shared,
                        void **arguments) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiKernel kernel;
  TES_CHECK(blocks <= INT32_MAX && shared <= MOST_SHARED, "%s: a cell or a row is too large for the device",
            name);
  TES_TRY(tesi_kernel_get(ctx, o->program, name, shared, &kernel));
  TES_TRY(tesi_kernel_launch(ctx, &kernel, (TesiGrid){(unsigned)blocks, 1, 1}, THREADS, shared, arguments));
done:
  return status;
}

static int64_t blocks_of(int64_t n) {
  return (n + THREADS - 1) / THREADS;
}

/* I [q][n] and its derivatives at the points. */
static void make_tables(const TesiMapped *m, double *I, double *G) {
  for (int p = 0; p < m->q; p++)
    for (int i = 0; i < m->n; i++) {
      I[p * m->n + i] = m->I[p * m->n + i];
      G[p * m->n + i] = 0;
      for (int s = 0; s < m->q; s++) G[p * m->n + i] += m->D[p * m->q + s] * m->I[s * m->n + i];
    }
}

/* The same for functions of the coarse side in the two children, [2][2][q][n]. */
static void make_halves(const TesiMapped *m, double *tables) {
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const int n = m->n, size = m->q * n;
  tesi_hanging_halves(n, W);
  for (int child = 0; child < 2; child++) {
    double *I = tables + 2 * child * size, *G = I + size, own[2][TESI_MAPPED_POINTS * TESI_HANGING_NODES];
    make_tables(m, own[0], own[1]);
    for (int i = 0; i < size; i++) {
      I[i] = G[i] = 0;
      for (int j = 0; j < n; j++) {
        const double w = W[(child * n + j) * n + i % n];
        I[i] += own[0][i / n * n + j] * w;
        G[i] += own[1][i / n * n + j] * w;
      }
    }
  }
}

/* ---- diagonal ------------------------------------------------------------------------------------------ */
/* All cells at once; or colour by colour if the operator has colours, which gives the same order every time. */
static TesStatus launch_diagonal(TesContext *ctx, Once *o, size_t shared, void *d) {
  TesStatus status = TES_OK;
  const TesiMappedPlan *plan = o->op->plan;
  const bool coloured = plan->order && plan->first && !plan->place;
  void *list[] = {&o->arguments, &o->tables, &d};
  o->arguments.order = NULL;
  if (!coloured) return launch(ctx, o, "tesk_mapped_diagonal", o->m->cells, shared, list);
  for (int i = 0; i < plan->launches; i++) {
    o->arguments.order = (const int *)plan->order + plan->first[i];
    TES_TRY(launch(ctx, o, "tesk_mapped_diagonal", plan->first[i + 1] - plan->first[i], shared, list));
  }
done:
  return status;
}

static TesStatus run_diagonal(TesContext *ctx, Once *o, void *d) {
  TesStatus status = TES_OK;
  const TesiMapped *m = o->m;
  const size_t shared = (size_t)((m->mask ? 9 : 2) * m->cell_points + m->cell_nodes) * sizeof(double);
  void *constrained = NULL;
  long long count = m->constrained;
  if (m->global) TES_TRY(tesi_context_device(ctx)->fill(ctx, m->precision, m->length, 0, d));
  TES_TRY(launch_diagonal(ctx, o, shared, d));
  if (!m->global || count == 0) goto done;
  TES_TRY(tesi_upload(ctx, m->constrained_nodes, (size_t)count * sizeof *m->constrained_nodes, &constrained));
  TES_TRY(launch(ctx, o, "tesk_mapped_ones", blocks_of(count), 0, (void *[]){&count, &constrained, &d}));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  tesi_context_device(ctx)->release(ctx, &constrained);
  return status;
}

TesStatus tesi_mapped_device_diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  const int size = m->q * m->n;
  double tables[9 * TESI_MAPPED_POINTS * TESI_MAPPED_POINTS];
  Once o = {0};
  make_tables(m, tables, tables + size);
  if (m->mask) make_tables(m, tables + 3 * size, tables + 4 * size);
  if (m->mask) make_halves(m, tables + 5 * size);
  for (int i = 0; i < size; i++) {
    const double value = tables[i], slope = tables[size + i];
    tables[i] = value * value;
    tables[size + i] = value * slope;
    tables[2 * size + i] = slope * slope;
  }
  TES_TRY(begin(ctx, op, "mapped_diagonal.cu", tables, (m->mask ? 9 : 3) * size, &o));
  TES_TRY(run_diagonal(ctx, &o, d));
done:
  end(ctx, &o);
  return status;
}

/* ---- assembled form ------------------------------------------------------------------------------------ */
/* out [n + 1] <- the sum of in [n] before each entry. */
static TesStatus scan(TesContext *ctx, const Once *o, int64_t n, void *in, void *out) {
  TesStatus status = TES_OK;
  const int64_t parts = (n + CHUNK - 1) / CHUNK;
  void *sums = NULL;
  long long length = n;
  int count = (int)parts;
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)(parts + 1) * sizeof(int), &sums));
  TES_TRY(launch(ctx, o, "tesk_scan_parts", parts, THREADS * sizeof(int), (void *[]){&length, &in, &sums}));
  TES_TRY(launch(ctx, o, "tesk_scan_whole", 1, THREADS * sizeof(int), (void *[]){&count, &sums}));
  TES_TRY(
      launch(ctx, o, "tesk_scan_write", parts, THREADS * sizeof(int), (void *[]){&length, &in, &sums, &out}));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  tesi_context_device(ctx)->release(ctx, &sums);
  return status;
}

/* Largest and sum of n integers on the device. */
static TesStatus survey(TesContext *ctx, void *address, int64_t n, int64_t *largest, int64_t *sum) {
  TesStatus status = TES_OK;
  int32_t *values = NULL;
  TES_ALLOC(&values, n);
  TES_TRY(tesi_context_device(ctx)->to_host(ctx, values, address, (size_t)n * sizeof *values));
  *largest = *sum = 0;
  for (int64_t i = 0; i < n; i++) {
    *sum += values[i];
    if (values[i] > *largest) *largest = values[i];
  }
done:
  tesi_free(ctx, &values);
  return status;
}

/* first [nodes + 1], cell [..]: the cells of each free node; most: the largest number of cells of a node. */
static TesStatus find_cells(TesContext *ctx, const Once *o, void *count, void *first, void **cell,
                            int64_t *most) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiMapped *m = o->m;
  long long entries = m->cells * m->cell_nodes, nodes = m->nodes;
  int64_t sum;
  void *index = (void *)o->arguments.index;
  TES_CHECK(entries <= INT32_MAX, "the matrix is too large for int32 indices");
  TES_TRY(launch(ctx, o, "tesk_csr_count", blocks_of(entries), 0, (void *[]){&entries, &index, &count}));
  TES_TRY(survey(ctx, count, nodes, most, &sum));
  TES_TRY(scan(ctx, o, nodes, count, first));
  TES_TRY(device->allocate(ctx, (size_t)(sum + 1) * sizeof(int), cell));
  TES_TRY(device->fill(ctx, TES_SINGLE, nodes, 0, count));
  TES_TRY(launch(ctx, o, "tesk_csr_place", blocks_of(entries), 0,
                 (void *[]){&entries, &index, &first, &count, cell}));
  TES_TRY(launch(ctx, o, "tesk_csr_order", blocks_of(nodes), 0, (void *[]){&nodes, &first, cell}));
done:
  return status;
}

static TesStatus tell_memory(TesContext *ctx, int64_t rows, int64_t entries) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_afford(
      ctx, 12.0 * (double)entries + 4.0 * (double)rows, (double)tesi_context_device(ctx)->available(ctx), NULL,
      "the matrix of %lld rows and %lld entries needs on the device", (long long)rows, (long long)entries));
  if (entries > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "the matrix has %lld entries, at most 2^31 - 1", (long long)entries);
done:
  return status;
}

/* row and column of the matrix. */
static TesStatus find_columns(TesContext *ctx, const Once *o, void *count, void *first, void *cell,
                              int64_t most, TesiDeviceMatrix *matrix) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiMapped *m = o->m;
  void *index = (void *)o->arguments.index, *row = NULL, *column = NULL;
  int64_t size = 1, largest;
  while (size < most * m->cell_nodes) size *= 2;
  const size_t shared = (size_t)(size + THREADS) * sizeof(int);
  TES_TRY(device->allocate(ctx, (size_t)(m->nodes + 1) * sizeof(int), &row));
  matrix->row = row;
  TES_TRY(launch(ctx, o, "tesk_csr_columns", m->nodes, shared,
                 (void *[]){&index, &first, &cell, &row, &count, &column}));
  TES_TRY(survey(ctx, count, m->nodes, &largest, &matrix->entries));
  TES_TRY(tell_memory(ctx, m->nodes, matrix->entries));
  TES_TRY(scan(ctx, o, m->nodes, count, row));
  TES_TRY(device->allocate(ctx, (size_t)matrix->entries * sizeof(int), &column));
  matrix->column = column;
  TES_TRY(launch(ctx, o, "tesk_csr_columns", m->nodes, shared,
                 (void *[]){&index, &first, &cell, &row, &count, &column}));
done:
  return status;
}

static TesStatus make_values(TesContext *ctx, Once *o, void *first, TesiDeviceMatrix *matrix) {
  TesStatus status = TES_OK;
  const TesiMapped *m = o->m;
  void *row = matrix->row, *column = matrix->column, *value = NULL;
  long long nodes = m->nodes;
  const int64_t numbers = (m->dim + 1) * m->cell_points + 3 * m->n * m->cell_points / m->q;
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)matrix->entries * sizeof(double), &value));
  matrix->value = value;
  TES_TRY(launch(ctx, o, "tesk_csr_values", m->cells, (size_t)numbers * sizeof(double),
                 (void *[]){&o->arguments, &o->tables, &row, &column, &value}));
  TES_TRY(launch(ctx, o, "tesk_csr_ones", blocks_of(nodes), 0, (void *[]){&nodes, &first, &row, &value}));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  return status;
}

TesStatus tesi_mapped_assemble_device(const TesOperator *op, TesiDeviceMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  const TesiDevice *device = tesi_context_device(ctx);
  const int size = m ? m->q * m->n : 0;
  double tables[8 * TESI_MAPPED_POINTS * TESI_MAPPED_POINTS]; /* I, G; [2][2] of halves; W */
  void *count = NULL, *first = NULL, *cell = NULL;
  int64_t most;
  TesiDeviceMatrix made = {0};
  Once o = {0};
  *matrix = made;
  TES_CHECK(m && m->global, "only mapped operators in the global form are assembled");
  if (!tesi_has_kernels(ctx))
    TES_FAIL(TES_MISSING, "the matrix is assembled on the host: tesi_mapped_assemble()");
  make_tables(m, tables, tables + size);
  if (m->mask) make_halves(m, tables + 2 * size);
  if (m->mask) tesi_hanging_halves(m->n, tables + 6 * size);
  TES_TRY(begin(ctx, op, "mapped_csr.cu", tables, m->mask ? 6 * size + 2 * m->n * m->n : 2 * size, &o));
  TES_TRY(device->allocate(ctx, (size_t)m->nodes * sizeof(int), &count));
  TES_TRY(device->allocate(ctx, (size_t)(m->nodes + 1) * sizeof(int), &first));
  TES_TRY(find_cells(ctx, &o, count, first, &cell, &most));
  made.rows = m->nodes;
  TES_TRY(find_columns(ctx, &o, count, first, cell, most, &made));
  TES_TRY(make_values(ctx, &o, first, &made));
  *matrix = made;
done:
  if (status != TES_OK) tesi_device_matrix_destroy(op, &made);
  device->release(ctx, &count);
  device->release(ctx, &first);
  device->release(ctx, &cell);
  end(ctx, &o);
  return status;
}

void tesi_device_matrix_destroy(const TesOperator *op, TesiDeviceMatrix *matrix) {
  TesContext *ctx = op->context;
  void *addresses[] = {matrix->row, matrix->column, matrix->value};
  for (int i = 0; i < 3; i++) tesi_context_device(ctx)->release(ctx, &addresses[i]);
  *matrix = (TesiDeviceMatrix){0};
}
