/* Matrix rows for point Gauss-Seidel. The code is plain, since this smoother is for comparisons. */
#include "base/afford.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "smoother/gauss_seidel/gauss_seidel.h"

/* Node i is coupled to the unknowns among the nodes of its cells. */
static void fill_extents(const TesiAxis *axis, int *lower, int *upper) {
  const int k = axis->degree;
  for (int i = 0; i < axis->nodes; i++) {
    const int first = k == 0 ? 0 : tesi_max((i - 1) / k, 0),
              last = k == 0 ? 0 : tesi_min(i / k, axis->cells - 1);
    lower[i] = tesi_max(i == 0 ? 0 : first * k, tesi_axis_first(axis));
    upper[i] = tesi_min((last + 1) * k + 1, tesi_axis_end(axis));
  }
}

/* Bands of the 1D matrices of direction d, with the entries of tesi_operator_axis_matrices. */
static TesStatus fill_bands(const TesOperator *op, int d, TesiRows *rows) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = &op->space->axis[d];
  const int n = axis->degree + 1, width = 2 * axis->degree + 1;
  double mass[TESI_MAX_POINTS * TESI_MAX_POINTS] = {1}, stiffness[TESI_MAX_POINTS * TESI_MAX_POINTS] = {0};
  TES_ALLOC(&rows->K[d], axis->nodes * width);
  TES_ALLOC(&rows->M[d], axis->nodes * width);
  if (d < op->space->dim) tesi_cell_matrices(axis->degree, mass, stiffness);
  for (int cell = 0; cell < axis->cells; cell++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const int row = cell * axis->degree + i, column = cell * axis->degree + j;
        if (column < rows->lower[d][row] || column >= rows->upper[d][row]) continue;
        const int entry = row * width + column - rows->lower[d][row];
        const double h = axis->h[cell], m = h * mass[i * n + j];
        rows->M[d][entry] += m;
        rows->K[d][entry] +=
            tesi_diffusion_of(op)->a / h * stiffness[i * n + j] + (d == 0 ? tesi_diffusion_of(op)->c * m : 0);
      }
  for (int end = 0; end < 2; end++) {
    const int i = end ? axis->nodes - 1 : 0;
    if (axis->end[end] != TESI_STRONG && d < op->space->dim)
      rows->K[d][i * width + i - rows->lower[d][i]] += tesi_diffusion_of(op)->alpha[2 * d + end];
  }
done:
  return status;
}

/* The node (i, j, k) of number n. */
static void split(const TesSpace *space, int64_t n, int node[3]) {
  for (int d = 0; d < 3; d++) {
    node[d] = (int)(n % space->axis[d].nodes);
    n /= space->axis[d].nodes;
  }
}

static bool unknown(const TesSpace *space, const int node[3]) {
  for (int d = 0; d < 3; d++)
    if (node[d] < tesi_axis_first(&space->axis[d]) || node[d] >= tesi_axis_end(&space->axis[d])) return false;
  return true;
}

static TesStatus fill_offsets(const TesOperator *op, TesiRows *rows) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = op->space;
  int64_t count = 0;
  TES_ALLOC(&rows->offset, space->length);
  for (int64_t n = 0; n < space->length; n++) {
    int node[3], size = 1;
    split(space, n, node);
    for (int d = 0; d < 3; d++) size *= rows->upper[d][node[d]] - rows->lower[d][node[d]];
    rows->offset[n] = count;
    if (unknown(space, node)) count += size;
  }
  TES_TRY(tesi_afford(ctx, (double)count * sizeof(double), 0.8 * (double)tes_memory_available(),
                      "chebyshev and patch smoothers store none",
                      "point Gauss-Seidel stores the matrix of %lld unknowns of degree %d, which needs",
                      (long long)space->dofs, space->degree));
  TES_ALLOC(&rows->values, count);
done:
  return status;
}

/* A is applied to the sum of the unit vectors whose index is c modulo 2 degree + 1 in every direction: each row meets
 * at most one of them. */
static TesStatus probe(const TesOperator *op, const int c[3], double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = op->space;
  TesVector *xv = NULL, *yv = NULL;
  for (int64_t n = 0; n < space->length; n++) {
    int node[3];
    split(space, n, node);
    x[n] = unknown(space, node);
    for (int d = 0; d < 3; d++)
      if (node[d] % (2 * space->axis[d].degree + 1) != c[d]) x[n] = 0;
  }
  TES_TRY(tes_vector_create(ctx, space->length, op->precision, &xv));
  TES_TRY(tes_vector_create(ctx, space->length, op->precision, &yv));
  TES_TRY(tes_vector_set(xv, x));
  TES_TRY(tes_operator_apply(op, xv, yv));
  TES_TRY(tes_vector_get(yv, y));
done:
  tes_vector_destroy(&xv);
  tes_vector_destroy(&yv);
  return status;
}

