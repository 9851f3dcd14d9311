/* Checkpoints: writing to the store. */
#include "tessera/checkpoint.h"
#include <stdio.h>
#include <string.h>
#include "device/vector.h"
#include "io/checkpoint.h"
#include "io/checkpoint_format.h"
#include "io/store.h"
#include "mesh/mesh.h"
#include "parallel/comm.h"
#include "space/file_order.h"

/* Names one after the other, each followed by its 0. */
static TesStatus put_names(TesContext *context, TesiStore *store, const char *what, int count,
                           const char *const *names) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  char *text = NULL;
  size_t length = 0, at = 0;
  for (int i = 0; i < count; i++) length += strlen(names[i]) + 1;
  TES_ALLOC(&text, length + 1);
  for (int i = 0; i < count; i++) {
    strcpy(text + at, names[i]);
    at += strlen(names[i]) + 1;
  }
  TES_TRY(tesi_store_put(store, what, TESI_STORE_BYTES, (int64_t)length, text));
done:
  tesi_free(ctx, &text);
  return status;
}

static TesStatus put_state(TesiStore *store, const TesCheckpointDesc *desc) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  if (!desc->states) return TES_OK;
  TES_TRY(tesi_store_put(store, "state", TESI_STORE_DOUBLE, desc->states, desc->state));
  if (desc->state_name) TES_TRY(put_names(ctx, store, "state_names", desc->states, desc->state_name));
done:
  return status;
}

static TesStatus put_head(TesiStore *store, const TesCheckpointDesc *desc, const TesiFileOrder *order) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  const TesSpace *s = desc->space;
  const TesiTrees *t = s->mesh->coarse;
  const int64_t components = tes_space_components(s);
  const int version = s->element->version ? s->element->version : t ? FOREST_VERSION : BOX_VERSION;
  int64_t whole[W_COUNT] = {[W_VERSION] = version + (components > 1 ? COMPONENTS_VERSION : 0),
                            [W_DIM] = s->dim,
                            [W_CELLS] = tes_mesh_info(s->mesh).all_cells,
                            [W_DEGREE] = s->degree,
                            [W_LENGTH] = s->layout->global,
                            [W_STEP] = desc->step,
                            [W_FIELDS] = desc->count,
                            [W_BOUNDARIES] = tes_mesh_boundaries(s->mesh)};
  double number[N_COUNT] = {[N_TIME] = desc->time};
  for (int d = 0; d < 3; d++) {
    whole[W_BOX + d] = t ? t->box[d] : s->mesh->window[d].cells;
    whole[W_PERIODIC + d] = t ? t->periodic[d] : s->mesh->box_periodic[d];
  }
  if (t) {
    whole[W_TREE_DEGREE] = t->degree, whole[W_TREES] = t->trees, whole[W_MATERIALS] = t->materials;
    whole[W_MAPPED] = (t->map ? MAPPED : 0) + (t->parts ? GROUPED : 0),
    whole[W_IDENTITY] = (int64_t)tesi_trees_identity(t);
    whole[W_NUMBERING] = (int64_t)tesi_file_order_hash(s->scalar[0]->view, order);
    number[N_RADIUS] = t->radius, number[N_INNER] = t->inner, number[N_CORE] = t->core;
    for (int d = 0; d < 3; d++) number[N_CENTRE + d] = t->centre[d];
  }
  TES_TRY(tesi_store_put(store, "format", TESI_STORE_BYTES, sizeof TESI_CHECKPOINT_FORMAT,
                         TESI_CHECKPOINT_FORMAT));
  TES_TRY(tesi_store_put(store, "head", TESI_STORE_INT64, W_COUNT, whole));
  TES_TRY(tesi_store_put(store, "numbers", TESI_STORE_DOUBLE, N_COUNT, number));
  if (components > 1) TES_TRY(tesi_store_put(store, "components", TESI_STORE_INT64, 1, &components));
done:
  return status;
}

const char *const tesi_checkpoint_axes[3] = {"x", "y", "z"};

