#include "operator/op_plain.h"
#include <stdio.h>

/* y <- A x, or b - A x, by the plain version in float64. */
static TesStatus run(const TesOperator *op, const void *b, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *xs = NULL, *ys = NULL;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t n = op->space->length;
  TES_ALLOC(&xs, n);
  TES_ALLOC(&ys, n);
  TES_TRY(device->copy(ctx, n, 1, op->precision, x, TES_DOUBLE, xs));
  TES_TRY(tesi_diffusion_apply_ref(op, xs, ys));
  if (b) {
    TES_TRY(device->copy(ctx, n, 1, op->precision, b, TES_DOUBLE, xs));
    for (int64_t i = 0; i < n; i++) ys[i] = xs[i] - ys[i];
  }
  TES_TRY(device->copy(ctx, n, 1, TES_DOUBLE, ys, op->precision, y));
done:
  tesi_free(ctx, &xs);
  tesi_free(ctx, &ys);
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  return run(op, NULL, x, y);
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *ds = NULL;
  TES_ALLOC(&ds, op->space->length);
  TES_TRY(tesi_diffusion_diagonal_ref(op, ds));
  TES_TRY(tesi_context_device(ctx)->copy(ctx, op->space->length, 1, TES_DOUBLE, ds, op->precision, d));
done:
  tesi_free(ctx, &ds);
  return status;
}

static TesCost cost(const TesOperator *op) {
  const TesSpace *space = op->space;
  double cells = 1, nodes = 1;
  for (int d = 0; d < 3; d++) cells *= space->axis[d].cells, nodes *= space->axis[d].degree + 1;
  return (TesCost){.flops = cells * nodes * nodes * 26,
                   .bytes = 2.0 * (double)space->length * (double)tesi_precision_size(op->precision)};
}

static void destroy(TesOperator *op) {
  (void)op;
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = run,
                                        .diagonal = diagonal,
                                        .apply_ref = tesi_diffusion_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

TesStatus tesi_operator_plain_init(TesOperator *op) {
  op->table = &table;
  snprintf(op->description, sizeof op->description, "plain cell by cell, degree %d", op->space->degree);
  return TES_OK;
}
