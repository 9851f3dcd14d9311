/* Sparse matrices of forests: the assembled operator, hanging nodes as a matrix, and the product with a vector. */
#include <string.h>
#include "operator/forest/op_forest.h"
#include "space/forest_space.h"

TesStatus tes_forest_assemble(const TesOperator *op, TesMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *matrix = (TesMatrix){0};
  TES_TRY(tes_mapped_assemble(tesi_forest_inner(op), matrix));
  tesi_forest_add_faces(op, matrix);
done:
  return status;
}

void tes_forest_matrix_free(const TesForestSpace *space, TesMatrix *matrix) {
  TesContext *ctx = tes_forest_space_context(space);
  tesi_free(ctx, &matrix->row);
  tesi_free(ctx, &matrix->column);
  tesi_free(ctx, &matrix->value);
  *matrix = (TesMatrix){0};
}

void tes_matrix_apply(const TesContext *context, const TesMatrix *matrix, const double *x, double *y) {
#pragma omp parallel for schedule(static) num_threads(tes_context_threads(context))
  for (int64_t i = 0; i < matrix->rows; i++) {
    double sum = 0;
    for (int64_t e = matrix->row[i]; e < matrix->row[i + 1]; e++)
      sum += matrix->value[e] * x[matrix->column[e]];
    y[i] = sum;
  }
}

/* Columns u[p] of C, one node p of a cell at a time: C[q][p] to rows[q][p]. */
static void cell_constraints(const TesForestSpace *s, int64_t cell, double *rows) {
  double u[9 * 9 * 9];
  for (int p = 0; p < s->cell_nodes; p++) {
    memset(u, 0, sizeof u);
    u[p] = 1;
    tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], u);
    for (int q = 0; q < s->cell_nodes; q++) rows[q * s->cell_nodes + p] = u[q];
  }
}

/* Entries of the rows of a cell; column and value may be NULL (counting). */
static int64_t cell_rows(const TesForestSpace *s, int64_t cell, double *rows, int64_t at, TesMatrix *H) {
  const int32_t *index = s->index + cell * s->cell_nodes;
  const bool hangs = s->mask[cell] >> 3;
  if (hangs) cell_constraints(s, cell, rows);
  for (int q = 0; q < s->cell_nodes; q++) {
    for (int p = hangs ? 0 : q; p < (hangs ? s->cell_nodes : q + 1); p++) {
      const double value = hangs ? rows[q * s->cell_nodes + p] : 1;
      if (value == 0) continue;
      if (H->value) {
        H->column[at] = index[p] < 0 ? ~index[p] : index[p];
        H->value[at] = value;
      }
      at++;
    }
    if (H->value) H->row[cell * s->cell_nodes + q + 1] = at;
  }
  return at;
}

TesStatus tes_forest_constraints(const TesForestSpace *space, TesMatrix *H) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesMatrix h = {.rows = space->cells * space->cell_nodes};
  double *rows = NULL;
  *H = h;
  TES_ALLOC(&rows, space->cell_nodes * space->cell_nodes);
  for (int64_t c = 0; c < space->cells; c++) h.entries = cell_rows(space, c, rows, h.entries, &h);
  TES_ALLOC(&h.row, h.rows + 1);
  TES_ALLOC(&h.column, h.entries);
  TES_ALLOC(&h.value, h.entries);
  for (int64_t c = 0, at = 0; c < space->cells; c++) at = cell_rows(space, c, rows, at, &h);
  *H = h;
done:
  tesi_free(ctx, &rows);
  if (status != TES_OK) tes_forest_matrix_free(space, &h);
  return status;
}
