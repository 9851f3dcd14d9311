/* Overrides "key.path=value". They are put into the tree before it is checked, so that they are checked like the
 * file. A name with a dot or an equals sign is given in quotes: boundary."a.b".dirichlet=1. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"

/* The row of a path. In a path, names of the mesh stand for rows that all names share: boundary.NAME,
 * data.materials.NAME. */
static int row_of(const char *path) {
  static const struct {
    const char *map, *like;
  } named[] = {{"boundary.", "boundary.all"},
               {"constants.", "constants"},
               {"tables.", "tables"},
               {"data.materials.", "data"},
               {"output.points.", "output.points"},
               {"output.values.", "output.values"}};
  char like[100];
  int row = tesi_case_row(path);
  for (size_t i = 0; i < sizeof named / sizeof *named && row < 0; i++) {
    const size_t length = strlen(named[i].map);
    if (strncmp(path, named[i].map, length)) continue;
    snprintf(like, sizeof like, "%s%s", named[i].like, path + length + strcspn(path + length, "."));
    row = tesi_case_row(like);
  }
  return row;
}

/* Values of these types are taken literally, all others are parsed as YAML. So expressions need no second pair of
 * quotes on the command line. Parts of a value, such as output.png.range, have no row; lists and maps are parsed as
 * YAML there too. */
static bool is_literal(int row, const char *text) {
  if (row < 0) return *text != '[' && *text != '{';
  const TesiKeyType type = tesi_case_keys[row].type;
  if (*text == '{' && (tesi_case_keys[row].map_too || type == TESI_KEY_FIELD)) return false;
  if (type == TESI_KEY_FIELD || type == TESI_KEY_MATRIX || tesi_case_keys[row].lists) return *text != '[';
  return type == TESI_KEY_EXPRESSION || type == TESI_KEY_BOUNDARY || type == TESI_KEY_FILE ||
         type == TESI_KEY_NAME || type == TESI_KEY_CHOICE;
}

/* A scalar without blanks around it, and without quotes inside the blanks. */
static TesStatus literal(TesiCaseReader *r, const char *text, TesiYaml **node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  char *copy = NULL;
  text += strspn(text, " \t");
  size_t length = strlen(text);
  while (length && strchr(" \t\r\n", text[length - 1])) length--;
  const bool quoted = length >= 2 && (*text == '"' || *text == '\'') && text[length - 1] == *text;
  TES_ALLOC(&copy, length + 1);
  memcpy(copy, text + quoted, length - 2 * quoted);
  TES_TRY(tesi_yaml_add(ctx, NULL, TESI_YAML_SCALAR, NULL, copy, node));
  (*node)->plain = !quoted;
done:
  tesi_free(ctx, &copy);
  return status;
}

static void mark_source(TesiYaml *node, const char *source) {
  node->source = source;
  for (TesiYaml *child = node->first; child; child = child->next) mark_source(child, source);
}

static TesStatus parse_value(TesiCaseReader *r, int row, const char *text, const char *value, TesiYaml **node) {
  char message[TESI_YAML_MESSAGE], name[100];
  TesStatus status;
  if (is_literal(row, value)) {
    status = literal(r, value, node);
  } else {
    snprintf(name, sizeof name, "--set %.80s", text);
    status = tesi_yaml_parse(r->ctx, value, strlen(value), name, node, message);
    if (status == TES_INVALID_INPUT) {
      *node = NULL;
      const TesiYaml here = {.kind = TESI_YAML_MAP, .source = text};
      const char *what = strstr(message, ": ");
      return tesi_case_error(r, row, &here, "%s", what ? what + 2 : message);
    }
  }
  if (!status) mark_source(*node, text);
  return status;
}

/* The map at `name` below `parent`; it is made if it does not exist. *map is NULL after an error. */
static TesStatus enter(TesiCaseReader *r, TesiYaml *parent, const char *name, const char *text,
                       TesiYaml **map) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiYaml *child = tesi_yaml_find(parent, name);
  const TesiYaml here = {.kind = TESI_YAML_MAP, .source = text};
  *map = NULL;
  if (child && tesi_yaml_is_null(child)) {
    tesi_yaml_remove(ctx, parent, child);
    child = NULL;
  }
  if (!child) {
    TES_TRY(tesi_yaml_add(ctx, parent, TESI_YAML_MAP, name, NULL, &child));
    child->source = text;
  }
  if (child->kind == TESI_YAML_MAP)
    *map = child;
  else
    TES_TRY(tesi_case_error(r, -1, &here, "'%.60s' is a single value and has no parts", name));
