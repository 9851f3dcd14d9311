#include "io/yaml.h"
#include <string.h>

static TesStatus set_text(TesContext *ctx, char **to, const char *text) {
  TesStatus status = TES_OK;
  if (!text) return TES_OK;
  *to = tesi_strdup(ctx, text);
  if (!*to) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a text of the case");
done:
  return status;
}

static void append(TesiYaml *parent, TesiYaml *node) {
  if (parent->last)
    parent->last->next = node;
  else
    parent->first = node;
  parent->last = node;
  parent->count++;
}

TesStatus tesi_yaml_add(TesContext *ctx, TesiYaml *parent, TesiYamlKind kind, const char *key,
                        const char *text, TesiYaml **node) {
  TesStatus status = TES_OK;
  TesiYaml *n = NULL;
  *node = NULL;
  TES_NEW(&n);
  n->kind = kind;
  TES_TRY(set_text(ctx, &n->key, key));
  TES_TRY(set_text(ctx, &n->text, text));
  if (parent) append(parent, n);
  *node = n;
  n = NULL;
done:
  tesi_yaml_free(ctx, &n);
  return status;
}

TesStatus tesi_yaml_attach(TesContext *ctx, TesiYaml *parent, const char *key, TesiYaml **root) {
  TesStatus status = TES_OK;
  TES_TRY(set_text(ctx, &(*root)->key, key));
  append(parent, *root);
  *root = NULL;
done:
  return status;
}

TesiYaml *tesi_yaml_find(const TesiYaml *map, const char *key) {
  TesiYaml *child = map && map->kind == TESI_YAML_MAP ? map->first : NULL;
  while (child && strcmp(child->key, key)) child = child->next;
  return child;
}

void tesi_yaml_remove(TesContext *ctx, TesiYaml *parent, TesiYaml *child) {
  TesiYaml *before = NULL;
  for (TesiYaml *c = parent->first; c != child; c = c->next) before = c;
  if (before)
    before->next = child->next;
  else
    parent->first = child->next;
  if (parent->last == child) parent->last = before;
  parent->count--;
  child->next = NULL;
  tesi_yaml_free(ctx, &child);
}

/* Recursion ends at TESI_YAML_DEPTH. */
void tesi_yaml_free(TesContext *ctx, TesiYaml **root) {
  TesiYaml *node = *root;
  *root = NULL;
  if (!node) return;
  for (TesiYaml *child = node->first, *next; child; child = next) {
    next = child->next;
    tesi_yaml_free(ctx, &child);
  }
  tesi_free(ctx, &node->key);
  tesi_free(ctx, &node->text);
  tesi_free(ctx, &node);
}

bool tesi_yaml_is_null(const TesiYaml *node) {
  return node->kind == TESI_YAML_SCALAR && node->plain &&
         (!*node->text || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}
