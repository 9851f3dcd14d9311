/* Fields of checkpoints as functions of space. */
#include <stdio.h>
#include <string.h>
#include "functional/fields.h"
#include "io/checkpoint.h"
#include "space/space.h"
#include "tessera/checkpoint.h"

/* The meaning of a name in this file: a component of a vector over a space. It may be a pressure, which is stored at
 * the beginning of a vector of velocities. */
typedef struct Found {
  const char *field;
  int component;
  bool padded;
} Found;

static const char *const solutions[] = {"u", "displacement", "velocity, pressure"};

static const char *first_field(const TesCheckpoint *checkpoint) {
  for (size_t i = 0; i < sizeof solutions / sizeof *solutions; i++)
    if (tes_checkpoint_values(checkpoint, solutions[i])) return solutions[i];
  return NULL;
}

static bool of_a_flow(const TesCheckpoint *checkpoint) {
  const TesSpace *space = tes_checkpoint_space(checkpoint);
  return space->element->with_pressure || space->product || tes_checkpoint_values(checkpoint, "pressure");
}

/* All solutions in time are called u. */
TesStatus tesi_checkpoint_expect(const TesCheckpoint *checkpoint, TesiSolutionKind expected) {
  static const char *const words[] = {"a scalar", "a displacement", "a flow"};
  const TesSpace *space = tes_checkpoint_space(checkpoint);
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiSolutionKind found = of_a_flow(checkpoint) ? TESI_SOLUTION_FLOW
                                 : space->parts > 1    ? TESI_SOLUTION_DISPLACEMENT
                                                       : TESI_SOLUTION_SCALAR;
  TES_CHECK(found == expected, "%s holds %s, expected %s", tesi_checkpoint_path(checkpoint), words[found],
            words[expected]);
done:
  return status;
}

static TesStatus find(const TesCheckpoint *checkpoint, const char *path, const char *name, Found *found) {
  const TesSpace *space = tes_checkpoint_space(checkpoint);
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const bool flow = space->element->with_pressure || space->product;
  const int dim = space->mesh->dim, components = flow ? dim : space->parts;
  const bool rate = strlen(name) == 2 && name[1] == 't', pressure = !strcmp(name, "p");
  const char *const at = strchr("uvw", *name);
  const bool known = pressure || (*name && at && (!name[1] || rate));
  *found = (Found){.field = rate ? "u_t" : first_field(checkpoint),
                   .component = known && !pressure ? (int)(at - "uvw") : dim};
  TES_CHECK(known, "checkpoints have no field '%.40s': they have u, v, w, p, ut, vt and wt", name);
  if (pressure && space->element->nodal && tes_checkpoint_values(checkpoint, "pressure"))
    *found = (Found){.field = "pressure", .padded = true};
  else
    TES_CHECK(found->field && tes_checkpoint_values(checkpoint, found->field) &&
                  (pressure ? flow : found->component < components),
              "%s holds no %s", path, name);
done:
  return status;
}

/* Evaluates axis by axis over a box: a part of a Raviart-Thomas space, or element dg. */
static TesStatus create_of_rt(const TesSpace *space, const double *values, int part, const char *text,
                              TesFunction **function) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesVector *vector = NULL;
  TES_TRY(tes_vector_create(ctx, space->length, TES_DOUBLE, &vector));
  TES_TRY(tes_vector_set(vector, values));
  const TesiField field = {.name = "u",
                           .space = space,
                           .vector = vector,
                           .derivative = TESI_FIELD_VALUE,
                           .part = space->element->with_pressure ? part : 0};
  TES_TRY(tesi_field_function(space, 1, &field, "u", text, function));
done:
  tes_vector_destroy(&vector);
  return status;
}

/* The mesh whose halved cells are the cells of a box. */
static TesStatus join_halves(const TesMesh *fine, TesMesh **mesh) {
  TesContext *ctx = fine->context;
  TesStatus status = TES_OK;
  double *x[3] = {NULL};
  TesMeshDesc desc = {.dim = fine->dim, .kind = TES_MESH_BOX};
  for (int d = 0; d < fine->dim; d++) {
    desc.cells[d] = fine->box[d] / 2;
    TES_ALLOC(&x[d], desc.cells[d] + 1);
    for (int i = 0; i <= desc.cells[d]; i++) x[d][i] = fine->coordinates[d][2 * i];
    desc.coordinates[d] = x[d];
  }
  TES_TRY(tes_mesh_create(ctx, &desc, mesh));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &x[d]);
  return status;
}

/* The pressure beside a velocity of Q_k is of Q_(k-1). Beside Q_1 it is of Q_1, and its cells are twice as wide. */
static TesStatus create_pressure(const TesSpace *velocity, TesSpace **pressure) {
  TesContext *ctx = velocity->context;
  TesStatus status = TES_OK;
  TesMesh *wide = NULL;
  TesSpaceDesc desc = {.mesh = velocity->mesh, .degree = velocity->degree - 1};
  if (velocity->degree == 1) {
    TES_TRY(join_halves(velocity->mesh, &wide));
    desc = (TesSpaceDesc){.mesh = wide, .degree = 1};
  }
  TES_TRY(tes_space_create(ctx, &desc, pressure));
done:
  tes_mesh_destroy(&wide);
  return status;
}

static TesStatus create_of_nodes(const TesSpace *space, const double *values, const Found *found,
                                 const char *text, TesFunction **function) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesSpace *pressure = NULL;
  TesVector *vector = NULL;
  if (found->padded) TES_TRY(create_pressure(space, &pressure));
  const TesSpace *all = pressure ? pressure : space;
  TES_TRY(tes_vector_create(ctx, all->length, TES_DOUBLE, &vector));
  TES_TRY(tes_vector_set(vector, values));
  const TesVector part = tesi_space_scalar_range(all, vector, found->component);
  const TesiField field = {
      .name = "u", .space = all->scalar[found->component], .vector = &part, .derivative = TESI_FIELD_VALUE};
  TES_TRY(tesi_field_function(all, 1, &field, "u", text, function));
done:
  tes_vector_destroy(&vector);
  tes_space_destroy(&pressure);
  return status;
}

TesStatus tes_checkpoint_function(const TesCheckpoint *checkpoint, const char *name, TesFunction **function) {
  const TesSpace *space = tes_checkpoint_space(checkpoint);
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const char *path = tesi_checkpoint_path(checkpoint);
  char text[300];
  Found found;
  *function = NULL;
  TES_TRY(
      tesi_one_rank(ctx, "a field as a function of space, which each rank reads in a context of its own,"));
  TES_TRY(find(checkpoint, path, name, &found));
  const double *values = tes_checkpoint_values(checkpoint, found.field);
  snprintf(text, sizeof text, "%s of %.200s (nan outside of its mesh)", name, path);
  TES_TRY(space->element->nodal ? create_of_nodes(space, values, &found, text, function)
                                : create_of_rt(space, values, found.component, text, function));
done:
  return status;
}