static TesStatus put_box(TesiStore *store, const TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = s->mesh;
  double *x = NULL;
  for (int d = 0; d < s->dim; d++) {
    tesi_free(ctx, &x);
    TES_TRY(tesi_agree(ctx, tesi_mesh_gather_vertices(mesh, d, &x)));
    TES_TRY(tesi_store_put(store, tesi_checkpoint_axes[d], TESI_STORE_DOUBLE, mesh->window[d].cells + 1, x));
  }
  TES_TRY(tesi_store_put(store, "dirichlet", TESI_STORE_BYTES, 2 * s->dim + 1, s->given));
done:
  tesi_free(ctx, &x);
  return status;
}

static TesStatus put_cells(TesiStore *store, const char *name, TesiStoreType type, int64_t count,
                           const void *own) {
  return tesi_store_put_parts(store, name, type, 1, &count, &own);
}

static TesStatus put_forest(TesiStore *store, const TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiTrees *t = s->mesh->coarse;
  const TesiLeaves *l = &s->mesh->leaves;
  TES_TRY(tesi_store_put(store, "tree_nodes", TESI_STORE_DOUBLE, t->trees * t->tree_nodes * t->dim, t->nodes));
  TES_TRY(tesi_store_put(store, "tree_vertices", TESI_STORE_INT32, t->trees << t->dim, t->vertices));
  TES_TRY(tesi_store_put(store, "tree_boundary", TESI_STORE_INT32, t->trees * 2 * t->dim, t->boundary));
  TES_TRY(tesi_store_put(store, "tree_material", TESI_STORE_INT32, t->trees, t->material));
  if (t->map) TES_TRY(tesi_store_put(store, "tree_map", TESI_STORE_BYTES, t->trees, t->map));
  if (t->parts) TES_TRY(tesi_store_put(store, "tree_parts", TESI_STORE_INT32, PART * t->parts, t->part));
  TES_TRY(put_names(ctx, store, "boundary_names", t->boundaries, (const char *const *)t->boundary_name));
  TES_TRY(put_names(ctx, store, "material_names", t->materials, (const char *const *)t->material_name));
  TES_TRY(put_cells(store, "cell_tree", TESI_STORE_INT32, l->cells, l->tree));
  TES_TRY(put_cells(store, "cell_level", TESI_STORE_BYTES, l->cells, l->level));
  TES_TRY(put_cells(store, "cell_origin", TESI_STORE_INT32, 3 * l->cells, l->origin));
  TES_TRY(tesi_store_put(store, "dirichlet", TESI_STORE_BYTES, t->boundaries + 1, s->given));
done:
  return status;
}

/* Zeros after a shorter field: the number on this rank, of a total over all ranks. */
static int64_t share_of_zeros(const TesContext *ctx, int64_t zeros) {
  const int64_t ranks = tesi_ranks(ctx),
                rank = ranks > 1 ? tes_communicator_rank(tesi_context_communicator(ctx)) : 0;
  return zeros * (rank + 1) / ranks - zeros * rank / ranks;
}

/* Component by component. */
static TesStatus put_values(TesiStore *store, const char *name, const TesSpace *s, const TesiFileOrder *order,
                            int64_t zeros, const double *values) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int blocks = s->scalars;
  const int64_t own = order->entry || order->grid ? blocks * order->own : 0;
  int64_t count[TESI_SCALARS + 1];
  const void *part[TESI_SCALARS + 1];
  double *packed = NULL;
  count[blocks] = share_of_zeros(ctx, zeros);
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)(own + count[blocks]) + 1, sizeof *packed, &packed)));
  part[blocks] = packed + own;
  for (int b = 0; b < blocks; b++) {
    const double *of = values + s->first[b];
    const TesiOwned *block = &s->scalar[b]->layout->block[0];
    count[b] = s->element->nodal ? order->own : block->owned; /* components of element rt differ */
    part[b] = own ? packed + b * order->own : of + block->start;
    if (order->grid) TES_TRY(tesi_file_order_slab(order, of, packed + b * order->own));
    for (int64_t i = 0; order->entry && i < order->own; i++) packed[b * order->own + i] = of[order->entry[i]];
  }
  TES_TRY(tesi_store_put_parts(store, name, TESI_STORE_DOUBLE, blocks + 1, count, part));
done:
  tesi_free(ctx, &packed);
  return status;
}

static bool is_other(const TesSpace *over, const TesSpace *s) {
  return over && over->layout->global != s->layout->global;
}

