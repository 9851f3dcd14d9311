/* The table of keys as a JSON schema, for editors. Only the reader checks expressions, and rules with more than one
 * key. */
#include <cjson/cJSON.h>
#include <float.h>
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"

/* "null" removes any key. */
static void set_types(cJSON *item, const char *const *types) {
  cJSON *list = cJSON_AddArrayToObject(item, "type");
  for (; *types; types++) cJSON_AddItemToArray(list, cJSON_CreateString(*types));
  cJSON_AddItemToArray(list, cJSON_CreateString("null"));
}

static void set_words(cJSON *item, const char *const *words) {
  cJSON *list = cJSON_AddArrayToObject(item, "enum");
  for (; *words; words++)
    cJSON_AddItemToArray(list, !strcmp(*words, "true")    ? cJSON_CreateTrue()
                               : !strcmp(*words, "false") ? cJSON_CreateFalse()
                                                          : cJSON_CreateString(*words));
  cJSON_AddItemToArray(list, cJSON_CreateNull());
}

/* The JSON types that a value may have. */
static const char *const *types_of(TesiKeyType type) {
  static const char
      *const map[] = {"object", NULL},
             *const integer[] = {"integer", NULL}, *const automatic[] = {"integer", "string", NULL},
             *const number[] = {"number", "string", NULL},
             *const numbers[] = {"number", "string", "array", NULL}, *const text[] = {"string", NULL},
             *const list[] = {"array", NULL}, *const points[] = {"array", "object", NULL},
             *const picture[] = {"string", "object", NULL}, *const every[] = {"integer", "object", NULL};
  switch (type) {
  case TESI_KEY_ONE_OF: /* a word, for conditions without data */
    return picture;
  case TESI_KEY_MAP:
  case TESI_KEY_VALUES:
  case TESI_KEY_CONSTANTS:
  case TESI_KEY_TABLES:
    return map;
  case TESI_KEY_INTEGER:
    return integer;
  case TESI_KEY_CHOICE:
    return automatic;
  case TESI_KEY_NUMBER:
  case TESI_KEY_EXPRESSION:
  case TESI_KEY_BOUNDARY:
    return number;
  case TESI_KEY_INTEGERS:
  case TESI_KEY_NUMBERS:
  case TESI_KEY_SPACING:
  case TESI_KEY_FIELD:
  case TESI_KEY_MATRIX:
    return numbers;
  case TESI_KEY_VECTOR:
    return list;
  case TESI_KEY_FILE:
  case TESI_KEY_NAME:
    return text;
  case TESI_KEY_LINES:
    return list;
  case TESI_KEY_EVERY:
    return every;
  case TESI_KEY_POINTS:
    return points;
  case TESI_KEY_PICTURE:
    break;
  }
  return picture;
}

/* Keys of boundaries and materials are names of the mesh. */
static bool is_open(const TesiKey *key) {
  return !strcmp(key->path, "boundary") || !strcmp(key->path, "data.materials");
}

/* One key, and the keys that may be given together with it. */
static void count_one(cJSON *item, int row) {
  cJSON *any = cJSON_AddArrayToObject(item, "anyOf"), *alone = cJSON_CreateObject();
  cJSON_AddNumberToObject(alone, "maxProperties", 1);
  cJSON_AddItemToArray(any, alone);
  for (int i = 0; i < tesi_case_key_count; i++) {
    if (!tesi_case_is_child(i, row) || !tesi_case_keys[i].beside) continue;
    cJSON *both = cJSON_CreateObject();
    cJSON_AddNumberToObject(both, "maxProperties", 2);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(both, "required"),
                         cJSON_CreateString(tesi_key_name(&tesi_case_keys[i])));
    cJSON_AddItemToArray(any, both);
  }
}

static cJSON *schema_of(int row) {
  static const char *const object[] = {"object", NULL}, *const automatic[] = {"integer", "string", NULL},
                           *const or_map[] = {"number", "string", "object", NULL},
                           *const list_or_map[] = {"array", "object", NULL},
                           *const any[] = {"number", "string", "array", "object", NULL};
  const TesiKey *key = row < 0 ? NULL : &tesi_case_keys[row];
  cJSON *item = cJSON_CreateObject(), *properties = NULL, *required = NULL;
  char help[TESI_CASE_HELP] = "";
  if (key) tesi_case_key_help(key, help);
  if (key) cJSON_AddStringToObject(item, "description", help);
  if (key && key->choices)
    set_words(item, key->choices);
  else
    set_types(item, !key                                           ? object
                    : key->automatic                               ? automatic
                    : key->map_too && key->type == TESI_KEY_FIELD  ? any
                    : key->map_too && key->type == TESI_KEY_VECTOR ? list_or_map
                    : key->map_too                                 ? or_map
                    : key->lists                                   ? types_of(TESI_KEY_FIELD)
                                                                   : types_of(key->type));
  if (key && key->type == TESI_KEY_INTEGER) {
    cJSON_AddNumberToObject(item, "minimum", key->low);
    cJSON_AddNumberToObject(item, "maximum", key->high);
  }
  if (key && key->type != TESI_KEY_MAP && key->type != TESI_KEY_ONE_OF) return item;
  for (int i = 0; i < tesi_case_key_count; i++) {
    if (!tesi_case_is_child(i, row)) continue;
    if (!properties) properties = cJSON_AddObjectToObject(item, "properties");
    cJSON_AddItemToObject(properties, tesi_key_name(&tesi_case_keys[i]), schema_of(i));
    if (!tesi_case_keys[i].required) continue;
    if (!required) required = cJSON_AddArrayToObject(item, "required");
    cJSON_AddItemToArray(required, cJSON_CreateString(tesi_key_name(&tesi_case_keys[i])));
  }
  if (key && key->type == TESI_KEY_ONE_OF) count_one(item, row);
  cJSON_AddBoolToObject(item, "additionalProperties", key && is_open(key));
  return item;
}

size_t tes_case_schema(char *buffer, size_t size) {
  cJSON *root = schema_of(-1);
  cJSON_AddStringToObject(root, "$schema", "https://json-schema.org/draft/2020-12/schema");
  cJSON_AddStringToObject(root, "title", "A case of Tessera");
  char *text = cJSON_Print(root);
  const size_t length = text ? strlen(text) : 0;
  if (size) snprintf(buffer, size, "%s", text ? text : "");
  cJSON_free(text);
  cJSON_Delete(root);
  return length;
}
