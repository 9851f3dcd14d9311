/* Errors in L2 and H1 over meshes of any kind, and cell by cell. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "functional/functional.h"
#include "device/kernel.h"
#include "parallel/comm.h"

enum { ARRAYS = 10 }; /* workspace of a thread, [points][lane] */

static int jacobians(const TesiBatches *b) {
  return b->geometry ? b->dim * b->dim : 0;
}

typedef struct Task {
  const TesiBatches *batches;
  const double *u;
  const TesFunction *exact, *gradient[3]; /* gradient NULL: the error itself is differentiated */
  bool slopes;                            /* wanted */
  double *cell[2]; /* [cells] squared L2 and H1 errors are added to them; may be NULL */
  double *sums;    /* [tasks][2] */
  double *memory;  /* [threads][share] */
  int64_t share;
  int *failed;
} Task;

/* values <- values - f; `at` and `scratch` are written over. */
static TesStatus subtract(const Task *task, const TesiBatch *batch, const TesFunction *f,
                          const TesiBatchPoints *points, double *values, double *at, double *scratch) {
  const TesFunction *all[TESI_BATCH];
  for (int l = 0; l < TESI_BATCH; l++) all[l] = f;
  const TesStatus status = tesi_batch_values(task->batches, batch, all, points, at, scratch);
  for (int64_t i = 0; status == TES_OK && i < tesi_batches_array(task->batches); i++) values[i] -= at[i];
  return status;
}

static void put_squares(const Task *task, const TesiBatch *batch, int which, const double squares[TESI_BATCH],
                        double *sums) {
  for (int l = 0; l < batch->count; l++) {
    sums[which] += squares[l];
    if (task->cell[which]) task->cell[which][batch->first + l] += squares[l];
  }
}

static TesStatus sum_batch(const Task *task, const TesiBatch *batch, double *memory, double *sums) {
  const TesiBatches *b = task->batches;
  const int64_t n = tesi_batches_array(b);
  const bool symbolic = task->gradient[0];
  const TesiBatchPoints at = {.x = {memory, memory + n, memory + 2 * n},
                              .weight = memory + 3 * n,
                              .J = task->slopes && b->geometry ? memory + ARRAYS * n : NULL};
  double *u = memory + 4 * n, *e = memory + 5 * n, *scratch = memory + 9 * n;
  double *const gradient[3] = {memory + 6 * n, memory + 7 * n, memory + 8 * n};
  double squares[TESI_BATCH] = {0}, slopes[TESI_BATCH] = {0};
  b->kind->points(b, batch, task->exact, &at, memory + (ARRAYS + jacobians(b)) * n);
  tesi_batch_evaluate(b, batch, task->u, u, scratch);
  for (int64_t i = 0; i < n; i++) e[i] = u[i];
  TesStatus status = task->exact ? subtract(task, batch, task->exact, &at, e, gradient[0], scratch) : TES_OK;
  b->loops.squares(b->points, at.weight, e, squares);
  put_squares(task, batch, 0, squares, sums);
  if (!task->slopes || status != TES_OK) return status;
  tesi_batch_differentiate(b, batch, &at, symbolic ? u : e, gradient);
  for (int d = 0; d < b->dim && status == TES_OK; d++) {
    if (symbolic) status = subtract(task, batch, task->gradient[d], &at, gradient[d], e, scratch);
    b->loops.squares(b->points, at.weight, gradient[d], slopes);
  }
  put_squares(task, batch, 1, slopes, sums);
  return status;
}

static TesStatus sum_task(const Task *task, int64_t number, double *memory) {
  const TesiBatches *b = task->batches;
  int64_t first;
  const int64_t count = tesi_batches_of_task(b, number, &first);
  TesStatus status = TES_OK;
  for (int64_t i = first; i < first + count && status == TES_OK; i++) {
    const TesiBatch batch = b->kind->batch(b, i);
    status = sum_batch(task, &batch, memory, task->sums + 2 * number);
  }
  return status;
}

static void sum_span(const void *data, TesiSpan span) {
  const Task *task = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const TesStatus result = sum_task(task, i, task->memory + task->share * span.thread);
    if (result != TES_OK) {
#pragma omp atomic write
      *task->failed = result;
    }
  }
}

