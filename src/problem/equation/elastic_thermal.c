/* Thermal strain: stress C : (eps(u) - e I), e = expansion times temperature. In plane strain the elastic strain out
 * of the plane is - e. In plane stress lambda is replaced by its value for plane stress, and the stress out of the
 * plane is 0. The weak form has
 *
 *     int C : eps(u) : eps(v) = int f . v + int g . v + int s div v,   s = (m lambda + 2 mu) e,
 *
 * with m = 3, in plane stress 2. The last term is not integrated by parts, since s jumps between materials. */
#include "functional/functional.h"
#include "problem/equation/elastic.h"

enum { BLOCK = 256 };

/* expansion times temperature, or (m lambda + 2 mu) strain; a factor NULL: 1. */
typedef struct Product {
  TesContext *context;
  TesFunction *factor[2], *lambda, *mu;
  double m;
} Product;

static void multiply(const TesFunction *f, int64_t n, const double *x, const double *y, const double *z,
                     double t, double *out) {
  double value[BLOCK];
  if (!f) return;
  tesi_function_values(f, n, x, y, z, t, value);
  for (int64_t i = 0; i < n; i++) out[i] *= value[i];
}

static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  const Product *s = user;
  double mu[BLOCK], lambda[BLOCK];
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t count = n - first < BLOCK ? n - first : BLOCK;
    const double *at[3] = {x + first, y + first, z + first};
    double *to = out + first;
    for (int64_t i = 0; i < count; i++) to[i] = 1;
    if (s->mu) {
      tesi_function_values(s->lambda, count, at[0], at[1], at[2], t, lambda);
      tesi_function_values(s->mu, count, at[0], at[1], at[2], t, mu);
      for (int64_t i = 0; i < count; i++) to[i] = s->m * lambda[i] + 2 * mu[i];
    }
    for (int k = 0; k < 2; k++) multiply(s->factor[k], count, at[0], at[1], at[2], t, to);
  }
}

static void forget(void *user) {
  Product *s = user;
  TesContext *ctx = s->context;
  for (int k = 0; k < 2; k++) tes_function_destroy(&s->factor[k]);
  tes_function_destroy(&s->lambda);
  tes_function_destroy(&s->mu);
  tesi_free(ctx, &s);
}

/* Messages about the product name `named`. */
static TesStatus create(const Product *of, const TesFunction *named, TesFunction **product) {
  TesContext *ctx = of->context;
  TesStatus status = TES_OK;
  Product *s = NULL;
  TES_NEW(&s);
  *s = (Product){.context = ctx, .m = of->m};
  for (int k = 0; k < 2; k++) s->factor[k] = tesi_function_retain(of->factor[k]);
  s->lambda = tesi_function_retain(of->lambda), s->mu = tesi_function_retain(of->mu);
  status = tesi_function_create(ctx, evaluate, s, forget, tes_function_text(named), product);
  if (status != TES_OK) forget(s);
  TES_TRY(status);
  tesi_function_set_timed(*product, tesi_function_timed(of->factor[0]) || tesi_function_timed(of->factor[1]));
  TES_TRY(tesi_function_set_where(*product, tesi_function_where(named)));
done:
  return status;
}

/* ---- data ---------------------------------------------------------------------------------------------- */

/* *strain <- the product. */
static TesStatus create_strain(TesContext *ctx, const TesFunction *expansion, const TesFunction *temperature,
                               TesFunction **strain) {
  double a, t;
  if (tes_function_constant(expansion, &a) && tes_function_constant(temperature, &t))
    return tes_function_create_constant(ctx, a * t, strain);
  return create(&(Product){.context = ctx, .factor = {(TesFunction *)expansion, (TesFunction *)temperature}},
                temperature, strain);
}

