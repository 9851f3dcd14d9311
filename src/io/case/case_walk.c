/* Walks through the table and the file in parallel. */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "io/case/case_reader.h"
#include "base/nearest.h"
#include "io/utf8.h"

static TesStatus walk(TesiCaseReader *r, int row, const TesiYaml *node);

void tesi_case_place(const TesiCaseReader *r, const TesiYaml *node, char where[256]) {
  if (!node)
    snprintf(where, 256, "%.200s", r->name);
  else if (node->source)
    strcpy(where, "--set "), tesi_text_line(node->source, where + strlen(where), 200);
  else if (tesi_yaml_is_null(node) && node->key_line)
    snprintf(where, 256, "%.200s:%d:%d", r->name, node->key_line, node->key_column);
  else
    snprintf(where, 256, "%.200s:%d:%d", r->name, node->line, node->column);
}

/* Adds the keys from `from` down to a node below it: ".tip.of". False: it is not there. */
static bool add_keys(const TesiYaml *from, const TesiYaml *node, char *text, size_t size) {
  const size_t length = strlen(text);
  if (from == node) return true;
  for (const TesiYaml *child = from->first; child; child = child->next) {
    if (child->key) snprintf(text + length, size - length, ".%.60s", child->key);
    if (add_keys(child, node, text, size)) return true;
    text[length] = 0;
  }
  return false;
}

/* The key of a row. Boundaries and materials that the mesh names share rows, so their names are inserted. The keys of
 * a node below the row's are added. */
static void name_row(const TesiCaseReader *r, int row, const TesiYaml *node, char text[400]) {
  const char *path = row < 0 ? "" : tesi_case_keys[row].path;
  const size_t length = r->row_path ? strlen(r->row_path) : 0;
  if (length && !strncmp(path, r->row_path, length))
    snprintf(text, 300, "%s.%.60s%s", r->named_path, r->named, path + length);
  else
    snprintf(text, 300, "%s", path);
  if (row >= 0 && r->node[row]) add_keys(r->node[row], node, text, 300);
  if (row >= 0) strcat(text, ": ");
}

TesStatus tesi_case_mark(const TesiCaseReader *r, int row, const TesiYaml *node, TesFunction *function) {
  char where[256], key[400], text[680];
  if (!node->line && !node->source) return TES_OK; /* a default */
  tesi_case_place(r, node, where);
  name_row(r, row, node, key);
  snprintf(text, sizeof text, "%s: %s", where, key);
  return tesi_function_set_where(function, text);
}

TesStatus tesi_case_error(TesiCaseReader *r, int row, const TesiYaml *node, const char *format, ...) {
  char text[700], where[256], key[400], message[1360];
  if (r->error_count++ >= TESI_CASE_ERRORS) return TES_OK;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tesi_case_place(r, node, where);
  const size_t used = strlen(r->errors);
  name_row(r, row, node, key);
  snprintf(message, sizeof message, "%s: %s%s", where, key, text);
  if (used + 2 > sizeof r->errors) return TES_OK;
  if (used) strcpy(r->errors + used, "\n");
  tesi_text_line(message, r->errors + used + (used > 0), sizeof r->errors - used - (used > 0));
  return TES_OK;
}

/* Other places for a key of this name, e.g. 'tolerance' below 'mesh'. */
static void list_elsewhere(const char *name, char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < tesi_case_key_count && name[0] && name[1] && length < size; i++)
    if (!tesi_case_keys[i].repeated && !strcmp(tesi_key_name(&tesi_case_keys[i]), name))
      length +=
          (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", tesi_case_keys[i].path);
}

static void list_children(int parent, char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < tesi_case_key_count && length < size; i++)
    if (tesi_case_is_child(i, parent) && !tesi_case_keys[i].beside)
      length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                 tesi_key_name(&tesi_case_keys[i]));
}

static TesStatus unknown_key(TesiCaseReader *r, int parent, const TesiYaml *node) {
  TesiNearest nearest = {.name = node->key};
  TesiYaml at_key = *node; /* the key is wrong, not its value */
  char known[300] = "", other[300] = "", hint[400];
  if (r->error_count >= TESI_CASE_ERRORS) return tesi_case_error(r, parent, &at_key, "unknown"); /* counted */
  for (int i = 0; i < tesi_case_key_count; i++)
    if (tesi_case_is_child(i, parent)) tesi_nearest_try(&nearest, tesi_key_name(&tesi_case_keys[i]));
  at_key.line = node->key_line, at_key.column = node->key_column;
  list_children(parent, known, sizeof known);
  list_elsewhere(node->key, other, sizeof other);
  if (nearest.best)
    snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest.best);
  else if (other[0])
    snprintf(hint, sizeof hint, "; it belongs to %s", other);
  else if (strpbrk(node->key, "()*/+"))
    snprintf(hint, sizeof hint, "; an expression with a comma needs quotes");
  else
    snprintf(hint, sizeof hint, "; known keys: %s", known);
  return tesi_case_error(r, parent, &at_key, "unknown key '%.60s'%s", node->key, hint);
}