/* One sum per task, added in order: the same for every number of threads. */
static TesStatus sum_tasks(Task *task, double *l2, double *h1) {
  const TesiBatches *b = task->batches;
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, b->cells * tesi_batches_array(b) / TESI_BATCH);
  double squares[2] = {0, 0};
  int failed = TES_OK;
  task->share = (ARRAYS + jacobians(b)) * tesi_batches_array(b) + tesi_batches_work(b);
  task->failed = &failed;
  TES_ALLOC(&task->memory, task->share * threads);
  TES_ALLOC(&task->sums, 2 * b->tasks);
  TES_TRY(tesi_work_share(ctx, threads, b->tasks, 1, sum_span, task));
  TES_TRY((TesStatus)failed);
  for (int64_t i = 0; i < 2 * b->tasks; i++) squares[i % 2] += task->sums[i];
  tesi_reduce(ctx, TESI_SUM, 2, squares);
  if (l2) *l2 = sqrt(squares[0]);
  if (h1) *h1 = sqrt(squares[1]);
done:
  tesi_free(ctx, &task->memory);
  tesi_free(ctx, &task->sums);
  return status;
}

/* All partial derivatives of f, or none if f is no expression. */
static TesStatus differentiate(TesContext *ctx, int dim, const TesFunction *f, TesFunction *gradient[3]) {
  for (int d = 0; f && d < dim; d++) {
    const TesStatus status = tes_function_create_derivative(f, d, &gradient[d]);
    if (status == TES_OK) continue;
    for (int o = 0; o < d; o++) tes_function_destroy(&gradient[o]);
    if (status == TES_OUT_OF_MEMORY) return status;
    tesi_context_forget(ctx);
    break;
  }
  return TES_OK;
}

/* Points per direction. */
static int choose_points(const TesSpace *space, bool symbolic) {
  const int q = space->degree + (symbolic ? 3 : 6);
  return tesi_space_box(space) ? q : tesi_min(q, TESI_GEOMETRY_POINTS);
}

/* Of one component. */
static TesStatus find_error(const TesSpace *space, const TesVector *u, const TesFunction *exact, double *l2,
                            double *h1, double *cell_l2, double *cell_h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *gradient[3] = {NULL, NULL, NULL};
  TesiBatches *b = NULL;
  double *values = NULL;
  bool done = false;
  const bool slopes = h1 || cell_h1;
  if (slopes) TES_TRY(differentiate(ctx, space->dim, exact, gradient));
  const TesFunction *const all[4] = {exact, gradient[0], gradient[1], gradient[2]};
  const bool symbolic = !exact || !slopes || gradient[0];
  if (tesi_sums_on_device(space) && u->precision == TES_DOUBLE && symbolic && !cell_l2 && !cell_h1)
    TES_TRY(tesi_error_device(space, u, all, l2, h1, &done));
  if (done) goto done;
  TES_TRY(tesi_vector_read(u, &values));
  TES_TRY(tesi_batches_create(space, choose_points(space, symbolic), &b));
  Task task = {.batches = b,
               .u = values,
               .exact = exact,
               .gradient = {gradient[0], gradient[1], gradient[2]},
               .slopes = slopes,
               .cell = {cell_l2, cell_h1}};
  TES_TRY(sum_tasks(&task, l2, h1));
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&gradient[d]);
  tesi_batches_destroy(&b);
  tesi_free(ctx, &values);
  return status;
}

TesStatus tes_functional_error(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                               double *l2, double *h1, double *cell_l2, double *cell_h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double sums[2] = {0, 0}, one[2] = {0, 0};
  TES_CHECK(space->element->nodal, "an error over a space of element rt, whose problem knows it");
  TES_CHECK(u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  if (cell_l2) memset(cell_l2, 0, (size_t)space->mesh->cells * sizeof *cell_l2);
  if (cell_h1) memset(cell_h1, 0, (size_t)space->mesh->cells * sizeof *cell_h1);
  for (int c = 0; c < space->scalars; c++) {
    const TesVector of_u = tesi_space_scalar_range(space, u, c);
    TES_TRY(find_error(space->scalar[c], &of_u, exact ? exact[c] : NULL, &one[0], h1 ? &one[1] : NULL,
                       cell_l2, cell_h1));
    for (int i = 0; i < 2; i++) sums[i] = hypot(sums[i], one[i]);
  }
  if (l2) *l2 = sums[0];
  if (h1) *h1 = sums[1];
done:
  return status;
}
