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
