#include "mesh/forest/gmsh_head.h"
#include "base/text.h"
#include <string.h>

/* Moves to the text after the line "$NAME"; false: there is no such section. Nodes of a binary file are skipped as
 * bytes. */
static bool find_section(TesiGmshCursor *c, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = c->at; (at = memchr(at, '$', (size_t)(c->end - at))); at++) {
    const size_t rest = (size_t)(c->end - at) - 1;
    if (rest <= length || memcmp(at + 1, name, length) != 0 || !strchr(" \t\r\n", at[1 + length])) continue;
    const char *end = memchr(at, '\n', rest);
    c->at = end ? end + 1 : c->end;
    return true;
  }
  return false;
}

static TesStatus skip(TesiGmshCursor *c, int64_t items, int bytes) {
  if (c->binary) {
    if (items > (c->end - c->at) / bytes) return tesi_gmsh_fail(c, "the file ends too early");
    c->at += items * bytes;
    return TES_OK;
  }
  for (int64_t i = 0; i < items; i++) {
    while (c->at < c->end && (unsigned char)*c->at <= ' ') c->at++;
    if (c->at == c->end) return tesi_gmsh_fail(c, "the file ends too early");
    while (c->at < c->end && (unsigned char)*c->at > ' ') c->at++;
  }
  return TES_OK;
}

/* Takes the type of an element into account. */
static TesStatus take_type(TesiGmshCursor *c, TesiGmshHead *head, const TesiGmshType **type) {
  int64_t number;
  TesStatus status = tesi_gmsh_integer(c, "the type of an element", &number);
  if (status != TES_OK) return status;
  *type = tesi_gmsh_type(number);
  if (!*type) return tesi_gmsh_fail(c, "the type %lld is not known", (long long)number);
  if ((*type)->dim > head->dim) head->dim = (*type)->dim;
  return TES_OK;
}

/* Blocks of format 4: two numbers of an entity, the type, the count; then elements. */
static TesStatus scan_blocks(TesiGmshCursor *c, int64_t blocks, TesiGmshHead *head) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  const TesiGmshType *type;
  int64_t count;
  for (int i = 0; i < (c->minor ? 3 : 1); i++) TES_TRY(tesi_gmsh_count(c, "a number of elements", &count));
  for (int64_t i = 0; i < blocks && head->dim < 3; i++) {
    TES_TRY(skip(c, 2, 4));
    TES_TRY(take_type(c, head, &type));
    TES_TRY(tesi_gmsh_count_of(c, "the number of elements", 4, &count));
    TES_TRY(skip(c, count * (1 + type->nodes), c->minor ? 8 : 4));
  }
done:
  return status;
}

/* Format 2, binary: type, how many, tags; then number, tags and nodes of each. */
static TesStatus scan_binary(TesiGmshCursor *c, int64_t elements, TesiGmshHead *head) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  const TesiGmshType *type;
  int64_t count, tags;
  while (elements > 0 && head->dim < 3) {
    TES_TRY(take_type(c, head, &type));
    TES_TRY(tesi_gmsh_count_of(c, "the number of elements", 8, &count));
    TES_TRY(tesi_gmsh_count_of(c, "the number of tags", 4, &tags));
    if (!count) TES_TRY(tesi_gmsh_fail(c, "a block without elements"));
    TES_TRY(skip(c, count * (1 + tags + type->nodes), 4));
    elements -= count;
  }
done:
  return status;
}

/* Text of formats 1 and 2: number, type, and in format 1 two tags and the count of nodes, in format 2 tags. */
static TesStatus scan_lines(TesiGmshCursor *c, int64_t elements, TesiGmshHead *head) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  const TesiGmshType *type;
  int64_t tags = 3;
  for (int64_t i = 0; i < elements && head->dim < 3; i++) {
    TES_TRY(skip(c, 1, 4));
    TES_TRY(take_type(c, head, &type));
    if (c->version > 1) TES_TRY(tesi_gmsh_count_of(c, "the number of tags", 4, &tags));
    TES_TRY(skip(c, tags + type->nodes, 4));
  }
