/* tessera bench adaptive: the ball of adaptive-matrix-free-ljungkvist-2017, uniform and refined on spherical shells, a(x) = 1/(0.05 + 2|x|^2):
 * matrix-free beside the assembled matrix, hanging nodes on beside off, memory of both.
 *
 * On a GPU the matrix is multiplied by cuSPARSE, and queued applications are timed several at a time. "times_larger" compares what an unknown
 * needs in memory with each, the two vectors included.
 *
 * Shells: cells whose vertices lie on both sides of the spheres of radius 0.35 and 0.75 about (0.1, -0.05, 0.07), which no face follows, are refined
 * twice in 3D, three times in 2D. Unknowns are counted as other codes do, hanging and boundary nodes included. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "device/cuda/cusparse.h"
#include "device/device.h"

enum { BATCH = 10 };

typedef struct Subject {
  TesForest *forest;
  TesForestSpace *space;
  TesGeometry *geometry;
  TesOperator *op, *plain; /* with and without interpolation */
  TesMatrix matrix;
  TesVector *x, *y;
  double bytes;               /* of the operator, on the device */
  int batch;                  /* applications that are queued before one waits for them */
  void *row, *column, *value; /* the matrix on a GPU */
  TesiSpmv *spmv;
} Subject;

static bool on_gpu(const TesContext *ctx) {
  return !strcmp(tesi_context_device(ctx)->kind, "cuda");
}

/* What is in use, in bytes: differences count. */
static double memory(TesContext *ctx) {
  return on_gpu(ctx) ? -(double)tesi_context_device(ctx)->available(ctx) : (double)tes_context_memory(ctx);
}

static void release(TesContext *ctx, Subject *s) {
  const TesiDevice *device = tesi_context_device(ctx);
  tesi_spmv_destroy(ctx, &s->spmv);
  device->release(ctx, &s->row);
  device->release(ctx, &s->column);
  device->release(ctx, &s->value);
  tes_vector_destroy(&s->x);
  tes_vector_destroy(&s->y);
  if (s->space) tes_forest_matrix_free(s->space, &s->matrix);
  tes_operator_destroy(&s->op);
  tes_operator_destroy(&s->plain);
  tes_geometry_destroy(&s->geometry);
  tes_forest_space_destroy(&s->space);
  tes_forest_destroy(&s->forest);
}

/* Whether the sphere of this radius cuts the cell. */
static bool cuts(const TesForest *forest, int64_t cell, double radius) {
  const int dim = tes_forest_dim(forest);
  double xi[24], x[24], least = INFINITY, most = 0;
  for (int v = 0; v < 1 << dim; v++)
    for (int d = 0; d < dim; d++) xi[v * dim + d] = v >> d & 1;
  tes_forest_evaluate(forest, cell, 1 << dim, xi, x);
  for (int v = 0; v < 1 << dim; v++) {
    const double *p = x + v * dim, r = hypot(hypot(p[0] - 0.1, p[1] + 0.05), dim == 3 ? p[2] - 0.07 : 0);
    least = fmin(least, r), most = fmax(most, r);
  }
  return least < radius && most > radius;
}

static TesStatus make_forest(TesContext *ctx, int dim, int level, bool shells, TesForest **forest) {
  TesStatus status = TES_OK;
  int8_t *mark = NULL;
  TesForest *next = NULL;
  TES_TRY(tes_forest_create(ctx, &(TesForestDesc){.domain = TES_DOMAIN_BALL, .dim = dim, .level = level},
                            forest));
  for (int t = 0; shells && t < (dim == 3 ? 2 : 3); t++) {
    const int64_t cells = tes_forest_cells(*forest);
    TES_ALLOC(&mark, cells);
    for (int64_t c = 0; c < cells; c++) mark[c] = cuts(*forest, c, 0.35) || cuts(*forest, c, 0.75);
    TES_TRY(tes_forest_adapt(*forest, mark, &next));
    tesi_free(ctx, &mark);
    tes_forest_destroy(forest);
    *forest = next, next = NULL;
  }
done:
  tesi_free(ctx, &mark);
  if (status != TES_OK) tes_forest_destroy(forest);
  return status;
}

