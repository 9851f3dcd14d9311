/* Sparse matrices: the assembled operator, on the host and by kernels, and the product with a vector. */
#include "operator/assembled/matrix.h"
#include "base/team.h"
#include "operator/mapped/mapped_robin.h"

TesStatus tesi_operator_assemble(const TesOperator *op, TesiMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *matrix = (TesiMatrix){0};
  TES_TRY(tesi_mapped_assemble(tesi_robin_inner(op), matrix));
  tesi_mapped_add_faces(op, matrix);
done:
  return status;
}

TesStatus tesi_operator_assemble_device(const TesOperator *op, TesiDeviceMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *matrix = (TesiDeviceMatrix){0};
  TES_TRY(tesi_mapped_assemble_device(tesi_robin_inner(op), matrix));
  TES_TRY(tesi_mapped_add_faces_device(op, matrix));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  if (status != TES_OK) tesi_device_matrix_destroy(op, matrix);
  return status;
}

void tesi_matrix_destroy(TesContext *ctx, TesiMatrix *matrix) {
  tesi_free(ctx, &matrix->row);
  tesi_free(ctx, &matrix->column);
  tesi_free(ctx, &matrix->value);
  *matrix = (TesiMatrix){0};
}

TesStatus tesi_matrix_transpose(TesContext *ctx, const TesiMatrix *matrix, int64_t columns, TesiMatrix *T) {
  TesStatus status = TES_OK;
  const TesiMatrix *m = matrix;
  *T = (TesiMatrix){.rows = columns, .entries = m->entries};
  TES_ALLOC(&T->row, columns + 2);
  TES_ALLOC(&T->column, m->entries);
  if (m->value) TES_ALLOC(&T->value, m->entries);
  for (int64_t e = 0; e < m->entries; e++) T->row[m->column[e] + 2]++;
  for (int64_t i = 0; i < columns; i++) T->row[i + 2] += T->row[i + 1];
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t e = m->row[i]; e < m->row[i + 1]; e++) {
      const int64_t at = T->row[m->column[e] + 1]++;
      T->column[at] = (int32_t)i;
      if (m->value) T->value[at] = m->value[e];
    }
done:
  return status;
}

TesStatus tesi_matrix_by_colour(TesContext *ctx, const TesiMatrix *matrix, int colours, const int32_t *colour,
                                int64_t **first, int64_t **place, int32_t **row_of) {
  TesStatus status = TES_OK;
  const TesiMatrix *m = matrix;
  TES_ALLOC(first, colours + 2);
  TES_ALLOC(place, m->entries);
  TES_ALLOC(row_of, m->entries);
  for (int64_t e = 0; e < m->entries; e++) (*first)[colour[m->column[e]] + 2]++;
  for (int c = 0; c < colours; c++) (*first)[c + 2] += (*first)[c + 1];
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t e = m->row[i]; e < m->row[i + 1]; e++)
      (*place)[(*first)[colour[m->column[e]] + 1]++] = e, (*row_of)[e] = (int32_t)i;
done:
  return status;
}

typedef struct Product {
  const TesiMatrix *matrix;
  const double *x;
  double *y;
} Product;

static void multiply_rows(const void *data, TesiSpan span) {
  const Product *p = data;
  const TesiMatrix *matrix = p->matrix;
  for (int64_t i = span.first; i < span.end; i++) {
    double sum = 0;
    for (int64_t e = matrix->row[i]; e < matrix->row[i + 1]; e++)
      sum += matrix->value[e] * p->x[matrix->column[e]];
    p->y[i] = sum;
  }
}

void tesi_matrix_apply(const TesContext *context, const TesiMatrix *matrix, const double *x, double *y) {
  tesi_team_for(tesi_team_threads(context, matrix->entries), matrix->rows, multiply_rows,
                &(Product){matrix, x, y});
}
