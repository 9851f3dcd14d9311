/* Thermal strain: stress C : (eps(u) - e I), e = expansion times temperature. In plane strain the elastic strain out
 * of the plane is - e. In plane stress lambda is replaced by its value for plane stress, and the stress out of the
 * plane is 0. The weak form has
 *
 *     int C : eps(u) : eps(v) = int f . v + int g . v + int s div v,   s = (m lambda + 2 mu) e,
 *
 * with m = 3, in plane stress 2. The last term is not integrated by parts, since s jumps between materials. */
#include "base/combined.h"
#include "functional/functional.h"
#include "problem/equation/elastic.h"

enum { FIRST, SECOND, LAMBDA, MU, FUNCTIONS };

/* expansion times temperature, or (m lambda + 2 mu) strain; factors that are NULL: 1. */
static void multiply(double m, int64_t n, const double *const *value, double *out) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = value[MU] ? m * value[LAMBDA][i] + 2 * value[MU][i] : 1;
    if (value[FIRST]) out[i] *= value[FIRST][i];
    if (value[SECOND]) out[i] *= value[SECOND][i];
  }
}

/* Messages about the product name `named`. */
static TesStatus create(TesContext *ctx, const TesFunction *const of[FUNCTIONS], double m,
                        const TesFunction *named, TesFunction **product) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_function_create_combined(ctx, multiply, m, FUNCTIONS, of, tes_function_text(named), product));
  tesi_function_set_timed(*product, tesi_function_timed(of[FIRST]) || tesi_function_timed(of[SECOND]));
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
  return create(ctx, (const TesFunction *[FUNCTIONS]){[FIRST] = expansion, [SECOND] = temperature}, 0,
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
  return create(p->context, (const TesFunction *[FUNCTIONS]){[FIRST] = strain, [LAMBDA] = lambda, [MU] = mu},
                p->variant.plane == TES_PLANE_STRESS ? 2 : 3, strain, stress);
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
