/* Checkpoints: what is put into the store, and mesh and space made of it again. */
#include "tessera/checkpoint.h"
#include <stdio.h>
#include <string.h>
#include "device/vector.h"
#include "io/checkpoint.h"
#include "io/store.h"
#include "mesh/mesh.h"
#include "space/space.h"

/* Version 1 holds a forest, version 2 a box: the coordinates of its vertices in the place of the trees. Versions 3
 * and 4: the same with a space of several components, whose number stands in "components". Later
 * versions: a box with a space of another element (TesiElement.version). */
enum {
  FIELDS = 16,
  NAME = 64,
  STATES = 4096,
  FOREST_VERSION = 1,
  BOX_VERSION = 2,
  COMPONENTS_VERSION = 2,
  LAST_VERSION = 8
};
static const char format[] = "tessera checkpoint";

/* Whole numbers of the head, in this order. */
typedef enum Whole {
  W_VERSION,
  W_DIM,
  W_TREE_DEGREE,
  W_TREES,
  W_CELLS,
  W_DEGREE,
  W_LENGTH,
  W_STEP,
  W_FIELDS,
  W_BOUNDARIES,
  W_MATERIALS,
  W_MAPPED,
  W_BOX,
  W_PERIODIC = W_BOX + 3,
  W_IDENTITY = W_PERIODIC + 3,
  W_NUMBERING,
  W_COUNT
} Whole;
enum { MAPPED = 1, GROUPED = 2 }; /* W_MAPPED: trees have maps, groups of edges and corners */
enum { PART = sizeof(TesTreePart) / sizeof(int32_t) };
enum { N_TIME, N_CENTRE, N_RADIUS = N_CENTRE + 3, N_INNER, N_CORE, N_COUNT };

/* Of index and masks: another numbering, as of another version of p4est, would put values in wrong places. */
static int64_t numbering_hash(const TesiCellView *s) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < s->cells * s->cell_nodes; i++)
    hash = (hash ^ (uint32_t)s->index[i]) * 0x100000001b3u;
  for (int64_t i = 0; i < s->cells; i++) hash = (hash ^ s->mask[i]) * 0x100000001b3u;
  return (int64_t)hash;
}

/* ---- writing ---- */

/* Names one after the other, each with its 0. */
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

static TesStatus put_head(TesiStore *store, const TesCheckpointDesc *desc) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  const TesSpace *s = desc->space;
  const TesiTrees *t = s->mesh->coarse;
  const int64_t components = tes_space_components(s);
  const int version = s->element->version ? s->element->version : t ? FOREST_VERSION : BOX_VERSION;
  int64_t whole[W_COUNT] = {[W_VERSION] = version + (components > 1 ? COMPONENTS_VERSION : 0),
                            [W_DIM] = s->dim,
                            [W_CELLS] = s->mesh->cells,
                            [W_DEGREE] = s->degree,
                            [W_LENGTH] = s->length,
                            [W_STEP] = desc->step,
                            [W_FIELDS] = desc->count,
                            [W_BOUNDARIES] = tes_mesh_boundaries(s->mesh)};
  double number[N_COUNT] = {[N_TIME] = desc->time};
  for (int d = 0; d < 3; d++) {
    whole[W_BOX + d] = t ? t->box[d] : s->mesh->box[d];
    whole[W_PERIODIC + d] = t ? t->periodic[d] : s->mesh->box_periodic[d];
  }
  if (t) {
    whole[W_TREE_DEGREE] = t->degree, whole[W_TREES] = t->trees, whole[W_MATERIALS] = t->materials;
    whole[W_MAPPED] = (t->map ? MAPPED : 0) + (t->parts ? GROUPED : 0),
    whole[W_IDENTITY] = (int64_t)t->identity;
    whole[W_NUMBERING] = numbering_hash(s->scalar[0]->view);
    number[N_RADIUS] = t->radius, number[N_INNER] = t->inner, number[N_CORE] = t->core;
    for (int d = 0; d < 3; d++) number[N_CENTRE + d] = t->centre[d];
  }
  TES_TRY(tesi_store_put(store, "format", TESI_STORE_BYTES, sizeof format, format));
  TES_TRY(tesi_store_put(store, "head", TESI_STORE_INT64, W_COUNT, whole));
  TES_TRY(tesi_store_put(store, "numbers", TESI_STORE_DOUBLE, N_COUNT, number));
  if (components > 1) TES_TRY(tesi_store_put(store, "components", TESI_STORE_INT64, 1, &components));
