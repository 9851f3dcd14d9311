/* Directions of the data of elasticity, completed in the same way as the data (elastic.c). */
#include "problem/equation/elastic.h"

/* In plane stress lambda becomes m = 2 lambda mu / (lambda + 2 mu). With s = m / (2 mu) = lambda / (lambda + 2 mu)
 *
 *     dm = (1 - s)^2 d lambda + 2 s^2 d mu. */
typedef struct Flat {
  TesContext *context;
  TesFunction *m, *mu, *lambda_slope, *mu_slope;
} Flat;

static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  enum { BLOCK = 256 };
  const Flat *f = user;
  double m[BLOCK], mu[BLOCK], of_mu[BLOCK];
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t count = n - first < BLOCK ? n - first : BLOCK;
    const double *at[3] = {x + first, y + first, z + first};
    double *to = out + first;
    tesi_function_values(f->m, count, at[0], at[1], at[2], t, m);
    tesi_function_values(f->mu, count, at[0], at[1], at[2], t, mu);
    tesi_function_values(f->lambda_slope, count, at[0], at[1], at[2], t, to);
    tesi_function_values(f->mu_slope, count, at[0], at[1], at[2], t, of_mu);
    for (int64_t i = 0; i < count; i++) {
      const double s = m[i] / (2 * mu[i]);
      to[i] = (1 - s) * (1 - s) * to[i] + 2 * s * s * of_mu[i];
    }
  }
}

static void forget(void *user) {
  Flat *f = user;
  TesContext *ctx = f->context;
  tes_function_destroy(&f->m);
  tes_function_destroy(&f->mu);
  tes_function_destroy(&f->lambda_slope);
  tes_function_destroy(&f->mu_slope);
  tesi_free(ctx, &f);
}

/* *lambda <- the direction of m, from the direction of lambda. */
static TesStatus flatten(TesContext *ctx, const TesFunction *m, const TesFunction *mu,
                         const TesFunction *mu_slope, const TesFunction **lambda) {
  TesStatus status = TES_OK;
  Flat *f = NULL;
  TesFunction *flat = NULL;
  TES_NEW(&f);
  *f = (Flat){ctx, tesi_function_retain(m), tesi_function_retain(mu), tesi_function_retain(*lambda),
              tesi_function_retain(mu_slope)};
  status = tesi_function_create(ctx, evaluate, f, forget, "a direction of lambda", &flat);
  if (status != TES_OK) forget(f);
  TES_TRY(status);
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