/* The level whose mesh has about so many unknowns: each is 2^dim times larger than the one before. */
static TesStatus nearest_forest(TesContext *ctx, int dim, int degree, double dofs, bool shells,
                                TesForest **forest) {
  TesStatus status = TES_OK;
  TesForest *next = NULL;
  *forest = NULL;
  for (int level = 0; level < 12; level++) {
    TES_TRY(make_forest(ctx, dim, level, shells, &next));
    const double size = (double)tes_forest_cells(next) * pow(degree, dim);
    const double before = *forest ? (double)tes_forest_cells(*forest) * pow(degree, dim) : 0;
    const bool closer = !*forest || fabs(log(size / dofs)) < fabs(log(before / dofs));
    if (closer) {
      tes_forest_destroy(forest);
      *forest = next, next = NULL;
    }
    tes_forest_destroy(&next);
    if (!closer || size > dofs) break;
  }
done:
  tes_forest_destroy(&next);
  return status;
}

/* Multilinear cells where --geometry vertices asks for them, as in the paper. */
static int cell_degree(const BenchOptions *o) {
  return o->geometry == TES_FACTORS_VERTICES ? 1 : 2;
}

static TesStatus prepare(TesContext *ctx, const BenchOptions *o, const TesFunction *a, int dim, int degree,
                         double dofs, bool shells, TesPrecision precision, Subject *s) {
  TesStatus status = TES_OK;
  double *values = NULL;
  uint64_t seed = 1;
  TES_TRY(nearest_forest(ctx, dim, degree, dofs, shells, &s->forest));
  TES_TRY(
      tes_forest_space_create(ctx, &(TesForestSpaceDesc){.forest = s->forest, .degree = degree}, &s->space));
  TES_TRY(tes_geometry_create_forest(s->forest, cell_degree(o), &s->geometry));
  TesForestDiffusionDesc desc = {.space = s->space, .geometry = s->geometry, .a = a, .precision = precision};
  const double before = memory(ctx);
  TES_TRY(tes_operator_create_forest(ctx, &desc, &s->op));
  s->bytes = memory(ctx) - before;
  s->batch = on_gpu(ctx) ? BATCH : 1;
  desc.ignore_hanging = true;
  desc.factors = tes_mapped_factors(s->op);
  if (tes_forest_space_hanging(s->space)) TES_TRY(tes_operator_create_forest(ctx, &desc, &s->plain));
  const int64_t length = tes_operator_length(s->op);
  TES_TRY(tes_vector_create(ctx, length, precision, &s->x));
  TES_TRY(tes_vector_create(ctx, length, precision, &s->y));
  TES_ALLOC(&values, length);
  for (int64_t i = 0; i < length; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values[i] = (double)(int32_t)(seed >> 32) / 2147483648.0;
  }
  TES_TRY(tes_vector_set(s->x, values));
done:
  tesi_free(ctx, &values);
  return status;
}

/* So many applications, and what they take: bench_time() gives seconds of all. */
static TesStatus apply_batch(const Subject *s, const TesOperator *op) {
  TesStatus status = TES_OK;
  TesContext *ctx = tes_forest_space_context(s->space);
  for (int i = 0; i < s->batch; i++) TES_TRY(tes_operator_apply(op, s->x, s->y));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  return status;
}

static TesStatus apply(void *data) {
  const Subject *s = data;
  return apply_batch(s, s->op);
}

static TesStatus apply_plain(void *data) {
  const Subject *s = data;
  return apply_batch(s, s->plain);
}

static TesStatus multiply(void *data) {
  const Subject *s = data;
  TesStatus status = TES_OK;
  TesContext *ctx = tes_forest_space_context(s->space);
  if (s->spmv) {
    for (int i = 0; i < s->batch; i++) TES_TRY(tesi_spmv_run(ctx, s->spmv));
    TES_TRY(tesi_spmv_wait(ctx));
  } else {
    tes_matrix_apply(ctx, &s->matrix, tes_vector_data_const(s->x), tes_vector_data(s->y));
  }
done:
  return status;
}

static TesStatus upload(TesContext *ctx, const void *host, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TES_TRY(device->allocate(ctx, bytes, address));
  TES_TRY(device->to_device(ctx, *address, host, bytes));
done:
  return status;
}

