#include "multigrid/coarse/aggregation/cycle_device.h"
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "device/vector.h"
#include "tensor/dense_device.h"

enum { THREADS = 128, MOST_LANES = 32 };

typedef struct Matrix {
  int rows, lanes; /* scalar rows */
  void *row, *column;
  void *value[2]; /* [precision]; float64 where it is needed */
  TesiKernel kernel[2];
} Matrix;

typedef struct Level {
  Matrix A, P, R;
  int length;
  double s[TESI_AGGREGATION_STEPS], c[TESI_AGGREGATION_STEPS];
  void *inverse;       /* of the diagonal */
  void *b, *x, *y, *p; /* float64 */
  int cycles;
  double gain[TESI_AGGREGATION_CYCLES], keep[TESI_AGGREGATION_CYCLES];
  void *sum, *r, *q; /* of several cycles */
} Level;

struct TesiAggregationDevice {
  TesContext *context;
  int levels, nodes;
  Level level[TESI_AGGREGATION_LEVELS];
  TesiDenseDevice inverse; /* of the last level */
  TesiKernel first, advance, take[2], give[2];
};

/* ---- set-up ---------------------------------------------------------------------------------------- */
static TesStatus get_program(TesContext *ctx, TesPrecision precision, int high, int wide, int lanes,
                             TesiProgram **program) {
  const TesiProgramDesc desc = {.file = "aggregation.cu",
                                .real = precision,
                                .macros = {{"HIGH", high}, {"WIDE", wide}, {"LANES", lanes}}};
  return tesi_program_get(ctx, &desc, program);
}

/* The rounded values, if there are any; exact: the float64 values. */
static TesStatus upload_matrix(TesContext *ctx, const TesiBlockMatrix *A, bool exact, Matrix *m) {
  TesStatus status = TES_OK;
  int32_t *row = NULL;
  TesiProgram *program;
  const int64_t blocks = A->row[A->rows], rows = A->rows * A->high;
  TES_CHECK(blocks <= INT32_MAX && rows <= INT32_MAX,
            "%lld blocks are too many for a device: at most 2^31 - 1", (long long)blocks);
  TES_ALLOC(&row, A->rows + 1);
  for (int64_t i = 0; i <= A->rows; i++) row[i] = (int32_t)A->row[i];
  m->rows = (int)rows, m->lanes = 1; /* about 8 entries each */
  while (m->lanes < MOST_LANES && 8 * m->lanes * A->rows < blocks * A->wide) m->lanes *= 2;
  for (int precision = 0; precision < 2; precision++) {
    const void *value = precision == TES_SINGLE ? (const void *)A->rounded : exact ? A->value : NULL;
    if (!value) continue;
    TES_TRY(get_program(ctx, precision, A->high, A->wide, m->lanes, &program));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_rows", THREADS * sizeof(double), &m->kernel[precision]));
    TES_TRY(tesi_upload(ctx, value, (size_t)(blocks * A->high * A->wide) * tesi_precision_size(precision),
                        &m->value[precision]));
  }
  TES_TRY(tesi_upload(ctx, row, (size_t)(A->rows + 1) * sizeof *row, &m->row));
  TES_TRY(tesi_upload(ctx, A->column, (size_t)blocks * sizeof *A->column, &m->column));
done:
  tesi_free(ctx, &row);
  return status;
}

/* The numbers of several cycles, and their vectors. */
static TesStatus accelerate(TesContext *ctx, const TesiAggregationLevel *from, Level *level) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void **const vectors[] = {&level->sum, &level->r, &level->q};
  level->cycles = from->cycles;
  memcpy(level->gain, from->gain, sizeof level->gain);
  memcpy(level->keep, from->keep, sizeof level->keep);
  for (int i = 0; i < 3 && from->cycles > 1; i++)
    TES_TRY(device->allocate(ctx, (size_t)from->length * sizeof(double), vectors[i]));
done:
  return status;
}

static TesStatus upload_level(TesContext *ctx, const TesiAggregationLevel *from, bool finest, bool last,
                              Level *level) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t bytes = (size_t)from->length * sizeof(double);
  void **const vectors[] = {&level->b, &level->x, &level->y, &level->p};
  level->length = (int)from->length;
  memcpy(level->s, from->s, sizeof level->s);
  memcpy(level->c, from->c, sizeof level->c);
  for (int i = 0; i < 4; i++) TES_TRY(device->allocate(ctx, bytes, vectors[i]));
  TES_TRY(accelerate(ctx, from, level));
  if (last && !finest) goto done;
  TES_TRY(upload_matrix(ctx, &from->A, finest || from->cycles > 1, &level->A));
  if (last) goto done;
  TES_TRY(tesi_upload(ctx, from->inverse, bytes, &level->inverse));
  TES_TRY(upload_matrix(ctx, &from->P, false, &level->P));
  TES_TRY(upload_matrix(ctx, &from->R, false, &level->R));
