/* What a gradient differentiates: a value as it is, or of a force its residuals and stresses (forces.h). */
#include <string.h>
#include "problem/forces.h"
#include "problem/variation.h"

static TesStatus take_vector(const TesiAdjoint *s, const double *values, TesVector **v) {
  const TesStatus status = tesi_vector_create_on(s->problem->space->scalar[s->axis]->layout, TES_DOUBLE, v);
  return status == TES_OK ? tes_vector_set(*v, values) : status;
}

static TesStatus take_forces(TesiAdjoint *s, const TesiForces *of) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiForceWeights w = {{NULL}, {NULL}, {NULL}};
  double *weight = NULL;
  TES_ALLOC(&weight, p->space->length);
  TES_TRY(tesi_force_weights(p, of, s->what->number, s->axis, &w));
  for (int c = 0; c < TESI_AXES; c++) {
    if (!w.weight[c]) continue;
    for (int64_t i = 0; i < p->space->scalar[c]->length; i++) {
      weight[p->space->first[c] + i] = of->sign * w.weight[c][i];
      w.own[c][i] *= of->sign, w.other[c][i] *= of->sign;
    }
    TES_TRY(take_vector(s, w.own[c], &s->shared[c][0]));
    TES_TRY(take_vector(s, w.other[c], &s->shared[c][1]));
  }
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &s->weight));
  TES_TRY(tes_vector_set(s->weight, weight));
done:
  tesi_force_weights_free(ctx, &w);
  tesi_free(ctx, &weight);
  return status;
}

/* Whether supports share nodes of the boundary, on any rank. */
static TesStatus shares(const TesVector *other, bool *any) {
  double square;
  const TesStatus status = tes_vector_norm(other, &square);
  *any = status == TES_OK && square > 0;
  return status;
}

/* Parts of component c, over faces without or with slip. */
static void add_parts(TesiAdjoint *s, int c, bool slip) {
  const TesProblem *p = s->problem;
  for (int b = 0; b < tes_mesh_boundaries(p->mesh); b++) {
    if (!tesi_force_shares(p, b, c, slip) || tesi_mesh_is_group(p->mesh, b)) continue;
    s->part[s->parts++] = (TesiAdjointPart){
        .what = {.kind = TES_VALUE_INTEGRAL, .where = TES_ON_BOUNDARY, .number = b, .of = s->text[c][slip]},
        .shared = s->shared[c][b != s->what->number],
        .component = c,
        .slip = slip};
  }
}

static TesStatus begin_force(TesiAdjoint *s) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiForces *of = p->equation->adjoint->forces;
  char stress[TESI_AXES][TESI_STRESS_TEXT];
  bool any;
  s->axis = tesi_force_axis(s->what);
  TES_TRY(take_forces(s, of));
  for (int c = 0; c < p->mesh->dim; c++) of->stress(p, c, stress[c]);
  for (int k = 0; k < 2 * p->mesh->dim; k++) {
    const int c = k / 2, slip = k % 2;
    if (!s->shared[c][1]) continue;
    TES_TRY(shares(s->shared[c][1], &any));
    tesi_force_write(p->mesh->dim, stress, c, slip, s->text[c][slip]);
    if (any) add_parts(s, c, slip);
  }
done:
  return status;
}

int tesi_force_axis(const TesValue *what) {
  const char *axis = what->of ? what->of : "x";
  return axis[0] && !axis[1] ? axis[0] - 'x' : -1;
}

TesStatus tesi_adjoint_begin(TesiAdjoint *s) {
  TesContext *ctx = s->problem->context;
  TesStatus status = TES_OK;
  TES_ALLOC(&s->part, 2 * TESI_AXES * tes_mesh_boundaries(s->problem->mesh) + 1);
  if (s->what->kind == TES_VALUE_FORCE) return begin_force(s);
  s->part[s->parts++] = (TesiAdjointPart){.what = *s->what};
done:
  return status;
}

int tesi_adjoint_part_fields(const TesiAdjoint *s, const TesiAdjointPart *part, int fields, TesiField *field) {
  if (part->shared)
    field[fields++] = (TesiField){.name = "shared",
                                  .space = s->problem->space->scalar[s->axis],
                                  .vector = part->shared,
                                  .derivative = TESI_FIELD_VALUE};
  return fields;
}

void tesi_adjoint_end(TesiAdjoint *s) {
  TesContext *ctx = s->problem->context;
  tesi_free(ctx, &s->part);
  tes_vector_destroy(&s->weight);
  for (int i = 0; i < 2 * TESI_AXES; i++) tes_vector_destroy(&s->shared[i / 2][i % 2]);
  tes_vector_destroy(&s->slope);
  tes_vector_destroy(&s->z);
}
