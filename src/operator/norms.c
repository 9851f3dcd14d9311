#include "tessera/norms.h"
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "device/vector.h"
#include "operator/cell_rows.h"

/* What one row of cells needs: values of u, of the exact solution, coordinates, weights, scratch. */
enum { ARRAYS = 8 };

typedef struct Task {
  const TesiCellRows *rows;
  const double *u;
  const TesFunction *exact, *gradient[3];
  double *sums; /* [rows of cells][2]: L2, H1, squared */
} Task;

static TesStatus subtract(const TesFunction *f, int64_t n, double *const work[ARRAYS], double *values) {
  if (!f) return TES_OK;
  const TesStatus status = tes_function_evaluate(f, n, work[0], work[1], work[2], 0, work[4]);
  for (int64_t i = 0; status == TES_OK && i < n; i++) values[i] -= work[4][i];
  return status;
}

static TesStatus sum_row(const Task *task, int cy, int cz, double *memory, double *sums) {
  const TesiCellRows *rows = task->rows;
  const int64_t n = rows->points;
  double *work[ARRAYS];
  for (int i = 0; i < ARRAYS; i++) work[i] = memory + i * n;
  tesi_cell_rows_coordinates(rows, cy, cz, work[0], work[1], work[2]);
  tesi_cell_rows_weights(rows, cy, cz, work[3]);
  for (int derivative = -1; derivative < rows->space->dim; derivative++) {
    tesi_cell_rows_evaluate(rows, cy, cz, task->u, derivative, work[5], work[6]);
    const TesStatus status =
        subtract(derivative < 0 ? task->exact : task->gradient[derivative], n, work, work[5]);
    if (status != TES_OK) return status;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += work[3][i] * work[5][i] * work[5][i];
    sums[derivative < 0 ? 0 : 1] += sum;
  }
  return TES_OK;
}

static TesStatus sum_rows(TesContext *ctx, const Task *task, double *l2, double *h1) {
  TesStatus status = TES_OK;
  const TesSpace *space = task->rows->space;
  const int threads = tes_context_threads(ctx), count = space->axis[1].cells * space->axis[2].cells;
  const int64_t size = ARRAYS * task->rows->points;
  double *memory = NULL, *sums = NULL;
  int failed = TES_OK;
  TES_ALLOC(&memory, size * threads);
  TES_ALLOC(&sums, 2 * count);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; thread++)
    for (int i = thread; i < count; i += threads) {
      const TesStatus row = sum_row(task, i % space->axis[1].cells, i / space->axis[1].cells,
                                    memory + size * thread, sums + 2 * i);
      if (row != TES_OK) {
#pragma omp atomic write
        failed = row;
        break;
      }
    }
  TES_TRY((TesStatus)failed);
  *l2 = *h1 = 0;
  for (int i = 0; i < count; i++) *l2 += sums[2 * i], *h1 += sums[2 * i + 1];
  *l2 = sqrt(*l2);
  *h1 = sqrt(*h1);
done:
  tesi_free(ctx, &memory);
  tesi_free(ctx, &sums);
  return status;
}

/* ---- callbacks: the derivative of the interpolant on Gauss points of each cell --------------------------------------- */

typedef struct Interpolant {
  const TesFunction *f;
  const TesSpace *space;
  int direction, n;
  double node[TESI_MAX_POINTS];
} Interpolant;

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

/* One-dimensional interpolation in the direction of the derivative is enough: the other coordinates stay. */
static void interpolant_derivative(void *user, int64_t count, const double *x, const double *y,
                                   const double *z, double t, double *out) {
  const Interpolant *in = user;
  const TesiAxis *axis = &in->space->axis[in->direction];
  const double *coordinates[3] = {x, y, z};
  double point[3][TESI_MAX_POINTS], value[TESI_MAX_POINTS], G[TESI_MAX_POINTS];
  for (int64_t i = 0; i < count; i++) {
    const double at = coordinates[in->direction][i];
    const int cell = find_cell(axis, at);
    const double first = axis->x[cell * axis->degree], h = axis->h[cell], s = (at - first) / h;
    for (int j = 0; j < in->n; j++)
      for (int d = 0; d < 3; d++)
        point[d][j] = d == in->direction ? first + h * in->node[j] : coordinates[d][i];
    out[i] = NAN; /* a value that cannot be had shows as one */
    if (tes_function_evaluate(in->f, in->n, point[0], point[1], point[2], t, value) != TES_OK) continue;
    tesi_lagrange(in->n, in->node, 1, &s, NULL, G);
    out[i] = 0;
    for (int j = 0; j < in->n; j++) out[i] += G[j] * value[j] / h;
  }
}

/* The derivative of f: symbolic, or else of its interpolant kept in *interpolant. */
static TesStatus differentiate(TesContext *ctx, const TesSpace *space, const TesFunction *f, int direction,
                               Interpolant *interpolant, TesFunction **derivative) {
  if (tes_function_create_derivative(f, direction, derivative) == TES_OK) return TES_OK;
  tes_context_clear(ctx);
  double weights[TESI_MAX_POINTS];
  *interpolant = (Interpolant){.f = f, .space = space, .direction = direction, .n = space->degree + 6};
  tesi_gauss(interpolant->n, interpolant->node, weights);
  return tes_function_create_callback(ctx, interpolant_derivative, interpolant, NULL, derivative);
}

TesStatus tes_norms_error(const TesSpace *space, const TesVector *u, const TesFunction *exact, double *l2,
                          double *h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *gradient[3] = {NULL, NULL, NULL};
  Interpolant interpolant[3];
  double *values = NULL;
  TesiCellRows rows;
  TES_CHECK(u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  TES_ALLOC(&values, space->length);
  TES_TRY(tes_vector_get(u, values));
  for (int d = 0; exact && d < space->dim; d++)
    TES_TRY(differentiate(ctx, space, exact, d, &interpolant[d], &gradient[d]));
  tesi_cell_rows_init(space, space->degree + 3, &rows);
  const Task task = {
      .rows = &rows, .u = values, .exact = exact, .gradient = {gradient[0], gradient[1], gradient[2]}};
  TES_TRY(sum_rows(ctx, &task, l2, h1));
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&gradient[d]);
  tesi_free(ctx, &values);
  return status;
}

TesStatus tes_norms_integral(const TesSpace *space, const TesVector *u, double *integral) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL, *memory = NULL, sum = 0;
  TesiCellRows rows;
  TES_ALLOC(&values, space->length);
  TES_TRY(tes_vector_get(u, values));
  tesi_cell_rows_init(space, space->degree + 3, &rows);
  TES_ALLOC(&memory, 4 * rows.points);
  for (int cz = 0; cz < space->axis[2].cells; cz++)
    for (int cy = 0; cy < space->axis[1].cells; cy++) {
      tesi_cell_rows_weights(&rows, cy, cz, memory);
      tesi_cell_rows_evaluate(&rows, cy, cz, values, -1, memory + rows.points, memory + 2 * rows.points);
      for (int64_t i = 0; i < rows.points; i++) sum += memory[i] * memory[rows.points + i];
    }
  *integral = sum;
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &memory);
  return status;
}

TesStatus tes_norms_value(const TesSpace *space, const TesVector *u, const double point[3], double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL, nodes[TESI_MAX_POINTS], B[3][TESI_MAX_POINTS] = {{1}, {1}, {1}}, sum = 0;
  int64_t first[3] = {0, 0, 0};
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