done:
  return status;
}

static TesStatus get_kernels(TesContext *ctx, int block, TesiAggregationDevice *d) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  for (int precision = 0; precision < 2; precision++) {
    TES_TRY(get_program(ctx, precision, block, 1, 1, &program));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_take", 0, &d->take[precision]));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_give", 0, &d->give[precision]));
    if (precision != TES_DOUBLE) continue;
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_first", 0, &d->first));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_advance", 0, &d->advance));
  }
done:
  return status;
}

TesStatus tesi_aggregation_device_create(TesContext *ctx, const TesiHierarchy *hierarchy, int block,
                                         TesiAggregationDevice **device) {
  TesStatus status = TES_OK;
  TesiAggregationDevice *d = NULL;
  const TesiHierarchy *h = hierarchy;
  *device = NULL;
  TES_NEW(&d);
  d->context = tesi_context_retain(ctx);
  d->levels = h->levels;
  d->nodes = (int)(h->level[0].length / block);
  for (int l = 0; l < h->levels; l++)
    TES_TRY(upload_level(ctx, &h->level[l], l == 0, l + 1 == h->levels, &d->level[l]));
  const TesiAggregationLevel *last = &h->level[h->levels - 1];
  TES_TRY(tesi_dense_device_create(ctx, TES_DOUBLE, (int)last->length, h->inverse, &d->inverse));
  TES_TRY(get_kernels(ctx, block, d));
  *device = d;
  d = NULL;
done:
  tesi_aggregation_device_destroy(ctx, &d);
  return status;
}

static void release_matrix(TesContext *ctx, Matrix *m) {
  const TesiDevice *device = tesi_context_device(ctx);
  device->release(ctx, &m->row);
  device->release(ctx, &m->column);
  for (int precision = 0; precision < 2; precision++) device->release(ctx, &m->value[precision]);
}

void tesi_aggregation_device_destroy(TesContext *ctx, TesiAggregationDevice **device) {
  TesiAggregationDevice *d = *device;
  if (!d) return;
  const TesiDevice *table = tesi_context_device(ctx);
  TesContext *held = d->context;
  for (int l = 0; l < d->levels; l++) {
    Level *level = &d->level[l];
    void **const vectors[] = {&level->inverse, &level->b,   &level->x, &level->y,
                              &level->p,       &level->sum, &level->r, &level->q};
    release_matrix(ctx, &level->A);
    release_matrix(ctx, &level->P);
    release_matrix(ctx, &level->R);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) table->release(ctx, vectors[i]);
  }
  tesi_dense_device_free(ctx, &d->inverse);
  tesi_free(ctx, device);
  tes_context_destroy(&held);
}

/* ---- launches ---------------------------------------------------------------------------------------- */
static TesStatus launch(const TesiAggregationDevice *d, const TesiKernel *kernel, int count, void **arguments) {
  const TesiGrid grid = {(unsigned)((count + THREADS - 1) / THREADS), 1, 1};
  return tesi_kernel_launch(d->context, kernel, grid, THREADS, 0, arguments);
}

typedef struct Rows {
  TesiBlockWay way;
  TesPrecision precision; /* of the matrix */
  const Matrix *m;
  void *x, *b, *d, *p, *y; /* as in TesiBlockTask */
  double s, c;
} Rows;

static TesStatus run_rows(const TesiAggregationDevice *d, Rows task) {
  const Matrix *m = task.m;
  int rows = m->rows, way = (int)task.way;
  const int each = THREADS / m->lanes;
  void *arguments[] = {&rows,
                       (void *)&m->row,
                       (void *)&m->column,
                       (void *)&m->value[task.precision],
                       &task.x,
                       &way,
                       &task.b,
                       &task.d,
                       &task.s,
                       &task.c,
                       &task.p,
                       &task.y};
  return tesi_kernel_launch(d->context, &m->kernel[task.precision], tesi_grid(rows, each), THREADS,
                            THREADS * sizeof(double), arguments);
}

