/* Operators over spaces with slip (space/slip.h), around the table of a kind that does not know slip:
 *
 *   A' = P A P + (I - P) S,   S one number per node: the largest diagonal entry of A there.
 *
 * Vectors without a part along normals stay so, and P A P acts on them. The diagonal is S at all entries of a node
 * with slip, so that it commutes with P: smoothers that divide by the diagonal add no part along normals. */
#include <math.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "operator/operator.h"
#include "space/slip.h"

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_context_device(ctx)->copy(ctx, op->length, 1, op->precision, x, op->precision, op->slip_x));
  TES_TRY(tesi_space_project(op->space, op->precision, op->slip_x));
  TES_TRY(op->whole->apply(op, op->slip_x, y));
  TES_TRY(tesi_slip_finish(op->space->slip, op->precision, op->slip_scale, x, op->slip_x, y));
done:
  return status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return tesi_operator_residual_by(apply, op, b, x, r);
}

/* At entries of nodes with slip: d[length] <- scale; or, with `take`, scale[nodes] <- the largest free entry of d. */
static void spread(const TesiSlip *slip, bool take, double *scale, double *d) {
  for (int64_t i = 0; i < slip->count; i++) {
    double largest = 0;
    for (int c = 0; c < slip->dim; c++) {
      double *const at = &d[c * slip->length + slip->node[i]];
      if (take && !tesi_slip_given(slip, i, c)) largest = fmax(largest, *at);
      if (!take) *at = scale[i];
    }
    if (take) scale[i] = largest;
  }
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSlip *slip = op->space->slip;
  double *values = NULL, *scale = NULL;
  TES_ALLOC(&values, op->length);
  TES_ALLOC(&scale, slip->count);
  TES_TRY(op->whole->diagonal(op, d));
  TES_TRY(tesi_operator_get(op, d, values));
  spread(slip, true, scale, values);
  spread(slip, false, scale, values);
  TES_TRY(tesi_operator_set(op, values, d));
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &scale);
  return status;
}

static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_CHECK(op->whole->lift, "an operator of kind %s subtracts no lifting", op->kind->name);
  TES_TRY(op->whole->lift(op, u, b));
  TES_TRY(tesi_space_project(op->space, b->precision, b->data));
done:
  return status;
}

static TesStatus apply_ref(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSlip *slip = op->space->slip;
  double *tangential = NULL, *scale = NULL;
  TES_ALLOC(&tangential, op->length);
  TES_ALLOC(&scale, slip->count);
  for (int64_t i = 0; i < op->length; i++) tangential[i] = x[i];
  tesi_slip_finish_ref(slip, NULL, NULL, NULL, tangential);
  TES_TRY(tesi_context_device(ctx)->to_host(ctx, scale, op->slip_scale, (size_t)slip->count * sizeof *scale));
  TES_TRY(op->whole->apply_ref(op, tangential, y));
  tesi_slip_finish_ref(slip, scale, x, tangential, y);
done:
  tesi_free(ctx, &tangential);
  tesi_free(ctx, &scale);
  return status;
}

static TesCost cost(const TesOperator *op) {
  TesCost cost = op->whole->cost(op);
  const double n = (double)op->length, size = (double)tesi_precision_size(op->precision);
  cost.flops += (double)op->space->slip->count * (4 * op->space->dim * op->space->dim + 3 * op->space->dim);
  cost.bytes +=
      2 * n * size + (double)op->space->slip->count * op->space->dim * (2 * op->space->dim + 6.) * size;
  return cost;
}

static void destroy(TesOperator *op) {
  const TesiDevice *device = tesi_context_device(op->context);
  device->release(op->context, &op->slip_x);
  device->release(op->context, &op->slip_scale);
  op->whole->destroy(op);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

TesStatus tesi_operator_slip(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSlip *slip = op->space->slip;
  double *values = NULL, *scale = NULL;
  TES_ALLOC(&values, op->length);
  TES_ALLOC(&scale, slip->count);
  op->whole = op->table;
  op->table = &table;
  op->singular = 0; /* constants may remain in the null space; the caller has to find them */
  TES_TRY(tesi_operator_vector(op, &op->slip_x));
  TES_TRY(op->whole->diagonal(op, op->slip_x));
  TES_TRY(tesi_operator_get(op, op->slip_x, values));
  spread(slip, true, scale, values);
  TES_TRY(tesi_upload(ctx, scale, (size_t)slip->count * sizeof *scale, &op->slip_scale));
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &scale);
  return status;
}
