/* What a gradient differentiates: a value as it is, or of a force its residuals and stresses (forces.h). */
#include <stdio.h>
#include <string.h>
#include "problem/forces.h"
#include "problem/variation.h"

static TesStatus take_forces(TesiAdjoint *s, const TesiForces *of) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *space = p->space->scalar[s->axis];
  const int64_t first = p->space->first[s->axis];
  double *weight = NULL, *own = NULL, *other = NULL;
  TES_ALLOC(&weight, p->space->length);
  TES_ALLOC(&own, space->length);
  TES_ALLOC(&other, space->length);
  TES_TRY(tesi_force_weights(p, of, s->what->number, s->axis, &(TesiForceWeights){weight + first, own, other}));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &s->weight));
  TES_TRY(tes_vector_set(s->weight, weight));
  for (int i = 0; i < 2; i++) {
    TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &s->shared[i]));
    TES_TRY(tes_vector_set(s->shared[i], i ? other : own));
  }
done:
  tesi_free(ctx, &weight);
  tesi_free(ctx, &own);
  tesi_free(ctx, &other);
  return status;
}

/* Whether supports share nodes of the boundary, on any rank. */
static TesStatus shares(const TesiAdjoint *s, bool *any) {
  double most;
  const TesStatus status = tes_vector_maximum(s->shared[1], &most);
  *any = status == TES_OK && most > 0;
  return status;
}

static TesStatus begin_force(TesiAdjoint *s) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiForces *of = p->equation->adjoint->forces;
  char stress[TESI_STRESS_TEXT];
  bool any;
  s->axis = tesi_force_axis(s->what);
  TES_TRY(take_forces(s, of));
  TES_TRY(shares(s, &any));
  of->stress(p, s->axis, stress);
  snprintf(s->text, sizeof s->text, "shared*(%s)", stress);
  for (int b = 0; any && b < tes_mesh_boundaries(p->mesh); b++) {
    if (!tesi_force_is_support(p, b, s->axis) || tesi_mesh_is_group(p->mesh, b)) continue;
    s->part[s->parts++] =
        (TesiAdjointPart){{.kind = TES_VALUE_INTEGRAL, .where = TES_ON_BOUNDARY, .number = b, .of = s->text},
                          s->shared[b != s->what->number]};
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
  TES_ALLOC(&s->part, tes_mesh_boundaries(s->problem->mesh) + 1);
  if (s->what->kind == TES_VALUE_FORCE) return begin_force(s);
  s->part[s->parts++] = (TesiAdjointPart){*s->what, NULL};
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
  for (int i = 0; i < 2; i++) tes_vector_destroy(&s->shared[i]);
  tes_vector_destroy(&s->slope);
  tes_vector_destroy(&s->z);
}