done:
  return status;
}

static TesStatus scan_elements(TesiGmshCursor *c, TesiGmshHead *head) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t count;
  TES_TRY(tesi_gmsh_total(c, "the number of elements", 8, &count));
  status = c->version == 4 ? scan_blocks(c, count, head)
           : c->binary     ? scan_binary(c, count, head)
                           : scan_lines(c, count, head);
done:
  return status;
}

/* For any failure here: the file does not have the expected form. */
static TesStatus scan(TesContext *context, const char *text, size_t length, const char *file,
                      TesiGmshHead *head) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiGmsh mesh = {.ctx = ctx, .file = file};
  TesiGmshCursor c = {.ctx = ctx, .file = file, .begin = text, .at = text, .end = text + length, .line = 1};
  if (length > 3 && !memcmp(text, "\xef\xbb\xbf", 3)) c.at += 3; /* the mark of UTF-8 */
  TES_TRY(tesi_gmsh_format(&c));
  TesiGmshCursor at_names = c;
  if (find_section(&at_names, "PhysicalNames")) TES_TRY(tesi_gmsh_names(&at_names, &mesh));
  if (!find_section(&c, c.version == 1 ? "ELM" : "Elements")) TES_TRY(tesi_gmsh_fail(&c, "no elements"));
  TES_TRY(scan_elements(&c, head));
  if (head->dim < 2) TES_TRY(tesi_gmsh_fail(&c, "no cells"));
  head->names = mesh.names, head->name = mesh.name;
  mesh.names = 0, mesh.name = NULL;
done:
  tesi_gmsh_free(&mesh);
  return status;
}

static TesStatus add_name(TesContext *context, TesiGmshHead *head, int dim, const char *text) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  char *name = NULL;
  TES_TRY(tesi_copy_text(ctx, text, &name));
  head->name[head->names++] = (TesiGmshName){dim, 0, name};
done:
  return status;
}

/* Runs the whole reader, which reports the error in the file or reads files that this reader does not understand. */
static TesStatus read_whole(TesContext *context, const TesMeshDesc *desc, TesiGmshHead *head) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiTrees *trees = NULL;
  TES_TRY(tesi_trees_file(ctx, desc, &trees));
  head->dim = trees->dim;
  TES_ALLOC(&head->name, trees->boundaries + trees->materials + 1);
  for (int i = 0; i < trees->boundaries; i++)
    TES_TRY(add_name(ctx, head, trees->dim - 1, trees->boundary_name[i]));
  for (int i = 0; i < trees->materials; i++)
    TES_TRY(add_name(ctx, head, trees->dim, trees->material_name[i]));
done:
  tesi_trees_release(&trees);
  return status;
}

TesStatus tesi_gmsh_head(TesContext *context, const TesMeshDesc *desc, TesiGmshHead *head) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  char *text = NULL;
  size_t length = 0;
  *head = (TesiGmshHead){0};
  TES_TRY(tesi_gmsh_load(ctx, desc->file, &text, &length));
  status = scan(ctx, text, length, desc->file, head);
  if (status != TES_INVALID_INPUT) goto done;
  tesi_context_forget(ctx);
  tesi_gmsh_head_free(ctx, head);
  status = TES_OK;
  TES_TRY(read_whole(ctx, desc, head));
done:
  tesi_free(ctx, &text);
  if (status != TES_OK) tesi_gmsh_head_free(ctx, head);
  return status;
}

void tesi_gmsh_head_free(TesContext *ctx, TesiGmshHead *head) {
  for (int64_t i = 0; i < head->names; i++) tesi_free(ctx, &head->name[i].name);
  tesi_free(ctx, &head->name);
  *head = (TesiGmshHead){0};
}