done:
  return status;
}

/* Stores the value under the last name of the path, replacing an older value. In a map that may have only one of its
 * children, it replaces any child. */
static TesStatus put(TesiCaseReader *r, TesiYaml *map, int parent_row, const char *name, TesiYaml **value) {
  const bool one = parent_row >= 0 && tesi_case_keys[parent_row].type == TESI_KEY_ONE_OF;
  TesiYaml *old;
  while ((old = one ? map->first : tesi_yaml_find(map, name))) tesi_yaml_remove(r->ctx, map, old);
  return tesi_yaml_attach(r->ctx, map, name, value);
}

TesStatus tesi_case_split(TesiCaseReader *r, const char *text, char *path, char *name[TESI_YAML_DEPTH],
                          int *count) {
  const TesiYaml here = {.kind = TESI_YAML_MAP, .source = text};
  *count = 0;
  for (char *at = path; at;) {
    const char quote = *at == '"' || *at == '\'' ? *at : 0;
    char *end = quote ? strchr(at + 1, quote) : at + strcspn(at, ".");
    if (quote && (!end || (end[1] && end[1] != '.')))
      return tesi_case_error(r, -1, &here, "a name in quotes has no end, as in boundary.\"a.b\".dirichlet");
    if (*count == TESI_YAML_DEPTH)
      return tesi_case_error(r, -1, &here, "the key has more than %d parts", TESI_YAML_DEPTH);
    name[(*count)++] = at + (quote != 0);
    char *next = end + (quote != 0);
    const bool more = *next == '.';
    *end = *next = 0;
    at = more ? next + 1 : NULL;
    if (!*name[*count - 1]) return tesi_case_error(r, -1, &here, "a name is missing before '.' or '='");
  }
  return TES_OK;
}

/* The row of the first `count` names; a name with a dot stands for a name of the mesh. */
int tesi_case_row_of_names(char *const *name, int count) {
  char path[200] = "";
  for (int i = 0; i < count; i++)
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", i ? "." : "",
             strchr(name[i], '.') ? "NAME" : name[i]);
  return row_of(path);
}

static TesStatus apply(TesiCaseReader *r, const char *text, char *path, const char *value) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiYaml *map = r->root, *node = NULL;
  char *name[TESI_YAML_DEPTH];
  const int errors = r->error_count;
  int count, parent_row = -1;
  if (r->root->kind != TESI_YAML_MAP) goto done; /* the walk reports it */
  TES_TRY(tesi_case_split(r, text, path, name, &count));
  if (r->error_count > errors) goto done;
  for (int i = 0; i + 1 < count; i++) {
    TES_TRY(enter(r, map, name[i], text, &map));
    if (!map) goto done;
    parent_row = tesi_case_row_of_names(name, i + 1);
    if (parent_row >= 0 && tesi_case_keys[parent_row].type == TESI_KEY_ONE_OF && map->count &&
        strcmp(map->first->key, name[i + 1]) != 0)
      tesi_yaml_remove(ctx, map, map->first); /* boundary.left.robin.g replaces a dirichlet */
  }
  TES_TRY(parse_value(r, tesi_case_row_of_names(name, count), text, value, &node));
  if (node) TES_TRY(put(r, map, parent_row, name[count - 1], &node));
done:
  tesi_yaml_free(ctx, &node);
  return status;
}

/* The equals sign after the path; NULL: none. */
static const char *find_equals(const char *text) {
  char quote = 0;
  for (; *text; text++) {
    if (!quote && *text == '=') return text;
    if (quote ? *text == quote : *text == '"' || *text == '\'') quote = quote ? 0 : *text;
  }
  return NULL;
}

TesStatus tesi_case_override(TesiCaseReader *r, const char *text) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml here = {.kind = TESI_YAML_MAP, .source = text};
  const char *equals = find_equals(text);
  char *path = NULL;
  if (!equals) equals = strchr(text, '='); /* a name may contain one quotation mark */
  if (!equals) return tesi_case_error(r, -1, &here, "expected key.path=value");
  TES_ALLOC(&path, equals - text + 1);
  memcpy(path, text, (size_t)(equals - text));
  TES_TRY(apply(r, text, path, equals + 1));
done:
  tesi_free(ctx, &path);
  return status;
}
