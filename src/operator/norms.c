#include "tessera/norms.h"
#include <math.h>
#include <omp.h>
#include "basis/lagrange.h"
#include "device/vector.h"
#include "operator/box_device.h"

enum { ARRAYS = 8 }; /* a thread's, [points][lane] */

typedef struct Task {
  TesiCells cells;
  const double *u;
  const TesFunction *exact, *gradient[3]; /* gradient NULL: the error itself is differentiated */
  double *sums;                           /* [rows of cells][2]: L2, H1, squared */
} Task;

static double sum_of_squares(int64_t n, const double *w, const double *v) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += w[i] * v[i] * v[i];
  return sum;
}

/* values <- values - f at the points x; `at` is written over. */
static TesStatus subtract(const TesFunction *f, int64_t n, double *const x[3], double *values, double *at) {
  const TesStatus status = tes_function_evaluate(f, n, x[0], x[1], x[2], 0, at);
  for (int64_t i = 0; status == TES_OK && i < n; i++) values[i] -= at[i];
  return status;
}

static TesStatus sum_batch(const Task *task, const TesiBatch *batch, double *memory, double *sums) {
  const TesiCells *cells = &task->cells;
  const int64_t n = cells->points * TESI_BATCH;
  const bool symbolic = task->gradient[0];
  double *x[3] = {memory, memory + n, memory + 2 * n}, *w = memory + 3 * n;
  double *u = memory + 4 * n, *e = memory + 5 * n, *de = memory + 6 * n, *scratch = memory + 7 * n;
  tesi_cells_points(cells, batch, x[0], x[1], x[2], w);
  tesi_cells_evaluate(cells, batch, task->u, u, scratch);
  for (int64_t i = 0; i < n; i++) e[i] = u[i];
  TesStatus status = task->exact ? subtract(task->exact, n, x, e, scratch) : TES_OK;
  sums[0] += sum_of_squares(n, w, e);
  for (int d = 0; d < cells->dim && status == TES_OK; d++) {
    tesi_cells_differentiate(cells, batch, d, symbolic ? u : e, de);
    if (symbolic) status = subtract(task->gradient[d], n, x, de, scratch);
    sums[1] += sum_of_squares(n, w, de);
  }
  return status;
}

static TesStatus sum_row(const Task *task, int row, double *memory) {
  TesStatus status = TES_OK;
  for (int i = 0; i < task->cells.batches && status == TES_OK; i++) {
    const TesiBatch batch = tesi_cells_batch(&task->cells, row, i);
    status = sum_batch(task, &batch, memory, task->sums + 2 * row);
  }
  return status;
}

/* One sum a row of cells, added in order: the same for every number of threads. */
static TesStatus sum_rows(TesContext *ctx, Task *task, double *l2, double *h1) {
  TesStatus status = TES_OK;
  const int threads = tes_context_threads(ctx), rows = task->cells.rows;
  const int64_t size = ARRAYS * task->cells.points * TESI_BATCH;
  double *memory = NULL, squares[2] = {0, 0};
  int failed = TES_OK;
  TES_ALLOC(&memory, size * threads);
  TES_ALLOC(&task->sums, 2 * rows);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int row = 0; row < rows; row++) {
    const TesStatus result = sum_row(task, row, memory + size * omp_get_thread_num());
    if (result != TES_OK) {
#pragma omp atomic write
      failed = result;
    }
  }
  TES_TRY((TesStatus)failed);
  for (int i = 0; i < 2 * rows; i++) squares[i % 2] += task->sums[i];
  *l2 = sqrt(squares[0]);
  *h1 = sqrt(squares[1]);
done:
  tesi_free(ctx, &memory);
  tesi_free(ctx, &task->sums);
  return status;
}

/* The partial derivatives of f, all or none: none where it is not an expression. */
static TesStatus differentiate(TesContext *ctx, int dim, const TesFunction *f, TesFunction *gradient[3]) {
  for (int d = 0; f && d < dim; d++) {
    const TesStatus status = tes_function_create_derivative(f, d, &gradient[d]);
    if (status == TES_OK) continue;
    for (int o = 0; o < d; o++) tes_function_destroy(&gradient[o]);
    if (status == TES_OUT_OF_MEMORY) return status;
    tes_context_clear(ctx);
    break;
  }
  return TES_OK;
}

