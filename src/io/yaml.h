/* YAML as a tree whose nodes know their position in the file. Anchors, aliases, tags and several documents in one
 * file have no use in case files and are refused. */
#ifndef TESI_YAML_H
#define TESI_YAML_H

#include "base/base.h"

enum { TESI_YAML_DEPTH = 16, TESI_YAML_MESSAGE = 512 };

typedef enum TesiYamlKind { TESI_YAML_SCALAR, TESI_YAML_LIST, TESI_YAML_MAP } TesiYamlKind;

typedef struct TesiYaml {
  TesiYamlKind kind;
  char *key;                              /* in maps, else NULL */
  char *text;                             /* of scalars, else NULL */
  bool plain;                             /* a scalar without quotes */
  int line, column, key_line, key_column; /* from 1 */
  const char *source; /* NULL: the node is from the file; else the override from which it came, owned by others */
  int count;          /* of children */
  struct TesiYaml *first, *last, *next;
  struct TesiYaml **slot; /* of a large map: table of its children by key (yaml.c); else NULL */
  int slots;
} TesiYaml;

/* Parses `length` bytes, followed by a 0. On TES_INVALID_INPUT `message` [TESI_YAML_MESSAGE] has `name` in front of
 * the position, and nothing is recorded on the context. An empty text gives an empty map. */
TesStatus tesi_yaml_parse(TesContext *ctx, const char *text, size_t length, const char *name, TesiYaml **root,
                          char *message);
/* Appends a new node to `parent` (NULL: a root), with copies of key and text (NULL: none). */
TesStatus tesi_yaml_add(TesContext *ctx, TesiYaml *parent, TesiYamlKind kind, const char *key,
                        const char *text, TesiYaml **node);
/* Appends a root to a map or list under this key. */
TesStatus tesi_yaml_attach(TesContext *ctx, TesiYaml *parent, const char *key, TesiYaml **root);
TesiYaml *tesi_yaml_find(const TesiYaml *map, const char *key);
/* Removes a child and destroys it. */
void tesi_yaml_remove(TesContext *ctx, TesiYaml *parent, TesiYaml *child);
void tesi_yaml_free(TesContext *ctx, TesiYaml **root);
/* Whether a value is empty: nothing, ~ or null without quotes. */
bool tesi_yaml_is_null(const TesiYaml *node);

#endif