/* The matrix to the GPU, where cuSPARSE has 32-bit numbers. */
static TesStatus upload_matrix(TesContext *ctx, Subject *s) {
  TesStatus status = TES_OK;
  const TesMatrix *m = &s->matrix;
  int32_t *row = NULL;
  TES_CHECK(m->entries <= INT32_MAX,
            "%lld entries are too many for cuSPARSE with 32-bit numbers: less --dofs", (long long)m->entries);
  TES_ALLOC(&row, m->rows + 1);
  for (int64_t i = 0; i <= m->rows; i++) row[i] = (int32_t)m->row[i];
  TES_TRY(upload(ctx, row, (size_t)(m->rows + 1) * sizeof *row, &s->row));
  TES_TRY(upload(ctx, m->column, (size_t)m->entries * sizeof *m->column, &s->column));
  TES_TRY(upload(ctx, m->value, (size_t)m->entries * sizeof *m->value, &s->value));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
  TES_TRY(tesi_spmv_create(ctx, m->rows, m->entries, s->row, s->column, s->value, tes_vector_data(s->x),
                           tes_vector_data(s->y), &s->spmv));
done:
  tesi_free(ctx, &row);
  return status;
}

/* Both in turn, so that a machine's moods strike both. */
static TesStatus time_both(Subject *s, double seconds, BenchTime *with, BenchTime *without) {
  enum { TURNS = 4 };
  TesStatus status = bench_time(apply, s, s->plain ? seconds / 2 : seconds, with);
  *without = *with;
  if (!s->plain) return status;
  without->median = without->fastest = INFINITY;
  for (int turn = 0; turn < TURNS && status == TES_OK; turn++) {
    BenchTime a, b;
    status = bench_time(apply_plain, s, seconds / (2 * TURNS), &b);
    if (status == TES_OK) status = bench_time(apply, s, seconds / (2 * TURNS), &a);
    if (status != TES_OK) break;
    with->median = fmin(with->median, a.median), with->fastest = fmin(with->fastest, a.fastest);
    without->median = fmin(without->median, b.median), without->fastest = fmin(without->fastest, b.fastest);
  }
  return status;
}

enum {
  DIM,
  MESH,
  CELL_DEGREE,
  DEGREE,
  PRECISION,
  CELLS,
  DOFS,
  HANGING,
  MS,
  FASTEST,
  RATE,
  OVERHEAD,
  BYTES,
  CSR_DOFS,
  CSR_MS,
  CSR_RATE,
  CSR_BYTES,
  SPEEDUP,
  LARGER,
  SERIES,
  COLUMNS
};

static const CliColumn columns[COLUMNS] = {[DIM] = {"dim", 3, 0},
                                           [MESH] = {"mesh", 7, -1},
                                           [CELL_DEGREE] = {"cell_degree", 11, 0},
                                           [DEGREE] = {"degree", 6, 0},
                                           [PRECISION] = {"precision", 9, -1},
                                           [CELLS] = {"cells", 9, 0},
                                           [DOFS] = {"dofs", 10, 0},
                                           [HANGING] = {"hanging_percent", 15, 2},
                                           [MS] = {"median_ms", 10, 3},
                                           [FASTEST] = {"fastest_ms", 10, 3},
                                           [RATE] = {"mdofs_per_s", 11, 1},
                                           [OVERHEAD] = {"hanging_overhead", 16, 3},
                                           [BYTES] = {"bytes_per_dof", 13, 1},
                                           [CSR_DOFS] = {"csr_dofs", 10, 0},
                                           [CSR_MS] = {"csr_ms", 9, 3},
                                           [CSR_RATE] = {"csr_mdofs_per_s", 15, 1},
                                           [CSR_BYTES] = {"csr_bytes_per_dof", 17, 1},
                                           [SPEEDUP] = {"times_csr", 9, 2},
                                           [LARGER] = {"times_larger", 12, 2},
                                           [SERIES] = {"series", 0, -1}};

static double count_dofs(const Subject *s) {
  return (double)(tes_forest_space_length(s->space) + tes_forest_space_hanging(s->space));
}