/* *expansion <- the strain; name NULL: of the whole body. */
static TesStatus complete_one(TesProblem *p, const char *name, const TesFunction *temperature,
                              const TesFunction **expansion) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *strain = NULL;
  if (!*expansion)
    TES_FAIL(TES_INVALID_INPUT,
             "%sthere is a temperature, and the coefficient of thermal expansion is missing%s%s: give "
             "expansion, 0 "
             "where nothing expands",
             tesi_function_where(temperature), name ? " in material " : "", name ? name : "");
  TES_TRY(create_strain(ctx, *expansion, temperature, &strain));
  tes_function_destroy((TesFunction **)expansion);
  *expansion = strain, strain = NULL;
done:
  tes_function_destroy(&strain);
  return status;
}

TesStatus tesi_thermal_complete(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiNumbered *n = &p->numbered;
  const int materials = tes_mesh_materials(p->mesh);
  bool everywhere = materials > 0; /* every material has its own expansion, so the body's is not used */
  for (int i = 0; i < materials; i++) {
    const TesFunction *temperature = n->temperature[i] ? n->temperature[i] : n->data.temperature;
    everywhere = everywhere && n->expansion[i];
    if (!temperature) tes_function_destroy((TesFunction **)&n->expansion[i]);
    if (!temperature || (!n->expansion[i] && !n->temperature[i] && n->data.expansion)) continue;
    if (!n->expansion[i]) n->expansion[i] = tesi_function_retain(n->data.expansion);
    TES_TRY(complete_one(p, tes_mesh_material_name(p->mesh, i), temperature, &n->expansion[i]));
    tes_function_destroy((TesFunction **)&n->temperature[i]);
  }
  if (n->data.temperature && (n->data.expansion || !everywhere))
    TES_TRY(complete_one(p, NULL, n->data.temperature, &n->data.expansion));
  else
    tes_function_destroy((TesFunction **)&n->data.expansion);
  tes_function_destroy((TesFunction **)&n->data.temperature);
  if (!n->data.expansion) TES_TRY(tes_function_create_constant(ctx, 0, (TesFunction **)&n->data.expansion));
done:
  return status;
}

/* ---- load ---------------------------------------------------------------------------------------------- */

/* The thermal stress of a material; -1: of the whole body. */
static TesStatus create_stress(const TesProblem *p, int material, TesFunction **stress) {
  const TesiNumbered *n = &p->numbered;
  const bool own = material >= 0;
  const TesFunction *strain = own && n->expansion[material] ? n->expansion[material] : n->data.expansion,
                    *mu = own && n->a[material] ? n->a[material] : n->data.a,
                    *lambda = own && n->lambda[material] ? n->lambda[material] : n->data.lambda;
  return create(&(Product){.context = p->context,
                           .factor = {(TesFunction *)strain},
                           .lambda = (TesFunction *)lambda,
                           .mu = (TesFunction *)mu,
                           .m = p->variant.plane == TES_PLANE_STRESS ? 2 : 3},
                strain, stress);
}

TesStatus tesi_thermal_load(const TesProblem *p, int component, bool all, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int materials = tes_mesh_materials(p->mesh);
  const TesSpace *part = p->space->part[component];
  TesFunction **stress = NULL;
  TesVector *v = NULL;
  if (!tesi_numbered_heated(p->mesh, &p->numbered)) return TES_OK;
  TES_ALLOC(&stress, materials + 1);
  for (int i = 0; i < materials; i++) TES_TRY(create_stress(p, i, &stress[i]));
  TES_TRY(create_stress(p, -1, &stress[materials]));
  TES_TRY(tesi_vector_create_on(part->layout, TES_DOUBLE, &v));
  TES_TRY(tesi_functional_load(&(TesiLoad){.space = part,
                                           .h = stress[materials],
                                           .material_h = (const TesFunction *const *)stress,
                                           .direction = component},
                               all, v));
  TES_TRY(tes_vector_axpy(1, v, b));
done:
  for (int i = 0; stress && i <= materials; i++) tes_function_destroy(&stress[i]);
  tesi_free(ctx, &stress);
  tes_vector_destroy(&v);
  return status;
}