done:
  return status;
}

static const char *const axes[3] = {"x", "y", "z"};

static TesStatus put_box(TesiStore *store, const TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  for (int d = 0; d < s->dim; d++)
    TES_TRY(tesi_store_put(store, axes[d], TESI_STORE_DOUBLE, s->mesh->box[d] + 1, s->mesh->coordinates[d]));
  TES_TRY(tesi_store_put(store, "dirichlet", TESI_STORE_BYTES, 2 * s->dim + 1, s->given));
done:
  return status;
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
  TES_TRY(tesi_store_put(store, "cell_tree", TESI_STORE_INT32, l->cells, l->tree));
  TES_TRY(tesi_store_put(store, "cell_level", TESI_STORE_BYTES, l->cells, l->level));
  TES_TRY(tesi_store_put(store, "cell_origin", TESI_STORE_INT32, 3 * l->cells, l->origin));
  TES_TRY(tesi_store_put(store, "dirichlet", TESI_STORE_BYTES, t->boundaries + 1, s->given));
done:
  return status;
}

static TesStatus put_field(TesiStore *store, const TesSpace *s, int number, const TesCheckpointField *field) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  char name[32];
  snprintf(name, sizeof name, "field_%d_name", number);
  TES_TRY(tesi_store_put(store, name, TESI_STORE_BYTES, (int64_t)strlen(field->name) + 1, field->name));
  TES_ALLOC(&values, s->length);
  TES_TRY(tes_vector_get(field->vector, values));
  snprintf(name, sizeof name, "field_%d_values", number);
  TES_TRY(tesi_store_put(store, name, TESI_STORE_DOUBLE, s->length, values));
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tes_checkpoint_write(TesContext *context, const TesCheckpointDesc *desc, const char *path) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiStore *store = NULL;
  TES_REFUSE_NULL(context, desc, path);
  TES_CHECK(desc->space, "a checkpoint needs a space");
  TES_CHECK(desc->space->mesh->kind != TES_MESH_CELLS, "a checkpoint holds a mesh of kind box or forest");
  if (desc->space->product) return tesi_flow_write(desc, path);
  TES_CHECK(!desc->space->mesh->coarse || !desc->space->mesh->coarse->deform[0],
            "a checkpoint does not hold the map of a deformed mesh");
  TES_CHECK(desc->count >= 0 && desc->count <= FIELDS, "%d fields, expected 0..%d", desc->count, FIELDS);
  TES_CHECK(desc->states >= 0 && desc->states <= STATES, "%d numbers of a state, expected 0..%d",
            desc->states, STATES);
  for (int i = 0; i < desc->count; i++) {
    const TesCheckpointField *f = &desc->fields[i];
    TES_CHECK(f->name && *f->name && strlen(f->name) < NAME, "field %d needs a name of 1..%d characters", i,
              NAME - 1);
    TES_CHECK(f->vector && f->vector->length == desc->space->length, "field %s needs a vector of %lld values",
              f->name, (long long)desc->space->length);
  }
  TES_TRY(tesi_store_create(ctx, path, &store));
  TES_TRY(put_head(store, desc));
  TES_TRY(desc->space->mesh->coarse ? put_forest(store, desc->space) : put_box(store, desc->space));
  for (int i = 0; i < desc->count; i++) TES_TRY(put_field(store, desc->space, i, &desc->fields[i]));
  TES_TRY(put_state(store, desc));
  if (desc->notes > 0) TES_TRY(tesi_store_put(store, "note", TESI_STORE_DOUBLE, desc->notes, desc->note));
  TES_TRY(tesi_store_commit(&store));
done:
  tesi_store_close(&store);
  return status;
}

/* A store that is never committed leaves nothing behind. */
TesStatus tes_checkpoint_check(TesContext *context, const char *path) {
  TesiStore *store = NULL;
  const TesStatus status = tesi_store_create(context, path, &store);
  tesi_store_close(&store);
  return status;
}

/* ---- reading ---- */

struct TesCheckpoint {
  TesContext *context;
  char *path;
  TesSpace *space;
  TesCheckpointContents contents;
  char *name[FIELDS]; /* of contents.name */
  double *values[FIELDS], *state, *note;
  char *state_text, **state_name;
};

