/* Cases: from a file or a text to the checked struct. */
#include <string.h>
#include "base/hash.h"
#include "base/text.h"
#include "io/case/case_reader.h"
#include "io/file.h"
#include "parallel/comm.h"

enum { LARGEST_FILE = 16 << 20 };
_Static_assert(TESI_CASE_ROWS >= 128, "a row of the table may lack its place in the reader");

static TesStatus tell_errors(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  if (!r->error_count) goto done;
  if (r->error_count > TESI_CASE_ERRORS)
    TES_FAIL(r->failure, "%s\n%s: and %d more errors", r->errors, r->name, r->error_count - TESI_CASE_ERRORS);
  TES_FAIL(r->failure, "%s", r->errors);
done:
  return status;
}

static TesStatus parse_file(TesiCaseReader *r, const char *text, size_t length) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  char message[TESI_YAML_MESSAGE];
  status = tesi_yaml_parse(ctx, text, length, r->name, &r->root, message);
  if (status == TES_INVALID_INPUT) TES_FAIL(status, "%s", message);
  TES_TRY(status);
  if (!tesi_yaml_is_null(r->root)) goto done;
  tesi_yaml_free(ctx, &r->root); /* null alone is as an empty text */
  TES_TRY(tesi_yaml_parse(ctx, "", 0, r->name, &r->root, message));
done:
  return status;
}

static TesStatus read_text(TesiCaseReader *r, const char *text, size_t length, int override_count,
                           const char *const *overrides) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(parse_file(r, text, length));
  for (int i = 0; i < override_count; i++) TES_TRY(tesi_case_override(r, overrides[i]));
  if (r->by && !r->error_count) TES_TRY(tesi_case_shift(r));
  TES_TRY(tesi_case_read_words(r));
  TES_TRY(tesi_case_walk(r));
  if (r->asked_too_early || (!r->error_count && !r->draft.c.mesh.dim))
    TES_FAIL(TES_INTERNAL, "%s: a key was read before the dimension of the mesh was known", r->name);
  if (!r->error_count) TES_TRY(tesi_case_check(r));
  TES_TRY(tell_errors(r));
  TES_TRY(tesi_case_keep_places(r));
done:
  return status;
}

TesStatus tesi_case_create(TesContext *ctx, const char *text, size_t length, const char *name, const char *by,
                           int override_count, const char *const *overrides, TesCase **result) {
  TesStatus status = TES_OK;
  TesCase *c = NULL;
  TesiCaseReader *r = NULL;
  *result = NULL;
  TES_CHECK(tesi_case_key_count <= TESI_CASE_ROWS, "the table of keys has outgrown the reader");
  TES_NEW(&c);
  TES_NEW(&r);
  r->ctx = ctx, r->name = name, r->by = by, r->failure = TES_INVALID_INPUT;
  r->draft.c.context = ctx;
  TES_TRY(tesi_copy_text(ctx, name, &r->draft.c.name));
  TES_TRY(read_text(r, text, length, override_count, overrides));
  TES_TRY(tesi_case_keep_source(&r->draft.c, text, override_count, overrides));
done:
  if (r) {
    const TesStatus finished = tesi_case_finish(r, status == TES_OK);
    tesi_yaml_free(ctx, &r->root);
    tesi_gmsh_head_free(ctx, &r->head);
    if (status == TES_OK) status = finished;
    if (status == TES_OK) {
      *c = r->draft.c;
      c->context = tesi_context_retain(ctx);
      if (c->deterministic) tesi_context_set_deterministic(ctx);
      *result = c;
      c = NULL;
    } else {
      tesi_case_clear(&r->draft.c);
    }
  }
  tesi_free(ctx, &r);
  tesi_free(ctx, &c);
  return status;
}

TesStatus tes_case_parse(TesContext *context, const char *text, const char *name, int override_count,
                         const char *const *overrides, TesCase **result) {
  TES_REFUSE_NULL(context, text, result);
  return tesi_case_create(context, text, strlen(text), name, NULL, override_count, overrides, result);
}

/* Only rank 0 has the standard input. */
static TesStatus read_file(TesContext *ctx, const char *path, char **text, size_t *length) {
  TesStatus status = TES_OK;
  const bool shared = tesi_ranks(ctx) > 1 && !strcmp(path, "-");
  const int rank = tes_communicator_rank(tesi_context_communicator(ctx));
  if (!shared || rank == 0) status = tesi_file_read(ctx, path, LARGEST_FILE, text, length);
  TES_TRY(tesi_agree(ctx, status));
  if (!shared) goto done;
  tesi_broadcast(ctx, 0, sizeof *length, length);
  if (rank > 0) TES_ALLOC(text, *length + 1);
  tesi_broadcast(ctx, 0, (int64_t)*length, *text);
done:
  return status;
}

