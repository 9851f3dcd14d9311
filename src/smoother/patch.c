/* The multiplicative vertex-patch smoother with exact local solves, for separable operators. */
#include <stdio.h>
#include "device/kernel.h"
#include "smoother/patch.h"
#include "smoother/patch_cuda.h"

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int64_t n = smoother->op->space->length;
  const bool single = smoother->op->precision == TES_SINGLE;
  double *bs = NULL, *xs = NULL;
  TES_ALLOC(&bs, n);
  TES_ALLOC(&xs, n);
  for (int64_t i = 0; i < n; i++) bs[i] = single ? (double)((const float *)b)[i] : ((const double *)b)[i];
  for (int64_t i = 0; !zero_guess && i < n; i++)
    xs[i] = single ? (double)((const float *)x)[i] : ((const double *)x)[i];
  TES_TRY(tesi_smoother_patch_apply_ref(smoother, bs, xs, sweep));
  for (int64_t i = 0; i < n; i++)
    if (single)
      ((float *)x)[i] = (float)xs[i];
    else
      ((double *)x)[i] = xs[i];
done:
  tesi_free(ctx, &bs);
  tesi_free(ctx, &xs);
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const double n = (double)smoother->op->space->length;
  return (TesCost){.flops = 0, .bytes = 3 * n * (double)tesi_precision_size(smoother->op->precision)};
}

static void destroy(TesSmoother *smoother) {
  (void)smoother;
}

static const TesiSmootherTable table = {
    .apply = apply,
    .apply_ref = tesi_smoother_patch_apply_ref,
    .cost = cost,
    .destroy = destroy,
};

TesStatus tesi_smoother_patch_init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TES_CHECK(smoother->omega == 0 || smoother->omega == 1,
            "omega is %g: the multiplicative patch smoother with exact local solves is not damped",
            smoother->omega);
  smoother->omega = 1;
  smoother->symmetric = true;
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_smoother_patch_cuda_init(smoother));
    goto done;
  }
  snprintf(smoother->description, sizeof smoother->description, "patch, exact local solves, plain");
  smoother->table = &table;
done:
  return status;
}