/* The assembled matrix, on a coarser mesh where assembling would take long: its rate hardly depends on the size beyond the caches. */
static TesStatus measure_matrix(TesContext *ctx, const BenchOptions *o, const TesFunction *a, int dim,
                                int degree, double dofs, bool shells, CliCell *row) {
  TesStatus status = TES_OK;
  const double n = pow(degree + 1, dim), k = pow(degree, dim), most = on_gpu(ctx) ? 4e11 : 4e10;
  /* entries: 20 times what the caches hold */
  const double flops = 8 * n * n * (degree + 1) / k, entries = 1.5 * n, /* an unknown */
      enough = on_gpu(ctx) ? 8e7 : 4e8;
  Subject s = {0};
  BenchTime time;
  TES_TRY(prepare(ctx, o, a, dim, degree, fmin(dofs, fmin(most / flops, enough / entries)), shells,
                  TES_DOUBLE, &s));
  TES_TRY(tes_forest_assemble(s.op, &s.matrix));
  if (on_gpu(ctx)) TES_TRY(upload_matrix(ctx, &s));
  TES_TRY(bench_time(multiply, &s, o->seconds / 2, &time));
  const double seconds = time.median / (s.spmv ? s.batch : 1), bytes_a_row = s.spmv ? 4 : 8;
  row[CSR_DOFS].number = count_dofs(&s);
  row[CSR_MS].number = 1e3 * seconds;
  row[CSR_RATE].number = 1e-6 * count_dofs(&s) / seconds;
  row[CSR_BYTES].number =
      (12.0 * (double)s.matrix.entries + bytes_a_row * (double)s.matrix.rows) / count_dofs(&s);
  row[SPEEDUP].number = row[RATE].number / row[CSR_RATE].number;
  row[LARGER].number = (row[CSR_BYTES].number + 16) / (row[BYTES].number + 16);
done:
  release(ctx, &s);
  return status;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                         bool shells, TesPrecision precision, BenchResult *result) {
  static const char *const series[2][2] = {{"2D uniform", "2D shells"}, {"3D uniform", "3D shells"}};
  TesStatus status = TES_OK;
  TesFunction *a = NULL;
  Subject s = {0};
  BenchTime with, without;
  CliCell row[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) row[i] = (CliCell){NAN, NULL};
  TES_TRY(bench_coefficient(ctx, true, &a));
  TES_TRY(prepare(ctx, o, a, dim, degree, dofs, shells, precision, &s));
  TES_TRY(time_both(&s, o->seconds, &with, &without));
  row[DIM].number = dim, row[DEGREE].number = degree;
  row[MESH].text = shells ? "shells" : "uniform";
  row[SERIES].text = series[dim - 2][shells];
  row[PRECISION].text = precision == TES_DOUBLE ? "double" : "single";
  row[CELLS].number = (double)tes_forest_cells(s.forest);
  row[DOFS].number = count_dofs(&s);
  row[HANGING].number = 100 * (double)tes_forest_space_hanging(s.space) / count_dofs(&s);
  row[MS].number = 1e3 * with.median / s.batch;
  row[FASTEST].number = 1e3 * with.fastest / s.batch;
  row[CELL_DEGREE].number = cell_degree(o);
  row[RATE].number = 1e-6 * count_dofs(&s) * s.batch / with.median;
  row[OVERHEAD].number = with.median / without.median - 1;
  row[BYTES].number = s.bytes / count_dofs(&s);
  release(ctx, &s);
  s = (Subject){0};
  if (precision == TES_DOUBLE) TES_TRY(measure_matrix(ctx, o, a, dim, degree, dofs, shells, row));
  if (!cli_table_add(&result->table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the table");
done:
  release(ctx, &s);
  tes_function_destroy(&a);
  return status;
}

TesStatus bench_adaptive(TesContext *ctx, const BenchOptions *o, BenchResult *result) {
  TesStatus status = TES_OK;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = "Ball with hanging nodes: matrix-free, float64 and float32",
                           .x_label = "degree",
                           .y_label = "million unknowns a second",
                           .x = DEGREE,
                           .y = RATE,
                           .series = SERIES};
  for (int d = 0; d < o->dims; d++)
    for (int shells = 0; shells < 2; shells++)
      for (int k = 0; k < o->degrees; k++)
        for (int i = 0; i < o->sizes && o->degree[k] <= 8; i++)
          for (int p = 0; p < 2; p++)
            if (p == 0 ? o->double_precision : o->single_precision)
              TES_TRY(measure(ctx, o, o->dim[d], o->degree[k], o->dofs[i], shells,
                              p == 0 ? TES_DOUBLE : TES_SINGLE, result));
done:
  return status;
}