/* over: the space of the field. NULL, or a space like s: the result is s, in whose order the field is written. */
static TesStatus put_field(TesiStore *store, const TesSpace *s, const TesSpace *over,
                           const TesiFileOrder *order, int number, const TesCheckpointField *field) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const bool other = is_other(over, s);
  TesiFileOrder own = {0};
  double *values = NULL;
  char name[32];
  snprintf(name, sizeof name, "field_%d_name", number);
  TES_TRY(tesi_store_put(store, name, TESI_STORE_BYTES, (int64_t)strlen(field->name) + 1, field->name));
  if (other) TES_TRY(tesi_file_order_create(over->scalar[0], &own));
  status = tesi_alloc(ctx, (size_t)field->vector->length + 1, sizeof *values, &values);
  if (status == TES_OK) status = tes_vector_get(field->vector, values);
  TES_TRY(tesi_agree(ctx, status));
  snprintf(name, sizeof name, "field_%d_values", number);
  TES_TRY(other ? put_values(store, name, over, &own, s->layout->global - over->layout->global, values)
                : put_values(store, name, s, order, 0, values));
done:
  tesi_file_order_free(&own);
  tesi_free(ctx, &values);
  return status;
}

static TesStatus check_desc(TesContext *ctx, const TesCheckpointDesc *desc, const TesSpace *const *over) {
  TesStatus status = TES_OK;
  TES_CHECK(!desc->space->mesh->coarse || !desc->space->mesh->coarse->deform[0],
            "a checkpoint does not hold the map of a deformed mesh");
  TES_CHECK(desc->count >= 0 && desc->count <= FIELDS, "%d fields, expected 0..%d", desc->count, FIELDS);
  TES_CHECK(desc->states >= 0 && desc->states <= STATES, "%d numbers of a state, expected 0..%d",
            desc->states, STATES);
  for (int i = 0; i < desc->count; i++) {
    const TesCheckpointField *f = &desc->fields[i];
    TES_CHECK(f->name && *f->name && strlen(f->name) < NAME, "field %d needs a name of 1..%d characters", i,
              NAME - 1);
    const TesSpace *space = over ? over[i] : desc->space;
    TES_CHECK(f->vector && f->vector->length == space->length, "field %s needs a vector of %lld values",
              f->name, (long long)space->length);
  }
done:
  return status;
}

TesStatus tesi_checkpoint_write(TesContext *context, const TesCheckpointDesc *desc,
                                const TesSpace *const *over, const char *path) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiStore *store = NULL;
  TesiFileOrder order = {0};
  TES_CHECK(desc->space, "a checkpoint needs a space");
  TES_CHECK(desc->space->mesh->kind != TES_MESH_CELLS, "a checkpoint holds a mesh of kind box or forest");
  if (desc->space->product) return tesi_flow_write(desc, path);
  TES_TRY(tesi_agree(ctx, check_desc(ctx, desc, over)));
  TES_TRY(tesi_store_create(ctx, path, &store));
  TES_TRY(tesi_file_order_create(desc->space->scalar[0], &order));
  TES_TRY(put_head(store, desc, &order));
  TES_TRY(desc->space->mesh->coarse ? put_forest(store, desc->space) : put_box(store, desc->space));
  for (int i = 0; i < desc->count; i++)
    TES_TRY(put_field(store, desc->space, over ? over[i] : NULL, &order, i, &desc->fields[i]));
  TES_TRY(put_state(store, desc));
  if (desc->notes > 0) TES_TRY(tesi_store_put(store, "note", TESI_STORE_DOUBLE, desc->notes, desc->note));
  TES_TRY(tesi_store_commit(&store));
done:
  tesi_store_close(&store);
  tesi_file_order_free(&order);
  return status;
}

TesStatus tes_checkpoint_write(TesContext *context, const TesCheckpointDesc *desc, const char *path) {
  TES_REFUSE_NULL(context, desc, path);
  return tesi_checkpoint_write(context, desc, NULL, path);
}

/* A store that is not committed leaves no file. */
TesStatus tes_checkpoint_check(TesContext *context, const char *path) {
  TesiStore *store = NULL;
  const TesStatus status = tesi_store_create(context, path, &store);
  tesi_store_close(&store);
  return status;
}