/* What is read before it becomes a mesh. */
typedef struct Image {
  TesContext *ctx;
  TesiStore *store;
  const char *path;
  int64_t *head;
  double *number;
  TesiTrees trees;
  char *texts[2]; /* of the names of boundaries and materials */
  TesiLeaves leaves;
  double *coordinates[3]; /* of a box */
  uint8_t *given;
  int64_t *components; /* NULL: 1 */
  int geometry_degree;
} Image;

static bool is_box(const int64_t *head) {
  return (head[W_VERSION] - 1) % COMPONENTS_VERSION + 1 == BOX_VERSION;
}

static void image_free(Image *m) {
  TesContext *ctx = m->ctx;
  tesi_free(ctx, &m->head);
  tesi_free(ctx, &m->number);
  tesi_free(ctx, &m->components);
  tesi_free(ctx, &m->trees.nodes);
  tesi_free(ctx, &m->trees.vertices);
  tesi_free(ctx, &m->trees.boundary);
  tesi_free(ctx, &m->trees.material);
  tesi_free(ctx, &m->trees.map);
  tesi_free(ctx, &m->trees.part);
  tesi_free(ctx, &m->trees.boundary_name);
  tesi_free(ctx, &m->trees.material_name);
  for (int i = 0; i < 2; i++) tesi_free(ctx, &m->texts[i]);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &m->coordinates[d]);
  tesi_free(ctx, &m->leaves.tree);
  tesi_free(ctx, &m->leaves.level);
  tesi_free(ctx, &m->leaves.origin);
  tesi_free(ctx, &m->given);
  tesi_store_close(&m->store);
}

static TesStatus get_names(Image *m, const char *what, int64_t count, char **text, char ***names) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  int64_t length, at = 0;
  TES_TRY(tesi_store_get(m->store, what, TESI_STORE_BYTES, -1, text, &length));
  TES_ALLOC(names, count + 1);
  for (int64_t i = 0; i < count; i++) {
    TES_CHECK(at < length, "%s is damaged: %s are cut short", m->path, what);
    (*names)[i] = *text + at;
    at += (int64_t)strlen(*text + at) + 1; /* the store leaves a 0 behind the bytes */
  }
done:
  return status;
}

static bool forest_is_possible(const int64_t *h) {
  return h[W_TREE_DEGREE] >= 1 && h[W_TREE_DEGREE] <= TESI_TREES_DEGREE && h[W_TREES] >= 1 &&
         h[W_TREES] <= 1 << 26 && h[W_CELLS] <= INT32_MAX && h[W_DEGREE] <= TESI_FOREST_DEGREE &&
         h[W_MATERIALS] >= 0 && h[W_MATERIALS] < 1 << 24;
}

static bool box_is_possible(const int64_t *h) {
  bool possible = h[W_DEGREE] <= TESI_MAX_DEGREE && h[W_BOUNDARIES] == 2 * h[W_DIM];
  for (int d = 0; d < h[W_DIM]; d++) possible = possible && h[W_BOX + d] >= 1 && h[W_BOX + d] <= 1 << 24;
  return possible;
}

static TesStatus get_head(Image *m) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  char *text = NULL;
  int64_t *h;
  status = tesi_store_get(m->store, "format", TESI_STORE_BYTES, sizeof format, &text, NULL);
  if (status == TES_OUT_OF_MEMORY) TES_TRY(status);
  if (status != TES_OK || strcmp(text, format) != 0) {
    tesi_context_forget(ctx);
    TES_FAIL(TES_INVALID_INPUT, "%s is an HDF5 file, and no checkpoint of Tessera", m->path);
  }
  TES_TRY(tesi_store_get(m->store, "head", TESI_STORE_INT64, -1, &m->head, NULL));
  h = m->head;
  TES_CHECK(h[W_VERSION] >= FOREST_VERSION && h[W_VERSION] <= LAST_VERSION &&
                (h[W_VERSION] <= BOX_VERSION + COMPONENTS_VERSION ||
                 tesi_element_of_version((int)h[W_VERSION])->version),
            "%s is a checkpoint of version %lld; this is version %d", m->path, (long long)h[W_VERSION],
            LAST_VERSION);
  tesi_free(ctx, &m->head);
  TES_TRY(tesi_store_get(m->store, "head", TESI_STORE_INT64, W_COUNT, &m->head, NULL));
  h = m->head;
  TES_TRY(tesi_store_get(m->store, "numbers", TESI_STORE_DOUBLE, N_COUNT, &m->number, NULL));
  const bool box = is_box(h);
  TES_CHECK((h[W_DIM] == 2 || h[W_DIM] == 3) && h[W_CELLS] >= 1 && h[W_DEGREE] >= 1 && h[W_FIELDS] >= 0 &&
                h[W_FIELDS] <= FIELDS && h[W_BOUNDARIES] >= 0 && h[W_BOUNDARIES] < 1 << 24 &&
                (box ? box_is_possible(h) : forest_is_possible(h)),
            "%s is damaged: its head holds impossible numbers", m->path);
  if (h[W_VERSION] <= COMPONENTS_VERSION || !tesi_element_of_version((int)h[W_VERSION])->nodal) goto done;
  TES_TRY(tesi_store_get(m->store, "components", TESI_STORE_INT64, 1, &m->components, NULL));
  TES_CHECK(*m->components > 1 && *m->components <= TESI_COMPONENTS, "%s is damaged: %lld components",
            m->path, (long long)*m->components);
