#include "operator/transport/upwind_constant.h"
#include <math.h>
#include "device/kernel.h"
#include "kernels/dg_arguments.h"
#include "operator/dg/dg_device.h"
#include "operator/form.h"

static bool is_constant(const TesTermDesc *term, int dim, double b[3]) {
  for (int d = 0; d < dim; d++) {
    b[d] = 0;
    if (term->b[d] && !tes_function_constant(term->b[d], &b[d])) return false;
  }
  return true;
}

/* The factors of the own trace and of the jump (e - u) at a face; speed: (b.n). `end`: there is no cell behind. */
static void put_face(const TesiTransport *t, bool end, TesiHow how, double speed, double *own, double *jump) {
  const bool closed = end && how == TESI_FLUX, open = end && how == TESI_OPEN;
  *jump = closed || open ? 0 : fmin(speed, 0);
  if (t->conservative)
    *own = closed ? 0 : speed;
  else
    *own = closed ? -speed : 0;
}

/* Numbers of direction d: [TESK_DG_VELOCITY][cells]. */
static TesStatus fill_axis(TesContext *ctx, const TesiTransport *t, const TesiAxis *a, int d, double b,
                           double **numbers) {
  TesStatus status = TES_OK;
  TES_ALLOC(numbers, (int64_t)TESK_DG_VELOCITY * a->cells);
  for (int c = 0; c < a->cells; c++) {
    double *at = *numbers + c;
    at[TESK_DG_CARRY * a->cells] = (t->conservative ? -b : b) / a->h[c];
    for (int side = 0; side < 2; side++)
      put_face(t, c == (side ? a->cells - 1 : 0) && !a->periodic, t->upwind.end[2 * d + side], side ? b : -b,
               &at[(TESK_DG_OWN + side) * a->cells], &at[(TESK_DG_JUMP + side) * a->cells]);
  }
done:
  return status;
}

TesStatus tesi_upwind_constant_fill(const TesOperator *op, TesiTransport *t) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = op->space;
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  double b[3], *numbers[3] = {NULL};
  if (!tesi_has_kernels(ctx)) return TES_OK;
  if (!is_constant(term, space->dim, b)) {
    t->renewed = t->renewed || t->constant;
    tesi_dg_device_destroy(ctx, &t->constant);
    return TES_OK;
  }
  for (int d = 0; d < space->dim; d++) TES_TRY(fill_axis(ctx, t, &space->axis[d], d, b[d], &numbers[d]));
  if (!t->constant) {
    t->renewed = true;
    TES_TRY(tesi_dg_device_create(t->symmetric, t->conservative ? TESI_DG_CONSERVATIVE : TESI_DG_CONVECTIVE,
                                  &t->constant));
  }
  TES_TRY(tesi_dg_device_velocity(ctx, space, t->constant, (const double *const *)numbers));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &numbers[d]);
  return status;
}
