/* correct_residual on devices with kernels, pass by pass, with a float64 work vector that the operator keeps after
 * its first use. */
#include "operator/operator_by_part.h"
#include "operator/quadrature/quadrature_device.h"

TesStatus tesi_operator_reserve(const TesOperator *op) {
  const TesiDevice *device = tesi_context_device(op->context);
  const TesiOperatorByPart *parts = tesi_operator_by_part_of(op);
  TesStatus status = TES_OK;
  for (int p = 0; parts && p < parts->count && status == TES_OK; p++)
    status = tesi_operator_reserve(parts->part[p]);
  if (status != TES_OK || parts) return status;
  if (op->work || !tesi_has_kernels(op->context) || !op->table->correct_residual) return TES_OK;
  return device->allocate(op->context, (size_t)op->length * sizeof(double), &((TesOperator *)op)->work);
}

TesStatus tesi_operator_correct_residual_device(const TesOperator *op, const TesiCorrection *correction,
                                                double *norm) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiCorrection *c = correction;
  TES_TRY(tesi_operator_reserve(op));
  if (c->e) TES_TRY(device->axpy(ctx, op->length, c->scale, TES_SINGLE, c->e, TES_DOUBLE, c->x));
  TES_TRY(op->table->residual(op, c->b, c->x, op->work));
  TES_TRY(device->copy(ctx, op->length, c->factor, TES_DOUBLE, op->work, TES_SINGLE, c->r));
  if (norm) {
    const TesVector work = {.context = ctx, .length = op->length, .precision = TES_DOUBLE, .data = op->work};
    TES_TRY(tes_vector_norm(&work, norm));
  }
done:
  return status;
}
