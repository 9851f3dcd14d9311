#include "problem/variation.h"
#include <string.h>

static void set_zero(const TesiVaried *v, const TesFunction **f) {
  tes_function_destroy((TesFunction **)f);
  *f = tesi_function_retain(v->zero);
}

/* For some forms NULL means 1. Directions that are not given are 0, also in materials with their own function. */
static void fill(const TesProblem *p, TesiVaried *v) {
  const TesiNumbered *own = &p->numbered;
  TesiNumbered *n = &v->own;
  const TesFunction **const all[] = {&n->data.a,    &n->data.c,    &n->data.lambda, &n->data.expansion,
                                     &n->data.f[0], &n->data.f[1], &n->data.f[2]},
                            **const list[] = {n->a, n->c, n->lambda, n->expansion, n->f[0], n->f[1], n->f[2]},
                            *const *const of[] = {own->a,    own->c,    own->lambda, own->expansion,
                                                  own->f[0], own->f[1], own->f[2]};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    if (!*all[k]) set_zero(v, all[k]);
    for (int i = 0; i < tes_mesh_materials(p->mesh); i++)
      if (!list[k][i] && of[k][i]) set_zero(v, &list[k][i]);
  }
}

/* The conditions of the problem, with directions instead of functions. */
static TesStatus take_conditions(const TesProblem *p, TesiVaried *v) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(p->mesh);
  TES_ALLOC(&v->given, names + 1);
  TES_ALLOC(&v->none_given, names + 1);
  for (int i = 0; i <= names; i++) {
    const TesiGiven *direction = &v->own.given[i];
    TesiGiven none = p->numbered.given[i];
    memset(none.g, 0, sizeof none.g), none.alpha = NULL;
    v->given[i] = v->none_given[i] = none;
    for (int c = 0; c <= TESI_GIVEN_SCALARS; c++) v->given[i].g[c] = tesi_function_retain(direction->g[c]);
    v->given[i].alpha = direction->alpha;
  }
done:
  return status;
}

TesStatus tesi_varied_create(const TesProblem *p, const TesVariation *variation, TesiVaried *v) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesBoundary *boundary = NULL;
  *v = (TesiVaried){.like = *p};
  TES_TRY(tes_function_create_constant(ctx, 0, &v->zero));
  TES_ALLOC(&boundary, variation->boundaries + 1);
  TES_ALLOC(&v->none, tes_mesh_materials(p->mesh) + 1);
  for (int i = 0; i < variation->boundaries; i++) {
    boundary[i] = variation->boundary[i];
    boundary[i].condition = TES_ROBIN; /* which keeps alpha */
  }
  const TesProblemDesc desc = {.mesh = p->mesh,
                               .data = variation->data,
                               .materials = variation->materials,
                               .material = variation->material,
                               .boundaries = variation->boundaries,
                               .boundary = boundary};
  TES_TRY(tesi_numbered_create(ctx, p->equation, &desc, 0, &v->own));
  fill(p, v);
  TES_TRY(take_conditions(p, v));
  v->like.numbered = v->own;
  v->like.numbered.given = v->given;
  if (p->equation->vary) status = p->equation->vary(p, &v->like);
  v->own.data = v->like.numbered.data;
  TES_TRY(status);
done:
  tesi_free(ctx, &boundary);
  return status;
}

void tesi_varied_free(TesiVaried *v) {
  TesContext *ctx = v->like.context;
  if (!ctx) return;
  for (int i = 0; v->given && i < tes_mesh_boundaries(v->like.mesh); i++)
    for (int c = 0; c <= TESI_GIVEN_SCALARS; c++) tes_function_destroy((TesFunction **)&v->given[i].g[c]);
  tesi_free(ctx, &v->given);
  tesi_free(ctx, &v->none_given);
  tesi_free(ctx, &v->none);
  tesi_numbered_free(v->like.mesh, &v->own);
  tes_function_destroy(&v->zero);
}
