/* Sparse matrices of forests: the assembled operator, on the host and by kernels, and the product with a vector. */
#include "operator/forest/forest.h"
#include "space/space.h"

TesStatus tes_forest_assemble(const TesOperator *op, TesMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *matrix = (TesMatrix){0};
  TES_TRY(tes_mapped_assemble(tesi_forest_inner(op), matrix));
  tesi_forest_add_faces(op, matrix);
done:
  return status;
}

TesStatus tes_forest_assemble_device(const TesOperator *op, TesDeviceMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *matrix = (TesDeviceMatrix){0};
  TES_TRY(tes_mapped_assemble_device(tesi_forest_inner(op), matrix));
  TES_TRY(tesi_forest_add_faces_device(op, matrix));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  if (status != TES_OK) tes_device_matrix_free(op, matrix);
  return status;
}

void tes_forest_matrix_free(const TesSpace *space, TesMatrix *matrix) {
  TesContext *ctx = space->context;
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
