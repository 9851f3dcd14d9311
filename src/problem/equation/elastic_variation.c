/* Directions of the data of elasticity, completed in the same way as the data (elastic.c). */
#include "base/combined.h"
#include "problem/equation/elastic.h"

/* In plane stress lambda becomes m = 2 lambda mu / (lambda + 2 mu). With s = m / (2 mu) = lambda / (lambda + 2 mu)
 *
 *     dm = (1 - s)^2 d lambda + 2 s^2 d mu. */
static void vary_plane_stress(double number, int64_t n, const double *const *value, double *out) {
  const double *m = value[0], *mu = value[1], *lambda_slope = value[2], *mu_slope = value[3];
  (void)number;
  for (int64_t i = 0; i < n; i++) {
    const double s = m[i] / (2 * mu[i]);
    out[i] = (1 - s) * (1 - s) * lambda_slope[i] + 2 * s * s * mu_slope[i];
  }
}

/* *lambda <- the direction of m, from the direction of lambda. */
static TesStatus flatten(TesContext *ctx, const TesFunction *m, const TesFunction *mu,
                         const TesFunction *mu_slope, const TesFunction **lambda) {
  TesStatus status = TES_OK;
  TesFunction *flat = NULL;
  TES_TRY(tesi_function_create_combined(ctx, vary_plane_stress, 0, 4,
                                        (const TesFunction *[]){m, mu, *lambda, mu_slope},
                                        "a direction of lambda", &flat));
  tes_function_destroy((TesFunction **)lambda);
  *lambda = flat;
done:
  return status;
}

static TesStatus flatten_all(const TesProblem *p, TesiNumbered *varied) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiNumbered *own = &p->numbered;
  for (int i = 0; i < tes_mesh_materials(p->mesh); i++) {
    if (!own->lambda[i]) continue;
    const TesFunction *mu = own->a[i] ? own->a[i] : own->data.a,
                      *slope = varied->a[i] ? varied->a[i] : varied->data.a;
    TES_TRY(flatten(ctx, own->lambda[i], mu, slope, &varied->lambda[i]));
  }
  TES_TRY(flatten(ctx, own->data.lambda, own->data.a, varied->data.a, &varied->data.lambda));
done:
  return status;
}

TesStatus tesi_elasticity_vary(const TesProblem *p, TesProblem *varied) {
  TesStatus status = TES_OK;
  TesiGiven *given = varied->numbered.given;
  for (int i = 0; i < tes_mesh_boundaries(p->mesh) && status == TES_OK; i++)
    if (given[i].total) status = tesi_elasticity_spread_force(varied, p->space->degree, i, &given[i]);
  if (status != TES_OK || p->variant.plane != TES_PLANE_STRESS) return status;
  return flatten_all(p, &varied->numbered);
}
