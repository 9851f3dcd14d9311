#include "krylov/refined_cg.h"
#include <math.h>
#include "device/kernel.h"
#include "krylov/floor.h"

TesStatus tesi_refined_create(const TesiLayout *layout, TesiRefined *refined) {
  TesContext *ctx = layout->context;
  TesStatus status = TES_OK;
  TesVector **const vectors[] = {&refined->r, &refined->inverse, &refined->d, &refined->p, &refined->q};
  TES_TRY(tesi_jacobi_device_create(layout, TES_SINGLE, &refined->device));
  for (size_t i = 0; refined->device && i < sizeof vectors / sizeof *vectors; i++)
    TES_TRY(tesi_vector_create_on(layout, TES_SINGLE, vectors[i]));
done:
  if (!refined->r) tesi_jacobi_device_destroy(ctx, &refined->device);
  return status;
}

void tesi_refined_destroy(TesiRefined *refined) {
  TesVector **const vectors[] = {&refined->inverse, &refined->r, &refined->d, &refined->p, &refined->q};
  if (refined->r) tesi_jacobi_device_destroy(refined->r->context, &refined->device);
  tes_operator_destroy(&refined->op);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
}

TesStatus tesi_refined_use(TesiRefined *refined, const TesOperator *op, const TesVector *inverse) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (!refined->device) return TES_OK;
  tes_operator_destroy(&refined->op);
  tesi_jacobi_device_forget(ctx, refined->device);
  TES_TRY(tesi_operator_on(op, op->space, TES_SINGLE, &refined->op));
  TES_TRY(tes_vector_copy(inverse, 1, refined->inverse));
done:
  return status;
}

typedef struct System {
  TesiRefinedResidual residual;
  void *user;
} System;

static TesStatus residual_of(void *user, const TesVector *x, TesVector *r) {
  const System *s = user;
  double norm;
  return s->residual(s->user, x, r, &norm);
}

/* A range of a vector has no layout. */
static TesStatus create_like(const TesVector *x, TesVector **v) {
  return x->layout ? tesi_vector_create_on(x->layout, TES_DOUBLE, v)
                   : tes_vector_create(x->context, x->length, TES_DOUBLE, v);
}

/* A residual that does not fall: TES_OK where that is what rounding leaves. */
static TesStatus settle(TesiRefinedResidual residual, void *user, const TesVector *x) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  System system = {residual, user};
  TesVector *zero = NULL, *b = NULL;
  bool below = false;
  TES_TRY(create_like(x, &zero));
  TES_TRY(create_like(x, &b));
  TES_TRY(tes_vector_fill(zero, 0));
  TES_TRY(residual_of(&system, zero, b));
  TES_TRY(tesi_floor_below(&(TesiFloorSystem){.residual = residual_of, .user = &system, .b = b}, x, &below));
  status = below ? TES_OK : TES_NOT_CONVERGED;
done:
  tes_vector_destroy(&zero);
  tes_vector_destroy(&b);
  return status;
}

TesStatus tesi_refined_solve(const TesiRefined *refined, TesiRefinedResidual residual, void *user,
                             double norm, double target, int most, TesVector *r, TesVector *x) {
  const double digits = 1e-4;
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  const TesiJacobi cg = {.op = refined->op,
                         .inverse = refined->inverse,
                         .q = refined->q,
                         .p = refined->p,
                         .device = refined->device};
  double before = INFINITY;
  while (norm > target) {
    const double share = target / norm;
    if (!(norm < 0.5 * before)) return settle(residual, user, x);
    TES_TRY(tes_vector_copy(r, 1 / norm, refined->r));
    TES_TRY(tesi_jacobi_cg(&cg, 1, fmax(share, digits), most, refined->r, refined->d));
    TES_TRY(tes_vector_axpy(norm, refined->d, x));
    if (share >= digits) break;
    before = norm;
    TES_TRY(residual(user, x, r, &norm));
  }
  if (!isfinite(norm)) return TES_NAN;
done:
  return status;
}