static uint64_t add_text(uint64_t hash, const char *text) {
  return tesi_hash(hash, text, strlen(text) + 1);
}

/* Every rank gets the case of rank 0. */
static TesStatus compare_ranks(TesContext *ctx, const char *text, int override_count,
                               const char *const *overrides) {
  TesStatus status = TES_OK;
  if (tesi_ranks(ctx) == 1) return TES_OK;
  uint64_t own = add_text(add_text(TESI_HASH, text), tes_version());
  for (int i = 0; i < override_count; i++) own = add_text(own, overrides[i]);
  uint64_t first = own;
  tesi_broadcast(ctx, 0, sizeof first, &first);
  TES_CHECK(own == first, "the case, with its options --set, is another one than rank 0 has");
done:
  return tesi_agree(ctx, status);
}

TesStatus tes_case_read(TesContext *context, const char *path, int override_count,
                        const char *const *overrides, TesCase **result) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  char *text = NULL;
  size_t length;
  TES_REFUSE_NULL(context, path, result);
  *result = NULL;
  TES_TRY(read_file(ctx, path, &text, &length));
  TES_TRY(compare_ranks(ctx, text, override_count, overrides));
  TES_TRY(tesi_agree(ctx, tesi_case_create(ctx, text, length, strcmp(path, "-") ? path : "standard input",
                                           NULL, override_count, overrides, result)));
done:
  tesi_free(ctx, &text);
  return status;
}

static void clear_functions(int count, const TesFunction **function) {
  for (int i = 0; i < count; i++) tes_function_destroy((TesFunction **)&function[i]);
}

static void clear_data(TesData *data) {
  clear_functions(1, &data->a);
  clear_functions(1, &data->c);
  clear_functions(1, &data->lambda);
  clear_functions(1, &data->expansion);
  clear_functions(1, &data->temperature);
  clear_functions(3, data->f);
  clear_functions(3, data->b);
}

static void clear_problem(TesContext *ctx, TesProblemDesc *p) {
  TesBoundary *boundary = (TesBoundary *)p->boundary;
  TesMaterial *material = (TesMaterial *)p->material;
  clear_data(&p->data);
  clear_functions(4, p->exact);
  clear_functions(4, p->initial);
  clear_functions(3, p->initial_velocity);
  for (int i = 0; i < p->boundaries; i++) {
    tesi_free(ctx, &boundary[i].name);
    tesi_free(ctx, &boundary[i].where);
    clear_functions(4, boundary[i].g);
    clear_functions(1, &boundary[i].alpha);
  }
  for (int i = 0; i < p->materials; i++) {
    tesi_free(ctx, &material[i].name);
    tesi_free(ctx, &material[i].where);
    clear_data(&material[i].data);
  }
  tesi_free(ctx, &boundary);
  tesi_free(ctx, &material);
  tesi_free(ctx, &p->name);
}

void tesi_case_clear(TesCase *c) {
  TesContext *ctx = c->context;
  clear_problem(ctx, &c->problem);
  tes_function_destroy((TesFunction **)&c->mesh.refine_where);
  clear_functions(3, c->mesh.map);
  tesi_free(ctx, &c->mesh.file);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &c->mesh.coordinates[d]);
  tesi_free(ctx, &c->adapt.goal.where);
  tesi_free(ctx, &c->adapt.goal.of);
  for (int i = 0; i < c->warning_count; i++) tesi_free(ctx, &c->warnings[i]);
  for (int i = 0; i < c->keys; i++) tesi_free(ctx, &c->key[i].where);
  tesi_free(ctx, &c->key);
  tesi_free(ctx, &c->name);
  tesi_free(ctx, &c->about.text);
  tesi_free(ctx, &c->folder);
  tesi_free(ctx, &c->film);
  tesi_free(ctx, &c->vtu);
  tesi_free(ctx, &c->vtkhdf);
  tesi_free(ctx, &c->json);
  tesi_free(ctx, &c->checkpoint);
  tesi_free(ctx, &c->series);
  for (int i = 0; i < c->tables; i++) tesi_free(ctx, &c->table[i]);
  tesi_free(ctx, &c->table);
  tesi_free(ctx, &c->initial_file);
  tesi_free(ctx, &c->b_file);
  tesi_case_free_source(c);
  tesi_case_clear_outputs(c);
}

void tes_case_destroy(TesCase **result) {
  TesCase *c = result ? *result : NULL;
  if (!c) return;
  *result = NULL;
  TesContext *ctx = c->context;
  tesi_case_clear(c);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}
