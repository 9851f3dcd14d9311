/* The kind dg: products with banded matrices, a direction at a time. */
#include "operator/dg/dg.h"
#include <stdio.h>
#include "device/kernel.h"
#include "operator/dg/dg_device.h"
#include "operator/form.h"
#include "parallel/comm.h"

/* y <- keep y + factor Ld in direction d x. */
static void product(const TesOperator *op, int d, double factor, bool keep, const void *x, void *y) {
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiAxis *axis = s->space->axis;
  TesiBandProduct p = {.band = &s->axis[d].penalty, .outer = 1, .inner = 1, .factor = factor, .keep = keep};
  for (int e = 0; e < d; e++) p.inner *= axis[e].nodes;
  for (int e = d + 1; e < 3; e++) p.outer *= axis[e].nodes;
  tesi_band_product(op->context, &p, op->precision == TES_SINGLE, x, y);
}

/* y <- keep y + sign A x. */
static TesStatus add(const TesOperator *op, double sign, bool keep, const void *x, void *y) {
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  if (s->nu == 0 && !keep)
    status = tesi_context_device(op->context)->fill(op->context, op->precision, op->length, 0, y);
  for (int d = 0; d < s->space->dim && s->nu != 0; d++) product(op, d, sign * s->nu, keep || d > 0, x, y);
  if (s->alpha != 0)
    status = tesi_context_device(op->context)
                 ->axpy(op->context, op->length, sign * s->alpha, op->precision, x, op->precision, y);
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  if (tesi_dg_of(op)->device) return tesi_dg_device_add(op->context, tesi_dg_of(op)->device, NULL, 1, x, y);
  return add(op, 1, false, x, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (tesi_dg_of(op)->device) return tesi_dg_device_add(ctx, tesi_dg_of(op)->device, b, -1, x, r);
  if (r != b) TES_TRY(tesi_context_device(ctx)->copy(ctx, op->length, 1, op->precision, b, op->precision, r));
  TES_TRY(add(op, -1, true, x, r));
done:
  return status;
}

static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  return residual(op, b->data, u->data, b->data);
}

/* Computed on the host, then copied. */
static TesStatus diagonal(const TesOperator *op, void *out) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const int extent[3] = TESI_EXTENT(s->space);
  double *exact = NULL;
  TES_ALLOC(&exact, op->length);
  for (int64_t j = 0; j < op->length; j++) {
    const int mode[3] = {(int)(j % extent[0]), (int)(j / extent[0] % extent[1]),
                         (int)(j / extent[0] / extent[1])};
    exact[j] = s->alpha;
    for (int d = 0; d < s->space->dim; d++)
      exact[j] += s->nu * tesi_band_entry(&s->axis[d].penalty, mode[d], mode[d]);
  }
  TES_TRY(tesi_operator_set(op, exact, out));
done:
  tesi_free(ctx, &exact);
  return status;
}

static TesCost cost(const TesOperator *op) {
  const TesiStokes *s = tesi_stokes_of(op);
  const double length = (double)op->length;
  return (TesCost){.flops = length * 2 * s->space->dim * 3 * (s->space->degree + 1),
                   .bytes = 2 * length * (double)tesi_precision_size(op->precision)};
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  TesiDg *dg = op->data;
  if (!dg) return;
  for (int d = 0; d < 3; d++) tesi_stokes_axis_free(ctx, &dg->stokes.axis[d]);
  tesi_dg_device_destroy(ctx, &dg->device);
  tes_vector_destroy(&op->null);
  tesi_free(ctx, &op->data);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = tesi_dg_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

static const char *refuses(const TesOperatorDesc *desc) {
  double value;
  if (!desc->space || !desc->space->element->weak) return "the space is not of element dg";
  for (int i = 0; i < desc->form.terms; i++)
    if (!tesi_coefficient_constant(&desc->form.term[i].a, 0, &value)) return "a coefficient is not constant";
  return NULL;
}

/* Of all ranks. */
static bool is_free(const TesSpace *space) {
  bool given = false;
  for (int d = 0; d < space->dim; d++)
    given = given || space->axis[d].end[0] == TESI_WEAK || space->axis[d].end[1] == TESI_WEAK;
  return !tesi_reduce_any(space->context, given);
}

static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiDg *dg;
  op->table = &table;
  TES_NEW(&dg);
  op->data = dg;
  TesiStokes *const s = &dg->stokes;
  TES_TRY(tesi_stokes_take_constants(op, "the coefficient a", "the coefficient c", s));
  if (!tesi_form_term(&op->desc.form, TES_TERM_DIFFUSION, 0)) s->nu = 0; /* mass alone */
  for (int d = 0; d < s->space->dim; d++)
    TES_TRY(tesi_stokes_axis_create(s->space, d, op->desc.form.penalty, &s->axis[d]));
  op->singular = is_free(s->space) && s->alpha == 0;
  if (op->singular) TES_TRY(tesi_stokes_create_null(op));
  if (tesi_has_kernels(ctx)) TES_TRY(tesi_dg_device_create(op, TESI_DG_STILL, &dg->device));
  snprintf(op->description, sizeof op->description, "dg: discontinuous Q_%d, interior penalties, %s",
           op->space->degree, dg->device ? "by a kernel" : "banded matrices");
done:
  return status;
}

const TesiOperatorKind tesi_operator_dg = {
    .name = "dg", .takes = TESI_TERM(DIFFUSION) | TESI_TERM(MASS), .refuses = refuses, .init = init};