/* The column of row `node` that is in probe c; -1: none. */
static int64_t met_by(const TesiRows *rows, const int node[3], const int c[3]) {
  int64_t column = 0;
  for (int d = 2; d >= 0; d--) {
    const int period = 2 * rows->space->axis[d].degree + 1, lower = rows->lower[d][node[d]],
              upper = rows->upper[d][node[d]], j = lower + (c[d] - lower % period + period) % period;
    if (j >= upper) return -1;
    column = column * (upper - lower) + j - lower;
  }
  return column;
}

static TesStatus fill_values(const TesOperator *op, TesiRows *rows) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = op->space;
  double *x = NULL, *y = NULL;
  int c[3];
  TES_ALLOC(&x, space->length);
  TES_ALLOC(&y, space->length);
  for (c[2] = 0; c[2] <= 2 * space->axis[2].degree; c[2]++)
    for (c[1] = 0; c[1] <= 2 * space->axis[1].degree; c[1]++)
      for (c[0] = 0; c[0] <= 2 * space->axis[0].degree; c[0]++) {
        TES_TRY(probe(op, c, x, y));
        for (int64_t n = 0; n < space->length; n++) {
          int node[3];
          split(space, n, node);
          const int64_t column = unknown(space, node) ? met_by(rows, node, c) : -1;
          if (column >= 0) rows->values[rows->offset[n] + column] = y[n];
        }
      }
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &y);
  return status;
}

TesStatus tesi_rows_create(const TesOperator *op, TesiRows *rows) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  rows->space = op->space;
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&rows->lower[d], op->space->axis[d].nodes);
    TES_ALLOC(&rows->upper[d], op->space->axis[d].nodes);
    fill_extents(&op->space->axis[d], rows->lower[d], rows->upper[d]);
  }
  if (tesi_is_separable(op)) {
    for (int d = 0; d < 3; d++) TES_TRY(fill_bands(op, d, rows));
  } else {
    TES_TRY(fill_offsets(op, rows));
    TES_TRY(fill_values(op, rows));
  }
done:
  return status;
}

void tesi_rows_destroy(TesContext *ctx, TesiRows *rows) {
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &rows->lower[d]);
    tesi_free(ctx, &rows->upper[d]);
    tesi_free(ctx, &rows->K[d]);
    tesi_free(ctx, &rows->M[d]);
  }
  tesi_free(ctx, &rows->offset);
  tesi_free(ctx, &rows->values);
}

/* K_x M_y M_z + M_x K_y M_z + M_x M_y K_z, one entry or one line in x at a time. */
static double separable_product(const TesiRows *rows, const int node[3], const double *x, double *diagonal) {
  const double *K[3], *M[3];
  int lower[3], count[3];
  double sum = 0;
  for (int d = 0; d < 3; d++) {
    const int width = 2 * rows->space->axis[d].degree + 1;
    K[d] = rows->K[d] + (int64_t)node[d] * width;
    M[d] = rows->M[d] + (int64_t)node[d] * width;
    lower[d] = rows->lower[d][node[d]];
    count[d] = rows->upper[d][node[d]] - lower[d];
  }
  for (int k = 0; k < count[2]; k++)
    for (int j = 0; j < count[1]; j++) {
      const double *line =
          x +
          ((int64_t)(lower[2] + k) * rows->space->axis[1].nodes + lower[1] + j) * rows->space->axis[0].nodes +
          lower[0];
      const double mm = M[1][j] * M[2][k], km = K[1][j] * M[2][k] + M[1][j] * K[2][k];
      for (int i = 0; i < count[0]; i++) sum += (K[0][i] * mm + M[0][i] * km) * line[i];
      if (lower[1] + j == node[1] && lower[2] + k == node[2]) {
        const int i = node[0] - lower[0];
        *diagonal = K[0][i] * mm + M[0][i] * km;
        sum -= *diagonal * line[i];
      }
    }
  return sum;
}

static double stored_product(const TesiRows *rows, const int node[3], int64_t n, const double *x,
                             double *diagonal) {
  const double *value = rows->values + rows->offset[n];
  const int count = rows->upper[0][node[0]] - rows->lower[0][node[0]];
  double sum = 0;
  for (int k = rows->lower[2][node[2]]; k < rows->upper[2][node[2]]; k++)
    for (int j = rows->lower[1][node[1]]; j < rows->upper[1][node[1]]; j++, value += count) {
      const double *line = x + ((int64_t)k * rows->space->axis[1].nodes + j) * rows->space->axis[0].nodes +
                           rows->lower[0][node[0]];
      for (int i = 0; i < count; i++) sum += value[i] * line[i];
      if (j == node[1] && k == node[2]) {
        const int i = node[0] - rows->lower[0][node[0]];
        *diagonal = value[i];
        sum -= *diagonal * line[i];
      }
    }
  return sum;
}

double tesi_rows_product(const TesiRows *rows, int64_t i, const double *x, double *diagonal) {
  int node[3];
  split(rows->space, i, node);
  return rows->K[0] ? separable_product(rows, node, x, diagonal) : stored_product(rows, node, i, x, diagonal);
}