/* As smooth() of cycle.c. */
static TesStatus smooth(const TesiAggregationDevice *d, const Level *level, int first, void *b, void **x,
                        void **y) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  for (int k = first; k < TESI_AGGREGATION_STEPS; k++) {
    void *const from = *x;
    TES_TRY(run_rows(d, (Rows){.way = TESI_BLOCK_STEP,
                               .precision = TES_SINGLE,
                               .m = &level->A,
                               .x = from,
                               .b = b,
                               .d = level->inverse,
                               .p = level->p,
                               .y = *y,
                               .s = level->s[k],
                               .c = level->c[k]}));
    *x = *y, *y = from;
  }
done:
  return status;
}

static TesStatus solve(const TesiAggregationDevice *d, int l, void *b, void **where);

/* *where: x of the level. */
static TesStatus cycle(const TesiAggregationDevice *d, int l, void *b, void **where) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const Level *level = &d->level[l], *below = level + 1;
  void *x = level->x, *y = level->y, *correction;
  *where = x;
  if (l + 1 == d->levels) return tesi_dense_device_apply(ctx, &d->inverse, b, level->x);
  int n = level->length;
  double s = level->s[0];
  TES_TRY(launch(d, &d->first, n, (void *[]){&n, &s, (void *)&level->inverse, &b, (void *)&level->p, &x}));
  TES_TRY(smooth(d, level, 1, b, &x, &y));
  TES_TRY(run_rows(
      d, (Rows){.way = TESI_BLOCK_RESIDUAL, .precision = TES_SINGLE, .m = &level->A, .x = x, .b = b, .y = y}));
  TES_TRY(run_rows(
      d, (Rows){.way = TESI_BLOCK_MULTIPLY, .precision = TES_SINGLE, .m = &level->R, .x = y, .y = below->b}));
  TES_TRY(solve(d, l + 1, below->b, &correction));
  TES_TRY(run_rows(
      d, (Rows){.way = TESI_BLOCK_ADD, .precision = TES_SINGLE, .m = &level->P, .x = correction, .y = x}));
  TES_TRY(smooth(d, level, 0, b, &x, &y));
  *where = x;
done:
  return status;
}

static TesStatus solve(const TesiAggregationDevice *d, int l, void *b, void **where) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const Level *level = &d->level[l];
  int n = level->length;
  if (level->cycles == 1) return cycle(d, l, b, where);
  for (int k = 0; k < level->cycles; k++) {
    void *z;
    double gain = level->gain[k], keep = level->keep[k];
    if (k)
      TES_TRY(run_rows(d, (Rows){.way = TESI_BLOCK_RESIDUAL,
                                 .precision = TES_DOUBLE,
                                 .m = &level->A,
                                 .x = level->sum,
                                 .b = b,
                                 .y = level->r}));
    TES_TRY(cycle(d, l, k ? level->r : b, &z));
    TES_TRY(
        launch(d, &d->advance, n, (void *[]){&n, &gain, &keep, &z, (void *)&level->q, (void *)&level->sum}));
  }
  *where = level->sum;
done:
  return status;
}

TesStatus tesi_aggregation_device_accelerate(TesiAggregationDevice *d, const TesiHierarchy *hierarchy) {
  Matrix *const A = &d->level[0].A;
  if (hierarchy->level[0].cycles == 1) /* no residual between cycles */
    tesi_context_device(d->context)->release(d->context, &A->value[TES_DOUBLE]);
  return accelerate(d->context, &hierarchy->level[0], &d->level[0]);
}

TesStatus tesi_aggregation_device_cycle(void *user, const TesVector *b, TesVector *x) {
  const TesiAggregationDevice *d = user;
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  void *where;
  TES_TRY(cycle(d, 0, b->data, &where));
  TES_TRY(tesi_context_device(ctx)->copy(ctx, x->length, 1, TES_DOUBLE, where, TES_DOUBLE, x->data));
done:
  return status;
}

TesStatus tesi_aggregation_device_multiply(void *user, const TesVector *x, TesVector *y) {
  const TesiAggregationDevice *d = user;
  return run_rows(d, (Rows){.way = TESI_BLOCK_MULTIPLY,
                            .precision = TES_DOUBLE,
                            .m = &d->level[0].A,
                            .x = x->data,
                            .y = y->data});
}

TesStatus tesi_aggregation_device_solve(TesiAggregationDevice *d, TesPrecision precision, const void *b,
                                        void *x) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  void *sum;
  TES_TRY(launch(d, &d->take[precision], d->nodes, (void *[]){&d->nodes, &b, &d->level[0].b}));
  TES_TRY(solve(d, 0, d->level[0].b, &sum));
  TES_TRY(launch(d, &d->give[precision], d->nodes, (void *[]){&d->nodes, &sum, &x}));
done:
  return status;
}
