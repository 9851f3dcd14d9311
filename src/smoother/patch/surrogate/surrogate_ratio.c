/* Means of c/a and alpha/a, the coefficients of an operator with constant coefficients. */
#include "smoother/patch/surrogate/surrogate.h"

/* Adds f/a at the cell centres of one line in x, divided by their number. On a face: the centres of its sides. */
static TesStatus add_line(const TesOperator *op, const TesFunction *f, int face, const int cell[3],
                          double *x[5], double *sum) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int count = face == 0 || face == 1 ? 1 : op->space->axis[0].cells;
  for (int i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      const TesiAxis *axis = &op->space->axis[d];
      const int c = d == 0 ? i : cell[d];
      x[d][i] = d >= op->space->dim ? 0 : (axis->x[c * axis->degree] + axis->x[(c + 1) * axis->degree]) / 2;
      if (face >= 0 && face / 2 == d) x[d][i] = axis->x[face % 2 ? axis->nodes - 1 : 0];
    }
  TES_TRY(tes_function_evaluate(f, count, x[0], x[1], x[2], 0, x[3]));
  for (int i = 0; i < count; i++) x[4][i] = 1;
  if (tesi_diffusion_of(op)->a_function)
    TES_TRY(tes_function_evaluate(tesi_diffusion_of(op)->a_function, count, x[0], x[1], x[2], 0, x[4]));
  for (int i = 0; i < count; i++) *sum += x[3][i] / x[4][i] / count;
done:
  return status;
}

TesStatus tesi_coefficient_ratio(const TesOperator *op, const TesFunction *f, int face, double *mean) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *x[5] = {NULL}, sum = 0;
  int cell[3] = {0}, lines[3] = {0}, count = 0;
  *mean = 0;
  if (!f) return TES_OK;
  for (int d = 1; d < 3; d++) lines[d] = face >= 0 && face / 2 == d ? 1 : op->space->axis[d].cells;
  for (int i = 0; i < 5; i++) TES_ALLOC(&x[i], op->space->axis[0].cells);
  for (cell[2] = 0; cell[2] < lines[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < lines[1]; cell[1]++, count++) TES_TRY(add_line(op, f, face, cell, x, &sum));
  *mean = sum / count;
done:
  for (int i = 0; i < 5; i++) tesi_free(ctx, &x[i]);
  return status;
}