TesStatus tes_norms_error(const TesSpace *space, const TesVector *u, const TesFunction *exact, double *l2,
                          double *h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *gradient[3] = {NULL, NULL, NULL};
  double *values = NULL;
  bool made = false;
  TES_CHECK(u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  TES_TRY(differentiate(ctx, space->dim, exact, gradient));
  const TesFunction *const all[4] = {exact, gradient[0], gradient[1], gradient[2]};
  if (tesi_has_kernels(ctx) && u->precision == TES_DOUBLE && (!exact || gradient[0]))
    TES_TRY(tesi_norms_error_device(space, u, all, l2, h1, &made));
  if (made) goto done;
  TES_ALLOC(&values, space->length);
  TES_TRY(tes_vector_get(u, values));
  Task task = {.u = values, .exact = exact, .gradient = {gradient[0], gradient[1], gradient[2]}};
  tesi_cells_init(space, space->degree + (exact && !gradient[0] ? 6 : 3), &task.cells);
  TES_TRY(sum_rows(ctx, &task, l2, h1));
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&gradient[d]);
  tesi_free(ctx, &values);
  return status;
}

/* Integrals of the nodal basis along one direction: the Gauss-Lobatto weights, exact for degree k <= 2k - 1. */
static void set_weights(const TesiAxis *axis, double *w) {
  double nodes[TESI_MAX_POINTS], weights[TESI_MAX_POINTS];
  const int k = axis->degree;
  if (k == 0) {
    w[0] = 1;
    return;
  }
  tesi_gauss_lobatto(k + 1, nodes, weights);
  for (int c = 0; c < axis->cells; c++)
    for (int i = 0; i <= k; i++) w[c * k + i] += axis->h[c] * weights[i];
}

TesStatus tes_norms_integral(const TesSpace *space, const TesVector *u, double *integral) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = space->axis;
  double *values = NULL, *w[3] = {NULL, NULL, NULL}, sum = 0;
  TES_CHECK(u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  TES_ALLOC(&values, space->length);
  TES_TRY(tes_vector_get(u, values));
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&w[d], axis[d].nodes);
    set_weights(&axis[d], w[d]);
  }
  for (int z = 0; z < axis[2].nodes; z++)
    for (int y = 0; y < axis[1].nodes; y++) {
      const double *row = values + ((int64_t)z * axis[1].nodes + y) * axis[0].nodes;
      double row_sum = 0;
      for (int x = 0; x < axis[0].nodes; x++) row_sum += w[0][x] * row[x];
      sum += w[1][y] * w[2][z] * row_sum;
    }
  *integral = sum;
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &w[d]);
  tesi_free(ctx, &values);
  return status;
}

static int find_cell(const TesiAxis *axis, double x) {
  int low = 0, high = axis->cells - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (axis->x[middle * axis->degree] <= x)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

TesStatus tes_norms_value(const TesSpace *space, const TesVector *u, const double point[3], double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL, nodes[TESI_MAX_POINTS], B[3][TESI_MAX_POINTS] = {{1}, {1}, {1}}, sum = 0;
  int64_t first[3] = {0, 0, 0};
  TES_CHECK(u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  tesi_gauss_lobatto(space->degree + 1, nodes, NULL);
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *axis = &space->axis[d];
    TES_CHECK(point[d] >= axis->x[0] && point[d] <= axis->x[axis->nodes - 1],
              "the point (%g, %g, %g) lies outside the box", point[0], point[1],
              space->dim == 3 ? point[2] : 0);
    const int cell = find_cell(axis, point[d]);
    const double s = (point[d] - axis->x[cell * axis->degree]) / axis->h[cell];
    tesi_lagrange(space->degree + 1, nodes, 1, &s, B[d], NULL);
    first[d] = (int64_t)cell * axis->degree;
  }
  TES_ALLOC(&values, space->length);
  TES_TRY(tes_vector_get(u, values));
  const TesiAxis *axis = space->axis;
  for (int z = 0; z <= axis[2].degree; z++)
    for (int y = 0; y <= axis[1].degree; y++)
      for (int x = 0; x <= axis[0].degree; x++)
        sum += B[0][x] * B[1][y] * B[2][z] *
               values[((first[2] + z) * axis[1].nodes + first[1] + y) * axis[0].nodes + first[0] + x];
  *value = sum;
done:
  tesi_free(ctx, &values);
  return status;
}