done:
  tesi_free(ctx, &text);
  return status;
}

static TesStatus get_trees(Image *m) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  const int64_t *h = m->head;
  TesiTrees *t = &m->trees;
  t->dim = (int)h[W_DIM];
  t->degree = (int)h[W_TREE_DEGREE];
  t->trees = h[W_TREES];
  t->tree_nodes = t->degree + 1;
  for (int d = 1; d < t->dim; d++) t->tree_nodes *= t->degree + 1;
  t->boundaries = (int)h[W_BOUNDARIES];
  t->materials = (int)h[W_MATERIALS];
  t->identity = (uint64_t)h[W_IDENTITY];
  t->radius = m->number[N_RADIUS];
  t->inner = m->number[N_INNER];
  t->core = m->number[N_CORE];
  for (int d = 0; d < 3; d++) {
    t->box[d] = (int)h[W_BOX + d];
    t->periodic[d] = h[W_PERIODIC + d] != 0;
    t->centre[d] = m->number[N_CENTRE + d];
  }
  const int64_t box = (int64_t)t->box[0] * t->box[1] * (t->dim == 3 ? t->box[2] : 1);
  TES_CHECK(!t->box[0] || box == t->trees, "%s is damaged: its box has %lld trees, expected %lld", m->path,
            (long long)box, (long long)t->trees);
  TES_TRY(tesi_store_get(m->store, "tree_nodes", TESI_STORE_DOUBLE, t->trees * t->tree_nodes * t->dim,
                         &t->nodes, NULL));
  TES_TRY(tesi_store_get(m->store, "tree_vertices", TESI_STORE_INT32, t->trees << t->dim, &t->vertices, NULL));
  TES_TRY(
      tesi_store_get(m->store, "tree_boundary", TESI_STORE_INT32, t->trees * 2 * t->dim, &t->boundary, NULL));
  TES_TRY(tesi_store_get(m->store, "tree_material", TESI_STORE_INT32, t->trees, &t->material, NULL));
  if (h[W_MAPPED] & MAPPED)
    TES_TRY(tesi_store_get(m->store, "tree_map", TESI_STORE_BYTES, t->trees, &t->map, NULL));
  if (h[W_MAPPED] & GROUPED) {
    TES_TRY(tesi_store_get(m->store, "tree_parts", TESI_STORE_INT32, -1, &t->part, &t->parts));
    TES_CHECK(t->parts % PART == 0, "%s is damaged: its groups have %lld numbers", m->path,
              (long long)t->parts);
    t->parts /= PART;
  }
  TES_TRY(get_names(m, "boundary_names", t->boundaries, &m->texts[0], &t->boundary_name));
  TES_TRY(get_names(m, "material_names", t->materials, &m->texts[1], &t->material_name));
done:
  return status;
}