static TesStatus refuse_unknown(TesiCaseReader *r, int parent, const TesiYaml *map) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  int row[TESI_CASE_ROWS], rows = 0;
  if (tesi_case_takes_names(r, parent)) return TES_OK;
  for (int i = 0; i < tesi_case_key_count; i++)
    if (tesi_case_is_child(i, parent)) row[rows++] = i;
  for (const TesiYaml *child = map->first; child; child = child->next) {
    bool known = false;
    for (int i = 0; i < rows && !known; i++)
      known = !strcmp(tesi_key_name(&tesi_case_keys[row[i]]), child->key);
    if (!known) TES_TRY(unknown_key(r, parent, child));
  }
done:
  return status;
}

/* Children of a map, without those that may be given together with others. */
static int count_chosen(int row, const TesiYaml *map) {
  int count = map->count;
  for (int i = 0; i < tesi_case_key_count; i++)
    count -= tesi_case_is_child(i, row) && tesi_case_keys[i].beside &&
             tesi_yaml_find(map, tesi_key_name(&tesi_case_keys[i]));
  return count;
}

/* Exactly one child must be given. */
static TesStatus choose_one(TesiCaseReader *r, int row, const TesiYaml *map) {
  int *chosen = (int *)((char *)&r->draft + tesi_case_keys[row].target), number = 0;
  char known[160] = "";
  list_children(row, known, sizeof known);
  const int count = count_chosen(row, map);
  if (count != 1) return tesi_case_error(r, row, map, "expected exactly one of %s, got %d", known, count);
  for (int i = 0; i < tesi_case_key_count; i++) {
    if (!tesi_case_is_child(i, row) || tesi_case_keys[i].beside) continue;
    number++;
    if (tesi_yaml_find(map, tesi_key_name(&tesi_case_keys[i]))) *chosen = number;
  }
  return TES_OK;
}

static TesStatus walk_map(TesiCaseReader *r, int row, const TesiYaml *map) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const bool one = row >= 0 && tesi_case_keys[row].type == TESI_KEY_ONE_OF;
  const int mesh = row < 0 ? tesi_case_row("mesh") : -1;
  if (map && tesi_yaml_is_null(map) && *map->text && row >= 0)
    r->node[row] = NULL; /* "null": as if it were not given */
  if (map && tesi_yaml_is_null(map) && (!one || *map->text)) map = NULL;
  if (one && map && map->kind == TESI_YAML_SCALAR && tesi_case_face_word(r, row, map->text)) return TES_OK;
  if (map && map->kind != TESI_YAML_MAP) {
    char known[300] = "";
    list_children(row, known, sizeof known);
    TES_TRY(tesi_case_error(r, row, map, "expected keys with values (%s), got %s", *known ? known : "names",
                            map->kind == TESI_YAML_LIST ? "a list"
                            : *map->text                ? "a single value"
                                                        : "nothing"));
    map = NULL;
  } else if (map) {
    TES_TRY(refuse_unknown(r, row, map));
  }
  if (one && map) TES_TRY(choose_one(r, row, map));
  if (one && (!map || count_chosen(row, map) != 1)) goto done; /* two conditions would write to one target */
  for (int i = 0; i < tesi_case_key_count; i++) {
    if (!tesi_case_is_child(i, row)) continue;
    const TesiYaml *child = tesi_yaml_find(map, tesi_key_name(&tesi_case_keys[i]));
    if (one && !child) continue;
    if (map && tesi_case_keys[i].required && (!child || tesi_yaml_is_null(child))) {
      TES_TRY(tesi_case_error(r, i, child ? child : map, "is missing: %s", tesi_case_keys[i].help));
      child = NULL;
    }
    const int errors = r->error_count;
    TES_TRY(walk(r, i, child));
    if (i == mesh) /* `space`, `data`, .. come after it in the table */
      TES_TRY(tesi_case_know_mesh(r, r->error_count == errors));
  }
done:
  return status;
}

static TesStatus walk(TesiCaseReader *r, int row, const TesiYaml *node) {
  const bool map = tesi_case_keys[row].type == TESI_KEY_MAP || tesi_case_keys[row].type == TESI_KEY_ONE_OF ||
                   (tesi_case_keys[row].map_too && node && node->kind == TESI_YAML_MAP);
  r->node[row] = node;
  return map ? walk_map(r, row, node) : tesi_case_value(r, row, node);
}

TesStatus tesi_case_row_value(TesiCaseReader *r, int row, const TesiYaml *node) {
  return walk(r, row, node);
}

TesStatus tesi_case_walk(TesiCaseReader *r) {
  return walk_map(r, -1, r->root);
}

TesStatus tesi_case_keep_places(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  TES_ALLOC(&c->key, tesi_case_key_count);
  for (int i = 0; i < tesi_case_key_count; i++) {
    char where[256];
    if (!r->node[i] || tesi_case_keys[i].repeated) continue;
    tesi_case_place(r, r->node[i], where);
    c->key[c->keys].path = tesi_case_keys[i].path;
    TES_TRY(tesi_copy_text(ctx, where, &c->key[c->keys++].where));
  }
done:
  return status;
}
