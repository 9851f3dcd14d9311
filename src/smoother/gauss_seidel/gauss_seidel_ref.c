/* Plain Gauss-Seidel: a dense matrix, nodes numbered by a walk over all cells sorted by their Morton codes. */
#include <stdlib.h>
#include "smoother/gauss_seidel/gauss_seidel.h"
#include "base/ascending.h"

typedef struct Cell {
  uint64_t code;
  int index[3];
} Cell;

static uint64_t morton_code(const int index[3]) {
  uint64_t code = 0;
  for (int bit = 0; bit < 21; bit++)
    for (int d = 0; d < 3; d++) code |= (uint64_t)(index[d] >> bit & 1) << (3 * bit + d);
  return code;
}

/* Directions in which a node is not at an end of its cell: 0 vertex, 1 line, 2 face. */
static int inner_directions(const TesiAxis *axis, const int i[3]) {
  int inner = 0;
  for (int d = 0; d < 3; d++) inner += i[d] != 0 && i[d] != axis[d].degree;
  return inner;
}

/* Numbers the nodes of a cell in this position that have no number yet; rank [length] is -1 for nodes without a
 * number. */
static void number_cell(const TesSpace *space, const int cell[3], int inner, int64_t *count, int64_t *rank,
                        int64_t *order) {
  const TesiAxis *axis = space->axis;
  int i[3];
  for (i[2] = 0; i[2] <= axis[2].degree; i[2]++)
    for (i[1] = 0; i[1] <= axis[1].degree; i[1]++)
      for (i[0] = 0; i[0] <= axis[0].degree; i[0]++) {
        int64_t node = 0;
        bool keep = inner_directions(axis, i) == inner;
        for (int d = 2; d >= 0; d--) {
          const int n = cell[d] * axis[d].degree + i[d];
          keep = keep && n >= tesi_axis_first(&axis[d]) && n < tesi_axis_end(&axis[d]);
          node = node * axis[d].nodes + n;
        }
        if (!keep || rank[node] >= 0) continue;
        rank[node] = *count;
        order[(*count)++] = node;
      }
}

static TesStatus number_unknowns(const TesSmoother *smoother, int64_t *order) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  const int64_t cells = (int64_t)space->axis[0].cells * space->axis[1].cells * space->axis[2].cells;
  Cell *cell = NULL;
  int64_t *rank = NULL, count = 0;
  TES_ALLOC(&cell, cells);
  TES_ALLOC(&rank, space->length);
  for (int64_t n = 0; n < space->length; n++) rank[n] = -1;
  for (int64_t c = 0; c < cells; c++) {
    int64_t rest = c;
    for (int d = 0; d < 3; d++) {
      cell[c].index[d] = (int)(rest % space->axis[d].cells);
      rest /= space->axis[d].cells;
    }
    cell[c].code = morton_code(cell[c].index);
  }
  qsort(cell, (size_t)cells, sizeof *cell, tesi_ascending_uint64);
  for (int64_t c = 0; c < cells; c++)
    for (int inner = 0; inner <= 3; inner++) number_cell(space, cell[c].index, inner, &count, rank, order);
  if (smoother->kind == TES_SMOOTHER_GAUSS_SEIDEL) { /* ascending instead */
    count = 0;
    for (int64_t n = 0; n < space->length; n++)
      if (rank[n] >= 0) order[count++] = n;
  }
done:
  tesi_free(ctx, &cell);
  tesi_free(ctx, &rank);
  return status;
}

TesStatus tesi_gauss_seidel_apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const int64_t n = op->space->length, dofs = op->space->dofs;
  double *A = NULL, *unit = NULL;
  int64_t *order = NULL;
  TES_ALLOC(&A, n * n);
  TES_ALLOC(&unit, n);
  TES_ALLOC(&order, dofs);
  TES_TRY(number_unknowns(smoother, order));
  for (int64_t j = 0; j < n; j++) { /* A is symmetric: columns are rows */
    unit[j] = 1;
    TES_TRY(op->table->apply_ref(op, unit, A + j * n));
    unit[j] = 0;
  }
  for (int64_t s = 0; s < dofs; s++) {
    const int64_t i = order[sweep == TES_FORWARD ? s : dofs - 1 - s];
    double r = b[i];
    for (int64_t j = 0; j < n; j++) r -= A[i * n + j] * x[j];
    x[i] += r / A[i * n + i];
  }
done:
  tesi_free(ctx, &A);
  tesi_free(ctx, &unit);
  tesi_free(ctx, &order);
  return status;
}