static TesStatus make_forest_space(Image *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  const int64_t *h = m->head;
  TesiTrees *trees = NULL;
  TesMesh *forest = NULL;
  TesiLeaves *l = &m->leaves;
  TES_TRY(tesi_store_get(m->store, "cell_tree", TESI_STORE_INT32, h[W_CELLS], &l->tree, NULL));
  TES_TRY(tesi_store_get(m->store, "cell_level", TESI_STORE_BYTES, h[W_CELLS], &l->level, NULL));
  TES_TRY(tesi_store_get(m->store, "cell_origin", TESI_STORE_INT32, 3 * h[W_CELLS], &l->origin, NULL));
  TES_TRY(tesi_store_get(m->store, "dirichlet", TESI_STORE_BYTES, h[W_BOUNDARIES] + 1, &m->given, NULL));
  l->cells = h[W_CELLS];
  TES_TRY(tesi_trees_restore(ctx, &m->trees, &trees));
  TES_TRY(tesi_forest_rebuild(ctx, trees, m->geometry_degree, l, &forest));
  TES_TRY(tes_space_create(ctx,
                           &(TesSpaceDesc){.mesh = forest,
                                           .degree = (int)h[W_DEGREE],
                                           .components = m->components ? (int)*m->components : 1,
                                           .given = m->given[h[W_BOUNDARIES]] ? NULL : m->given},
                           space));
  TES_CHECK((*space)->length == h[W_LENGTH] && numbering_hash((*space)->scalar[0]->view) == h[W_NUMBERING],
            "%s: its nodes are numbered in another way than here (another version of p4est?)", m->path);
done:
  tes_mesh_destroy(&forest);
  tesi_trees_release(&trees);
  return status;
}

static TesStatus make_box_space(Image *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  const int64_t *h = m->head;
  TesMesh *mesh = NULL;
  const TesiElement *element = tesi_element_of_version((int)h[W_VERSION]);
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = (int)h[W_DIM], .geometry_degree = m->geometry_degree};
  for (int d = 0; d < desc.dim; d++) {
    TES_TRY(tesi_store_get(m->store, axes[d], TESI_STORE_DOUBLE, h[W_BOX + d] + 1, &m->coordinates[d], NULL));
    desc.cells[d] = (int)h[W_BOX + d];
    desc.periodic[d] = h[W_PERIODIC + d] != 0;
    desc.coordinates[d] = m->coordinates[d];
  }
  TES_TRY(tesi_store_get(m->store, "dirichlet", TESI_STORE_BYTES, h[W_BOUNDARIES] + 1, &m->given, NULL));
  TES_TRY(tes_mesh_create(ctx, &desc, &mesh));
  TES_TRY(tes_space_create(ctx,
                           &(TesSpaceDesc){.mesh = mesh,
                                           .degree = (int)h[W_DEGREE],
                                           .components = !element->nodal ? 0
                                                         : m->components ? (int)*m->components
                                                                         : 1,
                                           .element = element->element,
                                           .given = m->given[h[W_BOUNDARIES]] ? NULL : m->given},
                           space));
  TES_CHECK((*space)->length == h[W_LENGTH], "%s is damaged: its box has %lld nodes, expected %lld", m->path,
            (long long)(*space)->length, (long long)h[W_LENGTH]);
done:
  tes_mesh_destroy(&mesh);
  return status;
}

static TesStatus make_space(Image *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  if (is_box(m->head)) return make_box_space(m, space);
  TES_TRY(get_trees(m));
  TES_TRY(make_forest_space(m, space));
done:
  return status;
}

static TesStatus get_fields(Image *m, TesCheckpoint *c) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  char name[32];
  TesCheckpointContents *contents = &c->contents;
  for (int *i = &contents->fields; *i < m->head[W_FIELDS]; ++*i) {
    snprintf(name, sizeof name, "field_%d_name", *i);
    TES_TRY(tesi_store_get(m->store, name, TESI_STORE_BYTES, -1, &c->name[*i], NULL));
    contents->name[*i] = c->name[*i];
    snprintf(name, sizeof name, "field_%d_values", *i);
    TES_TRY(tesi_store_get(m->store, name, TESI_STORE_DOUBLE, m->head[W_LENGTH], &c->values[*i], NULL));
  }
done:
  return status;
}

static TesStatus get_state(Image *m, TesCheckpoint *c) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  int64_t count;
  if (!tesi_store_has(m->store, "state")) return TES_OK;
  TES_TRY(tesi_store_get(m->store, "state", TESI_STORE_DOUBLE, -1, &c->state, &count));
  TES_CHECK(count <= STATES, "%s is damaged: its state has %lld numbers", m->path, (long long)count);
  c->contents.states = (int)count;
  c->contents.state = c->state;
  if (!tesi_store_has(m->store, "state_names")) return TES_OK;
  TES_TRY(get_names(m, "state_names", count, &c->state_text, &c->state_name));
  c->contents.state_name = (const char *const *)c->state_name;
done:
  return status;
}

