/* Checkpoints: reading from the store, and making mesh and space. */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "device/vector.h"
#include "io/checkpoint.h"
#include "io/checkpoint_format.h"
#include "io/checkpoint_image.h"
#include "parallel/comm.h"
#include "tessera/checkpoint.h"

struct TesCheckpoint {
  TesContext *context;
  char *path;
  TesSpace *space;
  TesCheckpointContents contents;
  char *name[FIELDS]; /* of contents.name */
  double *values[FIELDS], *state, *note;
  char *state_text, **state_name;
  TesiStore *store; /* on several ranks, for fields over other spaces; else NULL */
};

/* The values of a field, in the order of the file. */
typedef struct Field {
  const TesSpace *space;
  const TesiFileOrder *order;
  double *values;
} Field;

/* The part of one component that a slice has. The component begins at `begin` of the file. */
static void take_component(const Field *f, int component, int64_t begin, int64_t first, int64_t end,
                           const double *data) {
  const int64_t length = f->space->scalar[component]->length;
  double *to = f->values + f->space->first[component];
  for (int64_t i = 0; i < length; i++) {
    const int64_t at = begin + tesi_file_number(f->order, i);
    if (at >= first && at < end) to[i] = data[at - first];
  }
}

static void take_values(void *user, int64_t first, int64_t count, const void *data) {
  const Field *f = user;
  const TesSpace *s = f->space;
  int64_t begin = 0;
  for (int c = 0; c < s->scalars; c++) {
    const TesiLayout *layout = s->scalar[c]->layout;
    const TesiFileOrder modes = {.shift = layout->block[0].first - layout->block[0].start};
    const Field of = {s, s->element->nodal ? f->order : &modes, f->values};
    take_component(&of, c, begin, first, first + count, data);
    begin += s->element->nodal ? f->order->all : layout->global;
  }
}

static TesStatus get_fields(TesiImage *m, TesCheckpoint *c) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  char name[32];
  TesCheckpointContents *contents = &c->contents;
  for (int *i = &contents->fields; *i < m->head[W_FIELDS]; ++*i) {
    snprintf(name, sizeof name, "field_%d_name", *i);
    TES_TRY(tesi_store_get(m->store, name, TESI_STORE_BYTES, -1, &c->name[*i], NULL));
    contents->name[*i] = c->name[*i];
    snprintf(name, sizeof name, "field_%d_values", *i);
    status = tesi_alloc(ctx, (size_t)c->space->length + 1, sizeof *c->values[*i], &c->values[*i]);
    TES_TRY(tesi_agree(ctx, status));
    Field field = {c->space, &m->order, c->values[*i]};
    TES_TRY(tesi_store_read(m->store, name, TESI_STORE_DOUBLE, m->head[W_LENGTH], take_values, &field));
  }
done:
  return status;
}

static TesStatus get_state(TesiImage *m, TesCheckpoint *c) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  int64_t count;
  if (!tesi_store_has(m->store, "state")) return TES_OK;
  TES_TRY(tesi_store_get(m->store, "state", TESI_STORE_DOUBLE, -1, &c->state, &count));
  TES_CHECK(count <= STATES, "%s is damaged: its state has %lld numbers", m->path, (long long)count);
  c->contents.states = (int)count;
  c->contents.state = c->state;
  if (!tesi_store_has(m->store, "state_names")) return TES_OK;
  TES_TRY(tesi_image_get_names(m, "state_names", count, &c->state_text, &c->state_name));
  c->contents.state_name = (const char *const *)c->state_name;
done:
  return status;
}

static TesStatus get_note(TesiImage *m, TesCheckpoint *c) {
  if (!tesi_store_has(m->store, "note")) return TES_OK;
  const TesStatus status =
      tesi_store_get(m->store, "note", TESI_STORE_DOUBLE, -1, &c->note, &c->contents.notes);
  c->contents.note = c->note;
  return status;
}

static TesStatus read_file(TesContext *context, const char *path, int geometry_degree, const TesMesh *wanted,
                           TesCheckpoint **checkpoint) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesCheckpoint *c = NULL;
  TesiImage m = {.ctx = ctx, .path = path, .geometry_degree = geometry_degree, .wanted = wanted};
  *checkpoint = NULL;
  TES_TRY(tesi_store_open(ctx, path, &m.store));
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  TES_TRY(tesi_copy_text(ctx, path, &c->path));
  TES_TRY(tesi_image_get_head(&m));
  TES_TRY(tesi_image_make_space(&m, &c->space));
  TES_TRY(get_fields(&m, c));
  TES_TRY(get_state(&m, c));
  TES_TRY(get_note(&m, c));
  c->contents.time = m.number[N_TIME];
  c->contents.step = m.head[W_STEP];
  if (tesi_ranks(ctx) > 1) c->store = m.store, m.store = NULL;
  *checkpoint = c;
  c = NULL;
done:
  tesi_image_free(&m);
  tes_checkpoint_destroy(&c);
  return tesi_agree(ctx, status);
}

TesStatus tes_checkpoint_read(TesContext *context, const char *path, int geometry_degree,
                              TesCheckpoint **checkpoint) {
  TES_REFUSE_NULL(context, path, checkpoint);
  return read_file(context, path, geometry_degree, NULL, checkpoint);
}

TesStatus tes_checkpoint_read_for(TesContext *context, const char *path, const TesMesh *mesh,
                                  TesCheckpoint **checkpoint) {
  TesStatus status = TES_OK;
  TesContext *ctx = context;
  TES_REFUSE_NULL(context, path, checkpoint);
  TES_CHECK(mesh, "the mesh of the computation is NULL");
  status = read_file(ctx, path, mesh->geometry_degree, mesh, checkpoint);
done:
  return status;
}

void tes_checkpoint_destroy(TesCheckpoint **checkpoint) {
  if (!checkpoint || !*checkpoint) return;
  TesCheckpoint *c = *checkpoint;
  TesContext *ctx = c->context;
  *checkpoint = NULL;
  tesi_store_close(&c->store);
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

static int number_of(const TesCheckpoint *checkpoint, const char *name) {
  int i = 0;
  while (strcmp(checkpoint->name[i], name) != 0) i++;
  return i;
}

/* On one rank the entries of any space are stored in their own order. */
TesStatus tesi_checkpoint_take(const TesCheckpoint *checkpoint, const char *name, const TesSpace *space,
                               TesVector *v) {
  TesContext *ctx = checkpoint->context;
  TesStatus status = TES_OK;
  TesiFileOrder order = {0};
  double *values = NULL;
  char array[32];
  const int64_t all = checkpoint->space->layout->global;
  if (!checkpoint->store || space->layout->global == all)
    return tes_vector_set(v, tes_checkpoint_values(checkpoint, name));
  TES_TRY(tesi_file_order_create(space->scalar[0], &order));
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)space->length + 1, sizeof *values, &values)));
  snprintf(array, sizeof array, "field_%d_values", number_of(checkpoint, name));
  Field field = {space, &order, values};
  TES_TRY(tesi_store_read(checkpoint->store, array, TESI_STORE_DOUBLE, all, take_values, &field));
  TES_TRY(tes_vector_set(v, values));
done:
  tesi_file_order_free(&order);
  tesi_free(ctx, &values);
  return status;
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
  status = tesi_agree(ctx, status);
  if (status != TES_OK) tes_vector_destroy(u);
  tesi_free(ctx, &none);
  tes_vector_destroy(&v);
  tes_space_destroy(&space);
  return status;
}