static TesStatus get_note(Image *m, TesCheckpoint *c) {
  if (!tesi_store_has(m->store, "note")) return TES_OK;
  const TesStatus status =
      tesi_store_get(m->store, "note", TESI_STORE_DOUBLE, -1, &c->note, &c->contents.notes);
  c->contents.note = c->note;
  return status;
}

TesStatus tes_checkpoint_read(TesContext *context, const char *path, int geometry_degree,
                              TesCheckpoint **checkpoint) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesCheckpoint *c = NULL;
  Image m = {.ctx = ctx, .path = path, .geometry_degree = geometry_degree};
  TES_REFUSE_NULL(context, path, checkpoint);
  *checkpoint = NULL;
  TES_TRY(tesi_store_open(ctx, path, &m.store));
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->path = tesi_strdup(ctx, path);
  if (!c->path) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the name of a file");
  TES_TRY(get_head(&m));
  TES_TRY(make_space(&m, &c->space));
  TES_TRY(get_fields(&m, c));
  TES_TRY(get_state(&m, c));
  TES_TRY(get_note(&m, c));
  c->contents.time = m.number[N_TIME];
  c->contents.step = m.head[W_STEP];
  *checkpoint = c;
  c = NULL;
done:
  image_free(&m);
  tes_checkpoint_destroy(&c);
  return status;
}

void tes_checkpoint_destroy(TesCheckpoint **checkpoint) {
  if (!checkpoint || !*checkpoint) return;
  TesCheckpoint *c = *checkpoint;
  TesContext *ctx = c->context;
  *checkpoint = NULL;
  tes_space_destroy(&c->space);
  tesi_free(ctx, &c->path);
  tesi_free(ctx, &c->state);
  tesi_free(ctx, &c->state_text);
  tesi_free(ctx, &c->state_name);
  tesi_free(ctx, &c->note);
  for (int i = 0; i < FIELDS; i++) {
    tesi_free(ctx, &c->name[i]);
    tesi_free(ctx, &c->values[i]);
  }
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

const char *tesi_checkpoint_path(const TesCheckpoint *checkpoint) {
  return checkpoint->path;
}

const TesSpace *tes_checkpoint_space(const TesCheckpoint *checkpoint) {
  return checkpoint->space;
}

const TesCheckpointContents *tes_checkpoint_contents(const TesCheckpoint *checkpoint) {
  return &checkpoint->contents;
}

const double *tes_checkpoint_values(const TesCheckpoint *checkpoint, const char *name) {
  for (int i = 0; i < checkpoint->contents.fields; i++)
    if (!strcmp(checkpoint->name[i], name)) return checkpoint->values[i];
  return NULL;
}

/* ---- going on ---- */

TesStatus tes_checkpoint_restart(const TesCheckpoint *checkpoint, const char *name, const TesMesh *mesh,
                                 int degree, TesVector **u) {
  TesContext *ctx = checkpoint->context;
  TesStatus status = TES_OK;
  TesSpace *space = NULL;
  TesVector *v = NULL;
  uint8_t *none = NULL;
  const double *values = tes_checkpoint_values(checkpoint, name);
  const TesMesh *found = checkpoint->space->mesh;
  *u = NULL;
  TES_TRY(tesi_checkpoint_compare(checkpoint->path, found, mesh));
  if (!values && !strcmp(name, tesi_flow_name) && tes_checkpoint_values(checkpoint, "pressure"))
    return tesi_flow_restart(checkpoint, degree, u);
  TES_CHECK(values, "%s holds no solution '%s', it holds '%s'", checkpoint->path, name,
            checkpoint->contents.fields ? checkpoint->name[0] : "none");
  TES_ALLOC(&none, tes_mesh_boundaries(found) + 1);
  const TesSpaceDesc desc = {.mesh = found,
                             .degree = degree,
                             .components = tes_space_components(checkpoint->space),
                             .given = none,
                             .element = checkpoint->space->element->element};
  TES_TRY(tes_space_create(ctx, &desc, &space));
  TES_TRY(tesi_vector_create_on(checkpoint->space->layout, TES_DOUBLE, &v));
  TES_TRY(tes_vector_set(v, values));
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, u));
  TES_TRY(tes_space_carry(checkpoint->space, v, space, *u));
done:
  if (status != TES_OK) tes_vector_destroy(u);
  tesi_free(ctx, &none);
  tes_vector_destroy(&v);
  tes_space_destroy(&space);
  return status;
}
